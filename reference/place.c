/* place.c: see place.h.

   The text is rounded to odd at 8,192 bits: cut towards zero, the last bit set when anything was
   cut off.  Numbers of a format and the midpoints between them have at most 2,200 bits, so what remains
   lies on the same side of each of them as the text does, and can be treated as the text itself. */
#include "reference/place.h"

#include <ctype.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

enum { PRECISION = 8192, LONGEST = 4096 };

/* Sets the last bit of x, which was cut towards zero. */
static void make_odd(mpfr_t x)
{
    mpfr_t shorter;
    mpfr_init2(shorter, PRECISION - 1);
    bool odd = mpfr_set(shorter, x, MPFR_RNDZ) != 0;
    if (!odd && mpfr_sgn(x) > 0)
        mpfr_nextabove(x);
    else if (!odd)
        mpfr_nextbelow(x);
    mpfr_clear(shorter);
}

static bool read_text(const char *text, mpfr_t x, struct message *why)
{
    char *end;
    if (strlen(text) > LONGEST)
        return refuse(why, "a number of %zu characters; at most %d are read", strlen(text),
                      (int)LONGEST);
    bool inexact = mpfr_strtofr(x, text, &end, 0, MPFR_RNDZ) != 0;
    if (end == text || *end != 0 || isspace((unsigned char)text[0]))
        return refuse(why, "%.60s is no number; 0.1, 1e-40, 0x1.8p-3, inf and nan are", text);
    if (inexact)
        make_odd(x);
    return true;
}

/* Rounding to odd once more, to a double: it then rounds as x to any format of at most 51 bits. */
static double odd_double(const mpfr_t x)
{
    union {
        double value;
        uint64_t bits;
    } u = {.value = mpfr_get_d(x, MPFR_RNDZ)};
    if (mpfr_cmp_d(x, u.value) != 0)
        u.bits |= 1;
    return u.value;
}

static double nearest(const mpfr_t x, enum format f)
{
    return f == FORMAT_FP64 ? mpfr_get_d(x, MPFR_RNDN) : format_round(f, odd_double(x), false);
}

static bool halfway(const mpfr_t x, enum format f, const struct decimal_place *place)
{
    double other = format_next(f, place->value, place->side);
    if (place->side == 0 || !isfinite(other))
        return false;
    mpfr_t middle;
    mpfr_init2(middle, 2200);
    mpfr_set_d(middle, place->value, MPFR_RNDN);
    mpfr_add_d(middle, middle, other, MPFR_RNDN);
    mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    bool tie = mpfr_equal_p(middle, x);
    mpfr_clear(middle);
    return tie;
}

static double distance(const mpfr_t x, enum format f, double value)
{
    mpfr_t d;
    mpfr_init2(d, PRECISION);
    mpfr_sub_d(d, x, value, MPFR_RNDN);
    mpfr_div_d(d, d, format_ulp(f, value), MPFR_RNDN);
    double ulps = mpfr_get_d(d, MPFR_RNDN);
    mpfr_clear(d);
    return ulps;
}

bool decimal_place(const char *text, enum format f, struct decimal_place *place,
                   struct message *why)
{
    mpfr_t x;
    *place = (struct decimal_place){0};
    mpfr_init2(x, PRECISION);
    bool ok = read_text(text, x, why);
    if (ok && !mpfr_number_p(x)) {
        place->value = format_round(f, mpfr_get_d(x, MPFR_RNDN), false);
        if (isnan(place->value) && !mpfr_nan_p(x)) /* e4m3 has no infinity */
            place->side = mpfr_sgn(x) > 0 ? -1 : 1;
    } else if (ok) {
        place->value = nearest(x, f);
        if (isfinite(place->value)) {
            int order = mpfr_cmp_d(x, place->value);
            place->side = (order > 0) - (order < 0);
            place->tie = halfway(x, f, place);
            place->ulps = distance(x, f, place->value);
        } else {
            place->side = mpfr_sgn(x) > 0 ? -1 : 1; /* overflow: beyond the text */
        }
    }
    mpfr_clear(x);
    return ok;
}
