/* dyadic.c: see dyadic.h.

   A dot product is a sum of integers (two odd parts multiplied, below 2^106) at exponents that
   differ; shifted to the smallest exponent the sum is an integer.  When its bits fit 127 it is
   taken in machine integers, otherwise in GMP's. */
#include "reference/dyadic.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct dyadic dyadic_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int field = (int)(bits >> 52 & 2047);
    uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
    if (field != 0)
        m |= UINT64_C(1) << 52;
    if (m == 0)
        return (struct dyadic){0, 0};
    int zeros = __builtin_ctzll(m);
    int64_t odd = (int64_t)(m >> zeros);
    return (struct dyadic){bits >> 63 ? -odd : odd, (field != 0 ? field : 1) - 1075 + zeros};
}

static struct dyadic product_of(double a, double b, __int128 *odd)
{
    struct dyadic x = dyadic_of(a), y = dyadic_of(b);
    *odd = (__int128)x.odd * y.odd;
    return (struct dyadic){*odd != 0, x.exponent + y.exponent};
}

static int width(__int128 n)
{
    unsigned __int128 m = n < 0 ? -(unsigned __int128)n : (unsigned __int128)n;
    uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;
    return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
}

static int carries(int64_t terms)
{
    int bits = 0;
    while (INT64_C(1) << bits < terms)
        bits++;
    return bits;
}

static void set_int128(mpfr_t x, __int128 n, int exponent)
{
    mpfr_set_prec(x, 128);
    mpfr_set_sj(x, (intmax_t)(n >> 64), MPFR_RNDN);
    mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
    mpfr_t low;
    mpfr_init2(low, 64);
    mpfr_set_uj(low, (uintmax_t)(uint64_t)n, MPFR_RNDN);
    mpfr_add(x, x, low, MPFR_RNDN);
    mpfr_clear(low);
    mpfr_mul_2si(x, x, exponent, MPFR_RNDN);
}

static void dot_wide(mpfr_t dot, const double *q, const double *k, int64_t D, int lowest)
{
    mpz_t sum, term;
    mpz_inits(sum, term, (mpz_ptr)0);
    for (int64_t d = 0; d < D; d++) {
        struct dyadic x = dyadic_of(q[d]), y = dyadic_of(k[d]);
        if (x.odd == 0 || y.odd == 0)
            continue;
        mpz_set_si(term, x.odd);
        mpz_mul_si(term, term, y.odd);
        mpz_mul_2exp(term, term, (mp_bitcnt_t)(x.exponent + y.exponent - lowest));
        mpz_add(sum, sum, term);
    }
    size_t bits = mpz_sizeinbase(sum, 2);
    mpfr_set_prec(dot, bits < 64 ? 64 : (mpfr_prec_t)bits);
    mpfr_set_z_2exp(dot, sum, lowest, MPFR_RNDN);
    mpz_clears(sum, term, (mpz_ptr)0);
}

/* With an infinity or a NaN among the operands the finite terms no longer matter. */
static bool dot_not_finite(mpfr_t dot, const double *q, const double *k, int64_t D)
{
    double special = 0;
    bool found = false;
    for (int64_t d = 0; d < D; d++)
        if (!isfinite(q[d]) || !isfinite(k[d])) {
            /* signs only: a finite operand may be subnormal or huge */
            double a = isfinite(q[d]) ? (q[d] > 0) - (q[d] < 0) : q[d];
            double b = isfinite(k[d]) ? (k[d] > 0) - (k[d] < 0) : k[d];
            special += a * b;
            found = true;
        }
    if (found) {
        mpfr_set_prec(dot, 64);
        mpfr_set_d(dot, special, MPFR_RNDN);
    }
    return found;
}

void dot_exact(mpfr_t dot, const double *q, const double *k, int64_t D)
{
    if (dot_not_finite(dot, q, k, D))
        return;
    int lowest = 1 << 20, highest = -(1 << 20);
    __int128 odd;
    for (int64_t d = 0; d < D; d++) {
        struct dyadic term = product_of(q[d], k[d], &odd);
        if (term.odd == 0)
            continue;
        int top = term.exponent + width(odd);
        lowest = term.exponent < lowest ? term.exponent : lowest;
        highest = top > highest ? top : highest;
    }
    if (highest < lowest) {
        mpfr_set_prec(dot, 64);
        mpfr_set_zero(dot, 1);
    } else if (highest - lowest + carries(D) > 126) {
        dot_wide(dot, q, k, D, lowest);
    } else {
        __int128 sum = 0;
        for (int64_t d = 0; d < D; d++) {
            struct dyadic term = product_of(q[d], k[d], &odd);
            if (term.odd != 0)
                sum += odd * ((__int128)1 << (term.exponent - lowest));
        }
        set_int128(dot, sum, lowest);
    }
}
