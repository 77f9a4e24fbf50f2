/* test_round.c: the simulator's fast rounding (simulator/round.h) against the reference's slow one,
   in loops the compiler vectorises as it does the simulator's; sums and products to odd against
   MPFR.  Quick: a stride and every neighbourhood of a number or midpoint; full: every float. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <mpfr.h>

#include "simulator/round.h"
#include "tests/oracle_attention.h"
#include "tests/random_problem.h"

enum { BATCH = 4096 };

#define LOOPS(id, sat) \
    static void loop_##id##_##sat(float *y, const float *x, int n) \
    { \
        for (int i = 0; i < n; i++) \
            y[i] = (float)round_narrow(FORMAT_##id, sat, (double)x[i]); \
    }
#define NARROW(row) row(TF32) row(FP16) row(BF16) row(E4M3) row(E5M2)
#define BOTH(id) LOOPS(id, 0) LOOPS(id, 1)
NARROW(BOTH)

struct narrow_row {
    enum format format;
    bool saturate;
    void (*loop)(float *y, const float *x, int n);
};

#define ROWS(id) {FORMAT_##id, false, loop_##id##_0}, {FORMAT_##id, true, loop_##id##_1},
static const struct narrow_row rows[] = {NARROW(ROWS)};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Equal in bits; one NaN is as good as another (files and digests write the canonical one). */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : bits_of(a) == bits_of(b);
}

static void check_batch(const struct narrow_row *row, const float *x, int n)
{
    float y[BATCH];
    double wants[BATCH];
    row->loop(y, x, n);
    for (int i = 0; i < n; i++)
        wants[i] = (double)x[i];
    format_round_row(row->format, row->saturate, wants, wants, (size_t)n);
    for (int i = 0; i < n; i++) {
        double want = wants[i];
        if (!same((double)y[i], want))
            fail_msg("%s%s of %08X (%a): %08X (%a), reference %a", format_info(row->format)->name,
                     row->saturate ? " saturated" : "", bits_of_float(x[i]), (double)x[i],
                     bits_of_float(y[i]), (double)y[i], want);
    }
}

/* Floats first, first + stride, ... below 2^32. */
static void check_stride(const struct narrow_row *row, uint64_t stride)
{
    float x[BATCH];
    int n = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += stride) {
        x[n++] = float_of((uint32_t)bits);
        if (n == BATCH) {
            check_batch(row, x, n);
            n = 0;
        }
    }
    check_batch(row, x, n);
}

/* Three floats about x, which is one. */
static int about(float *out, double x)
{
    uint32_t bits = bits_of_float((float)x);
    out[0] = float_of(bits);
    out[1] = float_of(bits + 1);
    out[2] = float_of(bits - 1);
    return 3;
}

/* Every number of the format, every midpoint of two, both signs, and their float neighbours; above
   the largest, where the next power of two and the point of overflow lie. */
static void check_neighbourhoods(const struct narrow_row *row)
{
    enum format f = row->format;
    double largest = format_info(f)->largest, quantum = format_ulp(f, largest);
    float x[BATCH];
    int n = 0;
    for (double number = 0; number <= largest; number = format_next(f, number, 1)) {
        double half = number == largest ? quantum / 2 : (format_next(f, number, 1) - number) / 2;
        n += about(x + n, number);
        n += about(x + n, -number);
        n += about(x + n, number + half);
        n += about(x + n, -(number + half));
        if (n > BATCH - 12 || number == largest) {
            check_batch(row, x, n);
            n = 0;
        }
        if (number == largest)
            break;
    }
    n = about(x, largest + quantum);
    n += about(x + n, -(largest + quantum));
    n += about(x + n, INFINITY);
    n += about(x + n, -INFINITY);
    check_batch(row, x, n);
}

