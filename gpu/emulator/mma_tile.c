/* mma_tile.c: see mma_tile.h; compiled once per processor level.

   With g = lane / 4 and t = lane % 4 (PTX ISA, mma.m16n8k16):
     a[0] row g, a[1] row g + 8: k = 2t, 2t + 1 in the low and high half; a[2], a[3]: k + 8
     b[0] k = 2t, 2t + 1 of column g; b[1]: k + 8
     d[0], d[1] row g, columns 2t, 2t + 1; d[2], d[3]: row g + 8
   The rows of one column lie side by side in a tile, so that loops over them become vectors. */
#include "gpu/emulator/mma_tile.h"

#include <math.h>
#include <string.h>

#include "simulator/mma_fast.h"

enum { MMA_M = 16, MMA_N = 8, MMA_K = 16 };
_Static_assert((int)MMA_M == MMA_COLUMNS,
               "a column of the tile is what the fast form takes at once");

struct mma_tile {
    float a[MMA_K][MMA_M]; /* a(row, k) at [k][row] */
    float b[MMA_N][MMA_K]; /* b(k, column) at [column][k] */
    float d[MMA_N][MMA_M];
};

INLINE float bf16_of(uint32_t half)
{
    return float_of_bits(half << 16);
}

/* Subnormals too: 2^112 lifts the exponent's bias. */
INLINE float f16_of(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, magnitude = half & 0x7FFF;
    uint32_t size = bits_of_float(float_of_bits(magnitude << 13) * 0x1p112f);
    uint32_t special = 0x7F800000 | (magnitude & 0x3FF) << 13;
    return float_of_bits(sign | (magnitude >= 0x7C00 ? special : size));
}

INLINE float number_of(uint32_t half, const bool bf16)
{
    return bf16 ? bf16_of(half) : f16_of(half);
}

INLINE void gather(struct mma_tile *tile, const struct mma_fragments *f, const bool bf16)
{
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < 4; t++)
            for (int g = 0; g < 8; g++) {
                uint32_t pair = f->a[i][4 * g + t];
                tile->a[2 * t + i / 2 * 8][g + i % 2 * 8] = number_of(pair & 0xFFFF, bf16);
                tile->a[2 * t + i / 2 * 8 + 1][g + i % 2 * 8] = number_of(pair >> 16, bf16);
                tile->d[2 * t + i % 2][g + i / 2 * 8] = f->d[i][4 * g + t];
            }
    for (int i = 0; i < 2; i++)
        for (int g = 0; g < 8; g++)
            for (int t = 0; t < 4; t++) {
                uint32_t pair = f->b[i][4 * g + t];
                tile->b[g][2 * t + 8 * i] = number_of(pair & 0xFFFF, bf16);
                tile->b[g][2 * t + 8 * i + 1] = number_of(pair >> 16, bf16);
            }
}

static void gather_either(struct mma_tile *tile, const struct mma_fragments *f, bool bf16)
{
    if (bf16)
        gather(tile, f, true);
    else
        gather(tile, f, false);
}

static void scatter(struct mma_fragments *f, const struct mma_tile *tile)
{
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < 4; t++)
            for (int g = 0; g < 8; g++)
                f->d[i][4 * g + t] = tile->d[2 * t + i % 2][g + i / 2 * 8];
}

static void chain(struct mma_fragments *f, bool bf16)
{
    struct mma_tile t;
    gather_either(&t, f, bf16);
    for (int n = 0; n < MMA_N; n++) {
        float d[MMA_M];
        memcpy(d, t.d[n], sizeof d);
        for (int k = 0; k < MMA_K; k++)
            for (int m = 0; m < MMA_M; m++)
                d[m] = fmaf(t.a[k][m], t.b[n][k], d[m]);
        memcpy(t.d[n], d, sizeof d);
    }
    scatter(f, &t);
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

static void steps(struct mma_fragments *f, bool bf16, const struct mma_step *step)
{
    struct mma_tile t;
    struct exponents e;
    gather_either(&t, f, bf16);
    for (int k = 0; k < MMA_K; k++)
        for (int m = 0; m < MMA_M; m++)
            e.a[k][m] = mma_exponent(t.a[k][m], step->least_a);
    for (int n = 0; n < MMA_N; n++)
        for (int k = 0; k < MMA_K; k++)
            e.b[n][k] = mma_exponent(t.b[n][k], step->least_b);
    if (mma_is_fast(step) && step->L == 16)
        fast_steps(16, &t, step, &e);
    else if (mma_is_fast(step) && step->L == 8)
        fast_steps(8, &t, step, &e);
    else
        for (int i = 0; i < MMA_N * MMA_M; i++)
            for (int k = 0; k < MMA_K; k += step->L)
                plain_step(&t, step, i / MMA_M, i % MMA_M, k);
    scatter(f, &t);
}

/* The one macro that names this level's table: mma_bodies_base, _v3 or _v4. */
#define BODIES_OF(level) mma_bodies_##level
#define BODIES(level) BODIES_OF(level)
const struct mma_bodies BODIES(CPU_LEVEL) = {chain, steps};
