/* oracle_triton.c: three Triton kernels: vLLM's unified attention in decoding, SGLang's grouped
   decode, and the tutorial's forward pass.

   Follows triton_unified_attention.py, decode_attention.py and 06-fused-attention.py as published.
   Keys ascend in tiles; every kernel keeps a running maximum m, sum L and output acc.  L adds up
   unrounded fp32 weights, acc rounded ones.  Triton does not flush subnormals. */
#include "tests/oracle_decode.h"

#include <assert.h>
#include <stdlib.h>

enum { SEGMENTS = 16, MAX_TILE = 256 };

struct row {
    const struct decode_case *c;
    const struct triton_options *o;
    const float *q;
    struct triton_sum weights;
    int tile;
    float m, L;
    float *acc; /* D */
};

/* One term, or one more term, of a sum of products; without b, of a's. */
static float add_term(bool separate, const float *a, const float *b, int i, bool first, float sum)
{
    if (b == NULL)
        return first ? a[i] : sum + a[i];
    if (first)
        return a[i] * b[i];
    return separate ? sum + a[i] * b[i] : fmaf(a[i], b[i], sum);
}

static float sum_strided(bool separate, const float *a, const float *b, int n, int owners)
{
    float parts[MAX_TILE] = {0};
    assert(owners <= MAX_TILE);
    for (int i = 0; i < n; i++)
        parts[i % owners] = add_term(separate, a, b, i, i < owners, parts[i % owners]);
    return oracle_butterfly(parts, owners);
}

static float sum_fragments(bool separate, const float *a, const float *b, int n, int warps)
{
    enum { QUAD = 4 };
    float parts[MAX_TILE / 8], lanes[QUAD];
    assert(n % (8 * warps) == 0);
    for (int w = 0; w < warps; w++) {
        for (int t = 0; t < QUAD; t++) {
            lanes[t] = 0;
            for (int i = 8 * w + 2 * t; i < n; i += 8 * warps) {
                lanes[t] = add_term(separate, a, b, i, i < 8 * warps, lanes[t]);
                lanes[t] = add_term(separate, a, b, i + 1, false, lanes[t]);
            }
        }
        parts[w] = oracle_butterfly(lanes, QUAD);
    }
    return oracle_butterfly(parts, warps);
}

/* Sum of a[i] b[i], or of a[i], in the given order. */
static float sum_terms(struct triton_sum s, bool separate, const float *a, const float *b, int n)
{
    if (s.order == TRITON_FRAGMENTS)
        return sum_fragments(separate, a, b, n, s.owners);
    return sum_strided(separate, a, b, n, s.order == TRITON_CHAIN ? 1 : s.owners);
}

static struct triton_sum or_default(struct triton_sum s, enum triton_order order, int owners)
{
    return s.order == TRITON_DEFAULT ? (struct triton_sum){order, owners} : s;
}

static float e_to(float x)
{
    return plain_exp_product(x);
}

static float divide(const struct triton_options *o, float a, float b)
{
    return o->division_rounded_once ? a / b : a * plain_rcp(b);
}

static float score(const struct row *s, int64_t token)
{
    const struct decode_case *c = s->c;
    return oracle_mma(c->unit, c->type, s->q, 1, c->k + token * c->D, 1, (int)c->D, 0);
}

static void start_row(struct row *s, int64_t r, float L, float *acc)
{
    s->q = s->c->q + r * s->c->D;
    s->m = -INFINITY;
    s->L = L;
    s->acc = acc;
    for (int64_t d = 0; d < s->c->D; d++)
        acc[d] = 0;
}

/* Weights p of the tokens first .. end - 1, relative to m; the state so far counts alpha. */
static void take_weights(struct row *s, const float *p, int64_t first, int64_t end, float m,
                         float alpha)
{
    const struct decode_case *c = s->c;
    float P[MAX_TILE], sum = sum_terms(s->weights, false, p, NULL, s->tile);
    int64_t n = end - first < s->tile ? end - first : s->tile;
    s->m = m;
    s->L = s->o->separate_sum ? s->L * alpha + sum : fmaf(s->L, alpha, sum);
    for (int t = 0; t < s->tile; t++)
        P[t] = oracle_rounded_to(c->type, p[t]);
    for (int64_t d = 0; d < c->D; d++) {
        float acc = s->acc[d] * alpha, from = s->o->values_apart ? 0 : acc;
        float dot =
            oracle_mma(c->unit, c->type, P, 1, c->v + first * c->D + d, (int)c->D, (int)n, from);
        s->acc[d] = s->o->values_apart ? acc + dot : dot;
    }
}

