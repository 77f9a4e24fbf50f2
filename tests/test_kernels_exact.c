/* test_kernels_exact.c: in real numbers every kernel model is attention: the mpfr run at 256 bits with
   every site exact, against the definition, to 2^-200 of the uncancelled sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <mpfr.h>

#include "tests/exact_row.h"
#include "tests/kernel_case.h"

/* LSE: triton-fa's is to base 2. */
static const struct kernel_row rows[] = {
    {.kernel = "fa2@H200", .shape = {1, 3, 150, 64}},
    {.kernel = "fa2@RTX-4090", .shape = {1, 20, 70, 128}, .causal = true},
    {.kernel = "fa2@H200", .shape = {1, 40, 150, 32}, .left = 30, .right = 2},
    {.kernel = "fa2@H200", .shape = {1, 3, 70, 32}, .softcap = 2},
    {.kernel = "fa2:2.5.3@A100", .shape = {1, 3, 150, 32}},
    {.kernel = "fa2@A100", .option = "exp-arg=separate", .shape = {1, 3, 150, 32}, .scale = 0.3},
    {.kernel = "fa2-split@H200", .shape = {3, 1, 600, 256}},
    {.kernel = "fa2-split@H200", .shape = {2, 1, 700, 32}, .splits = 100},
    {.kernel = "xqa@H200", .shape = {3, 1, 700, 256}, .size = 0.5},
    {.kernel = "xqa@H200", .shape = {3, 1, 700, 128}},
    {.kernel = "xqa@RTX-PRO-6000", .shape = {3, 1, 700, 128}},
    {.kernel = "xqa@H200", .shape = {1, 1, 60, 256}},
    {.kernel = "triton-decode@H200", .shape = {2, 1, 300, 64}},
    {.kernel = "sglang-decode@H200", .shape = {2, 1, 300, 64}},
    {.kernel = "paged-v2@H200", .option = "epsilon=none", .shape = {2, 1, 600, 64}},
    {.kernel = "trtllm-reducer@B200", .shape = {2, 1, 600, 64}},
    {.kernel = "fa1@A100", .shape = {1, 20, 300, 32}},
    {.kernel = "fa1@A100", .shape = {1, 40, 300, 128}, .causal = true, .top_left = true},
    {.kernel = "triton-fa@H200", .shape = {1, 128, 128, 64}},
    {.kernel = "triton-fa@H200", .shape = {1, 128, 128, 64}, .causal = true},
};

static void check_kernel(const struct kernel_row *row, uint64_t seed)
{
    struct kernel_inputs in;
    struct problem grouped;
    struct message why;
    struct run r;
    bool decode;
    kernel_inputs_new(&in, row, seed);
    decode = kernel_info(in.simulation.kernel.kernel)->flags & GROUPED;
    struct policy exact = policy_all_exact(&in.simulation.policy);
    in.simulation.policy = exact;
    if (decode)
        assert_true(kernel_group(&in.problem, &grouped, &why));
    struct head h = problem_head(decode ? &grouped : &in.problem, 0);
    assert_true(run_new(&r, &arith_mpfr, &exact, 256, &why));
    struct attention x = simulate_head(&r, &in.simulation, &h);
    int64_t step = h.Nq > 8 ? 7 : 1; /* of many rows some */
    for (int64_t n = 0; n < h.Nq; n += step) {
        struct visible v = {&h, n, 0, (int)h.Nk, (int)h.Nk};
        const char *what;
        if (!visible_any(&v, 1))
            continue; /* the kernels' LSE of such rows is in kernels.def */
        what = exact_row_differs(&h, n, x.O->data, x.L->data, strncmp(row->kernel, "triton-fa", 9) != 0);
        if (what != NULL)
            fail_msg("%s %s, D %d, Nk %d: %s of row %d", row->kernel,
                     row->option != NULL ? row->option : "", row->shape[3], row->shape[2], what, (int)n);
    }
    run_free(&r);
    if (decode)
        problem_free(&grouped);
    kernel_inputs_free(&in);
}

static void test_exact(void **state)
{
    (void)state;
    const char *only = getenv("FLASHULP_KERNEL");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (only == NULL || strstr(rows[i].kernel, only) != NULL)
            check_kernel(&rows[i], 500 + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
