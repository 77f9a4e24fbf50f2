/* exact_gradients.c: see the header.  P = the precision asked for, p = P + 64 bits, u = 2^-p.

   Error.  Let A_c = sum_d |dO_d v_cd|, so |dP_c| <= A_c, and A = sum P_c A_c.  dP is exact; it is
   taken relative to the key of largest weight, e_c = dP_c - dP_0, so that one key, or equal dP,
   give exactly 0.  P_0 >= 1/n, so |e_c| <= A_c + n A.  Weights come to 15.3 u each, P to 2 * 15.3 +
   n + 1; the mean of e to (4 * 15.3 + 3 n) u sum P |e|; their difference, the slope (8 u, at most
   1) and the products follow: |dS - true| <= (200 + 8 n)(n + 1) u P_c (A_c + A).  Sums of N terms
   add N u, the scale 3 u.  For n, N < 2^24 all this is below 2^52 u < 2^-P. */
#include "reference/exact_gradients.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "reference/dyadic.h"
#include "reference/exact_scores.h"

enum { GUARD = 64, SIZE_BITS = 64 };

/* One query: its keys' weights and score gradients. */
struct query {
    struct scores all; /* score: P, once divided */
    mpfr_t *dP, *dS;
    mpfr_t *A, mean_A; /* sum |dO v| of each key; sum P A */
    double *q, *k, *v, *dO; /* rows */
    mpfr_prec_t working;
};

static void *must(void *memory)
{
    assert(memory != NULL);
    return memory;
}

static mpfr_t *numbers_new(int64_t count, mpfr_prec_t precision)
{
    mpfr_t *x = must(malloc(((size_t)count + 1) * sizeof *x));
    for (int64_t i = 0; i < count; i++) {
        mpfr_init2(x[i], precision);
        mpfr_set_zero(x[i], 1);
    }
    return x;
}

static void numbers_free(mpfr_t *x, int64_t count)
{
    for (int64_t i = 0; x != NULL && i < count; i++)
        mpfr_clear(x[i]);
    free(x);
}

void exact_gradients_new(struct exact_gradients *g, const struct head *h, int64_t heads,
                         mpfr_prec_t precision)
{
    int64_t queries = heads * h->Nq * h->D, keys = h->Nk * h->D;
    *g = (struct exact_gradients){heads, h->Nq, h->Nk, h->D, .precision = precision};
    g->dQ = numbers_new(queries, precision + GUARD);
    g->dK = numbers_new(keys, precision + GUARD);
    g->dV = numbers_new(keys, precision + GUARD);
    g->dQ_size = numbers_new(queries, SIZE_BITS);
    g->dK_size = numbers_new(keys, SIZE_BITS);
    g->dV_size = numbers_new(keys, SIZE_BITS);
}

void exact_gradients_free(struct exact_gradients *g)
{
    numbers_free(g->dQ, g->heads * g->Nq * g->D);
    numbers_free(g->dK, g->Nk * g->D);
    numbers_free(g->dV, g->Nk * g->D);
    numbers_free(g->dQ_size, g->heads * g->Nq * g->D);
    numbers_free(g->dK_size, g->Nk * g->D);
    numbers_free(g->dV_size, g->Nk * g->D);
}

static void query_new(struct query *x, const struct head *h, int64_t r, const struct tensor *dO,
                      mpfr_prec_t working)
{
    size_t D = (size_t)h->D;
    x->working = working;
    x->q = must(malloc(4 * D * sizeof *x->q));
    x->k = x->q + D;
    x->v = x->k + D;
    x->dO = x->v + D;
    tensor_row(&h->problem->q, h->batch, h->head, h->q0 + r, h->D, x->q);
    tensor_row(dO, h->batch, h->head, h->q0 + r, h->D, x->dO);
    scores_new(&x->all, h, r, working, true);
    x->dP = numbers_new(x->all.count, 64);
    x->dS = numbers_new(x->all.count, working);
    x->A = numbers_new(x->all.count, SIZE_BITS);
    mpfr_init2(x->mean_A, SIZE_BITS);
}

static void query_free(struct query *x)
{
    numbers_free(x->dP, x->all.count);
    numbers_free(x->dS, x->all.count);
    numbers_free(x->A, x->all.count);
    mpfr_clear(x->mean_A);
    scores_free(&x->all);
    free(x->q);
}

/* score[c] becomes P_c; all NaN where the maximum is not finite.  Returns the heaviest key. */
static int64_t probabilities(struct query *x)
{
    mpfr_t M, l;
    mpfr_inits2(x->working, M, l, (mpfr_ptr)0);
    int64_t heaviest = scores_largest(M, &x->all);
    bool finite = mpfr_number_p(M) != 0;
    if (finite)
        scores_weigh(&x->all, M, x->working, l);
    for (int64_t c = 0; c < x->all.count; c++) {
        if (finite)
            mpfr_div(x->all.score[c], x->all.score[c], l, MPFR_RNDN);
        else
            mpfr_set_nan(x->all.score[c]);
    }
    mpfr_clears(M, l, (mpfr_ptr)0);
    return heaviest;
}

