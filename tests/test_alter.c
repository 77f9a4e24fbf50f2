/* test_alter.c: alterations of listings and kernels against values worked out by hand for the
   published bugs they stand for; what they do not change; what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/alter.h"
#include "tests/random_problem.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static unsigned bit(enum alteration a)
{
    return 1u << a;
}

static double output(const struct problem *p, const struct simulation *s, int64_t row)
{
    struct result result;
    struct message why;
    if (!simulate(p, s, &result, &why))
        fail_msg("%s", why.text);
    double O = result.O[row * result.D];
    result_free(&result);
    return O;
}

/* Scores of one row in tiles of Bc; right and wrong outputs to the digits published. */
static const struct row {
    const char *what, *scores, *values;
    enum algorithm listing;
    int Bc;
    enum alteration alteration;
    double right, wrong, tolerance;
} rows[] = {
    {"A6: 5 keys in tiles of 4", "-5 -5 -5 -5 -5", "1 1 1 1 1", ALGORITHM_FA2, 4,
     ALTERATION_TAIL_UNMASKED, 1, 0.011105, 5e-7},
    {"L1: natural LSE into exp2", "0.69314718055994531 2.0794415416798357", "0 1", ALGORITHM_DECODE,
     1, ALTERATION_MERGE_BASE_2, 0.8, 0.72330, 5e-6},
    {"L1: base-2 LSE into exp", "0.69314718055994531 2.0794415416798357", "0 1", ALGORITHM_DECODE,
     1, ALTERATION_MERGE_BASE_E, 0.8, 0.88080, 5e-6},
    {"no rescale, smallest", "0 1", "0 1", ALGORITHM_FA2, 1, ALTERATION_NO_RESCALE, 0.7310586, 0.5,
     5e-7},
    {"O~ not rescaled: (1 + 0) / (1 + 1/e)", "0 1", "1 0", ALGORITHM_FA2, 1,
     ALTERATION_NO_RESCALE_O, 0.2689414, 0.7310586, 5e-7},
    {"l not rescaled: 1/e / (1 + 1)", "0 1", "1 0", ALGORITHM_FA2, 1, ALTERATION_NO_RESCALE_L,
     0.2689414, 0.1839397, 5e-7},
    {"no division: 1 + 1/e", "0 1", "1 1", ALGORITHM_FA2, 2, ALTERATION_NO_DIVISION, 1, 1.3678794,
     5e-7},
    {"base 2: 2 / 3", "0 1", "0 1", ALGORITHM_FA2, 2, ALTERATION_SCALE_BASE_2, 0.7310586, 0.6666667,
     5e-7},
    {"the last key", "0 0 0", "1 2 6", ALGORITHM_FA2, 4, ALTERATION_LAST_KEY, 3, 1.5, 0},
    {"a maximum that starts at -50000", "-60000", "1", ALGORITHM_ONLINE, 1, ALTERATION_FINITE_START,
     1, NAN, 0},
};

static void published_values(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct simulation s = simulation_default();
        struct problem p;
        struct message why;
        assert_true(problem_from_scores(&p, row->scores, row->values, &why));
        s.algorithm = row->listing;
        s.choices.Bc = row->listing == ALGORITHM_ONLINE ? 0 : row->Bc;
        s.choices.merge = MERGE_LSE_SUM;
        double right = output(&p, &s, 0);
        s.alterations = bit(row->alteration);
        double wrong = output(&p, &s, 0);
        bool bad = isnan(row->wrong) ? isnan(wrong) : fabs(wrong - row->wrong) <= row->tolerance;
        if (!(fabs(right - row->right) <= row->tolerance + 1e-7) || !bad)
            fail_msg("%s: %a and altered %a; %.9g and %.9g are right", row->what, right, wrong,
                     row->right, row->wrong);
        problem_free(&p);
    }
}

/* M1: q = -64, k = 64 in 128 places: raw scores -524288, far below the sentinel. */
static void finite_start_hides_all_keys(void **unused)
{
    (void)unused;
    struct simulation s = simulation_default();
    struct problem_options o = problem_defaults();
    struct problem p;
    struct tensor q, k, v;
    struct message why;
    assert_true(tensor_new(&q, FORMAT_BF16, 4, (int64_t[]){1, 1, 1, 128}, &why));
    assert_true(tensor_new(&k, FORMAT_BF16, 4, (int64_t[]){1, 1, 2, 128}, &why));
    assert_true(tensor_new(&v, FORMAT_BF16, 4, (int64_t[]){1, 1, 2, 128}, &why));
    for (int d = 0; d < 128; d++) {
        tensor_set(&q, 0, 0, 0, d, -64);
        for (int n = 0; n < 2; n++) {
            tensor_set(&k, 0, 0, n, d, 64);
            tensor_set(&v, 0, 0, n, d, 1);
        }
    }
    assert_true(problem_new(&p, &q, &k, &v, &o, &why));
    s.is_kernel = true;
    assert_true(kernel_choose(&s.kernel, "fa2@B200", &why));
    assert_true(kernel_policy(&s.kernel, &p, FORMAT_BF16, &s.policy, &why));
    assert_true(output(&p, &s, 0) == 1);
    s.alterations = bit(ALTERATION_FINITE_START);
    assert_true(output(&p, &s, 0) == 0);
    problem_free(&p);
}

