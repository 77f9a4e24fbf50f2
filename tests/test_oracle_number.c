/* test_oracle_number.c: are the oracle's numbers sound?

   Against the machine's own float and double, against every pair of neighbours of the narrow
   formats, and by hand. */
#include "tests/oracle_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Any bits, or (three times in four) exponents near each other: in the middle or at the ends. */
static float random_float(uint64_t *state)
{
    uint32_t bits = (uint32_t)(random_bits(state) >> 32);
    uint32_t low = (uint32_t)(random_bits(state) >> 60);
    uint32_t kind = (uint32_t)(random_bits(state) >> 62);
    static const uint32_t base[4] = {0, 0, 120, 240};
    if (kind != 0)
        bits = (bits & 0x807fffff) | (base[kind] + low) << 23;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double random_double(uint64_t *state)
{
    uint64_t bits = random_bits(state), kind = random_bits(state) >> 62;
    static const uint64_t base[4] = {0, 0, 1016, 2032};
    if (kind != 0)
        bits = (bits & 0x800fffffffffffff) | (base[kind] + (random_bits(state) >> 60)) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void machine_row(enum format f, enum oracle_operation operation, double a, double b,
                        double c, double want)
{
    double got = oracle_rounded(f, false, operation, a, b, c);
    if (!same(got, want))
        fail_msg("operation %d format %d of %a %a %a: %a, the machine says %a", operation, f, a, b,
                 c, got, want);
}

static void numbers_agree_with_the_machine(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < 40000; i++) {
        float a = random_float(&state), b = random_float(&state), c = random_float(&state);
        machine_row(FORMAT_FP32, ORACLE_ADD, a, b, 0, a + b);
        machine_row(FORMAT_FP32, ORACLE_SUB, a, b, 0, a - b);
        machine_row(FORMAT_FP32, ORACLE_MUL, a, b, 0, a * b);
        machine_row(FORMAT_FP32, ORACLE_DIV, a, b, 0, a / b);
        machine_row(FORMAT_FP32, ORACLE_FMA, a, b, c, fmaf(a, b, c));
        double d = random_double(&state), e = random_double(&state), g = random_double(&state);
        machine_row(FORMAT_FP32, ORACLE_CONVERT, d, 0, 0, (float)d);
        machine_row(FORMAT_FP64, ORACLE_DIV, d, e, 0, d / e);
        machine_row(FORMAT_EXACT, ORACLE_FMA, d, e, g, fma(d, e, g));
    }
}

/* Walks up a format's numbers: between neighbours, the midpoint goes to the even one and anything
   beside it to the nearer one. */
static void neighbours_share_their_gap(void **unused)
{
    (void)unused;
    static const struct {
        enum format f;
        int p, emin;
        double largest;
    } rows[] = {
        {FORMAT_TF32, 11, -126, 0x1.ffcp127}, {FORMAT_FP16, 11, -14, 65504},
        {FORMAT_BF16, 8, -126, 0x1.fep127},   {FORMAT_E4M3, 4, -6, 448},
        {FORMAT_E5M2, 3, -14, 57344},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        bool odd = false;
        for (double x = 0, next; x < rows[i].largest; x = next, odd = !odd) {
            int e = x > 0 && ilogb(x) > rows[i].emin ? ilogb(x) : rows[i].emin;
            double gap = ldexp(1, e - rows[i].p + 1), middle = x + gap / 2;
            next = x + gap;
            machine_row(rows[i].f, ORACLE_CONVERT, middle, 0, 0, odd ? next : x);
            machine_row(rows[i].f, ORACLE_CONVERT, nextafter(middle, 0), 0, 0, x);
            machine_row(rows[i].f, ORACLE_CONVERT, -nextafter(middle, 2 * next), 0, 0, -next);
            machine_row(rows[i].f, ORACLE_MUL, middle, 1, 0, odd ? next : x);
        }
    }
}

static void numbers_by_hand(void **unused)
{
    (void)unused;
    static const struct {
        enum format f;
        bool saturate;
        enum oracle_operation operation;
        double a, b, c, want;
    } rows[] = {
        /* once, not twice: by way of a double these would be ties */
        {FORMAT_BF16, false, ORACLE_ADD, 1 + 0x1p-8, 0x1p-70, 0, 1 + 0x1p-7},
        {FORMAT_BF16, false, ORACLE_ADD, 1 + 0x1p-8, 0, 0, 1},
        {FORMAT_FP16, false, ORACLE_FMA, 0x1p-13, 0x1p-12, 0x1p-80, 0x1p-24},
        {FORMAT_FP16, false, ORACLE_FMA, 0x1p-13, 0x1p-12, 0, 0},
        {FORMAT_FP16, false, ORACLE_FMA, 0x1p-13, 0x3p-12, -0x1p-80, 0x1p-24},
        {FORMAT_FP16, false, ORACLE_FMA, 0x1p-13, 0x3p-12, 0, 0x1p-23},
        {FORMAT_FP32, false, ORACLE_EXP, 0x1p-25, 0, 0, 1},
        {FORMAT_FP32, false, ORACLE_EXP, 0x1p-24, 0, 0, 1 + 0x1p-23},
        {FORMAT_FP32, false, ORACLE_EXP, -0x1p-25, 0, 0, 1}, /* a tie but for x^2/2 above it */
        /* the ends of the ranges */
        {FORMAT_FP16, false, ORACLE_CONVERT, 65520, 0, 0, INFINITY},
        {FORMAT_FP16, true, ORACLE_CONVERT, 65520, 0, 0, INFINITY},
        {FORMAT_FP16, false, ORACLE_ADD, 65504, 15.984375, 0, 65504},
        {FORMAT_BF16, false, ORACLE_CONVERT, -0x1.ffp127, 0, 0, -INFINITY},
        {FORMAT_FP32, true, ORACLE_MUL, 0x1p127, -2, 0, -INFINITY},
        {FORMAT_E4M3, false, ORACLE_CONVERT, 464, 0, 0, 448},
        {FORMAT_E4M3, false, ORACLE_CONVERT, 464.00001, 0, 0, NAN},
        {FORMAT_E4M3, true, ORACLE_CONVERT, -464.00001, 0, 0, -448},
        {FORMAT_E4M3, false, ORACLE_CONVERT, 1e9, 0, 0, NAN},
        {FORMAT_E4M3, true, ORACLE_CONVERT, INFINITY, 0, 0, 448},
        {FORMAT_E4M3, false, ORACLE_CONVERT, -INFINITY, 0, 0, NAN},
        {FORMAT_E4M3, true, ORACLE_CONVERT, NAN, 0, 0, NAN},
        {FORMAT_E5M2, false, ORACLE_CONVERT, 61440, 0, 0, INFINITY},
        {FORMAT_E5M2, true, ORACLE_CONVERT, 61440, 0, 0, 57344},
        {FORMAT_E4M3, false, ORACLE_CONVERT, -0x1p-10, 0, 0, -0.0},
        {FORMAT_FP64, false, ORACLE_MUL, 0x1p-1074, 0.5, 0, 0},
        {FORMAT_FP64, false, ORACLE_MUL, 0x3p-1074, -0.5, 0, -0x1p-1073},
        /* flushing: operands, results, signs; what rounds up to a normal number stays */
        {FORMAT_FP32_FTZ, false, ORACLE_MUL, 0x1p-126, -0.5, 0, -0.0},
        {FORMAT_FP32_FTZ, false, ORACLE_MUL, 0x1p-127, 1024, 0, 0},
        {FORMAT_FP32_FTZ, false, ORACLE_ADD, -0x1p-127, -0.0, 0, -0.0},
        {FORMAT_FP32_FTZ, false, ORACLE_FMA, 1, 0x1p-126, 0x1p-127, 0x1p-126},
        {FORMAT_FP32_FTZ, false, ORACLE_MUL, 0x1.fffffep-64, 0x1p-63, 0, 0x1p-126},
        {FORMAT_FP32, false, ORACLE_MUL, 0x1p-127, 1024, 0, 0x1p-117},
        {FORMAT_FP32_FTZ, false, ORACLE_LOG, 0x1p-130, 0, 0, -INFINITY},
        {FORMAT_FP32_FTZ, false, ORACLE_EXP, -88, 0, 0, 0},
        /* functions */
        {FORMAT_FP32, false, ORACLE_EXP, 1, 0, 0, 0x1.5bf0a8p1},
        {FORMAT_BF16, false, ORACLE_EXP, 1, 0, 0, 2.71875},
        {FORMAT_FP32, false, ORACLE_EXP, -104, 0, 0, 0},
        {FORMAT_FP32, false, ORACLE_EXP, -103.5, 0, 0, 0x1p-149},
        {FORMAT_FP32, false, ORACLE_EXP, -INFINITY, 0, 0, 0},
        {FORMAT_FP32, false, ORACLE_EXP, 89, 0, 0, INFINITY},
        {FORMAT_FP32, false, ORACLE_EXP2, -149.5, 0, 0, 0x1p-149},
        {FORMAT_FP32, false, ORACLE_EXP2, -150, 0, 0, 0},
        {FORMAT_FP32, false, ORACLE_LOG, 2, 0, 0, 0x1.62e43p-1},
        {FORMAT_FP32, false, ORACLE_LOG, 0, 0, 0, -INFINITY},
        {FORMAT_FP32, false, ORACLE_LOG, -1, 0, 0, NAN},
        {FORMAT_FP32, false, ORACLE_TANH, -INFINITY, 0, 0, -1},
        {FORMAT_FP32, false, ORACLE_TANH, 0x1p-149, 0, 0, 0x1p-149},
        {FORMAT_FP32, false, ORACLE_SUB, INFINITY, INFINITY, 0, NAN},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        double got = oracle_rounded(rows[i].f, rows[i].saturate, rows[i].operation, rows[i].a,
                                    rows[i].b, rows[i].c);
        if (!same(got, rows[i].want))
            fail_msg("row %d: %a, not %a", i, got, rows[i].want);
    }
    assert_true(same(oracle_constant(FORMAT_FP32, false, 1, 128), 0x1.6a09e6p-4));
    assert_true(same(oracle_constant(FORMAT_FP32, false, 1, 64), 0.125));
    assert_true(same(oracle_constant(FORMAT_BF16, false, -1, 3), -0x1.28p-1));
    assert_true(same(oracle_constant(FORMAT_BF16, false, 1.00390625, 1), 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_agree_with_the_machine),
        cmocka_unit_test(neighbours_share_their_gap),
        cmocka_unit_test(numbers_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
