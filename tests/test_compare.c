/* test_compare.c: the measuring of compare: four-element examples a naive comparer passes (bugs of
   harnesses in the wild), random codes of every format against a loop that could not be plainer,
   tolerances at their edge, bias, heads, bases of logarithms, nearness. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/compare.h"

static void ignore(void *context, const struct difference *d)
{
    (void)context;
    (void)d;
}

static const struct compare_options plain = {.ulp = -1, .head_axis = -1, .found = ignore};

/* Compares values of f, in two blocks, the first of `cut` elements. */
static struct comparison compared(enum format f, int rank, const int64_t *shape, const double *got,
                                  const double *want, const double *exact, struct compare_options o,
                                  int64_t cut)
{
    struct comparison c;
    struct message why;
    assert_true(compare_start(&c, f, rank, shape, &o, &why));
    const size_t width = (size_t)format_info(f)->bits / 8, n = (size_t)c.elements;
    unsigned char *g = malloc(n * width + 1), *w = malloc(n * width + 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t a = format_encode(f, got[i]), b = format_encode(f, want[i]);
        memcpy(g + i * width, &a, width);
        memcpy(w + i * width, &b, width);
    }
    size_t at = (size_t)cut * width;
    compare_add(&c, g, w, exact, cut);
    compare_add(&c, g + at, w + at, exact != NULL ? exact + cut : NULL, c.elements - cut);
    compare_end(&c);
    free(g);
    free(w);
    return c;
}

/* In fp32.  Names: the bugs of harnesses, H1 ..., as catalogued. */
static void test_four_elements(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double got[4], want[4];
        int64_t differ, of_kind, zero_signs, max_steps;
        double atol, rtol; /* smallest that pass */
        bool passes;       /* with tolerances of 1e9 and 2^40 ulps */
    } rows[] = {
        {"equal", {1, 2, 3, 4}, {1, 2, 3, 4}, 0, 0, 0, 0, 0, 0, true},
        {"H1 the largest of NaN and 0",
         {1, 2, NAN, 4},
         {1, 2, 3, 4},
         1,
         1,
         0,
         0,
         INFINITY,
         INFINITY,
         false},
        {"H2 |NaN| > tolerance",
         {NAN, NAN, NAN, NAN},
         {1, 2, 3, 4},
         4,
         4,
         0,
         0,
         INFINITY,
         INFINITY,
         false},
        {"H2 turned round", {1, 2, 3, 4}, {1, NAN, 3, 4}, 1, 1, 0, 0, INFINITY, INFINITY, false},
        {"NaN equals NaN", {1, NAN, 3, 4}, {1, NAN, 3, 4}, 0, 0, 0, 0, 0, 0, true},
        {"inf - inf is NaN", {1, INFINITY, 3, 4}, {1, INFINITY, 3, 4}, 0, 0, 0, 0, 0, 0, true},
        {"inf against -inf",
         {1, INFINITY, 3, 4},
         {1, -INFINITY, 3, 4},
         1,
         1,
         0,
         0,
         INFINITY,
         INFINITY,
         false},
        {"a tolerance of infinity",
         {1, 2, 3, 4},
         {1, INFINITY, 3, 4},
         1,
         1,
         0,
         0,
         INFINITY,
         INFINITY,
         false},
        {"NaN against inf",
         {1, NAN, 3, 4},
         {1, INFINITY, 3, 4},
         1,
         1,
         0,
         0,
         INFINITY,
         INFINITY,
         false},
        {"H9 0/0 where both are 0", {0, 2, 3, 4}, {0, 2, 3, 4}, 0, 0, 0, 0, 0, 0, true},
        {"H9 1/0", {0x1p-149, 2, 3, 4}, {0, 2, 3, 4}, 1, 0, 0, 1, 0x1p-149, INFINITY, true},
        {"signs of zero", {0.0, -0.0, 3, 4}, {-0.0, 0.0, 3, 4}, 0, 0, 2, 0, 0, 0, true},
        {"errors that cancel",
         {1 + 0x1p-23, 1 - 0x1p-24, 3, 4},
         {1, 1, 3, 4},
         2,
         0,
         0,
         1,
         0x1p-23,
         0x1p-23,
         true},
        {"across zero", {0x1p-149, 2, 3, 4}, {-0x1p-149, 2, 3, 4}, 1, 0, 0, 2, 0x1p-148, 2, true},
    };
    const int64_t shape[1] = {4};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct compare_options loose = {1e9, 1e9, INT64_C(1) << 40, -1, false, 0, ignore, NULL};
        struct comparison c =
            compared(FORMAT_FP32, 1, shape, rows[i].got, rows[i].want, NULL, loose, 1);
        if (c.differ != rows[i].differ || c.of_kind != rows[i].of_kind ||
            c.zero_signs != rows[i].zero_signs || c.max_steps != rows[i].max_steps ||
            c.least_atol != rows[i].atol || c.least_rtol != rows[i].rtol ||
            (c.outside == 0) != rows[i].passes)
            fail_msg("%s: differ %d, of kind %d, zero signs %d, max %d, atol %a, rtol %a, outside "
                     "%d",
                     rows[i].name, (int)c.differ, (int)c.of_kind, (int)c.zero_signs,
                     (int)c.max_steps, c.least_atol, c.least_rtol, (int)c.outside);
    }
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *seed ^ *seed >> 33;
    return (x * UINT64_C(0xff51afd7ed558ccd)) ^ x >> 29;
}

