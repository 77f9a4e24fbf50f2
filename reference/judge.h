/* judge.h: computed outputs against the certified result, one row at a time. */
#ifndef FLASHULP_JUDGE_H
#define FLASHULP_JUDGE_H

#include "reference/error.h"

/* What is known of one run's outputs. */
struct verdict {
    struct error_summary ulps;
    /* The largest |got - true| in units of u A, u half the format's spacing at 1 and A = sum pi |v|:
       roundoffs of the uncancelled sum.  Ulps of a result that cancelled can be arbitrarily many. */
    double max_roundoffs;
};
void verdict_start(struct verdict *v);

/* Adds query r of several runs, each in format f (not exact): run n's columns dims[0..count) are
   got[n * count ..].  The certified row is made once for all of them. */
void judge_row(struct verdict *verdicts, int runs, const struct head *h, int64_t r,
               const int64_t *dims, int64_t count, enum format f, const double *got);

#endif
