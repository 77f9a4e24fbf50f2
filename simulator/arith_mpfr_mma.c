/* arith_mpfr_mma.c: one step of a tensor core in the MPFR arithmetic, from mma.h's description:
   every term exact, cut by MPFR's rounding toward zero, added exactly, rounded once.  Shares with
   mma.c only the step's parameters. */
#include <limits.h>

#include "simulator/arith_mpfr_sums.h"
#include "simulator/round.h"

/* A step's terms: the products, then the accumulator. */
struct unit_step {
    const struct mma_step *s;
    mpfr_t term[MMA_MOST_L + 1], x, y, total;
    long top; /* the exponent all are aligned to */
};

/* x as the unit reads it: the floats of tf32 lose their low bits. */
static void read_factor(mpfr_ptr dst, mpfr_srcptr x, uint32_t unread)
{
    mpfr_set_prec(dst, mpfr_get_prec(x));
    mpfr_set(dst, x, MPFR_RNDN);
    if (unread != 0)
        mpfr_set_flt(dst, float_of_bits(bits_of_float(mpfr_get_flt(x, MPFR_RNDN)) & ~unread),
                     MPFR_RNDN);
}

/* floor(log2 |x|), but not below the format's least; MPFR's significands lie in [1/2, 1). */
static long exponent_of(mpfr_srcptr x, int least)
{
    long exponent = mpfr_regular_p(x) ? (long)mpfr_get_exp(x) - 1 : least;
    return exponent > least ? exponent : least;
}

static void count_exponent(struct unit_step *t, mpfr_srcptr term, long own)
{
    long exponent = mpfr_zero_p(term) && !t->s->count_zeros ? t->s->e_zero : own;
    t->top = exponent > t->top ? exponent : t->top;
}

/* term[k] = the exact product; a hidden one, and one past the end, is +0 times +0. */
static void multiply(struct unit_step *t, int k, const struct term *p)
{
    mpfr_set_zero(t->x, 1);
    mpfr_set_zero(t->y, 1);
    if (p != NULL && p->a != NULL) {
        mpfr_set_ui(t->y, 1, MPFR_RNDN);
        read_factor(t->x, p->a, t->s->unread_a);
        if (p->b != NULL)
            read_factor(t->y, p->b, t->s->unread_b);
    }
    mpfr_set_prec(t->term[k], mpfr_get_prec(t->x) + mpfr_get_prec(t->y));
    mpfr_mul(t->term[k], t->x, t->y, MPFR_RNDN);
    count_exponent(t, t->term[k],
                   exponent_of(t->x, t->s->least_a) + exponent_of(t->y, t->s->least_b));
}

/* NaN and infinities: the sum that MPFR itself makes of them. */
static bool special(struct unit_step *t, mpfr_ptr acc)
{
    bool any = false;
    for (int k = 0; k <= t->s->L; k++)
        any = any || !mpfr_number_p(t->term[k]);
    mpfr_set_zero(t->total, 1);
    for (int k = 0; any && k <= t->s->L; k++)
        if (!mpfr_number_p(t->term[k]))
            mpfr_add(t->total, t->total, t->term[k], MPFR_RNDN);
    if (any)
        mpfr_set(acc, t->total, MPFR_RNDN);
    return any;
}

static bool all_zeros(struct unit_step *t, mpfr_ptr acc)
{
    bool minus = !t->s->lose_minus_zero;
    for (int k = 0; k <= t->s->L; k++) {
        if (!mpfr_zero_p(t->term[k]))
            return false;
        minus = minus && mpfr_signbit(t->term[k]);
    }
    mpfr_set_zero(acc, minus ? -1 : 1);
    return true;
}

/* x = x cut or rounded to a multiple of 2^last. */
static void to_multiple(mpfr_ptr x, long last, mpfr_rnd_t rounding)
{
    mpfr_mul_2si(x, x, -last, MPFR_RNDN);
    mpfr_rint(x, x, rounding);
    mpfr_mul_2si(x, x, last, MPFR_RNDN);
}

/* acc = the sum of the terms, each cut, in the output's format. */
static void add_up(struct unit_step *t, mpfr_ptr acc)
{
    const struct mma_step *s = t->s;
    mpfr_set_zero(t->total, 1);
    for (int k = 0; k <= s->L; k++) {
        to_multiple(t->term[k], t->top - s->F, MPFR_RNDZ);
        if (mpfr_regular_p(t->term[k]))
            mpfr_add(t->total, t->total, t->term[k], MPFR_RNDN);
    }
    if (mpfr_regular_p(t->total)) {
        long least = s->output_least - s->fraction,
             own = (long)mpfr_get_exp(t->total) - s->fraction - 1;
        to_multiple(t->total, own > least ? own : least, s->nearest ? MPFR_RNDN : MPFR_RNDZ);
    }
    if (mpfr_regular_p(t->total) && (long)mpfr_get_exp(t->total) > s->output_most + 1)
        mpfr_set_inf(t->total, mpfr_sgn(t->total));
    mpfr_set(acc, t->total, MPFR_RNDN);
}

void sum_mma(struct sum *s, mpfr_ptr acc)
{
    enum { TOTAL_BITS = 256 }; /* L + 1 terms of F + 2 bits */
    struct unit_step t = {.s = &s->step};
    mpfr_inits2(TOTAL_BITS, t.x, t.y, t.total, (mpfr_ptr)0);
    for (int k = 0; k <= t.s->L; k++)
        mpfr_init2(t.term[k], MPFR_PREC_MIN);
    for (int from = 0; from < s->count; from += t.s->L) {
        t.top = LONG_MIN / 4;
        for (int k = 0; k < t.s->L; k++)
            multiply(&t, k, from + k < s->count ? &s->terms[from + k] : NULL);
        mpfr_set_prec(t.term[t.s->L], mpfr_get_prec(acc));
        mpfr_set(t.term[t.s->L], acc, MPFR_RNDN);
        count_exponent(&t, acc, exponent_of(acc, t.s->least_c));
        if (!special(&t, acc) && !all_zeros(&t, acc))
            add_up(&t, acc);
    }
    for (int k = 0; k <= t.s->L; k++)
        mpfr_clear(t.term[k]);
    mpfr_clears(t.x, t.y, t.total, (mpfr_ptr)0);
}

/* The format a factor was last rounded to; a tile that was only filled holds plain floats. */
static struct mma_factor factor_of(const struct run *r, const struct tile *t)
{
    if (t == NULL || t->wrote == SITE_NONE)
        return (struct mma_factor){FORMAT_FP32, 0};
    return (struct mma_factor){r->policy->site[t->wrote].format,
                               r->policy->site[t->wrote].scale_log2};
}

void sum_factors(struct sum *s, const struct run *r, enum site site, const struct tile *a,
                 const struct tile *b)
{
    if (s->order->kind == ORDER_MMA)
        s->step = mma_step_of(s->order->mma, factor_of(r, a), factor_of(r, b),
                              r->policy->site[site].format);
}
