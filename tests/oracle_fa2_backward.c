/* oracle_fa2_backward.c: see the header.

   Preprocess: D = rowsum(dO O), T threads a row, each owning 8 neighbouring columns of a page of
   8 T; then a butterfly.  Main: for key block n, query blocks from the last to the first; P without
   maximum or sum.  Last: dQ from its copies, scaled and rounded. */
#include "tests/oracle_fa2_backward.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle_scalar.h"

enum { MAX_TILE = 128, MAX_DIM = 256 };

struct tiles {
    float q[MAX_TILE * MAX_DIM], dO[MAX_TILE * MAX_DIM]; /* M x dim, zeros past the end */
    float k[MAX_TILE * MAX_DIM], v[MAX_TILE * MAX_DIM];  /* N x dim */
    float p[MAX_TILE * MAX_TILE], ds[MAX_TILE * MAX_TILE]; /* M x N, of the type */
    float dK[MAX_TILE * MAX_DIM], dV[MAX_TILE * MAX_DIM];
};

void oracle_fa2_backward_tile(int dim, enum oracle_unit unit, int *M, int *N)
{
    bool large = unit == ORACLE_SM80 || unit == ORACLE_SM90 || unit == ORACLE_SM100; /* >= 144 KB */
    *M = 64;
    *N = 128;
    if (dim == 32 || (dim == 64 && large))
        *M = 128;
    if (dim == 192 || dim == 256 || (dim == 128 && !large))
        *N = 64;
    if (dim == 256 && !large)
        *N = 32;
}

static float row_dot(const float *dO, const float *O, int dim)
{
    int T = dim % 64 == 0 ? 8 : 4;
    float lane[8];
    for (int t = 0; t < T; t++)
        for (int page = 0; page * 8 * T < dim; page++)
            for (int e = 0; e < 8; e++) {
                int at = page * 8 * T + 8 * t + e;
                lane[t] = page == 0 && e == 0 ? fast_mul(dO[at], O[at])
                                              : fast_fma(dO[at], O[at], lane[t]);
            }
    for (int offset = T / 2; offset > 0; offset /= 2) {
        float next[8];
        for (int t = 0; t < T; t++)
            next[t] = fast_add(lane[t], lane[t ^ offset]);
        memcpy(lane, next, sizeof lane);
    }
    return lane[0];
}

static void take_rows(float *to, const float *from, int first, int height, int all, int dim)
{
    for (int r = 0; r < height; r++)
        for (int d = 0; d < dim; d++)
            to[r * dim + d] = first + r < all ? from[(first + r) * dim + d] : 0;
}

static bool seen(const struct kernel_case *c, int row, int key)
{
    int at = row + c->keys - c->rows;
    if (row >= c->rows || key >= c->keys || (c->causal && key > at))
        return false;
    return (c->left < 0 || key >= at - c->left) && (c->right < 0 || key <= at + c->right);
}

static void pair_of_tiles(const struct kernel_case *c, struct tiles *t, const float *delta,
                          const float *lse, int m, int n, int M, int N)
{
    float scale_log2 = oracle_scale_log2(oracle_scale(c->scale_value, c->scale_root));
    for (int r = 0; r < M; r++)
        for (int k = 0; k < N; k++) {
            int row = m * M + r, key = n * N + k;
            bool inside = row < c->rows;
            float bias = !inside ? INFINITY : lse[row] == -INFINITY ? 0 : lse[row];
            bias = fast_mul(bias, ORACLE_LOG2E);
            float s = oracle_mma(c->unit, c->type, t->q + r * c->dim, 1, t->k + k * c->dim, 1, c->dim, 0);
            s = seen(c, row, key) ? s : -INFINITY;
            float p = fast_exp2(fast_fma(s, scale_log2, -bias));
            float dp =
                oracle_mma(c->unit, c->type, t->dO + r * c->dim, 1, t->v + k * c->dim, 1, c->dim, 0);
            float ds = fast_mul(p, fast_sub(dp, inside ? delta[row] : 0));
            t->p[r * N + k] = oracle_rounded_to(c->type, p);
            t->ds[r * N + k] = oracle_rounded_to(c->type, ds);
        }
}

