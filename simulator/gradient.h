/* gradient.h: the backward pass over a problem: a forward pass of each head, then its gradients, then
   dK and dV summed over the query heads of each key head.

   The forward pass is the simulation's; what it stores, O in the format of OUT and L, is all that
   backward gets. */
#ifndef FLASHULP_GRADIENT_H
#define FLASHULP_GRADIENT_H

#include "simulator/simulate.h"

/* Row-major, as the tensors lie: dQ (B, Hq, Nq, D), dK and dV (B, Hkv, Nk, D), dS_sum (B, Hq, Nq).
   Doubles as in struct result. */
struct gradients {
    struct result forward; /* of every unit */
    double *dQ, *dK, *dV, *dS_sum;
    uint64_t digest; /* FNV-1a-64 over dQ, dK, dV in GRADIENT's format, NaN canonical */
};

/* dO: (B, Hq, Nq, D), rounded at INPUT already.  The groups of query heads that the chosen units are
   in, whole, and zeros elsewhere; of the steps a trace gets those of the chosen units and of the
   groups' sums. */
bool simulate_gradients(const struct problem *p, const struct tensor *dO,
                        const struct simulation *s, struct gradients *g, struct message *why);
void gradients_free(struct gradients *g);

/* The gradients of a head that simulate_head has just computed: fills x->dQ ..; dK and dV are the
   head's own. */
void simulate_backward(struct run *r, const struct simulation *s, struct attention *x,
                       const struct tensor *dO);
/* One key head: `heads` query heads' dK and dV (dV) become their sum, as stored, in the first's. */
void sum_group(struct run *r, struct attention *x, int heads);

#endif
