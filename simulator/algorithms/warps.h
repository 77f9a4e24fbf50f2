/* warps.h: what splitk.c and splitq.c share: the warps of one thread block as workers.

   Q, K, V of a tile and the tiles named SHARED lie in shared memory; everything else is in the
   registers of the warp that r->where.warp names.  A warp reads shared memory by take_block and
   writes it by put_block, and in no other way: exchange.h counts these calls. */
#ifndef FLASHULP_WARPS_H
#define FLASHULP_WARPS_H

#include "simulator/algorithms/state.h"

enum { MOST_WARPS = 32 };

/* Of [0, all): what warp w of `warps` has; perhaps nothing. */
struct part {
    int first, count;
};
struct part part_of(int all, int warps, int w);
int warps_of(const struct attention *x);
/* How many of the warps have any of it: the first ones. */
int workers_of(int all, int warps);
/* What a warp's rows see of a tile, and what all rows see of its keys. */
struct visible seen_by_rows(const struct visible *tile, struct part rows);
struct visible seen_of_keys(const struct visible *tile, struct part keys);

/* decay, which holds the old maximum, becomes e^(old - m); l and O~ are put relative to m. */
void rescale_state(struct run *r, struct state *s);

#endif