/* A1, scores 0: (2,5) and (5,2), the means of the keys seen. */
static void causal_to_the_other_corner(void **unused)
{
    (void)unused;
    static const struct {
        int Nq, Nk;
        double right[5], wrong[5];
    } shapes[] = {{2, 5, {2.5, 3}, {1, 1.5}}, {5, 2, {0, 0, 0, 1, 1.5}, {1, 1.5, 1.5, 1.5, 1.5}}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct simulation s = simulation_default();
        struct problem_options o = problem_defaults();
        uint64_t state = 1;
        struct problem p;
        o.mask.causal = true;
        assert_true(draw_problem(&p, FORMAT_FP32,
                                 (struct shape){1, 1, 1, shapes[i].Nq, shapes[i].Nk, 1}, 0, &o,
                                 &state));
        for (int n = 0; n < shapes[i].Nk; n++)
            tensor_set(&p.v, 0, 0, n, 0, n + 1);
        for (int row = 0; row < shapes[i].Nq; row++) {
            s.alterations = 0;
            assert_true(output(&p, &s, row) == shapes[i].right[row]);
            s.alterations = bit(ALTERATION_CAUSAL_ALIGN);
            assert_true(output(&p, &s, row) == shapes[i].wrong[row]);
        }
        problem_free(&p);
    }
}

/* Of two sequences, four query heads and two key heads: unit by unit or all at once. */
static void heads_and_sequences(void **unused)
{
    (void)unused;
    struct problem_options o = problem_defaults();
    struct simulation s = simulation_default();
    uint64_t state = 2;
    struct problem p;
    assert_true(draw_problem(&p, FORMAT_FP32, (struct shape){2, 4, 2, 1, 1, 1}, 1, &o, &state));
    for (int h = 0; h < 4; h++) { /* one key: the output is the value of the key head read */
        s.unit_first = 4 + h;
        s.unit_count = 1;
        s.alterations = 0;
        assert_true(output(&p, &s, 0) == tensor_get(&p.v, 1, h / 2, 0, 0));
        s.alterations = bit(ALTERATION_HEADS);
        assert_true(output(&p, &s, 0) == tensor_get(&p.v, 1, h % 2, 0, 0));
        s.unit_count = 0;
        assert_true(output(&p, &s, 4 + h) == tensor_get(&p.v, 1, h % 2, 0, 0));
        s.alterations = bit(ALTERATION_FIRST_SEQUENCE);
        assert_true(isnan(output(&p, &s, 4 + h)));
        assert_true(output(&p, &s, h) == tensor_get(&p.v, 0, h / 2, 0, 0));
    }
    problem_free(&p);
}

/* Where there is no alteration, or one of what is not there, no bit changes. */
static void truncation_and_rounded_sums(void **unused)
{
    (void)unused;
    struct simulation s = simulation_default();
    struct problem p;
    struct message why;
    s.policy = policy_table(POLICY_GPU_BF16);
    assert_true(problem_from_scores(&p, "0", "1.00585938", &why)); /* P4 */
    assert_true(output(&p, &s, 0) == 1.0078125);
    s.alterations = bit(ALTERATION_TRUNCATED);
    assert_true(output(&p, &s, 0) == 1);
    problem_free(&p);
    assert_true(problem_from_scores(&p, "0 -0.6895", "1 1", &why)); /* as P1: weight above 0.5 */
    s.alterations = 0;
    assert_true(policy_set(&s.policy, "OUT=fp32", &why));
    assert_true(output(&p, &s, 0) < 1);
    s.alterations = bit(ALTERATION_SUM_ROUNDED);
    assert_true(output(&p, &s, 0) == 1);
    problem_free(&p);
}

static void what_changes_nothing_is_refused(void **unused)
{
    (void)unused;
    struct problem_options o = problem_defaults();
    struct simulation s = simulation_default();
    struct problem p, altered;
    struct message why;
    uint64_t state = 3;
    static const enum alteration refused[] = {ALTERATION_CAUSAL_ALIGN,  ALTERATION_CAUSAL_MISSING,
                                              ALTERATION_WINDOW_WIDE,   ALTERATION_SOFTCAP_MISSING,
                                              ALTERATION_SCALE_PADDED,  ALTERATION_HEADS,
                                              ALTERATION_FIRST_SEQUENCE};
    assert_true(draw_problem(&p, FORMAT_FP32, (struct shape){1, 2, 2, 3, 3, 4}, 1, &o, &state));
    for (size_t i = 0; i < COUNT(refused); i++) {
        s.alterations = bit(refused[i]);
        assert_false(alter_problem(&p, &s, &altered, &why));
        assert_non_null(strstr(why.text, alteration_name(refused[i])));
    }
    enum alteration a;
    assert_false(alteration_from_name("no-rescal", &a, &why));
    assert_non_null(strstr(why.text, "did you mean no-rescale"));
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),
        cmocka_unit_test(finite_start_hides_all_keys),
        cmocka_unit_test(causal_to_the_other_corner),
        cmocka_unit_test(heads_and_sequences),
        cmocka_unit_test(truncation_and_rounded_sums),
        cmocka_unit_test(what_changes_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
