/* quantity.h: one true number, O[r][d] or LSE[r], as the questions put to it see it.  Internal to
   certified*.c. */
#ifndef FLASHULP_QUANTITY_H
#define FLASHULP_QUANTITY_H

#include "reference/certified.h"
#include "reference/certified_row.h"

/* The loaded column of a row, or its LSE. */
struct quantity {
    struct certified_row *row;
    bool lse;
};

enum value_kind quantity_kind(const struct quantity *q);

/* Below: quantity_kind is VALUE_FINITE. */

/* Is the value known to be rational?  Then sets it. */
bool quantity_rational(const struct quantity *q, mpq_t value);

/* low <= value <= high from weights of at least *p bits; *p receives how many.  `factored`: the
   leading power of e that carries a nonzero coefficient is taken out, so that a tiny value keeps
   its relative precision. */
void quantity_enclose(const struct quantity *q, mpfr_prec_t *p, bool factored, mpfr_t low,
                      mpfr_t high);

/* The sign of value - t for a value that is not t, or 0 when the precision reached `limit` (0: no
   limit).  Starts at *p and leaves there what was needed. */
int quantity_side(const struct quantity *q, const mpq_t t, mpfr_prec_t *p, mpfr_prec_t limit);

/* Might the value be algebraic although quantity_rational does not know it?  (Softcap.) */
bool quantity_unproved(const struct quantity *q);

#endif
