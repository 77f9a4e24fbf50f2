/* arith_mpfr_round.c: one correct rounding to a site's format, in MPFR.

   MPFR writes numbers as 0.1ddd 2^e, so a format's emin and emax are one larger here, and the least
   subnormal 2^(emin - p + 1) has exponent emin - p + 2. */
#include "simulator/arith_mpfr.h"

#include <assert.h>
#include <math.h>

mpfr_prec_t element_precision(const struct run *r)
{
    return r->precision > 53 ? r->precision : 53;
}

void rounding_init(struct rounding *f, const struct run *r, enum site site)
{
    const struct site_rule exact = {.format = FORMAT_EXACT};
    const struct site_rule *rule = site == SITE_NONE ? &exact : &r->policy->site[site];
    f->format = format_info(rule->format);
    f->exact = rule->format == FORMAT_EXACT;
    f->saturate = f->format->bits == 8 && r->policy->saturate;
    f->flush = rule->format == FORMAT_FP32_FTZ;
    f->scale_log2 = f->exact ? 0 : rule->scale_log2;
    mpfr_init2(f->y, f->exact ? r->precision : f->format->precision);
    mpfr_inits2(MPFR_PREC_MIN, f->zero, f->minus_zero, (mpfr_ptr)0);
    mpfr_set_zero(f->zero, 1);
    mpfr_set_zero(f->minus_zero, -1);
}

void rounding_clear(struct rounding *f)
{
    mpfr_clears(f->y, f->zero, f->minus_zero, (mpfr_ptr)0);
}

static void widest_range(void)
{
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
}

/* Below 2^emin, x being neither zero nor singular. */
static bool is_tiny(const struct rounding *f, mpfr_srcptr x)
{
    return mpfr_regular_p(x) && mpfr_get_exp(x) <= f->format->emin;
}

mpfr_srcptr operand(const struct rounding *f, mpfr_srcptr x)
{
    if (!f->flush || !is_tiny(f, x))
        return x;
    return mpfr_signbit(x) ? f->minus_zero : f->zero;
}

/* What exceeds the largest number, infinities included, where the format has no infinity or the
   policy saturates. */
static void limit(const struct rounding *f, mpfr_ptr y)
{
    if ((f->format->has_infinity && !f->saturate) || mpfr_nan_p(y) || mpfr_zero_p(y))
        return;
    int sign = mpfr_signbit(y);
    mpfr_abs(y, y, MPFR_RNDN);
    if (mpfr_cmp_d(y, f->format->largest) > 0) {
        if (f->saturate)
            mpfr_set_d(y, f->format->largest, MPFR_RNDN);
        else
            mpfr_set_nan(y);
    }
    mpfr_setsign(y, y, sign, MPFR_RNDN);
}

void settle(struct rounding *f, int t)
{
    if (f->exact)
        return;
    mpfr_mul_2si(f->y, f->y, f->scale_log2, MPFR_RNDN);
    mpfr_set_emin(f->format->emin - f->format->precision + 2);
    mpfr_set_emax(f->format->emax + 1);
    t = mpfr_check_range(f->y, t, MPFR_RNDN);
    mpfr_subnormalize(f->y, t, MPFR_RNDN);
    widest_range();
    limit(f, f->y);
    if (f->flush && is_tiny(f, f->y))
        mpfr_set_zero(f->y, mpfr_signbit(f->y) ? -1 : 1);
    mpfr_mul_2si(f->y, f->y, -f->scale_log2, MPFR_RNDN);
}

/* A format's significand always fits an element. */
static void finish(struct rounding *f, mpfr_ptr dst, int t)
{
    settle(f, t);
    mpfr_set(dst, f->y, MPFR_RNDN);
}

void round_add(struct rounding *f, mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b)
{
    finish(f, dst, mpfr_add(f->y, operand(f, a), operand(f, b), MPFR_RNDN));
}

void round_mul(struct rounding *f, mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b)
{
    finish(f, dst, mpfr_mul(f->y, operand(f, a), operand(f, b), MPFR_RNDN));
}

void round_fma(struct rounding *f, mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    finish(f, dst, mpfr_fma(f->y, operand(f, a), operand(f, b), operand(f, c), MPFR_RNDN));
}

