/* oracle_scalar.h: one number of a GPU kernel at a time, for the kernels' judges.

   fast_*: fp32 as -use_fast_math compiles it: every operation takes subnormal operands for zeros
   and rounds once, to nearest even; a result that is subnormal after that rounding is a zero of its
   sign.  (Whether a GPU decides before or after the rounding is not documented.)  EX2, LG2, RCP and
   tanh are correctly rounded, by MPFR or by the machine's division; a GPU's differ by an ulp or two.
   Link tests/oracle_scalar.c. */
#ifndef FLASHULP_TESTS_ORACLE_SCALAR_H
#define FLASHULP_TESTS_ORACLE_SCALAR_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "tests/oracle_mma.h"

#define ORACLE_LOG2E 0x1.715476p0f /* 3fb8aa3b */
#define ORACLE_LN2 0x1.62e43p-1f   /* 3f317218 */

static inline float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

static inline float fast_add(float a, float b)
{
    return flushed(flushed(a) + flushed(b));
}

static inline float fast_sub(float a, float b)
{
    return flushed(flushed(a) - flushed(b));
}

static inline float fast_mul(float a, float b)
{
    return flushed(flushed(a) * flushed(b));
}

/* a b + c */
static inline float fast_fma(float a, float b, float c)
{
    return flushed(fmaf(flushed(a), flushed(b), flushed(c)));
}

static inline float fast_rcp(float x)
{
    return flushed(1 / flushed(x));
}

float fast_exp2(float x);
float fast_log2(float x);
float fast_tanh(float x);

/* Correctly rounded, subnormals kept: of code built without fast math. */
float plain_exp(float x);
float plain_exp2(float x);
float plain_log(float x);
float plain_log2(float x);

/* e^x as __expf: the product with log2 e is rounded. */
static inline float fast_exp(float x)
{
    return fast_exp2(fast_mul(x, ORACLE_LOG2E));
}

/* The larger, and the other one if one is NaN. */
static inline float larger(float a, float b)
{
    return fmaxf(a, b);
}

/* x as a member of the type: nearest, ties to even, subnormals kept, NaN the quiet positive one. */
float oracle_rounded_to(enum oracle_type type, float x);

/* value / sqrt(root), rounded once to fp32. */
float oracle_scale(double value, int root);

/* As host code has it: the double product with log2 e, rounded to fp32. */
static inline float oracle_scale_log2(float scale)
{
    return (float)((double)scale * 0x1.71547652b82fep0);
}

#endif
