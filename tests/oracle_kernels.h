/* oracle_kernels.h: judges for the models of shipped attention kernels: flat scalar programs.

   Each was written from published sources (the kernels' own source, disassembled builds, papers)
   by someone who has not read the model it judges.  One KV head at a time; its query rows are the
   problem's, or in decoding the heads of its group. */
#ifndef FLASHULP_TESTS_ORACLE_KERNELS_H
#define FLASHULP_TESTS_ORACLE_KERNELS_H

#include <stdbool.h>

#include "tests/oracle_mma.h"

struct kernel_case {
    int rows, keys, dim;
    const float *q, *k, *v; /* rows x dim, keys x dim, keys x dim, row-major; members of `type` */
    enum oracle_type type;  /* bf16 or fp16; P too */
    enum oracle_type out;   /* what O is rounded to; ORACLE_FP32: not at all, to look at it */
    double scale_value;     /* the scale is scale_value / sqrt(scale_root) */
    int scale_root;
    float softcap; /* FA2; 0: none */
    enum oracle_unit unit;
    /* FA2: aligned to the bottom right; FA1, which has no window, to the top left. */
    bool causal;
    int left, right;          /* window, -1: unlimited */
    int tile_rows, tile_keys; /* 0: the kernel's own for this head size and unit */
    /* FA2's decode */
    int splits;
    int capacity; /* keys the cache has room for, which the plan counts; 0: keys */
    /* FA2's variants */
    bool before_2_5_4;    /* the row sum crosses its quad at every block */
    bool fused_block_sum; /* there: l a + sum rounded once (which it was is not established) */
    bool unfused_exp;     /* built with UNFUSE_FMA: s scale and the subtraction rounded apart */
};

/* All fill O (rows x dim) and lse (rows, natural logarithm). */
void oracle_fa2(const struct kernel_case *c, float *O, float *lse);
void oracle_fa1(const struct kernel_case *c, float *O, float *lse);

/* The split kernel and, for more than one split, the combination. */
void oracle_fa2_split(const struct kernel_case *c, float *O, float *lse);

/* One split's normalised fp32 output and LSE: of an empty one 0 and -inf. */
void oracle_fa2_partial(const struct kernel_case *c, int split, float *O, float *lse);

/* partial_O: splits x rows x dim, partial_lse: splits x rows. */
void oracle_fa2_combine(const struct kernel_case *c, const float *partial_O,
                        const float *partial_lse, float *O, float *lse);

/* The forward kernel's tile of M rows by N keys (without dropout). */
void oracle_fa2_tile(int dim, enum oracle_unit unit, bool causal, int *M, int *N);

#endif
