/* test_mma_fast.c: a tensor core's matrix products, sixteen outputs at once, against its plain
   form: every processor level and the double arithmetic, over random tiles whose exponents are
   raw, narrow (cancellation), at the fast form's own limits, subnormal or special; with and
   without intervals, widths and depths that fill no block.  The published digests again, through the verb.
   A million outputs a level in quick, a hundred million in full. */
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

extern const struct arithmetic arith_float_base, arith_float_v3, arith_float_v4;

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

enum { ROWS = 16, COLUMNS = 37, DEPTH = 70 };

static bool full(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int below(uint64_t *state, int n)
{
    return (int)(splitmix(state) % (uint64_t)n);
}

/* How a tile's numbers are spread: exponents `middle` +- spread / 2, or raw bits; one in `odd_one`
   is zero, subnormal or special. */
enum { ALL_LARGE = -1 }; /* positive numbers just below a power of two: the largest sums */

static const struct spread {
    int middle, spread, odd_one;
} spreads[] = {
    {0, 0, 1}, /* raw */
    {0, 1, 1000}, {0, 4, 1000}, {0, 16, 1000}, {-10, 30, 50}, {0, 60, 200}, {0, 2, 3},
    {-45, 3, 1000}, {-44, 6, 100}, {50, 3, 1000}, {49, 6, 100}, {-63, 8, 100}, {63, 4, 1000},
    {-120, 20, 100}, {-7, 14, 20}, {0, ALL_LARGE, 1000},
};

static float draw(uint64_t *state, enum format f, const struct spread *s)
{
    const struct format_info *info = format_info(f);
    uint64_t x = splitmix(state);
    int exponent =
        s->middle + (s->spread > 0 ? (int)(x >> 8 & 255) % s->spread - s->spread / 2 : 0);
    if (below(state, s->odd_one) == 0) {
        int bits = info->bits == 32 ? 32 : info->bits;
        uint64_t raw = splitmix(state) >> (64 - bits);
        return (float)format_decode(f, f == FORMAT_TF32 ? raw & ~UINT64_C(0x1FFF) : raw);
    }
    double fraction = 1 + ldexp((double)(x >> 40), -24);
    if (s->spread == ALL_LARGE)
        return (float)(ldexp(2, s->middle) - ldexp(1, s->middle + 1 - info->precision));
    exponent = exponent < info->emin ? info->emin : exponent > info->emax ? info->emax : exponent;
    return (float)format_round(f, ldexp(x >> 63 ? -fraction : fraction, exponent), false);
}

/* The accumulator: about as large as a product, or much smaller, larger, zero, raw. */
static float draw_accumulator(uint64_t *state, const struct spread *s)
{
    struct spread own = {2 * s->middle, s->spread + 8, s->odd_one};
    switch (below(state, 8)) {
    case 0: return 0;
    case 1: return -0.0f;
    case 2: own.middle += 24; break;
    case 3: own.middle -= 24; break;
    case 4: return float_of_bits((uint32_t)(splitmix(state) >> 32));
    default: break;
    }
    return draw(state, FORMAT_FP32, &own);
}

static const struct unit_row {
    const char *order;
    enum format factor;
} unit_rows[] = {
    {"mma@sm90", FORMAT_BF16},      {"mma@sm80", FORMAT_BF16},      {"mma@sm90", FORMAT_FP16},
    {"mma@sm80", FORMAT_FP16},      {"mma@sm70", FORMAT_FP16},      {"mma@sm90/tf32", FORMAT_FP32},
    {"mma@sm80/tf32", FORMAT_TF32}, {"mma@sm89/fp8", FORMAT_E4M3},  {"mma@sm90/fp8", FORMAT_E5M2},
    {"mma@sm100/fp8", FORMAT_E4M3}, {"mma@sm90,minus-zero=lost", FORMAT_BF16},
    {"mma@sm90,e-zero=-126", FORMAT_BF16}, {"mma@sm90,zeros=counted", FORMAT_BF16},
};

struct tiles {
    struct run run;
    struct policy policy;
    struct mma_step step;
    struct tile *a, *b, *d;
    int rows, cols, depth;
    enum verb verb;
};

static struct tile *drawn(struct run *r, int rows, int cols, enum format f, const struct spread *s,
                          uint64_t *state)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, rows, cols);
    for (int i = 0; i < rows * cols; i++)
        r->arith->set(t->data, (size_t)i,
                      (double)(f == FORMAT_EXACT ? draw_accumulator(state, s) : draw(state, f, s)));
    t->wrote = f == FORMAT_EXACT ? SITE_OUT_ACC : SITE_INPUT;
    return t;
}

