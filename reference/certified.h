/* certified.h: results of attention with a proof attached: every digit printed, every rounding
   decided.

   Precision rises until the enclosure settles the question.  It may never settle when the true
   value is algebraic, so that case is decided first: group the visible keys by exactly equal score;
   by the Lindemann-Weierstrass theorem O is algebraic exactly when every group has the same mean of
   v, and then O is that rational number.  Otherwise O is transcendental, no tie exists, and raising
   the precision ends.  LSE is algebraic exactly when one key is visible.  With softcap the
   structural cases come first, then a cap on precision and the answer "undecided". */
#ifndef FLASHULP_CERTIFIED_H
#define FLASHULP_CERTIFIED_H

#include "reference/problem.h"
#include <mpfr.h>

/* An enclosure: low <= true value <= high.  `exact`: low = high = the value itself (a binary
   fraction).  `rational`: the value is numerator / denominator (as decimal-free MPFR integers held
   exactly), known exactly though not a binary fraction.  Non-finite values: kind says which. */
enum certified_kind { CERTIFIED_FINITE, CERTIFIED_NAN, CERTIFIED_PLUS_INF, CERTIFIED_MINUS_INF };

struct certified {
    enum certified_kind kind;
    bool decided;        /* false only for softcap: "undecided at `precision` bits" */
    bool algebraic;      /* the value is rational, decided by the structural argument */
    mpfr_prec_t precision; /* at which the question was settled */
    mpfr_t low, high;
};

void certified_init(struct certified *c);
void certified_clear(struct certified *c);

/* Certified rows.  A row context groups the keys once and serves every column.  d in [0, D). */
struct certified_row;
struct certified_row *certified_row_new(const struct head *h, int64_t r);
void certified_row_free(struct certified_row *row);

/* O[r][d] rounded once to f (correctly: enclosure's ends round alike, or the tie is proved), and
   the enclosure that shows it, if `c` is not NULL.  Returns NaN for NaN. */
double certified_round(struct certified_row *row, int64_t d, enum format f, struct certified *c);
double certified_round_lse(struct certified_row *row, enum format f, struct certified *c);

/* The first `digits` significant decimal digits (truncation towards nearest, ties impossible or
   proved), as a malloc'ed string in plain or scientific notation: "24.926527345857697672".  Both
   ends of the enclosure print the same.  "nan", "inf", "-inf" for the others. */
char *certified_digits(struct certified_row *row, int64_t d, int digits, struct certified *c);
char *certified_digits_lse(struct certified_row *row, int digits, struct certified *c);

/* sum pi |v| for column d, to at least 50 bits: the scale of every error measure (A in bounds.h). */
double certified_weight(struct certified_row *row, int64_t d);

/* The true value to about `bits` bits, into x (initialised by the caller). */
void certified_value(struct certified_row *row, int64_t d, mpfr_t x);
void certified_value_lse(struct certified_row *row, mpfr_t x);

#endif
