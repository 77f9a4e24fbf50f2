/* bench_round.c: floats rounded to bf16: the simulator's way (round.h), the reference's (format.c),
   and what comparing them on every float costs; against copying the same floats.

   2^20 floats stand for the 2^32: 256 runs of 4,096 neighbours, one from each 2^24.  Each way works
   run by run, as a comparison of all of them does, so nothing leaves the cache. */
#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "simulator/cpu.h"
#include "simulator/simulate.h"
#include "tests/bench/bench.h"

enum { NEIGHBOURS = 4096, RUNS = 256, ELEMENTS = RUNS * NEIGHBOURS };

static struct run run;
static struct policy policy;
static struct tile *x, *y;
static double slow[NEIGHBOURS];

/* Run n of the floats. */
static void floats(int n)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        uint32_t bits = (uint32_t)n << 24 | (0x800000 - NEIGHBOURS / 2 + i);
        memcpy((float *)x->data + i, &bits, sizeof bits);
    }
}

static void copy_run(void)
{
    memcpy(y->data, x->data, sizeof(float) * NEIGHBOURS);
}

/* The verb at a bf16 site, from x into y. */
static void round_run(void)
{
    struct call c = {.verb = VERB_ROUND_AT, .dst = y, .a = x, .arg_site = SITE_NONE,
                     .site = SITE_PROB};
    perform_plain(&run, &c);
}

static void reference_run(void)
{
    const float *from = x->data;
    for (int i = 0; i < NEIGHBOURS; i++)
        slow[i] = (double)from[i];
    format_round_row(FORMAT_BF16, false, slow, slow, NEIGHBOURS);
}

/* Subnormal numbers of bf16 as MPFR makes them: a range of exponents and mpfr_subnormalize. */
static void mpfr_run(void)
{
    const float *from = x->data;
    mpfr_t wide;
    mpfr_init2(wide, 8);
    mpfr_set_emin(-132);
    mpfr_set_emax(128);
    for (int i = 0; i < NEIGHBOURS; i++) {
        int inexact = mpfr_set_flt(wide, from[i], MPFR_RNDN);
        mpfr_subnormalize(wide, inexact, MPFR_RNDN);
        slow[i] = mpfr_get_d(wide, MPFR_RNDN);
    }
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_clear(wide);
}

static int differ;

/* One NaN is as good as another. */
static void compare_run(void)
{
    const float *fast = y->data;
    uint64_t unlike = 0;
    round_run();
    reference_run();
    for (int i = 0; i < NEIGHBOURS; i++) {
        double wide = (double)fast[i];
        uint64_t a, b;
        memcpy(&a, &wide, sizeof a);
        memcpy(&b, &slow[i], sizeof b);
        unlike |= a ^ b;
    }
    for (int i = 0; i < NEIGHBOURS && unlike != 0; i++) {
        double a = (double)fast[i], b = slow[i];
        differ += a == b ? signbit(a) != signbit(b) : a == a || b == b;
    }
}

struct way {
    void (*run)(void);
};

static void every_run(void *with)
{
    const struct way *way = with;
    for (int n = 0; n < RUNS; n++) {
        floats(n);
        way->run();
    }
}

static void prepare(void)
{
    struct message why;
    policy = policy_table(POLICY_GPU_BF16);
    if (!run_new(&run, arith_float(), &policy, 53, &why))
        abort();
    x = tile_new(&run, TENSOR_S, 1, NEIGHBOURS);
    y = tile_new(&run, TENSOR_P, 1, NEIGHBOURS);
}

enum { VERB, COPY, REFERENCE, BY_MPFR, COMPARISON, PEERS };

int main(void)
{
    struct way verb = {round_run}, copy = {copy_run}, reference = {reference_run},
               comparison = {compare_run}, by_mpfr = {mpfr_run};
    prepare();
    struct peer peer[PEERS] = {
        [VERB] = {"", every_run, &verb, 0, 0, NULL},
        [COPY] = {"limit: memcpy", every_run, &copy, 0, 0, NULL},
        [REFERENCE] = {"reference/format.c", every_run, &reference, 0, 0, NULL},
        [BY_MPFR] = {"MPFR at 8 bits", every_run, &by_mpfr, 5, 0, NULL},
        [COMPARISON] = {"", every_run, &comparison, 0, 0, NULL},
    };
    bench_rounds(peer, PEERS, BENCH_ROUNDS);
    double all = peer[COMPARISON].median * 0x1p32 / ELEMENTS;
    bench_times_row("bf16 of 2^20 floats", &peer[VERB], &peer[COPY], 0);
    bench_times_row("bf16 of 2^20 floats", &peer[VERB], &peer[REFERENCE], 0);
    bench_times_row("bf16 of 2^20 floats", &peer[VERB], &peer[BY_MPFR], 0);
    bench_row("2^32 compared (extrap.)", all, "s", "15 s a core", 15, 1);
    bench_note("ns a float: %.2f copied %.2f rounded %.2f reference %.2f both; %d differ",
               peer[COPY].median / ELEMENTS * 1e9, peer[VERB].median / ELEMENTS * 1e9,
               peer[REFERENCE].median / ELEMENTS * 1e9, peer[COMPARISON].median / ELEMENTS * 1e9,
               differ);
    run_free(&run);
    return differ != 0;
}
