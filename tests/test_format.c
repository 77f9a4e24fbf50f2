/* test_format.c: the number formats against their definitions.

   Judges: a decoder written from the formula with ldexp (every code of the 8- and 16-bit formats), a
   table of special values, MPFR's own rounding with a bounded exponent and gradual underflow, and
   for fp32 and fp64 the compiler's conversions and nextafter.  A failure prints the input's bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/format.h"
#include "reference/message.h"

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : bits_of(a) == bits_of(b);
}

static void check_round(enum format f, double x, bool saturate, double want)
{
    double got = format_round(f, x, saturate);
    if (!same(got, want))
        fail_msg("format_round(%s, %016" PRIX64 " = %a, %d) = %a, want %a", format_info(f)->name,
                 bits_of(x), x, saturate, got, want);
}

/* splitmix64 */
static uint64_t random_bits(void)
{
    static uint64_t state = 20240607;
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The non-negative values of a small format in increasing order, by the formula: +inf included. */
static int small_values(enum format f, double *values)
{
    const struct format_info *info = format_info(f);
    int fraction_bits = info->precision - 1, count = 0;
    int codes = 1 << (info->bits - 1), special = codes - (1 << fraction_bits);
    for (int code = 0; code < codes; code++) {
        int field = code >> fraction_bits, fraction = code - (field << fraction_bits);
        if (info->has_infinity && code >= special) {
            values[count++] = INFINITY;
            break;
        }
        if (!info->has_infinity && code == codes - 1)
            break;
        double significand = (double)fraction / (1 << fraction_bits) + (field > 0 ? 1 : 0);
        values[count++] = ldexp(significand, info->emin + (field > 0 ? field - 1 : 0));
    }
    return count;
}

static const enum format small[] = {FORMAT_FP16, FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2};
enum { SMALL_COUNT = sizeof small / sizeof small[0] };
static double values[1 << 15];

static void test_codes(void **state)
{
    (void)state;
    for (int n = 0; n < SMALL_COUNT; n++) {
        enum format f = small[n];
        int count = small_values(f, values), codes = 1 << (format_info(f)->bits - 1);
        for (int code = 0; code < codes; code++) {
            uint64_t plus = (uint64_t)code, minus = (uint64_t)(code + codes);
            double x = code < count ? values[code] : NAN;
            if (!same(format_decode(f, plus), x) || !same(format_decode(f, minus), -x))
                fail_msg("%s: code %04X is %a", format_info(f)->name, code, format_decode(f, plus));
            if (code >= count)
                continue;
            if (format_encode(f, x) != plus || format_encode(f, -x) != minus)
                fail_msg("%s: %a encodes as %04" PRIX64, format_info(f)->name, x,
                         format_encode(f, x));
            check_round(f, x, false, x);
            check_round(f, -x, false, -x);
        }
    }
}

/* Neighbours a < b, both at least 0: stepping, spacing, and everything that rounds between them. */
static void check_neighbours(enum format f, double a, double b, bool a_is_even)
{
    assert_true(same(format_next(f, a, 1), b) && same(format_next(f, b, -1), a));
    assert_true(same(format_next(f, -a, -1), -b) && same(format_next(f, -b, 1), -a));
    assert_int_equal(format_steps(f, a, b), 1);
    assert_int_equal(format_steps(f, -a, -b), -1);
    assert_int_equal(format_steps(f, a, -b), format_steps(f, a, -a) - 1);
    double ulp = format_ulp(f, a), middle = a + ulp / 2; /* exact: 53 bits hold it */
    if (isfinite(b)) {
        assert_true(ulp == b - a);
        assert_true(format_ulp(f, nextafter(-b, 0)) == ulp);
    }
    check_round(f, nextafter(middle, 0), false, a);
    check_round(f, middle, false, a_is_even ? a : b);
    check_round(f, nextafter(middle, INFINITY), false, b);
    check_round(f, nextafter(a, 0), false, a);
    check_round(f, nextafter(a, INFINITY), false, a);
    check_round(f, -nextafter(middle, 0), false, -a);
    check_round(f, -middle, false, a_is_even ? -a : -b);
    check_round(f, -nextafter(middle, INFINITY), false, -b);
}

static void test_neighbours(void **state)
{
    (void)state;
    for (int n = 0; n < SMALL_COUNT; n++) {
        enum format f = small[n];
        int count = small_values(f, values);
        for (int i = 1; i + 1 < count; i++)
            check_neighbours(f, values[i], values[i + 1], i % 2 == 0);
        assert_true(same(format_next(f, 0.0, 1), values[1]));
        assert_true(same(format_next(f, -0.0, 1), values[1]));
        assert_true(same(format_next(f, 0.0, -1), -values[1]));
        assert_true(same(format_next(f, values[1], -1), 0.0));
        assert_true(same(format_next(f, -values[1], 1), -0.0));
        double last = values[count - 1];
        assert_true(same(format_next(f, last, 1), last) && same(format_next(f, -last, -1), -last));
        assert_int_equal(format_steps(f, 0.0, -0.0), 0);
        for (int i = 0; i < 1000; i++) {
            int from = (int)(random_bits() % (uint64_t)count), to = i % 7 * (count - 1) / 6;
            assert_int_equal(format_steps(f, values[from], values[to]), to - from);
            assert_int_equal(format_steps(f, -values[from], values[to]), to + from);
        }
        assert_int_equal(format_steps(f, format_info(f)->largest, INFINITY), 1);
    }
}

/* Same bits in and out; `want` is what the format holds. */
static const struct {
    enum format f;
    double x;
    bool saturate;
    double want;
} rounded[] = {
    {FORMAT_EXACT, 0x1.0000000000001p-1022, false, 0x1.0000000000001p-1022},
    {FORMAT_EXACT, INFINITY, true, INFINITY},
    {FORMAT_FP64, -INFINITY, true, -0x1.fffffffffffffp1023},
    {FORMAT_FP32, 0x1.ffffffp127, false, INFINITY}, /* the middle: to even, beyond the largest */
    {FORMAT_FP32, 0x1.fffffefffffffp127, false, 0x1.fffffep127},
    {FORMAT_FP32, 0x1.ffffffp127, true, 0x1.fffffep127},
    {FORMAT_FP32, 0x1p-150, false, 0.0}, /* half the smallest: to even */
    {FORMAT_FP32, 0x1.0000000000001p-150, false, 0x1p-149},
    {FORMAT_FP32, -0x1p-150, false, -0.0},
    {FORMAT_FP32, 0x1.8p-149, false, 0x1p-148},
    {FORMAT_FP32_FTZ, 0x1.fffffcp-127, false, 0.0},
    {FORMAT_FP32_FTZ, -0x1.fffffcp-127, false, -0.0},
    {FORMAT_FP32_FTZ, -0x1p-149, true, -0.0},
    {FORMAT_FP32_FTZ, 0x1p-126, false, 0x1p-126},
    {FORMAT_FP32_FTZ, 0x1.fffffep-127, false, 0x1p-126}, /* rounds up to 2^-126: stays */
    {FORMAT_FP32_FTZ, 0x1.fffffdfffffffp-127, false, 0.0},
    {FORMAT_FP32_FTZ, 0x1.ffffffp127, false, INFINITY},
    {FORMAT_TF32, 0x1.002p0, false, 0x1p0},
    {FORMAT_TF32, 0x1.006p0, false, 0x1.008p0},
    {FORMAT_TF32, 0x1.ffep127, false, INFINITY},
    {FORMAT_TF32, 0x1p-137, false, 0.0},
    {FORMAT_TF32, 0x1.8p-136, false, 0x1p-135},
    {FORMAT_FP16, 65519.99999999999, false, 65504},
    {FORMAT_FP16, 65520, false, INFINITY},
    {FORMAT_FP16, -65520, true, -65504},
    {FORMAT_FP16, 0x1p-25, false, 0.0},
    {FORMAT_BF16, 1.32890625, false, 1.328125},
    {FORMAT_BF16, 0x1.ffp127, false, INFINITY},
    {FORMAT_BF16, 0x1.fefffffffffffp127, false, 0x1.fep127},
    {FORMAT_BF16, 0x1p-134, false, 0.0},
    {FORMAT_BF16, 0x1.8p-133, false, 0x1p-132},
    {FORMAT_E4M3, 464, false, 448}, /* the middle of 448 and 480, 448 being even */
    {FORMAT_E4M3, 0x1.d000000000001p8, false, NAN},
    {FORMAT_E4M3, 0x1.d000000000001p8, true, 448},
    {FORMAT_E4M3, -480, true, -448},
    {FORMAT_E4M3, INFINITY, false, NAN},
    {FORMAT_E4M3, -INFINITY, true, -448},
    {FORMAT_E4M3, NAN, true, NAN},
    {FORMAT_E4M3, -0x1p-10, false, -0.0},
    {FORMAT_E4M3, 0x1.8p-9, false, 0x1p-8},
    {FORMAT_E5M2, 61439.99999999999, false, 57344},
    {FORMAT_E5M2, 61440, false, INFINITY},
    {FORMAT_E5M2, 61440, true, 57344},
    {FORMAT_E5M2, -INFINITY, true, -57344},
    {FORMAT_E5M2, 0x1p-17, false, 0.0},
};

static void test_special_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++)
        check_round(rounded[i].f, rounded[i].x, rounded[i].saturate, rounded[i].want);
    for (int i = 0; i < FORMAT_COUNT; i++) {
        enum format f = (enum format)i;
        check_round(f, -0.0, false, -0.0);
        check_round(f, 0.0, true, 0.0);
        /* signalling, with a payload, negative: quiet afterwards */
        uint64_t nan = bits_of(format_round(f, double_of(UINT64_C(0xFFF0000000000001)), false));
        assert_true((nan & UINT64_C(0x7FF8000000000000)) == UINT64_C(0x7FF8000000000000));
        assert_true(isnan(format_next(f, NAN, 1)));
        assert_true(isnan(format_ulp(f, NAN)) && isnan(format_ulp(f, -INFINITY)));
    }
}

