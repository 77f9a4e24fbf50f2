/* audit_lse.h: a measured logarithm of the sums against the certified one.

   It is taken as the natural logarithm unless the file says base 2.  Where it lies outside its bound
   the scores are read another way (audit_gate.h) and the logarithm to the other base. */
#ifndef FLASHULP_AUDIT_LSE_H
#define FLASHULP_AUDIT_LSE_H

#include "simulator/audit_gate.h"
#include "simulator/scenario.h"

struct audit_lse {
    double *stored; /* [rows] of the selection; NULL: none was measured */
    enum format format;
    bool base_2;     /* the file says so: multiplied by ln 2 before it is judged */
    bool base_given; /* the file says which base */
    /* Judged, as the natural logarithm: */
    int64_t rows, rounded, of_kind, outside,
        first;             /* first: row outside or of another kind, or -1 */
    int64_t plus_infinity; /* of rows that see no key, where FlashAttention-2 stores +inf */
    double max_ulp, sum_ulp, max_ratio; /* in ulps of its format; max_ratio: of its bound */
    /* Outside: what fits. */
    bool fits, fits_base_2;
    enum reading reading;
};

/* `lse` of shape (B, Hq, Nq), or without leading dimensions of 1; `what` names it in messages. */
bool audit_lse_take(struct audit_lse *l, const char *what, const struct tensor *lse,
                    const struct problem *p, const struct selection *s, struct message *why);
bool audit_lse_judge(struct audit_lse *l, const struct problem *p, const struct selection *s,
                     int threads, struct message *why);
/* Rows outside the bound or of another kind. */
int64_t audit_lse_wrong(const struct audit_lse *l);

#endif
