/* bench_fa2.c: FlashAttention-2 in verbs against the same arithmetic written by hand.

   One head, fp32, N 1,024, d 64, tiles 64 x 64.  The loops compared give the same bits, which is
   checked before anything is measured.  Also: what the readable loop takes, what other policies
   take, and what a trace that is not kept costs. */
#include <math.h>
#include <string.h>

#include "simulator/cpu.h"
#include "simulator/simulate.h"
#include "tests/bench/bench.h"
#include "tests/bench/fused_fa2.h"
#include "tests/random_problem.h"

enum { N = 1024, D = FUSED_D, TILE = FUSED_TILE };

static struct problem problem, half; /* fp32 and bf16 inputs */
static struct fused fused;
static float O_plain[N * D], lse_plain[N];

static const struct fused_level *fused_level(void)
{
    static const struct fused_level *const levels[CPU_LEVELS] = {
        &fused_level_base,
#ifdef __x86_64__
        &fused_level_v3,
        &fused_level_v4,
#endif
    };
    return levels[cpu_level()];
}

struct simulated {
    const struct problem *problem;
    struct simulation simulation;
};

static void by_verbs(void *with)
{
    const struct simulated *s = with;
    struct run r;
    struct message why;
    struct head h = problem_head(s->problem, 0);
    if (!run_new(&r, s->simulation.arith, &s->simulation.policy, 53, &why))
        abort();
    simulate_head(&r, &s->simulation, &h);
    run_free(&r);
}

/* With outputs as doubles and their digest. */
static void by_simulate(void *with)
{
    const struct simulated *s = with;
    struct result result;
    struct message why;
    if (!simulate(s->problem, &s->simulation, &result, &why))
        abort();
    result_free(&result);
}

static void by_hand(void *with)
{
    (void)with;
    fused_level()->attention(&fused);
}

enum { PEAK_STEPS = 1 << 16 };

static void by_registers(void *with)
{
    *(double *)with = fused_level()->multiply_adds(PEAK_STEPS);
}

/* One query row: the listing, term by term. */
static void plain_row(int r)
{
    const float *q = fused.q + r * D;
    float *O = O_plain + r * D, s[TILE], m = -INFINITY, l = 0;
    memset(O, 0, D * sizeof *O);
    for (int j = 0; j < N; j += TILE) {
        float old = m, decay;
        for (int c = 0; c < TILE; c++) {
            s[c] = 0;
            for (int d = 0; d < D; d++)
                s[c] = fmaf(q[d], fused.k[(j + c) * D + d], s[c]);
            s[c] *= 0.125f;
            m = s[c] > m ? s[c] : m;
        }
        decay = old - m;
        special_cr(FUNCTION_EXP, FORMAT_FP32, false, &decay, &decay, 1);
        l *= decay;
        for (int d = 0; d < D; d++)
            O[d] *= decay;
        for (int c = 0; c < TILE; c++) {
            s[c] -= m;
            special_cr(FUNCTION_EXP, FORMAT_FP32, false, &s[c], &s[c], 1);
            l += s[c];
            for (int d = 0; d < D; d++)
                O[d] = fmaf(s[c], fused.v[(j + c) * D + d], O[d]);
        }
    }
    for (int d = 0; d < D; d++)
        O[d] /= l;
    special_cr(FUNCTION_LOG, FORMAT_FP32, false, &l, &l, 1);
    lse_plain[r] = m + l;
}

static void by_listing(void *with)
{
    (void)with;
    for (int r = 0; r < N; r++)
        plain_row(r);
}

static void same_bits(const char *what, const float *O, const float *lse, const struct result *r)
{
    for (int i = 0; i < N * D + N; i++) {
        float ours = (float)(i < N * D ? r->O[i] : r->lse[i - N * D]);
        float theirs = i < N * D ? O[i] : lse[i - N * D];
        if (memcmp(&ours, &theirs, sizeof ours) != 0) {
            printf("%s: number %d is %a, the simulator's %a\n", what, i, (double)theirs,
                   (double)ours);
            exit(1);
        }
    }
}

