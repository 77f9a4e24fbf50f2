/* decode_case.h: for the tests of the decode judges: cases drawn from a seed, the judges with their
   usual options, and what their outputs are compared with.  Include cmocka.h first. */
#ifndef FLASHULP_TESTS_DECODE_CASE_H
#define FLASHULP_TESTS_DECODE_CASE_H

#include <stdlib.h>
#include <string.h>

#include "tests/oracle_decode.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static inline uint32_t to_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

struct arrays {
    float *q, *k, *v, *O;
};

static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline float *draw_array(int64_t n, double size, enum oracle_type type, uint64_t *state)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double sum = -6; /* about normal */
        for (int j = 0; j < 12; j++)
            sum += ldexp((double)(draw(state) >> 11), -53);
        x[i] = oracle_rounded_to(type, (float)(size * sum));
    }
    return x;
}

static inline struct arrays draw_case(struct decode_case *c, double size, uint64_t seed)
{
    struct arrays a;
    c->q = a.q = draw_array(c->rows * c->D, size, c->type, &seed);
    c->k = a.k = draw_array(c->keys * c->D, size, c->type, &seed);
    c->v = a.v = draw_array(c->keys * c->D, 1, c->type, &seed);
    a.O = calloc((size_t)(c->rows * c->D), sizeof(float));
    if (c->scale == 0)
        c->scale = (float)(1 / sqrt((double)c->D));
    return a;
}

static inline void free_arrays(struct arrays *a)
{
    free(a->q);
    free(a->k);
    free(a->v);
    free(a->O);
}

static inline uint64_t digest(const float *x, int64_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < 4 * n; i++)
        h = (h ^ (to_bits(x[i / 4]) >> 8 * (i % 4) & 255)) * UINT64_C(0x100000001b3);
    return h;
}

static inline void expect_equal(const char *name, const float *got, const float *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (to_bits(got[i]) != to_bits(want[i]))
            fail_msg("%s: element %d is %08x (%g), not %08x (%g)", name, (int)i, to_bits(got[i]),
                     got[i], to_bits(want[i]), want[i]);
}

/* O by the definition, and the weighted mean of |v|, which errors are measured by. */
static inline void define_row(const struct decode_case *c, int64_t r, double *O, double *size)
{
    double *s = malloc((size_t)c->keys * sizeof *s), top = -INFINITY, sum = 0;
    for (int64_t t = 0; t < c->keys; t++) {
        s[t] = 0;
        for (int64_t d = 0; d < c->D; d++)
            s[t] += (double)c->q[r * c->D + d] * c->k[t * c->D + d];
        s[t] *= c->scale;
        top = fmax(top, s[t]);
    }
    for (int64_t d = 0; d < c->D; d++)
        O[d] = size[d] = 0;
    for (int64_t t = 0; t < c->keys; t++) {
        double p = exp(s[t] - top);
        sum += p;
        for (int64_t d = 0; d < c->D; d++) {
            O[d] += p * c->v[t * c->D + d];
            size[d] += p * fabs(c->v[t * c->D + d]);
        }
    }
    for (int64_t d = 0; d < c->D; d++)
        O[d] /= sum, size[d] /= sum;
    free(s);
}

static inline void expect_near_definition(const char *name, const struct decode_case *c,
                                          const float *O, double bound)
{
    double *want = malloc(2 * (size_t)c->D * sizeof *want), *size = want + c->D;
    for (int64_t r = 0; r < c->rows; r++) {
        define_row(c, r, want, size);
        for (int64_t d = 0; d < c->D; d++) {
            double error = fabs(O[r * c->D + d] - want[d]) / size[d];
            if (!(error <= bound))
                fail_msg("%s: row %d, column %d: %a, not %a: off by %g, allowed %g", name, (int)r,
                         (int)d, O[r * c->D + d], want[d], error, bound);
        }
    }
    free(want);
}

static inline void xqa(const struct decode_case *c, float *O)
{
    oracle_xqa(c, &(struct xqa_options){0}, O);
}

static inline void paged(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){0}, O);
}

static inline void paged_8(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.page = 8}, O);
}

static inline void paged_32(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.page = 32}, O);
}

static inline void paged_v1(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.partition = -1}, O);
}

static inline void unified(const struct decode_case *c, float *O)
{
    oracle_triton_unified(c, &(struct triton_options){0}, O);
}

static inline void unified_32(const struct decode_case *c, float *O)
{
    oracle_triton_unified(c, &(struct triton_options){.tile = 32}, O);
}

static inline void sglang(const struct decode_case *c, float *O)
{
    oracle_sglang(c, &(struct triton_options){0}, O);
}

static inline void sglang_vllm(const struct decode_case *c, float *O)
{
    oracle_sglang(c, &(struct triton_options){.unaligned_splits = true}, O);
}

static inline void triton_fa(const struct decode_case *c, float *O)
{
    oracle_triton_fa(c, &(struct triton_options){.tile = c->keys < 64 ? 8 : 64}, O, NULL);
}

static inline void trtllm(const struct decode_case *c, float *O)
{
    oracle_trtllm(c, &(struct trtllm_options){0}, O);
}

static inline void trtllm_rounded(const struct decode_case *c, float *O)
{
    oracle_trtllm(c, &(struct trtllm_options){.rounded_weights = true}, O);
}

static inline void trtllm_running(const struct decode_case *c, float *O)
{
    oracle_trtllm(c, &(struct trtllm_options){256, 64, true}, O);
}

static inline float bf16(float x)
{
    return oracle_rounded_to(ORACLE_BF16, x);
}

#endif
