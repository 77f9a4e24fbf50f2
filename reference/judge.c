/* judge.c: see judge.h.  The true value is taken to 128 bits: far below any error measured. */
#include "reference/judge.h"

#include <math.h>

void verdict_start(struct verdict *v)
{
    error_start(&v->ulps);
    v->max_roundoffs = 0;
}

/* |got - truth| / (u A); 0 where either is not finite or A is 0 and so is the error. */
static double roundoffs(enum format f, double got, const mpfr_t truth, double A)
{
    mpfr_t difference;
    if (!isfinite(got) || !mpfr_number_p(truth))
        return 0;
    mpfr_init2(difference, 128);
    mpfr_d_sub(difference, got, truth, MPFR_RNDN);
    double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error == 0 ? 0 : error / (ldexp(1.0, -format_info(f)->precision) * A);
}

void judge_row(struct verdict *verdicts, int runs, const struct head *h, int64_t r,
               const int64_t *dims, int64_t count, enum format f, const double *got)
{
    struct certified_row *row = certified_row_new(h, r);
    mpfr_t truth;
    mpfr_init2(truth, 128);
    for (int64_t i = 0; i < count; i++) {
        double rounded = certified_round(row, dims[i], f, NULL);
        double A = certified_weight(row, dims[i]);
        certified_value(row, dims[i], truth);
        for (int n = 0; n < runs; n++) {
            double x = got[n * count + i], error = roundoffs(f, x, truth, A);
            error_add(&verdicts[n].ulps, f, x, truth, rounded);
            if (error > verdicts[n].max_roundoffs)
                verdicts[n].max_roundoffs = error;
        }
    }
    mpfr_clear(truth);
    certified_row_free(row);
}
