/* fused_fa2.h: FlashAttention-2 by hand, one head, fp32, tiles of 64 x 64: what bench_fa2 compares
   the simulator with.  Compiled once per processor level, like the simulator's own loops. */
#ifndef FLASHULP_FUSED_FA2_H
#define FLASHULP_FUSED_FA2_H

enum { FUSED_D = 64, FUSED_TILE = 64 };

struct fused {
    int N;                /* queries and keys, a multiple of FUSED_TILE */
    const float *q, *k, *v; /* N x D */
    float *O, *lse;       /* N x D and N */
    float *keys;          /* room for N x D: k packed */
};

struct fused_level {
    void (*attention)(const struct fused *f);
    double (*multiply_adds)(long steps); /* how many it did, in registers only */
};

extern const struct fused_level fused_level_base, fused_level_v3, fused_level_v4;

#endif
