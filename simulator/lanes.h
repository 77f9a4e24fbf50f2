/* lanes.h: one vector register of REALs and its fused step; for the blocks of arith_products.h.

   Floats use the compilers' own intrinsics, because plain loops over several accumulators leave the
   registers under one compiler or the other.  Otherwise a register holds one number.  The including
   file gives REAL, REAL_IS_FLOAT and fused_step. */
#ifndef FLASHULP_LANES_H
#define FLASHULP_LANES_H

#if REAL_IS_FLOAT && defined __AVX512F__
#include <immintrin.h>
typedef __m512 lanes;
enum { BLOCK_ROWS = 8, BLOCK_LANES = 2 }; /* 16 sums in 32 registers */
#define lanes_fma(a, b, c) _mm512_fmadd_ps(_mm512_set1_ps(a), b, c)
#elif REAL_IS_FLOAT && defined __AVX2__ && defined __FMA__
#include <immintrin.h>
typedef __m256 lanes;
enum { BLOCK_ROWS = 4, BLOCK_LANES = 2 }; /* 8 sums in 16 registers */
#define lanes_fma(a, b, c) _mm256_fmadd_ps(_mm256_set1_ps(a), b, c)
#elif REAL_IS_FLOAT && defined __aarch64__
#include <arm_neon.h>
typedef float32x4_t lanes;
enum { BLOCK_ROWS = 4, BLOCK_LANES = 4 }; /* 16 sums in 32 registers */
#define lanes_fma(a, b, c) vfmaq_n_f32(c, b, a)
#else
typedef struct {
    REAL x;
} lanes;
enum { BLOCK_ROWS = 1, BLOCK_LANES = 16 };
#define lanes_fma(a, b, c) ((lanes){fused_step(a, (b).x, (c).x)})
#endif

#endif
