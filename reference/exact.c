/* exact.c: attention by definition.  P = the precision asked for, p = P + 32 bits, u = 2^-p.

   Error.  Dot products are exact.  A score takes at most six roundings (root, quotient, product;
   softcap: quotient, tanh, product; tanh's relative condition number is at most 1) at p + max(0, E)
   bits, where |s| < 2^E: absolute error 6.1 u.  s - M: 12.2 u from both, 2 u for the subtraction.
   With the exponential's rounding every weight is e^x (1 + e), |e| <= 15.3 u.  Sums of n < 2^30
   terms add n u, relative to A above and to l below, and the division u.  Numerator and denominator
   together: |O - true| <= (2 * 15.3 + 2 n + 2) u A + 2^-P |O| / 2 < 2^-P (A + |O|).
   LSE: 6.1 u for M, (15.3 + n) u for ln l, one rounding of each: < 2^-P (1 + |LSE|).
   An exponential below MPFR's range counts as its smallest number, so that it still carries an
   infinity in V. */
#include "reference/exact.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "reference/dyadic.h"
#include "reference/exact_scores.h"

enum { GUARD = 32 };

static mpfr_prec_t score_precision(const struct problem *p, const mpfr_t dot, mpfr_prec_t working)
{
    if (!mpfr_regular_p(dot) || p->scale.value == 0)
        return working;
    mpfr_exp_t exponent = mpfr_get_exp(dot) + ilogb(p->scale.value) + 1;
    return working + (exponent > 0 ? exponent : 0);
}

void exact_scale(mpfr_t factor, const struct problem *p)
{
    mpfr_sqrt_ui(factor, (unsigned long)p->scale.root, MPFR_RNDN);
    mpfr_d_div(factor, p->scale.value, factor, MPFR_RNDN);
}

/* s = value * dot / sqrt(root), then c tanh(s / c); slope, unless NULL: sech(s / c)^2 or 1. */
static void score_of(const struct problem *p, mpfr_t s, mpfr_ptr slope, const mpfr_t dot,
                     mpfr_prec_t working)
{
    mpfr_prec_t precision = score_precision(p, dot, working);
    mpfr_t factor;
    mpfr_init2(factor, precision);
    mpfr_set_prec(s, precision);
    exact_scale(factor, p);
    mpfr_mul(s, dot, factor, MPFR_RNDN);
    if (slope != NULL)
        mpfr_set_ui(slope, 1, MPFR_RNDN);
    if (p->softcap > 0) {
        mpfr_div_d(s, s, p->softcap, MPFR_RNDN);
        if (slope != NULL) {
            mpfr_sech(slope, s, MPFR_RNDN);
            mpfr_sqr(slope, slope, MPFR_RNDN);
        }
        mpfr_tanh(s, s, MPFR_RNDN);
        mpfr_mul_d(s, s, p->softcap, MPFR_RNDN);
    }
    mpfr_clear(factor);
}

void scores_new(struct scores *all, const struct head *h, int64_t r, mpfr_prec_t working,
                bool slopes)
{
    const struct problem *p = h->problem;
    double *q = malloc((size_t)h->D * sizeof *q), *k = malloc((size_t)h->D * sizeof *k);
    all->count = 0;
    all->key = malloc(((size_t)h->Nk + 1) * sizeof *all->key);
    all->score = malloc(((size_t)h->Nk + 1) * sizeof *all->score);
    all->slope = slopes ? malloc(((size_t)h->Nk + 1) * sizeof *all->slope) : NULL;
    assert(q && k && all->key && all->score && (!slopes || all->slope));
    tensor_row(&p->q, h->batch, h->head, h->q0 + r, h->D, q);
    mpfr_t dot;
    mpfr_init2(dot, 64);
    for (int64_t c = 0; c < h->Nk; c++) {
        if (!sees(h, r, c))
            continue;
        tensor_row(&p->k, h->batch, h->kv_head, h->k0 + c, h->D, k);
        dot_exact(dot, q, k, h->D);
        mpfr_init2(all->score[all->count], working);
        if (slopes)
            mpfr_init2(all->slope[all->count], working);
        score_of(p, all->score[all->count], slopes ? all->slope[all->count] : NULL, dot, working);
        all->key[all->count++] = c;
    }
    mpfr_clear(dot);
    free(q);
    free(k);
}

void scores_free(struct scores *all)
{
    for (int64_t j = 0; j < all->count; j++) {
        mpfr_clear(all->score[j]);
        if (all->slope != NULL)
            mpfr_clear(all->slope[j]);
    }
    free(all->slope);
    free(all->score);
    free(all->key);
}

