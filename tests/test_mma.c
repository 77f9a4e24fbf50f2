/* test_mma.c: the tensor core's step against published vectors and digests, raw NaNs included, in
   every arithmetic and at every processor level; what is not in the vectors: fp16 accumulators,
   tf32, fp8, hidden terms, the disputed rows' switches; and the judge of oracle_mma.h over random
   bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/arith.h"
#include "simulator/cpu.h"
#include "simulator/mma.h"
#include "simulator/round.h"
#include "tests/oracle_mma.h"

extern const struct arithmetic arith_float_base, arith_float_v3, arith_float_v4;

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

enum { K = 16 };

static const struct vector {
    const char *name;
    enum format format;
    uint32_t c;
    const char *a, *b;
    uint32_t sm80, sm90;
} vectors[] = {
#define MMA_VECTOR(name, format, ...) {name, FORMAT_##format, __VA_ARGS__},
#include "tests/mma_vectors.def"
#undef MMA_VECTOR
};

static const struct other {
    const char *name, *order;
    uint32_t result;
} others[] = {
#define MMA_OTHER(...) {__VA_ARGS__},
#include "tests/mma_vectors.def"
#undef MMA_OTHER
};

static const struct arithmetic *arithmetics[5];
static int arithmetic_count;

static void find_arithmetics(void)
{
    const struct arithmetic *all[] = {&arith_double, &arith_mpfr, &arith_float_base};
    arithmetic_count = COUNT(all);
    memcpy(arithmetics, all, sizeof all);
#ifdef __x86_64__
    if (cpu_level() >= CPU_V3)
        arithmetics[arithmetic_count++] = &arith_float_v3;
    if (cpu_level() >= CPU_V4)
        arithmetics[arithmetic_count++] = &arith_float_v4;
#endif
}

static void read_bits(const char *text, enum format f, float *x)
{
    memset(x, 0, sizeof *x * K);
    for (int k = 0; *text != 0; k++) {
        char *end;
        assert_true(k < K);
        x[k] = (float)format_decode(f, strtoul(text, &end, 16));
        text = end + (*end == ' ');
    }
}

/* The bits of c + a.b by the verb; `format`: of the factors; `output`: of the accumulator.  MPFR
   has one NaN: the unit's. */
static uint32_t by_verb(const struct arithmetic *arith, const char *order, enum format format,
                        enum format output, const float *a, const float *b, int n, float c)
{
    struct run r;
    struct message why;
    struct policy policy = policy_table(POLICY_FP32);
    policy.site[SITE_INPUT].format = format;
    policy.site[SITE_OUT_ACC].format = output;
    if (!order_parse(order, &policy.site[SITE_OUT_ACC].order, &why))
        fail_msg("%s", why.text);
    assert_true(run_new(&r, arith, &policy, 53, &why));
    struct tile *x = tile_new(&r, TENSOR_P, 1, n), *y = tile_new(&r, TENSOR_V, n, 1);
    struct tile *d = tile_new(&r, TENSOR_O, 1, 1);
    for (int k = 0; k < n; k++) {
        arith->set(x->data, (size_t)k, (double)a[k]);
        arith->set(y->data, (size_t)k, (double)b[k]);
    }
    arith->set(d->data, 0, (double)c);
    x->wrote = y->wrote = SITE_INPUT;
    mma_ab(&r, d, x, y, SITE_PV_PRODUCT, SITE_OUT_ACC);
    float got = (float)tile_get(&r, d, 0, 0);
    run_free(&r);
    bool lost = arith == &arith_mpfr && isnan(got);
    return lost ? output == FORMAT_FP16 ? 0x7FFFE000 : 0x7FFFFFFF : bits_of_float(got);
}

static void expect(const char *name, const char *order, enum format format, enum format output,
                   const float *a, const float *b, int n, float c, uint32_t want)
{
    for (int i = 0; i < arithmetic_count; i++) {
        uint32_t got = by_verb(arithmetics[i], order, format, output, a, b, n, c);
        if (got != want)
            fail_msg("%s, %s, arithmetic %s (%d): %08X, want %08X", name, order,
                     arithmetics[i]->name, i, (unsigned)got, (unsigned)want);
    }
}

