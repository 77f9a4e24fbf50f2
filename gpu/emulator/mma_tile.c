/* mma_tile.c: see mma_tile.h; compiled once per processor level. */
#include "gpu/emulator/mma_tile.h"

#include <math.h>

static void chain(struct mma_tile *t)
{
    for (int n = 0; n < MMA_N; n++) {
        float d[MMA_M];
        for (int m = 0; m < MMA_M; m++)
            d[m] = t->d[n][m];
        for (int k = 0; k < MMA_K; k++)
            for (int m = 0; m < MMA_M; m++)
                d[m] = fmaf(t->a[k][m], t->b[n][k], d[m]);
        for (int m = 0; m < MMA_M; m++)
            t->d[n][m] = d[m];
    }
}

static void steps(struct mma_tile *t, const struct mma_step *step)
{
    for (int n = 0; n < MMA_N; n++)
        for (int m = 0; m < MMA_M; m++)
            for (int k = 0; k < MMA_K; k += step->L) {
                float a[MMA_K];
                for (int i = 0; i < step->L; i++)
                    a[i] = t->a[k + i][m];
                t->d[n][m] = mma_dot_add(step, a, t->b[n] + k, step->L, t->d[n][m]);
            }
}

#define BODIES_(level) mma_bodies_##level
#define BODIES(level) BODIES_(level)
const struct mma_bodies BODIES(CPU_LEVEL) = {chain, steps};
