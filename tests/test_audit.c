/* test_audit.c: the bounds are never passed by the runs they are proved for, and nearly reached
   where that can be arranged; runs by their names; what a name may not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bounded_run.h"
#include "tests/small_problem.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void listings_stay_inside(void **unused)
{
    (void)unused;
    static const enum algorithm listings[] = {ALGORITHM_STANDARD, ALGORITHM_ONLINE, ALGORITHM_FA1,
                                              ALGORITHM_FA2, ALGORITHM_DECODE};
    static const enum policy_id policies[] = {POLICY_FP32, POLICY_GPU_BF16, POLICY_GPU_FP16,
                                              POLICY_FP8};
    struct tally tally = {0};
    int rounds =
        getenv("FLASHULP_TESTS") != NULL && strcmp(getenv("FLASHULP_TESTS"), "full") == 0 ? 200 : 4;
    for (int n = 0; n < rounds * FAMILIES * (int)(COUNT(policies) * COUNT(listings)); n++) {
        uint64_t state = (uint64_t)n + 1;
        const struct family *family = &families[n % FAMILIES];
        enum algorithm listing = listings[n / FAMILIES % COUNT(listings)];
        enum policy_id policy = policies[n / FAMILIES / COUNT(listings) % COUNT(policies)];
        struct problem_options o = problem_defaults();
        struct audit_run run = {.simulation = simulation_default()};
        struct simulation *s = &run.simulation;
        struct message why;
        struct shape shape = {1, 2, 1, 1 + draw_below(&state, 3), 1 + draw_below(&state, 60), 4};
        char what[120];
        o.mask.causal = draw_below(&state, 2) == 1;
        o.softcap = draw_below(&state, 3) == 0 ? 2 : 0;
        s->algorithm = listing;
        s->policy = policy_table(policy);
        if (draw_below(&state, 3) == 0)
            assert_true(policy_set(&s->policy, "PARTIAL_OUT=bf16", &why));
        s->choices.Bc = listing == ALGORITHM_STANDARD || listing == ALGORITHM_ONLINE ? 0 : 8;
        s->choices.grouping.splits =
            listing == ALGORITHM_DECODE ? 1 + (int)draw_below(&state, 5) : 0;
        s->choices.merge = (enum merge)draw_below(&state, MERGE_COUNT);
        s->choices.sum_rounded = draw_below(&state, 2) == 1;
        s->choices.running_max = draw_below(&state, 2) == 1;
        draw_family(&run.problem, family, s->policy.site[SITE_INPUT].format, shape, &o, &state);
        snprintf(what, sizeof what, "n = %d: %s, %s, %s, %d keys", n, family->name,
                 algorithm_info(listing)->name, s->policy.name, (int)shape.Nk);
        bounded(&run, 1, what, &tally);
        problem_free(&run.problem);
    }
    printf("# note %lld outputs of listings, none outside; the nearest at %.2f of its bound\n",
           (long long)tally.outputs, tally.worst);
}

static void kernels_stay_inside(void **unused)
{
    (void)unused;
    static const char *const kernels[] = {"fa2@H200", "fa2@A100", "fa2-split@H200",
                                          "fa2-split@B200"};
    struct tally tally = {0};
    for (int n = 0; n < (int)(4 * COUNT(kernels) * FAMILIES); n++) {
        uint64_t state = (uint64_t)n + 1;
        const char *kernel = kernels[n % COUNT(kernels)];
        const struct family *family = &families[n / COUNT(kernels) % FAMILIES];
        struct problem_options o = problem_defaults();
        struct audit_run run = {.simulation = simulation_default()};
        struct simulation *s = &run.simulation;
        struct message why;
        bool decode = n % (int)COUNT(kernels) > 1;
        struct shape shape = {1,
                              2,
                              1,
                              decode ? 1 : 1 + draw_below(&state, 3),
                              decode ? 600 + draw_below(&state, 900) : 1 + draw_below(&state, 200),
                              32};
        draw_family(&run.problem, family, FORMAT_BF16, shape, &o, &state);
        s->is_kernel = true;
        if (!kernel_choose(&s->kernel, kernel, &why) ||
            !kernel_plan(&s->kernel, &run.problem, &why) ||
            !kernel_policy(&s->kernel, &run.problem, FORMAT_BF16, &s->policy, &why))
            fail_msg("%s: %s", kernel, why.text);
        char what[120];
        snprintf(what, sizeof what, "n = %d: %s, %s, %d keys", n, family->name, kernel,
                 (int)shape.Nk);
        bounded(&run, 1, what, &tally);
        problem_free(&run.problem);
    }
    printf("# note %lld outputs of FA2's kernels, none outside; the nearest at %.2f of its bound\n",
           (long long)tally.outputs, tally.worst);
}

/* One key of weight 1 and value 0, 4,096 of a weight just above (1 + 2^-8)/2, value 1: every weight
   rounds down by all that bf16 allows, so the bound before OUT is reached to a percent. */