static const struct {
    enum format f;
    uint64_t code;
    double x;
} encoded[] = {
    {FORMAT_FP64, UINT64_C(0x7FF8000000000000), NAN},
    {FORMAT_FP64, 1, 0x1p-1074},
    {FORMAT_FP32, 0x7FC00000, NAN},
    {FORMAT_FP32, 0xFF800000, -INFINITY},
    {FORMAT_FP32, 0x007FFFFF, 0x1.fffffcp-127},
    {FORMAT_FP32_FTZ, 0x7FC00000, NAN},
    {FORMAT_FP32_FTZ, 0x00800000, 0x1p-126},
    {FORMAT_FP32_FTZ, 0x80000000, -0.0},
    {FORMAT_TF32, 0x7FC00000, NAN},
    {FORMAT_TF32, 0x7F800000, INFINITY},
    {FORMAT_TF32, 0x3F802000, 0x1.004p0},
    {FORMAT_TF32, 0x80002000, -0x1p-136},
    {FORMAT_FP16, 0x7E00, NAN},
    {FORMAT_BF16, 0x7FC0, NAN},
    {FORMAT_BF16, 0x3FAA, 1.328125},
    {FORMAT_E4M3, 0x7F, NAN},
    {FORMAT_E5M2, 0x7F, NAN},
    {FORMAT_E5M2, 0x7C, INFINITY},
};

