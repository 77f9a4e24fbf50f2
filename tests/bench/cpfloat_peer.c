/* cpfloat_peer.c: CPFloat's rounding to bf16 against ours.  run.sh compiles it where its header is
   found; the fields of optstruct are those of release 0.6. */
#include <cpfloat_binary32.h>

#include "simulator/simulate.h"
#include "tests/bench/bench.h"

enum { FLOATS = 1 << 20 };

static struct run rounding;
static struct tile *from, *to;
static float rounded[FLOATS];
static optstruct options = {.precision = 8,
                            .emin = -126,
                            .emax = 127,
                            .explim = CPFLOAT_EXPRANGE_TARG,
                            .infinity = CPFLOAT_INF_USE,
                            .round = CPFLOAT_RND_NE,
                            .subnormal = CPFLOAT_SUBN_USE};

static void ours(void *with)
{
    (void)with;
    struct call c = {
        .verb = VERB_ROUND_AT, .dst = to, .a = from, .arg_site = SITE_NONE, .site = SITE_PROB};
    perform_plain(&rounding, &c);
}

static void theirs(void *with)
{
    (void)with;
    cpfloatf(rounded, from->data, FLOATS, &options);
}

int main(void)
{
    struct policy policy = policy_table(POLICY_GPU_BF16);
    struct message why;
    struct peer peer[] = {{"", ours, NULL, 0, 0, NULL}, {"CPFloat", theirs, NULL, 0, 0, NULL}};
    int differ = 0;
    if (!run_new(&rounding, arith_float(), &policy, 53, &why))
        return 1;
    from = tile_new(&rounding, TENSOR_S, 1, FLOATS);
    to = tile_new(&rounding, TENSOR_P, 1, FLOATS);
    for (int i = 0; i < FLOATS; i++)
        ((float *)from->data)[i] = (float)((double)rand() / RAND_MAX - 0.5);
    bench_rounds(peer, 2, BENCH_ROUNDS);
    for (int i = 0; i < FLOATS; i++)
        differ += ((float *)to->data)[i] != rounded[i];
    bench_found("CPFloat", "cpfloat_binary32.h");
    bench_times_row("bf16 of 2^20 floats", &peer[0], &peer[1], 0);
    if (differ > 0)
        bench_note("CPFloat rounds %d of 2^20 floats otherwise", differ);
    return 0;
}