static void the_bound_is_reached(void **unused)
{
    (void)unused;
    enum { KEYS = 4097 };
    char *scores = malloc(KEYS * 28), *values = malloc(KEYS * 4), *at = scores, *v = values;
    struct audit_run run = {.simulation = simulation_default()};
    struct message why;
    const char *reason;
    struct rounding_budget budget;
    struct result result;
    struct bound bound;
    struct truth truth;
    double rounded;
    enum format f = FORMAT_FP64;
    int64_t d = 0;
    for (int j = 0; j < KEYS; j++) {
        at += sprintf(at, "%.17g ", j == 0 ? 0 : log((1 + 0x1p-8) / 2) + 1e-9);
        v += sprintf(v, "%d ", j != 0);
    }
    assert_true(problem_from_scores(&run.problem, scores, values, &why));
    run.simulation.policy = policy_table(POLICY_EXACT);
    assert_true(policy_set(&run.simulation.policy, "PROB=bf16", &why));
    run.simulation.arith = &arith_double;
    assert_true(audit_budget(&run, &run.problem, &budget, &reason));
    assert_true(simulate(&run.problem, &run.simulation, &result, &why));
    struct head h = problem_head(&run.problem, 0);
    truth_row(&h, 0, &d, 1, &f, 1, &truth, &rounded);
    bound_budgets(&h, 0, &budget, &f, 1, &bound, NULL);
    double share =
        fabs(truth_error(&truth, result.O[0])) / (0x1p-8 / (1 + 0x1p-8) * truth.value[0]);
    double used = fabs(truth_error(&truth, result.O[0])) / bound.B;
    if (!(share > 0.99 && share <= 1 && used > 0.88 && used <= 1))
        fail_msg("%.4f of what the weights may do, %.4f of the bound", share, used);
    printf("# note the tight input reaches %.2f %% of what bf16 weights may do\n", 100 * share);
    result_free(&result);
    problem_free(&run.problem);
    free(scores);
    free(values);
}

/* A weight of 1.47 2^-24, which fp16 rounds to 2^-24, under a value of 60,000: a third of the output
   is lost, and the bound says so. */
static void subnormal_weights(void **unused)
{
    (void)unused;
    struct audit_run run = {.simulation = simulation_default()};
    struct tally tally = {0};
    struct message why;
    assert_true(problem_from_scores(&run.problem, "0 -16.25", "0 60000", &why));
    run.simulation.policy = policy_table(POLICY_GPU_FP16);
    bounded(&run, 1, "a subnormal weight", &tally);
    assert_true(tally.worst > 0.5);
    problem_free(&run.problem);
}

/* Names, and what becomes of them. */
static const struct named {
    const char *words, *what, *groups, *refusal;
} named[] = {
    {"h200-b200 --runs H200", "decode", "54 x 512", NULL},
    {"h200-b200 --runs B200", "decode", "62 x 448", NULL},
    {"h200-b200 --runs RTX-PRO-6000", "decode", "87 x 320", NULL},
    {"s2-g1 --runs fa2:fp32", "fa2", "", NULL},
    {"s2-g1 --runs decode+splits=2+tile=1;2", "decode", "2 x 4", NULL},
    {"s2-g1 --runs decode+splits=2+tile=1;2+grouping=round-robin", "decode", "2 in turn", NULL},
    {"s2-g1 --runs fa2@H200", "fa2", "", NULL},
    {"s2-g1 --runs fa2-split@B200", "fa2-split", "1 x 256", NULL},
    {"s2-g1 --runs fa3", NULL, NULL, "did you mean"},
    {"s2-g1 --runs fa2:gpu-bf17", NULL, NULL, "gpu-bf16"},
    {"s2-g1 --runs SM120", NULL, NULL, "SM120"},
    {"s2-g1 --runs o.h200", NULL, NULL, "has no such output"},
    {"s2-g1 --runs fa2,fa2", NULL, NULL, "names fa2 twice"},
    {"s2-g1 --runs fa2+splits", NULL, NULL, "NAME=VALUE is right"},
    {"s2-g1 --runs ,fa2", NULL, NULL, "names separated by commas"},
    {"s2-g1 --runs fa2:fp8", NULL, NULL, "--dtype e4m3 is right"},
    {"s2-g1 --runs file:no-such-file.npy", NULL, NULL, "no-such-file.npy"},
};

static void runs_by_name(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(named); i++) {
        const struct named *row = &named[i];
        struct scenario s;
        struct audit a;
        struct message why;
        char text[200], *argv[16];
        int argc = 0;
        snprintf(text, sizeof text, "%s", row->words);
        for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
            argv[argc++] = word;
        assert_true(
            scenario_parse(&s, "audit", GROUP_PROBLEM | GROUP_RUN | GROUP_AUDIT, argc, argv, &why));
        bool ok = audit_new(&a, &s, &why);
        if (ok != (row->refusal == NULL) || (!ok && strstr(why.text, row->refusal) == NULL))
            fail_msg("%s: %s", row->words, ok ? "taken" : why.text);
        if (ok &&
            (strcmp(a.run[0].what, row->what) != 0 || strcmp(a.run[0].groups, row->groups) != 0))
            fail_msg("%s: %s, %s", row->words, a.run[0].what, a.run[0].groups);
        audit_free(&a);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listings_stay_inside), cmocka_unit_test(kernels_stay_inside),
        cmocka_unit_test(the_bound_is_reached), cmocka_unit_test(subnormal_weights),
        cmocka_unit_test(runs_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