static void hide_some(struct tile *t, uint64_t *state)
{
    t->masked = true;
    for (int i = 0; i < t->rows; i++) {
        t->lo[i] = below(state, t->cols + 1);
        t->hi[i] = t->lo[i] + below(state, t->cols - t->lo[i] + 1);
    }
}

static void tiles_new(struct tiles *t, const struct arithmetic *arith, const struct unit_row *unit,
                      const struct spread *s, uint64_t *state)
{
    struct message why;
    t->policy = policy_table(POLICY_FP32);
    t->policy.site[SITE_INPUT].format = unit->factor;
    if (!order_parse(unit->order, &t->policy.site[SITE_OUT_ACC].order, &why) ||
        !run_new(&t->run, arith, &t->policy, 53, &why))
        fail_msg("%s", why.text);
    t->step =
        mma_step_of(t->policy.site[SITE_OUT_ACC].order.mma, (struct mma_factor){unit->factor, 0},
                    (struct mma_factor){unit->factor, 0}, FORMAT_FP32);
    t->verb = (enum verb[]){VERB_MMA_AB, VERB_MMA_ABT, VERB_MMA_ATB}[below(state, 3)];
    t->rows = 1 + below(state, ROWS);
    t->cols = below(state, 2) ? 16 : 1 + below(state, COLUMNS);
    t->depth = below(state, 2) ? 16 : 1 + below(state, DEPTH);
    bool turned = t->verb == VERB_MMA_ATB;
    t->a = drawn(&t->run, turned ? t->depth : t->rows, turned ? t->rows : t->depth, unit->factor, s,
                 state);
    bool abt = t->verb == VERB_MMA_ABT;
    t->b =
        drawn(&t->run, abt ? t->cols : t->depth, abt ? t->depth : t->cols, unit->factor, s, state);
    t->d = drawn(&t->run, t->rows, t->cols, FORMAT_EXACT, s, state);
    if (!abt && below(state, 3) == 0)
        hide_some(t->a, state);
}

/* Output (i, c), one step after the other. */
static float plain(const struct tiles *t, int i, int c)
{
    bool turned = t->verb == VERB_MMA_ATB, abt = t->verb == VERB_MMA_ABT;
    float acc = abt ? 0 : (float)tile_get(&t->run, t->d, i, c);
    for (int from = 0; from < t->depth; from += t->step.L) {
        float x[MMA_MOST_L], y[MMA_MOST_L];
        int n = 0;
        for (; n < t->step.L && from + n < t->depth; n++) {
            int k = from + n, row = turned ? k : i, col = turned ? i : k;
            bool seen = !t->a->masked || (col >= t->a->lo[row] && col < t->a->hi[row]);
            x[n] = seen ? (float)tile_get(&t->run, t->a, row, col) : 0;
            y[n] = seen ? (float)tile_get(&t->run, t->b, abt ? c : k, abt ? k : c) : 0;
        }
        acc = mma_dot_add(&t->step, x, y, n, acc);
    }
    return acc;
}

/* One random call; the number of outputs compared. */
static int compare(const struct arithmetic *arith, uint64_t seed)
{
    uint64_t state = seed;
    const struct unit_row *unit = &unit_rows[below(&state, COUNT(unit_rows))];
    const struct spread *s = &spreads[below(&state, COUNT(spreads))];
    struct tiles t;
    tiles_new(&t, arith, unit, s, &state);
    float want[ROWS * COLUMNS];
    for (int n = 0; n < t.rows * t.cols; n++)
        want[n] = plain(&t, n / t.cols, n % t.cols);
    t.run.perform(&t.run, &(struct call){.verb = t.verb, .dst = t.d, .a = t.a, .b = t.b,
                                         .arg_site = SITE_PV_PRODUCT, .site = SITE_OUT_ACC});
    for (int n = 0; n < t.rows * t.cols; n++) {
        float got = (float)tile_get(&t.run, t.d, n / t.cols, n % t.cols);
        if (bits_of_float(got) != bits_of_float(want[n]))
            fail_msg(
                "%s, seed %llu, %s, exponents %d +- %d, verb %d, %dx%dx%d%s: [%d][%d] is %08X, "
                "plainly %08X",
                arith->name, (unsigned long long)seed, unit->order, s->middle, s->spread / 2,
                t.verb, t.rows, t.cols, t.depth, t.a->masked ? ", hidden terms" : "", n / t.cols,
                n % t.cols, (unsigned)bits_of_float(got), (unsigned)bits_of_float(want[n]));
    }
    run_free(&t.run);
    return t.rows * t.cols;
}