static void value_products(struct query *x, const struct head *h)
{
    mpfr_set_zero(x->mean_A, 1);
    for (int64_t c = 0; c < x->all.count; c++) {
        tensor_row(&h->problem->v, h->batch, h->kv_head, h->k0 + x->all.key[c], h->D, x->v);
        dot_exact(x->dP[c], x->dO, x->v, h->D);
        for (int64_t d = 0; d < h->D; d++)
            mpfr_add_d(x->A[c], x->A[c], fabs(x->dO[d] * x->v[d]), MPFR_RNDN);
        mpfr_fma(x->mean_A, x->all.score[c], x->A[c], x->mean_A, MPFR_RNDN);
    }
}

/* dS_c = slope P_c (e_c - sum P e), e = dP - base; base is 0 where some dP is not finite. */
static void score_gradients(struct query *x, int64_t heaviest)
{
    mpfr_t mean, base;
    mpfr_init2(mean, x->working);
    mpfr_init2(base, mpfr_get_prec(x->dP[heaviest]));
    mpfr_set(base, x->dP[heaviest], MPFR_RNDN);
    for (int64_t c = 0; c < x->all.count; c++)
        if (!mpfr_number_p(x->dP[c]))
            mpfr_set_zero(base, 1);
    mpfr_set_zero(mean, 1);
    for (int64_t c = 0; c < x->all.count; c++) {
        mpfr_sub(x->dS[c], x->dP[c], base, MPFR_RNDN);
        mpfr_fma(mean, x->all.score[c], x->dS[c], mean, MPFR_RNDN);
    }
    for (int64_t c = 0; c < x->all.count; c++) {
        mpfr_sub(x->dS[c], x->dS[c], mean, MPFR_RNDN);
        mpfr_mul(x->dS[c], x->dS[c], x->all.score[c], MPFR_RNDN);
        mpfr_mul(x->dS[c], x->dS[c], x->all.slope[c], MPFR_RNDN);
    }
    mpfr_clears(mean, base, (mpfr_ptr)0);
}

/* sum += factor y, size += |factor_size y|. */
static void take_term(mpfr_ptr sum, mpfr_ptr size, mpfr_srcptr factor, mpfr_srcptr factor_size,
                      double y)
{
    mpfr_t value;
    mpfr_init2(value, 53);
    mpfr_set_d(value, y, MPFR_RNDN);
    mpfr_fma(sum, factor, value, sum, MPFR_RNDN);
    mpfr_abs(value, value, MPFR_RNDN);
    mpfr_fma(size, factor_size, value, size, MPFR_RNDN);
    mpfr_clear(value);
}

static void take_query(struct exact_gradients *g, const struct head *h, int64_t r,
                       struct query *x, const mpfr_t scale)
{
    mpfr_t size;
    mpfr_init2(size, SIZE_BITS);
    for (int64_t c = 0; c < x->all.count; c++) {
        int64_t at_k = x->all.key[c] * g->D, at_q = (h->head % g->heads * g->Nq + r) * g->D;
        mpfr_srcptr P = x->all.score[c];
        tensor_row(&h->problem->k, h->batch, h->kv_head, h->k0 + x->all.key[c], h->D, x->k);
        mpfr_mul(x->dS[c], x->dS[c], scale, MPFR_RNDN);
        mpfr_add(size, x->A[c], x->mean_A, MPFR_RNDN);
        mpfr_mul(size, size, P, MPFR_RNDN);
        mpfr_mul(size, size, scale, MPFR_RNDN);
        mpfr_abs(size, size, MPFR_RNDN);
        for (int64_t d = 0; d < g->D; d++) {
            if (g->columns != NULL && !g->columns[d])
                continue;
            take_term(g->dQ[at_q + d], g->dQ_size[at_q + d], x->dS[c], size, x->k[d]);
            take_term(g->dK[at_k + d], g->dK_size[at_k + d], x->dS[c], size, x->q[d]);
            take_term(g->dV[at_k + d], g->dV_size[at_k + d], P, P, x->dO[d]);
        }
    }
    mpfr_clear(size);
}

void exact_gradients_add(struct exact_gradients *g, const struct head *h, const struct tensor *dO)
{
    assert(g->Nq == h->Nq && g->Nk == h->Nk && g->D == h->D);
    mpfr_t scale;
    mpfr_init2(scale, g->precision + GUARD);
    exact_scale(scale, h->problem);
    for (int64_t i = 0; i < g->Nq * g->D; i++) {
        mpfr_set_zero(g->dQ[h->head % g->heads * g->Nq * g->D + i], 1);
        mpfr_set_zero(g->dQ_size[h->head % g->heads * g->Nq * g->D + i], 1);
    }
    for (int64_t r = 0; r < h->Nq; r++) {
        struct query x;
        query_new(&x, h, r, dO, g->precision + GUARD);
        if (x.all.count > 0) {
            int64_t heaviest = probabilities(&x);
            value_products(&x, h);
            score_gradients(&x, heaviest);
            take_query(g, h, r, &x, scale);
        }
        query_free(&x);
    }
    mpfr_clear(scale);
}
