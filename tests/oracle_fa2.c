/* oracle_fa2.c: FlashAttention-2, forward and split: one row, one number at a time.

   Follows flash_fwd_kernel.h, softmax.h, mask.h and flash_fwd_launch_template.h as published, with
   the fused operations that builds by nvcc 13.0 show.  M and N are the kernel's tile of query rows
   and keys; quad lane t of a row owns columns 8j + 2t and 8j + 2t + 1 of a tile of keys. */
#include "tests/oracle_kernels.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle_scalar.h"

enum { LANES = 4, MAX_TILE = 256, MAX_DIM = 256, COMBINE_THREADS = 128 };

/* A case with its defaults filled in. */
struct plan {
    const struct kernel_case *c;
    int M, N;
    bool causal, local;
    int left, right;
    float scale, scale_log2; /* of what is exponentiated: with a softcap, of tanh's result */
    float cap_scale;         /* softcap: what tanh's argument is multiplied by */
    bool split;              /* one of several: a row without weight has LSE -inf, not +inf */
    bool uneven_checks;      /* the split kernel guards -inf maxima where lengths are uneven */
};

/* The blocks of keys a tile of rows visits, from last - 1 down to first. */
struct blocks {
    int first, last;
};

struct row_state {
    float m, l[LANES], O[MAX_DIM];
};

static int ceil_div(int a, int b)
{
    return a > 0 ? (a + b - 1) / b : 0;
}

/* Head sizes are compiled for 32, 64, 96, 128, 192 and 256. */
static int rounded_dim(int dim)
{
    return dim <= 128 ? ceil_div(dim, 32) * 32 : dim <= 192 ? 192 : 256;
}

void oracle_fa2_tile(int dim, enum oracle_unit unit, bool causal, int *M, int *N)
{
    int d = rounded_dim(dim);
    bool small = unit == ORACLE_SM86 || unit == ORACLE_SM89;
    *M = 128;
    *N = d <= 64 ? 128 : 64;
    if (small && causal && (d == 96 || d == 128))
        *M = 64;
    if (small && !causal && d == 128)
        *N = 32;
    if (d == 256 && unit != ORACLE_SM80)
        *M = 64;
}

static void split_tile(int dim, int *M, int *N)
{
    *M = 64;
    *N = dim <= 64 ? 256 : dim <= 128 ? 128 : 64;
}

static void set_window(struct plan *p)
{
    const struct kernel_case *c = p->c;
    bool causal = c->causal && c->rows > 1;
    p->left = c->left >= c->keys ? -1 : c->left;
    p->right = causal ? 0 : c->right >= c->keys ? -1 : c->right;
    p->causal = p->left < 0 && p->right == 0;
    p->local = !p->causal && (p->left >= 0 || p->right >= 0);
    p->left = p->left < 0 ? c->keys : p->left;
    p->right = p->right < 0 ? c->keys : p->right;
}

static struct plan make_plan(const struct kernel_case *c, bool split_kernel)
{
    struct plan p = {.c = c};
    set_window(&p);
    if (split_kernel)
        split_tile(c->dim, &p.M, &p.N);
    else
        oracle_fa2_tile(c->dim, c->unit, p.causal, &p.M, &p.N);
    p.M = c->tile_rows > 0 ? c->tile_rows : p.M;
    p.N = c->tile_keys > 0 ? c->tile_keys : p.N;
    assert(c->dim <= MAX_DIM && p.N <= MAX_TILE);
    p.scale = oracle_scale(c->scale_value, c->scale_root);
    if (c->softcap > 0) {
        p.cap_scale = p.scale / c->softcap;
        p.scale = c->softcap;
    }
    p.scale_log2 = oracle_scale_log2(p.scale);
    p.split = split_kernel && c->splits > 1;
    bool even = c->keys % p.N == 0 && c->rows % p.M == 0 && c->dim <= 128;
    p.uneven_checks = split_kernel && !even;
    return p;
}

/* The same for all rows of a tile. */
static struct blocks visited(const struct plan *p, int row, int first, int last)
{
    int tile = row / p->M, shift = p->c->keys - p->c->rows;
    int all = ceil_div(p->c->keys, p->N);
    struct blocks b = {first, last < all ? last : all};
    if (p->causal || p->local) {
        int reach = ceil_div((tile + 1) * p->M + shift + p->right, p->N);
        b.last = reach < b.last ? reach : b.last;
    }
    if (p->local) {
        int from = (tile * p->M + shift - p->left) / p->N;
        b.first = from > b.first ? from : b.first;
    }
    return b;
}

static int masking_steps(const struct plan *p)
{
    if (!p->causal && !p->local)
        return 1;
    const struct kernel_case *c = p->c;
    bool even = c->keys % p->N == 0 && c->rows % p->M == 0 && c->dim <= 128;
    return ceil_div(p->M, p->N) + (p->causal && even ? 0 : 1);
}

