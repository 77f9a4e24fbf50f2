/* exact.h: attention by definition, in MPFR, at a stated precision: no tiles, no running maximum.

   For every query r:  s_c = scale * q_r . k_c (softcapped),  O_r = sum e^(s_c - M) v_c / sum
   e^(s_c - M),  LSE_r = M + ln sum e^(s_c - M), over the keys the query sees (asked pair by pair).
   A visible NaN propagates, a score of +inf makes the row NaN, a score of -inf has weight 0 (and
   0 * inf in V is NaN); when every visible score is -inf, O is NaN and LSE -inf.  An infinity in a
   visible V gives that infinity, both signs NaN.  A row that sees no key: problem.h. */
#ifndef FLASHULP_EXACT_H
#define FLASHULP_EXACT_H

#include "reference/problem.h"
#include <mpfr.h>

/* O[0..D) and *lse (either may be NULL) of query r, rounded to `precision` bits; O[] and lse are
   initialised by the caller at that precision.  With A = sum pi |v|:
   |O - true| <= 2^-precision (|O| + A)  and  |lse - true| <= 2^-precision (|lse| + 1)
   for fewer than 2^30 keys; proof in exact.c. */
void exact_row(const struct head *h, int64_t r, mpfr_prec_t precision, mpfr_t *O, mpfr_ptr lse);

#endif
