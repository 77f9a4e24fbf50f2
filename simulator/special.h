/* special.h: the transcendental functions of a kernel: correctly rounded, as something computes them
   in floats (special_float), or wide.

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
    FUNCTION_COUNT,
    FUNCTION_RCP = FUNCTION_COUNT, /* 1/x: for special_float only */
    FUNCTION_ALL
};

struct wide {
    double high, low; /* high = the double nearest high + low */
};

/* y[i] = fn(x[i]) rounded once to f; f in {FP32, FP32_FTZ, TF32, FP16, BF16, E4M3, E5M2}; y may be
   x.  `saturate` as in format_round.  fp32-ftz also flushes a subnormal x to zero first.
   log of a negative number and any function of NaN give the canonical quiet NaN. */
void special_cr(enum function fn, enum format f, bool saturate, float *y, const float *x, size_t n);

/* How a policy has the functions computed; `table` where `how` is SPECIAL_TABLE. */
struct special_choice {
    enum special how;
    const struct special_table *table; /* special_table.h */
};
/* Is fn the correctly rounded one?  1/x is unless a table has it. */
bool special_is_cr(struct special_choice c, enum function fn);
/* y[i] = fn(x[i]) in fp32, for those that are not.  Where e^x goes by 2^x it is 2^(x log2 e), and by a
   table's lg2 ln x is (lg2 x) ln 2: products rounded, as nvcc makes __expf and __logf. */
void special_float(struct special_choice c, enum function fn, float *y, const float *x, size_t n);
/* What a report says: "exp poly", "ex2 and rcp table:h200.tab, rest cr". */
struct special_text {
    char text[160];
};
struct special_text special_words(struct special_choice c);
const char *special_name(enum special how);

/* y[i] = fn(x[i]) by special_poly.h, fp32. */
void special_poly(enum function fn, float *y, const float *x, size_t n);

/* fn(x) as high + low, relative error below 2^-101: high is the nearest double and low has the sign
   of what is left, 0 when nothing is, unless that is within 2^-101 of a tie or of nothing.
   Overflow, underflow and NaN as the double function's, with low 0.  Below 2^-960 low loses bits to
   underflow, and is 0 where high is subnormal. */
struct wide special_wide(enum function fn, double x);

#endif