static void check_bits(struct simulated *s)
{
    struct result result;
    struct message why;
    if (!simulate(s->problem, &s->simulation, &result, &why))
        abort();
    by_hand(NULL);
    by_listing(NULL);
    same_bits("the loop by hand", fused.O, fused.lse, &result);
    same_bits("the listing", O_plain, lse_plain, &result);
    result_free(&result);
}

static void prepare(void)
{
    struct problem_options options = problem_defaults();
    uint64_t state = 1;
    const struct shape shape = {1, 1, 1, N, N, D};
    if (!draw_problem(&problem, FORMAT_FP32, shape, 1, &options, &state) ||
        !draw_problem(&half, FORMAT_BF16, shape, 1, &options, &state))
        abort();
    fused = (struct fused){.N = N, .q = problem.q.data, .k = problem.k.data, .v = problem.v.data};
    fused.O = malloc(N * D * sizeof(float));
    fused.lse = malloc(N * sizeof(float));
    fused.keys = malloc(N * D * sizeof(float));
    if (fused.O == NULL || fused.lse == NULL || fused.keys == NULL)
        abort();
}

static struct simulated under(const struct problem *p, enum policy_id policy)
{
    struct simulated s = {p, simulation_default()};
    s.simulation.policy = policy_table(policy);
    s.simulation.choices.Br = s.simulation.choices.Bc = TILE;
    return s;
}

enum { VERBS, BY_HAND, LISTING, GPU_BF16, ALL_BF16, WHOLE, REGISTERS, PEERS };

int main(void)
{
    double in_registers;
    prepare();
    struct simulated fp32 = under(&problem, POLICY_FP32), gpu = under(&half, POLICY_GPU_BF16),
                     all = under(&half, POLICY_ALL_BF16);
    check_bits(&fp32);
    struct peer peer[PEERS] = {
        [VERBS] = {"", by_verbs, &fp32, 0, 0, NULL},
        [BY_HAND] = {"loop by hand, same bits", by_hand, NULL, 0, 0, NULL},
        [LISTING] = {"readable scalar loop", by_listing, NULL, 7, 0, NULL},
        [GPU_BF16] = {"", by_verbs, &gpu, 3, 0, NULL},
        [ALL_BF16] = {"", by_verbs, &all, 7, 0, NULL},
        [WHOLE] = {"the algorithm alone", by_simulate, &fp32, 3, 0, NULL},
        [REGISTERS] = {"", by_registers, &in_registers, 0, 0, NULL},
    };
    bench_rounds(peer, PEERS, BENCH_ROUNDS);
    double per_step = peer[REGISTERS].median / in_registers, work = 2.0 * N * N * D;
    bench_times_row("fa2 fp32 1024x64", &peer[VERBS], &peer[BY_HAND], 1.4);
    bench_times_row("fa2 fp32 1024x64", &peer[VERBS], &peer[LISTING], 0);
    peer[VERBS].name = "fp32 policy";
    bench_times_row("fa2 gpu-bf16", &peer[GPU_BF16], &peer[VERBS], 0);
    bench_times_row("fa2 all-bf16", &peer[ALL_BF16], &peer[VERBS], 0);
    bench_times_row("fa2 output and digest", &peer[WHOLE], &peer[VERBS], 0);
    bench_row("fa2 fp32 1024x64", peer[VERBS].median, "s", "limit: multiply-adds",
              work * per_step, 0);
    bench_note("level %s; limit: %.3g G multiply-adds/s; by hand %.0f %% of it, verbs %.0f %%",
               cpu_level_name(cpu_level()), 1e-9 / per_step,
               100 * work * per_step / peer[BY_HAND].median,
               100 * work * per_step / peer[VERBS].median);
    return 0;
}
