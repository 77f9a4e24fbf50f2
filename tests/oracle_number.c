/* oracle_number.c: the oracle's numbers: one operation, one rounding, by MPFR; and its policies.

   MPFR rounds the operation to the format's precision with an unbounded exponent and says on which
   side it fell; mpfr_check_range and mpfr_subnormalize use that to round once, not twice, near the
   ends of the format's range. */
#include "tests/oracle_attention.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

struct shape {
    int bits, precision, emin, emax;
    bool infinities;
};

static const struct shape shapes[] = {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning) {bits, p, emin, emax, inf},
#include "reference/formats.def"
#undef FORMAT
};

static const struct shape *shape_of(enum format f)
{
    return &shapes[f == FORMAT_EXACT ? FORMAT_FP64 : f];
}

static double flushed(enum format f, double x)
{
    return f == FORMAT_FP32_FTZ && fabs(x) < ldexp(1, shapes[f].emin) ? copysign(0, x) : x;
}

/* y: the result rounded to f's precision, any exponent; inexact: its sign is that of y - result. */
static double fitted(mpfr_t y, int inexact, enum format f, bool saturate)
{
    const struct shape *s = shape_of(f);
    if (mpfr_nan_p(y))
        return NAN;
    if (mpfr_regular_p(y)) {
        mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
        /* MPFR's significands are in [1/2, 1): exponents are one higher than ours. */
        mpfr_set_emin(s->emin - s->precision + 2);
        mpfr_set_emax(s->emax + 1);
        inexact = mpfr_check_range(y, inexact, MPFR_RNDN);
        mpfr_subnormalize(y, inexact, MPFR_RNDN);
        mpfr_set_emin(emin);
        mpfr_set_emax(emax);
    }
    double x = mpfr_get_d(y, MPFR_RNDN);
    /* Without infinities the code of all ones is the NaN: one number fewer at the top. */
    double largest = ldexp(2 - ldexp(s->infinities ? 1 : 2, 1 - s->precision), s->emax);
    if (fabs(x) > largest) {
        if (saturate && s->bits == 8)
            return copysign(largest, x);
        return s->infinities ? copysign(INFINITY, x) : NAN;
    }
    return flushed(f, x);
}

double oracle_rounded(enum format f, bool saturate, enum oracle_operation operation, double a,
                      double b, double c)
{
    MPFR_DECL_INIT(x, 53);
    MPFR_DECL_INIT(y, 53);
    MPFR_DECL_INIT(z, 53);
    mpfr_t result;
    mpfr_init2(result, shape_of(f)->precision);
    mpfr_set_d(x, flushed(f, a), MPFR_RNDN);
    mpfr_set_d(y, flushed(f, b), MPFR_RNDN);
    mpfr_set_d(z, flushed(f, c), MPFR_RNDN);
    int inexact = 0;
    switch (operation) {
    case ORACLE_CONVERT:
        inexact = mpfr_set(result, x, MPFR_RNDN);
        break;
    case ORACLE_ADD:
        inexact = mpfr_add(result, x, y, MPFR_RNDN);
        break;
    case ORACLE_SUB:
        inexact = mpfr_sub(result, x, y, MPFR_RNDN);
        break;
    case ORACLE_MUL:
        inexact = mpfr_mul(result, x, y, MPFR_RNDN);
        break;
    case ORACLE_DIV:
        inexact = mpfr_div(result, x, y, MPFR_RNDN);
        break;
    case ORACLE_FMA:
        inexact = mpfr_fma(result, x, y, z, MPFR_RNDN);
        break;
    case ORACLE_EXP:
        inexact = mpfr_exp(result, x, MPFR_RNDN);
        break;
    case ORACLE_EXP2:
        inexact = mpfr_exp2(result, x, MPFR_RNDN);
        break;
    case ORACLE_LOG:
        inexact = mpfr_log(result, x, MPFR_RNDN);
        break;
    case ORACLE_TANH:
        inexact = mpfr_tanh(result, x, MPFR_RNDN);
        break;
    }
    double rounded = fitted(result, inexact, f, saturate);
    mpfr_clear(result);
    return rounded;
}

/* 400 bits on the way: value / sqrt(root) is a rounding boundary of f only when it is dyadic, and
   then it is exact here. */
double oracle_constant(enum format f, bool saturate, double value, int64_t root)
{
    assert(root >= 1);
    MPFR_DECL_INIT(quotient, 400);
    mpfr_t result;
    mpfr_init2(result, shape_of(f)->precision);
    mpfr_set_si(quotient, root, MPFR_RNDN);
    mpfr_sqrt(quotient, quotient, MPFR_RNDN);
    mpfr_d_div(quotient, value, quotient, MPFR_RNDN);
    int inexact = mpfr_set(result, quotient, MPFR_RNDN);
    double rounded = fitted(result, inexact, f, saturate);
    mpfr_clear(result);
    return rounded;
}

enum policy_column {
#define POLICY(id, name, meaning) COLUMN_##id,
#include "simulator/sites.def"
#undef POLICY
    COLUMN_COUNT
};

void oracle_policy(struct oracle *o, const char *policy)
{
    static const char *const names[COLUMN_COUNT] = {
#define POLICY(id, name, meaning) name,
#include "simulator/sites.def"
#undef POLICY
    };
    static const enum format formats[AT_COUNT][COLUMN_COUNT] = {
#define SITE(id, meaning, a, b, c, d, e, f)                                                        \
    {FORMAT_##a, FORMAT_##b, FORMAT_##c, FORMAT_##d, FORMAT_##e, FORMAT_##f},
#include "simulator/sites.def"
#undef SITE
    };
    static const int scales[AT_COUNT][COLUMN_COUNT] = {
#define SITE_SCALE(id, column, log2) [AT_##id][COLUMN_##column] = log2,
#include "simulator/sites.def"
#undef SITE_SCALE
    };
    int column = 0;
    while (column < COLUMN_COUNT && strcmp(names[column], policy) != 0)
        column++;
    assert(column < COLUMN_COUNT);
    for (int at = 0; at < AT_COUNT; at++) {
        o->site[at] = formats[at][column];
        o->scale_log2[at] = scales[at][column];
    }
    o->saturate = column == COLUMN_FP8;
}
