/* certified_group.c: builds and frees a certified row: which keys are seen, their exact dot
   products, and the classes of equal score.  Two scores are equal exactly when the dot products are
   (softcap is strictly increasing), or when the scale is 0. */
#include "reference/certified.h"
#include "reference/certified_row.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "reference/dyadic.h"

struct scored {
    mpfr_t dot;
    int64_t key;
};

static int by_falling_dot(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    int order = mpfr_cmp(y->dot, x->dot);
    return order != 0 ? order : (x->key > y->key) - (x->key < y->key);
}

/* The dot products of the visible keys, negated where the scale is negative and 0 where it is 0, so
   that they rise with the score. */
static int64_t score_keys(const struct head *h, int64_t r, struct scored *all)
{
    const struct problem *p = h->problem;
    double *q = malloc((size_t)h->D * sizeof *q), *k = malloc((size_t)h->D * sizeof *k);
    assert(q && k);
    tensor_row(&p->q, h->batch, h->head, h->q0 + r, h->D, q);
    int64_t count = 0;
    for (int64_t c = 0; c < h->Nk; c++) {
        if (!sees(h, r, c))
            continue;
        tensor_row(&p->k, h->batch, h->kv_head, h->k0 + c, h->D, k);
        mpfr_ptr dot = all[count].dot;
        mpfr_init2(dot, 64);
        dot_exact(dot, q, k, h->D);
        if (p->scale.value == 0)
            mpfr_mul_ui(dot, dot, 0, MPFR_RNDN); /* 0 * inf is NaN */
        else if (p->scale.value < 0)
            mpfr_neg(dot, dot, MPFR_RNDN);
        all[count++].key = c;
    }
    free(q);
    free(k);
    return count;
}

/* Sets row->output and row->lse from the scores; returns whether there is anything to sum. */
static bool judge(struct certified_row *row, const struct scored *all, int64_t count)
{
    row->output = row->lse = VALUE_FINITE;
    bool capped = row->head.problem->softcap > 0, nan = false;
    int64_t weightless = 0;
    for (int64_t j = 0; j < count; j++) {
        nan |= mpfr_nan_p(all[j].dot) ||
               (!capped && mpfr_inf_p(all[j].dot) && mpfr_sgn(all[j].dot) > 0);
        weightless += !capped && mpfr_inf_p(all[j].dot) && mpfr_sgn(all[j].dot) < 0;
    }
    if (count == 0) {
        row->output = VALUE_ZERO;
        row->lse = VALUE_MINUS_INF;
    } else if (nan) {
        row->output = row->lse = VALUE_NAN;
    } else if (weightless == count) {
        row->output = VALUE_NAN;
        row->lse = VALUE_MINUS_INF;
    }
    row->weightless = weightless;
    row->keys = count - weightless;
    return row->output == VALUE_FINITE;
}

mpz_t *row_integers(int64_t count)
{
    mpz_t *z = malloc((size_t)count * sizeof *z);
    assert(z);
    for (int64_t c = 0; c < count; c++)
        mpz_init(z[c]);
    return z;
}

void row_free_integers(mpz_t *z, int64_t count)
{
    for (int64_t c = 0; z != NULL && c < count; c++)
        mpz_clear(z[c]);
    free(z);
}

static void group(struct certified_row *row, struct scored *all, int64_t count)
{
    qsort(all, (size_t)count, sizeof *all, by_falling_dot);
    row->key = malloc((size_t)count * sizeof *row->key);
    row->first = malloc(((size_t)row->keys + 1) * sizeof *row->first);
    row->dot = malloc((size_t)row->keys * sizeof *row->dot);
    assert(row->key && row->first && row->dot);
    bool negative = row->head.problem->scale.value < 0;
    for (int64_t j = 0; j < count; j++) {
        row->key[j] = all[j].key;
        if (j >= row->keys || (j > 0 && mpfr_equal_p(all[j].dot, all[j - 1].dot)))
            continue;
        mpfr_ptr dot = row->dot[row->classes];
        mpfr_init2(dot, mpfr_get_prec(all[j].dot));
        mpfr_set(dot, all[j].dot, MPFR_RNDN);
        if (negative)
            mpfr_neg(dot, dot, MPFR_RNDN);
        row->first[row->classes++] = j;
    }
    row->first[row->classes] = row->keys;
    row->W = row_integers(row->classes);
    row->temporary = row_integers(row->classes);
    row->a = row_integers(row->classes);
    row->values = malloc((size_t)count * COLUMNS * sizeof *row->values);
    assert(row->values);
}

long integer_root(int64_t n)
{
    long root = (long)sqrt((double)n);
    while (root > 0 && (int64_t)root * root > n)
        root--;
    while ((int64_t)(root + 1) * (root + 1) <= n)
        root++;
    return (int64_t)root * root == n ? root : 0;
}

struct certified_row *certified_row_new(const struct head *h, int64_t r)
{
    struct certified_row *row = calloc(1, sizeof *row);
    struct scored *all = malloc(((size_t)h->Nk + 1) * sizeof *all);
    assert(row && all);
    row->head = *h;
    row->row = r;
    row->column = row->block = -1;
    row->root = integer_root(h->problem->scale.root);
    mpfr_init2(row->factor, 64);
    mpz_init(row->total);
    int64_t count = score_keys(h, r, all);
    if (judge(row, all, count))
        group(row, all, count);
    for (int64_t j = 0; j < count; j++)
        mpfr_clear(all[j].dot);
    free(all);
    return row;
}

void certified_row_free(struct certified_row *row)
{
    if (row == NULL)
        return;
    for (int64_t c = 0; c < row->classes; c++)
        mpfr_clear(row->dot[c]);
    row_free_integers(row->W, row->classes);
    row_free_integers(row->temporary, row->classes);
    row_free_integers(row->a, row->classes);
    mpfr_clear(row->factor);
    mpz_clear(row->total);
    free(row->values);
    free(row->dot);
    free(row->first);
    free(row->key);
    free(row);
}
