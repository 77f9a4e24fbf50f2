/* oracle_backward.c: Algorithm 2 of arXiv 2307.08691, written flat.

   For key tile j, for query tile i that sees any of it:  P = e^(S - L), dV_j += P^T dO,
   dP = dO V^T, dS = P (dP - D), dQ_i += dS K_j, dK_j += dS^T Q; D = rowsum(dO O).  P is rounded for
   its product only: dS takes it unrounded.  The scale multiplies dQ and dK at the end.  With softcap
   S = c tanh(s / c), and dS is multiplied by 1 - tanh^2.  Pairs of a visited tile that are not seen,
   the empty places of a ragged tile among them, count as +0 in every sum. */
#include "tests/oracle_backward.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct pair {
    double p, weight, ds; /* P; as the product takes it; dS likewise */
};

static double operate(const struct oracle *o, enum oracle_site at, enum oracle_operation operation,
                      double a, double b, double c)
{
    return oracle_rounded(o->site[at], o->saturate, operation, a, b, c);
}

static double convert(const struct oracle *o, enum oracle_site at, double x)
{
    int n = o->scale_log2[at];
    return ldexp(operate(o, at, ORACLE_CONVERT, ldexp(x, n), 0, 0), -n);
}

static bool sees_key(const struct oracle *o, int64_t r, int64_t c)
{
    return r < o->Nq && c < o->Nk && c >= (o->lo != NULL ? o->lo[r] : 0) &&
           c < (o->hi != NULL ? o->hi[r] : o->Nk);
}

static double chain(const struct oracle *o, enum oracle_site at, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t d = 0; d < o->D; d++)
        sum = operate(o, at, ORACLE_FMA, a[d], b[d], sum);
    return sum;
}

static struct pair weigh(const struct oracle_gradient *g, int64_t r, int64_t c, double delta)
{
    const struct oracle *o = g->o;
    double scale = oracle_constant(o->site[AT_CONST], o->saturate, o->scale_value, o->scale_root);
    double cap = oracle_constant(o->site[AT_CONST], o->saturate, o->softcap, 1), tanh_s = 0;
    double s = chain(o, AT_SCORE_ACC, g->o->q + r * o->D, o->k + c * o->D);
    s = operate(o, AT_SCORE, ORACLE_MUL, s, scale, 0);
    if (o->softcap > 0) {
        s = operate(o, AT_SOFTCAP, ORACLE_DIV, s, cap, 0);
        tanh_s = operate(o, AT_SOFTCAP, ORACLE_TANH, s, 0, 0);
        s = operate(o, AT_SOFTCAP, ORACLE_MUL, tanh_s, cap, 0);
    }
    struct pair x;
    s = operate(o, AT_EXP_ARG, ORACLE_SUB, s, g->lse[r], 0);
    x.p = operate(o, AT_EXP, ORACLE_EXP, s, 0, 0);
    x.weight = convert(o, AT_PROB, x.p);
    double dp = chain(o, AT_DP_ACC, g->dO + r * o->D, o->v + c * o->D);
    dp = operate(o, AT_DP_SHIFT, ORACLE_SUB, dp, delta, 0);
    double ds = operate(o, AT_DS_PRODUCT, ORACLE_MUL, x.p, dp, 0);
    if (o->softcap > 0) {
        double square = operate(o, AT_SOFTCAP, ORACLE_MUL, tanh_s, tanh_s, 0);
        double slope = operate(o, AT_SOFTCAP, ORACLE_SUB, 1, square, 0);
        ds = operate(o, AT_DS_PRODUCT, ORACLE_MUL, ds, slope, 0);
    }
    x.ds = convert(o, AT_DS, ds);
    return x;
}

/* sum + a b, or + 0 for a pair that is not seen. */
static double take(const struct oracle *o, enum oracle_site at, double sum, bool seen, double a,
                   const double *row, int64_t d)
{
    return seen ? operate(o, at, ORACLE_FMA, a, row[d], sum) : operate(o, at, ORACLE_ADD, sum, 0, 0);
}

static bool meet(const struct oracle *o, int64_t row0, int64_t col0)
{
    for (int64_t r = row0; r < row0 + o->row_tile; r++)
        for (int64_t c = col0; c < col0 + o->tile; c++)
            if (sees_key(o, r, c))
                return true;
    return false;
}

/* Row r's sum of dS k over the keys of a tile; `x` are its pairs there. */
static double query_sum(const struct oracle *o, const struct pair *x, int64_t r, int64_t col0,
                        int64_t d, int warps)
{
    int64_t each = warps > 0 ? (o->tile + warps - 1) / warps : o->tile;
    double all = 0;
    for (int64_t first = 0; first < o->tile; first += each) {
        double sum = 0;
        for (int64_t c = first; c < first + each && c < o->tile; c++) {
            bool seen = sees_key(o, r, col0 + c);
            sum = take(o, AT_DQ_ACC, sum, seen, x[c].ds, o->k + (seen ? col0 + c : 0) * o->D, d);
        }
        all = warps > 0 ? operate(o, AT_DQ_ACC, ORACLE_ADD, all, sum, 0) : sum;
    }
    return all;
}

