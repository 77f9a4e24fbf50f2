/* judge.h: computed outputs against the certified result, one row at a time. */
#ifndef FLASHULP_JUDGE_H
#define FLASHULP_JUDGE_H

#include "reference/error.h"

/* Adds got[0..count), the columns dims[0..count) of query r in format f (not exact), to `s`. */
void judge_row(struct error_summary *s, const struct head *h, int64_t r, const int64_t *dims,
               int64_t count, enum format f, const double *got);

#endif
