/* exact_scores.h: one query's visible scores and weights in MPFR, for the definition of attention
   and that of its gradients.  Internal to exact*.c; errors: exact.c, u = 2^-working. */
#ifndef FLASHULP_EXACT_SCORES_H
#define FLASHULP_EXACT_SCORES_H

#include "reference/problem.h"
#include <mpfr.h>

struct scores {
    int64_t count;
    int64_t *key;  /* visible keys, ascending */
    mpfr_t *score; /* to 6.1 u, absolute; after scores_weigh the weights e^(s - M), to 15.3 u of each */
    mpfr_t *slope; /* ds/d(scale q.k): sech(s / c)^2 with softcap, else 1; to 8 u, absolute; or NULL */
};

void scores_new(struct scores *all, const struct head *h, int64_t r, mpfr_prec_t working,
                bool slopes);
void scores_free(struct scores *all);
/* M becomes the largest score; NaN when one is NaN.  At least one score.  Returns whose it is. */
int64_t scores_largest(mpfr_t M, const struct scores *all);
/* score[j] becomes e^(s_j - M), and l their sum. */
void scores_weigh(struct scores *all, const mpfr_t M, mpfr_prec_t working, mpfr_t l);
/* The factor on q.k, rounded to the precision of `factor` (two roundings). */
void exact_scale(mpfr_t factor, const struct problem *p);

#endif
