/* special.h: the transcendental functions of a kernel, in three strengths.

   special_cr    floats in, one rounding to the wanted format (fp32 or narrower), proved correct:
                 fp64 arithmetic with an error bound; the few inputs whose rounding the bound leaves
                 open go to MPFR.  Vectorised; same bits at every processor level.
   special_poly  floats in and out, fmaf only (special_poly.h, shared with CUDA); not correctly
                 rounded; its largest error is stated and tested.
   special_wide  doubles in, an unevaluated sum of two doubles out (within 2^-101, relative): what
                 the double arithmetic uses; no libm, so the same bits on every machine. */
#ifndef FLASHULP_SPECIAL_H
#define FLASHULP_SPECIAL_H

#include <stddef.h>
#include "reference/format.h"

enum special {
#define SPECIAL(id, name, meaning) SPECIAL_##id,
#include "simulator/special.def"
#undef SPECIAL
    SPECIAL_COUNT
};

enum function {
#define FUNCTION(id, name, meaning) FUNCTION_##id,
#include "simulator/special.def"
#undef FUNCTION
    FUNCTION_COUNT
};

struct wide {
    double high, low; /* high = the double nearest high + low */
};

/* y[i] = fn(x[i]) rounded once to f; f in {FP32, FP32_FTZ, TF32, FP16, BF16, E4M3, E5M2}; y may be
   x.  `saturate` as in format_round.  fp32-ftz also flushes a subnormal x to zero first.
   log of a negative number and any function of NaN give the canonical quiet NaN. */
void special_cr(enum function fn, enum format f, bool saturate, float *y, const float *x, size_t n);

/* y[i] = fn(x[i]) by special_poly.h, fp32. */
void special_poly(enum function fn, float *y, const float *x, size_t n);

/* fn(x) as high + low, relative error below 2^-101: high is the nearest double and low has the sign
   of what is left, 0 when nothing is, unless that is within 2^-101 of a tie or of nothing.
   Overflow, underflow and NaN as the double function's, with low 0.  Below 2^-960 low loses bits to
   underflow, and is 0 where high is subnormal. */
struct wide special_wide(enum function fn, double x);

#endif
