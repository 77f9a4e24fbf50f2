/* special_real.c: a real constant as a double: nearest, or to odd so that one later rounding to a
   narrower format is the only one.  Exactly representable constants come out exactly. */
#include <mpfr.h>
#include <string.h>

#include "simulator/arith.h"

/* factor / sqrt(root) [* log2 e | * ln 2] at x's precision, to nearest; the ternary value says
   whether the last operation was exact (only meaningful for plain constants). */
static void real_evaluate(mpfr_t x, const struct real *real)
{
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(x));
    mpfr_set_d(x, real->factor, MPFR_RNDN);
    if (real->root > 1) {
        mpfr_sqrt_ui(t, (unsigned long)real->root, MPFR_RNDN);
        mpfr_div(x, x, t, MPFR_RNDN);
    }
    if (real->times != REAL_PLAIN) {
        mpfr_const_log2(t, MPFR_RNDN);
        if (real->times == REAL_TIMES_LN2)
            mpfr_mul(x, x, t, MPFR_RNDN);
        else
            mpfr_div(x, x, t, MPFR_RNDN);
    }
    mpfr_clear(t);
}

double real_value(const struct real *real, bool odd)
{
    mpfr_t x, back;
    mpfr_init2(x, 256); /* no constant of this form lies within 2^-200 of a double's midpoint */
    mpfr_init2(back, 256);
    real_evaluate(x, real);
    double nearest = mpfr_get_d(x, MPFR_RNDN), toward_zero = mpfr_get_d(x, MPFR_RNDZ);
    mpfr_set_d(back, nearest, MPFR_RNDN);
    mpfr_sub(back, back, x, MPFR_RNDN);
    bool exact = !mpfr_number_p(x) || mpfr_zero_p(back) || mpfr_get_exp(back) < mpfr_get_exp(x) - 200;
    mpfr_clears(x, back, (mpfr_ptr)0);
    if (exact || !odd)
        return nearest;
    uint64_t bits;
    memcpy(&bits, &toward_zero, sizeof bits);
    bits |= 1;
    memcpy(&toward_zero, &bits, sizeof bits);
    return toward_zero;
}
