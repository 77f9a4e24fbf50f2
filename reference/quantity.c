/* quantity.c: see quantity.h.  Enclosures and the sign rule.

   Sums are integers: with |W_c - 2^p e^(x_c)| <= 1 (certified_row.h), sum C_c W_c is within
   sum |C_c| of 2^p sum C_c e^(x_c).  From there on MPFR rounds outwards.

   Algebraic or not.  Without softcap the s_c are algebraic and distinct, so by Lindemann and
   Weierstrass sum C_c e^(s_c) = 0 with rational C_c only if every C_c is 0.
   O = t:    C_c = a_c - t B_c, all 0 exactly when every class has mean t.
   LSE = t:  sum B_c e^(s_c) - e^t = 0 needs t = s_c and B_c = 1 for the only class: one key.
   One key and LSE = s = value dot / sqrt(root): rational when root is a square; otherwise, unless
   it is 0, irrational (if algebraic), and no tie or printed number is.  With softcap, one key:
   c tanh(s / c) is 0, +-c (an infinite dot product) or transcendental. */
#include "reference/quantity.h"

#include <assert.h>

enum value_kind quantity_kind(const struct quantity *q)
{
    return q->lse ? q->row->lse : q->row->column_kind;
}

bool quantity_unproved(const struct quantity *q)
{
    return q->row->head.problem->softcap > 0 && q->row->keys > 1;
}

static bool same_means(const struct certified_row *row)
{
    mpz_t left, right;
    mpz_inits(left, right, (mpz_ptr)0);
    bool same = true;
    for (int64_t c = 1; c < row->classes && same; c++) {
        mpz_mul_ui(left, row->a[c], (unsigned long)class_size(row, 0));
        mpz_mul_ui(right, row->a[0], (unsigned long)class_size(row, c));
        same = mpz_cmp(left, right) == 0;
    }
    mpz_clears(left, right, (mpz_ptr)0);
    return same;
}

static void times_power(mpq_t x, long exponent)
{
    if (exponent >= 0)
        mpq_mul_2exp(x, x, (mp_bitcnt_t)exponent);
    else
        mpq_div_2exp(x, x, (mp_bitcnt_t)-exponent);
}

bool quantity_rational(const struct quantity *q, mpq_t value)
{
    struct certified_row *row = q->row;
    if (q->lse)
        return row->keys == 1 && row_top_rational(row, value);
    if (!same_means(row))
        return false;
    mpq_set_z(value, row->a[0]);
    mpz_set_ui(mpq_denref(value), (unsigned long)class_size(row, 0));
    mpq_canonicalize(value);
    times_power(value, row->g);
    return true;
}

/* sum over c >= lead of C_c W_c, and the radius sum |C_c|. */
static void weighted_sum(mpz_t sum, mpz_t radius, const struct certified_row *row, mpz_t *C,
                         mpz_t *W, int64_t lead)
{
    mpz_set_ui(sum, 0);
    mpz_set_ui(radius, 0);
    for (int64_t c = lead; c < row->classes; c++) {
        mpz_addmul(sum, C[c], W[c]);
        if (mpz_sgn(C[c]) >= 0)
            mpz_add(radius, radius, C[c]);
        else
            mpz_sub(radius, radius, C[c]);
    }
}

static int64_t first_nonzero(const struct certified_row *row, mpz_t *C)
{
    int64_t c = 0;
    while (c < row->classes && mpz_sgn(C[c]) == 0)
        c++;
    assert(c < row->classes);
    return c;
}

/* [low, high] = [sum - radius, sum + radius] 2^exponent. */
static void interval(mpfr_t low, mpfr_t high, mpz_t sum, mpz_t radius, mpfr_exp_t exponent)
{
    mpz_t end;
    mpz_init(end);
    mpz_sub(end, sum, radius);
    mpfr_set_z_2exp(low, end, exponent, MPFR_RNDD);
    mpz_add(end, sum, radius);
    mpfr_set_z_2exp(high, end, exponent, MPFR_RNDU);
    mpz_clear(end);
}

