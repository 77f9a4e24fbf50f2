/* special_lanes.h: the bodies behind special.h, one table per processor level; same bits in each.

   Internal to special.c and its tests.  Lanes are evaluated in fp64 with a relative error below
   special_bound[fn] (proved in special_lanes.c) and rounded where that bound decides. */
#ifndef FLASHULP_SPECIAL_LANES_H
#define FLASHULP_SPECIAL_LANES_H

#include "simulator/special.h"

/* Rounding of a double to a format of p bits and exponents from emin, as constants of one loop. */
struct rounding {
    double smallest_normal; /* 2^emin */
    double half;            /* 2^-p: times 2^e, half the spacing of the binade of 2^e */
    double magic;           /* 1.5 * 2^(53-p): times 2^e, what added and taken away rounds */
    double largest, overflow;
    double flush_below; /* 2^emin for fp32-ftz, else 0 */
};

struct special_lanes {
    /* value[i] ~ fn(x[i]); NaN where special.c must decide (x NaN; for log, x not positive or
       infinite).  Arguments whose result leaves fp32's range are clamped on its far side. */
    void (*evaluate[FUNCTION_COUNT])(double *value, const float *x, size_t n);
    /* y[i] = value[i] rounded.  open[i] != 0 where some number within a relative `bound` of
       value[i] rounds differently, and for NaN; returns whether any is open. */
    bool (*round)(const struct rounding *to, double bound, float *y, double *open,
                  const double *value, size_t n);
    void (*poly[FUNCTION_COUNT])(float *y, const float *x, size_t n);
};

extern const double special_bound[FUNCTION_COUNT];

extern const struct special_lanes special_lanes_base;
#ifdef __x86_64__
extern const struct special_lanes special_lanes_v3, special_lanes_v4;
#endif

/* The table of cpu_level(). */
const struct special_lanes *special_lanes(void);

struct rounding special_rounding(enum format f, bool saturate);

#endif
