/* test_oracle_mma.c: does the tensor core's judge agree with the published vectors?

   And with digests of a million cases, computed by another program (quick: of a thousand and of a
   million on one processor); and its chain with its steps. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/oracle_mma.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { DEPTH = 16 };

static const char *const unit_names[] = {"sm70", "sm75", "sm80",  "sm86",
                                         "sm89", "sm90", "sm100", "sm120"};

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float half_value(enum oracle_type type, unsigned bits)
{
    if (type == ORACLE_BF16)
        return float_of((uint32_t)bits << 16);
    int exponent = (int)(bits >> 10 & 31);
    float fraction = (float)(bits & 1023), sign = bits >> 15 != 0 ? -1 : 1;
    if (exponent == 31)
        return sign * (fraction != 0 ? NAN : INFINITY);
    return sign * (exponent == 0 ? ldexpf(fraction, -24) : ldexpf(1024 + fraction, exponent - 25));
}

static void read_operands(enum oracle_type type, const char *text, float *values)
{
    for (int i = 0; i < DEPTH; i++) {
        char *end;
        values[i] = half_value(type, (unsigned)strtoul(text, &end, 16));
        text = end;
    }
}

struct row {
    const char *name;
    enum oracle_type type;
    uint32_t c;
    const char *a, *b;
    uint32_t ampere, hopper;
};

static const struct row vectors[] = {
#define VECTOR(name, type, c, a, b, ampere, hopper) {#name, ORACLE_##type, c, a, b, ampere, hopper},
#include "tests/data/mma_vectors.def"
#undef VECTOR
};

static void unit_row(const struct row *row, enum oracle_unit unit, uint32_t want)
{
    float a[DEPTH], b[DEPTH];
    read_operands(row->type, row->a, a);
    read_operands(row->type, row->b, b);
    uint32_t got = bits_of(oracle_mma(unit, row->type, a, 1, b, 1, DEPTH, float_of(row->c)));
    if (got != want)
        fail_msg("%s on %s: %08x, not %08x", row->name, unit_names[unit], got, want);
}

static void vectors_agree(void **unused)
{
    (void)unused;
    assert_int_equal(COUNT(vectors), 41);
    for (int i = 0; i < COUNT(vectors); i++)
        for (int unit = ORACLE_SM80; unit <= ORACLE_SM120; unit++)
            unit_row(&vectors[i], (enum oracle_unit)unit,
                     unit < ORACLE_SM90 ? vectors[i].ampere : vectors[i].hopper);
}

/* Worked by hand from the rule that a subnormal keeps the smallest exponent: c's last bit lies just
   below what the sum keeps, or a product just below the bit of a subnormal c. */
static void subnormals_keep_the_smallest_exponent(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        {"2^-24 1 + (2^-24 + 2^-39)", ORACLE_FP16, 0x33800100, "0001", "3C00", 0x34000000,
         0x34000080},
        {"2^-24 1 + (2^-24 + 2^-40)", ORACLE_FP16, 0x33800080, "0001", "3C00", 0x34000000,
         0x34000000},
        {"2^-149 - 2^-26 2^-126", ORACLE_BF16, 0x00000001, "B280", "0080", 0x00000001, 0x00000001},
        {"2^-149 - 2^-25 2^-126", ORACLE_BF16, 0x00000001, "B300", "0080", 0x00000001, 0x00000000},
    };
    for (int i = 0; i < COUNT(rows); i++)
        for (int unit = ORACLE_SM80; unit <= ORACLE_SM120; unit++)
            unit_row(&rows[i], (enum oracle_unit)unit,
                     unit < ORACLE_SM90 ? rows[i].ampere : rows[i].hopper);
}

static void volta_and_turing_agree(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        uint32_t volta, turing;
    } rows[] = {{"V1h", 0x00000000, 0xbf000000}, {"T22", 0x3fad928f, 0x3fad928f}};
    for (int i = 0; i < COUNT(vectors); i++)
        for (int j = 0; j < COUNT(rows); j++)
            if (strcmp(rows[j].name, vectors[i].name) == 0) {
                unit_row(&vectors[i], ORACLE_SM70, rows[j].volta);
                unit_row(&vectors[i], ORACLE_SM75, rows[j].turing);
            }
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* raw: any bits.  near: exponents within 15 of each other, no specials. */
static float draw_operand(uint64_t *state, bool near, bool wide)
{
    uint64_t x = draw(state);
    if (!near)
        return float_of(wide ? (uint32_t)(x >> 32) : (uint32_t)(x >> 48) << 16);
    uint32_t sign = (uint32_t)(x >> 63) << 31;
    uint32_t exponent = (119 + (uint32_t)(x >> 52 & 15)) << 23;
    uint32_t fraction = wide ? (uint32_t)(x >> 20) & 0x7fffff : (uint32_t)(x >> 40 & 127) << 16;
    return float_of(sign | exponent | fraction);
}

