/* test_algorithms.c: every algorithm against the scalar oracle, bit for bit, in every arithmetic and
   policy; and against the definition, in exact arithmetic, to 2^-200 of sum pi |v|. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/exact.h"
#include "simulator/simulate.h"
#include "tests/flat_head.h"
#include "tests/oracle_attention.h"
#include "tests/random_problem.h"

struct mask_row {
    const char *name;
    bool causal, top_left;
    int64_t left, right;
    double softcap;
};

static const struct mask_row masks[] = {
    {"all", false, false, -1, -1, 0},      {"causal", true, false, -1, -1, 0},
    {"top-left", true, true, -1, -1, 0},   {"window", false, false, 2, 1, 0},
    {"causal-window", true, false, 3, 0, 0}, {"softcap", false, false, -1, -1, 1.5},
    {"softcap-causal", true, false, -1, -1, 5},
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 7, 3}, {1, 1, 1, 5, 5, 4},  {1, 1, 1, 4, 9, 8},
    {1, 1, 1, 9, 4, 5}, {1, 2, 1, 3, 13, 6}, {2, 4, 2, 6, 11, 7}, {1, 1, 1, 17, 19, 16},
};

static const struct tiling {
    int Br, Bc;
} tilings[] = {{1, 1}, {2, 3}, {4, 4}, {3, 8}, {16, 16}, {7, 2}};

enum { MASKS = sizeof masks / sizeof *masks, SHAPES = sizeof shapes / sizeof *shapes };
enum { TILINGS = sizeof tilings / sizeof *tilings };

static struct problem_options options_of(const struct mask_row *m)
{
    struct problem_options o = problem_defaults();
    o.mask = (struct mask){m->causal, m->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT, m->left,
                           m->right};
    o.softcap = m->softcap;
    return o;
}

static enum format input_format(const struct policy *policy)
{
    enum format f = policy->site[SITE_INPUT].format;
    return f == FORMAT_EXACT ? FORMAT_FP32 : f;
}

/* One head of one run against the oracle. */
static void compare_head(const struct simulation *s, const struct head *h, const double *O,
                         const double *lse, const char *what)
{
    const struct problem *p = h->problem;
    const struct algorithm_info *a = algorithm_info(s->algorithm);
    struct flat f;
    flatten(&f, h);
    struct oracle o = {.Nq = h->Nq, .Nk = h->Nk, .D = h->D, .q = f.q, .k = f.k, .v = f.v,
                       .scale_value = p->scale.value, .scale_root = p->scale.root,
                       .softcap = p->softcap, .lo = f.lo, .hi = f.hi};
    oracle_policy(&o, s->policy.name);
    for (int n = 0; n < SITE_COUNT; n++)
        o.site[n] = s->policy.site[n].format;
    o.row_tile = a->Bc == 0 ? 0 : s->choices.Br;
    o.tile = s->choices.Bc;
    o.warps = s->choices.warps;
    o.repeated_max = s->choices.repeated_max;
    o.descending = s->choices.descending;
    o.tile_max = s->choices.faults >> FAULT_TILE_MAX & 1;
    o.zero_start = s->choices.faults >> FAULT_ZERO_START & 1;
    o.no_tail_mask = s->choices.faults >> FAULT_NO_TAIL_MASK & 1;
    double *want = calloc((size_t)(h->Nq * h->D + h->Nq) + 1, sizeof *want);
    double *want_lse = want + h->Nq * h->D;
    oracle_run(&o, a->name, want, want_lse);
    for (int64_t i = 0; i < h->Nq * h->D; i++)
        if (!same_number(O[i], want[i]))
            fail_msg("%s: head %lld O[%lld][%lld] = %a, oracle %a", what, (long long)h->head,
                     (long long)(i / h->D), (long long)(i % h->D), O[i], want[i]);
    for (int64_t i = 0; i < h->Nq; i++)
        if (!same_number(lse[i], want_lse[i]))
            fail_msg("%s: head %lld LSE[%lld] = %a, oracle %a", what, (long long)h->head,
                     (long long)i, lse[i], want_lse[i]);
    free(want);
    flat_free(&f);
}

