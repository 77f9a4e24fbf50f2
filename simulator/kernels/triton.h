/* triton.h: one query tile of the Triton attention kernels, the loop body that they share.

   tl.exp is ex2.approx of a product with log2 e, without flushing; fusion is on by default.  What the
   compiler makes of sums, and where it fuses, is not established: orders and switches. */
#ifndef FLASHULP_KERNELS_TRITON_H
#define FLASHULP_KERNELS_TRITON_H

#include "simulator/kernels/exponential.h"
#include "simulator/simulate.h"

struct triton {
    struct tile *Q, *K, *V, *S, *P;
    struct tile *m, *top, *shift, *decay, *l, *sum, *O, *L; /* top: the new maximum; sum: this tile's */
    struct tile *scale, *log2e, *inverse, *zero;
    bool fused_sum;     /* l a + sum by one fma */
    bool ieee_division; /* a / b rounded once; else a times the rounded reciprocal */
};

void triton_new(struct run *r, const struct attention *x, struct triton *s);
/* Query tile i: m = -inf, l = `start`, O = 0. */
void triton_begin(struct run *r, const struct attention *x, struct triton *s, int i, double start);
/* Folds key tile j.  `guarded`: a maximum of -inf counts as 0. */
void triton_fold(struct run *r, const struct attention *x, struct triton *s, int i, int j,
                 bool guarded);
/* l = l a + sum. */
void triton_sum(struct run *r, const struct triton *s, struct tile *l, const struct tile *decay,
                const struct tile *sum, enum site site);
/* y = y / l, rounded at `site`; 0 where l is 0. */
void triton_divide(struct run *r, const struct triton *s, struct tile *y, const struct tile *l,
                   enum site site);

/* ROW_SUM in the tensor core's layout: `tile` weights of a row, eight columns to a warp, around at most
   `most_warps` warps; a quad's lane has two of the eight. */
bool triton_rows(int tile, int most_warps, struct policy *policy, struct message *why);

#endif
