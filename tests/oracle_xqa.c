/* oracle_xqa.c: FlashInfer's XQA decode kernel for a bf16 KV cache, sm_90 and sm_12x.

   Follows csrc/xqa/mha.cu and its machine code as published.  Thread block n of N takes the
   256-token tiles n, n+N, n+2N ...; a tile is four 64-token pieces x.  "gemm0" makes scores,
   weights P, maxima and sums of a piece; "gemm1" absorbs the pieces into O, G (maximum), L (sum).
   gemm1 hands its maximum back through slot x, from which gemm0's next piece x starts.
   Fast math: scalar fp32 operations flush subnormals; packed bf16 operations keep them. */
#include "tests/oracle_decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, PIECE = 64, PIECES = 4, TILE = PIECE * PIECES };

#define FIRST_MAX (-1e5f)

struct piece {
    float m[ROWS], l[ROWS];
    float P[ROWS][PIECE]; /* bf16 */
};

/* One warp group of gemm1.  O: rows x D, of the real rows only. */
struct gemm1 {
    float G[ROWS], L[ROWS];
    float *O;
};

/* What a thread block leaves: its normalised output in bf16, rows x D; maximum and sum. */
struct partial {
    float G[ROWS], L[ROWS];
    float *O;
};

static float bf16(float x)
{
    return oracle_rounded_to(ORACLE_BF16, x);
}

static float mma(const struct decode_case *c, float sum, const float *a, const float *b, int64_t n)
{
    return oracle_mma(c->unit, ORACLE_BF16, a, 1, b, 1, (int)n, sum);
}

/* Weights of one row: its maximum starts at the hint. */
static void softmax_row(float x[PIECE], float hint, float P[PIECE], float *m)
{
    *m = hint;
    for (int t = 0; t < PIECE; t++)
        *m = larger(*m, x[t]);
    float bias = fast_mul(*m, ORACLE_LOG2E);
    for (int t = 0; t < PIECE; t++)
        P[t] = bf16(fast_exp2(fast_fma(x[t], ORACLE_LOG2E, -bias)));
}

/* gemm0: tokens first .. first + 63; those past the end score -FLT_MAX.  Query rows past c->rows
   are zeros and all alike: one is computed. */
static void score_piece(const struct decode_case *c, float scale, int64_t first,
                        const float hint[ROWS], struct piece *p)
{
    float ones[PIECE], x[PIECE], *zeros = calloc((size_t)c->D, sizeof *zeros);
    for (int t = 0; t < PIECE; t++)
        ones[t] = 1;
    for (int64_t r = 0; r < ROWS; r++) {
        if (r > c->rows) {
            p->m[r] = p->m[r - 1];
            p->l[r] = p->l[r - 1];
            continue;
        }
        const float *q = r < c->rows ? c->q + r * c->D : zeros;
        for (int64_t t = 0; t < PIECE; t++)
            x[t] = first + t < c->keys
                       ? fast_mul(mma(c, 0, q, c->k + (first + t) * c->D, c->D), scale)
                       : -FLT_MAX;
        softmax_row(x, hint[r], p->P[r], &p->m[r]);
        p->l[r] = mma(c, 0, p->P[r], ones, PIECE);
    }
    free(zeros);
}

/* V of the piece, transposed: D x 64, zeros past the end. */
static void load_values(const struct decode_case *c, int64_t first, float *V)
{
    for (int64_t d = 0; d < c->D; d++)
        for (int64_t t = 0; t < PIECE; t++)
            V[d * PIECE + t] = first + t < c->keys ? c->v[(first + t) * c->D + d] : 0;
}

/* Brings row r of g and of the piece to their common maximum.  raised, lowered: whether any of the
   16 rows of the piece has a maximum above, below g's. */
