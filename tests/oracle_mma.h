/* oracle_mma.h: a judge for the tensor core: the truncated fused dot-add of one output.

   16-bit operands, fp32 accumulator and result.  Written from published descriptions alone (arXiv
   2511.10909 and 2512.07004), in doubles that hold every number exactly, by someone who has not
   read what it judges. */
#ifndef FLASHULP_TESTS_ORACLE_MMA_H
#define FLASHULP_TESTS_ORACLE_MMA_H

/* Processor generations: the unit, and for kernels the device class. */
enum oracle_unit {
    ORACLE_SM70,
    ORACLE_SM75,
    ORACLE_SM80,
    ORACLE_SM86,
    ORACLE_SM89,
    ORACLE_SM90,
    ORACLE_SM100,
    ORACLE_SM120
};

enum oracle_type { ORACLE_BF16, ORACLE_FP16, ORACLE_FP32 };

/* c + sum over i < k of a[i a_step] b[i b_step], i ascending: one truncated sum for every L
   products, each result being the next one's c.  Operands are members of `type` (bf16 or fp16);
   products missing from the last sum are +0.  NaN is 7fffffff, as the unit has it. */
float oracle_mma(enum oracle_unit unit, enum oracle_type type, const float *a, int a_step,
                 const float *b, int b_step, int k, float c);

#endif
