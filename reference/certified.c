/* certified.c: the decisions.  See certified.h for what is promised, quantity.c for the proofs.

   A question (round to a format, print N digits) has an answer that is a monotone step function of
   the true value.  It is put to both ends of an enclosure; when they answer alike it is settled.
   Otherwise precision doubles, and from the third round on, when the two answers are neighbours,
   the one boundary t between them is compared with the value itself (quantity_side). */
#include "reference/certified.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/decimal.h"
#include "reference/quantity.h"

enum { FIRST_BITS = 96, ROUNDS_BEFORE_SIGN_RULE = 2 };

struct question {
    enum format f;
    int digits;        /* 0: rounding to f */
    double rounded[2]; /* the answers at low and at high */
    struct decimal decimal[2];
    int answer; /* which of them it is */
};

double certified_round_real(const mpfr_t x, enum format f)
{
    if (f == FORMAT_FP64 || f == FORMAT_EXACT)
        return mpfr_get_d(x, MPFR_RNDN);
    double y = mpfr_get_d(x, MPFR_RNDZ);
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    if (mpfr_cmp_d(x, y) != 0)
        bits |= 1;
    memcpy(&y, &bits, sizeof bits);
    return format_round(f, y, false);
}

static bool same_sign(double a, double b)
{
    return !signbit(a) == !signbit(b);
}

/* Puts the question to low and high.  An overflow to NaN has forgotten its sign. */
static bool answers_agree(struct question *ask, const mpfr_t low, const mpfr_t high)
{
    if (ask->digits == 0) {
        double a = ask->rounded[0] = certified_round_real(low, ask->f);
        double b = ask->rounded[1] = certified_round_real(high, ask->f);
        return isnan(a) && isnan(b) ? mpfr_sgn(low) == mpfr_sgn(high) : a == b && same_sign(a, b);
    }
    decimal_free(&ask->decimal[0]);
    decimal_free(&ask->decimal[1]);
    ask->decimal[0] = decimal_of_real(low, ask->digits);
    ask->decimal[1] = decimal_of_real(high, ask->digits);
    return decimal_equal(&ask->decimal[0], &ask->decimal[1]);
}

/* t = a + step / divisor. */
static bool step_from(double a, double step, unsigned long divisor, mpq_t t)
{
    mpq_t part;
    mpq_init(part);
    mpq_set_d(part, step);
    mpz_mul_ui(mpq_denref(part), mpq_denref(part), divisor);
    mpq_canonicalize(part);
    mpq_set_d(t, a);
    mpq_add(t, t, part);
    mpq_clear(part);
    return true;
}

/* The boundary between neighbouring values a, b of f, a from below: their midpoint; where the
   finite numbers end, half a step beyond the last; fp32-ftz rounds to fp32 before it flushes. */
static bool format_between(enum format f, double a, double b, mpq_t t)
{
    double largest = format_info(f)->largest, end_step = format_ulp(f, largest);
    if (a == 0 && b == 0)
        return step_from(0, 0, 1, t);
    if (!isfinite(b))
        return a == largest && step_from(largest, end_step, 2, t);
    if (!isfinite(a))
        return b == -largest && step_from(-largest, -end_step, 2, t);
    if (format_next(f, a, 1) != b || ((a == 0 || b == 0) && !same_sign(a, b)))
        return false;
    if (f == FORMAT_FP32_FTZ && (a == 0 || b == 0))
        return a == 0 ? step_from(b, -0x1p-149, 2, t) : step_from(a, 0x1p-149, 2, t);
    return step_from(a, fabs(a) > fabs(b) ? format_ulp(f, b) : format_ulp(f, a), 2, t);
}

static bool boundary(const struct question *ask, mpq_t t)
{
    if (ask->digits > 0)
        return decimal_between(&ask->decimal[0], &ask->decimal[1], t);
    return format_between(ask->f, ask->rounded[0], ask->rounded[1], t);
}

/* The answer of the proved side counts, and the enclosure is cut at t. */
static void take_side(struct question *ask, int side, const mpq_t t, struct certified *c)
{
    ask->answer = side > 0;
    if (side > 0 && mpfr_cmp_q(c->low, t) < 0)
        mpfr_set_q(c->low, t, MPFR_RNDD);
    if (side < 0 && mpfr_cmp_q(c->high, t) > 0)
        mpfr_set_q(c->high, t, MPFR_RNDU);
}

