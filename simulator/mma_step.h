/* mma_step.h: what the two plain forms of a tensor core's step share; internal to mma.c and
   mma_step.c. */
#ifndef FLASHULP_MMA_STEP_H
#define FLASHULP_MMA_STEP_H

#include <limits.h>

#include "simulator/mma.h"

enum { NO_EXPONENT = INT_MIN / 4 }; /* below every term's */

/* A step that has a term which is not finite: NaN or an infinity. */
float mma_special_floats(const struct mma_step *s, const float *a, const float *b, int n, float c);
/* sum * 2^last in the output's format; a sum that is not zero keeps its sign. */
float mma_converted(const struct mma_step *s, int64_t sum, int last);

/* mma_dot_add, as each processor level takes it. */
typedef float mma_dot_add_body(const struct mma_step *s, const float *a, const float *b, int n,
                               float c);
mma_dot_add_body mma_dot_add_base;
#ifdef __x86_64__
mma_dot_add_body mma_dot_add_v3, mma_dot_add_v4;
#endif

#endif