/* Both decode kernels: natural units, the scale a rounding of its own, tokens from `end` on masked
   to -inf. */
static void take_decode_tile(struct row *s, int64_t first, int64_t end)
{
    float p[MAX_TILE], m = s->m;
    for (int t = 0; t < s->tile; t++) {
        p[t] = first + t < end ? s->c->scale * score(s, first + t) : -INFINITY;
        m = larger(m, p[t]);
    }
    m = m > -INFINITY ? m : 0;
    for (int t = 0; t < s->tile; t++)
        p[t] = e_to(p[t] - m);
    take_weights(s, p, first, end, m, e_to(s->m - m));
}

static struct row decode_row(const struct decode_case *c, const struct triton_options *o, int tile)
{
    struct row s = {.c = c, .o = o, .tile = o->tile == 0 ? tile : o->tile};
    s.weights = or_default(o->weights, TRITON_FRAGMENTS, s.tile < 32 ? s.tile / 8 : 4);
    assert(c->keys >= 1 && c->type != ORACLE_FP32 && s.tile % 8 == 0 && s.tile <= MAX_TILE);
    return s;
}

static void reduce_segments(const struct decode_case *c, const struct triton_options *o,
                            const float m[SEGMENTS], const float L[SEGMENTS], const float *acc,
                            float *out)
{
    struct triton_sum sums = or_default(o->segment_sums, TRITON_STRIDED, SEGMENTS);
    struct triton_sum values = or_default(o->segment_values, TRITON_STRIDED, 4);
    float top = -INFINITY, f[SEGMENTS], column[SEGMENTS];
    for (int i = 0; i < SEGMENTS; i++)
        top = larger(top, m[i]);
    for (int i = 0; i < SEGMENTS; i++)
        f[i] = e_to(m[i] - top);
    float sum = sum_terms(sums, o->separate_segments, L, f, SEGMENTS);
    for (int64_t d = 0; d < c->D; d++) {
        for (int i = 0; i < SEGMENTS; i++)
            column[i] = acc[i * c->D + d];
        float value = sum_terms(values, o->separate_segments, column, f, SEGMENTS);
        out[d] = oracle_rounded_to(c->out, sum == 0 ? 0 : divide(o, value, sum));
    }
}

void oracle_triton_unified(const struct decode_case *c, const struct triton_options *options,
                           float *O)
{
    struct row s = decode_row(c, options, 16);
    int64_t tiles = (c->keys + SEGMENTS * s.tile - 1) / (SEGMENTS * s.tile);
    int64_t length = tiles * s.tile;
    float m[SEGMENTS], L[SEGMENTS], *acc = malloc((size_t)(SEGMENTS * c->D) * sizeof *acc);
    for (int64_t r = 0; r < c->rows; r++) {
        for (int64_t i = 0; i < SEGMENTS; i++) {
            start_row(&s, r, 1, acc + i * c->D);
            for (int64_t t = i * length; t < (i + 1) * length && t < c->keys; t += s.tile)
                take_decode_tile(&s, t, c->keys);
            m[i] = s.m;
            L[i] = i * length < c->keys ? s.L : 0;
        }
        reduce_segments(c, options, m, L, acc, O + r * c->D);
    }
    free(acc);
}

static float log_sum(const struct triton_options *o, float m, float L)
{
    if (o->log == TRITON_LOG_ROUNDED)
        return m + plain_log(L);
    float lg2 = plain_log2(L);
    return o->log == TRITON_LG2_LN2_FUSED ? fmaf(lg2, ORACLE_LN2, m) : m + lg2 * ORACLE_LN2;
}

/* a x + b y */
static float merge(const struct triton_options *o, float a, float x, float b, float y)
{
    return o->merge == TRITON_FUSE_OLD   ? fmaf(a, x, b * y)
           : o->merge == TRITON_FUSE_NEW ? fmaf(b, y, a * x)
                                         : a * x + b * y;
}

