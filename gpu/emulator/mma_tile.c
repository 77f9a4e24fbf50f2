/* mma_tile.c: see mma_tile.h; compiled once per processor level. */
#include "gpu/emulator/mma_tile.h"

#include <math.h>
#include <string.h>

#include "simulator/mma_fast.h"

_Static_assert((int)MMA_M == MMA_COLUMNS, "a column of the tile is what the fast form takes at once");

static void chain(struct mma_tile *t)
{
    for (int n = 0; n < MMA_N; n++) {
        float d[MMA_M];
        memcpy(d, t->d[n], sizeof d);
        for (int k = 0; k < MMA_K; k++)
            for (int m = 0; m < MMA_M; m++)
                d[m] = fmaf(t->a[k][m], t->b[n][k], d[m]);
        memcpy(t->d[n], d, sizeof d);
    }
}

/* Products k .. k + L - 1 of one output. */
static void plain_step(struct mma_tile *t, const struct mma_step *step, int n, int m, int k)
{
    float a[MMA_K];
    for (int i = 0; i < step->L; i++)
        a[i] = t->a[k + i][m];
    t->d[n][m] = mma_dot_add(step, a, t->b[n] + k, step->L, t->d[n][m]);
}

/* The factors' exponents, as the fast form reads them. */
struct exponents {
    int32_t a[MMA_K][MMA_M], b[MMA_N][MMA_K];
};

INLINE void fast_steps(const int L, struct mma_tile *t, const struct mma_step *step,
                       const struct exponents *e)
{
    for (int n = 0; n < MMA_N; n++)
        for (int k = 0; k < MMA_K; k += L)
            for (int m = 0; m < MMA_M; m += MMA_LANES)
                if (!mma_fast_step(L, step, t->b[n] + k, e->b[n] + k, t->a[k] + m, e->a[k] + m,
                                   t->d[n] + m))
                    for (int lane = m; lane < m + MMA_LANES; lane++)
                        plain_step(t, step, n, lane, k);
}

static void steps(struct mma_tile *t, const struct mma_step *step)
{
    struct exponents e;
    for (int k = 0; k < MMA_K; k++)
        for (int m = 0; m < MMA_M; m++)
            e.a[k][m] = mma_exponent(t->a[k][m], step->least_a);
    for (int n = 0; n < MMA_N; n++)
        for (int k = 0; k < MMA_K; k++)
            e.b[n][k] = mma_exponent(t->b[n][k], step->least_b);
    if (mma_is_fast(step) && step->L == 16)
        fast_steps(16, t, step, &e);
    else if (mma_is_fast(step) && step->L == 8)
        fast_steps(8, t, step, &e);
    else
        for (int i = 0; i < MMA_N * MMA_M; i++)
            for (int k = 0; k < MMA_K; k += step->L)
                plain_step(t, step, i / MMA_M, i % MMA_M, k);
}

/* The one macro that names this level's table: mma_bodies_base, _v3 or _v4. */
#define BODIES_OF(level) mma_bodies_##level
#define BODIES(level) BODIES_OF(level)
const struct mma_bodies BODIES(CPU_LEVEL) = {chain, steps};
