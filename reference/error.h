/* error.h: how far a computed number is from the true one.

   Signed errors in ulps of the format at max(|true|, smallest normal).  Equal infinities and two
   NaNs are equal (0); a NaN against a number, or different infinities, are "of different kind":
   counted, never averaged, never a wildcard. */
#ifndef FLASHULP_ERROR_H
#define FLASHULP_ERROR_H

#include "reference/certified.h"

/* (got - true) in ulps of f (any format but exact); NaN when of different kind. */
double error_ulps(enum format f, double got, const mpfr_t truth);

struct error_summary {
    int64_t elements, different_kind;
    int64_t correctly_rounded;   /* got is the rounding of the true value */
    double max_ulp;              /* largest |error| */
    int64_t worst;               /* index of it, in the order added; -1: no error was finite */
    double sum_ulp;              /* signed: sum_ulp / (elements - different_kind) is the bias */
};
void error_start(struct error_summary *s);
/* got against the true value `truth` whose correct rounding in f is `rounded`. */
void error_add(struct error_summary *s, enum format f, double got, const mpfr_t truth, double rounded);
/* The mean signed error; 0 when nothing could be averaged. */
double error_bias(const struct error_summary *s);

#endif
