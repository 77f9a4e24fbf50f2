/* test_gradients.c: exact gradients against central differences of the exact output, on every kind
   of mask; the contracts; the worked group of two query heads; the stated precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/exact.h"
#include "reference/exact_gradients.h"
#include "tests/random_problem.h"
#include "tests/small_problem.h"

enum { TRUTH = 320 };

static const struct mask_row {
    bool causal, top_left;
    int64_t left, right;
    double softcap, scale;
} masks[] = {
    {false, false, -1, -1, 0, 0},  {true, false, -1, -1, 0, 0}, {true, true, -1, -1, 0, 0},
    {false, false, 1, 1, 0, 0},    {false, false, 0, 0, 0, 0},  {false, true, 1, 0, 0, 0},
    {false, false, -1, -1, 1.5, 0}, {true, false, -1, -1, 0.75, 0}, {false, false, -1, -1, 0, -1.5},
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1}, {1, 1, 1, 3, 4, 2}, {1, 2, 1, 4, 2, 2}, {1, 4, 2, 2, 3, 2},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Values are multiples of 2^-10, so that x + 2^-40 is a double. */
static void coarsen(struct tensor *t)
{
    double *x = t->data;
    for (int64_t i = 0; i < tensor_elements(t); i++)
        x[i] = ldexp(rint(ldexp(x[i], 10)), -10);
}

/* sum dO . O over every query head of one key head. */
static void loss(mpfr_t sum, const struct problem *p, const struct tensor *dO, int64_t kv_head)
{
    mpfr_t *O = malloc((size_t)p->D * sizeof *O);
    for (int64_t d = 0; d < p->D; d++)
        mpfr_init2(O[d], TRUTH);
    mpfr_set_zero(sum, 1);
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        for (int64_t r = 0; r < h.Nq && h.kv_head == kv_head; r++) {
            exact_row(&h, r, TRUTH, O, NULL);
            for (int64_t d = 0; d < p->D; d++) {
                mpfr_mul_d(O[d], O[d], tensor_get(dO, h.batch, h.head, h.q0 + r, d), MPFR_RNDN);
                mpfr_add(sum, sum, O[d], MPFR_RNDN);
            }
        }
    }
    for (int64_t d = 0; d < p->D; d++)
        mpfr_clear(O[d]);
    free(O);
}

/* |(loss(x + h) - loss(x - h)) / 2 h - got| <= 2^-60, x the n-th double of the tensor. */
static void same_as_difference(const char *what, const struct problem *p, const struct tensor *dO,
                               int64_t kv_head, struct tensor *t, int64_t n, const mpfr_t got)
{
    double *x = (double *)t->data + n, kept = *x;
    mpfr_t up, down;
    mpfr_inits2(TRUTH, up, down, (mpfr_ptr)0);
    *x = kept + 0x1p-40;
    loss(up, p, dO, kv_head);
    *x = kept - 0x1p-40;
    loss(down, p, dO, kv_head);
    *x = kept;
    mpfr_sub(up, up, down, MPFR_RNDN);
    mpfr_mul_2si(up, up, 39, MPFR_RNDN);
    mpfr_sub(down, up, got, MPFR_RNDN);
    if (mpfr_nan_p(down) || (!mpfr_zero_p(down) && mpfr_get_exp(down) > -60)) {
        mpfr_printf("# got %.30Rg\n# not %.30Rg\n", got, up);
        fail_msg("%s element %d: Hq %d Nq %d Nk %d D %d causal %d window %d,%d softcap %g", what,
                 (int)n, (int)p->Hq, (int)p->Nq, (int)p->Nk, (int)p->D, p->mask.causal,
                 (int)p->mask.left, (int)p->mask.right, p->softcap);
    }
    mpfr_clears(up, down, (mpfr_ptr)0);
}