/* [low, high] by something in [least, most], 0 < least. */
static void widen(mpfr_t low, mpfr_t high,
                  int (*operation)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t),
                  const mpfr_t for_low, const mpfr_t for_high)
{
    operation(low, low, for_low, MPFR_RNDD);
    operation(high, high, for_high, MPFR_RNDU);
}

/* Multiplies by e^(s_lead - s_0). */
static void restore_factor(struct certified_row *row, int64_t lead, mpfr_prec_t p, mpfr_t low,
                           mpfr_t high)
{
    mpfr_t x, radius, least, most;
    mpfr_init2(x, p);
    mpfr_inits2(p + 64, radius, least, most, (mpfr_ptr)0);
    row_shift(row, lead, 0, p + 8, x);
    mpfr_set_ui_2exp(radius, 1, -(mpfr_exp_t)p - 8, MPFR_RNDU);
    mpfr_sub(least, x, radius, MPFR_RNDD);
    mpfr_add(most, x, radius, MPFR_RNDU);
    mpfr_exp(least, least, MPFR_RNDD);
    mpfr_exp(most, most, MPFR_RNDU);
    widen(low, high, mpfr_mul, mpfr_sgn(low) >= 0 ? least : most,
          mpfr_sgn(high) >= 0 ? most : least);
    mpfr_clears(x, radius, least, most, (mpfr_ptr)0);
}

static void enclose_output(struct certified_row *row, mpfr_prec_t *p, bool factored, mpfr_t low,
                           mpfr_t high)
{
    int64_t lead = factored ? first_nonzero(row, row->a) : 0;
    mpz_t sum, radius;
    mpfr_t least, most;
    mpz_inits(sum, radius, (mpz_ptr)0);
    row_weights(row, 0, p);
    mpfr_prec_t q = *p;
    mpz_t *W = row_weights(row, lead, &q);
    weighted_sum(sum, radius, row, row->a, W, lead);
    mpfr_set_prec(low, q + 64);
    mpfr_set_prec(high, q + 64);
    interval(low, high, sum, radius, row->g);
    mpfr_inits2(q + 64, least, most, (mpfr_ptr)0);
    mpz_set_ui(radius, (unsigned long)row->keys);
    interval(least, most, row->total, radius, 0);
    widen(low, high, mpfr_div, mpfr_sgn(low) >= 0 ? most : least,
          mpfr_sgn(high) >= 0 ? least : most);
    if (lead > 0)
        restore_factor(row, lead, q, low, high);
    mpfr_clears(least, most, (mpfr_ptr)0);
    mpz_clears(sum, radius, (mpz_ptr)0);
}

/* [low, high] encloses ln sum B_c e^(s_c - s_0).  `factored`, and one key at the maximum: as
   log1p(e^(s_1 - s_0) sum over c >= 1 of B_c e^(s_c - s_1)). */
static void enclose_logarithm(struct certified_row *row, mpfr_prec_t p, bool factored, mpfr_t low,
                              mpfr_t high)
{
    mpz_t sum, radius;
    mpz_inits(sum, radius, (mpz_ptr)0);
    if (factored && row->classes > 1 && class_size(row, 0) == 1) {
        mpz_t *W = row_weights(row, 1, &p);
        for (int64_t c = 1; c < row->classes; c++)
            mpz_addmul_ui(sum, W[c], (unsigned long)class_size(row, c));
        mpz_set_ui(radius, (unsigned long)row->keys);
        interval(low, high, sum, radius, -(mpfr_exp_t)p);
        restore_factor(row, 1, p, low, high);
        mpfr_log1p(low, low, MPFR_RNDD);
        mpfr_log1p(high, high, MPFR_RNDU);
    } else {
        mpz_set_ui(radius, row->classes > 1 ? (unsigned long)row->keys : 0);
        interval(low, high, row->total, radius, -(mpfr_exp_t)row->p);
        mpfr_log(low, low, MPFR_RNDD);
        mpfr_log(high, high, MPFR_RNDU);
    }
    mpz_clears(sum, radius, (mpz_ptr)0);
}

