/* oracle_decode.h: judges for the decode kernels: one number at a time, every rounding written out.

   Written from the published sources of the kernels, by someone who has not read the models that
   are judged; uses libc and MPFR only.  A float holds every number, whatever its format.  ex2, lg2,
   ln and 1/x are correctly rounded, a stand-in for the hardware's tables.  What the sources leave
   open is a field of the kernel's options and no fact; zeroed options are the defaults.
   Link tests/oracle_scalar.c, tests/oracle_mma.c, tests/oracle_decode.c and the kernel's file. */
#ifndef FLASHULP_TESTS_ORACLE_DECODE_H
#define FLASHULP_TESTS_ORACLE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/oracle_scalar.h"

/* The query heads that share one KV head, one token each. */
struct decode_case {
    int64_t rows, keys, D;  /* 1 <= keys */
    const float *q, *k, *v; /* rows x D, keys x D, keys x D; members of bf16 or fp16 */
    enum oracle_type type;  /* theirs, and of weights */
    enum oracle_type out;   /* of O; ORACLE_FP32: its last rounding is left out, to look at it */
    float scale;            /* softmax scale, as the kernel gets it: fp32 */
    enum oracle_unit unit;  /* also the device, where a kernel asks */
    int64_t splits;         /* groups of the KV cache */
};

/* e^x as code without fast math has it: exp2(x log2 e), the product rounded. */
static inline float plain_exp_product(float x)
{
    return plain_exp2(x * ORACLE_LOG2E);
}

static inline float plain_rcp(float x)
{
    return 1 / x;
}

/* A warp's butterfly over n lanes, a power of two: offsets n/2 ... 1; every lane then holds it.
   Overwrites x. */
float oracle_butterfly(float *x, int n);

/* FlashInfer XQA with a bf16 KV cache (csrc/xqa/mha.cu): D 128 or 256, rows <= 16, bf16.  Takes the
   device from `unit`: sm120, or else sm90.  With D = 128 the output is a sum in bf16: `out` is not
   asked. */
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

/* Triton kernels.  The published sources fix what is computed, not what the compiler makes of it:
   trees of sums, contraction, division and logarithm are options here, and their defaults what we
   find likely: fusion on, as Triton has it by default. */
enum triton_order {
    TRITON_DEFAULT,  /* rows of weights: FRAGMENTS, see below; segments: STRIDED */
    TRITON_CHAIN,    /* x0 + x1 + x2 ... */
    TRITON_STRIDED,  /* owner i: a chain of x[i], x[i + owners] ...; then a butterfly */
    TRITON_FRAGMENTS /* the tensor core's layout: 8 columns to a warp, the next 8 to the next, round
                        `owners` warps; lane t of a quad a chain of its columns 2t, 2t + 1; then
                        butterflies over the quad, over the warps */
};

struct triton_sum {
    enum triton_order order;
    int owners; /* powers of 2 */
};

enum triton_log { TRITON_LOG_ROUNDED, TRITON_LG2_LN2, TRITON_LG2_LN2_FUSED };
enum triton_merge { TRITON_FUSE_OLD, TRITON_FUSE_NEW, TRITON_FUSE_NOTHING };

struct triton_options {
    struct triton_sum weights;        /* default FRAGMENTS: 4 warps or one per 8 columns; fa: 1 */
    struct triton_sum segment_sums;   /* reduce_segments, of sums; default STRIDED, 16 */
    struct triton_sum segment_values; /* reduce_segments, of outputs; default STRIDED, 4 */
    bool separate_segments;           /* there, products rounded before they are added */
    bool separate_sum;                /* L alpha, then + sum: two roundings; else fused */
    bool separate_argument;           /* fa: score scale, then - m: two roundings; else fused */
    bool values_apart;                /* dot(P, V) from 0, then added; else it starts at acc */
    bool division_rounded_once;       /* a / b; else a times the rounded 1 / b */
    enum triton_log log;              /* SGLang's log of the sum, and its addition to m */
    enum triton_merge merge;          /* SGLang's acc old + part new: which product is fused */
    int tile;                         /* tokens; 0: unified 16, SGLang 32, fa 64 */
    bool unaligned_splits;            /* SGLang's ancestor in vLLM: ceil(keys / splits) tokens */
    bool causal;                      /* fa; rows = keys */
    int query_tile;                   /* fa; 0: 128; a multiple of tile */
};

/* vLLM's unified attention in decoding, with 16 segments, and its reduce_segments. */
void oracle_triton_unified(const struct decode_case *c, const struct triton_options *options,
                           float *O);

/* SGLang's grouped decode, stages 1 and 2; `splits` at most. */
void oracle_sglang(const struct decode_case *c, const struct triton_options *options, float *O);

/* Tutorial 06, forward: rows are queries; keys a multiple of the tile.  lse, in base 2: rows, or
   NULL. */
void oracle_triton_fa(const struct decode_case *c, const struct triton_options *options, float *O,
                      float *lse);

/* TensorRT-LLM's separate reduction over the KV cache (csrc/fmhaReduction.cu).  Only the reduction
   is published; how a partial is made is not, and these options say how it is made here: scores in
   tiles ascending, weights exp2(score scale_log2 - m scale_log2) by one fma, their sum a chain. */
struct trtllm_options {
    int tokens;           /* of a partial; 0: 128 */
    int tile;             /* tokens between two looks at the maximum; 0: all of the partial's */
    bool rounded_weights; /* for the values only: rounded to `type`, on the tensor core; else fp32,
                             a chain of fma */
};
void oracle_trtllm(const struct decode_case *c, const struct trtllm_options *options, float *O);

/* The reduction alone: partials of rows x D, unnormalised, members of `type`; maxima of the raw
   scores and sums, each partials x rows. */
void oracle_trtllm_reduce(const struct decode_case *c, int64_t partials, const float *outputs,
                          const float *m, const float *l, float *O);

#endif