static int64_t check_group(const struct problem *p, const struct tensor *dO, int64_t kv_head)
{
    struct exact_gradients g;
    struct head h = problem_head(p, kv_head * (p->Hq / p->Hkv));
    struct tensor q = p->q, k = p->k, v = p->v;
    exact_gradients_new(&g, &h, 1, TRUTH);
    for (int64_t n = 0; n < problem_units(p); n++) {
        h = problem_head(p, n);
        if (h.kv_head != kv_head)
            continue;
        exact_gradients_add(&g, &h, dO);
        for (int64_t i = 0; i < h.Nq * h.D; i++)
            same_as_difference("dQ", p, dO, kv_head, &q, h.head * h.Nq * h.D + i, g.dQ[i]);
    }
    for (int64_t i = 0; i < p->Nk * p->D; i++) {
        same_as_difference("dK", p, dO, kv_head, &k, kv_head * p->Nk * p->D + i, g.dK[i]);
        same_as_difference("dV", p, dO, kv_head, &v, kv_head * p->Nk * p->D + i, g.dV[i]);
    }
    exact_gradients_free(&g);
    return p->Nq * p->D * (p->Hq / p->Hkv) + 2 * p->Nk * p->D;
}

static void central_differences(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    int64_t checked = 0;
    for (size_t m = 0; m < COUNT(masks); m++)
        for (size_t n = 0; n < COUNT(shapes); n++) {
            const struct mask_row *row = &masks[m];
            struct problem_options o = problem_defaults();
            struct problem p;
            struct tensor dO;
            o.mask = (struct mask){row->causal, row->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT,
                                   row->left, row->right};
            o.softcap = row->softcap;
            o.scale_given = row->scale != 0;
            o.scale = row->scale;
            assert_true(draw_problem(&p, FORMAT_FP64, shapes[n], 1, &o, &state));
            assert_true(draw_tensor(&dO, FORMAT_FP64, 1, p.Hq, p.Nq, p.D, 1, &state));
            coarsen(&p.q);
            coarsen(&p.k);
            coarsen(&p.v);
            for (int64_t kv_head = 0; kv_head < p.Hkv; kv_head++)
                checked += check_group(&p, &dO, kv_head);
            tensor_free(&dO);
            problem_free(&p);
        }
    printf("# note %lld gradients within 2^-60 of central differences\n", (long long)checked);
}

/* D = 1, dO of one number a query; the expected gradients to nine digits or exactly. */
static const struct contract_row {
    const char *what;
    int Nq, Nk;
    const char *q, *k, *v, *dO;
    bool causal;
    double softcap;
    const char *dQ, *dK, *dV;
} contracts[] = {
    {"one key", 1, 1, "3", "2", "5", "7", false, 0, "0", "0", "7"},
    {"one key, two queries", 2, 1, "3 -1", "2", "5", "7 2", false, 0, "0 0", "0", "9"},
    {"equal values", 1, 3, "1", "1 2 3", "5 5 5", "7", false, 0, "0", "0 0 0",
     "0.630214012 1.7130993 4.65668669"},
    {"a query that sees no key", 2, 1, "3 1", "2", "5", "7 2", true, 0, "0 0", "0", "2"},
    {"no keys", 1, 0, "3", "", "", "7", false, 0, "0", "", ""},
    {"equal scores", 1, 2, "0", "1 3", "1 2", "1", false, 0, "0.5", "0 0", "0.5 0.5"},
    {"a score of -inf", 1, 2, "1", "-inf 1", "5 3", "2", false, 0, "nan", "0 0", "0 2"},
    {"a score of +inf", 1, 2, "1", "inf 1", "5 3", "2", false, 0, "nan", "nan nan", "nan nan"},
    {"an infinite value", 1, 2, "1", "2 1", "inf 3", "1", false, 0, "nan", "nan -inf",
     "0.731058579 0.268941421"},
    {"softcap at work", 1, 2, "1", "2 -1", "1 0", "1", false, 1, "0.0720131726",
     "0.00906468497 -0.0538838027", "0.848851535 0.151148465"},
};

static void same_numbers(const char *name, const char *what, const mpfr_t *got, int64_t count,
                         const char *want)
{
    for (int64_t i = 0; i < count; i++) {
        char text[64], *end;
        mpfr_snprintf(text, sizeof text, "%.9Rg", got[i]);
        double a = strtod(text, NULL), b = strtod(want, &end);
        assert_true(end != want);
        if (!(a == b || (isnan(a) && isnan(b))))
            fail_msg("%s: %s[%d] = %s, expected %.9g", name, what, (int)i, text, b);
        want = end;
    }
}