static void rescale_row(const struct decode_case *c, struct gemm1 *g, struct piece *p, int r,
                        bool raised, bool lowered)
{
    float common = larger(g->G[r], p->m[r]);
    if (raised) {
        float a = fast_exp(fast_sub(g->G[r], common));
        g->L[r] = fast_mul(g->L[r], a);
        for (int64_t d = 0; r < c->rows && d < c->D; d++)
            g->O[r * c->D + d] = fast_mul(g->O[r * c->D + d], a);
    }
    if (lowered) {
        float s = fast_exp(fast_sub(p->m[r], common));
        p->l[r] = fast_mul(p->l[r], s);
        for (int t = 0; r < c->rows && t < PIECE; t++)
            p->P[r][t] = bf16(p->P[r][t] * bf16(s));
    }
    g->G[r] = common;
}

/* gemm1 takes a piece: its sums whole, its values begin .. end - 1 only.  True: some row's maximum
   differed from the running one. */
static bool absorb(const struct decode_case *c, struct gemm1 *g, struct piece p, const float *V,
                   int begin, int end)
{
    bool raised = false, lowered = false;
    for (int r = 0; r < ROWS; r++) {
        raised = raised || p.m[r] > g->G[r];
        lowered = lowered || p.m[r] < g->G[r];
    }
    for (int r = 0; r < ROWS; r++) {
        if (raised || lowered)
            rescale_row(c, g, &p, r, raised, lowered);
        g->L[r] = fast_add(g->L[r], p.l[r]);
    }
    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t d = 0; d < c->D; d++) {
            float *O = &g->O[r * c->D + d];
            *O = mma(c, *O, p.P[r] + begin, V + d * PIECE + begin, end - begin);
        }
    return raised || lowered;
}

/* The bf16 sum of the halves, which starts from 0. */
static float add_halves(float first, float second)
{
    return bf16(bf16(0 + first) + second);
}

/* D = 256: one group. */
static void finish_one(const struct decode_case *c, const struct gemm1 *g, struct partial *out)
{
    for (int64_t r = 0; r < c->rows; r++) {
        float inverse = fast_rcp(g->L[r]);
        out->G[r] = g->G[r];
        out->L[r] = g->L[r];
        for (int64_t d = 0; d < c->D; d++)
            out->O[r * c->D + d] = oracle_rounded_to(c->splits == 1 ? c->out : ORACLE_BF16,
                                                     fast_mul(g->O[r * c->D + d], inverse));
    }
}

/* D = 128: each group normalises its O; on sm90 by the sum of both, which each computes with the
   roles swapped.  Group 0's maximum and sum are kept. */
static void finish_two(const struct decode_case *c, struct gemm1 g[2], struct partial *out)
{
    bool sm120 = c->unit == ORACLE_SM120;
    for (int64_t r = 0; r < c->rows; r++) {
        float common = larger(g[0].G[r], g[1].G[r]), weight[2] = {1, 1}, L[2], inverse[2];
        for (int i = 0; i < 2 && !sm120; i++)
            weight[i] = fast_exp(fast_sub(g[i].G[r], common));
        for (int i = 0; i < 2; i++) {
            L[i] = sm120 ? g[i].L[r]
                         : fast_fma(g[i].L[r], weight[i], fast_mul(g[1 - i].L[r], weight[1 - i]));
            inverse[i] = fast_rcp(L[i]);
        }
        out->G[r] = common;
        out->L[r] = L[0];
        for (int64_t d = 0; d < c->D; d++) {
            float half[2];
            for (int i = 0; i < 2; i++)
                half[i] = bf16(fast_mul(fast_mul(g[i].O[r * c->D + d], weight[i]), inverse[i]));
            out->O[r * c->D + d] = add_halves(half[0], half[1]);
        }
    }
}

/* Piece x to the groups that take it.  With D = 128 warps 0 and 1 are group 0, warps 2 and 3 group
   1, and warp x alone writes slot x: only if its group took piece x. */
static void take_piece(const struct decode_case *c, int x, const struct piece *p, const float *V,
                       struct gemm1 g[2], float slot[ROWS])
{
    bool sm120 = c->unit == ORACLE_SM120;
    int groups = c->D == 128 ? 2 : 1, writer = groups == 2 ? x / 2 : 0;
    for (int i = 0; i < groups; i++) {
        bool mine = groups == 1 || sm120 || x % 2 == i;
        if (!mine)
            continue;
        int begin = groups == 2 && sm120 ? i * PIECE / 2 : 0;
        int end = groups == 2 && sm120 ? begin + PIECE / 2 : PIECE;
        if (absorb(c, &g[i], *p, V, begin, end) && i == writer)
            memcpy(slot, g[i].G, sizeof g[i].G);
    }
}