static const enum format stored[] = {FORMAT_FP64, FORMAT_FP32, FORMAT_FP16,
                                     FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2};
enum { STORED = sizeof stored / sizeof stored[0], COUNT = 240 };

/* want: any code; got: it, a neighbour, or any code.  `finite`: no NaN, no infinity. */
static void random_pair(enum format f, uint64_t *seed, bool finite, double *got, double *want)
{
    const uint64_t mask = ~UINT64_C(0) >> (64 - format_info(f)->bits);
    for (int i = 0; i < COUNT; i++) {
        do {
            uint64_t choice = random_bits(seed) >> 61;
            want[i] = format_decode(f, random_bits(seed) & mask);
            got[i] = choice < 3   ? want[i]
                     : choice < 6 ? format_next(f, want[i], choice == 3 ? 1 : -1)
                                  : format_decode(f, random_bits(seed) & mask);
        } while (finite && !(isfinite(got[i]) && isfinite(want[i])));
    }
}

static int kind(double x)
{
    return isnan(x) ? 3 : isinf(x) ? (x > 0 ? 1 : 2) : 0;
}

/* The largest n with 2^n <= x. */
static int ilogb_whole(int64_t x)
{
    int n = 0;
    while (x >> n > 1)
        n++;
    return n;
}

static void test_against_plain_loop(void **state)
{
    (void)state;
    uint64_t seed = 7;
    const int64_t shape[2] = {12, COUNT / 12};
    for (int round = 0; round < 600; round++) {
        double got[COUNT], want[COUNT], sum = 0, atol = 0;
        int64_t differ = 0, of_kind = 0, zeros = 0, one = 0, most = 0, outside = 0, nan = 0;
        int64_t spread[2][64] = {{0}};
        enum format f = stored[round % STORED];
        struct compare_options o = plain;
        o.atol = ldexp(1, round % 7 - 4);
        o.rtol = round % 3 * 0.01;
        o.ulp = round % 4 - 1;
        random_pair(f, &seed, false, got, want);
        for (int i = 0; i < COUNT; i++) {
            nan += isnan(got[i]);
            if (kind(got[i]) != kind(want[i])) {
                of_kind++;
                differ++;
                outside++;
            } else if (kind(got[i]) == 0) {
                int64_t steps = format_steps(f, want[i], got[i]);
                steps = steps == INT64_MIN ? -INT64_MAX : steps;
                zeros += got[i] == 0 && want[i] == 0 && signbit(got[i]) != signbit(want[i]);
                differ += steps != 0;
                one += steps == 1 || steps == -1;
                if (steps != 0)
                    spread[steps > 0][1 + ilogb_whole(llabs(steps))]++;
                most = llabs(steps) > most ? llabs(steps) : most;
                sum += (double)steps;
                atol = fmax(atol, fabs(got[i] - want[i]));
                outside += fabs(got[i] - want[i]) > o.atol + o.rtol * fabs(want[i]) &&
                           llabs(steps) > o.ulp;
            }
        }
        struct comparison c = compared(f, 2, shape, got, want, NULL, o, round % COUNT);
        if (c.differ != differ || c.of_kind != of_kind || c.zero_signs != zeros ||
            c.one_step != one || c.max_steps != most || c.sum_steps != sum ||
            c.outside != outside || c.nan[0] != nan ||
            memcmp(c.spread, spread, sizeof spread) != 0 ||
            c.least_atol != (of_kind > 0 ? INFINITY : atol))
            fail_msg("%s round %d: differ %d (%d), of kind %d (%d), zeros %d (%d), one %d (%d), "
                     "outside %d (%d), max %" PRId64 " (%" PRId64 ")",
                     format_info(f)->name, round, (int)c.differ, (int)differ, (int)c.of_kind,
                     (int)of_kind, (int)c.zero_signs, (int)zeros, (int)c.one_step, (int)one,
                     (int)c.outside, (int)outside, c.max_steps, most);
        if (round % 2 == 0)
            assert_int_equal(compared(f, 2, shape, want, want, NULL, o, 5).differ, 0);
    }
}

