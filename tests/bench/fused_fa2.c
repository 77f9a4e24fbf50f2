/* fused_fa2.c: the arithmetic of algorithms/fa2.c, every operation in the same order, no verbs.

   As one writes it for speed alone: K packed once, blocks of outputs in registers, scale and
   maximum taken while the scores are at hand, exponentials a row at a time by the same special_cr.
   The level decides the block: as many accumulators as the registers hold. */
#include "tests/bench/fused_fa2.h"

#include <math.h>
#include <string.h>

#include "simulator/special.h"

#if defined __AVX512F__
#include <immintrin.h>
typedef __m512 lanes;
enum { ROWS = 8, VECTORS = 2 };
#define LANES_FMA(a, b, c) _mm512_fmadd_ps(_mm512_set1_ps(a), b, c)
#elif defined __AVX2__
#include <immintrin.h>
typedef __m256 lanes;
enum { ROWS = 6, VECTORS = 2 };
#define LANES_FMA(a, b, c) _mm256_fmadd_ps(_mm256_set1_ps(a), b, c)
#else
typedef struct {
    float x;
} lanes;
enum { ROWS = 1, VECTORS = 8 };
#define LANES_FMA(a, b, c) ((lanes){fmaf(a, (b).x, (c).x)})
#endif
enum { D = FUSED_D, TILE = FUSED_TILE, LANES = VECTORS * sizeof(lanes) / sizeof(float) };

static volatile float chain_start; /* nothing a compiler may know */

struct tiles {
    float S[TILE][TILE], O[TILE][D], m[TILE], l[TILE];
};

static inline lanes from(const float *x)
{
    lanes y;
    memcpy(&y, x, sizeof y);
    return y;
}

/* d[i][c] (+)= sum_k x[i][k] y[k][c] for rows x LANES outputs; k ascending, one fused step each. */
static inline __attribute__((always_inline)) void block(const int rows, float *d, const float *x,
                                                        const float *y, int stride)
{
    enum { WIDTH = LANES / VECTORS };
    lanes acc[ROWS][VECTORS];
    for (int i = 0; i < rows; i++)
        for (int n = 0; n < VECTORS; n++)
            acc[i][n] = from(d + i * 64 + n * WIDTH);
    for (int k = 0; k < 64; k++)
        for (int i = 0; i < rows; i++)
            for (int n = 0; n < VECTORS; n++)
                acc[i][n] = LANES_FMA(x[i * 64 + k], from(y + k * stride + n * WIDTH), acc[i][n]);
    for (int i = 0; i < rows; i++)
        for (int n = 0; n < VECTORS; n++)
            memcpy(d + i * 64 + n * WIDTH, &acc[i][n], sizeof(lanes));
}

/* A 64 x 64 product, y's columns in strips of `stride` floats a row. */
static void product(float *d, const float *x, const float *y, int stride, int strip)
{
    enum { REST = TILE % ROWS };
    for (int c = 0; c < 64; c += LANES, y += strip) {
        for (int i = 0; i + ROWS <= TILE; i += ROWS)
            block(ROWS, d + i * 64 + c, x + i * 64, y, stride);
        if (REST)
            block(REST, d + (TILE - REST) * 64 + c, x + (TILE - REST) * 64, y, stride);
    }
}

/* Keys in strips of LANES: strip s holds k[s * LANES + c][d] at [d][c]. */
static void pack_keys(const struct fused *f)
{
    float *to = f->keys;
    for (int s = 0; s < f->N; s += LANES)
        for (int d = 0; d < D; d++)
            for (int c = 0; c < LANES; c++)
                *to++ = f->k[(s + c) * D + d];
}

static float row_maximum(float m, const float *s)
{
    float best[16];
    for (int c = 0; c < 16; c++)
        best[c] = s[c];
    for (int c = 16; c < TILE; c += 16)
        for (int n = 0; n < 16; n++)
            best[n] = s[c + n] > best[n] ? s[c + n] : best[n];
    for (int n = 0; n < 16; n++)
        m = best[n] > m ? best[n] : m;
    return m;
}

