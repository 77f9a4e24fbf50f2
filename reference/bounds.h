/* bounds.h: how far finite precision may take an attention kernel, proved beforehand.

   The theorem (bounds.c states and proves it): if the computed y equals
   sum pi_j e^(eta_j) (1 + nu_j) v_j / sum pi_j e^(eta_j) (1 + lambda_j)  with |eta_j| <= h_j,
   |nu_j| <= n_j, |lambda_j| <= c_j < 1, then |y - O| <= B with B below.
   "Inside" is no evidence of correctness; "outside" is a bug. */
#ifndef FLASHULP_BOUNDS_H
#define FLASHULP_BOUNDS_H

#include "reference/problem.h"

/* The budgets of one key: its weight in both sums (h), in the numerator (n), in the denominator
   (c).  An error common to both sums belongs in h, where it meets only |v - O|. */
struct budget {
    double h, n, c;
};

/* B of the theorem for one column: weights pi (summing to 1), values v, true output O. */
double bound_theorem(int64_t keys, const double *pi, const double *v, const struct budget *budget,
                     double O);

struct bound {
    double B;     /* |y - O| before the last rounding */
    double total; /* with underflow and the rounding to the output format: |got - O| <= total */
    bool vacuous; /* B > max v - min v: says nothing */
};

/* The gpu-bf16 policy of `fa2` on bf16 inputs with key tiles of Bc, output format f: budgets as in
   bounds.c, in any order of the sums, provided that no operation overflows.  bounds[0..D) of query
   r.  A row that sees no key has bound 0; non-finite inputs make it infinite. */
void bound_gpu_bf16(const struct head *h, int64_t r, int64_t Bc, enum format f,
                    struct bound *bounds);

#endif