static void enclose_lse(struct certified_row *row, mpfr_prec_t *p, bool factored, mpfr_t low,
                        mpfr_t high)
{
    mpfr_t s, radius;
    row_weights(row, 0, p);
    mpfr_init2(s, *p);
    bool exact = row_score(row, 0, *p, s);
    mpfr_prec_t working = mpfr_get_prec(s) + 64;
    mpfr_set_prec(low, working);
    mpfr_set_prec(high, working);
    mpfr_init2(radius, working);
    enclose_logarithm(row, *p, factored, low, high);
    mpfr_set_ui_2exp(radius, exact ? 0 : 1, -(mpfr_exp_t)*p, MPFR_RNDU);
    widen(low, high, mpfr_add, s, s);
    mpfr_sub(low, low, radius, MPFR_RNDD);
    mpfr_add(high, high, radius, MPFR_RNDU);
    mpfr_clears(s, radius, (mpfr_ptr)0);
}

void quantity_enclose(const struct quantity *q, mpfr_prec_t *p, bool factored, mpfr_t low,
                      mpfr_t high)
{
    if (q->lse)
        enclose_lse(q->row, p, factored, low, high);
    else
        enclose_output(q->row, p, factored, low, high);
}

/* C_c = a_c den - num B_c for t = 2^g num / den: sum C_c e^(x_c) has the sign of O - t. */
static mpz_t *differences(struct certified_row *row, const mpq_t t)
{
    mpq_t scaled;
    mpq_init(scaled);
    mpq_set(scaled, t);
    times_power(scaled, -(long)row->g);
    mpz_t *C = row_integers(row->classes);
    for (int64_t c = 0; c < row->classes; c++) {
        mpz_mul(C[c], row->a[c], mpq_denref(scaled));
        mpz_submul_ui(C[c], mpq_numref(scaled), (unsigned long)class_size(row, c));
    }
    mpq_clear(scaled);
    return C;
}

static int output_side(struct certified_row *row, const mpq_t t, mpfr_prec_t *p, mpfr_prec_t limit)
{
    mpz_t *C = differences(row, t), sum, radius;
    mpz_inits(sum, radius, (mpz_ptr)0);
    int64_t lead = first_nonzero(row, C);
    int side = 0;
    for (;; *p *= 2) {
        mpz_t *W = row_weights(row, lead, p);
        weighted_sum(sum, radius, row, C, W, lead);
        if (mpz_cmpabs(sum, radius) > 0)
            side = mpz_sgn(sum);
        if (side != 0 || (limit != 0 && *p >= limit))
            break;
    }
    mpz_clears(sum, radius, (mpz_ptr)0);
    row_free_integers(C, row->classes);
    return side;
}

/* ln of a sum over two keys or more: LSE > s_0, so a t equal to s_0 (the only coincidence that no
   precision resolves when the other keys are far below) is settled at once. */
static int lse_side(const struct quantity *q, const mpq_t t, mpfr_prec_t *p, mpfr_prec_t limit)
{
    if (q->row->keys > 1 && row_top_equals(q->row, t))
        return 1;
    mpfr_t low, high;
    mpfr_inits2(64, low, high, (mpfr_ptr)0);
    int side = 0;
    for (;; *p *= 2) {
        enclose_lse(q->row, p, true, low, high);
        side = mpfr_cmp_q(low, t) > 0 ? 1 : mpfr_cmp_q(high, t) < 0 ? -1 : 0;
        if (side != 0 || (limit != 0 && *p >= limit))
            break;
    }
    mpfr_clears(low, high, (mpfr_ptr)0);
    return side;
}

int quantity_side(const struct quantity *q, const mpq_t t, mpfr_prec_t *p, mpfr_prec_t limit)
{
    return q->lse ? lse_side(q, t, p, limit) : output_side(q->row, t, p, limit);
}
