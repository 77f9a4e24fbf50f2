/* dyadic.h: doubles as an odd integer times a power of two, and dot products without any rounding.

   Everything here is exact for every finite double, subnormals included. */
#ifndef FLASHULP_DYADIC_H
#define FLASHULP_DYADIC_H

#include <stdint.h>
#include <mpfr.h>

/* x = odd * 2^exponent; 0 is {0, 0}. */
struct dyadic {
    int64_t odd;
    int exponent;
};

struct dyadic dyadic_of(double x); /* x finite */

/* dot = sum q[d] k[d], exactly: sets the precision dot needs.  Infinities and NaN as IEEE 754 has
   them: 0 * inf and inf - inf are NaN. */
void dot_exact(mpfr_t dot, const double *q, const double *k, int64_t D);

#endif
