/* test_special_wide.c: special_wide against MPFR over double's range: its relative error, that high
   is the double nearest the function, and that low has the sign of what is left. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "tests/special_oracle.h"

#define LARGEST_ERROR 0x1p-101

static double random_input(enum function fn, uint64_t *seed)
{
    double unit = random_unit(seed), sign = random_bits(seed) & 1 ? 1 : -1;
    int exponent = (int)(random_bits(seed) % 1000), kind = (int)(random_bits(seed) % 4);
    bool logarithm = fn == FUNCTION_LOG || fn == FUNCTION_LOG2;
    if (kind == 0) /* every exponent that does not over- or underflow */
        return (logarithm ? 1 : sign) * ldexp(1 + unit, (logarithm ? 500 : 7) - exponent);
    if (logarithm)
        return kind == 1 ? 0.5 + 2 * unit : 1 + sign * ldexp(unit, -(exponent % 53));
    if (kind == 1) /* close to where the reduction changes */
        return (floor(unit * 200 - 100) + 0.5) * (fn == FUNCTION_EXP2 ? 1 : 0x1.62e42fefa39efp-1) +
               ldexp(sign, -(exponent % 60));
    if (kind == 2) /* and around the largest subnormal result */
        return exponent % 2 ? sign * unit * 700
                            : -1022.5 * (fn == FUNCTION_EXP2 ? 1 : 0x1.62e42fefa39efp-1) - 2 * unit;
    return sign * ldexp(1 + unit, 3 - exponent % 60);
}

/* |high + low - exact| / |exact|, after checking high and low's sign; 0 for results below 2^-960,
   where low cannot hold what is left. */
static double check(enum function fn, double x, mpfr_t exact, mpfr_t rest)
{
    struct wide y = special_wide(fn, x);
    int ternary = oracle(exact, fn, x, MPFR_RNDN);
    double nearest = mpfr_get_d(exact, MPFR_RNDN);
    if (y.high != nearest || signbit(y.high) != signbit(nearest))
        fail_msg("%s(%a): high %a, nearest double %a", function_names[fn], x, y.high, nearest);
    if (fabs(nearest) < 0x1p-960 || isinf(nearest)) {
        assert_true(fabs(y.low) <= 0x1p-1013);
        return 0;
    }
    mpfr_sub_d(rest, exact, y.high, MPFR_RNDN);
    int sign = mpfr_zero_p(rest) ? -ternary : mpfr_sgn(rest);
    if ((sign > 0) - (sign < 0) != (y.low > 0) - (y.low < 0))
        fail_msg("%s(%a): low %a, what is left %a (%d)", function_names[fn], x, y.low,
                 mpfr_get_d(rest, MPFR_RNDN), sign);
    if (nearest == 0)
        return 0;
    mpfr_sub_d(rest, rest, y.low, MPFR_RNDN);
    mpfr_div(rest, rest, exact, MPFR_RNDN);
    return fabs(mpfr_get_d(rest, MPFR_RNDN));
}

static void random_inputs(void **state)
{
    (void)state;
    int samples = full_proof() ? 2000000 : 60000;
    mpfr_t exact, rest;
    mpfr_inits2(200, exact, rest, (mpfr_ptr)0);
    for (int fn = 0; fn < FUNCTION_COUNT; fn++) {
        uint64_t seed = 31 + (uint64_t)fn;
        double worst = 0, worst_input = 0;
        for (int i = 0; i < samples; i++) {
            double x = random_input((enum function)fn, &seed);
            double error = check((enum function)fn, x, exact, rest);
            if (error > worst) {
                worst = error;
                worst_input = x;
            }
        }
        printf("# note %-5s wide: largest relative error seen 2^%.2f at %a\n", function_names[fn],
               log2(worst), worst_input);
        assert_true(worst <= LARGEST_ERROR);
    }
    mpfr_clears(exact, rest, (mpfr_ptr)0);
}

/* low: its sign. */
static const struct row {
    enum function fn;
    double x, high;
    int low;
} rows[] = {
    {FUNCTION_EXP, 0.0, 1, 0},
    {FUNCTION_EXP, -0.0, 1, 0},
    {FUNCTION_EXP, 0x1p-1074, 1, 1},
    {FUNCTION_EXP, -0x1p-1074, 1, -1},
    {FUNCTION_EXP, INFINITY, INFINITY, 0},
    {FUNCTION_EXP, -INFINITY, 0, 0},
    {FUNCTION_EXP, 0x1.62e42fefa39efp+9, 0x1.fffffffffff2ap+1023, 1},
    {FUNCTION_EXP, 0x1.62e42fefa39fp+9, INFINITY, 0},
    {FUNCTION_EXP, -0x1.74910d52d3051p+9, 0x1p-1074, 0},
    {FUNCTION_EXP, -0x1.74910d52d3052p+9, 0, 0},
    {FUNCTION_EXP, NAN, NAN, 0},
    {FUNCTION_EXP2, 3, 8, 0},
    {FUNCTION_EXP2, 1023, 0x1p1023, 0},
    {FUNCTION_EXP2, 1024, INFINITY, 0},
    {FUNCTION_EXP2, -1022, 0x1p-1022, 0},
    {FUNCTION_EXP2, -1074, 0x1p-1074, 0},
    {FUNCTION_EXP2, -0x1.0cbffffffffffp+10, 0x1p-1074, 0},
    {FUNCTION_EXP2, -1075, 0, 0},
    {FUNCTION_EXP2, -1e300, 0, 0},
    {FUNCTION_LOG, 1, 0, 0},
    {FUNCTION_LOG, 0.0, -INFINITY, 0},
    {FUNCTION_LOG, -0.0, -INFINITY, 0},
    {FUNCTION_LOG, -1, NAN, 0},
    {FUNCTION_LOG, -INFINITY, NAN, 0},
    {FUNCTION_LOG, INFINITY, INFINITY, 0},
    {FUNCTION_LOG, 0x1p-1074, -0x1.74385446d71c3p+9, -1},
    {FUNCTION_LOG2, 0x1p-1074, -1074, 0},
    {FUNCTION_LOG2, 0x1p1023, 1023, 0},
    {FUNCTION_LOG2, 1, 0, 0},
    {FUNCTION_TANH, 0.0, 0.0, 0},
    {FUNCTION_TANH, -0.0, -0.0, 0},
    {FUNCTION_TANH, INFINITY, 1, 0},
    {FUNCTION_TANH, -INFINITY, -1, 0},
    {FUNCTION_TANH, 400, 1, -1},
    {FUNCTION_TANH, -400, -1, 1},
    {FUNCTION_TANH, 0x1p-600, 0x1p-600, -1},
    {FUNCTION_TANH, -0x1p-1074, -0x1p-1074, 0},
};

static void special_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wide y = special_wide(rows[i].fn, rows[i].x);
        bool same = isnan(rows[i].high)
                        ? isnan(y.high)
                        : y.high == rows[i].high && signbit(y.high) == signbit(rows[i].high);
        if (!same || (y.low > 0) - (y.low < 0) != rows[i].low)
            fail_msg("%s(%a): got %a + %a, want %a and low of sign %d", function_names[rows[i].fn],
                     rows[i].x, y.high, y.low, rows[i].high, rows[i].low);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_inputs),
        cmocka_unit_test(special_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
