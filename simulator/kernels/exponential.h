/* exponential.h: how the shipped kernels take e^(y - m): a difference, a product and 2^.

   factor: log2 e where scores are scaled, or the scale times log2 e where they are raw. */
#ifndef FLASHULP_KERNELS_EXPONENTIAL_H
#define FLASHULP_KERNELS_EXPONENTIAL_H

#include "simulator/arith.h"

/* y = 2^((y - m) factor); the difference and the product are rounded at `arg`. */
static inline void exponential(struct run *r, struct tile *y, const struct tile *m,
                               const struct tile *factor, enum site arg, enum site site)
{
    sub(r, y, y, m, arg);
    mul(r, y, y, factor, arg);
    exp2_(r, y, y, site);
}

#endif