static void compare_run(const struct problem *p, const struct simulation *s, const char *what)
{
    struct message why;
    struct result result;
    if (!simulate(p, s, &result, &why))
        fail_msg("%s: %s", what, why.text);
    int64_t row = 0;
    for (int64_t n = 0; n < result.units; n++) {
        struct head h = problem_head(p, n);
        compare_head(s, &h, result.O + row * p->D, result.lse + row, what);
        row += h.Nq;
    }
    result_free(&result);
}

/* decode has an oracle of its own (test_decode.c). */
static bool listed(int a)
{
    return a != ALGORITHM_DECODE;
}

/* Random problem `n` of an algorithm under a policy in an arithmetic. */
static void one_case(enum algorithm a, enum policy_id policy, const struct arithmetic *arith, int n)
{
    uint64_t state = (uint64_t)n * 1000003u + 17u * (unsigned)a + (unsigned)policy;
    const struct mask_row *m = &masks[draw_below(&state, MASKS)];
    const struct shape *shape = &shapes[draw_below(&state, SHAPES)];
    const struct tiling *t = &tilings[draw_below(&state, TILINGS)];
    struct problem_options options = options_of(m);
    struct simulation s = simulation_default();
    s.algorithm = a;
    s.policy = policy_table(policy);
    s.arith = arith;
    s.precision = 53; /* exact sites are fp64 in the oracle */
    s.choices = (struct choices){.Br = t->Br, .Bc = t->Bc};
    s.choices.Bc = a == ALGORITHM_ONLINE ? 1 : t->Bc;
    if (a == ALGORITHM_SPLITK || a == ALGORITHM_SPLITQ)
        s.choices.warps = 1 + (int)draw_below(&state, 9);
    if (a == ALGORITHM_AUTOCAST)
        s.choices.repeated_max = (double)draw_below(&state, 4) * 2.25;
    s.choices.descending = a == ALGORITHM_FA2 && draw_below(&state, 2);
    if (a == ALGORITHM_FA2_PRINTED)
        s.choices.faults = (unsigned)draw_below(&state, 1 << FAULT_COUNT);
    if (m->causal || m->left >= 0) /* refused: test_contracts.c */
        s.choices.faults &= ~(1u << FAULT_NO_TAIL_MASK);
    double size = draw_below(&state, 4) == 0 ? 6 : 1;
    struct problem p;
    char what[200];
    snprintf(what, sizeof what, "%s %s %s case %d (%s, %lldx%lldx%lld, tile %d,%d, warps %d, faults %u)",
             algorithm_info(a)->name, s.policy.name, arith->name, n, m->name,
             (long long)shape->Nq, (long long)shape->Nk, (long long)shape->D, t->Br, t->Bc,
             s.choices.warps, s.choices.faults);
    if (!draw_problem(&p, input_format(&s.policy), *shape, size, &options, &state))
        fail_msg("%s: no problem", what);
    if (a == ALGORITHM_AUTOCAST)
        repeat_keys(&p, &state);
    compare_run(&p, &s, what);
    problem_free(&p);
}

static bool full(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

static void equals_oracle_float(void **unused)
{
    (void)unused;
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        for (int policy = 0; listed(a) && policy < POLICY_EXACT; policy++)
            for (int n = 0; n < (full() ? 400 : 24); n++)
                one_case((enum algorithm)a, (enum policy_id)policy, arith_float(), n);
}

static void equals_oracle_double(void **unused)
{
    (void)unused;
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        for (int policy = 0; listed(a) && policy < POLICY_COUNT; policy++)
            for (int n = 0; n < (full() ? 200 : 10); n++)
                if (policy != POLICY_EXACT) /* fp64 functions are faithful, not correctly rounded */
                    one_case((enum algorithm)a, (enum policy_id)policy, &arith_double, n);
}

static void equals_oracle_mpfr(void **unused)
{
    (void)unused;
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        for (int policy = 0; listed(a) && policy < POLICY_EXACT; policy++)
            for (int n = 0; n < (full() ? 100 : 6); n++)
                one_case((enum algorithm)a, (enum policy_id)policy, &arith_mpfr, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_oracle_float),
        cmocka_unit_test(equals_oracle_double),
        cmocka_unit_test(equals_oracle_mpfr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