/* The smallest tolerance passes; the next smaller one does not. */
static void test_smallest_tolerances(void **state)
{
    (void)state;
    uint64_t seed = 11;
    const int64_t shape[1] = {COUNT};
    for (int round = 0; round < 300; round++) {
        double got[COUNT], want[COUNT];
        enum format f = stored[round % STORED];
        random_pair(f, &seed, true, got, want);
        if (round % 5 != 0) /* no zeros to divide by, no distance beyond double */
            for (int i = 0; i < COUNT; i++)
                got[i] = fabs(want[i]) < 1e300 ? format_next(f, want[i], i % 2 ? 1 : -1) : want[i];
        for (int i = 0; i < COUNT; i++)
            want[i] = want[i] == 0 ? got[i] : want[i];
        struct comparison c = compared(f, 1, shape, got, want, NULL, plain, 9);
        struct compare_options o = plain;
        if (c.differ == 0 || !isfinite(c.least_atol) || !isfinite(c.least_rtol))
            continue;
        for (int below = 0; below < 2; below++) {
            o = plain;
            o.atol = below ? nextafter(c.least_atol, 0) : c.least_atol;
            assert_int_equal(compared(f, 1, shape, got, want, NULL, o, 9).outside > 0, below);
            o = plain;
            o.rtol = below ? nextafter(c.least_rtol, 0) : c.least_rtol;
            assert_int_equal(compared(f, 1, shape, got, want, NULL, o, 9).outside > 0, below);
            o = plain;
            o.ulp = c.max_steps - below;
            assert_int_equal(compared(f, 1, shape, got, want, NULL, o, 9).outside > 0, below);
        }
    }
}

