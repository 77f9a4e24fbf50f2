/* bench_special.c: the speed of special_cr and special_poly, fp32, one thread: to MPFR at 24 bits
   (the obvious way to the same bits), to the C library's float functions and SLEEF's, which misround
   some results (how many of 2^20 is said), and to a dependent fp64 multiply and add, which carries
   over to other machines. */
#include <dlfcn.h>
#include <math.h>
#include <mpfr.h>

#include "simulator/special.h"
#include "tests/bench/bench.h"

enum { ELEMENTS = 1 << 13, SAMPLES = 1 << 20, FEW = 1 << 9 };

typedef float float_function(float);
typedef int mpfr_function(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/* Arguments as kernels see them: scores below a maximum, sums, capped scores. */
static const struct row {
    enum function fn;
    const char *name, *library_name, *sleef_name;
    float_function *library;
    mpfr_function *mpfr;
    float low, high;
} rows[] = {
    {FUNCTION_EXP, "exp", "expf", "Sleef_expf_u10", expf, mpfr_exp, -30, 0},
    {FUNCTION_EXP2, "exp2", "exp2f", "Sleef_exp2f_u10", exp2f, mpfr_exp2, -40, 0},
    {FUNCTION_LOG, "log", "logf", "Sleef_logf_u10", logf, mpfr_log, 0.01f, 5000},
    {FUNCTION_LOG2, "log2", "log2f", "Sleef_log2f_u10", log2f, mpfr_log2, 0.01f, 5000},
    {FUNCTION_TANH, "tanh", "tanhf", "Sleef_tanhf_u10", tanhf, mpfr_tanh, -4, 4},
};

static float x[SAMPLES], y[SAMPLES];
static volatile double sink;

/* Everything below is for one row; times are of ELEMENTS results, MPFR's of FEW. */
struct measured {
    const struct row *row;
    float_function *scalar;
};

static void dependent_steps(void *with)
{
    (void)with;
    double s = 0;
    for (size_t i = 0; i < ELEMENTS; i++)
        s = s * 0.5 + (double)x[i];
    sink = s;
}

static void by_cr(void *with)
{
    const struct measured *m = with;
    special_cr(m->row->fn, FORMAT_FP32, false, y, x, ELEMENTS);
}

static void by_poly(void *with)
{
    const struct measured *m = with;
    special_poly(m->row->fn, y, x, ELEMENTS);
}

static void by_scalar(void *with)
{
    const struct measured *m = with;
    for (size_t i = 0; i < ELEMENTS; i++)
        y[i] = m->scalar(x[i]);
}

static void by_mpfr(void *with)
{
    const struct measured *m = with;
    mpfr_t value;
    mpfr_init2(value, 24);
    for (size_t i = 0; i < FEW; i++) {
        mpfr_set_flt(value, x[i], MPFR_RNDN);
        m->row->mpfr(value, value, MPFR_RNDN);
        y[i] = mpfr_get_flt(value, MPFR_RNDN);
    }
    mpfr_clear(value);
}

/* "expf, 0 of 2^20 wrong": how many of the samples' results are not the correctly rounded ones. */
static void scalar_row(const char *what, double ours, const char *name, const struct peer *peer)
{
    const struct measured *m = peer->with;
    char other[64];
    int wrong = 0;
    special_cr(m->row->fn, FORMAT_FP32, false, y, x, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++)
        wrong += y[i] != m->scalar(x[i]);
    snprintf(other, sizeof other, "%s, %d wrong", name, wrong);
    bench_row(what, ours, "ns", other, peer->median * 1e9 / ELEMENTS, 0);
}

enum { STEPS, CR, POLY, LIBRARY, MPFR, SLEEF, PEERS };

static void measure(const struct row *row, float_function *sleef)
{
    struct measured library = {row, row->library}, other = {row, sleef};
    struct peer peer[PEERS] = {
        [STEPS] = {"dependent step", dependent_steps, NULL, 0, 0, NULL},
        [CR] = {"", by_cr, &library, 0, 0, NULL},
        [POLY] = {"", by_poly, &library, 0, 0, NULL},
        [LIBRARY] = {"", by_scalar, &library, 0, 0, NULL},
        [MPFR] = {"", by_mpfr, &library, 0, 0, NULL},
        [SLEEF] = {"", by_scalar, &other, 0, 0, NULL},
    };
    const double each = 1e9 / ELEMENTS;
    char what[40], poly[40];
    srand(1);
    for (size_t i = 0; i < SAMPLES; i++)
        x[i] = row->low + (row->high - row->low) * (float)(rand() / ((double)RAND_MAX + 1));
    bench_rounds(peer, sleef != NULL ? PEERS : SLEEF, BENCH_ROUNDS);
    snprintf(what, sizeof what, "%s, correctly rounded", row->name);
    snprintf(poly, sizeof poly, "%s, polynomial", row->name);
    double ours = peer[CR].median * each;
    bench_row(what, ours, "ns", "MPFR at 24 bits", peer[MPFR].median * 1e9 / FEW, 0);
    scalar_row(what, ours, row->library_name, &peer[LIBRARY]);
    if (sleef != NULL)
        scalar_row(what, ours, "SLEEF", &peer[SLEEF]);
    bench_row(what, ours, "ns", "a dependent fp64 step", peer[STEPS].median * each, 0);
    bench_row(poly, peer[POLY].median * each, "ns", row->library_name, peer[LIBRARY].median * each,
              0);
}

int main(void)
{
    void *sleef = dlopen("libsleef.so.3", RTLD_NOW);
    if (sleef == NULL)
        bench_missing("SLEEF", "apt-get install libsleef3");
    else
        bench_found("SLEEF", "libsleef.so.3");
    bench_note("wrong: results of 2^20 that are not correctly rounded; ours are, all of them");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float_function *other = NULL;
        if (sleef != NULL)
            *(void **)&other = dlsym(sleef, rows[i].sleef_name);
        measure(&rows[i], other);
    }
    return 0;
}
