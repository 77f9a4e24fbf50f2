/* judge.c: see judge.h.  The true value is taken to 128 bits: far below any error measured. */
#include "reference/judge.h"

void judge_row(struct error_summary *s, const struct head *h, int64_t r, const int64_t *dims,
               int64_t count, enum format f, const double *got)
{
    struct certified_row *row = certified_row_new(h, r);
    mpfr_t truth;
    mpfr_init2(truth, 128);
    for (int64_t i = 0; i < count; i++) {
        double rounded = certified_round(row, dims[i], f, NULL);
        certified_value(row, dims[i], truth);
        error_add(s, f, got[i], truth, rounded);
    }
    mpfr_clear(truth);
    certified_row_free(row);
}
