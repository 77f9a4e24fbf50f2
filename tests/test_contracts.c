/* test_contracts.c: the cases in which implementations disagree, for every algorithm that takes
   them, in every arithmetic: tests/data/contracts.def, heads and sizes; and what a run refuses, in
   which words.  (What a problem refuses: test_problem.c.)  Right values come from the reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/certified.h"
#include "simulator/simulate.h"
#include "tests/small_problem.h"

static const struct contract contracts[] = {
#define CONTRACT(...) {__VA_ARGS__},
#include "tests/data/contracts.def"
#undef CONTRACT
};

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* DESIGN's one licence: emulation may give NaN where an infinite value's weight underflowed. */
static const char vanishing[] = "infinite value, vanishing weight";

/* And one of an algorithm's: weights e^(L_g - L) lose what ln adds to a huge maximum; test_decode.c. */
static const char huge_scores[] = "scores of 2^100";

/* How far a run may be off: for O times sum pi |v|, for LSE times max(1, |LSE|). */
static const struct arithmetic_row {
    const char *arith;
    enum policy_id policy;
    double tolerance;
} arithmetics[] = {
    {"float", POLICY_FP32, 8 * 0x1p-24},   {"float", POLICY_GPU_BF16, 2 * 0x1p-8},
    {"double", POLICY_FP32, 8 * 0x1p-24},  {"double", POLICY_EXACT, 8 * 0x1p-53},
    {"mpfr", POLICY_GPU_BF16, 2 * 0x1p-8}, {"mpfr", POLICY_EXACT, 0x1p-53},
};

static const struct runner {
    enum algorithm algorithm;
    bool descending;
    int Br, Bc;
    enum merge merge; /* decode's */
    int splits;
} runners[] = {
    {ALGORITHM_STANDARD, false, 0, 0, MERGE_LSE, 0},
    {ALGORITHM_ONLINE, false, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_ONLINE, false, 4, 1, MERGE_LSE, 0},
    {ALGORITHM_FA1, false, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_FA1, false, 2, 2, MERGE_LSE, 0},
    {ALGORITHM_FA1, false, 64, 64, MERGE_LSE, 0},
    {ALGORITHM_FA2, false, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_FA2, false, 2, 2, MERGE_LSE, 0},
    {ALGORITHM_FA2, false, 64, 64, MERGE_LSE, 0},
    {ALGORITHM_FA2, true, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_FA2, true, 2, 2, MERGE_LSE, 0},
    {ALGORITHM_FA1_PRINTED, false, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_FA1_PRINTED, false, 1, 2, MERGE_LSE, 0},
    {ALGORITHM_FA1_PRINTED, false, 1, 64, MERGE_LSE, 0},
    {ALGORITHM_FA2_PRINTED, false, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_FA2_PRINTED, false, 1, 2, MERGE_LSE, 0},
    {ALGORITHM_FA2_PRINTED, false, 1, 64, MERGE_LSE, 0}, /* its faults off */
    {ALGORITHM_UNSTABLE, false, 1, 64, MERGE_LSE, 0}, /* one tile: nothing to rescale */
    {ALGORITHM_DECODE, false, 1, 1, MERGE_LSE, 0},
    {ALGORITHM_DECODE, false, 1, 2, MERGE_LSE, 5},
    {ALGORITHM_DECODE, true, 1, 1, MERGE_LSE_SUM, 2},
    {ALGORITHM_DECODE, false, 1, 1, MERGE_MAX_SUM, 0},
    {ALGORITHM_DECODE, false, 1, 1, MERGE_NORMALISED_MAX_SUM, 0},
    {ALGORITHM_DECODE, false, 1, 1, MERGE_RUNNING, 0},
    {ALGORITHM_DECODE, false, 1, 64, MERGE_RUNNING, 3},
};

static struct simulation simulation_of(const struct runner *runner, const struct arithmetic_row *a)
{
    struct message why;
    struct simulation s = simulation_default();
    s.algorithm = runner->algorithm;
    s.policy = policy_table(a->policy);
    s.arith = arithmetic_named(a->arith, &why);
    s.choices = (struct choices){.Br = runner->Br, .Bc = runner->Bc,
                                 .descending = runner->descending,
                                 .merge = runner->merge,
                                 .grouping.splits = runner->splits,
                                 .running_max = runner->algorithm == ALGORITHM_DECODE &&
                                                runner->descending};
    return s;
}

