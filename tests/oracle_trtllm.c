/* oracle_trtllm.c: TensorRT-LLM's reduction of partial attention, as published; the partials are
   ours.

   Follows csrc/fmhaReduction.cu: an ordered running recurrence over partials that hold the
   unnormalised output in 16 bits, the maximum of the raw, unscaled scores and the sum in fp32.
   Fast math: subnormals are flushed.  Unrolling by 4 fills up with weights 1 and 0, which changes
   no bit and is left out. */
#include "tests/oracle_decode.h"

#include <assert.h>
#include <stdlib.h>

struct partial {
    float m, l;
    float *O; /* D, fp32 */
};

static float scale_log2(const struct decode_case *c)
{
    return c->scale * ORACLE_LOG2E;
}

/* e^((from - to) scale), three roundings */
static float weight(const struct decode_case *c, float from, float to)
{
    return fast_exp2(fast_mul(scale_log2(c), fast_sub(from, to)));
}

static void rescale(const struct decode_case *c, struct partial *part, float m)
{
    float a = weight(c, part->m, m);
    part->m = m;
    part->l = fast_mul(part->l, a);
    for (int64_t d = 0; d < c->D; d++)
        part->O[d] = fast_mul(part->O[d], a);
}

static void add_values(const struct decode_case *c, bool rounded, const float *p, int64_t first,
                       int n, float *O)
{
    for (int64_t d = 0; d < c->D; d++) {
        const float *v = c->v + first * c->D + d;
        if (rounded)
            O[d] = oracle_mma(c->unit, c->type, p, 1, v, (int)c->D, n, O[d]);
        else
            for (int t = 0; t < n; t++)
                O[d] = fast_fma(p[t], v[t * c->D], O[d]);
    }
}

static void take_tile(const struct decode_case *c, bool rounded, const float *q, int64_t first,
                      int n, struct partial *part)
{
    float *p = malloc((size_t)n * sizeof *p), m = part->m;
    for (int t = 0; t < n; t++) {
        p[t] = oracle_mma(c->unit, c->type, q, 1, c->k + (first + t) * c->D, 1, (int)c->D, 0);
        m = larger(m, p[t]);
    }
    rescale(c, part, m);
    float bias = fast_mul(m, scale_log2(c));
    for (int t = 0; t < n; t++) {
        p[t] = fast_exp2(fast_fma(p[t], scale_log2(c), -bias));
        part->l = fast_add(part->l, p[t]);
        p[t] = rounded ? oracle_rounded_to(c->type, p[t]) : p[t];
    }
    add_values(c, rounded, p, first, n, part->O);
    free(p);
}

/* One row of the reduction; outputs and statistics of partial i lie i `step`s on. */
static void reduce_row(const struct decode_case *c, int64_t partials, const float *outputs,
                       const float *m, const float *l, float *out)
{
    float top = -FLT_MAX, sum = 0;
    for (int64_t d = 0; d < c->D; d++)
        out[d] = 0;
    for (int64_t i = 0; i < partials; i++) {
        float now = larger(top, m[i * c->rows]);
        float old = weight(c, top, now), one = weight(c, m[i * c->rows], now);
        sum = fast_fma(sum, old, fast_mul(l[i * c->rows], one));
        for (int64_t d = 0; d < c->D; d++)
            out[d] = fast_fma(outputs[i * c->rows * c->D + d], one, fast_mul(out[d], old));
        top = now;
    }
    float inverse = fast_rcp(sum);
    for (int64_t d = 0; d < c->D; d++)
        out[d] = oracle_rounded_to(c->out, fast_mul(out[d], inverse));
}

void oracle_trtllm_reduce(const struct decode_case *c, int64_t partials, const float *outputs,
                          const float *m, const float *l, float *O)
{
    for (int64_t r = 0; r < c->rows; r++)
        reduce_row(c, partials, outputs + r * c->D, m + r, l + r, O + r * c->D);
}

void oracle_trtllm(const struct decode_case *c, const struct trtllm_options *options, float *O)
{
    int64_t tokens = options->tokens == 0 ? 128 : options->tokens;
    int64_t tile = options->tile == 0 ? tokens : options->tile;
    int64_t partials = (c->keys + tokens - 1) / tokens, size = partials * c->rows;
    assert(c->keys >= 1 && c->type != ORACLE_FP32 && tokens % tile == 0);
    float *outputs = calloc((size_t)(size * c->D), sizeof *outputs);
    float *m = malloc((size_t)size * sizeof *m), *l = malloc((size_t)size * sizeof *l);
    for (int64_t i = 0; i < size; i++) {
        struct partial part = {-FLT_MAX, 0, outputs + i * c->D};
        int64_t first = i / c->rows * tokens, end = first + tokens;
        for (int64_t t = first; t < end && t < c->keys; t += tile)
            take_tile(c, options->rounded_weights, c->q + i % c->rows * c->D, t,
                      (int)(c->keys - t < tile ? c->keys - t : tile), &part);
        m[i] = part.m;
        l[i] = part.l;
        for (int64_t d = 0; d < c->D; d++)
            part.O[d] = oracle_rounded_to(c->type, part.O[d]);
    }
    oracle_trtllm_reduce(c, partials, outputs, m, l, O);
    free(outputs);
    free(m);
    free(l);
}
