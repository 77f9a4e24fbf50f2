/* bench_emulator.c: the emulator: a switch from one fibre to the next; FA2's third rung, N 512, 4
   heads, d 64, against its pair in the simulator on one thread: fp32 chains (at most 1.5 times the
   pair's time), sm90's sums (2), every check (5: late copies, random order, the detector, sm90). */
#include "gpu/emulator/emulator.h"
#include "gpu/emulator/fibre.h"
#include "gpu/launch.h"
#include "simulator/inputs.h"
#include "tests/bench/bench.h"

enum { LANES = 32, ROUNDS = 20000 };

static struct fibre ring[LANES], host;
static int turn;
static long left;

/* Each fibre goes on to the next. */
static void go_round(void)
{
    for (;;) {
        int own = turn;
        turn = (turn + 1) % LANES;
        if (--left <= 0)
            fibre_switch(&ring[own], &host);
        fibre_switch(&ring[own], &ring[turn]);
    }
}

static void switches(void *with)
{
    (void)with;
    turn = 0;
    left = (long)LANES * ROUNDS;
    for (int i = 0; i < LANES; i++)
        fibre_prepare(&ring[i], i, go_round);
    fibre_switch(&host, &ring[0]);
}

struct run_of_fa2 {
    struct gpu_pair pair;
    struct target_settings target;
};

static void must(bool ok, const struct message *why)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", why->text);
    exit(1);
}

static void on_emulator(void *with)
{
    struct run_of_fa2 *r = with;
    struct gpu_output o;
    struct message why;
    must(gpu_run_kernel(&r->pair, &r->target, &o, &why), &why);
    gpu_output_free(&o);
}

static void in_simulator(void *with)
{
    struct run_of_fa2 *r = with;
    struct gpu_output o;
    struct message why;
    must(gpu_run_pair(&r->pair, &o, &why), &why);
    gpu_output_free(&o);
}

static void prepare(struct run_of_fa2 *r, const char *unit, enum schedule schedule)
{
    static const char *const words[] = {"--generate", "gaussian", "--seed", "1", "--shape",
                                        "1,4,4,512,512,64", "--dtype", "bf16"};
    struct message why;
    must(gpu_pair_new(&r->pair, GPU_FA2, unit, sizeof words / sizeof *words, words, &why), &why);
    r->target = (struct target_settings){.schedule = schedule, .seed = 1, .unit = unit};
}

int main(void)
{
    struct run_of_fa2 fp32, sm90, checked;
    inputs_register();
    prepare(&fp32, NULL, SCHEDULE_PLAIN);
    prepare(&sm90, "sm90", SCHEDULE_PLAIN);
    prepare(&checked, "sm90", SCHEDULE_DETECTOR);
    struct peer peer[] = {{"fa2.cu, fp32 chains", on_emulator, &fp32, 0, 0, NULL},
                          {"its pair", in_simulator, &fp32, 0, 0, NULL},
                          {"fa2.cu, mma@sm90", on_emulator, &sm90, 0, 0, NULL},
                          {"its pair", in_simulator, &sm90, 0, 0, NULL},
                          {"fa2.cu, every check", on_emulator, &checked, 0, 0, NULL}};
    struct peer ring_peer = {"fibre switch", switches, NULL, 0, 0, NULL};
    if (!fibre_stacks_need(LANES))
        return 1;
    bench_rounds(&ring_peer, 1, 41);
    bench_row("fibre switch", ring_peer.median / (LANES * ROUNDS) * 1e9, "ns", "5 ns", 5, 1);
    bench_rounds(peer, 5, 15);
    bench_times_row(peer[0].name, &peer[0], &peer[1], 1.5);
    bench_times_row(peer[2].name, &peer[2], &peer[3], 2);
    bench_times_row(peer[4].name, &peer[4], &peer[3], 5);
    gpu_pair_free(&fp32.pair);
    gpu_pair_free(&sm90.pair);
    gpu_pair_free(&checked.pair);
    return 0;
}
