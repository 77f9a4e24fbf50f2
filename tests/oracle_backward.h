/* oracle_backward.h: a judge for the backward pass of FlashAttention-2 (arXiv 2307.08691, Algorithm
   2): one number at a time, every operation done by MPFR and rounded once (oracle_rounded).

   Written from the paper and the sites' meanings alone.  Link tests/oracle_backward.c,
   tests/oracle_attention.c and tests/oracle_number.c. */
#ifndef FLASHULP_TESTS_ORACLE_BACKWARD_H
#define FLASHULP_TESTS_ORACLE_BACKWARD_H

#include "tests/oracle_attention.h"

struct oracle_gradient {
    const struct oracle *o; /* sizes, q, k, v, intervals, row_tile, tile (both > 0), formats */
    const double *dO;       /* Nq x D, as read */
    const double *O, *lse;  /* what the forward pass stored */
    int copies; /* of dQ in memory: key tile j adds to copy j mod copies; they are added ascending */
    /* 0, or the warps that share a key tile by its keys, ceil(tile / warps) neighbours each: each
       sums its part of dS K from zero, and the parts are added in the order of the warps. */
    int warps;
};

/* One query head.  dQ: Nq x D, scaled and stored.  dK, dV: Nk x D, dK scaled, neither rounded to a
   head's or the stored format.  ds_sum: Nq, the sum of dS over the keys. */
void oracle_backward(const struct oracle_gradient *g, double *dQ, double *dK, double *dV,
                     double *ds_sum);

/* dst = the sum over `heads` arrays of n numbers, as stored; what a single head brings is not
   rounded at HEAD_GRADIENT. */
void oracle_group(const struct oracle *o, const double *const *head, int heads, int64_t n,
                  double *dst);

#endif