static bool full(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void floats_by_stride(void **unused)
{
    (void)unused;
    double start = seconds();
    for (int i = 0; i < ROW_COUNT; i++)
        check_stride(&rows[i], full() ? 1 : 40503); /* odd: every low bit pattern occurs */
    if (full())
        printf("# note every float to %d formats against the slow rounding: %.1f s each\n",
               ROW_COUNT, (seconds() - start) / ROW_COUNT);
}

static void floats_about_boundaries(void **unused)
{
    (void)unused;
    for (int i = 0; i < ROW_COUNT; i++)
        check_neighbourhoods(&rows[i]);
}

/* Random doubles near a format's range: a random significand, its tail often empty, a midpoint's,
   or one bit from one. */
static double random_double(enum format f, uint64_t *state)
{
    const struct format_info *info = format_info(f);
    int p = info->precision, span = info->emax - info->emin + p + 6;
    uint64_t fraction = draw(state) >> 12, tail = (UINT64_C(1) << (53 - p)) - 1;
    uint64_t shape = draw(state) % 5, half = (tail + 1) / 2;
    if (shape > 0)
        fraction = (fraction & ~tail) |
                   (shape == 1 ? 0 : shape == 2 ? half : shape == 3 ? half + 1 : half - 1);
    int e = info->emin - p - 2 + (int)draw_below(state, span);
    double x = ldexp(1 + ldexp((double)fraction, -52), e);
    return draw(state) & 1 ? -x : x;
}

static double round_any(enum format f, bool saturate, double x)
{
    switch (f) {
    case FORMAT_FP32:
        return round_narrow(FORMAT_FP32, saturate, x);
#define CASE(id) \
    case FORMAT_##id: \
        return round_narrow(FORMAT_##id, saturate, x);
    NARROW(CASE)
    default:
        fail_msg("not a format that is rounded here");
        return 0;
    }
}

static const enum format targets[] = {FORMAT_FP32, FORMAT_TF32, FORMAT_FP16,
                                      FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2};
enum { TARGETS = sizeof targets / sizeof *targets };

static int cases(void)
{
    return full() ? 4000000 : 60000;
}

static void doubles(void **unused)
{
    (void)unused;
    static const double ends[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, 0x1p-1022,
                                  0x1.fffffffffffffp1023, 0x1p-150, 0x1.0000000000001p-150,
                                  0x1p-149, 0x1.fffffefffffffp127, 0x1.ffffffp127};
    enum { ENDS = sizeof ends / sizeof *ends };
    uint64_t state = 3;
    for (int i = 0; i < TARGETS; i++)
        for (int n = 0; n < cases() + 2 * ENDS; n++) {
            double x = n < ENDS       ? ends[n]
                       : n < 2 * ENDS ? -ends[n - ENDS]
                                      : random_double(targets[i], &state);
            for (int saturate = 0; saturate < 2; saturate++) {
                double got = round_any(targets[i], saturate, x);
                double want = format_round(targets[i], x, saturate);
                if (!same(got, want))
                    fail_msg("%s%s of %a: %a, reference %a", format_info(targets[i])->name,
                             saturate ? " saturated" : "", x, got, want);
            }
        }
}

/* Two numbers whose sum needs the odd bit: b lies anywhere from above a's to far below its last
   place, and a's tail is often a midpoint's. */
static void random_pair(enum format f, uint64_t *state, double *a, double *b)
{
    *a = random_double(f, state);
    *b = random_double(f, state);
    *b = ldexp(*b, -(int)draw_below(state, 120));
    if (draw(state) % 8 == 0)
        *b = -*a;
}

/* x towards zero, its last bit set if that was not exact. */
static double odd_of(mpfr_t x, int inexact)
{
    double z = mpfr_get_d(x, MPFR_RNDZ);
    uint64_t bits = bits_of(z);
    return inexact != 0 ? double_of(bits | 1) : z;
}

/* a + b to odd, bit for bit, and its rounding against one rounding of the exact sum. */
static void sums_to_odd(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    mpfr_t sum;
    mpfr_init2(sum, 53);
    for (int i = 0; i < TARGETS; i++)
        for (int n = 0; n < cases() / 2; n++) {
            double a, b;
            random_pair(targets[i], &state, &a, &b);
            mpfr_set_d(sum, a, MPFR_RNDN);
            int inexact = mpfr_add_d(sum, sum, b, MPFR_RNDZ);
            double odd = add_odd(a, b), want = odd_of(sum, inexact);
            if (odd != want)
                fail_msg("%a + %a to odd: %a, expected %a", a, b, odd, want);
            double got = round_any(targets[i], false, odd);
            want = oracle_rounded(targets[i], false, ORACLE_ADD, a, b, 0);
            if (got != want && !(isnan(got) && isnan(want)))
                fail_msg("%a + %a in %s: %a, MPFR %a", a, b, format_info(targets[i])->name, got,
                         want);
        }
    mpfr_clear(sum);
}

struct odd_row {
    double s, error, odd;
};

static const struct odd_row odd_rows[] = {
    {1, 0, 1},
    {1, 0x1p-60, 0x1.0000000000001p0},
    {1, -0x1p-60, 0x1.fffffffffffffp-1},
    {-1, 0x1p-60, -0x1.fffffffffffffp-1},
    {0x1.0000000000001p0, 0x1p-60, 0x1.0000000000001p0},
    {0x1.0000000000001p0, -0x1p-60, 0x1.0000000000001p0},
    {0x1.0000000000002p0, -0x1p-60, 0x1.0000000000001p0},
    {0x1.fffffffffffffp1023, 1, 0x1.fffffffffffffp1023},
    {INFINITY, 1, INFINITY},
    {0x1p-1074, 0, 0x1p-1074},
    {0.0, 0x1p-1000, 0x1p-1074},
    {0.0, -0x1p-1074, -0x1p-1074},
    {-0.0, 0, -0.0},
};

static void odd_steps(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof odd_rows / sizeof *odd_rows; i++) {
        double got = to_odd(odd_rows[i].s, odd_rows[i].error);
        if (!same(got, odd_rows[i].odd))
            fail_msg("%a + %a to odd: %a, expected %a", odd_rows[i].s, odd_rows[i].error, got,
                     odd_rows[i].odd);
    }
    assert_true(isnan(to_odd(NAN, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_by_stride), cmocka_unit_test(floats_about_boundaries),
        cmocka_unit_test(doubles),          cmocka_unit_test(sums_to_odd),
        cmocka_unit_test(odd_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
