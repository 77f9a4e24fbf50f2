/* backward.h: what the backward listing and kernel models share: dQ in memory and how it is read. */
#ifndef FLASHULP_BACKWARD_H
#define FLASHULP_BACKWARD_H

#include "simulator/simulate.h"

/* Makes x->dQ .. x->dQ_memory, zeros. */
void gradients_new(struct run *r, struct attention *x);
/* x->dQ_memory: query tile i's rows of the copy that key tile j adds to become themselves plus
   `part`; `room` is of part's size. */
void add_to_dq(struct run *r, struct attention *x, struct tile *room, const struct tile *part, int i,
               int j);
/* dQ = the sum of query tile i's copies, in the order given; then times the scale, as stored. */
void sum_dq(struct run *r, const struct attention *x, struct tile *dQ, struct tile *room, int i,
            const int *order, int count);
void conclude_dq(struct run *r, struct tile *dQ, const struct tile *scale);
/* That, in dq_order, for every query tile; stored. */
void finish_dq(struct run *r, struct attention *x, struct tile *dQ, struct tile *room,
               struct tile *dS_sum, const struct tile *scale, const struct tile *all_sums);

/* Algorithm 2 of FlashAttention-2, after any forward listing. */
algorithm_body backward;
/* The same with a block's warps as workers, after splitq and splitk: sharing a tile by its rows, or by
   its keys, when each warp's part of dQ is a sum from zero. */
algorithm_body backward_by_rows, backward_by_keys;

#endif