static bool sees(const struct plan *p, int row, int key)
{
    int last = row + p->c->keys - p->c->rows;
    if ((p->causal || p->local) && key > last + p->right)
        return false;
    return !p->local || key >= last - p->left;
}

/* q . k over slices of the head in ascending order; a last, shorter slice is filled with zeros. */
static float raw_score(const struct plan *p, int row, int key)
{
    const struct kernel_case *c = p->c;
    float s = oracle_mma(c->unit, c->type, c->q + (size_t)row * (size_t)c->dim, 1,
                         c->k + (size_t)key * (size_t)c->dim, 1, c->dim, 0);
    return c->softcap > 0 ? fast_tanh(fast_mul(s, p->cap_scale)) : s;
}

static float block_score(const struct plan *p, int row, int key, bool masked)
{
    if (key >= p->c->keys || (masked && !sees(p, row, key)))
        return -INFINITY;
    return raw_score(p, row, key);
}

static float probability(const struct plan *p, float s, float ms)
{
    if (p->c->unfused_exp)
        return fast_exp2(fast_sub(fast_mul(s, p->scale_log2), ms));
    return fast_exp2(fast_fma(s, p->scale_log2, -ms));
}

static float quad_sum(const float *l)
{
    return fast_add(fast_add(l[0], l[2]), fast_add(l[1], l[3]));
}

/* Lane by lane: the first of its columns enters fused with the rescaling, the others are added. */
static void add_to_sums(const struct plan *p, struct row_state *s, const float *P, bool first,
                        float a)
{
    float sum[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        int own = 2 * lane;
        bool carries = !first && !p->c->before_2_5_4;
        sum[lane] = carries ? fast_fma(s->l[lane], a, P[own]) : P[own];
        sum[lane] = fast_add(sum[lane], P[own + 1]);
        for (own += 2 * LANES; own < p->N; own += 2 * LANES) {
            sum[lane] = fast_add(sum[lane], P[own]);
            sum[lane] = fast_add(sum[lane], P[own + 1]);
        }
    }
    if (p->c->before_2_5_4) {
        float block = quad_sum(sum);
        if (!first && p->c->fused_block_sum)
            block = fast_fma(s->l[0], a, block);
        else if (!first)
            block = fast_add(fast_mul(s->l[0], a), block);
        sum[0] = block;
    }
    memcpy(s->l, sum, sizeof sum);
}

/* P, rounded, times V; values past the last key are zeros. */
static void add_values(const struct plan *p, struct row_state *s, const float *P, int block)
{
    const struct kernel_case *c = p->c;
    float rounded[MAX_TILE], column[MAX_TILE];
    for (int j = 0; j < p->N; j++)
        rounded[j] = oracle_rounded_to(c->type, P[j]);
    for (int d = 0; d < c->dim; d++) {
        for (int j = 0; j < p->N; j++) {
            int key = block * p->N + j;
            column[j] = key < c->keys ? c->v[(size_t)key * (size_t)c->dim + (size_t)d] : 0;
        }
        s->O[d] = oracle_mma(c->unit, c->type, rounded, 1, column, 1, p->N, s->O[d]);
    }
}

static void absorb(const struct plan *p, int row, int block, bool first, bool masked,
                   bool check_inf, struct row_state *s)
{
    float S[MAX_TILE], P[MAX_TILE], m = first ? NAN : s->m, a = 0;
    for (int j = 0; j < p->N; j++) {
        S[j] = block_score(p, row, block * p->N + j, masked);
        m = larger(m, S[j]);
    }
    if (!first) {
        float current = check_inf && m == -INFINITY ? 0 : m;
        a = fast_exp2(fast_mul(fast_sub(s->m, current), p->scale_log2));
        for (int d = 0; d < p->c->dim; d++)
            s->O[d] = fast_mul(s->O[d], a);
    }
    s->m = m;
    float ms = m == -INFINITY ? 0 : fast_mul(m, p->scale_log2);
    for (int j = 0; j < p->N; j++)
        P[j] = probability(p, S[j], ms);
    add_to_sums(p, s, P, first, a);
    add_values(p, s, P, block);
}

/* O is normalised, not rounded to 16 bits. */
static void finish(const struct plan *p, const struct row_state *s, float *O, float *lse)
{
    float l = p->c->before_2_5_4 ? s->l[0] : quad_sum(s->l);
    bool bad = l == 0 || isnan(l);
    float inverse = bad ? 1 : fast_rcp(l);
    for (int d = 0; d < p->c->dim; d++)
        O[d] = fast_mul(s->O[d], inverse);
    if (bad)
        *lse = p->split ? -INFINITY : INFINITY;
    else
        *lse = fast_fma(s->m, p->scale, fast_mul(fast_log2(l), ORACLE_LN2));
}

