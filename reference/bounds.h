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

/* How a kernel rounds, as far as a bound needs to know; every other operation is fp32's to
   nearest.  A row's keys lie in groups, each with its own maximum, sum and output, put together at the end. */
struct rounding_budget {
    int64_t keys, tiles; /* most of a group */
    int64_t groups;
    double weight;  /* relative error of a weight as the value product takes it; 0: none */
    double tiny;    /* absolute error of a weight that is subnormal there */
    bool sums_rounded; /* the row sum adds the rounded weights */
    double partial; /* relative error of a group's output as stored */
    double score;   /* relative error of a score as stored */
    double step;    /* of one step of a product's sum: u, or a tensor core's */
    int step_terms; /* that a step takes */
    double special; /* relative error of exp, log and reciprocal */
};
/* Nearest rounding of a weight to f, u in every sum and correctly rounded functions; one group. */
struct rounding_budget rounding_budget_fp32(enum format weights, int64_t keys, int64_t tiles);

/* Of query r under several budgets at once: bounds[k * D + d] with output format f[k], and, where
   it is not NULL, A[d] = sum pi |v|.  Proved in bounds_budget.c for any order of the sums; the same
   provisos as above. */
void bound_budgets(const struct head *h, int64_t r, const struct rounding_budget *budgets,
                   const enum format *f, int count, struct bound *bounds, double *A);

/* |got - LSE| of query r under a budget, the LSE stored in f; infinite where nothing is known.  A
   row that sees no key has bound 0.  Proved in bounds_budget.c. */
double bound_lse(const struct head *h, int64_t r, const struct rounding_budget *budget,
                 enum format f);

/* |got - gradient| of one key head (certified_gradients.h: a group of G query heads), stored in f:
   dQ (G, Nq, D), dK and dV (Nk, D).  FlashAttention-2's backward pass, from an O and an L that
   forward stored under the same budget, in f and in fp32; P and dS rounded as the budget's weights
   are; dQ's tiles added in any order, in any number of copies.  No softcap.  Infinite where
   something overflows or nothing is known; 0 where nothing is added up.  Proved in
   bounds_gradient.c. */
void bound_gradients(const struct problem *p, int64_t group, const struct tensor *dO,
                     const struct rounding_budget *budget, enum format f, double *dQ, double *dK,
                     double *dV);

#endif
