/* oracle_decode.c: what the decode judges share: rounding to 16 bits, correctly rounded functions. */
#include "tests/oracle_decode.h"

#include <mpfr.h>

float oracle_half(float x, enum oracle_type type)
{
    bool fp16 = type == ORACLE_FP16;
    if (type == ORACLE_FP32 || isnan(x) || isinf(x) || x == 0)
        return x;
    int exponent, lowest = fp16 ? -14 : -126, fraction = fp16 ? 10 : 7;
    frexpf(x, &exponent); /* |x| in [2^(exponent - 1), 2^exponent) */
    int e = exponent - 1 < lowest ? lowest : exponent - 1;
    double rounded = ldexp(nearbyint(ldexp(x, fraction - e)), e - fraction);
    if (fp16 && fabs(rounded) >= 0x1p16)
        return copysignf(INFINITY, x);
    return (float)rounded;
}

/* fn(x) in fp32's exponents, gradual underflow included, rounded once. */
static float evaluated(int (*fn)(mpfr_t, const mpfr_t, mpfr_rnd_t), float x)
{
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    MPFR_DECL_INIT(y, FLT_MANT_DIG);
    MPFR_DECL_INIT(argument, FLT_MANT_DIG);
    mpfr_set_flt(argument, x, MPFR_RNDN);
    int ternary = fn(y, argument, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    float result = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return result;
}

static int reciprocal(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_ui_div(y, 1, x, rounding);
}

float oracle_exp(float x)
{
    return evaluated(mpfr_exp, x);
}

float oracle_exp2(float x)
{
    return evaluated(mpfr_exp2, x);
}

float oracle_log2(float x)
{
    return evaluated(mpfr_log2, x);
}

float oracle_log(float x)
{
    return evaluated(mpfr_log, x);
}

float oracle_reciprocal(float x)
{
    return evaluated(reciprocal, x);
}

float oracle_exp_product(float x, bool ftz)
{
    return ftz ? flushed(oracle_exp2(mul_ftz(x, LOG2E))) : oracle_exp2(x * LOG2E);
}

float oracle_butterfly(float *x, int n)
{
    for (int offset = n / 2; offset > 0; offset /= 2)
        for (int i = 0; i < offset; i++)
            x[i] = x[i] + x[i + offset];
    return x[0];
}