static void contract_rows(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < COUNT(contracts); n++) {
        const struct contract_row *row = &contracts[n];
        struct problem p;
        struct tensor dO;
        struct exact_gradients g;
        assert_true(small_problem(&p, 1, row->Nq, row->Nk, row->q, row->k, row->v));
        assert_int_equal(small_tensor(&dO, row->Nq, 1, row->dO), row->Nq);
        p.mask.causal = row->causal;
        p.softcap = row->softcap;
        struct head h = problem_head(&p, 0);
        exact_gradients_new(&g, &h, 1, 200);
        exact_gradients_add(&g, &h, &dO);
        same_numbers(row->what, "dQ", g.dQ, row->Nq, row->dQ);
        same_numbers(row->what, "dK", g.dK, row->Nk, row->dK);
        same_numbers(row->what, "dV", g.dV, row->Nk, row->dV);
        exact_gradients_free(&g);
        tensor_free(&dO);
        problem_free(&p);
    }
}

/* Two query heads share K = V = [0, 1]; q = 1 and 2, scale 1, dO = 1. */
static void worked_group(void **unused)
{
    (void)unused;
    static const char *const dQ[] = {"0.196611933", "0.104993585"};
    struct problem p;
    struct tensor dO;
    struct message why;
    struct exact_gradients g;
    assert_true(small_problem(&p, 1, 1, 2, "0", "0 1", "0 1"));
    tensor_free(&p.q);
    assert_true(tensor_new(&p.q, FORMAT_FP64, 4, (int64_t[]){1, 2, 1, 1}, &why));
    assert_true(tensor_new(&dO, FORMAT_FP64, 4, (int64_t[]){1, 2, 1, 1}, &why));
    p.Hq = 2;
    for (int n = 0; n < 2; n++) {
        tensor_set(&p.q, 0, n, 0, 0, n + 1);
        tensor_set(&dO, 0, n, 0, 0, 1);
    }
    struct head h = problem_head(&p, 0);
    exact_gradients_new(&g, &h, 1, 200);
    for (int64_t n = 0; n < 2; n++) {
        h = problem_head(&p, n);
        exact_gradients_add(&g, &h, &dO);
        same_numbers("worked group", "dQ", g.dQ, 1, dQ[n]);
    }
    same_numbers("worked group", "dK", g.dK, 2, "-0.406599104 0.406599104");
    same_numbers("worked group", "dV", g.dV, 2, "0.388144343 1.61185566");
    exact_gradients_free(&g);
    tensor_free(&dO);
    problem_free(&p);
}

static void within(const char *what, const mpfr_t *got, const mpfr_t *size, const mpfr_t *truth,
                   int64_t count)
{
    mpfr_t error, bound;
    mpfr_inits2(64, error, bound, (mpfr_ptr)0);
    for (int64_t i = 0; i < count; i++) {
        mpfr_sub(error, got[i], truth[i], MPFR_RNDA);
        mpfr_mul_2si(bound, size[i], -60, MPFR_RNDN);
        if (mpfr_cmpabs(error, bound) > 0) {
            mpfr_printf("# got %.30Rg\n# not %.30Rg\n", got[i], truth[i]);
            fail_msg("%s[%d] is farther off than 2^-60 of its size", what, (int)i);
        }
    }
    mpfr_clears(error, bound, (mpfr_ptr)0);
}

/* Scores of thousands, too: weights far below any double's range. */
static void stated_precision(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    for (int n = 0; n < 60; n++) {
        struct problem_options o = problem_defaults();
        struct problem p;
        struct tensor dO;
        struct exact_gradients g, truth;
        o.softcap = n % 3 == 1 ? 0.01 : n % 3 == 2 ? 30 : 0;
        assert_true(draw_problem(&p, FORMAT_FP32, (struct shape){1, 1, 1, 4, 6, 3}, n % 2 ? 40 : 1, &o,
                                 &state));
        assert_true(draw_tensor(&dO, FORMAT_FP32, 1, 1, 4, 3, 1, &state));
        struct head h = problem_head(&p, 0);
        exact_gradients_new(&g, &h, 1, 60);
        exact_gradients_new(&truth, &h, 1, TRUTH);
        exact_gradients_add(&g, &h, &dO);
        exact_gradients_add(&truth, &h, &dO);
        within("dQ", g.dQ, truth.dQ_size, truth.dQ, 12);
        within("dK", g.dK, truth.dK_size, truth.dK, 18);
        within("dV", g.dV, truth.dV_size, truth.dV, 18);
        exact_gradients_free(&g);
        exact_gradients_free(&truth);
        tensor_free(&dO);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(central_differences),
        cmocka_unit_test(contract_rows),
        cmocka_unit_test(worked_group),
        cmocka_unit_test(stated_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
