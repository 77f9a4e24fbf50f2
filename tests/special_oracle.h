/* special_oracle.h: fn(x) from MPFR, for the tests of simulator/special.h; floats by their bits;
   samples. */
#ifndef FLASHULP_TESTS_SPECIAL_ORACLE_H
#define FLASHULP_TESTS_SPECIAL_ORACLE_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <mpfr.h>
#include "simulator/special.h"

static const char *const function_names[FUNCTION_COUNT] = {
#define FUNCTION(id, name, meaning) name,
#include "simulator/special.def"
#undef FUNCTION
};

static inline float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline bool full_proof(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

/* xorshift64*: the samples are the same on every machine. */
static inline uint64_t random_bits(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline double random_unit(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/* result = fn(x), rounded as asked; MPFR's ternary value. */
static inline int oracle(mpfr_t result, enum function fn, double x, mpfr_rnd_t rounding)
{
    mpfr_t argument;
    mpfr_init2(argument, DBL_MANT_DIG);
    mpfr_set_d(argument, x, MPFR_RNDN);
    int ternary = fn == FUNCTION_EXP    ? mpfr_exp(result, argument, rounding)
                  : fn == FUNCTION_EXP2 ? mpfr_exp2(result, argument, rounding)
                  : fn == FUNCTION_LOG  ? mpfr_log(result, argument, rounding)
                  : fn == FUNCTION_LOG2 ? mpfr_log2(result, argument, rounding)
                                        : mpfr_tanh(result, argument, rounding);
    mpfr_clear(argument);
    return ternary;
}

/* fn(x) rounded to 53 bits to odd, a double that rounds to any format of 51 bits or fewer as fn(x)
   does.  Results beyond double's exponents are cut to ones beyond float's. */
static inline double oracle_to_odd(enum function fn, float x)
{
    mpfr_t result;
    mpfr_init2(result, DBL_MANT_DIG);
    bool inexact = oracle(result, fn, x, MPFR_RNDZ) != 0;
    double value = mpfr_get_d(result, MPFR_RNDZ);
    if (mpfr_regular_p(result) && mpfr_get_exp(result) < -1000)
        value = 0x1p-1000;
    mpfr_clear(result);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isfinite(value) && value != 0)
        bits |= inexact;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
