/* oracle_fa2_backward.h: a judge for FlashAttention-2's backward kernels: one query head, one number
   at a time.

   Follows flash_bwd_kernel.h (compute_dq_dk_dv_1colblock), flash_bwd_preprocess_kernel.h and
   flash_bwd_launch_template.h as published.  Written before the model it judges, though by the same
   hand: it shares no code with it. */
#ifndef FLASHULP_TESTS_ORACLE_FA2_BACKWARD_H
#define FLASHULP_TESTS_ORACLE_FA2_BACKWARD_H

#include "tests/oracle_kernels.h"

/* dO, O: rows x dim, members of the case's type; lse: rows, natural, +inf where no key is seen.
   copies: of dQ in memory; key block n adds to copy n mod copies.  dQ, dK, dV as stored, in the
   case's type; no softcap. */
void oracle_fa2_backward(const struct kernel_case *c, const float *dO, const float *O,
                         const float *lse, int copies, float *dQ, float *dK, float *dV);

/* The tile of M query rows by N keys, without dropout. */
void oracle_fa2_backward_tile(int dim, enum oracle_unit unit, int *M, int *N);

#endif
