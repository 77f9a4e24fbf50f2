/* error.c: see error.h. */
#include "reference/error.h"

#include <assert.h>
#include <math.h>

double error_ulps(enum format f, double got, const mpfr_t truth)
{
    if (isnan(got) && mpfr_nan_p(truth))
        return 0;
    if (isinf(got) && mpfr_inf_p(truth) && (got > 0) == (mpfr_sgn(truth) > 0))
        return 0;
    if (!isfinite(got) || !mpfr_number_p(truth))
        return NAN;
    /* towards zero, so that a number just below a power of two keeps its own spacing */
    double spacing = format_ulp(f, mpfr_get_d(truth, MPFR_RNDZ));
    assert(spacing > 0);
    mpfr_t error;
    mpfr_init2(error, 64);
    mpfr_sub_d(error, truth, got, MPFR_RNDN);
    mpfr_div_d(error, error, spacing, MPFR_RNDN);
    double ulps = -mpfr_get_d(error, MPFR_RNDN);
    mpfr_clear(error);
    return ulps;
}

void error_start(struct error_summary *s)
{
    *s = (struct error_summary){.worst = -1};
}

void error_add(struct error_summary *s, enum format f, double got, const mpfr_t truth,
               double rounded)
{
    int64_t index = s->elements++;
    s->correctly_rounded += got == rounded || (isnan(got) && isnan(rounded));
    double ulps = error_ulps(f, got, truth);
    if (isnan(ulps)) {
        s->different_kind++;
        return;
    }
    s->sum_ulp += ulps;
    if (s->worst < 0 || fabs(ulps) > s->max_ulp) {
        s->max_ulp = fabs(ulps);
        s->worst = index;
    }
}

double error_bias(const struct error_summary *s)
{
    int64_t averaged = s->elements - s->different_kind;
    return averaged > 0 ? s->sum_ulp / (double)averaged : 0;
}