static void published_vectors(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        float a[K], b[K], c = float_of_bits(v->c);
        read_bits(v->a, v->format, a);
        read_bits(v->b, v->format, b);
        expect(v->name, "mma@sm80", v->format, FORMAT_FP32, a, b, K, c, v->sm80);
        expect(v->name, "mma@sm90", v->format, FORMAT_FP32, a, b, K, c, v->sm90);
        for (int k = 0; k < COUNT(others); k++)
            if (strcmp(others[k].name, v->name) == 0)
                expect(v->name, others[k].order, v->format, FORMAT_FP32, a, b, K, c,
                       others[k].result);
    }
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A case of the published streams: raw bits, or exponents 119 to 134. */
static void draw_case(uint64_t *state, bool near, float *a, float *b, float *c)
{
    for (int i = 0; i < 2 * K + 1; i++) {
        uint64_t x = splitmix(state);
        uint32_t bits = i < 2 * K ? (uint32_t)(x >> 48) << 16 : (uint32_t)(x >> 32);
        if (near) {
            bits = (uint32_t)(x >> 63) << 31 | (uint32_t)(119 + (x >> 52 & 15)) << 23;
            bits |= i < 2 * K ? (uint32_t)(x >> 40 & 127) << 16 : (uint32_t)(x >> 20 & 0x7FFFFF);
        }
        *(i < K ? &a[i] : i < 2 * K ? &b[i - K] : c) = float_of_bits(bits);
    }
}

static struct mma_step step_named(const char *order, enum format factor, enum format output)
{
    struct message why;
    const struct mma *m = mma_parse(order, &why);
    if (m == NULL)
        fail_msg("%s", why.text);
    return mma_step_of(m, (struct mma_factor){factor, 0}, (struct mma_factor){factor, 0}, output);
}

static float chain(const struct mma_step *s, const float *a, const float *b, int n, float c)
{
    for (int k = 0; k < n; k += s->L)
        c = mma_dot_add(s, a + k, b + k, n - k < s->L ? n - k : s->L, c);
    return c;
}

static const struct digest_row {
    bool near;
    int count;
    uint64_t sm80, sm90;
} digests[] = {
    {false, 1000, UINT64_C(0x94029FFDDF9A5BD0), UINT64_C(0xD9B55E7AC6514FDD)},
    {true, 1000, UINT64_C(0x2ADA0584DE8A62FB), UINT64_C(0x17F1D7741BBA2C44)},
    {false, 1000000, UINT64_C(0x2752A9D227793CE2), UINT64_C(0xF48D74F1051E7C51)},
    {true, 1000000, UINT64_C(0xA614C7E5D0C00B1E), UINT64_C(0x0B8B4D5859B11F1F)},
};

static void published_digests(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(digests); i++)
        for (int unit = 0; unit < 2; unit++) {
            const char *order = unit == 0 ? "mma@sm80" : "mma@sm90";
            struct mma_step s = step_named(order, FORMAT_BF16, FORMAT_FP32);
            uint64_t seed = digests[i].near ? 2026 : 1, digest = UINT64_C(0xCBF29CE484222325);
            uint64_t want = unit == 0 ? digests[i].sm80 : digests[i].sm90;
            for (int n = 0; n < digests[i].count; n++) {
                float a[K], b[K], c;
                draw_case(&seed, digests[i].near, a, b, &c);
                uint32_t got = bits_of_float(chain(&s, a, b, K, c));
                for (int byte = 0; byte < 4; byte++)
                    digest = (digest ^ (got >> (8 * byte) & 255)) * UINT64_C(0x100000001B3);
            }
            if (digest != want)
                fail_msg("%s, %s, %d cases: digest %016llX, want %016llX", order,
                         digests[i].near ? "near" : "raw", digests[i].count,
                         (unsigned long long)digest, (unsigned long long)want);
        }
}

