/* test_backward.c: the backward listing against its scalar oracle, bit for bit, in every arithmetic
   and policy; in exact arithmetic against the exact gradients, to 2^-200 of what is summed. */
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
#include "tests/flat_head.h"
#include "tests/oracle_backward.h"
#include "tests/random_problem.h"

enum { PRECISION = 256, TRUTH = 320, AGREE = -200 };

static const struct mask_row {
    const char *name;
    bool causal, top_left;
    int64_t left, right;
    double softcap, scale; /* scale 0: the default */
} masks[] = {
    {"all", false, false, -1, -1, 0, 0},        {"causal", true, false, -1, -1, 0, 0},
    {"top-left", true, true, -1, -1, 0, 0},     {"window", false, false, 2, 1, 0, 0},
    {"one key", false, false, 0, 0, 0, 0},      {"causal window", true, false, 3, 0, 0, -0.75},
    {"softcap", false, false, -1, -1, 1.5, 0},  {"causal softcap", true, false, -1, -1, 5, 0},
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 7, 3}, {1, 1, 1, 5, 5, 4},   {1, 1, 1, 9, 4, 2},
    {1, 1, 1, 4, 9, 3}, {2, 4, 2, 3, 11, 2}, {1, 3, 1, 6, 13, 2}, {1, 1, 1, 3, 0, 2},
    {1, 2, 1, 0, 3, 2},
};

static const struct tiling {
    int Br, Bc;
} tilings[] = {{1, 1}, {2, 3}, {4, 4}, {3, 8}, {16, 16}, {7, 2}};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool full(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

static struct problem_options options_of(const struct mask_row *m)
{
    struct problem_options o = problem_defaults();
    o.mask = (struct mask){m->causal, m->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT, m->left,
                           m->right};
    o.softcap = m->softcap;
    o.scale_given = m->scale != 0;
    o.scale = m->scale;
    return o;
}

/* One case: a problem, its dO and how it is run. */
struct work {
    struct problem p;
    struct tensor dO;
    struct simulation s;
    enum policy_id policy;
    char what[240];
};

static const enum algorithm forwards[] = {ALGORITHM_FA2, ALGORITHM_FA1, ALGORITHM_STANDARD,
                                          ALGORITHM_ONLINE, ALGORITHM_SPLITQ, ALGORITHM_SPLITK};

static void draw_work(struct work *w, enum policy_id policy, const struct arithmetic *arith,
                      const struct mask_row *m, const struct shape *shape, uint64_t *state)
{
    const struct tiling *t = &tilings[draw_below(state, COUNT(tilings))];
    struct problem_options options = options_of(m);
    enum format f = policy_table(policy).site[SITE_INPUT].format;
    double size = draw_below(state, 4) == 0 ? (policy == POLICY_EXACT ? 40 : 5) : 1;
    w->s = simulation_default();
    w->s.algorithm = forwards[draw_below(state, COUNT(forwards))];
    w->s.policy = policy_table(policy);
    w->s.arith = arith;
    w->s.choices = (struct choices){.Br = t->Br, .Bc = t->Bc};
    w->s.choices.dq_copies = (int)draw_below(state, 4);
    w->s.choices.warps = 1 + (int)draw_below(state, 9);
    f = f == FORMAT_EXACT ? FORMAT_FP32 : f;
    w->policy = policy;
    for (int n = 0; n < 3 && policy != POLICY_EXACT; n++) { /* tells the sites apart */
        static const enum format other[] = {FORMAT_BF16, FORMAT_FP16, FORMAT_TF32, FORMAT_FP32_FTZ};
        enum site site = SITE_DELTA + (int)draw_below(state, SITE_COUNT - SITE_DELTA);
        w->s.policy.site[site].format = other[draw_below(state, COUNT(other))];
    }
    snprintf(w->what, sizeof w->what,
             "%s %s %s %s, %lldx%lld heads, %lldx%lldx%lld, tile %d,%d, copies %d, warps %d",
             algorithm_info(w->s.algorithm)->name, w->s.policy.name, arith->name, m->name,
             (long long)shape->Hq, (long long)shape->Hkv, (long long)shape->Nq,
             (long long)shape->Nk, (long long)shape->D, t->Br, t->Bc, w->s.choices.dq_copies,
             w->s.choices.warps);
    assert_true(draw_problem(&w->p, f, *shape, size, &options, state));
    assert_true(draw_tensor(&w->dO, f, shape->B, shape->Hq, shape->Nq, shape->D, 1, state));
}

static void work_free(struct work *w)
{
    tensor_free(&w->dO);
    problem_free(&w->p);
}

static void same_numbers(const struct work *w, const char *name, const double *got,
                         const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!same_number(got[i], want[i]))
            fail_msg("%s: %s[%lld] = %a, oracle %a", w->what, name, (long long)i, got[i], want[i]);
}