/* dK, dV and the copy of dQ take what the pair of tiles gives. */
static void accumulate(const struct kernel_case *c, struct tiles *t, int m, int M, int N, float *dQ)
{
    for (int k = 0; k < N; k++)
        for (int d = 0; d < c->dim; d++) {
            float *dV = &t->dV[k * c->dim + d], *dK = &t->dK[k * c->dim + d];
            *dV = oracle_mma(c->unit, c->type, t->p + k, N, t->dO + d, c->dim, M, *dV);
            *dK = oracle_mma(c->unit, c->type, t->ds + k, N, t->q + d, c->dim, M, *dK);
        }
    for (int r = 0; r < M && m * M + r < c->rows; r++)
        for (int d = 0; d < c->dim; d++) {
            float part = oracle_mma(c->unit, c->type, t->ds + r * N, 1, t->k + d, c->dim, N, 0);
            float *to = &dQ[(m * M + r) * c->dim + d];
            *to = fast_add(*to, part);
        }
}

static int ceil_div(int a, int b)
{
    return a > 0 ? (a + b - 1) / b : 0;
}

static void key_block(const struct kernel_case *c, struct tiles *t, const float *dO,
                      const float *delta, const float *lse, int n, int M, int N, float *dQ)
{
    int last = ceil_div(c->rows, M), first = 0, right = c->causal ? 0 : c->right;
    int shift = c->rows - c->keys;
    if (right >= 0 && n * N + shift - right > 0)
        first = (n * N + shift - right) / M;
    if (c->left >= 0 && ceil_div((n + 1) * N + shift + c->left, M) < last)
        last = ceil_div((n + 1) * N + shift + c->left, M);
    take_rows(t->k, c->k, n * N, N, c->keys, c->dim);
    take_rows(t->v, c->v, n * N, N, c->keys, c->dim);
    memset(t->dK, 0, sizeof t->dK);
    memset(t->dV, 0, sizeof t->dV);
    for (int m = last - 1; m >= first; m--) {
        take_rows(t->q, c->q, m * M, M, c->rows, c->dim);
        take_rows(t->dO, dO, m * M, M, c->rows, c->dim);
        pair_of_tiles(c, t, delta, lse, m, n, M, N);
        accumulate(c, t, m, M, N, dQ);
    }
}

void oracle_fa2_backward(const struct kernel_case *c, const float *dO, const float *O,
                         const float *lse, int copies, float *dQ, float *dK, float *dV)
{
    int M, N, n = c->rows * c->dim;
    float scale = oracle_scale(c->scale_value, c->scale_root);
    struct tiles *t = calloc(1, sizeof *t);
    float *delta = calloc((size_t)c->rows + 1, sizeof *delta);
    float *copy = calloc((size_t)(n * copies) + 1, sizeof *copy);
    assert(t != NULL && delta != NULL && copy != NULL && c->dim <= MAX_DIM);
    oracle_fa2_backward_tile(c->dim, c->unit, &M, &N);
    for (int r = 0; r < c->rows; r++)
        delta[r] = row_dot(dO + r * c->dim, O + r * c->dim, c->dim);
    for (int j = 0; j < ceil_div(c->keys, N); j++) {
        key_block(c, t, dO, delta, lse, j, M, N, copy + j % copies * n);
        for (int k = 0; k < N && j * N + k < c->keys; k++)
            for (int d = 0; d < c->dim; d++) {
                int to = (j * N + k) * c->dim + d;
                dK[to] = oracle_rounded_to(c->type, fast_mul(t->dK[k * c->dim + d], scale));
                dV[to] = oracle_rounded_to(c->type, t->dV[k * c->dim + d]);
            }
    }
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int m = 0; m < copies; m++)
            sum = fast_add(sum, copy[m * n + i]);
        dQ[i] = oracle_rounded_to(c->type, fast_mul(sum, scale));
    }
    free(copy);
    free(delta);
    free(t);
}
