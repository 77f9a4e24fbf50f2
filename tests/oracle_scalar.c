/* oracle_scalar.c: what oracle_scalar.h promises of exp, log, tanh, roundings and constants. */
#include "tests/oracle_scalar.h"

#include <mpfr.h>

enum { FP32_DIGITS = 24 };

/* f(x) to fp32, subnormals kept. */
static float correctly_rounded(int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t), float x)
{
    mpfr_t y;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    mpfr_init2(y, FP32_DIGITS);
    mpfr_set_flt(y, x, MPFR_RNDN);
    int ternary = f(y, y, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    float result = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_clear(y);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return result;
}

float plain_exp(float x)
{
    return correctly_rounded(mpfr_exp, x);
}

float plain_exp2(float x)
{
    return correctly_rounded(mpfr_exp2, x);
}

float plain_log(float x)
{
    return correctly_rounded(mpfr_log, x);
}

float plain_log2(float x)
{
    return correctly_rounded(mpfr_log2, x);
}

float fast_exp2(float x)
{
    return flushed(plain_exp2(flushed(x)));
}

float fast_log2(float x)
{
    return flushed(plain_log2(flushed(x)));
}

float fast_tanh(float x)
{
    return flushed(correctly_rounded(mpfr_tanh, flushed(x)));
}

float oracle_rounded_to(enum oracle_type type, float x)
{
    if (isnan(x))
        return NAN;
    if (type == ORACLE_FP32 || isinf(x) || x == 0)
        return x;
    int digits = type == ORACLE_BF16 ? 8 : 11, smallest = type == ORACLE_BF16 ? -126 : -14;
    int exponent;
    frexp(x, &exponent); /* x is below 2^exponent */
    int last = (exponent - 1 > smallest ? exponent - 1 : smallest) - (digits - 1);
    double y = ldexp(nearbyint(ldexp(x, -last)), last);
    double limit = ldexp(1, type == ORACLE_BF16 ? 128 : 16);
    return (float)(fabs(y) >= limit ? copysign(INFINITY, y) : y);
}

float oracle_scale(double value, int root)
{
    mpfr_t scale;
    mpfr_init2(scale, 256);
    mpfr_sqrt_ui(scale, (unsigned long)root, MPFR_RNDN);
    mpfr_d_div(scale, value, scale, MPFR_RNDN);
    float result = mpfr_get_flt(scale, MPFR_RNDN);
    mpfr_clear(scale);
    return result;
}
