/* bench_backward.c: a backward pass beside the forward pass before it, in float arithmetic; and a
   launch of 2,048 blocks of 64 key tiles put on a GPU's SMs, whose events must cost the same
   however many there are. */
#include "simulator/gradient.h"
#include "simulator/schedule.h"
#include "tests/bench/bench.h"
#include "tests/random_problem.h"

enum { N = 1024, D = 64, ROUNDS = 7 };

struct passes {
    struct problem problem;
    struct tensor dO;
    struct simulation simulation;
};

static double head_seconds(const struct passes *p, bool backward)
{
    struct run r;
    struct message why;
    struct head h = problem_head(&p->problem, 0);
    const struct simulation *s = &p->simulation;
    if (!run_new(&r, s->arith, &s->policy, s->precision, &why))
        abort();
    double start = bench_seconds();
    struct attention x = simulate_head(&r, s, &h);
    double between = bench_seconds();
    if (backward)
        simulate_backward(&r, s, &x, &p->dO);
    double end = bench_seconds();
    run_free(&r);
    return backward ? end - between : between - start;
}

static double forward(void *with)
{
    return head_seconds(with, false);
}

static double back(void *with)
{
    return head_seconds(with, true);
}

static void compare_passes(enum policy_id policy, const char *what)
{
    struct problem_options options = problem_defaults();
    struct passes p = {.simulation = simulation_default()};
    uint64_t seed = 1;
    p.simulation.policy = policy_table(policy);
    if (!draw_problem(&p.problem, FORMAT_BF16, (struct shape){1, 1, 1, N, N, D}, 1, &options,
                      &seed) ||
        !draw_tensor(&p.dO, FORMAT_BF16, 1, 1, N, D, 1, &seed))
        abort();
    struct peer peer[] = {{what, NULL, &p, 0, 0, back},
                          {"its forward pass", NULL, &p, 0, 0, forward}};
    bench_rounds(peer, 2, ROUNDS);
    bench_times_row(what, &peer[0], &peer[1], 3);
    tensor_free(&p.dO);
    problem_free(&p.problem);
}

struct scheduled {
    struct grid grid;
    struct machine machine;
    int64_t events;
};

static void count(void *with, const struct schedule_event *e)
{
    (void)e;
    ++*(int64_t *)with;
}

static void launch_once(void *with)
{
    struct scheduled *l = with;
    struct schedule s;
    l->events = 0;
    schedule_run(&l->grid, &l->machine, count, &l->events, &s);
}

static struct scheduled launch_of(int64_t heads)
{
    struct attention_shape s = {2, heads, heads, 8192, 8192, 128, false};
    return (struct scheduled){.grid =
                                  grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 128, 4}, 0, 0),
                              .machine = {.sms = 108, .per_sm = 2, .plain = 1, .masked = 1}};
}

int main(void)
{
    struct scheduled one = launch_of(16), four = launch_of(64);
    compare_passes(POLICY_FP32, "backward, fp32");
    compare_passes(POLICY_GPU_BF16, "backward, gpu-bf16");
    bench_note("%d queries, %d keys, head size %d, tiles of 64", N, N, D);
    struct peer peer[] = {{"2,048 blocks x 64", launch_once, &one, 0, 0, NULL},
                          {"8,192 blocks x 64", launch_once, &four, 0, 0, NULL}};
    bench_rounds(peer, 2, ROUNDS);
    bench_row("schedule, 2,048 x 64", peer[0].median, "s", "50 ms", 0.05, 1);
    bench_row("an event of 4 x as many", 1e9 * peer[1].median / (double)four.events, "ns",
              "one of 2,048 x 64", 1e9 * peer[0].median / (double)one.events, 1.25);
    return 0;
}
