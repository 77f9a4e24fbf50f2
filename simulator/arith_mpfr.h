/* arith_mpfr.h: what the files of the MPFR arithmetic share: one correct rounding to a site.

   A tile's elements are mpfr_t of max(run->precision, 53) bits.  Every operation is computed once,
   by MPFR, correctly rounded to the format's significand in an unbounded exponent range; `settle`
   then brings it into the format's range, and MPFR's ternary value keeps that from being a second
   rounding.
   Bodies run between work_begin and work_end: in between the exponent range is the widest. */
#ifndef FLASHULP_ARITH_MPFR_H
#define FLASHULP_ARITH_MPFR_H

#include <mpfr.h>

#include "simulator/arith.h"

/* A site's rounding.  `y` has the format's significand bits and holds the last result. */
struct rounding {
    const struct format_info *format;
    bool exact, saturate;
    bool flush; /* fp32-ftz: subnormal operands and results count as zeros of their sign */
    int scale_log2;
    mpfr_t y, zero, minus_zero;
};

struct work {
    const struct run *run;
    struct rounding at, arg; /* of call->site and call->arg_site */
    mpfr_t acc, term;        /* elements */
    mpfr_exp_t emin, emax;   /* the caller's range */
};

/* SITE_NONE rounds like an exact site. */
void rounding_init(struct rounding *f, const struct run *r, enum site site);
void rounding_clear(struct rounding *f);
/* f->y, just computed with ternary value t, is brought into the format's range. */
void settle(struct rounding *f, int t);
/* x as an operand of an operation at f. */
mpfr_srcptr operand(const struct rounding *f, mpfr_srcptr x);

/* dst = round(a + b), round(a b), round(a b + c), round(a); dst holds any element. */
void round_add(struct rounding *f, mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b);
void round_mul(struct rounding *f, mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b);
void round_fma(struct rounding *f, mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c);
/* dst = the real number, rounded once. */
void round_real(struct rounding *f, mpfr_ptr dst, const struct real *x);

mpfr_prec_t element_precision(const struct run *r);
void work_begin(struct work *w, const struct run *r, enum site site, enum site arg_site);
void work_end(struct work *w);

static inline mpfr_ptr element(const struct tile *t, int row, int col)
{
    return (mpfr_ptr)((__mpfr_struct *)t->data + (size_t)row * (size_t)t->cols + (size_t)col);
}

/* Element (row, col) of a tile, column, row or scalar. */
static inline mpfr_srcptr broadcast(const struct tile *t, int row, int col)
{
    return element(t, t->rows == 1 ? 0 : row, t->cols == 1 ? 0 : col);
}

static inline bool is_visible(const struct tile *t, int row, int col)
{
    return !t->masked || (t->lo[row] <= col && col < t->hi[row]);
}

/* The larger, +0 above -0; NaN wins, or loses where the policy ignores it. */
void larger(mpfr_ptr dst, mpfr_srcptr a, mpfr_srcptr b, bool ignores_nan);

verb_body mma_abt_mpfr, mma_ab_mpfr, mma_atb_mpfr, row_max_mpfr, row_sum_mpfr,
    row_sum_rescaled_mpfr, row_dot_mpfr, fold_mpfr;

#endif
