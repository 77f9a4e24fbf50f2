/* special_poly.h: exp, exp2, log, log2, tanh of a float from fmaf alone: the same bits in C, C++17
   and CUDA, at any optimisation, with or without contraction (no product feeds a plain + or -).

   Whole range: overflow gives infinity, a subnormal result is the polynomial's float value scaled
   in one rounding, NaN gives 7FC00000.  Largest errors over every float, in ulps (the tests measure
   them): exp 0.99, exp2 0.85, log 0.86, log2 0.99, tanh 1.49.  exp(0) = 1, exp2(n) = 2^n,
   log(1) = 0, log2(2^n) = n, tanh(-x) = -tanh(x), |tanh| <= 1; all but tanh never decrease
   as x grows.  Coefficients: minimax for the relative error of the result, by Remez' exchange, each
   rounded to float. */
#ifndef FLASHULP_SPECIAL_POLY_H
#define FLASHULP_SPECIAL_POLY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define POLY_FUNCTION static __host__ __device__ inline
#else
#define POLY_FUNCTION static inline
#endif

#define POLY_SHIFT 12582912.0f /* 1.5 * 2^23: adding it rounds to an integer */
#define POLY_SHIFT_BITS 0x4B400000u

POLY_FUNCTION uint32_t poly_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

POLY_FUNCTION float poly_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

POLY_FUNCTION float poly_clamp(float x, float limit)
{
    x = x > limit ? limit : x;
    return x < -limit ? -limit : x;
}

/* p * 2^k for k + POLY_SHIFT, |k| <= 252: both factors are normal, and only the second product
   can leave the normal range, so it rounds once. */
POLY_FUNCTION float poly_scale(float p, float shifted)
{
    uint32_t k = poly_bits(shifted) - POLY_SHIFT_BITS + 512, half = k >> 1;
    return (p * poly_float((half - 129) << 23)) * poly_float((k - half - 129) << 23);
}

/* e^r - 1 for |r| <= ln(2)/2: r + r^2 q(r). */
POLY_FUNCTION float poly_expm1_reduced(float r)
{
    float q = 0x1.9f08cap-13f;
    q = fmaf(q, r, 0x1.6d8cf6p-10f);
    q = fmaf(q, r, 0x1.111270p-7f);
    q = fmaf(q, r, 0x1.55548ep-5f);
    q = fmaf(q, r, 0x1.555554p-3f);
    q = fmaf(q, r, 0.5f);
    return fmaf(r * r, q, r);
}

/* k = rint(x / ln 2) as k + POLY_SHIFT, and r = x - k ln 2 (ln 2 as 16 bits and 24 more: the first
   fmaf is exact). */
POLY_FUNCTION float poly_reduce(float x, float *shifted)
{
    *shifted = fmaf(x, 0x1.715476p0f, POLY_SHIFT);
    float k = *shifted - POLY_SHIFT;
    return fmaf(k, -0x1.7f7d1cp-20f, fmaf(k, -0x1.62e4p-1f, x));
}

POLY_FUNCTION float poly_exp(float x)
{
    float shifted;
    float r = poly_reduce(poly_clamp(x, 110.0f), &shifted);
    float y = poly_scale(1.0f + poly_expm1_reduced(r), shifted);
    return x != x ? poly_float(0x7FC00000u) : y;
}

POLY_FUNCTION float poly_exp2(float x)
{
    float clamped = poly_clamp(x, 160.0f), shifted = clamped + POLY_SHIFT;
    float r = clamped - (shifted - POLY_SHIFT);
    float q = 0x1.fe7bf2p-17f;
    q = fmaf(q, r, 0x1.445514p-13f);
    q = fmaf(q, r, 0x1.5d89c0p-10f);
    q = fmaf(q, r, 0x1.3b29fep-7f);
    q = fmaf(q, r, 0x1.c6b08cp-5f);
    q = fmaf(q, r, 0x1.ebfbe0p-3f);
    q = fmaf(q, r, -0x1.05c610p-29f); /* ln 2 in two floats */
    float y = poly_scale(1.0f + fmaf(r, 0x1.62e430p-1f, r * q), shifted);
    return x != x ? poly_float(0x7FC00000u) : y;
}