static void oracle_formats(const struct work *w, struct oracle *o)
{
    oracle_policy(o, policy_name(w->policy));
    for (int n = 0; n < SITE_COUNT; n++)
        o->site[n] = w->s.policy.site[n].format;
}

/* The oracle's view of a unit: its dQ is compared, its dK and dV left for the group's sum. */
static void judge_unit(const struct work *w, const struct gradients *g, int64_t unit, int64_t row,
                       double *dK, double *dV)
{
    struct head h = problem_head(&w->p, unit);
    struct choices c = simulation_choices(&w->s, &h);
    struct flat f;
    int64_t D = h.D, at = (h.batch * w->p.Hq + h.head) * w->p.Nq + h.q0;
    flatten(&f, &h);
    struct oracle o = {.Nq = h.Nq, .Nk = h.Nk, .D = D, .q = f.q, .k = f.k, .v = f.v,
                       .scale_value = w->p.scale.value, .scale_root = w->p.scale.root,
                       .softcap = w->p.softcap, .lo = f.lo, .hi = f.hi, .row_tile = c.Br,
                       .tile = c.Bc};
    oracle_formats(w, &o);
    double *dO = calloc((size_t)(2 * h.Nq * D + h.Nq) + 1, sizeof *dO), *dQ = dO + h.Nq * D;
    for (int64_t r = 0; r < h.Nq; r++)
        tensor_row(&w->dO, h.batch, h.head, h.q0 + r, D, dO + r * D);
    struct oracle_gradient given = {&o, dO, g->forward.O + row * D, g->forward.lse + row,
                                    c.dq_copies > 0 ? c.dq_copies : 1,
                                    w->s.algorithm == ALGORITHM_SPLITK ? c.warps : 0};
    oracle_backward(&given, dQ, dK, dV, dQ + h.Nq * D);
    same_numbers(w, "dQ", g->dQ + at * D, dQ, h.Nq * D);
    same_numbers(w, "sum dS", g->dS_sum + at, dQ + h.Nq * D, h.Nq);
    free(dO);
    flat_free(&f);
}

static void judge_group(const struct work *w, const struct gradients *g, int64_t first, int64_t row)
{
    enum { MOST = 8 };
    struct head h = problem_head(&w->p, first);
    int64_t G = w->p.Hq / w->p.Hkv, n = h.Nk * h.D;
    int64_t at = ((h.batch * w->p.Hkv + h.kv_head) * w->p.Nk + h.k0) * h.D;
    double *dK[MOST], *dV[MOST], *sum = calloc((size_t)n + 1, sizeof *sum);
    struct oracle o;
    oracle_formats(w, &o);
    for (int64_t i = 0; i < G; i++) {
        dK[i] = calloc((size_t)n + 1, sizeof *dK[i]);
        dV[i] = calloc((size_t)n + 1, sizeof *dV[i]);
        judge_unit(w, g, first + i, row + i * h.Nq, dK[i], dV[i]);
    }
    oracle_group(&o, (const double *const *)dK, (int)G, n, sum);
    same_numbers(w, "dK", g->dK + at, sum, n);
    oracle_group(&o, (const double *const *)dV, (int)G, n, sum);
    same_numbers(w, "dV", g->dV + at, sum, n);
    for (int64_t i = 0; i < G; i++) {
        free(dK[i]);
        free(dV[i]);
    }
    free(sum);
}

static void judge(const struct work *w)
{
    struct gradients g;
    struct message why;
    int64_t row = 0, G = w->p.Hq / w->p.Hkv;
    if (!simulate_gradients(&w->p, &w->dO, &w->s, &g, &why))
        fail_msg("%s: %s", w->what, why.text);
    for (int64_t n = 0; n < problem_units(&w->p); n += G) {
        judge_group(w, &g, n, row);
        row += G * problem_head(&w->p, n).Nq;
    }
    gradients_free(&g);
}

