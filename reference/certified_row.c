/* certified_row.c: see certified_row.h.  The integer weights, and why their radius is 1.

   row_shift gives x within 2^-(p + 4) of x_c; e^x <= 2 there and its rounding at p + 8 bits adds
   less than 2^-(p + 6), so 2^p e^x is within 1/8 of the true weight; rounding to an integer adds
   1/2.  Where x < -0.7 (p + 3) the weight is below 2^-p and 0 will do; classes further down have
   smaller weights still.

   Scores.  factor = value / sqrt(root) takes two roundings at w bits, dot differences one, the
   product one: relative error 4.1 * 2^-w of a number below 2^E.  Softcap: six roundings (tanh's
   relative condition number is at most 1) on each of two scores, and the subtraction:
   15 * 2^(E - w).  So w = q + E + 5 gives an absolute error below 2^-q. */
#include "reference/certified_row.h"

#include <limits.h>
#include <math.h>

#include "reference/dyadic.h"

/* factor to at least w bits. */
static void refine_factor(struct certified_row *row, mpfr_prec_t w)
{
    if (mpfr_get_prec(row->factor) >= w && !mpfr_nan_p(row->factor))
        return;
    const struct scale *scale = &row->head.problem->scale;
    mpfr_set_prec(row->factor, w);
    mpfr_sqrt_ui(row->factor, (unsigned long)scale->root, MPFR_RNDN);
    mpfr_d_div(row->factor, scale->value, row->factor, MPFR_RNDN);
}

/* E >= 0 with |s| < 2^E for a class of this dot product. */
static long bits_above_one(const struct certified_row *row, const mpfr_t dot)
{
    const struct problem *p = row->head.problem;
    long cap = p->softcap > 0 ? ilogb(p->softcap) + 1 : LONG_MAX;
    long score = mpfr_inf_p(dot) ? cap : 0;
    if (mpfr_regular_p(dot) && p->scale.value != 0)
        score = (long)mpfr_get_exp(dot) + ilogb(p->scale.value) + 1;
    long least = score < cap ? score : cap;
    return least > 0 ? least : 0;
}

/* c tanh(factor dot / c) at w bits. */
static void capped_score(struct certified_row *row, int64_t c, mpfr_prec_t w, mpfr_t x)
{
    double cap = row->head.problem->softcap;
    refine_factor(row, w);
    mpfr_set_prec(x, w);
    mpfr_mul(x, row->dot[c], row->factor, MPFR_RNDN);
    mpfr_div_d(x, x, cap, MPFR_RNDN);
    mpfr_tanh(x, x, MPFR_RNDN);
    mpfr_mul_d(x, x, cap, MPFR_RNDN);
}

bool row_score(struct certified_row *row, int64_t c, mpfr_prec_t q, mpfr_t x)
{
    mpfr_prec_t w = q + bits_above_one(row, row->dot[c]) + 64;
    if (row->head.problem->softcap > 0) {
        capped_score(row, c, w, x);
        return !mpfr_regular_p(row->dot[c]) || row->head.problem->scale.value == 0;
    }
    refine_factor(row, w);
    mpfr_set_prec(x, w);
    mpfr_mul(x, row->dot[c], row->factor, MPFR_RNDN);
    return mpfr_zero_p(x);
}

void row_shift(struct certified_row *row, int64_t c, int64_t lead, mpfr_prec_t q, mpfr_t x)
{
    long upper = bits_above_one(row, row->dot[lead]), own = bits_above_one(row, row->dot[c]);
    mpfr_prec_t w = q + 1 + (own > upper ? own : upper) + 5;
    if (row->head.problem->softcap > 0) {
        mpfr_t top;
        mpfr_init2(top, w);
        capped_score(row, lead, w, top);
        capped_score(row, c, w, x);
        mpfr_sub(x, x, top, MPFR_RNDN);
        mpfr_clear(top);
        return;
    }
    refine_factor(row, w);
    mpfr_set_prec(x, w);
    mpfr_sub(x, row->dot[c], row->dot[lead], MPFR_RNDN);
    mpfr_mul(x, x, row->factor, MPFR_RNDN);
}

static void fill_weights(struct certified_row *row, int64_t lead, mpfr_prec_t p, mpz_t *W)
{
    mpfr_t x, e;
    mpfr_init2(x, p);
    mpfr_init2(e, p + 8);
    mpz_set_ui(W[lead], 1);
    mpz_mul_2exp(W[lead], W[lead], (mp_bitcnt_t)p);
    int64_t c = lead + 1;
    for (; c < row->classes; c++) {
        row_shift(row, c, lead, p + 4, x);
        if (mpfr_cmp_d(x, -0.7 * ((double)p + 3)) < 0)
            break;
        mpfr_exp(e, x, MPFR_RNDN);
        mpfr_mul_2si(e, e, p, MPFR_RNDN);
        mpfr_get_z(W[c], e, MPFR_RNDN);
    }
    for (; c < row->classes; c++)
        mpz_set_ui(W[c], 0);
    mpfr_clears(x, e, (mpfr_ptr)0);
}