/* Stage 2 takes a split's normalised output and LSE into the running sums. */
static void take_split(const struct row *split, float lse, float *top, float *sum, float *out)
{
    const struct triton_options *o = split->o;
    float m = larger(*top, lse), old = e_to(*top - m), weight = e_to(lse - m);
    for (int64_t d = 0; d < split->c->D; d++)
        out[d] = merge(o, out[d], old, weight, divide(o, split->acc[d], split->L));
    *sum = o->separate_sum ? *sum * old + weight : fmaf(*sum, old, weight);
    *top = m;
}

void oracle_sglang(const struct decode_case *c, const struct triton_options *options, float *O)
{
    enum { ALIGNED = 32 };
    struct row s = decode_row(c, options, 32);
    int64_t length = (c->keys + c->splits - 1) / c->splits;
    if (!options->unaligned_splits)
        length = (length + ALIGNED - 1) / ALIGNED * ALIGNED;
    float *acc = malloc((size_t)c->D * sizeof *acc);
    for (int64_t r = 0; r < c->rows; r++) {
        float top = -INFINITY, sum = 0, *out = O + r * c->D;
        for (int64_t d = 0; d < c->D; d++)
            out[d] = 0;
        for (int64_t first = 0; first < c->keys; first += length) {
            int64_t end = first + length < c->keys ? first + length : c->keys;
            start_row(&s, r, 0, acc);
            for (int64_t t = first; t < end; t += s.tile)
                take_decode_tile(&s, t, end);
            take_split(&s, log_sum(options, s.m, s.L), &top, &sum, out);
        }
        for (int64_t d = 0; d < c->D; d++)
            out[d] = oracle_rounded_to(c->out, divide(options, out[d], sum));
    }
    free(acc);
}

/* Off the diagonal the maximum is of unscaled scores, and scaled then. */
static void take_full_tile(struct row *s, float scale, int64_t first)
{
    float x[MAX_TILE], m = -INFINITY;
    for (int t = 0; t < s->tile; t++) {
        x[t] = score(s, first + t);
        m = larger(m, x[t]);
    }
    m = larger(s->m, m * scale);
    for (int t = 0; t < s->tile; t++)
        x[t] = plain_exp2(s->o->separate_argument ? x[t] * scale - m : fmaf(x[t], scale, -m));
    take_weights(s, x, first, first + s->tile, m, plain_exp2(s->m - m));
}

/* On the diagonal hidden scores are scaled and then lowered by a million. */
static void take_diagonal_tile(struct row *s, float scale, int64_t r, int64_t first)
{
    float x[MAX_TILE], m = s->m;
    for (int t = 0; t < s->tile; t++) {
        float bias = first + t <= r ? 0 : -1e6f, score_t = score(s, first + t);
        x[t] = s->o->separate_argument ? score_t * scale + bias : fmaf(score_t, scale, bias);
        m = larger(m, x[t]);
    }
    for (int t = 0; t < s->tile; t++)
        x[t] = plain_exp2(x[t] - m);
    take_weights(s, x, first, first + s->tile, m, plain_exp2(s->m - m));
}

void oracle_triton_fa(const struct decode_case *c, const struct triton_options *options, float *O,
                      float *lse)
{
    struct row s = decode_row(c, options, 64);
    int64_t query_tile = options->query_tile == 0 ? 128 : options->query_tile;
    float scale = c->scale * ORACLE_LOG2E, *acc = malloc((size_t)c->D * sizeof *acc);
    s.weights = or_default(options->weights, TRITON_FRAGMENTS, 1);
    assert(c->keys % s.tile == 0 && query_tile % s.tile == 0);
    assert(!options->causal || (c->rows == c->keys && c->keys % query_tile == 0));
    for (int64_t r = 0; r < c->rows; r++) {
        int64_t diagonal = options->causal ? r / query_tile * query_tile : c->keys;
        int64_t end = options->causal ? diagonal + query_tile : c->keys;
        start_row(&s, r, 1, acc);
        for (int64_t t = 0; t < diagonal; t += s.tile)
            take_full_tile(&s, scale, t);
        for (int64_t t = diagonal; t < end; t += s.tile)
            take_diagonal_tile(&s, scale, r, t);
        for (int64_t d = 0; d < c->D; d++)
            O[r * c->D + d] = oracle_rounded_to(c->out, divide(options, acc[d], s.L));
        if (lse != NULL)
            lse[r] = s.m + plain_log2(s.L);
    }
    free(acc);
}