/* The value lies where MPFR's exponents (2^30) end. */
static bool out_of_reach(const struct certified *c)
{
    const mpfr_exp_t least = -((mpfr_exp_t)1 << 29);
    return (mpfr_zero_p(c->low) && mpfr_regular_p(c->high) && mpfr_get_exp(c->high) < least) ||
           (mpfr_zero_p(c->high) && mpfr_regular_p(c->low) && mpfr_get_exp(c->low) < least);
}

static void settle(const struct quantity *q, struct question *ask, struct certified *c)
{
    mpfr_prec_t limit = quantity_unproved(q) ? CERTIFIED_SOFTCAP_BITS : 0;
    c->precision = FIRST_BITS + 4 * (mpfr_prec_t)ask->digits;
    mpq_t t;
    mpq_init(t);
    for (int round = 0;; round++, c->precision *= 2) {
        bool late = round >= ROUNDS_BEFORE_SIGN_RULE;
        quantity_enclose(q, &c->precision, late, c->low, c->high);
        c->decided = ask->digits == 0 || !late || !out_of_reach(c);
        if (!c->decided || answers_agree(ask, c->low, c->high))
            break;
        int side = late && boundary(ask, t) ? quantity_side(q, t, &c->precision, limit) : 0;
        if (side != 0) {
            take_side(ask, side, t, c);
            break;
        }
        c->decided = limit == 0 || c->precision < limit;
        if (!c->decided)
            break;
    }
    mpq_clear(t);
}

/* The middle of x's 128-bit neighbours when x is not one: on x's side of every boundary of a
   format. */
static void enclose_rational(const mpq_t x, mpfr_t low, mpfr_t high, mpfr_t middle)
{
    mpfr_prec_t binary = (mpfr_prec_t)mpz_sizeinbase(mpq_numref(x), 2);
    size_t twos = mpz_scan1(mpq_denref(x), 0);
    bool dyadic = mpz_sizeinbase(mpq_denref(x), 2) == twos + 1;
    mpfr_prec_t p = dyadic && binary > 128 ? binary : 128;
    mpfr_set_prec(low, p);
    mpfr_set_prec(high, p);
    mpfr_set_prec(middle, p + 1);
    mpfr_set_q(low, x, MPFR_RNDD);
    mpfr_set_q(high, x, MPFR_RNDU);
    mpfr_add(middle, low, high, MPFR_RNDN);
    mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
}

static void answer_rational(const mpq_t x, struct question *ask, struct certified *c)
{
    mpfr_t middle;
    mpfr_init2(middle, 129);
    enclose_rational(x, c->low, c->high, middle);
    c->rational = true;
    c->precision = 0;
    if (ask->digits > 0)
        ask->decimal[0] = decimal_of_rational(x, ask->digits);
    else
        ask->rounded[0] = mpfr_zero_p(middle) ? 0 : certified_round_real(middle, ask->f);
    mpfr_clear(middle);
}

static double special_value(enum value_kind kind)
{
    return kind == VALUE_NAN        ? NAN
           : kind == VALUE_ZERO     ? 0
           : kind == VALUE_PLUS_INF ? INFINITY
                                    : -INFINITY;
}

static void answer_special(enum value_kind kind, struct question *ask, struct certified *c)
{
    c->kind = kind == VALUE_NAN         ? CERTIFIED_NAN
              : kind == VALUE_PLUS_INF  ? CERTIFIED_PLUS_INF
              : kind == VALUE_MINUS_INF ? CERTIFIED_MINUS_INF
                                        : CERTIFIED_FINITE;
    c->rational = kind == VALUE_ZERO;
    c->precision = 0;
    mpfr_set_d(c->low, special_value(kind), MPFR_RNDN);
    mpfr_set_d(c->high, special_value(kind), MPFR_RNDN);
    ask->rounded[0] = format_round(ask->f, special_value(kind), false);
}

static void put(const struct quantity *q, struct question *ask, struct certified *c)
{
    mpq_t value;
    mpq_init(value);
    c->kind = CERTIFIED_FINITE;
    c->decided = true;
    c->rational = false;
    if (quantity_kind(q) != VALUE_FINITE)
        answer_special(quantity_kind(q), ask, c);
    else if (quantity_rational(q, value))
        answer_rational(value, ask, c);
    else
        settle(q, ask, c);
    mpq_clear(value);
}

static double rounded(const struct quantity *q, enum format f, struct certified *c)
{
    struct question ask = {.f = f};
    struct certified own;
    certified_init(&own);
    put(q, &ask, c != NULL ? c : &own);
    certified_clear(&own);
    return ask.rounded[ask.answer];
}