/* bf16 by cutting: no error above one ulp, every allclose passes; the mean's sign gives it away. */
static void test_truncation_is_biased(void **state)
{
    (void)state;
    enum { ROWS = 64, LENGTH = 64 };
    static double cut[ROWS * LENGTH], near[ROWS * LENGTH], noisy[ROWS * LENGTH];
    const int64_t shape[2] = {ROWS, LENGTH}, few[2] = {19, LENGTH}, enough[2] = {20, LENGTH};
    uint64_t seed = 3;
    double z;
    for (int i = 0; i < ROWS * LENGTH; i++) {
        double x = 1 + (double)(random_bits(&seed) >> 40) * 0x1p-24;
        near[i] = format_round(FORMAT_BF16, x, false);
        cut[i] = floor(x * 128) / 128;
        noisy[i] = random_bits(&seed) >> 62 == 0
                       ? format_next(FORMAT_BF16, near[i], random_bits(&seed) >> 63 ? 1 : -1)
                       : near[i];
    }
    struct comparison c = compared(FORMAT_BF16, 2, shape, cut, near, NULL, plain, 100);
    assert_int_equal(c.max_steps, 1);
    assert_true(compare_mean(&c) < -0.4 && compare_mean(&c) > -0.6);
    assert_true(compare_z(&c, &z) && z < -20);
    c = compared(FORMAT_BF16, 2, shape, noisy, near, NULL, plain, 100);
    assert_true(c.differ > 500 && compare_z(&c, &z) && fabs(z) < 3);
    c = compared(FORMAT_BF16, 2, few, cut, near, NULL, plain, 100);
    assert_false(compare_z(&c, &z));
    c = compared(FORMAT_BF16, 2, enough, cut, near, NULL, plain, 100);
    assert_true(compare_z(&c, &z));
    for (int i = 0; i < ROWS * LENGTH; i++)
        cut[i] = format_next(FORMAT_BF16, near[i], -1);
    c = compared(FORMAT_BF16, 2, shape, cut, near, NULL, plain, 100);
    assert_true(compare_z(&c, &z) && z == -INFINITY);
    /* z is exactly the mean of the rows' means over its standard error */
    double got[40], want[40];
    for (int i = 0; i < 40; i++) {
        want[i] = 1;
        got[i] = i % 2 == 0 && i < 20 ? 1 + 0x1p-7 : 1;
    }
    const int64_t two[2] = {20, 2};
    c = compared(FORMAT_BF16, 2, two, got, want, NULL, plain, 7);
    assert_true(compare_z(&c, &z));
    double m = 0.25, v = (10 * 0.25 - 20 * m * m) / 19; /* ten rows of mean 1/2, ten of 0 */
    assert_true(fabs(z - m / sqrt(v / 20)) < 1e-12);
}

static void test_heads(void **state)
{
    (void)state;
    enum { HEADS = 8, ROWS = 4, LENGTH = 32, ALL = 2 * HEADS * ROWS * LENGTH };
    static double got[ALL], want[ALL];
    const int64_t shape[4] = {2, HEADS, ROWS, LENGTH};
    struct compare_options o = plain;
    bool marks[HEADS];
    uint64_t seed = 5;
    o.head_axis = 1;
    for (int odd = 0; odd < 2; odd++) {
        for (int i = 0; i < ALL; i++) {
            int head = i / (ROWS * LENGTH) % HEADS;
            bool differs = random_bits(&seed) >> 61 == 0 || (odd && head == 5);
            want[i] = 1;
            got[i] = differs ? 2 : 1;
        }
        struct comparison c = compared(FORMAT_FP16, 4, shape, got, want, NULL, o, 77);
        int64_t sum = 0;
        for (int h = 0; h < HEADS; h++)
            sum += c.head_differ[h];
        assert_int_equal(sum, c.differ);
        assert_int_equal(compare_odd_heads(&c, marks), odd);
        for (int h = 0; h < HEADS; h++)
            assert_int_equal(marks[h], odd && h == 5);
        if (odd)
            assert_int_equal(c.head_differ[5], 2 * ROWS * LENGTH);
        compare_free(&c);
    }
}

/* One call, two backends, two bases; a tensor scaled by something near log2(e) is none of it. */
static void test_base(void **state)
{
    (void)state;
    static const double natural[4] = {7.012421, -3.25, 10.5, 2.302585};
    static const double log2e = 1.4426950408889634;
    const int64_t shape[1] = {4};
    for (int i = 0; i < STORED - 2; i++)
        for (int what = 0; what < 4; what++) {
            double e[4], other[4];
            enum format f = stored[i];
            for (int n = 0; n < 4; n++) {
                e[n] = format_round(f, natural[n], false);
                other[n] = format_round(f, natural[n] * (what == 2 ? 1.5 : log2e), false);
            }
            if (what == 3)
                other[2] = e[2];
            struct comparison c = what == 1 ? compared(f, 1, shape, e, other, NULL, plain, 1)
                                            : compared(f, 1, shape, other, e, NULL, plain, 1);
            int want = what == 0 ? 1 : what == 1 ? -1 : 0;
            if (compare_base(&c) != want)
                fail_msg("%s case %d: %d", format_info(f)->name, what, compare_base(&c));
        }
    /* -inf of a row without keys is -inf in every base */
    const double g[4] = {-INFINITY, 7.012421 * log2e, 14, 1},
                 w[4] = {-INFINITY, 7.012421, 14 / log2e, 1 / log2e};
    double got[4], want[4];
    for (int n = 0; n < 4; n++) {
        got[n] = format_round(FORMAT_FP32, g[n], false);
        want[n] = format_round(FORMAT_FP32, w[n], false);
    }
    struct comparison c = compared(FORMAT_FP32, 1, shape, got, want, NULL, plain, 1);
    assert_int_equal(compare_base(&c), 1);
}