static void test_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof encoded / sizeof encoded[0]; i++) {
        enum format f = encoded[i].f;
        uint64_t code = format_encode(f, encoded[i].x);
        if (code != encoded[i].code || !same(format_decode(f, encoded[i].code), encoded[i].x))
            fail_msg("%s: %a encodes as %" PRIX64 ", %" PRIX64 " decodes as %a",
                     format_info(f)->name, encoded[i].x, code, encoded[i].code,
                     format_decode(f, encoded[i].code));
    }
    /* codes that are no value of the format decode all the same */
    assert_true(same(format_decode(FORMAT_FP32_FTZ, 0x807FFFFF), -0.0));
    assert_true(isnan(format_decode(FORMAT_FP32, 0xFF800001)));
    for (int i = 1; i < FORMAT_COUNT; i++) {
        double largest = format_info((enum format)i)->largest;
        assert_true(same(format_round((enum format)i, largest, false), largest));
        assert_true(format_next((enum format)i, largest, 1) > largest || i == FORMAT_E4M3);
    }
}

/* Spacing and steps where the small formats' tables do not reach. */
static void test_spacing(void **state)
{
    (void)state;
    assert_true(format_ulp(FORMAT_EXACT, 1.0) == 0.0);
    assert_true(format_ulp(FORMAT_FP64, 0.0) == 0x1p-1074);
    assert_true(format_ulp(FORMAT_FP64, -0x1.8p-971) == 0x1p-1023);
    assert_true(format_ulp(FORMAT_FP32, 0x1p-1074) == 0x1p-149);
    assert_true(format_ulp(FORMAT_FP32, 0x1p1000) == 0x1p104); /* past the end: the last spacing */
    assert_true(format_ulp(FORMAT_FP32_FTZ, 0x1p-127) == 0x1p-126);
    assert_true(format_ulp(FORMAT_FP32_FTZ, 0x1p-126) == 0x1p-149);
    assert_true(format_next(FORMAT_FP32_FTZ, 0.0, 1) == 0x1p-126);
    assert_int_equal(format_steps(FORMAT_FP32_FTZ, -0x1p-126, 0x1.000002p-126), 3);
    assert_int_equal(format_steps(FORMAT_TF32, 1.0, 2.0), 1024);
    assert_int_equal(format_steps(FORMAT_TF32, 0.0, 0x1p-126), 1024);
    assert_true(format_steps(FORMAT_FP64, -INFINITY, INFINITY) == INT64_MAX);
    assert_true(format_steps(FORMAT_FP64, INFINITY, -INFINITY) == INT64_MIN);
    assert_true(format_steps(FORMAT_FP64, -1.0, 1.0) == 2 * INT64_C(0x3FF0000000000000));
    for (int i = 0; i < 100000; i++) {
        uint32_t word = (uint32_t)random_bits();
        double x = float_of(word), y = double_of(random_bits());
        if (isfinite(x) && x != 0) {
            assert_int_equal(format_encode(FORMAT_FP32, x), word);
            assert_true(same(format_next(FORMAT_FP32, x, 1), nextafterf((float)x, INFINITY)));
            assert_true(same(format_next(FORMAT_FP32, x, -1), nextafterf((float)x, -INFINITY)));
        }
        if (isfinite(y) && y != 0)
            assert_true(same(format_next(FORMAT_FP64, y, 1), nextafter(y, INFINITY)));
    }
}

