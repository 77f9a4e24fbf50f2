/* test_special_poly.c: the largest error of special_poly.h, its special cases, and which of the
   functions never decrease.  Exact values are the fp64 evaluation of special_lanes.h, whose error
   is below 2^-26 ulp of a float.  quick samples the floats; full takes all 2^32. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "simulator/special_lanes.h"
#include "tests/special_oracle.h"

enum { BLOCK = 4096 };

/* Largest error over all floats, in ulps of the result, as special_poly.h says. */
static const double stated_error[FUNCTION_COUNT] = {
    [FUNCTION_EXP] = 0.99,  [FUNCTION_EXP2] = 0.85, [FUNCTION_LOG] = 0.86,
    [FUNCTION_LOG2] = 0.99, [FUNCTION_TANH] = 1.49,
};

struct worst {
    double error;
    uint32_t input;
    uint64_t decreases; /* neighbours x < x' in the sample with poly(x) > poly(x') */
    float last_x, last_y;
};

/* The spacing of floats at y, 2^-149 at least. */
static double spacing(double y)
{
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits &= UINT64_C(0x7FF0000000000000);
    memcpy(&y, &bits, sizeof y);
    return (y > 0x1p-126 ? y : 0x1p-126) * 0x1p-23;
}

static void check_float(enum function fn, float x, float y, double exact, struct worst *worst)
{
    float nearest = (float)exact;
    if (isnan(x) || isnan(exact) || isinf(nearest) || isinf(y)) {
        bool logarithm = fn == FUNCTION_LOG || fn == FUNCTION_LOG2;
        if (isnan(exact) && !isnan(x) && logarithm && x >= 0)
            nearest = x == 0 ? -INFINITY : INFINITY;
        uint32_t want = isnan(nearest) ? 0x7FC00000u : bits_of(nearest);
        if (bits_of(y) != want)
            fail_msg("%s(%08x): got %08x, want %08x", function_names[fn], bits_of(x), bits_of(y),
                     want);
        return;
    }
    double error = fabs(y - exact) / spacing(exact);
    if (error > worst->error) {
        worst->error = error;
        worst->input = bits_of(x);
    }
}

/* x[i] = first + i * step as bits: increasing |x| within a block, which spans one sign. */
static void check_block(enum function fn, uint32_t first, uint32_t step, struct worst *worst)
{
    static float x[BLOCK], y[BLOCK];
    static double exact[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        x[i] = float_of(first + i * step);
    special_poly(fn, y, x, BLOCK);
    special_lanes()->evaluate[fn](exact, x, BLOCK);
    for (uint32_t i = 0; i < BLOCK; i++) {
        check_float(fn, x[i], y[i], exact[i], worst);
        worst->decreases += x[i] > worst->last_x ? y[i] < worst->last_y : y[i] > worst->last_y;
        worst->last_x = x[i];
        worst->last_y = y[i];
    }
}

static void largest_error(void **state)
{
    (void)state;
    uint32_t blocks = full_proof() ? UINT32_C(1) << 20 : 512, step = full_proof() ? 1 : 2051;
    for (int fn = 0; fn < FUNCTION_COUNT; fn++) {
        struct worst worst = {0, 0, 0, NAN, NAN};
        for (uint32_t b = 0; b < blocks; b++)
            check_block((enum function)fn, b * BLOCK * step, step, &worst);
        printf("# note %-5s poly: largest error %.4f ulp at %08x, %llu decreases\n",
               function_names[fn], worst.error, worst.input, (unsigned long long)worst.decreases);
        assert_true(worst.error <= stated_error[fn]);
        assert_true(worst.decreases == 0 || fn == FUNCTION_TANH);
    }
}

static const struct row {
    enum function fn;
    uint32_t x, y;
} rows[] = {
    {FUNCTION_EXP, 0x00000000, 0x3F800000},  {FUNCTION_EXP, 0x80000000, 0x3F800000},
    {FUNCTION_EXP, 0x7F800000, 0x7F800000},  {FUNCTION_EXP, 0xFF800000, 0x00000000},
    {FUNCTION_EXP, 0xFFC12345, 0x7FC00000},  {FUNCTION_EXP, 0x42B17217, 0x7F7FFF84},
    {FUNCTION_EXP, 0x42B17218, 0x7F800000},  {FUNCTION_EXP, 0xC2CFF1B4, 0x00000001},
    {FUNCTION_EXP, 0xC2CFF1B5, 0x00000000},  {FUNCTION_LOG, 0x3F800000, 0x00000000},
    {FUNCTION_LOG, 0x00000000, 0xFF800000},  {FUNCTION_LOG, 0x80000000, 0xFF800000},
    {FUNCTION_LOG, 0x7F800000, 0x7F800000},  {FUNCTION_LOG, 0xBF800000, 0x7FC00000},
    {FUNCTION_LOG, 0xFF800000, 0x7FC00000},  {FUNCTION_LOG, 0x7F812345, 0x7FC00000},
    {FUNCTION_LOG2, 0x00000001, 0xC3150000}, {FUNCTION_LOG2, 0x80000001, 0x7FC00000},
    {FUNCTION_TANH, 0x80000000, 0x80000000}, {FUNCTION_TANH, 0x00000001, 0x00000001},
    {FUNCTION_TANH, 0x7F800000, 0x3F800000}, {FUNCTION_TANH, 0xFF800000, 0xBF800000},
    {FUNCTION_TANH, 0x7FC00001, 0x7FC00000}, {FUNCTION_EXP2, 0xFF812345, 0x7FC00000},
};

static float poly(enum function fn, float x)
{
    special_poly(fn, &x, &x, 1);
    return x;
}

static void special_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(bits_of(poly(rows[i].fn, float_of(rows[i].x))), rows[i].y);
    for (int n = -152; n <= 130; n++) {
        assert_true(poly(FUNCTION_EXP2, (float)n) == (float)ldexp(1, n));
        if (n >= -149 && n < 128)
            assert_true(poly(FUNCTION_LOG2, (float)ldexp(1, n)) == n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_error),
        cmocka_unit_test(special_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