/* Same kind; finite ones within the tolerance: exactly 0 where that is 0. */
static bool close_to(double got, double want, double tolerance)
{
    if (!isfinite(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= tolerance;
}

static double lse_unit(double lse)
{
    return fabs(lse) > 1 ? fabs(lse) : 1;
}

static void check(const char *what, const struct simulation *s, const char *name, double got,
                  double want, double tolerance)
{
    if (strcmp(what, vanishing) == 0 && isinf(want) && isnan(got))
        return;
    if (!close_to(got, want, tolerance))
        fail_msg("%s: %s%s, %s %s, tile %d,%d, merge %s, %d groups: %s = %a, reference %a", what,
                 algorithm_info(s->algorithm)->name, s->choices.descending ? " descending" : "",
                 s->arith->name, s->policy.name, s->choices.Br, s->choices.Bc,
                 merge_name(s->choices.merge), s->choices.grouping.splits, name, got, want);
}

/* Every row of every head of a run against the certified one. */
static void check_run(const char *what, const struct problem *p, const struct simulation *s,
                      double tolerance)
{
    struct message why;
    struct result result;
    int64_t at = 0;
    if (!simulate(p, s, &result, &why))
        fail_msg("%s: %s", what, why.text);
    for (int64_t n = 0; n < result.units; n++) {
        struct head h = problem_head(p, n);
        for (int64_t r = 0; r < h.Nq; r++, at++) {
            struct certified_row *row = certified_row_new(&h, r);
            for (int64_t d = 0; d < h.D; d++)
                check(what, s, "O", result.O[at * h.D + d],
                      certified_round(row, d, FORMAT_FP64, NULL),
                      tolerance * certified_weight(row, d));
            double lse = certified_round_lse(row, FORMAT_FP64, NULL);
            check(what, s, "LSE", result.lse[at], lse, tolerance * lse_unit(lse));
            certified_row_free(row);
        }
    }
    result_free(&result);
}

static void round_input(struct problem *p, const struct simulation *s)
{
    struct message why;
    int64_t changed;
    assert_true(problem_round_input(p, s->policy.site[SITE_INPUT].format, &changed, &why));
}

static void contract_rows(void **unused)
{
    (void)unused;
    for (int a = 0; a < COUNT(arithmetics); a++)
        for (int n = 0; n < COUNT(contracts); n++) {
            struct problem p;
            assert_true(contract_problem(&p, &contracts[n]));
            for (int k = 0; k < COUNT(runners); k++) {
                struct simulation s = simulation_of(&runners[k], &arithmetics[a]);
                bool loses = runners[k].algorithm == ALGORITHM_DECODE &&
                             runners[k].merge == MERGE_LSE &&
                             strcmp(contracts[n].what, huge_scores) == 0;
                if (loses)
                    continue;
                round_input(&p, &s);
                check_run(contracts[n].what, &p, &s, arithmetics[a].tolerance);
            }
            problem_free(&p);
        }
}

/* The rows as written, not through the reference: exact arithmetic to the digits of the table. */
static void contract_digits(void **unused)
{
    (void)unused;
    for (int n = 0; n < COUNT(contracts); n++) {
        const struct contract *c = &contracts[n];
        struct problem p;
        struct message why;
        struct result result;
        struct simulation s = simulation_of(&runners[7], &arithmetics[5]);
        assert_true(contract_problem(&p, c));
        assert_true(simulate(&p, &s, &result, &why));
        double O = strtod(c->O, NULL), lse = strtod(c->lse, NULL);
        check(c->what, &s, "O", result.O[c->r], O, 5e-9 * fabs(O));
        check(c->what, &s, "LSE", result.lse[c->r], lse, 5e-9 * fabs(lse));
        result_free(&result);
        problem_free(&p);
    }
}

struct head_row {
    const char *what;
    int64_t B, Hq, Hkv, Nq, Nk, D;
    const int64_t *cu_q, *cu_k;
    int64_t sequences;
};

static const int64_t some[] = {0, 2, 2, 5}, keys[] = {0, 0, 3, 6};

static const struct head_row head_rows[] = {
    {"one kv head for all", 1, 4, 1, 2, 3, 2, NULL, NULL, 0},
    {"two query heads a kv head", 2, 4, 2, 3, 5, 2, NULL, NULL, 0},
    {"a kv head each", 1, 3, 3, 2, 2, 4, NULL, NULL, 0},
    {"default scale 1/sqrt(3)", 1, 1, 1, 3, 4, 3, NULL, NULL, 0},
    {"D = 1", 1, 1, 1, 2, 2, 1, NULL, NULL, 0},
    {"no keys", 1, 2, 1, 3, 0, 2, NULL, NULL, 0},
    {"no queries", 1, 2, 1, 0, 3, 2, NULL, NULL, 0},
    {"no batch", 0, 2, 1, 3, 3, 2, NULL, NULL, 0},
    {"packed, one without keys, one without queries", 1, 2, 1, 5, 6, 2, some, keys, 3},
};

/* Heads differ: bf16 numbers that say where they come from. */
static void head_problem(struct problem *p, const struct head_row *row)
{
    struct tensor t[3];
    struct message why;
    struct problem_options o = problem_defaults();
    o.cu_q = row->cu_q;
    o.cu_k = row->cu_k;
    o.sequences = row->sequences;
    for (int i = 0; i < 3; i++) {
        int64_t H = i == 0 ? row->Hq : row->Hkv, N = i == 0 ? row->Nq : row->Nk;
        assert_true(tensor_new(&t[i], FORMAT_BF16, 4, (int64_t[]){row->B, H, N, row->D}, &why));
        for (int64_t b = 0; b < row->B; b++)
            for (int64_t h = 0; h < H; h++)
                for (int64_t n = 0; n < N; n++)
                    for (int64_t d = 0; d < row->D; d++)
                        tensor_set(&t[i], b, h, n, d,
                                   (double)((7 * b + 5 * h + 3 * n + 2 * d + i) % 11 - 5) / 4);
    }
    if (!problem_new(p, &t[0], &t[1], &t[2], &o, &why))
        fail_msg("%s: %s", row->what, why.text);
}

static void heads_and_sizes(void **unused)
{
    (void)unused;
    for (int n = 0; n < COUNT(head_rows); n++) {
        struct problem p;
        head_problem(&p, &head_rows[n]);
        for (int a = 0; a < COUNT(arithmetics); a++)
            for (int k = 0; k < COUNT(runners); k++) {
                struct simulation s = simulation_of(&runners[k], &arithmetics[a]);
                check_run(head_rows[n].what, &p, &s, 4 * arithmetics[a].tolerance);
            }
        problem_free(&p);
    }
}

struct refusal {
    const char *arith;
    enum policy_id policy;
    const char *set, *order;
    enum algorithm algorithm;
    int Br, Bc;
    unsigned faults;
    struct mask mask;
    const char *why;
};

enum { TAIL = 1 << FAULT_NO_TAIL_MASK, ALL_FAULTS = (1 << FAULT_COUNT) - 1 };
#define NO_MASK {false, ALIGN_BOTTOM_RIGHT, -1, -1}
#define TAIL_WORDS \
    "fault no-tail-mask does not go with a causal or window mask: the printed kernel has none; " \
    "name the other faults (--fault tile-max,zero-start)"

/* The problem has 6 keys, D = 2. */
static const struct refusal refusals[] = {
    {"float", POLICY_FP32, NULL, NULL, ALGORITHM_FA2_PRINTED, 1, 4, ALL_FAULTS,
     {true, ALIGN_BOTTOM_RIGHT, -1, -1}, TAIL_WORDS},
    {"mpfr", POLICY_EXACT, NULL, NULL, ALGORITHM_FA2_PRINTED, 1, 4, TAIL,
     {false, ALIGN_BOTTOM_RIGHT, 2, -1}, TAIL_WORDS},
    {"double", POLICY_FP32, NULL, NULL, ALGORITHM_UNSTABLE, 1, 4, TAIL,
     {false, ALIGN_TOP_LEFT, -1, 0}, TAIL_WORDS},
    {"float", POLICY_FP32, NULL, "SCORE_ACC=tree:((0 1) 2)", ALGORITHM_FA2, 4, 4, 0, NO_MASK,
     "--order SCORE_ACC: the tree has 3 terms, the head size is 2"},
    {"float", POLICY_FP32, NULL, "ROW_SUM=tree:((0 1) 2)", ALGORITHM_FA2, 2, 4, 0, NO_MASK,
     "--order ROW_SUM: the tree has 3 terms, a key tile 4: use --tile 2,3"},
    {"float", POLICY_FP32, NULL, "OUT_ACC=tree:((0 1) (2 3))", ALGORITHM_FA1, 1, 2, 0, NO_MASK,
     "--order OUT_ACC: the tree has 4 terms, a key tile 2: use --tile 1,4"},
    {"float", POLICY_FP32, NULL, "ROW_SUM=lanes:(0 0 1 1 0 1):1", ALGORITHM_FA2, 2, 4, 0, NO_MASK,
     "--order ROW_SUM: the table of owners has 6 columns, a key tile 4: use --tile 2,6"},
    {"float", POLICY_FP32, NULL, "SCORE_ACC=lanes:(0 0 1 1):1", ALGORITHM_FA2, 2, 4, 0, NO_MASK,
     "--order SCORE_ACC: the table of owners has 4 columns, the head size is 2"},
    {"float", POLICY_EXACT, NULL, NULL, ALGORITHM_FA2, 4, 4, 0, NO_MASK,
     "policy exact has exact at CONST, which the float arithmetic cannot hold: use --arith double "
     "or --arith mpfr"},
    {"float", POLICY_GPU_BF16, "NORMALIZE=fp64", NULL, ALGORITHM_FA2, 4, 4, 0, NO_MASK,
     "policy gpu-bf16+ has fp64 at NORMALIZE, which the float arithmetic cannot hold: use --arith "
     "double or --arith mpfr"},
    {"float", POLICY_FP32, "PV_PRODUCT=fp64", NULL, ALGORITHM_FA2, 4, 4, 0, NO_MASK,
     "PV_PRODUCT fp64 needs --arith double; exact means a fused step"},
};

static bool refused(const struct refusal *row, struct message *why)
{
    struct head_row shape = {"refusal", 1, 1, 1, 6, 6, 2, NULL, NULL, 0};
    struct runner runner = {row->algorithm, false, row->Br, row->Bc, MERGE_LSE, 0};
    struct arithmetic_row arith = {row->arith, row->policy, 0};
    struct simulation s = simulation_of(&runner, &arith);
    struct problem p;
    struct result result;
    head_problem(&p, &shape);
    p.mask = row->mask;
    s.choices.faults = row->faults;
    assert_true(row->set == NULL || policy_set(&s.policy, row->set, why));
    assert_true(row->order == NULL || policy_order(&s.policy, row->order, why));
    bool taken = simulate(&p, &s, &result, why);
    if (taken)
        result_free(&result);
    problem_free(&p);
    return !taken;
}

static void refusals_in_words(void **unused)
{
    (void)unused;
    for (int i = 0; i < COUNT(refusals); i++) {
        struct message why = {""};
        if (!refused(&refusals[i], &why))
            fail_msg("row %d is not refused; expected: %s", i, refusals[i].why);
        assert_string_equal(why.text, refusals[i].why);
    }
}

/* The same with a tree that fits, the tail fault without a mask, masks without it. */
static void taken_beside_them(void **unused)
{
    (void)unused;
    static const struct refusal rows[] = {
        {"float", POLICY_FP32, NULL, "SCORE_ACC=tree:(1 0)", ALGORITHM_FA2, 4, 4, 0, NO_MASK, ""},
        {"float", POLICY_FP32, NULL, "ROW_SUM=tree:((0 1) 2)", ALGORITHM_FA2, 2, 3, 0, NO_MASK, ""},
        {"float", POLICY_FP32, NULL, NULL, ALGORITHM_FA2_PRINTED, 1, 4, ALL_FAULTS, NO_MASK, ""},
        {"float", POLICY_FP32, NULL, NULL, ALGORITHM_FA2_PRINTED, 1, 4, ALL_FAULTS & ~TAIL,
         {true, ALIGN_BOTTOM_RIGHT, -1, -1}, ""},
        {"double", POLICY_FP32, "PV_PRODUCT=fp64", NULL, ALGORITHM_FA2, 4, 4, 0, NO_MASK, ""},
        {"double", POLICY_EXACT, NULL, NULL, ALGORITHM_FA2, 4, 4, 0, NO_MASK, ""},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct message why = {""};
        if (refused(&rows[i], &why))
            fail_msg("row %d: %s", i, why.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract_rows),     cmocka_unit_test(contract_digits),
        cmocka_unit_test(heads_and_sizes),   cmocka_unit_test(refusals_in_words),
        cmocka_unit_test(taken_beside_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