int64_t scores_largest(mpfr_t M, const struct scores *all)
{
    int64_t best = 0;
    for (int64_t j = 0; j < all->count; j++) {
        if (mpfr_nan_p(all->score[j])) {
            mpfr_set_nan(M);
            return j;
        }
        if (mpfr_greater_p(all->score[j], all->score[best]))
            best = j;
    }
    mpfr_set_prec(M, mpfr_get_prec(all->score[best]));
    mpfr_set(M, all->score[best], MPFR_RNDN);
    return best;
}

void scores_weigh(struct scores *all, const mpfr_t M, mpfr_prec_t working, mpfr_t l)
{
    mpfr_t x;
    mpfr_init2(x, working);
    mpfr_set_zero(l, 1);
    for (int64_t j = 0; j < all->count; j++) {
        mpfr_ptr s = all->score[j];
        mpfr_prec_t wider =
            mpfr_get_prec(s) > mpfr_get_prec(M) ? mpfr_get_prec(s) : mpfr_get_prec(M);
        mpfr_set_prec(x, wider);
        mpfr_sub(x, s, M, MPFR_RNDN);
        mpfr_set_prec(s, working);
        mpfr_exp(s, x, MPFR_RNDN);
        if (mpfr_zero_p(s) && !mpfr_inf_p(x))
            mpfr_nextabove(s);
        mpfr_add(l, l, s, MPFR_RNDN);
    }
    mpfr_clear(x);
}

static void weighted_mean(const struct head *h, const struct scores *all, const mpfr_t l,
                          mpfr_prec_t working, mpfr_t *O)
{
    double *v = malloc((size_t)h->D * sizeof *v);
    mpfr_t *sum = malloc((size_t)h->D * sizeof *sum), value;
    assert(v && sum);
    mpfr_init2(value, 53);
    for (int64_t d = 0; d < h->D; d++) {
        mpfr_init2(sum[d], working);
        mpfr_set_zero(sum[d], 1);
    }
    for (int64_t j = 0; j < all->count; j++) {
        tensor_row(&h->problem->v, h->batch, h->kv_head, h->k0 + all->key[j], h->D, v);
        for (int64_t d = 0; d < h->D; d++) {
            mpfr_set_d(value, v[d], MPFR_RNDN);
            mpfr_fma(sum[d], all->score[j], value, sum[d], MPFR_RNDN);
        }
    }
    for (int64_t d = 0; d < h->D; d++) {
        mpfr_div(sum[d], sum[d], l, MPFR_RNDN);
        mpfr_set(O[d], sum[d], MPFR_RNDN);
        mpfr_clear(sum[d]);
    }
    mpfr_clear(value);
    free(sum);
    free(v);
}

/* O the same in every column, and LSE, for rows without a finite maximum. */
static void row_without_maximum(const struct head *h, mpfr_t *O, bool nan, mpfr_ptr lse,
                                bool lse_nan)
{
    for (int64_t d = 0; O != NULL && d < h->D; d++) {
        if (nan)
            mpfr_set_nan(O[d]);
        else
            mpfr_set_zero(O[d], 1);
    }
    if (lse != NULL && lse_nan)
        mpfr_set_nan(lse);
    else if (lse != NULL)
        mpfr_set_inf(lse, -1);
}

void exact_row(const struct head *h, int64_t r, mpfr_prec_t precision, mpfr_t *O, mpfr_ptr lse)
{
    mpfr_prec_t working = precision + GUARD;
    struct scores all;
    mpfr_t M, l;
    mpfr_inits2(working, M, l, (mpfr_ptr)0);
    scores_new(&all, h, r, working, false);
    if (all.count > 0)
        scores_largest(M, &all);
    if (all.count == 0) {
        row_without_maximum(h, O, false, lse, false);
    } else if (!mpfr_number_p(M)) {
        row_without_maximum(h, O, true, lse, mpfr_nan_p(M) || mpfr_sgn(M) > 0);
    } else {
        scores_weigh(&all, M, working, l);
        if (O != NULL)
            weighted_mean(h, &all, l, working, O);
        if (lse != NULL) {
            mpfr_log(l, l, MPFR_RNDN);
            mpfr_add(lse, M, l, MPFR_RNDN);
        }
    }
    scores_free(&all);
    mpfr_clears(M, l, (mpfr_ptr)0);
}