static void run_block(const struct decode_case *c, const struct xqa_options *options, int64_t block,
                      struct partial *out)
{
    float root = oracle_scale(1, (int)c->D);
    float scale = (options->q_scale == 0 ? 1 : options->q_scale) * root;
    float slot[PIECES][ROWS], *V = malloc((size_t)c->D * PIECE * sizeof *V);
    struct gemm1 g[2];
    struct piece *p = malloc(sizeof *p);
    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < ROWS; r++)
            g[i].G[r] = FIRST_MAX, g[i].L[r] = 0;
        g[i].O = calloc((size_t)(c->rows * c->D), sizeof(float));
    }
    for (int i = 0; i < PIECES * ROWS; i++)
        slot[i / ROWS][i % ROWS] = FIRST_MAX;
    for (int64_t tile = block; tile * TILE < c->keys; tile += c->splits)
        for (int x = 0; x < PIECES && tile * TILE + x * PIECE < c->keys; x++) {
            score_piece(c, scale, tile * TILE + x * PIECE, slot[x], p);
            load_values(c, tile * TILE + x * PIECE, V);
            take_piece(c, x, p, V, g, slot[x]);
        }
    if (c->D == 128)
        finish_two(c, g, out);
    else
        finish_one(c, &g[0], out);
    for (int i = 0; i < 2; i++)
        free(g[i].O);
    free(p);
    free(V);
}

/* The last block to finish weighs the partials of all; with D = 128 two groups take every other
   one and add their halves in bf16.  A block without tokens has weight 0. */
static void merge_row(const struct decode_case *c, const struct partial *partials, int64_t r,
                      float *out)
{
    int groups = c->D == 128 ? 2 : 1;
    float top = -INFINITY, T[2] = {0, 0};
    float *w = malloc((size_t)c->splits * sizeof *w);
    for (int64_t n = 0; n < c->splits; n++)
        top = larger(top, partials[n].G[r]);
    for (int64_t n = 0; n < c->splits; n++) {
        w[n] = fast_mul(partials[n].L[r], fast_exp(fast_sub(partials[n].G[r], top)));
        T[n % groups] = fast_add(T[n % groups], w[n]);
    }
    float inverse = fast_rcp(groups == 2 ? fast_add(T[0], T[1]) : T[0]);
    for (int64_t d = 0; d < c->D; d++) {
        float A[2] = {0, 0};
        for (int64_t n = 0; n < c->splits; n++)
            if (partials[n].L[r] != 0)
                A[n % groups] = fast_fma(partials[n].O[r * c->D + d], w[n], A[n % groups]);
        out[d] = fast_mul(A[0], inverse);
        out[d] = groups == 1 ? oracle_rounded_to(c->out, out[d])
                             : add_halves(bf16(out[d]), bf16(fast_mul(A[1], inverse)));
    }
    free(w);
}

void oracle_xqa(const struct decode_case *c, const struct xqa_options *options, float *O)
{
    assert(c->rows >= 1 && c->rows <= ROWS && c->keys >= 1 && c->splits >= 1);
    assert((c->D == 128 || c->D == 256) && c->type == ORACLE_BF16);
    struct partial *partials = calloc((size_t)c->splits, sizeof *partials);
    for (int64_t n = 0; n < c->splits; n++) {
        partials[n].O = calloc((size_t)(c->rows * c->D), sizeof(float));
        run_block(c, options, n, &partials[n]);
    }
    for (int64_t r = 0; r < c->rows; r++)
        if (c->splits > 1)
            merge_row(c, partials, r, O + r * c->D);
        else
            memcpy(O + r * c->D, partials[0].O + r * c->D, (size_t)c->D * sizeof *O);
    for (int64_t n = 0; n < c->splits; n++)
        free(partials[n].O);
    free(partials);
}
