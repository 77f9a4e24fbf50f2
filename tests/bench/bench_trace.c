/* bench_trace.c: what the notes cost when no trace is kept: FlashAttention-2 as it is against the
   same source with every note compiled out.  Small heads, many rounds: the difference is small. */
#include "simulator/cpu.h"
#include "simulator/simulate.h"
#include "tests/bench/bench.h"
#include "tests/random_problem.h"

enum { N = 192, D = 64, TILE = 16, MANY = 401 };

algorithm_body unnoted_fa2;
static struct problem problem;
static struct policy policy;

static void attend(void *with)
{
    struct run r;
    struct message why;
    struct head h = problem_head(&problem, 0);
    struct attention x = {.head = &h, .choices = {.Br = TILE, .Bc = TILE}};
    if (!run_new(&r, arith_float(), &policy, 53, &why))
        abort();
    x.O = tile_new(&r, TENSOR_O, N, D);
    x.L = tile_new(&r, TENSOR_LSE, N, 1);
    if (with != NULL)
        flash_attention_2(&r, &x);
    else
        unnoted_fa2(&r, &x);
    run_free(&r);
}

int main(void)
{
    struct problem_options options = problem_defaults();
    uint64_t state = 1;
    if (!draw_problem(&problem, FORMAT_FP32, (struct shape){1, 1, 1, N, N, D}, 1, &options, &state))
        return 1;
    policy = policy_table(POLICY_FP32);
    struct peer peer[] = {{"", attend, &policy, 0, 0, NULL},
                          {"no notes compiled in", attend, NULL, 0, 0, NULL}};
    bench_rounds(peer, 2, MANY);
    bench_times_row("fa2 tiles 16, NULL trace", &peer[0], &peer[1], 1.01);
    return 0;
}
