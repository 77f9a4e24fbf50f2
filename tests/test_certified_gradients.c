/* test_certified_gradients.c: digits and roundings of gradients: structural cases exactly, others
   against sums at several times the precision, and what honestly stays undecided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/certified_gradients.h"
#include "reference/exact_gradients.h"
#include "tests/random_problem.h"
#include "tests/small_problem.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* D = 1, scale value / sqrt(root); what one element prints at so many digits. */
static const struct row {
    const char *what;
    int Nq, Nk;
    const char *q, *k, *v, *dO;
    double scale;
    int root;
    double softcap;
    bool causal;
    enum gradient which;
    int row, digits;
    const char *text;
    bool rational;
} rows[] = {
    {"two equal scores", 1, 2, "1", "1 1", "1 4", "1", 1, 1, 0, false, GRADIENT_K, 0, 20, "-0.75", true},
    {"a tie", 1, 2, "1", "1 1", "1 2", "1", 1, 1, 0, false, GRADIENT_K, 1, 1, "0.2", true},
    {"a third", 1, 3, "0", "1 2 3", "3 0 0", "1", 1, 1, 0, false, GRADIENT_V, 2, 6, "0.333333", true},
    {"a scale of 1/2", 1, 2, "1", "1 1", "1 4", "1", 1, 4, 0, false, GRADIENT_K, 0, 20, "-0.375", true},
    {"an irrational scale", 1, 2, "1", "1 1", "0 4", "1", 1, 2, 0, false, GRADIENT_K, 0, 12,
     "-0.707106781187", false},
    {"equal values", 1, 2, "1", "1 2", "3 3", "1", 1, 1, 0, false, GRADIENT_Q, 0, 20, "0", true},
    {"one key", 1, 1, "1", "2", "3", "5", 1, 1, 0, false, GRADIENT_V, 0, 20, "5", true},
    {"no key", 2, 1, "1 1", "2", "3", "5 6", 1, 1, 0, true, GRADIENT_Q, 0, 20, "0", true},
    {"no key, the other query", 2, 1, "1 1", "2", "3", "5 6", 1, 1, 0, true, GRADIENT_V, 0, 20, "6", true},
    {"a query of zero", 1, 2, "0", "1 2", "1 4", "1", 1, 1, 0, false, GRADIENT_K, 1, 20, "0", true},
    {"softcap, scores 0", 1, 2, "0", "1 2", "1 4", "1", 1, 1, 2, false, GRADIENT_Q, 0, 20, "0.75", true},
    {"softcap, equal scores", 1, 2, "1", "1 1", "1 4", "1", 1, 1, 1, false, GRADIENT_K, 1, 12,
     "0.314980756211", false}, /* 3/4 sech(1)^2 */
    {"a logistic function", 1, 2, "1", "0 1", "0 1", "1", 1, 1, 0, false, GRADIENT_Q, 0, 15,
     "0.196611933241482", false},
    {"nan", 1, 2, "1", "0 nan", "0 1", "1", 1, 1, 0, false, GRADIENT_Q, 0, 15, "nan", false},
    {"minus infinity", 1, 2, "1", "2 1", "inf 3", "1", 1, 1, 0, false, GRADIENT_K, 1, 15, "-inf", false},
    {"two that cancel", 2, 2, "1 1", "0 1", "0 1", "1 -1", 1, 1, 0, false, GRADIENT_V, 0, 15,
     "undecided", false},
};

static void structural_cases(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < COUNT(rows); n++) {
        const struct row *x = &rows[n];
        struct problem p;
        struct tensor dO;
        struct certified c;
        assert_true(small_problem(&p, 1, x->Nq, x->Nk, x->q, x->k, x->v));
        assert_int_equal(small_tensor(&dO, x->Nq, 1, x->dO), x->Nq);
        p.scale = (struct scale){x->scale, x->root};
        p.softcap = x->softcap;
        p.mask.causal = x->causal;
        certified_init(&c);
        struct certified_gradients *g = certified_gradients_new(&p, 0, &dO);
        char *text = certified_gradient_digits(g, x->which, 0, x->row, 0, x->digits, &c);
        if (strcmp(text, x->text) != 0 || c.rational != x->rational)
            fail_msg("%s: %s%s, expected %s", x->what, text, c.rational ? " (rational)" : "", x->text);
        if (strcmp(text, "undecided") == 0)
            assert_true(!c.decided && c.precision >= CERTIFIED_GRADIENT_BITS / 2);
        free(text);
        certified_gradients_free(g);
        certified_clear(&c);
        tensor_free(&dO);
        problem_free(&p);
    }
}

/* Digits and roundings of a group of two heads, from sums of 900 bits. */
static void random_groups(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int n = 0; n < 12; n++) {
        struct problem_options o = problem_defaults();
        struct problem p;
        struct tensor dO;
        struct exact_gradients truth;
        struct certified c;
        o.mask.causal = n % 2;
        o.softcap = n % 3 == 2 ? 2 : 0;
        assert_true(draw_problem(&p, FORMAT_FP32, (struct shape){1, 2, 1, 3, 4, 2}, 1, &o, &state));
        assert_true(draw_tensor(&dO, FORMAT_FP32, 1, 2, 3, 2, 1, &state));
        struct head h = problem_head(&p, 0);
        exact_gradients_new(&truth, &h, 2, 900);
        for (int64_t i = 0; i < 2; i++) {
            h = problem_head(&p, i);
            exact_gradients_add(&truth, &h, &dO);
        }
        certified_init(&c);
        struct certified_gradients *g = certified_gradients_new(&p, 0, &dO);
        for (int which = 0; which < 3; which++)
            for (int64_t i = 0; i < (which == 0 ? 12 : 8); i++) {
                mpfr_t *x = which == 0 ? truth.dQ : which == 1 ? truth.dK : truth.dV;
                int64_t head = which == 0 ? i / 6 : 0, row = which == 0 ? i / 2 % 3 : i / 2;
                char want[64], *got;
                double rounded = certified_gradient_round(g, (enum gradient)which, head, row, i % 2,
                                                          FORMAT_BF16, &c);
                assert_true(c.decided && mpfr_cmp(c.low, x[i]) <= 0 && mpfr_cmp(c.high, x[i]) >= 0);
                assert_true(rounded == format_round(FORMAT_BF16, mpfr_get_d(x[i], MPFR_RNDN), false));
                got = certified_gradient_digits(g, (enum gradient)which, head, row, i % 2, 20, &c);
                mpfr_snprintf(want, sizeof want, "%.19Re", x[i]);
                assert_true(c.decided);
                assert_true(strtod(got, NULL) == strtod(want, NULL));
                free(got);
            }
        certified_gradients_free(g);
        certified_clear(&c);
        exact_gradients_free(&truth);
        tensor_free(&dO);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structural_cases),
        cmocka_unit_test(random_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
