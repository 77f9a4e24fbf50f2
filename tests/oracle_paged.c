/* oracle_paged.c: vLLM's PagedAttention v1 and v2, one query head at a time.

   Follows csrc/attention/attention_kernels.cuh as published.  A thread block of 4 warps takes a
   partition of the tokens; warp w its pages w, w+4 ...  Built without fast math: fp32 keeps
   subnormals; contraction is on.  No tensor cores: products of weights and values are rounded to
   bf16.  A partition's output is stored in bf16, normalised; its maximum and sum in fp32. */
#include "tests/oracle_decode.h"

#include <assert.h>
#include <stdlib.h>

enum { WARPS = 4, LANES = 32, THREADS = WARPS * LANES, VALUES = 8 /* of a lane's V vector */ };

#define EPSILON 1e-6f

struct paged {
    const struct decode_case *c;
    const struct paged_options *o;
    int page, partition;
};

/* One partition of one head: logits, then weights, of its tokens; zeros up to the page's end. */
struct part {
    int64_t first, tokens;
    float *p;
    float m, l;
    float *O; /* D */
};

static float bf16(float x)
{
    return oracle_rounded_to(ORACLE_BF16, x);
}

static const float *token_row(const struct paged *a, const float *cache, int64_t token)
{
    int64_t page = token / a->page;
    page = a->o->table != NULL ? a->o->table[page] : page;
    return cache + (page * a->page + token % a->page) * a->c->D;
}

/* x0 + x1 + ... in a chain, or by pairs: (x0+x1) + (x2+x3) + ... */
static float sum_vector(const float *x, int n, bool pairs)
{
    int step = pairs && n > 1 ? 2 : 1;
    float sum = step == 2 ? x[0] + x[1] : x[0];
    for (int i = step; i < n; i += step)
        sum = sum + (step == 2 ? x[i] + x[i + 1] : x[i]);
    return sum;
}

/* A group of 32 / page lanes; lane i takes the vectors i, i + group, ...: per component a chain of
   fma, then the components' sum, then the lanes'. */
static float score(const struct paged *a, const float *q, const float *k)
{
    int group = LANES / a->page;
    int n = a->o->key_vector > 0 ? a->o->key_vector : 8 / group;
    float lanes[4], x[8];
    assert(n <= 8 && a->c->D % (group * n) == 0);
    for (int lane = 0; lane < group; lane++) {
        for (int i = 0; i < n; i++) {
            int64_t d = lane * n + i;
            x[i] = q[d] * k[d];
            for (d += group * n; d < a->c->D; d += group * n)
                x[i] = fmaf(q[d], k[d], x[i]);
        }
        lanes[lane] = sum_vector(x, n, a->o->scores_by_pairs);
    }
    return a->c->scale * oracle_butterfly(lanes, group);
}

/* The threads' values: a butterfly in each warp, then one over the warps. */
static float block_sum(float threads[THREADS])
{
    float warps[WARPS];
    for (int w = 0; w < WARPS; w++)
        warps[w] = oracle_butterfly(threads + w * LANES, LANES);
    return oracle_butterfly(warps, WARPS);
}

/* Without fast math 1 / b by the approximate reciprocal alone. */
static float inverse_of(float sum)
{
    return plain_rcp(sum + EPSILON);
}

/* p becomes e^(logit - m) / (l + epsilon), rounded at every step. */
static void weigh(struct part *part)
{
    float threads[THREADS] = {0};
    part->m = -FLT_MAX;
    for (int64_t t = 0; t < part->tokens; t++)
        part->m = larger(part->m, part->p[t]);
    for (int64_t t = 0; t < part->tokens; t++) {
        part->p[t] = plain_exp_product(part->p[t] - part->m);
        threads[t % THREADS] = threads[t % THREADS] + part->p[t];
    }
    part->l = block_sum(threads);
    float inverse = inverse_of(part->l);
    for (int64_t t = 0; t < part->tokens; t++)
        part->p[t] = part->p[t] * inverse;
}

/* Products of 8 tokens from `first` of the partition on, each rounded to bf16; values past the end
   are zeros. */
static float value_vector(const struct paged *a, const struct part *part, int64_t first, int64_t d)
{
    float x[VALUES];
    for (int i = 0; i < VALUES; i++) {
        bool inside = first + i < part->tokens;
        float v = inside ? token_row(a, a->c->v, part->first + first + i)[d] : 0;
        x[i] = bf16(bf16(part->p[first + i]) * v);
    }
    return sum_vector(x, VALUES, !a->o->values_in_chain);
}

