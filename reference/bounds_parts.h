/* bounds_parts.h: what the bounds of outputs and of gradients share.  Internal to bounds*.c. */
#ifndef FLASHULP_BOUNDS_PARTS_H
#define FLASHULP_BOUNDS_PARTS_H

#include "reference/bounds.h"

#define BOUND_U24 0x1p-24
#define BOUND_SLACK 1e-6 /* for the bounds' own arithmetic, in double */

/* A row's visible keys and what they weigh; room for Nk of each. */
struct weighed {
    int64_t count;
    int64_t *key;
    double *x, *pi, *magnitude; /* score; its softmax; |scale| sum |q||k| */
    double M, size;             /* the largest score; the largest |score| */
};
void bound_weigh(struct weighed *w, const struct head *h, int64_t r);

/* k u / (1 - k u), infinite from k u = 1. */
double bound_gamma(double k);
/* Relative error of a sum of `terms` by the budget's steps, `more` steps to spare. */
double bound_sum(const struct rounding_budget *b, int64_t terms, int64_t more);

#endif
