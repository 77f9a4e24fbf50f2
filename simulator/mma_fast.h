/* mma_fast.h: one step of a tensor core for a vector of outputs at once; mma_step.c says what a
   step is, and this equals it in every bit.

   Each product is exact in a float, scaled by the power of two that makes the last place kept a
   unit, cut by the conversion to an integer.  It holds while every exponent is moderate; where it
   does not (NaN, infinities, very large or very small terms) the step says so and is taken plainly.
   For files that are compiled once per processor level. */
#ifndef FLASHULP_MMA_FAST_H
#define FLASHULP_MMA_FAST_H

#include <string.h>

#include "simulator/mma.h"
#include "simulator/round.h"

#if defined __AVX512F__
enum { MMA_LANES = 16 };
#elif defined __AVX2__
enum { MMA_LANES = 8 };
#else
enum { MMA_LANES = 4 };
#endif
enum { MMA_COLUMNS = 16 };

/* What the fast form keeps of a factor's exponent where it has none. */
enum { MMA_ZERO = -1000, MMA_SPECIAL = 2000 };
/* Largest exponents for which floats hold all products that matter, scaled or not. */
enum { MMA_LEAST = -90, MMA_MOST = 100 };

/* Products exact in a float, terms that fit 32 bits sixteen at a time, zeros that do not count. */
INLINE bool mma_is_fast(const struct mma_step *s)
{
    return s->product_bits <= 24 && s->F <= 25 && !s->count_zeros && !s->nearest &&
           s->e_zero <= MMA_LEAST;
}

INLINE int32_t mma_exponent(float x, int least)
{
    uint32_t bits = bits_of_float(x) << 1;
    int32_t field = (int32_t)(bits >> 24), exponent = field > 0 ? field - 127 : -126;
    exponent = exponent > least ? exponent : least;
    return bits == 0 ? MMA_ZERO : field == 255 ? MMA_SPECIAL : exponent;
}

/* One register of each kind, in the compilers' own vector types: plain loops over sixteen outputs
   are unrolled before they become vectors. */
typedef float mma_floats __attribute__((vector_size(4 * MMA_LANES)));
typedef int32_t mma_ints __attribute__((vector_size(4 * MMA_LANES)));
typedef float mma_half_floats __attribute__((vector_size(2 * MMA_LANES)));
typedef int32_t mma_half_ints __attribute__((vector_size(2 * MMA_LANES)));
typedef double mma_doubles __attribute__((vector_size(4 * MMA_LANES)));
typedef uint64_t mma_longs __attribute__((vector_size(4 * MMA_LANES)));

INLINE mma_ints mma_larger(mma_ints a, mma_ints b)
{
    mma_ints first = a > b;
    return (first & a) | (~first & b);
}

/* 2^e, e moderate. */
INLINE mma_floats mma_power(mma_ints e)
{
    mma_ints bits = (e + 127) << 23;
    mma_floats power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The exponent that each output's terms are aligned to; *odd: in which outputs the fast form does
   not hold.  Of nothing but zeros it makes +0, which is right unless the accumulator is -0. */
INLINE mma_ints mma_largest(const int L, const int32_t *ea, const int32_t *eb, const float *acc,
                            mma_ints *odd)
{
    mma_ints bits, e, least = {0};
    memcpy(&bits, acc, sizeof bits);
    mma_ints nothing = (bits & 0x7FFFFFFF) == 0;
    mma_ints top = mma_larger((bits >> 23 & 255) - 127, least - 126);
    top = (nothing & MMA_ZERO) | (~nothing & top);
    for (int k = 0; k < L; k++) {
        memcpy(&e, eb + k * MMA_COLUMNS, sizeof e);
        top = mma_larger(top, e + ea[k]);
    }
    mma_ints zeros = (top <= MMA_ZERO / 2) & (bits == 0);
    *odd = (top > MMA_MOST) | ((top < MMA_LEAST) & ~zeros);
    return mma_larger(top, least + MMA_LEAST);
}

INLINE bool mma_any_lane(mma_ints mask)
{
    uint64_t word[MMA_LANES / 2], any = 0;
    memcpy(word, &mask, sizeof word);
    for (int n = 0; n < MMA_LANES / 2; n++)
        any |= word[n];
    return any != 0;
}

/* Half h of the sum of some vectors of integers, cut to a double with `kept` bits, as floats. */
INLINE mma_half_floats mma_cut_half(const mma_ints *part, int parts, int h, uint64_t kept)
{
    mma_doubles sum = {0};
    mma_longs cut;
    for (int n = 0; n < parts; n++) {
        mma_half_ints half;
        memcpy(&half, (const char *)&part[n] + h * sizeof half, sizeof half);
        sum += __builtin_convertvector(half, mma_doubles);
    }
    memcpy(&cut, &sum, sizeof cut);
    cut &= kept;
    memcpy(&sum, &cut, sizeof sum);
    return __builtin_convertvector(sum, mma_half_floats);
}

/* One step of MMA_LANES outputs of a row; false, and nothing done, where one of them needs the
   plain form.  A product is less than 2^(F + 2) units, so that sixteen of them fit 32 bits. */
INLINE bool mma_fast_step(const int L, const struct mma_step *s, const float *a, const int32_t *ea,
                          const float *b, const int32_t *eb, float *acc)
{
    enum { PART = 16 };
    mma_floats c, y;
    mma_ints odd, top = mma_largest(L, ea, eb, acc, &odd), part[1 + MMA_MOST_L / PART];
    if (mma_any_lane(odd))
        return false;
    mma_floats up = mma_power(s->F - top), down = mma_power(top - s->F);
    int parts = 0;
    memcpy(&c, acc, sizeof c);
    part[parts++] = __builtin_convertvector(c * up, mma_ints);
    for (int from = 0; from < L; from += PART) {
        mma_ints sum = {0};
        for (int k = from; k < from + PART && k < L; k++) {
            memcpy(&y, b + k * MMA_COLUMNS, sizeof y);
            sum += __builtin_convertvector(a[k] * y * up, mma_ints);
        }
        part[parts++] = sum;
    }
    for (int h = 0; h < 2; h++) {
        mma_half_floats half = mma_cut_half(part, parts, h, ~UINT64_C(0) << (52 - s->fraction));
        memcpy((char *)&c + h * sizeof half, &half, sizeof half);
    }
    c *= down;
    memcpy(acc, &c, sizeof c);
    return true;
}

#endif
