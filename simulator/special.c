/* special.c: special_cr and special_poly over blocks of lanes.

   A block is evaluated and rounded by the processor level's lanes; what their error bound leaves
   open (about one result in 2^27, and exact ties) is computed by MPFR to 53 bits rounded to odd,
   which one more rounding to 51 bits or fewer turns into the correctly rounded result. */
#include "simulator/special.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <mpfr.h>
#include "simulator/cpu.h"
#include "simulator/special_lanes.h"

enum { BLOCK = 256 };

/* Proved in special_lanes.c: 1.73, 1.83, 2.55, 3.25 and 5.4 times 2^-53. */
const double special_bound[FUNCTION_COUNT] = {
    [FUNCTION_EXP] = 0x1p-52,    [FUNCTION_EXP2] = 0x1p-52,   [FUNCTION_LOG] = 0x1.5p-52,
    [FUNCTION_LOG2] = 0x1.bp-52, [FUNCTION_TANH] = 0x1.6p-51,
};

const struct special_lanes *special_lanes(void)
{
    static const struct special_lanes *const levels[CPU_LEVELS] = {
        &special_lanes_base,
#ifdef __x86_64__
        &special_lanes_v3,
        &special_lanes_v4,
#endif
    };
    return levels[cpu_level()];
}

struct rounding special_rounding(enum format f, bool saturate)
{
    const struct format_info *info = format_info(f);
    double overflow = saturate ? info->largest : info->has_infinity ? INFINITY : NAN;
    double smallest_normal = ldexp(1, info->emin);
    return (struct rounding){.smallest_normal = smallest_normal,
                             .half = ldexp(1, -info->precision),
                             .magic = ldexp(1.5, 53 - info->precision),
                             .largest = info->largest,
                             .overflow = overflow,
                             .flush_below = f == FORMAT_FP32_FTZ ? smallest_normal : 0};
}

/* fn(x) to 53 bits, rounded to odd: cut off, and the last bit set when anything was cut off. */
static double rounded_to_odd(enum function fn, float x)
{
    static int (*const mpfr[FUNCTION_COUNT])(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t) = {
        [FUNCTION_EXP] = mpfr_exp,   [FUNCTION_EXP2] = mpfr_exp2, [FUNCTION_LOG] = mpfr_log,
        [FUNCTION_LOG2] = mpfr_log2, [FUNCTION_TANH] = mpfr_tanh,
    };
    mpfr_t argument, result;
    mpfr_init2(argument, FLT_MANT_DIG);
    mpfr_init2(result, DBL_MANT_DIG);
    mpfr_set_flt(argument, x, MPFR_RNDN);
    bool inexact = mpfr[fn](result, argument, MPFR_RNDZ) != 0;
    double value = mpfr_get_d(result, MPFR_RNDN);
    mpfr_clears(argument, result, (mpfr_ptr)0);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= inexact;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One open lane. */
static float resolve(const struct rounding *to, enum function fn, float x)
{
    bool logarithm = fn == FUNCTION_LOG || fn == FUNCTION_LOG2;
    if (isnan(x) || (logarithm && x < 0))
        return NAN;
    if (logarithm && x == 0)
        return isnan(to->overflow) ? NAN : (float)-to->overflow;
    if (isinf(x))
        return (float)to->overflow;
    double value = rounded_to_odd(fn, x);
    double open;
    float y;
    special_lanes()->round(to, 0, &y, &open, &value, 1);
    return y;
}

void special_cr(enum function fn, enum format f, bool saturate, float *y, const float *x, size_t n)
{
    assert(f != FORMAT_EXACT && f != FORMAT_FP64);
    const struct special_lanes *lanes = special_lanes();
    struct rounding to = special_rounding(f, saturate);
    float argument[BLOCK];
    double value[BLOCK];
    double open[BLOCK];
    bool asked_mpfr = false;
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t count = n - start < BLOCK ? n - start : BLOCK;
        memcpy(argument, x + start, count * sizeof *x);
        for (size_t i = 0; f == FORMAT_FP32_FTZ && i < count; i++)
            argument[i] = fabsf(argument[i]) < FLT_MIN ? copysignf(0, argument[i]) : argument[i];
        lanes->evaluate[fn](value, argument, count);
        if (!lanes->round(&to, special_bound[fn], y + start, open, value, count))
            continue;
        asked_mpfr = true;
        for (size_t i = 0; i < count; i++)
            if (open[i] != 0)
                y[start + i] = resolve(&to, fn, argument[i]);
    }
    if (asked_mpfr) /* this thread's constants: it may end without another call */
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

void special_poly(enum function fn, float *y, const float *x, size_t n)
{
    float argument[BLOCK];
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t count = n - start < BLOCK ? n - start : BLOCK;
        memcpy(argument, x + start, count * sizeof *x);
        special_lanes()->poly[fn](y + start, argument, count);
    }
}
