/* bench_kernels.c: what a decode step of 27,525 tokens costs, by kernel model: head size 256, 16 query
   and 4 KV heads, bf16, one core; against the time allowed for FA2's split kernel. */
#include <string.h>

#include "simulator/simulate.h"
#include "tests/bench/bench.h"
#include "tests/random_problem.h"

enum { KEYS = 27525, D = 256, HQ = 16, HKV = 4, ROUNDS = 3 };

struct decoding {
    struct problem problem;
    struct simulation simulation;
    double allowed; /* seconds */
};

static void decode_once(void *with)
{
    const struct decoding *s = with;
    struct result result;
    struct message why;
    if (!simulate(&s->problem, &s->simulation, &result, &why))
        abort();
    result_free(&result);
}

static double budget(void *with)
{
    return ((const struct decoding *)with)->allowed;
}

static bool runs_on(struct decoding *s, const char *kernel)
{
    struct message why;
    s->simulation = simulation_default();
    s->simulation.is_kernel = true;
    return kernel_choose(&s->simulation.kernel, kernel, &why) &&
           kernel_plan(&s->simulation.kernel, &s->problem, &why) &&
           kernel_policy(&s->simulation.kernel, &s->problem, FORMAT_BF16, &s->simulation.policy, &why);
}

int main(void)
{
    static const struct {
        const char *kernel;
        double allowed;
    } rows[] = {{"fa2-split@H200", 2}, {"fa2-split@A100", 2}, {"triton-decode@H200", 0},
                {"sglang-decode@H200", 0}, {"xqa@H200", 0}, {"paged-v2@H200", 0},
                {"trtllm-reducer@B200", 0}};
    struct decoding s;
    uint64_t seed = 1;
    struct problem_options options = problem_defaults();
    if (!draw_problem(&s.problem, FORMAT_BF16, (struct shape){1, HQ, HKV, 1, KEYS, D}, 1, &options, &seed))
        return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!runs_on(&s, rows[i].kernel))
            return 1;
        s.allowed = rows[i].allowed > 0 ? rows[i].allowed : 2;
        struct peer peer[] = {{rows[i].kernel, decode_once, &s, 0, 0, NULL},
                              {"2 s a core", NULL, &s, 0, 0, budget}};
        bench_rounds(peer, 2, ROUNDS);
        bench_times_row(rows[i].kernel, &peer[0], &peer[1], rows[i].allowed > 0 ? 1 : 0);
    }
    bench_note("27,525 tokens, d 256, 16 query and 4 KV heads, orders of the tensor core");
    problem_free(&s.problem);
    return 0;
}
