/* test_bounds_gradient.c: the bound of the gradients: FlashAttention-2's backward pass stays inside
   it around the certified gradients, comes near it, and with one site too narrow leaves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/bounds.h"
#include "reference/truth.h"
#include "simulator/gradient.h"
#include "tests/random_problem.h"

enum { MOST = 20000 };

static const struct row {
    const char *what;
    enum policy_id policy;
    struct shape shape;
    bool causal;
    double size, scale; /* of q and k; 0: 1 / sqrt(D) */
    const char *order; /* of the tensor core's sums, or NULL */
} rows[] = {
    {"bf16", POLICY_GPU_BF16, {1, 1, 1, 20, 40, 8}, false, 1, 0, NULL},
    {"fp16, two heads", POLICY_GPU_FP16, {1, 2, 1, 9, 37, 8}, true, 1, 0, NULL},
    {"flat scores", POLICY_GPU_BF16, {1, 1, 1, 12, 30, 4}, false, 0.1, 0, NULL},
    {"large scores", POLICY_GPU_BF16, {1, 1, 1, 12, 30, 4}, true, 2, 3, NULL},
    {"large scores, fp16", POLICY_GPU_FP16, {1, 4, 2, 6, 20, 4}, false, 2, 2, NULL},
    {"one key", POLICY_GPU_BF16, {1, 1, 1, 5, 1, 4}, false, 1, 0, NULL},
    {"queries that see nothing", POLICY_GPU_FP16, {1, 1, 1, 9, 4, 4}, true, 1, 0, NULL},
    {"small gradients, fp16", POLICY_GPU_FP16, {1, 1, 1, 8, 30, 4}, false, 0.01, 0.001, NULL},
    {"sums of sm80", POLICY_GPU_BF16, {1, 1, 1, 20, 48, 16}, false, 1, 0, "mma@sm80"},
    {"sums of sm90", POLICY_GPU_BF16, {1, 1, 1, 20, 48, 16}, true, 1, 0, "mma@sm90"},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct work {
    struct problem p;
    struct tensor dO;
    struct simulation s;
    struct rounding_budget budget;
    enum format f;
};

static void draw_work(struct work *w, const struct row *x, uint64_t seed)
{
    static const char *const sums[] = {"SCORE_ACC", "OUT_ACC", "DP_ACC",
                                       "DQ_ACC",    "DK_ACC",  "DV_ACC"};
    struct problem_options o = problem_defaults();
    struct message why;
    char words[64];
    o.mask.causal = x->causal;
    w->f = x->policy == POLICY_GPU_FP16 ? FORMAT_FP16 : FORMAT_BF16;
    w->s = simulation_default();
    w->s.policy = policy_table(x->policy);
    w->s.choices.Br = w->s.choices.Bc = 16;
    assert_true(draw_problem(&w->p, w->f, x->shape, x->size, &o, &seed));
    assert_true(
        draw_tensor(&w->dO, w->f, x->shape.B, x->shape.Hq, x->shape.Nq, x->shape.D, 1, &seed));
    if (x->scale > 0)
        w->p.scale = (struct scale){x->scale, 1};
    w->budget = rounding_budget_fp32(w->f, x->shape.Nk, x->shape.Nk / 16 + 1);
    for (size_t n = 0; n < 6 && x->order != NULL; n++) {
        snprintf(words, sizeof words, "%s=%s", sums[n], x->order);
        assert_true(policy_order(&w->s.policy, words, &why));
        w->budget.step = 0x5p-23; /* of eight or sixteen terms at once: bounds.h */
        w->budget.step_terms = 4;
    }
}

static void work_free(struct work *w)
{
    tensor_free(&w->dO);
    problem_free(&w->p);
}

/* The largest |error| / bound of the group's gradients; *above: how many are outside. */
static double nearest(const struct work *w, int64_t group, const double *const got[3], int *above)
{
    static struct gradient_place at[MOST];
    static struct truth truth[MOST];
    static double bound[3][MOST];
    int64_t heads = w->p.Hq / w->p.Hkv, count[3] = {heads * w->p.Nq * w->p.D, w->p.Nk * w->p.D,
                                                    w->p.Nk * w->p.D};
    double worst = 0;
    bound_gradients(&w->p, group, &w->dO, &w->budget, w->f, bound[0], bound[1], bound[2]);
    for (int which = 0; which < 3; which++) {
        for (int64_t i = 0; i < count[which]; i++) {
            int64_t n = i / w->p.D, row = which == GRADIENT_Q ? n % w->p.Nq : n;
            at[i] = (struct gradient_place){(enum gradient)which,
                                            which == GRADIENT_Q ? n / w->p.Nq : 0, row, i % w->p.D};
        }
        truth_gradients(&w->p, group, &w->dO, at, (int)count[which], truth);
        for (int64_t i = 0; i < count[which]; i++) {
            double error = fabs(truth_error(&truth[i], got[which][group * count[which] + i]));
            bool inside = error <= bound[which][i];
            *above += !inside;
            worst = error > 0 ? fmax(worst, error / bound[which][i]) : worst;
        }
    }
    return worst;
}

/* Of all groups. */
static double run(const struct work *w, int *above)
{
    struct gradients g;
    struct message why;
    double worst = 0;
    *above = 0;
    assert_true(simulate_gradients(&w->p, &w->dO, &w->s, &g, &why));
    for (int64_t group = 0; group < w->p.Hkv; group++)
        worst = fmax(worst, nearest(w, group, (const double *const[]){g.dQ, g.dK, g.dV}, above));
    gradients_free(&g);
    return worst;
}

static void gradients_stay_inside(void **unused)
{
    (void)unused;
    for (int n = 0; n < ROWS; n++) {
        double worst = 0;
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct work w;
            int above;
            draw_work(&w, &rows[n], seed);
            worst = fmax(worst, run(&w, &above));
            if (above > 0)
                fail_msg("%s, seed %d: %d gradients outside the bound", rows[n].what, (int)seed,
                         above);
            work_free(&w);
        }
        assert_true(worst > 0.25); /* it says something */
        printf("# note %-26s nearest %.3f of the bound\n", rows[n].what, worst);
    }
}

/* A site that holds too little, in the first row. */
static const char *const narrow[] = {
    "SCORE_ACC=bf16", "LSE=bf16",    "EXP=e4m3",       "PROB=e4m3",   "DELTA=e4m3",
    "DP_ACC=e4m3",    "DS=e4m3",     "DQ_ACC=e4m3",    "DQ_SUM=e4m3", "DK_ACC=e4m3",
    "DV_ACC=bf16",    "DS_PRODUCT=e4m3", "DP_SHIFT=e4m3", "GRADIENT_SCALE=e4m3",
};

static void a_narrow_site_leaves_it(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < sizeof narrow / sizeof *narrow; n++) {
        struct work w;
        struct message why;
        int above;
        draw_work(&w, &rows[0], 1);
        assert_true(policy_set(&w.s.policy, narrow[n], &why));
        double worst = run(&w, &above);
        if (above == 0)
            fail_msg("%s: every gradient is inside the bound, at %.3f of it", narrow[n], worst);
        work_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_stay_inside),
        cmocka_unit_test(a_narrow_site_leaves_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