/* x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2), for any x > 0, finite. */
POLY_FUNCTION float poly_split(float x, float *k)
{
    float subnormal = x < 0x1p-126f ? 23.0f : 0.0f;
    float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
    uint32_t offset = poly_bits(scaled) - 0x3F3504F3u; /* sqrt 1/2 */
    int32_t exponent = (int32_t)((offset + 0x80000000u) >> 23) - 256;
    *k = (float)exponent - subnormal;
    return poly_float((offset & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f;
}

/* What log and log2 give outside the positive finite numbers. */
POLY_FUNCTION float poly_log_special(float x, float y)
{
    y = x == INFINITY ? x : y;
    y = x == 0.0f ? -INFINITY : y;
    return x >= 0.0f ? y : poly_float(0x7FC00000u);
}

/* f - f^2/2 + f^3 P(f) */
POLY_FUNCTION float poly_log(float x)
{
    float k;
    float f = poly_split(x, &k);
    float P = 0x1.1457e4p-4f;
    P = fmaf(P, f, -0x1.de3bf6p-4f);
    P = fmaf(P, f, 0x1.e6f03cp-4f);
    P = fmaf(P, f, -0x1.fc2208p-4f);
    P = fmaf(P, f, 0x1.23376cp-3f);
    P = fmaf(P, f, -0x1.555c4ep-3f);
    P = fmaf(P, f, 0x1.99a4b6p-3f);
    P = fmaf(P, f, -0x1.000006p-2f);
    P = fmaf(P, f, 0x1.555548p-2f);
    float tail = fmaf(f * f, fmaf(P, f, -0.5f), k * 0x1.7f7d1cp-20f);
    return poly_log_special(x, fmaf(k, 0x1.62e4p-1f, f + tail));
}

/* f log2(e) + f^2 Q(f) */
POLY_FUNCTION float poly_log2(float x)
{
    float k;
    float f = poly_split(x, &k);
    float Q = -0x1.c3c07cp-4f;
    Q = fmaf(Q, f, 0x1.7dcaeap-3f);
    Q = fmaf(Q, f, -0x1.87465ap-3f);
    Q = fmaf(Q, f, 0x1.a2f24ep-3f);
    Q = fmaf(Q, f, -0x1.eabae8p-3f);
    Q = fmaf(Q, f, 0x1.277eaap-2f);
    Q = fmaf(Q, f, -0x1.715a82p-2f);
    Q = fmaf(Q, f, 0x1.ec7094p-2f);
    Q = fmaf(Q, f, -0x1.715470p-1f);
    float tail = f * fmaf(Q, f, 0x1.4ae0c0p-26f); /* log2(e) in two floats */
    return poly_log_special(x, k + fmaf(f, 0x1.715476p0f, tail));
}

/* x + x^3 P(x^2) where that is below 1/2; else 1 - 2t / (1 + t) with t = e^(-2|x|), 1 / (1 + t) by
   Newton from a line. */
POLY_FUNCTION float poly_tanh(float x)
{
    float size = poly_clamp(fabsf(x), 12.0f), square = size * size, shifted;
    float P = -0x1.9b24a0p-8f;
    P = fmaf(P, square, 0x1.593b16p-6f);
    P = fmaf(P, square, -0x1.b92838p-5f);
    P = fmaf(P, square, 0x1.110d24p-3f);
    P = fmaf(P, square, -0x1.55554ap-2f);
    float small = fmaf(size * square, P, size);

    float expm1 = poly_expm1_reduced(poly_reduce(-2.0f * size, &shifted));
    float scale = poly_scale(1.0f, shifted);
    float t = fmaf(scale, expm1, scale), d = 1.0f + t;
    float inverse = fmaf(d, -0.5f, 1.4571068f); /* within 0.043 of 1/d for d in [1, 2] */
    inverse = fmaf(inverse, fmaf(-d, inverse, 1.0f), inverse);
    inverse = fmaf(inverse, fmaf(-d, inverse, 1.0f), inverse);
    inverse = fmaf(inverse, fmaf(-d, inverse, 1.0f), inverse);
    float large = fmaf(-2.0f * t, inverse, 1.0f);

    float y = size < 0.55f ? small : large;
    y = poly_float((poly_bits(y) & 0x7FFFFFFFu) | (poly_bits(x) & 0x80000000u));
    return x != x ? poly_float(0x7FC00000u) : y;
}

#endif