static void equals_oracle(const struct arithmetic *arith, int rounds, uint64_t seed)
{
    for (int policy = 0; policy < POLICY_EXACT; policy++)
        for (int n = 0; n < rounds; n++) {
            uint64_t state = seed + (uint64_t)(policy * 10000 + n);
            struct work w;
            draw_work(&w, (enum policy_id)policy, arith, &masks[draw_below(&state, COUNT(masks))],
                      &shapes[draw_below(&state, COUNT(shapes))], &state);
            w.s.precision = 53; /* what PV_PRODUCT exact does not ask for */
            judge(&w);
            work_free(&w);
        }
}

static void equals_oracle_float(void **unused)
{
    (void)unused;
    equals_oracle(arith_float(), full() ? 1000 : 60, 1);
}

static void equals_oracle_double(void **unused)
{
    (void)unused;
    equals_oracle(&arith_double, full() ? 400 : 20, 2);
}

static void equals_oracle_mpfr(void **unused)
{
    (void)unused;
    equals_oracle(&arith_mpfr, full() ? 200 : 10, 3);
}

static void within(const struct work *w, const char *name, const struct tile *got,
                   const mpfr_t *want, const mpfr_t *size)
{
    const mpfr_t *x = got->data;
    mpfr_t error, bound;
    mpfr_inits2(64, error, bound, (mpfr_ptr)0);
    for (int64_t i = 0; i < (int64_t)got->rows * got->cols; i++) {
        mpfr_sub(error, x[i], want[i], MPFR_RNDA);
        mpfr_mul_2si(bound, size[i], AGREE, MPFR_RNDN);
        if (mpfr_nan_p(error) || mpfr_cmpabs(error, bound) > 0) {
            mpfr_printf("# got %.70Ra\n# not %.70Ra\n", x[i], want[i]);
            fail_msg("%s: %s[%d] is not the gradient", w->what, name, (int)i);
        }
    }
    mpfr_clears(error, bound, (mpfr_ptr)0);
}

/* Without softcap sum dS = 0: what is left is the arithmetic's own rounding, of the order of sum P |dP|. */
static void sums_vanish(const struct work *w, const struct attention *x)
{
    const mpfr_t *z = x->dS_sum->data;
    for (int r = 0; r < x->dS_sum->rows && w->p.softcap == 0; r++)
        if (!mpfr_zero_p(z[r]) && mpfr_get_exp(z[r]) > AGREE)
            fail_msg("%s: sum dS of row %d is %g", w->what, r, mpfr_get_d(z[r], MPFR_RNDN));
}

/* A group in exact arithmetic against the definition. */
static int64_t prove_group(const struct work *w, struct run *r, int64_t first)
{
    enum { MOST = 8 };
    struct attention x[MOST];
    struct head h[MOST];
    struct exact_gradients want;
    int G = (int)(w->p.Hq / w->p.Hkv);
    h[0] = problem_head(&w->p, first);
    exact_gradients_new(&want, &h[0], 1, TRUTH);
    for (int n = 0; n < G; n++) {
        h[n] = problem_head(&w->p, first + n);
        x[n] = simulate_head(r, &w->s, &h[n]);
        simulate_backward(r, &w->s, &x[n], &w->dO);
        exact_gradients_add(&want, &h[n], &w->dO);
        within(w, "dQ", x[n].dQ, want.dQ, want.dQ_size);
        sums_vanish(w, &x[n]);
    }
    sum_group(r, x, G);
    within(w, "dK", x->dK, want.dK, want.dK_size);
    within(w, "dV", x->dV, want.dV, want.dV_size);
    exact_gradients_free(&want);
    run_reset(r);
    return G * h->Nq * h->D + 2 * h->Nk * h->D;
}

static int64_t prove(const struct work *w)
{
    struct run r;
    struct message why;
    int64_t proved = 0;
    assert_true(run_new(&r, w->s.arith, &w->s.policy, PRECISION, &why));
    for (int64_t n = 0; n < problem_units(&w->p); n += w->p.Hq / w->p.Hkv)
        proved += prove_group(w, &r, n);
    run_free(&r);
    return proved;
}

