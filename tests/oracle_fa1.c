/* oracle_fa1.c: FlashAttention-1 (v1.0.9) forward: one row, one number at a time.

   Follows fmha_fprop_kernel_1xN.h and fmha/softmax.h as published, with the fused operations that
   a build by nvcc 13.0 shows.  Blocks of keys ascend; between them the row keeps O normalised and
   its LSE.  Four warps share the columns of a block, so each multiplies its own by V. */
#include "tests/oracle_kernels.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "tests/oracle_scalar.h"

enum { WARPS = 4, LANES = 4, MAX_TILE = 256, MAX_DIM = 128, ROW_TILE = 16, DEPTH = 16 };

struct row_state {
    float lse, O[MAX_DIM];
};

static int block_width(const struct kernel_case *c)
{
    if (c->tile_keys > 0)
        return c->tile_keys;
    return c->dim <= 64 && c->keys > 128 ? 256 : 128;
}

static float block_score(const struct kernel_case *c, int row, int key)
{
    if (key >= c->keys || (c->causal && key > row))
        return -INFINITY;
    return oracle_mma(c->unit, c->type, c->q + row * c->dim, 1, c->k + key * c->dim, 1, c->dim, 0);
}

static float four_sum(const float *s)
{
    return fast_add(fast_add(s[0], s[2]), fast_add(s[1], s[3]));
}

/* The columns of warp w and quad lane t, ascending: 64 i + 16 w + {2t, 2t + 1, 2t + 8, 2t + 9}. */
static float lane_sum(const float *P, int width, int w, int t)
{
    float sum = 0;
    for (int i = 0; i < width / 64; i++) {
        const float *own = P + 64 * i + 16 * w + 2 * t;
        sum = i == 0 ? own[0] : fast_add(sum, own[0]);
        sum = fast_add(sum, own[1]);
        sum = fast_add(sum, own[8]);
        sum = fast_add(sum, own[9]);
    }
    return sum;
}

static float block_sum(const float *P, int width)
{
    float warp[WARPS], lane[LANES];
    for (int w = 0; w < WARPS; w++) {
        for (int t = 0; t < LANES; t++)
            lane[t] = lane_sum(P, width, w, t);
        warp[w] = four_sum(lane);
    }
    return four_sum(warp);
}

/* Dimension d of warp w's share of P V, from zero. */
static float warp_values(const struct kernel_case *c, const float *P, int start, int width, int w,
                         int d)
{
    float sum = 0;
    for (int i = 0; i < width / 64; i++) {
        float column[DEPTH];
        int at = 64 * i + 16 * w;
        for (int j = 0; j < DEPTH; j++) {
            int key = start + at + j;
            column[j] = key < c->keys ? c->v[key * c->dim + d] : 0;
        }
        sum = oracle_mma(c->unit, c->type, P + at, 1, column, 1, DEPTH, sum);
    }
    return sum;
}

/* From the second block on the maximum starts at the row's LSE so far, and e^(LSE - m) weighs what
   was there: normalised output in O, 1 in the sum. */
static void absorb(const struct kernel_case *c, int row, int start, int width, struct row_state *s)
{
    bool first = start == 0;
    float scale = oracle_scale(c->scale_value, c->scale_root);
    float scale_log2 = oracle_scale_log2(scale);
    float S[MAX_TILE], P[MAX_TILE], m = first ? NAN : fast_mul(s->lse, fast_rcp(scale));
    for (int j = 0; j < width; j++) {
        S[j] = block_score(c, row, start + j);
        m = larger(m, S[j]);
    }
    float shift = fast_mul(m, scale_log2);
    for (int j = 0; j < width; j++)
        P[j] = fast_exp2(fast_fma(S[j], scale_log2, -shift));
    float l = block_sum(P, width), ms = fast_mul(m, scale);
    float kept = first ? 0 : fast_exp(fast_sub(s->lse, ms));
    l = first ? l : fast_add(l, kept);
    for (int j = 0; j < width; j++)
        P[j] = oracle_rounded_to(c->type, P[j]);
    bool bad = l == 0 || isnan(l);
    float inverse = bad ? 1 : fast_rcp(l);
    for (int d = 0; d < c->dim; d++) {
        float O = warp_values(c, P, start, width, 0, d);
        O = first ? O : fast_fma(s->O[d], kept, O);
        for (int w = 1; w < WARPS; w++)
            O = fast_add(O, warp_values(c, P, start, width, w, d));
        s->O[d] = fast_mul(O, inverse);
    }
    s->lse = bad ? -INFINITY : fast_fma(fast_log2(l), ORACLE_LN2, ms);
}

void oracle_fa1(const struct kernel_case *c, float *O, float *lse)
{
    int width = block_width(c);
    assert(c->dim <= MAX_DIM && width <= MAX_TILE && width % 64 == 0);
    for (int row = 0; row < c->rows; row++) {
        struct row_state s = {.lse = -INFINITY};
        for (int start = 0; start < c->keys; start += width) {
            if (c->causal && start > row / ROW_TILE * ROW_TILE)
                break; /* a tile of rows above the diagonal */
            absorb(c, row, start, width, &s);
        }
        lse[row] = s.lse;
        for (int d = 0; d < c->dim; d++)
            O[row * c->dim + d] = oracle_rounded_to(c->out, s.O[d]);
    }
}
