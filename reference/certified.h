/* certified.h: results of attention with a proof attached: every digit printed, every rounding
   decided.

   Precision rises until the enclosure settles the question.  It may never settle when the true
   value is algebraic, so that case is decided first: group the visible keys by exactly equal score;
   by the Lindemann-Weierstrass theorem O is algebraic exactly when every group has the same mean of
   v, and then O is that rational number.  Otherwise O is transcendental, no tie exists, and raising
   the precision ends.  LSE is algebraic exactly when one key is visible.  With softcap the
   structural cases come first, then a cap on precision and the answer "undecided".
   Contracts for NaN and infinities: exact.h; the key of weight 0 is the one with score -inf. */
#ifndef FLASHULP_CERTIFIED_H
#define FLASHULP_CERTIFIED_H

#include "reference/problem.h"
#include <mpfr.h>

enum { CERTIFIED_SOFTCAP_BITS = 4096 };

enum certified_kind { CERTIFIED_FINITE, CERTIFIED_NAN, CERTIFIED_PLUS_INF, CERTIFIED_MINUS_INF };

/* What was proved: low <= true value <= high, and low = high only when that is the value itself (a
   binary fraction).  Where a comparison with one boundary settled the question, that boundary is an
   end (rounded outwards) and is itself excluded.  low and high are NaN or the infinity for the
   other kinds. */
struct certified {
    enum certified_kind kind;
    bool decided;  /* false only with softcap ("undecided at `precision` bits"), and for digits of a
                      nonzero number below 2^-(2^29), printed as 0 or -0 */
    bool rational; /* known exactly by the structural argument */
    mpfr_prec_t
        precision; /* of the weights at which the question was settled; 0: none was needed */
    mpfr_t low, high;
};

void certified_init(struct certified *c);
void certified_clear(struct certified *c);

/* Certified rows.  A row context groups the keys once and serves every column; it copies *h, not
   the problem.  r in [0, Nq), d in [0, D).  Not to be shared between threads. */
struct certified_row;
struct certified_row *certified_row_new(const struct head *h, int64_t r);
void certified_row_free(struct certified_row *row);

/* O[r][d] rounded once to f (to nearest, ties to even, overflow as format_round without saturation;
   `exact` counts as fp64), and the enclosure that shows it, if `c` is not NULL. */
double certified_round(struct certified_row *row, int64_t d, enum format f, struct certified *c);
double certified_round_lse(struct certified_row *row, enum format f, struct certified *c);

/* The value rounded to `digits` >= 1 significant decimal digits (to nearest, ties to even), as a
   malloc'ed string.  With E the exponent of the first digit: plain when -5 <= E < digits, else
   "d.ddde<E>".  All `digits` digits are printed, trailing zeros too, unless the value has a finite
   expansion of at most `digits` digits and is known exactly: then just that ("1.00390625", "2").
   "nan", "inf", "-inf" for the others. */
char *certified_digits(struct certified_row *row, int64_t d, int digits, struct certified *c);
char *certified_digits_lse(struct certified_row *row, int digits, struct certified *c);

/* sum pi |v| for column d, to at least 50 bits: the scale of every error measure (A in bounds.h).
   NaN or infinity where |v| has one. */
double certified_weight(struct certified_row *row, int64_t d);

/* The true value to within one unit in the last place of x (initialised by the caller). */
void certified_value(struct certified_row *row, int64_t d, mpfr_t x);
void certified_value_lse(struct certified_row *row, mpfr_t x);

#endif
