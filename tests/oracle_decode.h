/* oracle_decode.h: judges for the decode kernels: one number at a time, every rounding written out.

   Written from the published sources of the kernels, by someone who has not read the models that
   are judged; uses libc and MPFR only.  A float holds every number, whatever its format.  ex2, lg2,
   ln and 1/x are correctly rounded, a stand-in for the hardware's tables.  What the sources leave
   open is a field of the kernel's options and no fact; zeroed options are the defaults.
   Link tests/oracle_decode.c, tests/oracle_mma.c and the file of the kernel. */
#ifndef FLASHULP_TESTS_ORACLE_DECODE_H
#define FLASHULP_TESTS_ORACLE_DECODE_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/oracle_mma.h"

/* The query heads that share one KV head, one token each. */
struct decode_case {
    int64_t rows, keys, D;  /* 1 <= keys */
    const float *q, *k, *v; /* rows x D, keys x D, keys x D; members of bf16 or fp16 */
    enum oracle_type type;  /* theirs, and what weights and outputs are rounded to */
    float scale;            /* softmax scale, as the kernel gets it: fp32 */
    enum oracle_unit unit;  /* also the device, where a kernel asks */
    int64_t splits;         /* groups of the KV cache */
};

static inline float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

/* fp32 of fast-math code: subnormal operands and results are zeros of their sign. */
static inline float add_ftz(float a, float b)
{
    return flushed(flushed(a) + flushed(b));
}

static inline float mul_ftz(float a, float b)
{
    return flushed(flushed(a) * flushed(b));
}

static inline float fma_ftz(float a, float b, float c)
{
    return flushed(fmaf(flushed(a), flushed(b), flushed(c)));
}

/* Maximum of finite numbers and infinities; a NaN is passed over, as max.f32 does. */
static inline float larger(float a, float b)
{
    return fmaxf(a, b);
}

static inline float from_bits(uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } x = {.u = bits};
    return x.f;
}

static inline uint32_t to_bits(float value)
{
    union {
        float f;
        uint32_t u;
    } x = {.f = value};
    return x.u;
}

#define LOG2E 0x1.715476p+0f /* 3FB8AA3B */
#define LN2 0x1.62e430p-1f   /* 3F317218 */

/* x rounded to nearest even, to bf16 or fp16. */
float oracle_half(float x, enum oracle_type type);

/* Correctly rounded, subnormals kept. */
float oracle_exp(float x);
float oracle_exp2(float x);
float oracle_log2(float x);
float oracle_log(float x);
float oracle_reciprocal(float x);

/* e^x as exp2(x log2 e) with the product rounded; ftz for fast-math code. */
float oracle_exp_product(float x, bool ftz);

/* A warp's butterfly over n lanes, a power of two: offsets n/2 ... 1; every lane then holds it.
   Overwrites x. */
float oracle_butterfly(float *x, int n);

/* FlashInfer XQA with a bf16 KV cache (csrc/xqa/mha.cu): D 128 or 256, rows <= 16, bf16.  Takes the
   device from `unit`: sm120, or else sm90. */
struct xqa_options {
    float q_scale; /* softmax scale times sqrt(D): 1 for the usual scale; 0 is taken for 1 */
};
void oracle_xqa(const struct decode_case *c, const struct xqa_options *options, float *O);

/* vLLM PagedAttention v2 (csrc/attention/attention_kernels.cuh), bf16.  k and v hold physical
   pages, pages x page x D.  D a multiple of 8; `splits` unused.  Not read in the sources, so
   options: how many elements a lane takes at once, and in which order a vector is summed. */
struct paged_options {
    const int64_t *table;  /* physical page of logical page i; NULL: i itself */
    int page;              /* tokens: 8, 16, 32; 0: 16 */
    int partition;         /* tokens, a multiple of page; 0: 512; < 0: all, v1 */
    int key_vector;        /* elements of a lane's K vector; 0: 16 bytes by the group's lanes */
    bool scores_by_pairs;  /* sum a K vector's components (x0+x1)+(x2+x3)..., not in a chain */
    bool values_in_chain;  /* sum a V vector's products in a chain, not by pairs */
    bool exp_rounded_once; /* expf correctly rounded, not nvcc's sequence */
    bool separate_accumulation; /* of the output: round product and sum; else fused */
};
void oracle_paged(const struct decode_case *c, const struct paged_options *options, float *O);

#endif
