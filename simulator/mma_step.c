/* mma_step.c: one fused step on floats in plain integers, written for reading; the fast form
   (arith_mma.h) must equal it in every bit.

   Compiled once per processor level (CPU_LEVEL), and in it once per number of products: arrays of a
   known length are what a compiler turns into vectors.  Integers only: the same bits in each. */
#include "simulator/mma_step.h"

#include <assert.h>

#include "simulator/round.h"

/* Floats taken apart, as arrays so that the compiler may take several at once:
   x = (-1)^minus significand 2^(power - 23), aligned by `exponent`, which a subnormal number's
   power does not lower beneath the format's least. */
struct parts {
    uint32_t significand[MMA_MOST_L];
    int32_t power[MMA_MOST_L], exponent[MMA_MOST_L], minus[MMA_MOST_L];
};

INLINE void take_apart(struct parts *p, const float *x, int n, uint32_t unread, int least)
{
    for (int k = 0; k < n; k++) {
        uint32_t bits = bits_of_float(x[k]) & ~unread, field = bits >> 23 & 255, normal = field > 0;
        p->significand[k] = (bits & 0x7FFFFF) | normal << 23;
        p->power[k] = (int32_t)(field + 1 - normal) - 127;
        p->exponent[k] = p->power[k] > least ? p->power[k] : least;
        p->minus[k] = (int32_t)(bits >> 31);
    }
}

INLINE bool any_special(const struct parts *a, const struct parts *b, int n)
{
    int any = 0;
    for (int k = 0; k < n; k++)
        any |= (a->power[k] == 128) | (b->power[k] == 128);
    return any != 0;
}

/* The terms of a step: products and, last, the accumulator: (-1)^minus magnitude 2^(power - 46). */
struct terms {
    uint64_t magnitude[MMA_MOST_L + 1];
    int32_t power[MMA_MOST_L + 1], exponent[MMA_MOST_L + 1], minus[MMA_MOST_L + 1];
    int32_t zero[MMA_MOST_L + 1];
};

/* t[0 .. n) = a b; what is missing up to L is +0 times +0. */
INLINE void multiply(struct terms *t, const struct mma_step *s, const struct parts *a,
                     const struct parts *b, int n, const int L)
{
    for (int k = 0; k < n; k++) {
        t->magnitude[k] = (uint64_t)a->significand[k] * b->significand[k];
        t->power[k] = a->power[k] + b->power[k];
        t->exponent[k] = a->exponent[k] + b->exponent[k];
        t->minus[k] = a->minus[k] ^ b->minus[k];
        t->zero[k] = (a->significand[k] == 0) | (b->significand[k] == 0);
    }
    for (int k = n; k < L; k++) {
        t->magnitude[k] = 0;
        t->power[k] = t->minus[k] = 0;
        t->exponent[k] = s->least_a + s->least_b;
        t->zero[k] = 1;
    }
}

/* The accumulator is term L. */
INLINE void take_accumulator(struct terms *t, const struct parts *c, const int L)
{
    t->magnitude[L] = (uint64_t)c->significand[0] << 23;
    t->power[L] = c->power[0];
    t->exponent[L] = c->exponent[0];
    t->minus[L] = c->minus[0];
    t->zero[L] = c->significand[0] == 0;
}

/* The exponent every term is aligned to; zeros count as e_zero, or with their own exponent. */
INLINE int largest_exponent(const struct mma_step *s, const struct terms *t, const int L)
{
    const int count_zeros = s->count_zeros, e_zero = s->e_zero;
    int top = NO_EXPONENT;
    for (int k = 0; k <= L; k++) {
        int exponent = (t->zero[k] & !count_zeros) ? e_zero : t->exponent[k];
        top = exponent > top ? exponent : top;
    }
    return top;
}

/* The sum of the terms, each cut toward zero to units of 2^last.  2^last is far above the last
   place of every term that is not zero, so that shifts go one way. */
INLINE int64_t cut_sum(const struct terms *t, int last, const int L)
{
    int64_t sum = 0;
    for (int k = 0; k <= L; k++) {
        int shift = last - (t->power[k] - 46);
        shift = shift < 0 ? 0 : shift < 63 ? shift : 63;
        int64_t units = (int64_t)(t->magnitude[k] >> shift);
        sum += (units ^ -(int64_t)t->minus[k]) + t->minus[k]; /* -units where minus */
    }
    return sum;
}

INLINE float sum_of_terms(const struct mma_step *s, const struct terms *t, const int L)
{
    int zeros = 1, minus = 1;
    for (int k = 0; k <= L; k++)
        zeros &= t->zero[k];
    if (zeros) {
        for (int k = 0; k <= L; k++)
            minus &= t->minus[k];
        return minus && !s->lose_minus_zero ? -0.0f : 0.0f;
    }
    int last = largest_exponent(s, t, L) - s->F;
    return mma_converted(s, cut_sum(t, last, L), last);
}

/* L is s->L. */
INLINE float step(const struct mma_step *s, const float *a, const float *b, int n, float c,
                  const int L)
{
    struct parts x, y, z;
    struct terms terms;
    take_apart(&x, a, n, s->unread_a, s->least_a);
    take_apart(&y, b, n, s->unread_b, s->least_b);
    take_apart(&z, &c, 1, 0, s->least_c);
    if (any_special(&x, &y, n) || any_special(&z, &z, 1))
        return mma_special_floats(s, a, b, n, c);
    multiply(&terms, s, &x, &y, n, L);
    take_accumulator(&terms, &z, L);
    return sum_of_terms(s, &terms, L);
}

/* The one macro that names this level's body: mma_dot_add_base, _v3 or _v4. */
#define BODY_OF(level) mma_dot_add_##level
#define BODY_AT(level) BODY_OF(level)

float BODY_AT(CPU_LEVEL)(const struct mma_step *s, const float *a, const float *b, int n, float c)
{
    assert(n <= s->L && s->L <= MMA_MOST_L);
    if (n == 8 && s->L == 8)
        return step(s, a, b, 8, c, 8);
    if (n == 16 && s->L == 16)
        return step(s, a, b, 16, c, 16);
    return step(s, a, b, n, c, s->L);
}