/* Formats and outputs beyond the vectors, worked out by hand from the description. */
static const struct hand_row {
    const char *name, *order;
    enum format factor, output;
    int n;
    float a[4], b[4], c;
    uint32_t want;
} hand_rows[] = {
    {"fp16 sum to nearest, tie to even", "mma@sm90", FORMAT_FP16, FORMAT_FP16, 1, {0x1p-11f}, {1},
     1,
     0x3F800000},
    {"fp16 sum to nearest, tie upward", "mma@sm90", FORMAT_FP16, FORMAT_FP16, 1, {0x1.8p-10f}, {1},
     1,
     0x3F804000},
    {"fp16 sum above the tie", "mma@sm90", FORMAT_FP16, FORMAT_FP16, 2, {0x1p-11f, 0x1p-15f},
     {1, 1}, 1,
     0x3F802000},
    {"fp16 overflow", "mma@sm80", FORMAT_FP16, FORMAT_FP16, 1, {0x1p15f}, {2}, 0, 0x7F800000},
    {"fp16 just below overflow", "mma@sm80", FORMAT_FP16, FORMAT_FP16, 2, {0x1.ffcp15f, 0x1.ep3f},
     {1, 1}, 0, 0x477FE000},
    {"fp16 at overflow's tie", "mma@sm80", FORMAT_FP16, FORMAT_FP16, 2, {0x1.ffcp15f, 16}, {1, 1},
     0,
     0x7F800000},
    {"fp16 subnormal sum", "mma@sm80", FORMAT_FP16, FORMAT_FP16, 1, {0x1p-14f}, {0x1.8p-10f}, 0,
     0x34000000},
    {"fp16 NaN", "mma@sm80", FORMAT_FP16, FORMAT_FP16, 1, {INFINITY}, {0}, 0, 0x7FFFE000},
    {"fp16 sums in fp32 are cut", "mma@sm90", FORMAT_FP16, FORMAT_FP32, 1, {0x1.8p-12f},
     {0x1p-12f}, 1,
     0x3F800000},
    /* a subnormal fp16 keeps exponent -14: 2^-24 2^-24 has exponent -28, F = 24 reaches 2^-52 */
    {"fp16 subnormals are not normalised", "mma@sm80", FORMAT_FP16, FORMAT_FP32, 2,
     {0x1p-24f, 0x1p-14f}, {0x1p-24f, 0x1p-14f}, -0x1p-53f, 0x31800008},
    {"bf16 of the same values", "mma@sm80", FORMAT_BF16, FORMAT_FP32, 1, {0x1p-24f}, {0x1p-24f},
     -0x1p-71f, 0x277FFFFE},
    {"fp16 alone", "mma@sm80", FORMAT_FP16, FORMAT_FP32, 1, {0x1p-24f}, {0x1p-24f}, -0x1p-71f,
     0x27800000},
    {"tf32 does not read 13 bits", "mma@sm80/tf32", FORMAT_FP32, FORMAT_FP32, 1, {0x1.003ffep0f},
     {0x1.0021p0f}, 0, 0x3F800000},
    {"tf32 reads the bit above", "mma@sm90/tf32", FORMAT_FP32, FORMAT_FP32, 1, {0x1.004002p0f},
     {1}, 0,
     0x3F802000},
    {"tf32 steps of 4 on sm80", "mma@sm80/tf32", FORMAT_TF32, FORMAT_FP32, 4,
     {1, 0x1p-24f, 0x1p-24f, 0x1p-25f}, {1, 1, 1, 1}, 0, 0x3F800001},
    {"fp8 cut to 13 bits", "mma@sm89/fp8", FORMAT_E4M3, FORMAT_FP32, 2, {1, 0x1p-7f},
     {1, 0x1.cp-6f}, 0,
     0x3F800400},
    {"fp8 cut to 13 bits, below 2", "mma@sm90/fp8", FORMAT_E4M3, FORMAT_FP32, 3,
     {1, 0x1p-7f, 0x1p-7f}, {1, 0x1p-6f, 0x1p-7f}, 0, 0x3F800400},
    {"fp8 on sm100 keeps fp32", "mma@sm100/fp8", FORMAT_E4M3, FORMAT_FP32, 3,
     {1, 0x1p-7f, 0x1p-7f}, {1, 0x1p-6f, 0x1p-7f}, 0, 0x3F800600},
    {"fp8 cuts its accumulator", "mma@sm90/fp8", FORMAT_E5M2, FORMAT_FP32, 1, {0}, {0},
     0x1.fffffep0f,
     0x3FFFFC00},
    {"fp8 unnormalised subnormals", "mma@sm89/fp8", FORMAT_E4M3, FORMAT_FP32, 1, {0x1p-9f},
     {0x1p-9f},
     0x1p-26f, 0x36800000},
    {"nothing hidden is multiplied", "mma@sm90", FORMAT_BF16, FORMAT_FP32, 1, {0}, {0}, -0.0f, 0},
};

static void other_formats(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(hand_rows); i++) {
        const struct hand_row *row = &hand_rows[i];
        expect(row->name, row->order, row->factor, row->output, row->a, row->b, row->n, row->c,
               row->want);
    }
}

/* Rows' intervals: a NaN behind the mask reaches nothing; positions do not move: with keys 8 to 15
   seen, sm80's first step holds nothing and the second everything. */