static void exact_on_every_mask(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    int64_t proved = 0;
    for (int round = 0; round < (full() ? 20 : 2); round++)
        for (size_t m = 0; m < COUNT(masks); m++)
            for (size_t n = 0; n < COUNT(shapes); n++) {
                struct work w;
                draw_work(&w, POLICY_EXACT, &arith_mpfr, &masks[m], &shapes[n], &state);
                proved += prove(&w);
                work_free(&w);
            }
    printf("# note %lld gradients within 2^%d of the definition\n", (long long)proved, AGREE);
}

/* Packed sequences, two of them empty on one side. */
static void exact_when_packed(void **unused)
{
    (void)unused;
    static const int64_t cu_q[] = {0, 3, 3, 4, 9}, cu_k[] = {0, 5, 7, 7, 14};
    static const struct shape packed = {1, 4, 2, 9, 14, 2};
    uint64_t state = 5;
    for (size_t m = 0; m < COUNT(masks); m++) {
        struct work w;
        draw_work(&w, POLICY_EXACT, &arith_mpfr, &masks[m], &packed, &state);
        w.p.cu_q = (int64_t *)cu_q;
        w.p.cu_k = (int64_t *)cu_k;
        w.p.sequences = 4;
        prove(&w);
        w.policy = POLICY_GPU_BF16;
        w.s.policy = policy_table(w.policy);
        w.s.arith = arith_float();
        judge(&w);
        w.p.cu_q = w.p.cu_k = NULL;
        work_free(&w);
    }
}

/* Two query heads share K = V = [0, 1]; q = 1 and 2, scale 1, dO = 1. */
static void worked_group(void **unused)
{
    (void)unused;
    struct work w = {.s = simulation_default(), .what = "worked group"};
    struct problem_options o = problem_defaults();
    struct tensor q, k, v;
    struct message why;
    struct gradients g;
    o.scale_given = true;
    o.scale = 1;
    assert_true(tensor_new(&q, FORMAT_FP64, 4, (int64_t[]){1, 2, 1, 1}, &why));
    assert_true(tensor_new(&k, FORMAT_FP64, 4, (int64_t[]){1, 1, 2, 1}, &why));
    assert_true(tensor_new(&v, FORMAT_FP64, 4, (int64_t[]){1, 1, 2, 1}, &why));
    assert_true(tensor_new(&w.dO, FORMAT_FP64, 4, (int64_t[]){1, 2, 1, 1}, &why));
    for (int n = 0; n < 2; n++) {
        tensor_set(&q, 0, n, 0, 0, n + 1);
        tensor_set(&k, 0, 0, n, 0, n);
        tensor_set(&v, 0, 0, n, 0, n);
        tensor_set(&w.dO, 0, n, 0, 0, 1);
    }
    assert_true(problem_new(&w.p, &q, &k, &v, &o, &why));
    w.s.policy = policy_table(POLICY_EXACT);
    w.s.arith = &arith_mpfr;
    prove(&w);
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &g, &why));
    static const double dV[] = {0.3881443, 1.6118557}, dQ[] = {0.1966119, 0.1049936};
    for (int n = 0; n < 2; n++) {
        assert_true(fabs(g.dV[n] - dV[n]) < 1e-7);
        assert_true(fabs(g.dQ[n] - dQ[n]) < 1e-7);
        assert_true(fabs(g.dK[n] - (2 * n - 1) * 0.4065991) < 1e-7);
    }
    gradients_free(&g);
    work_free(&w);
}

/* NaN and infinity in keys and values that no query sees reach nothing. */
static void unseen_reaches_nothing(void **unused)
{
    (void)unused;
    static const struct shape shape = {1, 1, 1, 2, 5, 2};
    static const double poisons[] = {NAN, INFINITY, -INFINITY};
    for (size_t n = 0; n < COUNT(poisons); n++) {
        struct work w;
        struct gradients clean, poisoned;
        struct message why;
        uint64_t state = 9;
        draw_work(&w, POLICY_GPU_BF16, arith_float(), &masks[4], &shape, &state);
        assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &clean, &why));
        for (int64_t c = 0; c < 3; c++) { /* keys 3 and 4 are seen */
            tensor_set(&w.p.k, 0, 0, c, 1, poisons[n]);
            tensor_set(&w.p.v, 0, 0, c, 0, poisons[n]);
        }
        assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &poisoned, &why));
        assert_true(clean.digest == poisoned.digest);
        gradients_free(&clean);
        gradients_free(&poisoned);
        work_free(&w);
    }
}

