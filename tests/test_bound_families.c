/* test_bound_families.c: the two bounds that are theorems, gpu-bf16's and fa2-split's, over every
   named family: 100,000 problems with FLASHULP_TESTS=full, a few hundred otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bounded_run.h"

static int problems_of_each(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0 ? 50000 : 220;
}

/* Nearest to its bound, family by family. */
static void say(const char *run, const struct tally *tally)
{
    int64_t problems = 0, outputs = 0;
    for (int n = 0; n < FAMILIES; n++) {
        problems += tally[n].problems;
        outputs += tally[n].outputs;
        printf("# note %-9s %-18s %6lld outputs inside, nearest %.3f of the bound, vacuous %lld\n",
               run, families[n].name, (long long)tally[n].outputs, tally[n].worst,
               (long long)tally[n].vacuous);
    }
    printf("# note %s: %lld problems, %lld outputs, none outside\n", run, (long long)problems,
           (long long)outputs);
}

static void gpu_bf16_stays_inside(void **unused)
{
    (void)unused;
    struct tally tally[FAMILIES] = {{0}};
    for (int n = 0; n < problems_of_each(); n++) {
        uint64_t state = UINT64_C(0x5EED0001) + (uint64_t)n;
        int family = n % FAMILIES;
        struct problem_options o = problem_defaults();
        struct audit_run run = {.simulation = simulation_default()};
        struct shape shape = {1, 2, 1, 1 + draw_below(&state, 3), 1 + draw_below(&state, 150), 5};
        char what[120];
        o.mask.causal = draw_below(&state, 2) == 1;
        run.simulation.policy = policy_table(POLICY_GPU_BF16);
        run.simulation.choices.Bc = 1 + (int)draw_below(&state, 64);
        draw_family(&run.problem, &families[family], FORMAT_BF16, shape, &o, &state);
        snprintf(what, sizeof what, "n = %d: %s, fa2:gpu-bf16, %d keys", n, families[family].name,
                 (int)shape.Nk);
        bounded(&run, 2, what, &tally[family]);
        problem_free(&run.problem);
    }
    say("gpu-bf16", tally);
}

static void fa2_split_stays_inside(void **unused)
{
    (void)unused;
    enum { KEYS_OF_A_BLOCK = 256, D = 32 };
    static const char *const kernels[] = {"fa2-split@H200", "fa2-split@B200", "fa2-split@A100"};
    struct tally tally[FAMILIES] = {{0}};
    for (int n = 0; n < problems_of_each(); n++) {
        uint64_t state = UINT64_C(0x5EED0002) + (uint64_t)n;
        int family = n % FAMILIES;
        const char *kernel = kernels[n / FAMILIES % 3];
        struct problem_options o = problem_defaults();
        struct audit_run run = {.simulation = simulation_default()};
        struct simulation *s = &run.simulation;
        struct message why;
        bool few = draw_below(&state, 2) == 1;
        struct shape shape = {1, 2, 1, 1, 1 + draw_below(&state, few ? 90 : 1100), D};
        char what[120];
        draw_family(&run.problem, &families[family], FORMAT_BF16, shape, &o, &state);
        s->is_kernel = true;
        assert_true(kernel_choose(&s->kernel, kernel, &why));
        s->kernel.option[KERNEL_OPTION_FA2_SPLIT_ENTRY] = (int)draw_below(&state, 2);
        s->kernel.option[KERNEL_OPTION_FA2_SPLIT_EXP_ARG] = (int)draw_below(&state, 2);
        s->kernel.launch.num_splits = draw_below(&state, 1 + shape.Nk / KEYS_OF_A_BLOCK);
        if (!kernel_plan(&s->kernel, &run.problem, &why) ||
            !kernel_policy(&s->kernel, &run.problem, FORMAT_BF16, &s->policy, &why))
            fail_msg("%s: %s", kernel, why.text);
        snprintf(what, sizeof what, "n = %d: %s, %s, %d keys, %d splits", n, families[family].name,
                 kernel, (int)shape.Nk, s->kernel.plan.splits);
        bounded(&run, 8, what, &tally[family]);
        problem_free(&run.problem);
    }
    say("fa2-split", tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpu_bf16_stays_inside),
        cmocka_unit_test(fa2_split_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