/* Eight rows' sums side by side: each a chain of its own. */
static void row_sums(float *l, const float *p)
{
    float sum[8];
    memcpy(sum, l, sizeof sum);
    for (int c = 0; c < TILE; c++)
        for (int i = 0; i < 8; i++)
            sum[i] += p[i * TILE + c];
    memcpy(l, sum, sizeof sum);
}

static void fold_key_tile(struct tiles *t, const float *q, const float *keys, const float *v,
                          float scale)
{
    float decay[TILE];
    memset(t->S, 0, sizeof t->S);
    product(&t->S[0][0], q, keys, LANES, D * LANES);
    for (int i = 0; i < TILE; i++) {
        for (int c = 0; c < TILE; c++)
            t->S[i][c] *= scale;
        float m = row_maximum(t->m[i], t->S[i]);
        decay[i] = t->m[i] - m;
        t->m[i] = m;
        for (int c = 0; c < TILE; c++)
            t->S[i][c] -= m;
        special_cr(FUNCTION_EXP, FORMAT_FP32, false, t->S[i], t->S[i], TILE);
    }
    special_cr(FUNCTION_EXP, FORMAT_FP32, false, decay, decay, TILE);
    for (int i = 0; i < TILE; i++) {
        t->l[i] *= decay[i];
        for (int c = 0; c < D; c++)
            t->O[i][c] *= decay[i];
    }
    for (int i = 0; i < TILE; i += 8)
        row_sums(t->l + i, t->S[i]);
    product(&t->O[0][0], &t->S[0][0], v, D, LANES);
}

static void finish(struct tiles *t, float *O, float *lse)
{
    float logarithm[TILE];
    special_cr(FUNCTION_LOG, FORMAT_FP32, false, logarithm, t->l, TILE);
    for (int i = 0; i < TILE; i++) {
        lse[i] = t->m[i] + logarithm[i];
        for (int c = 0; c < D; c++)
            O[i * D + c] = t->O[i][c] / t->l[i];
    }
}

static void attention(const struct fused *f)
{
    static _Thread_local struct tiles t;
    float scale = 1 / sqrtf(D); /* 1/8: exact */
    pack_keys(f);
    for (int i = 0; i < f->N; i += TILE) {
        memset(&t, 0, sizeof t);
        for (int r = 0; r < TILE; r++)
            t.m[r] = -INFINITY;
        for (int j = 0; j < f->N; j += TILE)
            fold_key_tile(&t, f->q + i * D, f->keys + j * D, f->v + j * D, scale);
        finish(&t, f->O + i * D, f->lse + i);
    }
}

/* Independent chains, enough to hide a step's latency; different ones, or they are merged. */
static double multiply_adds(long steps)
{
    enum { CHAINS = 12, FLOATS = sizeof(lanes) / sizeof(float) };
    float start[CHAINS][FLOATS], end[FLOATS];
    lanes acc[CHAINS], one;
    for (int i = 0; i < CHAINS; i++)
        for (int n = 0; n < FLOATS; n++)
            start[i][n] = chain_start + (float)i;
    memcpy(acc, start, sizeof acc);
    memcpy(&one, start[1], sizeof one);
    float factor = start[1][0];
    for (long k = 0; k < steps; k++)
        for (int i = 0; i < CHAINS; i++)
            acc[i] = LANES_FMA(factor, one, acc[i]);
    for (int i = 0; i < CHAINS; i++) {
        memcpy(end, &acc[i], sizeof end);
        chain_start += end[0] < 0;
    }
    return (double)steps * CHAINS * FLOATS;
}

#define LEVEL_OF(level) fused_level_##level
#define LEVEL_AT(level) LEVEL_OF(level)
const struct fused_level LEVEL_AT(CPU_LEVEL) = {attention, multiply_adds};