/* A row over its tile's blocks out of [first, last). */
static void run_row(const struct plan *p, int row, int first, int last, float *O, float *lse)
{
    struct blocks b = visited(p, row, first, last);
    struct row_state s = {.m = -INFINITY};
    for (int block = b.last - 1; block >= b.first; block--) {
        int step = b.last - 1 - block;
        bool masking = step < masking_steps(p);
        bool check_inf = p->local || (masking && (p->causal || p->uneven_checks));
        absorb(p, row, block, step == 0, masking || p->local, check_inf, &s);
    }
    finish(p, &s, O, lse);
}

static void round_output(const struct kernel_case *c, float *O)
{
    for (int i = 0; i < c->rows * c->dim; i++)
        O[i] = oracle_rounded_to(c->out, O[i]);
}

static void run_rows(const struct plan *p, int first, int last, float *O, float *lse)
{
    for (int row = 0; row < p->c->rows; row++)
        run_row(p, row, first, last, O + (size_t)row * (size_t)p->c->dim, lse + row);
}

void oracle_fa2(const struct kernel_case *c, float *O, float *lse)
{
    struct plan p = make_plan(c, false);
    run_rows(&p, 0, ceil_div(c->keys, p.N), O, lse);
    round_output(c, O);
}

void oracle_fa2_partial(const struct kernel_case *c, int split, float *O, float *lse)
{
    struct plan p = make_plan(c, true);
    int longest = c->capacity > 0 ? c->capacity : c->keys;
    int splits = c->splits > 1 ? c->splits : 1;
    int each = ceil_div(ceil_div(longest, p.N), splits);
    run_rows(&p, split * each, (split + 1) * each, O, lse);
}

/* What `lanes` threads make of one value each, adding across the row by halving distances. */
static float butterfly_sum(float *z, int lanes)
{
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
        float next[COMBINE_THREADS];
        for (int i = 0; i < lanes; i++)
            next[i] = fast_add(z[i], z[i ^ offset]);
        memcpy(z, next, (size_t)lanes * sizeof *z);
    }
    return z[0];
}

/* The LSE of the splits' LSEs: lane r of the row holds those of splits r, R + r, 2R + r, ... */
static float total_lse(int dim, int splits, const float *lse)
{
    int d = rounded_dim(dim), rows = d % 128 == 0 ? 4 : d % 64 == 0 ? 8 : 16, padded = 2;
    while (padded < splits)
        padded *= 2;
    int lanes = COMBINE_THREADS / rows < padded ? COMBINE_THREADS / rows : padded;
    float mx = -INFINITY, z[COMBINE_THREADS];
    for (int i = 0; i < splits; i++)
        mx = larger(mx, lse[i]);
    mx = mx == -INFINITY ? 0 : mx;
    for (int r = 0; r < lanes; r++)
        for (int i = r; i < padded; i += lanes) {
            float e = fast_exp(fast_sub(i < splits ? lse[i] : -INFINITY, mx));
            z[r] = i == r ? e : fast_add(z[r], e);
        }
    float sum = butterfly_sum(z, lanes);
    return sum == 0 || isnan(sum) ? INFINITY : fast_fma(fast_log2(sum), ORACLE_LN2, mx);
}

void oracle_fa2_combine(const struct kernel_case *c, const float *partial_O,
                        const float *partial_lse, float *O, float *lse)
{
    assert(c->splits <= COMBINE_THREADS);
    for (int row = 0; row < c->rows; row++) {
        float part[COMBINE_THREADS], weight[COMBINE_THREADS];
        for (int i = 0; i < c->splits; i++)
            part[i] = partial_lse[i * c->rows + row];
        lse[row] = total_lse(c->dim, c->splits, part);
        for (int i = 0; i < c->splits; i++)
            weight[i] = fast_exp(fast_sub(part[i], lse[row]));
        for (int d = 0; d < c->dim; d++) {
            float sum = 0;
            for (int i = 0; i < c->splits; i++)
                sum = fast_fma(weight[i], partial_O[(i * c->rows + row) * c->dim + d], sum);
            O[row * c->dim + d] = sum;
        }
    }
    round_output(c, O);
}

void oracle_fa2_split(const struct kernel_case *c, float *O, float *lse)
{
    if (c->splits <= 1) {
        oracle_fa2_partial(c, 0, O, lse);
        round_output(c, O);
        return;
    }
    size_t rows = (size_t)c->rows, splits = (size_t)c->splits, dim = (size_t)c->dim;
    float *partial_O = calloc(splits * rows * dim, sizeof *partial_O);
    float *partial_lse = calloc(splits * rows, sizeof *partial_lse);
    assert(partial_O != NULL && partial_lse != NULL);
    for (size_t i = 0; i < splits; i++)
        oracle_fa2_partial(c, (int)i, partial_O + i * rows * dim, partial_lse + i * rows);
    oracle_fa2_combine(c, partial_O, partial_lse, O, lse);
    free(partial_lse);
    free(partial_O);
}
