/* test_kernel_backward.c: the model of FlashAttention-2's backward kernels against its flat judge,
   bit for bit: head sizes, units, masks, ragged tails, both 16-bit types; and in exact arithmetic
   against the exact gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "reference/exact_gradients.h"
#include "simulator/gradient.h"
#include "tests/oracle_fa2_backward.h"
#include "tests/random_problem.h"

static const struct kernel_row {
    const char *device;
    enum oracle_unit unit;
    int D, Nq, Nk;
    bool causal;
    int left, right;
    enum format f;
    int copies;
    bool full;    /* too long for a quick run */
    double level; /* added to V: dP and D nearly cancel, and D's own rounding shows */
} rows[] = {
    {"A100", ORACLE_SM80, 32, 37, 150, false, -1, -1, FORMAT_BF16, 1, false, 0},
    {"H200", ORACLE_SM90, 32, 140, 133, true, -1, -1, FORMAT_BF16, 2, false, 0},
    {"H200", ORACLE_SM90, 64, 130, 150, false, 20, 7, FORMAT_FP16, 1, false, 0},
    {"L40S", ORACLE_SM89, 64, 70, 140, true, -1, -1, FORMAT_BF16, 1, false, 0},
    {"A100", ORACLE_SM80, 96, 65, 33, false, -1, -1, FORMAT_FP16, 1, false, 0},
    {"H200", ORACLE_SM90, 128, 70, 130, true, -1, -1, FORMAT_BF16, 1, false, 0},
    {"RTX-4090", ORACLE_SM89, 128, 66, 70, true, 30, -1, FORMAT_BF16, 2, true, 0},
    {"H200", ORACLE_SM90, 192, 66, 70, false, -1, -1, FORMAT_BF16, 1, true, 0},
    {"A100", ORACLE_SM80, 256, 66, 70, true, -1, -1, FORMAT_BF16, 1, true, 0},
    {"RTX-5090", ORACLE_SM120, 256, 66, 70, true, -1, -1, FORMAT_BF16, 3, true, 0},
    {"H200", ORACLE_SM90, 64, 64, 128, false, -1, -1, FORMAT_BF16, 1, false, 64},
    {"A100", ORACLE_SM80, 32, 128, 256, false, -1, -1, FORMAT_BF16, 1, false, 126},
    {"H200", ORACLE_SM90, 32, 5, 3, true, -1, -1, FORMAT_BF16, 1, false, 0}, /* queries that see nothing */
    {"H200", ORACLE_SM90, 32, 1, 1, false, -1, -1, FORMAT_BF16, 1, false, 0},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool full(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

struct work {
    struct problem p;
    struct tensor dO;
    struct simulation s;
};

static void draw_work(struct work *w, const struct kernel_row *x, int64_t heads, uint64_t seed)
{
    struct problem_options o = problem_defaults();
    struct message why;
    char name[64];
    uint64_t state = seed;
    const struct shape shape = {1, heads, 1, x->Nq, x->Nk, x->D};
    o.mask = (struct mask){x->causal, ALIGN_BOTTOM_RIGHT, x->left, x->right};
    snprintf(name, sizeof name, "fa2-bwd@%s", x->device);
    w->s = simulation_default();
    w->s.is_kernel = true;
    assert_true(draw_problem(&w->p, x->f, shape, 1, &o, &state));
    assert_true(draw_tensor(&w->dO, x->f, 1, heads, x->Nq, x->D, 1, &state));
    for (int64_t i = 0; i < (int64_t)x->Nk * x->D; i++) {
        double v = tensor_get(&w->p.v, 0, 0, i / x->D, i % x->D) + x->level;
        tensor_set(&w->p.v, 0, 0, i / x->D, i % x->D, format_round(x->f, v, true));
    }
    if (!kernel_choose(&w->s.kernel, name, &why) ||
        !kernel_takes(&w->s.kernel, &w->p, x->f, &why) ||
        !kernel_policy(&w->s.kernel, &w->p, x->f, &w->s.policy, &why))
        fail_msg("%s", why.text);
    w->s.forward = kernel_forward(&w->s.kernel);
    w->s.choices.dq_copies = x->copies;
}

static void work_free(struct work *w)
{
    tensor_free(&w->dO);
    problem_free(&w->p);
}

static float *plain(const struct tensor *t, int64_t head, int64_t N, int64_t D)
{
    float *x = calloc((size_t)(N * D) + 1, sizeof *x);
    for (int64_t i = 0; i < N * D; i++)
        x[i] = (float)tensor_get(t, 0, head, i / D, i % D);
    return x;
}

static void same(const struct kernel_row *x, const char *name, const double *got, const float *want,
                 int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!((float)got[i] == want[i] && signbit((float)got[i]) == signbit(want[i])))
            fail_msg("%s D %d %dx%d causal %d: %s[%d][%d] = %a, judge %a", x->device, x->D, x->Nq,
                     x->Nk, x->causal, name, (int)(i / x->D), (int)(i % x->D), got[i], want[i]);
}

static void judge(const struct kernel_row *x, uint64_t seed)
{
    struct work w;
    struct gradients g;
    struct message why;
    int64_t queries = x->Nq * x->D, keys = x->Nk * x->D;
    draw_work(&w, x, 1, seed);
    if (!simulate_gradients(&w.p, &w.dO, &w.s, &g, &why))
        fail_msg("%s", why.text);
    struct kernel_case c = {.rows = x->Nq, .keys = x->Nk, .dim = x->D,
                            .type = x->f == FORMAT_FP16 ? ORACLE_FP16 : ORACLE_BF16,
                            .scale_value = 1, .scale_root = x->D, .unit = x->unit,
                            .causal = x->causal, .left = x->left, .right = x->right};
    float *q = plain(&w.p.q, 0, x->Nq, x->D), *k = plain(&w.p.k, 0, x->Nk, x->D);
    float *v = plain(&w.p.v, 0, x->Nk, x->D), *dO = plain(&w.dO, 0, x->Nq, x->D);
    float *O = calloc((size_t)(2 * queries + x->Nq) + 1, sizeof *O), *dQ = O + queries;
    float *lse = dQ + queries, *dK = calloc((size_t)(2 * keys) + 1, sizeof *dK), *dV = dK + keys;
    c.q = q;
    c.k = k;
    c.v = v;
    for (int64_t i = 0; i < queries; i++)
        O[i] = (float)g.forward.O[i];
    for (int64_t i = 0; i < x->Nq; i++)
        lse[i] = (float)g.forward.lse[i];
    oracle_fa2_backward(&c, dO, O, lse, x->copies, dQ, dK, dV);
    same(x, "dQ", g.dQ, dQ, queries);
    same(x, "dK", g.dK, dK, keys);
    same(x, "dV", g.dV, dV, keys);
    free(q);
    free(k);
    free(v);
    free(dO);
    free(O);
    free(dK);
    gradients_free(&g);
    work_free(&w);
}

static void equals_judge(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < COUNT(rows); n++)
        if (full() || !rows[n].full)
            judge(&rows[n], 100 + n);
}

