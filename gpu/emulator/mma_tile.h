/* mma_tile.h: d += a b of one m16n8k16 instruction, from the lanes' fragments to the lanes'
   fragments, word i of every lane side by side.

   `chain`: fmaf over k = 0 .. 15.  `steps`: the tensor core's, `step` from mma.h, in the fast form
   of the simulator's products, plainly where that does not hold.  One body per processor level. */
#ifndef FLASHULP_EMULATOR_MMA_TILE_H
#define FLASHULP_EMULATOR_MMA_TILE_H

#include "simulator/mma.h"

struct mma_fragments {
    uint32_t a[4][32], b[2][32]; /* pairs of 16-bit numbers */
    float d[4][32];
};

struct mma_bodies {
    void (*chain)(struct mma_fragments *f, bool bf16);
    void (*steps)(struct mma_fragments *f, bool bf16, const struct mma_step *step);
};
extern const struct mma_bodies mma_bodies_base;
#ifdef __x86_64__
extern const struct mma_bodies mma_bodies_v3, mma_bodies_v4;
#endif

#endif