static void compare_many(const struct arithmetic *arith, int64_t outputs)
{
    for (uint64_t seed = 0; outputs > 0; seed++)
        outputs -= compare(arith, seed);
}

static void equal_plain_form(void **state)
{
    (void)state;
    int64_t outputs = full() ? 100000000 : 1000000;
    compare_many(&arith_float_base, outputs);
#ifdef __x86_64__
    if (cpu_level() >= CPU_V3)
        compare_many(&arith_float_v3, outputs);
    if (cpu_level() >= CPU_V4)
        compare_many(&arith_float_v4, outputs);
#endif
    compare_many(&arith_double, outputs / 20);
}

/* Sixteen cases at a time: each is an output on the diagonal of a product of 16 x 16 tiles. */
static uint64_t digest_by_verb(const struct arithmetic *arith, const char *order, bool near,
                               int cases)
{
    enum { K = 16 };
    struct run r;
    struct message why;
    struct policy policy = policy_table(POLICY_GPU_BF16);
    uint64_t state = near ? 2026 : 1, digest = UINT64_C(0xCBF29CE484222325);
    if (!policy_order(&policy, order, &why) || !run_new(&r, arith, &policy, 53, &why))
        fail_msg("%s", why.text);
    struct tile *tile[3];
    float *x[3];
    for (int t = 0; t < 3; t++) {
        tile[t] = tile_new(&r, TENSOR_SCRATCH, K, K);
        tile[t]->wrote = SITE_INPUT;
        x[t] = tile[t]->data;
    }
    for (int done = 0; done < cases; done += K) {
        for (int n = 0; n < K; n++)
            for (int i = 0; i < 2 * K + 1; i++) {
                uint64_t draw_bits = splitmix(&state);
                uint32_t bits = i < 2 * K ? (uint32_t)(draw_bits >> 48) << 16
                                          : (uint32_t)(draw_bits >> 32);
                if (near) {
                    bits = (uint32_t)(draw_bits >> 63) << 31;
                    bits |= (uint32_t)(119 + (draw_bits >> 52 & 15)) << 23;
                    bits |= i < 2 * K ? (uint32_t)(draw_bits >> 40 & 127) << 16
                                      : (uint32_t)(draw_bits >> 20 & 0x7FFFFF);
                }
                if (i < K)
                    x[0][n * K + i] = float_of_bits(bits);
                else if (i < 2 * K)
                    x[1][(i - K) * K + n] = float_of_bits(bits);
                for (int c = 0; i == 2 * K && c < K; c++)
                    x[2][n * K + c] = float_of_bits(bits);
            }
        mma_ab(&r, tile[2], tile[0], tile[1], SITE_PV_PRODUCT, SITE_OUT_ACC);
        for (int n = 0; n < K && done + n < cases; n++)
            for (int byte = 0; byte < 4; byte++)
                digest = (digest ^ (bits_of_float(x[2][n * K + n]) >> (8 * byte) & 255)) *
                         UINT64_C(0x100000001B3);
    }
    run_free(&r);
    return digest;
}

static void published_digests(void **unused)
{
    (void)unused;
    static const struct {
        bool near, long_one;
        int cases;
        uint64_t sm80, sm90;
    } rows[] = {
        {false, false, 1000, UINT64_C(0x94029FFDDF9A5BD0), UINT64_C(0xD9B55E7AC6514FDD)},
        {true, false, 1000, UINT64_C(0x2ADA0584DE8A62FB), UINT64_C(0x17F1D7741BBA2C44)},
        {false, true, 1000000, UINT64_C(0x2752A9D227793CE2), UINT64_C(0xF48D74F1051E7C51)},
        {true, true, 1000000, UINT64_C(0xA614C7E5D0C00B1E), UINT64_C(0x0B8B4D5859B11F1F)},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        if (rows[i].long_one && !full())
            continue;
        assert_int_equal(digest_by_verb(arith_float(), "OUT_ACC=mma@sm80", rows[i].near,
                                        rows[i].cases), rows[i].sm80);
        assert_int_equal(digest_by_verb(arith_float(), "OUT_ACC=mma@sm90", rows[i].near,
                                        rows[i].cases), rows[i].sm90);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_plain_form),
        cmocka_unit_test(published_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