/* What query tile row0 .. adds: to dK, dV of keys col0 .., to dQ of its own rows. */
static void one_pair_of_tiles(const struct oracle_gradient *g, const double *delta, int64_t row0,
                              int64_t col0, double *dQ, double *dK, double *dV, double *ds_sum)
{
    const struct oracle *o = g->o;
    int64_t D = o->D;
    struct pair *x = calloc((size_t)(o->row_tile * o->tile), sizeof *x);
    assert(x != NULL);
    for (int64_t r = 0; r < o->row_tile; r++)
        for (int64_t c = 0; c < o->tile; c++)
            if (sees_key(o, row0 + r, col0 + c))
                x[r * o->tile + c] = weigh(g, row0 + r, col0 + c, delta[row0 + r]);
    for (int64_t c = 0; c < o->tile && col0 + c < o->Nk; c++)
        for (int64_t r = 0; r < o->row_tile; r++)
            for (int64_t d = 0; d < D; d++) {
                bool seen = sees_key(o, row0 + r, col0 + c);
                int64_t row = seen ? row0 + r : 0, at = (col0 + c) * D + d;
                const struct pair *y = &x[r * o->tile + c];
                dV[at] = take(o, AT_DV_ACC, dV[at], seen, y->weight, g->dO + row * D, d);
                dK[at] = take(o, AT_DK_ACC, dK[at], seen, y->ds, o->q + row * D, d);
            }
    for (int64_t r = 0; r < o->row_tile && row0 + r < o->Nq; r++) {
        for (int64_t d = 0; d < D; d++) {
            double sum = query_sum(o, &x[r * o->tile], row0 + r, col0, d, g->warps);
            double *at = &dQ[(row0 + r) * D + d];
            *at = operate(o, AT_DQ_SUM, ORACLE_ADD, *at, sum, 0);
        }
        for (int64_t c = 0; c < o->tile; c++)
            ds_sum[row0 + r] = operate(o, AT_DS_SUM, ORACLE_ADD, ds_sum[row0 + r],
                                       sees_key(o, row0 + r, col0 + c) ? x[r * o->tile + c].ds : 0, 0);
    }
    free(x);
}

static void scale_all(const struct oracle *o, double *x, int64_t n)
{
    double scale = oracle_constant(o->site[AT_CONST], o->saturate, o->scale_value, o->scale_root);
    for (int64_t i = 0; i < n; i++)
        x[i] = operate(o, AT_GRADIENT_SCALE, ORACLE_MUL, x[i], scale, 0);
}

void oracle_backward(const struct oracle_gradient *g, double *dQ, double *dK, double *dV,
                     double *ds_sum)
{
    const struct oracle *o = g->o;
    int64_t n = o->Nq * o->D;
    double *delta = calloc((size_t)o->Nq + 1, sizeof *delta);
    double *copy = calloc((size_t)(n * g->copies) + 1, sizeof *copy);
    assert(delta != NULL && copy != NULL);
    for (int64_t r = 0; r < o->Nq; r++) {
        delta[r] = chain(o, AT_DELTA, g->dO + r * o->D, g->O + r * o->D);
        ds_sum[r] = 0;
    }
    for (int64_t i = 0; i < o->Nk * o->D; i++)
        dK[i] = dV[i] = 0;
    for (int64_t col0 = 0; col0 < o->Nk; col0 += o->tile)
        for (int64_t row0 = 0; row0 < o->Nq; row0 += o->row_tile)
            if (meet(o, row0, col0))
                one_pair_of_tiles(g, delta, row0, col0, copy + col0 / o->tile % g->copies * n, dK, dV,
                                  ds_sum);
    for (int64_t i = 0; i < n; i++) {
        dQ[i] = 0;
        for (int m = 0; m < g->copies; m++)
            dQ[i] = operate(o, AT_DQ_SUM, ORACLE_ADD, dQ[i], copy[m * n + i], 0);
    }
    scale_all(o, dQ, n);
    scale_all(o, dK, o->Nk * o->D);
    for (int64_t i = 0; i < n; i++)
        dQ[i] = convert(o, AT_GRADIENT, dQ[i]);
    free(copy);
    free(delta);
}

void oracle_group(const struct oracle *o, const double *const *head, int heads, int64_t n,
                  double *dst)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = head[0][i];
        if (heads > 1)
            sum = convert(o, AT_HEAD_GRADIENT, sum);
        for (int h = 1; h < heads; h++)
            sum = operate(o, AT_GROUP_SUM, ORACLE_ADD, sum, convert(o, AT_HEAD_GRADIENT, head[h][i]),
                          0);
        dst[i] = convert(o, AT_GRADIENT, sum);
    }
}