static char *copied(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    assert(copy);
    return strcpy(copy, text);
}

static char *printed(const struct quantity *q, int digits, struct certified *c)
{
    assert(digits >= 1);
    struct question ask = {.f = FORMAT_EXACT, .digits = digits};
    struct certified own;
    certified_init(&own);
    c = c != NULL ? c : &own;
    put(q, &ask, c);
    enum value_kind kind = quantity_kind(q);
    char *text = kind == VALUE_NAN                ? copied("nan")
                 : kind == VALUE_ZERO             ? copied("0")
                 : !c->decided && out_of_reach(c) ? copied(mpfr_sgn(c->high) > 0 ? "0" : "-0")
                 : kind == VALUE_PLUS_INF         ? copied("inf")
                 : kind == VALUE_MINUS_INF        ? copied("-inf")
                                                  : decimal_print(&ask.decimal[ask.answer], digits);
    decimal_free(&ask.decimal[0]);
    decimal_free(&ask.decimal[1]);
    certified_clear(&own);
    return text;
}

void certified_init(struct certified *c)
{
    *c = (struct certified){.kind = CERTIFIED_NAN};
    mpfr_inits2(64, c->low, c->high, (mpfr_ptr)0);
}

void certified_clear(struct certified *c)
{
    mpfr_clears(c->low, c->high, (mpfr_ptr)0);
}

static struct quantity output_of(struct certified_row *row, int64_t d, bool absolute)
{
    row_load(row, d, absolute);
    return (struct quantity){row, false};
}

double certified_round(struct certified_row *row, int64_t d, enum format f, struct certified *c)
{
    struct quantity q = output_of(row, d, false);
    return rounded(&q, f, c);
}

double certified_round_lse(struct certified_row *row, enum format f, struct certified *c)
{
    struct quantity q = {row, true};
    return rounded(&q, f, c);
}

char *certified_digits(struct certified_row *row, int64_t d, int digits, struct certified *c)
{
    struct quantity q = output_of(row, d, false);
    return printed(&q, digits, c);
}

char *certified_digits_lse(struct certified_row *row, int digits, struct certified *c)
{
    struct quantity q = {row, true};
    return printed(&q, digits, c);
}

/* Precision rises until both ends are neighbours at x's precision or nearer. */
static void approximate(const struct quantity *q, mpfr_t x)
{
    struct certified c;
    mpfr_t high;
    certified_init(&c);
    mpfr_init2(high, mpfr_get_prec(x));
    mpfr_prec_t p = mpfr_get_prec(x) + 32;
    for (int round = 0;; round++, p *= 2) {
        quantity_enclose(q, &p, round >= ROUNDS_BEFORE_SIGN_RULE, c.low, c.high);
        mpfr_set(x, c.low, MPFR_RNDN);
        mpfr_set(high, c.high, MPFR_RNDN);
        bool settled = mpfr_sgn(x) == mpfr_sgn(high);
        if (settled && mpfr_less_p(x, high)) {
            mpfr_nextabove(x);
            settled = mpfr_equal_p(x, high) != 0;
        }
        bool capped = quantity_unproved(q) && p >= CERTIFIED_SOFTCAP_BITS;
        if (settled || capped || (round >= ROUNDS_BEFORE_SIGN_RULE && out_of_reach(&c)))
            break;
    }
    mpfr_clear(high);
    certified_clear(&c);
}

static void value_of(const struct quantity *q, mpfr_t x)
{
    mpq_t value;
    mpq_init(value);
    if (quantity_kind(q) != VALUE_FINITE)
        mpfr_set_d(x, special_value(quantity_kind(q)), MPFR_RNDN);
    else if (quantity_rational(q, value))
        mpfr_set_q(x, value, MPFR_RNDN);
    else
        approximate(q, x);
    mpq_clear(value);
}

double certified_weight(struct certified_row *row, int64_t d)
{
    struct quantity q = output_of(row, d, true);
    mpfr_t x;
    mpfr_init2(x, 64);
    value_of(&q, x);
    double weight = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return weight;
}

void certified_value(struct certified_row *row, int64_t d, mpfr_t x)
{
    struct quantity q = output_of(row, d, false);
    value_of(&q, x);
}

void certified_value_lse(struct certified_row *row, mpfr_t x)
{
    struct quantity q = {row, true};
    value_of(&q, x);
}
