/* special_fa4.h: 2^x as FlashAttention-4 computes it in software, for the elements that do not go to
   the special-function unit: clamp, round down, a polynomial of degree 3 in fma, the integer added
   to the exponent's bits.  flash_attn/cute/utils.py.  The same bits in C, C++17 and CUDA.

   Made for x <= 0.  x <= -127 gives +0, and below -126 the result is not 2^x: the exponent field is
   0 and the fraction what it was, which the kernel's flush to zero removes.  From 128 on +infinity,
   which the source leaves open, as it does NaN, which stays one here. */
#ifndef FLASHULP_SPECIAL_FA4_H
#define FLASHULP_SPECIAL_FA4_H

#include "simulator/special_poly.h"

POLY_FUNCTION float fa4_exp2(float x)
{
    if (x != x)
        return poly_float(0x7FC00000u);
    if (x >= 128.0f)
        return poly_float(0x7F800000u);
    x = x > -127.0f ? x : -127.0f;
    float whole = floorf(x); /* what adding 1.5 * 2^23 downwards and taking it away leaves */
    float f = x - whole;
    float p = 0.077119089663028717041015625f;
    p = fmaf(p, f, 0.227564394474029541015625f);
    p = fmaf(p, f, 0.695146143436431884765625f);
    p = fmaf(p, f, 1.0f);
    return poly_float(poly_bits(p) + ((uint32_t)(int32_t)whole << 23));
}

#endif