/* page / 8 lanes share an output's page; each adds up over its warp's pages. */
static float weighted_sum(const struct paged *a, const struct part *part, int64_t d)
{
    int sharing = a->page / VALUES;
    float warps[WARPS];
    for (int w = 0; w < WARPS; w++) {
        float lanes[4] = {0};
        for (int64_t first = w * a->page; first < part->tokens; first += WARPS * a->page)
            for (int i = 0; i < sharing; i++)
                lanes[i] = lanes[i] + value_vector(a, part, first + i * VALUES, d);
        warps[w] = oracle_butterfly(lanes, sharing);
    }
    return oracle_butterfly(warps, WARPS);
}

static void run_part(const struct paged *a, const float *q, enum oracle_type out, struct part *part)
{
    for (int64_t t = 0; t < part->tokens; t++)
        part->p[t] = score(a, q, token_row(a, a->c->k, part->first + t));
    for (int64_t t = part->tokens; t % a->page != 0; t++)
        part->p[t] = 0;
    weigh(part);
    for (int64_t d = 0; d < a->c->D; d++)
        part->O[d] = oracle_rounded_to(out, weighted_sum(a, part, d));
}

/* expf as nvcc 13 writes it without fast math: x log2 e = n + r, 2^n 2^r. */
static float accurate_exp(const struct paged *a, float x)
{
    if (a->o->exp_rounded_once)
        return plain_exp(x);
    float t = fminf(fmaxf(fmaf(x, 0x1.77313ap-8f, 0.5f), 0), 1);
    int n = (int)floor((double)t * 252) - 126;
    float r = fmaf(x, 0x1.4ae0cp-26f, fmaf(x, ORACLE_LOG2E, (float)-n));
    return fast_exp2(r) * ldexpf(1, n);
}

/* The second kernel: thread t sums the weights of partitions t, t + 128, ... */
static void reduce(const struct paged *a, const struct part *parts, int64_t count, float *out)
{
    float top = -FLT_MAX, threads[THREADS] = {0};
    float *weight = malloc((size_t)count * sizeof *weight);
    for (int64_t j = 0; j < count; j++)
        top = larger(top, parts[j].m);
    for (int64_t j = 0; j < count; j++) {
        weight[j] = parts[j].l * accurate_exp(a, parts[j].m - top);
        threads[j % THREADS] = threads[j % THREADS] + weight[j];
    }
    float inverse = inverse_of(block_sum(threads));
    for (int64_t d = 0; d < a->c->D; d++) {
        float sum = 0;
        for (int64_t j = 0; j < count; j++) {
            float x = parts[j].O[d] * weight[j];
            sum = a->o->separate_accumulation ? sum + x * inverse : fmaf(x, inverse, sum);
        }
        out[d] = oracle_rounded_to(a->c->out, sum);
    }
    free(weight);
}

static void run_head(const struct paged *a, const float *q, float *out)
{
    const struct decode_case *c = a->c;
    int64_t length = a->partition, count = (c->keys + length - 1) / length;
    struct part *parts = calloc((size_t)count, sizeof *parts);
    float *p = malloc((size_t)(length + a->page) * sizeof *p);
    float *outputs = malloc((size_t)(count * c->D) * sizeof *outputs);
    for (int64_t j = 0; j < count; j++) {
        int64_t first = j * length, rest = c->keys - first;
        parts[j] = (struct part){first, rest < length ? rest : length, p, 0, 0, outputs + j * c->D};
        run_part(a, q, count == 1 ? c->out : ORACLE_BF16, &parts[j]);
    }
    if (count > 1)
        reduce(a, parts, count, out);
    else
        for (int64_t d = 0; d < c->D; d++)
            out[d] = outputs[d];
    free(outputs);
    free(p);
    free(parts);
}

void oracle_paged(const struct decode_case *c, const struct paged_options *options, float *O)
{
    struct paged a = {c, options, options->page == 0 ? 16 : options->page, options->partition};
    a.partition = a.partition == 0 ? 512 : a.partition < 0 ? (int)c->keys : a.partition;
    assert(a.page == 8 || a.page == 16 || a.page == 32);
    assert(options->partition < 0 || a.partition % a.page == 0);
    assert(c->type == ORACLE_BF16 && c->keys >= 1);
    for (int64_t r = 0; r < c->rows; r++)
        run_head(&a, c->q + r * c->D, O + r * c->D);
}