/* H4: both sides share a mistake, so they agree; only exact values can tell. */
static void test_exact(void **state)
{
    (void)state;
    static const double tiny = 0x1p-60;
    static const struct {
        double got, want, exact;
        int nearer; /* 0 got, 1 want, 2 equally far, -1 no difference */
    } rows[] = {
        {1.3203125, 1.328125, 1.32507, 1},
        {1.3203125, 1.328125, 1.324, 0},
        {1, 1 + 0x1p-7, 1 + 0x1p-8, 2},
        {1, 1 + 0x1p-7, 1 + 0x1p-8 - 0x1p-52, 0},
        {1, 1 + 0x1p-7, 1 + 0x1p-8 + 0x1p-52, 1},
        {1, tiny, 0.5, 1}, /* 1 + 2^-60 is no double, yet the middle lies above 0.5 */
        {1, -tiny, 0.5, 0},
        {-1, 1, 0, 2},
        {NAN, 1, 2, 1},
        {NAN, 1, NAN, 0},
        {INFINITY, 1, INFINITY, 0},
        {INFINITY, -INFINITY, 1, 2},
        {2, 2, 1, -1},
    };
    const int64_t shape[1] = {1};
    struct compare_options o = plain;
    o.exact = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct comparison c =
            compared(FORMAT_BF16, 1, shape, &rows[i].got, &rows[i].want, &rows[i].exact, o, 0);
        if (c.nearer[0] != (rows[i].nearer == 0) || c.nearer[1] != (rows[i].nearer == 1) ||
            c.equally_far != (rows[i].nearer == 2))
            fail_msg("got %a want %a exact %a: %d %d %d", rows[i].got, rows[i].want, rows[i].exact,
                     (int)c.nearer[0], (int)c.nearer[1], (int)c.equally_far);
    }
    const double both[4] = {1, 2, 3, 0}, truth[4] = {1, 2, 3, 4};
    const int64_t four[1] = {4};
    struct comparison c = compared(FORMAT_BF16, 1, four, both, both, truth, o, 2);
    assert_int_equal(c.differ, 0);
    for (int i = 0; i < 2; i++)
        assert_true(c.side[i].rounded == 3 && c.side[i].max_ulp == 128 && c.side[i].worst == 3);
}

static void test_round(void **state)
{
    (void)state;
    const float wide[4] = {1.3203125f, 1.32507f, NAN, 1e-45f};
    uint16_t narrow[4];
    double values[4];
    assert_int_equal(compare_format(FORMAT_FP32, FORMAT_BF16), FORMAT_BF16);
    assert_int_equal(compare_format(FORMAT_FP16, FORMAT_BF16), FORMAT_BF16);
    assert_int_equal(compare_format(FORMAT_FP64, FORMAT_FP32), FORMAT_FP32);
    assert_int_equal(compare_round(FORMAT_FP32, FORMAT_BF16, wide, 4, narrow), 2);
    compare_decode(FORMAT_BF16, narrow, 4, values);
    assert_true(values[0] == 1.3203125 && values[1] == 1.328125 && isnan(values[2]) &&
                values[3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_elements),
        cmocka_unit_test(test_against_plain_loop),
        cmocka_unit_test(test_smallest_tolerances),
        cmocka_unit_test(test_truncation_is_biased),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
