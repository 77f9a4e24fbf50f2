/* exact.h: attention by definition, in MPFR, at a stated precision: no tiles, no running maximum.

   For every query r:  s_c = scale * q_r . k_c (softcapped),  O_r = sum e^(s_c - M) v_c / sum
   e^(s_c - M),  LSE_r = M + ln sum e^(s_c - M), over the keys the query sees (asked pair by pair).
   Contracts for empty rows, infinities and NaN: problem.h. */
#ifndef FLASHULP_EXACT_H
#define FLASHULP_EXACT_H

#include "reference/problem.h"
#include <mpfr.h>

/* O[0..D) and *lse (either may be NULL) of query r, at `precision` bits; all initialised by the
   caller at that precision.  Relative to sum pi |v| the error is below 2^-(precision - 16 - log2 of
   the number of keys): see exact.c. */
void exact_row(const struct head *h, int64_t r, mpfr_prec_t precision, mpfr_t *O, mpfr_ptr lse);

#endif