/* Each head's dK and dV are rounded before the group's sum. */
static void group_of_rounded_heads(void **unused)
{
    (void)unused;
    static const struct kernel_row x = {"H200", ORACLE_SM90, 32, 20, 40, true, -1, -1, FORMAT_BF16, 1, false, 0};
    struct work w;
    struct gradients g, wide;
    struct message why;
    int differ = 0;
    draw_work(&w, &x, 4, 9);
    assert_true(w.s.policy.site[SITE_HEAD_GRADIENT].format == FORMAT_BF16);
    assert_true(w.s.policy.site[SITE_GROUP_SUM].format == FORMAT_FP32);
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &g, &why));
    w.s.policy.site[SITE_HEAD_GRADIENT].format = FORMAT_FP32;
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &wide, &why));
    for (int i = 0; i < 40 * 32; i++)
        differ += g.dK[i] != wide.dK[i];
    printf("# note %d of %d dK differ when heads are rounded before a group's sum\n", differ, 40 * 32);
    assert_true(differ > 0 && differ < 40 * 32);
    gradients_free(&g);
    gradients_free(&wide);
    work_free(&w);
}

/* The same verbs without rounding are the gradients. */
static void exact_in_real_numbers(void **unused)
{
    (void)unused;
    static const struct kernel_row x = {"H200", ORACLE_SM90, 32, 6, 9, true, -1, -1, FORMAT_BF16, 1, false, 0};
    struct work w;
    struct run r;
    struct message why;
    struct exact_gradients want;
    draw_work(&w, &x, 1, 10);
    w.s.policy = policy_all_exact(&w.s.policy);
    w.s.arith = &arith_mpfr;
    assert_true(run_new(&r, w.s.arith, &w.s.policy, 256, &why));
    struct head h = problem_head(&w.p, 0);
    struct attention a = simulate_head(&r, &w.s, &h);
    simulate_backward(&r, &w.s, &a, &w.dO);
    sum_group(&r, &a, 1);
    exact_gradients_new(&want, &h, 1, 320);
    exact_gradients_add(&want, &h, &w.dO);
    const struct tile *got[] = {a.dQ, a.dK, a.dV};
    mpfr_t *truth[] = {want.dQ, want.dK, want.dV}, *size[] = {want.dQ_size, want.dK_size, want.dV_size};
    mpfr_t error, bound;
    mpfr_inits2(64, error, bound, (mpfr_ptr)0);
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < got[n]->rows * got[n]->cols; i++) {
            const mpfr_t *y = got[n]->data;
            mpfr_sub(error, y[i], truth[n][i], MPFR_RNDA);
            mpfr_mul_2si(bound, size[n][i], -200, MPFR_RNDN);
            assert_true(mpfr_number_p(error) && mpfr_cmpabs(error, bound) <= 0);
        }
    mpfr_clears(error, bound, (mpfr_ptr)0);
    exact_gradients_free(&want);
    run_free(&r);
    work_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_judge),
        cmocka_unit_test(group_of_rounded_heads),
        cmocka_unit_test(exact_in_real_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
