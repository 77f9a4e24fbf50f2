/* fa2.h: one query tile of FlashAttention-2 as shipped; the forward kernel and the split one share it.

   Scores stay raw: the scale is folded into the exponent, 2^(s c - m c) with c = scale log2 e.  A
   row's four lanes (a quad) keep sums of their own, put together once, at the end. */
#ifndef FLASHULP_KERNELS_FA2_H
#define FLASHULP_KERNELS_FA2_H

#include "simulator/simulate.h"

/* The tile that ships: query rows, keys and warps of a block.  D: one of the compiled head sizes, 32
   64 96 128 192 256; unit: "sm80"; without dropout. */
struct fa2_tile {
    int Br, Bc, warps;
};
struct fa2_tile fa2_shipped_tile(const char *unit, int64_t D, bool causal);
/* flash_bwd_launch_template.h, run_mha_bwd_hdim*: by the KB of shared memory a block may use. */
struct fa2_tile fa2_backward_tile(int shared_kb, int64_t D);

struct fa2 {
    struct tile *Q, *K, *V, *S, *P;
    struct tile *m, *shift, *bias, *decay; /* columns; shift: m, or 0 where it is -inf */
    struct tile *l;                        /* a column for each lane of the quad */
    struct tile *total, *inverse, *O, *L;
    struct tile *scale, *scale_log2, *minus_scale_log2, *cap, *ln2, *one, *infinity;
    bool started; /* has a block been folded? */
};

/* Key blocks n_min .. n_max - 1 of query tile i, as the kernel bounds them. */
struct fa2_blocks {
    int n_min, n_max;
    int masking; /* so many of the first visited ones are masked */
};
struct fa2_blocks fa2_blocks(const struct attention *x, int i);

void fa2_new(struct run *r, const struct attention *x, struct fa2 *s);
void fa2_begin(struct run *r, const struct attention *x, struct fa2 *s, int i);
/* Folds key block n.  `guarded`: a maximum of -inf counts as 0 when the old sums are rescaled. */
void fa2_fold(struct run *r, const struct attention *x, struct fa2 *s, int i, int n, bool guarded);
/* O = O~ / l in `out`, L in `s->L`; rows without a sum get `empty` as their L. */
void fa2_normalize(struct run *r, struct fa2 *s, double empty);

#endif