/* x rounded by MPFR: p bits, then the exponent range, then the subnormal spacing (its ternary value
   keeps this one rounding).  MPFR's significand is in [1/2, 1). */
static double rounded_by_mpfr(enum format f, double x)
{
    const struct format_info *info = format_info(f);
    if (f == FORMAT_EXACT || f == FORMAT_FP64 || !isfinite(x))
        return f == FORMAT_E4M3 && isinf(x) ? NAN : x;
    mpfr_t y;
    mpfr_init2(y, info->precision);
    mpfr_set_emin(info->emin - info->precision + 2);
    mpfr_set_emax(info->emax + 1);
    int ternary = mpfr_set_d(y, x, MPFR_RNDN);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    double result = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    if (f == FORMAT_FP32_FTZ && fabs(result) < 0x1p-126)
        return copysign(0, x);
    return f == FORMAT_E4M3 && fabs(result) > 448 ? NAN : result;
}

/* A double whose rounding to f is delicate: exponent in and around f's range, few significand bits,
   often on a middle or one unit beside it; every fourth any double, every fourth any float. */
static double delicate(enum format f, int i)
{
    const struct format_info *info = format_info(f);
    uint64_t bits = random_bits(), choice = random_bits();
    if (i % 4 == 0)
        return double_of(bits);
    if (i % 4 == 1)
        return float_of((uint32_t)bits);
    int kept = (int)(choice % (uint64_t)(info->precision + 3)); /* fraction bits */
    int lowest = info->emin - 54 < -1022 ? -1022 : info->emin - 54;
    int highest = info->emax + 2 > 1023 ? 1023 : info->emax + 2;
    int exponent = lowest + (int)((choice >> 8) % (uint64_t)(highest - lowest + 1));
    uint64_t fraction =
        kept < 52 ? bits << 12 >> (64 - kept) % 64 << (52 - kept) : bits << 12 >> 12;
    if (kept == 0)
        fraction = 0;
    uint64_t x = (bits & UINT64_C(1) << 63) | (uint64_t)(exponent + 1023) << 52 | fraction;
    return double_of(choice >> 62 == 0 ? x + 1 : choice >> 62 == 1 && fraction ? x - 1 : x);
}

static void test_against_mpfr(void **state)
{
    (void)state;
    const char *level = getenv("FLASHULP_TESTS");
    int count = level != NULL && strcmp(level, "full") == 0 ? 10000000 : 600000;
    for (int n = 0; n < FORMAT_COUNT; n++) {
        enum format f = (enum format)n;
        for (int i = 0; i < count; i++) {
            double x = delicate(f, i), want = rounded_by_mpfr(f, x);
            check_round(f, x, false, want);
            bool over = !isnan(x) && (isnan(want) || isinf(want));
            check_round(f, x, true, over ? copysign(format_info(f)->largest, x) : want);
            if (f == FORMAT_FP32)
                check_round(f, x, false, (float)x);
            if (f != FORMAT_EXACT)
                assert_true(same(format_decode(f, format_encode(f, want)), want));
        }
    }
    printf("# note %d delicate doubles rounded to each of %d formats as MPFR rounds them\n", count,
           FORMAT_COUNT);
}

static void test_names(void **state)
{
    (void)state;
    struct message why;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        enum format f = FORMAT_COUNT;
        assert_true(format_from_name(format_info((enum format)i)->name, &f, &why));
        assert_int_equal(f, i);
    }
    enum format f;
    assert_false(format_from_name("bf-16", &f, &why));
    assert_string_equal(why.text, "unknown format 'bf-16': did you mean bf16?");
    assert_false(format_from_name("decimal", &f, &why));
    assert_string_equal(why.text, "unknown format 'decimal': the formats are exact, fp64, fp32, "
                                  "fp32-ftz, tf32, fp16, bf16, e4m3, e5m2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),          cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_special_values), cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_spacing),        cmocka_unit_test(test_against_mpfr),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