/* z = x within 4 roundings of z's precision. */
static void approximate(mpfr_ptr z, const struct real *x)
{
    mpfr_t c;
    mpfr_init2(c, mpfr_get_prec(z));
    mpfr_set_si(z, (long)x->root, MPFR_RNDN);
    mpfr_sqrt(z, z, MPFR_RNDN);
    mpfr_d_div(z, x->factor, z, MPFR_RNDN);
    if (x->times != REAL_PLAIN)
        mpfr_const_log2(c, MPFR_RNDN);
    if (x->times == REAL_TIMES_LOG2E)
        mpfr_div(z, z, c, MPFR_RNDN);
    if (x->times == REAL_TIMES_LN2)
        mpfr_mul(z, z, c, MPFR_RNDN);
    mpfr_clear(c);
}

/* Are both ends of z (1 +- 2^(4 - precision of z)) rounded to the same number, then in dst? */
static bool round_enclosure(struct rounding *f, mpfr_ptr dst, mpfr_srcptr z)
{
    mpfr_t end, radius, low;
    mpfr_inits2(mpfr_get_prec(z) + 8, end, radius, low, (mpfr_ptr)0);
    mpfr_mul_2si(radius, z, 4 - (long)mpfr_get_prec(z), MPFR_RNDN);
    mpfr_sub(end, z, radius, MPFR_RNDN);
    finish(f, low, mpfr_set(f->y, end, MPFR_RNDN));
    mpfr_add(end, z, radius, MPFR_RNDN);
    finish(f, dst, mpfr_set(f->y, end, MPFR_RNDN));
    bool same = mpfr_equal_p(low, dst) || (mpfr_nan_p(low) && mpfr_nan_p(dst));
    mpfr_clears(end, radius, low, (mpfr_ptr)0);
    return same;
}

/* Rational numbers by one division.  The others are irrational (a root of a number that is no
   square; the constants are transcendental), so no tie exists and raising the precision ends. */
void round_real(struct rounding *f, mpfr_ptr dst, const struct real *x)
{
    assert(x->root > 0);
    mpfr_t root;
    mpfr_init2(root, 64);
    mpfr_set_si(root, (long)x->root, MPFR_RNDN);
    bool square = mpfr_sqrt(root, root, MPFR_RNDN) == 0;
    bool divides = (x->times == REAL_PLAIN && square) || x->factor == 0 || !isfinite(x->factor);
    bool decided = divides;
    if (divides)
        finish(f, dst, mpfr_d_div(f->y, x->factor, root, MPFR_RNDN));
    mpfr_clear(root);
    for (mpfr_prec_t precision = mpfr_get_prec(f->y) + 32; !decided; precision *= 2) {
        mpfr_t z;
        mpfr_init2(z, precision);
        approximate(z, x);
        decided = round_enclosure(f, dst, z);
        mpfr_clear(z);
    }
}

void larger(mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b, bool ignores_nan)
{
    if (mpfr_nan_p(a) || mpfr_nan_p(b)) {
        if (ignores_nan)
            mpfr_set(dst, mpfr_nan_p(a) ? b : a, MPFR_RNDN);
        else
            mpfr_set_nan(dst);
        return;
    }
    bool zeros = mpfr_zero_p(a) && mpfr_zero_p(b);
    bool second = zeros ? mpfr_signbit(a) && !mpfr_signbit(b) : mpfr_less_p(a, b);
    mpfr_set(dst, second ? b : a, MPFR_RNDN);
}

void work_begin(struct work *w, const struct run *r, enum site site, enum site arg_site)
{
    w->run = r;
    w->emin = mpfr_get_emin();
    w->emax = mpfr_get_emax();
    widest_range();
    rounding_init(&w->at, r, site);
    rounding_init(&w->arg, r, arg_site);
    mpfr_inits2(element_precision(r), w->acc, w->term, (mpfr_ptr)0);
}

void work_end(struct work *w)
{
    rounding_clear(&w->at);
    rounding_clear(&w->arg);
    mpfr_clears(w->acc, w->term, (mpfr_ptr)0);
    mpfr_set_emin(w->emin);
    mpfr_set_emax(w->emax);
}
