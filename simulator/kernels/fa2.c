/* fa2.c: the forward kernel of FlashAttention-2, compute_attn_1rowblock of flash_fwd_kernel.h.

   One query tile walks its key blocks from the last to the first. */
#include <math.h>

#include "simulator/kernels/fa2.h"

void kernel_fa2(struct run *r, struct attention *x)
{
    struct fa2 s;
    const struct mask *mask = &x->head->problem->mask;
    bool local = mask->left >= 0 || (mask->right >= 0 && !mask->causal);
    fa2_new(r, x, &s);
    for (int i = 0; i < query_tiles(x); i++) {
        struct fa2_blocks b = fa2_blocks(x, i);
        fa2_begin(r, x, &s, i);
        for (int n = b.n_max - 1; n >= b.n_min; n--)
            fa2_fold(r, x, &s, i, n, local || (mask->causal && b.n_max - 1 - n < b.masking));
        fa2_normalize(r, &s, INFINITY);
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.L);
    }
}
