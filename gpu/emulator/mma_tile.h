/* mma_tile.h: d += a b of one m16n8k16 instruction, operands as floats, columns apart: the rows of
   one column lie side by side, so that loops over them become vectors.

   `chain`: fmaf over k = 0 .. 15.  `steps`: the tensor core's, `step` from mma.h, in the fast form
   of the simulator's products, plainly where that does not hold.  One body per processor level. */
#ifndef FLASHULP_EMULATOR_MMA_TILE_H
#define FLASHULP_EMULATOR_MMA_TILE_H

#include "simulator/mma.h"

enum { MMA_M = 16, MMA_N = 8, MMA_K = 16 };

struct mma_tile {
    float a[MMA_K][MMA_M]; /* a(row, k) at [k][row] */
    float b[MMA_N][MMA_K]; /* b(k, column) at [column][k] */
    float d[MMA_N][MMA_M];
};

struct mma_bodies {
    void (*chain)(struct mma_tile *t);
    void (*steps)(struct mma_tile *t, const struct mma_step *step);
};
extern const struct mma_bodies mma_bodies_base;
#ifdef __x86_64__
extern const struct mma_bodies mma_bodies_v3, mma_bodies_v4;
#endif

#endif