static void hidden_terms(void **state)
{
    (void)state;
    for (int n = 0; n < arithmetic_count; n++) {
        struct run r;
        struct message why;
        struct policy policy = policy_table(POLICY_GPU_BF16);
        assert_true(policy_order(&policy, "OUT_ACC=mma@sm80", &why));
        if (!run_new(&r, arithmetics[n], &policy, 53, &why))
            fail_msg("%s", why.text);
        struct tile *P = tile_new(&r, TENSOR_P, 1, K), *V = tile_new(&r, TENSOR_V, K, 1);
        struct tile *O = tile_new(&r, TENSOR_O, 1, 1);
        for (int k = 0; k < K; k++) {
            r.arith->set(P->data, (size_t)k, k < 4 ? 1 : 0x1p-24);
            r.arith->set(V->data, (size_t)k, k < 4 ? (double)NAN : 1);
        }
        r.arith->set(O->data, 0, 1);
        P->wrote = SITE_PROB;
        V->wrote = SITE_INPUT;
        P->masked = true;
        P->lo[0] = 4;
        P->hi[0] = K;
        mma_ab(&r, O, P, V, SITE_PV_PRODUCT, SITE_OUT_ACC);
        /* 1 + 4 2^-24, then + 8 2^-24; one step of 12 terms would say the same, RN not */
        assert_true(tile_get(&r, O, 0, 0) == 1 + 12 * 0x1p-24);
        r.arith->set(V->data, 4, (double)NAN);
        mma_ab(&r, O, P, V, SITE_PV_PRODUCT, SITE_OUT_ACC);
        assert_true(isnan(tile_get(&r, O, 0, 0)));
        run_free(&r);
    }
}

/* Exponents spread over `spread`, subnormals, zeros, specials now and then. */
static float draw_factor(uint64_t *state, enum format f, int spread)
{
    uint64_t x = splitmix(state);
    int bits = format_info(f)->bits, fields = f == FORMAT_BF16 ? 256 : 32;
    int fraction = bits - 1 - (f == FORMAT_BF16 ? 8 : 5), kind = (int)(x & 15);
    if (kind == 0)
        return (float)format_decode(f, splitmix(state) >> (64 - bits));
    int field = fields / 2 - spread / 2 + (int)((x >> 8) % (uint64_t)spread);
    field = kind == 1 ? 0 : field < 0 ? 0 : field >= fields - 1 ? fields - 2 : field;
    uint64_t pattern = (x >> 63) << (bits - 1) | (uint64_t)field << fraction;
    return (float)format_decode(f, pattern | (x >> 32 & ((UINT64_C(1) << fraction) - 1)));
}

static void equal_judge(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        enum oracle_unit unit;
        enum format format;
    } rows[] = {
        {"mma@sm70", ORACLE_SM70, FORMAT_FP16},  {"mma@sm75", ORACLE_SM75, FORMAT_FP16},
        {"mma@sm80", ORACLE_SM80, FORMAT_BF16},  {"mma@sm80", ORACLE_SM80, FORMAT_FP16},
        {"mma@sm86", ORACLE_SM86, FORMAT_BF16},  {"mma@sm89", ORACLE_SM89, FORMAT_FP16},
        {"mma@sm90", ORACLE_SM90, FORMAT_BF16},  {"mma@sm90", ORACLE_SM90, FORMAT_FP16},
        {"mma@sm100", ORACLE_SM100, FORMAT_BF16}, {"mma@sm120", ORACLE_SM120, FORMAT_BF16},
    };
    static const int spreads[] = {256, 40, 12, 3, 1};
    const char *level = getenv("FLASHULP_TESTS");
    int cases = level != NULL && strcmp(level, "full") == 0 ? 100000 : 4000;
    uint64_t seed = 11;
    for (int i = 0; i < COUNT(rows); i++)
        for (int n = 0; n < cases; n++) {
            struct mma_step s = step_named(rows[i].order, rows[i].format, FORMAT_FP32);
            float a[37], b[37], c;
            int count = 1 + (int)(splitmix(&seed) % 37), spread = spreads[n % COUNT(spreads)];
            for (int k = 0; k < count; k++) {
                a[k] = draw_factor(&seed, rows[i].format, spread);
                b[k] = draw_factor(&seed, rows[i].format, spread);
            }
            c = n % 3 == 0 ? 0 : float_of_bits((uint32_t)(splitmix(&seed) >> 32));
            c = n % 3 == 1 ? draw_factor(&seed, FORMAT_BF16, 2 * spread) * 0x1.2345p0f : c;
            enum oracle_type type = rows[i].format == FORMAT_BF16 ? ORACLE_BF16 : ORACLE_FP16;
            uint32_t got = bits_of_float(chain(&s, a, b, count, c));
            uint32_t want = bits_of_float(oracle_mma(rows[i].unit, type, a, 1, b, 1, count, c));
            if (got != want)
                fail_msg("%s, %s, case %d of %d terms: %08X, the judge %08X", rows[i].order,
                         format_info(rows[i].format)->name, n, count, (unsigned)got,
                         (unsigned)want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(published_digests),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(hidden_terms),
        cmocka_unit_test(equal_judge),
    };
    find_arithmetics();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