/* In bf16 sum dS is not 0: reported, and of the size that rounding dS allows. */
static void sum_of_score_gradients(void **unused)
{
    (void)unused;
    static const struct shape shape = {1, 1, 1, 64, 64, 16};
    struct work w;
    struct gradients g;
    struct message why;
    uint64_t state = 11;
    double worst = 0;
    draw_work(&w, POLICY_GPU_BF16, arith_float(), &masks[0], &shape, &state);
    w.s.policy = policy_table(POLICY_GPU_BF16);
    w.s.choices = (struct choices){.Br = 16, .Bc = 16};
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &g, &why));
    for (int64_t r = 0; r < 64; r++)
        worst = fabs(g.dS_sum[r]) > worst ? fabs(g.dS_sum[r]) : worst;
    printf("# note |sum dS| up to %.3g in gpu-bf16, 0 in exact arithmetic\n", worst);
    assert_true(worst > 1e-5 && worst < 0.2);
    gradients_free(&g);
    work_free(&w);
}

/* Shared out by rows no sum is cut; by keys dQ's are, and dK's and dV's are not. */
static void warps_and_bits(void **unused)
{
    (void)unused;
    static const struct shape shape = {1, 2, 1, 21, 37, 12};
    static const enum algorithm by[] = {ALGORITHM_FA2, ALGORITHM_SPLITQ, ALGORITHM_SPLITK};
    struct work w;
    struct gradients g[3];
    struct message why;
    uint64_t state = 13;
    int64_t queries = 2 * 21 * 12, keys = 37 * 12, differ = 0;
    draw_work(&w, POLICY_FP32, arith_float(), &masks[1], &shape, &state);
    w.s.policy = policy_table(POLICY_FP32);
    w.s.choices = (struct choices){.Br = 8, .Bc = 16, .warps = 4};
    for (int n = 0; n < 3; n++) {
        w.s.algorithm = by[n];
        assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &g[n], &why));
    }
    assert_true(g[0].digest == g[1].digest);
    same_numbers(&w, "dV", g[1].dV, g[0].dV, keys);
    for (int64_t i = 0; i < queries; i++)
        differ += g[2].dQ[i] != g[0].dQ[i];
    assert_true(differ > queries / 4);
    printf("# note warps that share keys change %lld of %lld dQ\n", (long long)differ,
           (long long)queries);
    for (int n = 0; n < 3; n++)
        gradients_free(&g[n]);
    w.s.algorithm = ALGORITHM_SPLITK;
    w.s.policy.site[SITE_DQ_ACC].order =
        (struct order){.kind = ORDER_TREE, .tree = order_pairwise(16)};
    assert_false(simulate_gradients(&w.p, &w.dO, &w.s, &g[0], &why));
    assert_non_null(strstr(why.text, "DQ_ACC: splitk sums the keys of each warp by themselves"));
    work_free(&w);
}

static void threads_change_no_bit(void **unused)
{
    (void)unused;
    static const struct shape shape = {2, 4, 2, 9, 11, 4};
    struct work w;
    struct gradients one, four;
    struct message why;
    uint64_t state = 12;
    draw_work(&w, POLICY_GPU_BF16, arith_float(), &masks[1], &shape, &state);
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &one, &why));
    w.s.threads = 4;
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &four, &why));
    assert_true(one.digest == four.digest);
    gradients_free(&one);
    gradients_free(&four);
    work_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_oracle_float),    cmocka_unit_test(equals_oracle_double),
        cmocka_unit_test(equals_oracle_mpfr),     cmocka_unit_test(exact_on_every_mask),
        cmocka_unit_test(exact_when_packed),      cmocka_unit_test(worked_group),
        cmocka_unit_test(unseen_reaches_nothing), cmocka_unit_test(sum_of_score_gradients),
        cmocka_unit_test(warps_and_bits),         cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
