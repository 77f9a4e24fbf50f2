/* bench_special.c: the speed of special_cr and special_poly, fp32, one thread.

   Medians over interleaved rounds, CPU time, as ratios: to MPFR at 24 bits (the obvious way to the
   same bits), to the C library's float functions (and how many of 2^20 results those misround), and
   to a calibration step (one dependent fp64 multiply and add), which carries over to other
   machines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <mpfr.h>
#include "simulator/cpu.h"
#include "simulator/special.h"

enum { ELEMENTS = 1 << 13, ROUNDS = 15, SAMPLES = 1 << 20, MPFR_ELEMENTS = 1 << 9 };

typedef float float_function(float);
typedef int mpfr_function(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/* Arguments as kernels see them: scores below a maximum, sums, capped scores. */
static const struct row {
    enum function fn;
    const char *name;
    float_function *library;
    mpfr_function *mpfr;
    float low, high;
} rows[] = {
    {FUNCTION_EXP, "exp", expf, mpfr_exp, -30, 0},
    {FUNCTION_EXP2, "exp2", exp2f, mpfr_exp2, -40, 0},
    {FUNCTION_LOG, "log", logf, mpfr_log, 0.01f, 5000},
    {FUNCTION_LOG2, "log2", log2f, mpfr_log2, 0.01f, 5000},
    {FUNCTION_TANH, "tanh", tanhf, mpfr_tanh, -4, 4},
};

enum peer { CALIBRATION, CR, POLY, LIBRARY, BY_MPFR, PEERS };

static float x[SAMPLES], y[SAMPLES];
static volatile double sink;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void by_mpfr(mpfr_function *fn, size_t n)
{
    mpfr_t value;
    mpfr_init2(value, 24);
    for (size_t i = 0; i < n; i++) {
        mpfr_set_flt(value, x[i], MPFR_RNDN);
        fn(value, value, MPFR_RNDN);
        y[i] = mpfr_get_flt(value, MPFR_RNDN);
    }
    mpfr_clear(value);
}

/* Nanoseconds an element. */
static double once(const struct row *row, enum peer peer)
{
    size_t n = peer == BY_MPFR ? MPFR_ELEMENTS : ELEMENTS;
    double start = seconds();
    if (peer == CALIBRATION) {
        double s = 0;
        for (size_t i = 0; i < n; i++)
            s = s * 0.5 + (double)x[i];
        sink = s;
    } else if (peer == CR) {
        special_cr(row->fn, FORMAT_FP32, false, y, x, n);
    } else if (peer == POLY) {
        special_poly(row->fn, y, x, n);
    } else if (peer == LIBRARY) {
        for (size_t i = 0; i < n; i++)
            y[i] = row->library(x[i]);
    } else {
        by_mpfr(row->mpfr, n);
    }
    return 1e9 * (seconds() - start) / (double)n;
}

static int by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* How many of the samples' library results are not the correctly rounded ones. */
static int misrounded(const struct row *row)
{
    int count = 0;
    special_cr(row->fn, FORMAT_FP32, false, y, x, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++)
        count += y[i] != row->library(x[i]);
    return count;
}

static void measure(const struct row *row)
{
    static double time[PEERS][ROUNDS];
    srand(1);
    for (size_t i = 0; i < SAMPLES; i++)
        x[i] = row->low + (row->high - row->low) * (float)(rand() / ((double)RAND_MAX + 1));
    for (int round = -1; round < ROUNDS; round++) /* the first warms up */
        for (int peer = 0; peer < PEERS; peer++)
            time[peer][round < 0 ? 0 : round] = once(row, (enum peer)peer);
    double median[PEERS];
    for (int peer = 0; peer < PEERS; peer++) {
        qsort(time[peer], ROUNDS, sizeof(double), by_value);
        median[peer] = time[peer][ROUNDS / 2];
    }
    printf("  %-4s %6.2f %7.2f %9.0fx %8.2fx %10.2f %7.2f %10d\n", row->name, median[CR],
           median[CR] / median[CALIBRATION], median[BY_MPFR] / median[CR],
           median[LIBRARY] / median[CR], median[POLY], median[POLY] / median[CALIBRATION],
           misrounded(row));
}

int main(void)
{
    printf("special functions, fp32, level %s; x = times faster; a step is one dependent\n"
           "fp64 multiply and add; misrounded: results of the C library, of 2^20\n"
           "  cr       ns   steps  than MPFR  than libm    poly ns   steps misrounded\n",
           cpu_level_name(cpu_level()));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&rows[i]);
    return 0;
}
