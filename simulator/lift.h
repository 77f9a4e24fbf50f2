/* lift.h: the same call on the same numbers, in an exact arithmetic: what the call would give if it
   did not round.  Used by the watch (a step's own drift) and by the ledger (a site's errors). */
#ifndef FLASHULP_LIFT_H
#define FLASHULP_LIFT_H

#include "simulator/arith.h"

/* Exact copies of one call's tiles.  `exact` rounds nowhere; `argument` only at the argument's
   site, which tells a two-site call's two errors apart. */
struct lift {
    struct policy exact_policy, argument_policy;
    struct run exact, argument;
    struct tile tile[2][4]; /* per run: dst, a, b, c */
    size_t room[2][4], row_room[2][4];
};

/* In double, or in mpfr at `precision` bits. */
void lift_new(struct lift *l, const struct arithmetic *arith, int precision,
              const struct policy *policy);
void lift_free(struct lift *l);

/* Before the call is performed: copies its operands (and the destination, which may be one). */
void lift_operands(struct lift *l, const struct run *r, const struct call *c);
/* After: performs it exactly.  error[i] = r's result - exact result, split between the argument's
   site (error_arg, may be NULL) and the call's own; NaN or infinite differences count as 0 and set
   *finite false. */
void lift_errors(struct lift *l, const struct run *r, const struct call *c, double *error_arg,
                 double *error, bool *finite);

#endif
