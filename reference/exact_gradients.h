/* exact_gradients.h: the gradients of sum dO . O by definition, in MPFR, at a stated precision.

   With P_rc = e^(s_rc - LSE_r) over the keys that query r sees, dP_rc = dO_r . v_c and
   dS_rc = P_rc (dP_rc - sum_j P_rj dP_rj) (with softcap times its slope sech(s / c)^2):
       dQ_r = scale sum_c dS_rc k_c,   dK_c = scale sum_r dS_rc q_r,   dV_c = sum_r P_rc dO_r.
   dK and dV of a key head are summed over its query heads.  A query that sees no key adds nothing;
   a query whose softmax is NaN (exact.h) makes its own dQ and its visible keys' dK and dV NaN; what
   is infinite or NaN elsewhere goes through these formulas as IEEE 754 has it. */
#ifndef FLASHULP_EXACT_GRADIENTS_H
#define FLASHULP_EXACT_GRADIENTS_H

#include "reference/problem.h"
#include <mpfr.h>

/* Row-major.  Each value's error is at most 2^-precision times its `size`, the sum of the absolute
   values of what is added up: |scale| P (A + sum P A) |k| or |q| with A = sum |dO| |v|, and
   P |dO|.  For fewer than 2^24 keys and queries; proof in exact_gradients.c. */
struct exact_gradients {
    int64_t heads, Nq, Nk, D;
    mpfr_prec_t precision;
    mpfr_t *dQ, *dK, *dV; /* heads x Nq x D, Nk x D, Nk x D; of more bits than `precision` */
    mpfr_t *dQ_size, *dK_size, *dV_size; /* to about 50 bits */
    const bool *columns;                 /* of D: which are asked for; NULL: all */
};

/* Zeros, for the `heads` query heads of a group that have this head's lengths. */
void exact_gradients_new(struct exact_gradients *g, const struct head *h, int64_t heads,
                         mpfr_prec_t precision);
void exact_gradients_free(struct exact_gradients *g);
/* The head's dQ takes the place of its number in the group (modulo `heads`); its dK and dV are added
   to what is there.  dO: (B, Hq, Nq, D), any strides. */
void exact_gradients_add(struct exact_gradients *g, const struct head *h, const struct tensor *dO);

#endif