static uint64_t stream_digest(enum oracle_unit unit, bool near, int cases)
{
    uint64_t state = near ? 2026 : 1, hash = 0xcbf29ce484222325u;
    for (int i = 0; i < cases; i++) {
        float a[DEPTH], b[DEPTH];
        for (int k = 0; k < DEPTH; k++)
            a[k] = draw_operand(&state, near, false);
        for (int k = 0; k < DEPTH; k++)
            b[k] = draw_operand(&state, near, false);
        float c = draw_operand(&state, near, true);
        uint32_t bits = bits_of(oracle_mma(unit, ORACLE_BF16, a, 1, b, 1, DEPTH, c));
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (bits >> shift & 255)) * 0x100000001b3u;
    }
    return hash;
}

static void digests_agree(void **unused)
{
    (void)unused;
    static const struct {
        bool near;
        int cases;
        uint64_t ampere, hopper;
    } rows[] = {{false, 1000, 0x94029ffddf9a5bd0, 0xd9b55e7ac6514fdd},
                {true, 1000, 0x2ada0584de8a62fb, 0x17f1d7741bba2c44},
                {false, 1000000, 0x2752a9d227793ce2, 0xf48d74f1051e7c51},
                {true, 1000000, 0xa614c7e5d0c00b1e, 0x0b8b4d5859b11f1f}};
    const char *level = getenv("FLASHULP_TESTS");
    bool full = level != NULL && strcmp(level, "full") == 0;
    for (int i = 0; i < COUNT(rows); i++)
        for (int unit = ORACLE_SM80; unit <= ORACLE_SM120; unit++) {
            if (rows[i].cases > 1000 && !full && unit != ORACLE_SM80 && unit != ORACLE_SM90)
                continue;
            uint64_t got = stream_digest((enum oracle_unit)unit, rows[i].near, rows[i].cases);
            uint64_t want = unit < ORACLE_SM90 ? rows[i].ampere : rows[i].hopper;
            if (got != want)
                fail_msg("%d %s cases on %s: %016" PRIx64 ", not %016" PRIx64, rows[i].cases,
                         rows[i].near ? "near" : "raw", unit_names[unit], got, want);
        }
}

/* Longer than one instruction, operands apart in memory, a last sum that is not full. */
static void chains_are_their_steps(void **unused)
{
    (void)unused;
    static const int products[] = {4, 8, 8, 8, 8, 16, 16, 16};
    enum { LONG = 53, STEP = 3 };
    uint64_t state = 5;
    float a[LONG], b[LONG * STEP], full_a[DEPTH], full_b[DEPTH];
    for (int i = 0; i < LONG * STEP; i++)
        a[i % LONG] = draw_operand(&state, true, false), b[i] = draw_operand(&state, true, false);
    for (int unit = ORACLE_SM70; unit <= ORACLE_SM120; unit++) {
        int block = products[unit];
        float want = 0.75f;
        for (int start = 0; start < LONG; start += block) {
            for (int i = 0; i < block; i++) {
                full_a[i] = start + i < LONG ? a[start + i] : 0;
                full_b[i] = start + i < LONG ? b[(start + i) * STEP] : 0;
            }
            want =
                oracle_mma((enum oracle_unit)unit, ORACLE_BF16, full_a, 1, full_b, 1, block, want);
        }
        float got = oracle_mma((enum oracle_unit)unit, ORACLE_BF16, a, 1, b, STEP, LONG, 0.75f);
        if (bits_of(got) != bits_of(want))
            fail_msg("%s, a chain: %08x, its steps: %08x", unit_names[unit], bits_of(got),
                     bits_of(want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_agree),
        cmocka_unit_test(subnormals_keep_the_smallest_exponent),
        cmocka_unit_test(volta_and_turing_agree),
        cmocka_unit_test(digests_agree),
        cmocka_unit_test(chains_are_their_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