mpz_t *row_weights(struct certified_row *row, int64_t lead, mpfr_prec_t *p)
{
    if (lead > 0) {
        fill_weights(row, lead, *p, row->temporary);
        return row->temporary;
    }
    if (row->p < *p) {
        fill_weights(row, 0, *p, row->W);
        row->p = *p;
        mpz_set_ui(row->total, 0);
        for (int64_t c = 0; c < row->classes; c++)
            mpz_addmul_ui(row->total, row->W[c], (unsigned long)class_size(row, c));
    }
    *p = row->p;
    return row->W;
}

bool row_top_rational(const struct certified_row *row, mpq_t s)
{
    const struct problem *p = row->head.problem;
    mpfr_srcptr dot = row->dot[0];
    mpq_set_ui(s, 0, 1);
    if (mpfr_zero_p(dot) || p->scale.value == 0)
        return true;
    if (p->softcap > 0) {
        if (mpfr_inf_p(dot))
            mpq_set_d(s, (mpfr_sgn(dot) > 0) == (p->scale.value > 0) ? p->softcap : -p->softcap);
        return mpfr_inf_p(dot) != 0;
    }
    if (row->root == 0)
        return false;
    mpq_t factor;
    mpq_init(factor);
    mpfr_get_q(s, dot);
    mpq_set_d(factor, p->scale.value);
    mpq_mul(s, s, factor);
    mpq_set_si(factor, row->root, 1);
    mpq_div(s, s, factor);
    mpq_clear(factor);
    return true;
}

bool row_top_equals(const struct certified_row *row, const mpq_t t)
{
    mpq_t s;
    mpq_init(s);
    bool equal = row_top_rational(row, s) && mpq_equal(s, t);
    mpq_clear(s);
    return equal;
}

/* a = v 2^-g, an integer. */
static void set_value(mpz_t a, double v, int g)
{
    struct dyadic value = dyadic_of(v);
    int shift = value.odd != 0 ? value.exponent - g : 0;
    if (shift < 10) { /* odd is below 2^53 */
        mpz_set_si(a, value.odd * (INT64_C(1) << shift));
    } else {
        mpz_set_si(a, value.odd);
        mpz_mul_2exp(a, a, (mp_bitcnt_t)shift);
    }
}

static void read_block(struct certified_row *row, int64_t block)
{
    const struct head *h = &row->head;
    int64_t from = block * COLUMNS, to = from + COLUMNS < h->D ? from + COLUMNS : h->D;
    for (int64_t j = 0; j < row->keys + row->weightless; j++)
        for (int64_t d = from; d < to; d++)
            row->values[j * COLUMNS + d - from] =
                tensor_get(&h->problem->v, h->batch, h->kv_head, h->k0 + row->key[j], d);
    row->block = block;
}

static double value_at(const struct certified_row *row, int64_t j)
{
    double v = row->values[j * COLUMNS + row->column % COLUMNS];
    return row->absolute ? fabs(v) : v;
}

/* What infinities and NaN make of O, VALUE_FINITE when there are none; sets g.  An infinity under a
   weight of exactly 0 is a NaN. */
static enum value_kind scan_column(struct certified_row *row)
{
    const int none = 1 << 20;
    bool plus = false, minus = false;
    row->g = none;
    for (int64_t j = 0; j < row->keys + row->weightless; j++) {
        double v = value_at(row, j);
        if (isnan(v) || (isinf(v) && j >= row->keys))
            return VALUE_NAN;
        plus |= isinf(v) && v > 0;
        minus |= isinf(v) && v < 0;
        if (isfinite(v) && v != 0) {
            int exponent = dyadic_of(v).exponent;
            row->g = exponent < row->g ? exponent : row->g;
        }
    }
    if (plus || minus)
        return plus && minus ? VALUE_NAN : plus ? VALUE_PLUS_INF : VALUE_MINUS_INF;
    return row->g == none ? VALUE_ZERO : VALUE_FINITE;
}

/* Sets a; VALUE_ZERO when every class sums to 0. */
static enum value_kind sum_classes(struct certified_row *row)
{
    mpz_t term;
    mpz_init(term);
    bool any = false;
    for (int64_t c = 0; c < row->classes; c++) {
        set_value(row->a[c], value_at(row, row->first[c]), row->g);
        for (int64_t j = row->first[c] + 1; j < row->first[c + 1]; j++) {
            set_value(term, value_at(row, j), row->g);
            mpz_add(row->a[c], row->a[c], term);
        }
        any |= mpz_sgn(row->a[c]) != 0;
    }
    mpz_clear(term);
    return any ? VALUE_FINITE : VALUE_ZERO;
}

void row_load(struct certified_row *row, int64_t d, bool absolute)
{
    if (row->column == d && row->absolute == absolute)
        return;
    row->column = d;
    row->absolute = absolute;
    row->column_kind = row->output;
    if (row->output != VALUE_FINITE)
        return;
    if (row->block != d / COLUMNS)
        read_block(row, d / COLUMNS);
    row->column_kind = scan_column(row);
    if (row->column_kind == VALUE_FINITE)
        row->column_kind = sum_classes(row);
}
