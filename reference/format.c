/* format.c: number formats, from the bits of a double (IEEE 754 binary64), one number at a time.

   A magnitude is either (significand, exponent), the significand an integer below 2^53 in units of
   the last place of the double, or a code: its number among the format's magnitudes in increasing
   order, which is also its encoding without the sign (tf32's low 13 zero bits left out).
   Nothing here depends on the processor's conversions or rounding mode.  e4m3 and e5m2 follow the
   OCP 8-bit floating point specification, whose `saturate` turns infinities, too, into the largest
   number; so it does in every format here. */
#include "reference/format.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "reference/message.h"

/* 2^k, 0 <= k < 1024, as a constant expression. */
#define BIT(k, i, power) (((k) >> (i)) & 1 ? (power) : 1.0)
#define POWER_OF_TWO(k)                                                                            \
    (BIT(k, 0, 0x1p1) * BIT(k, 1, 0x1p2) * BIT(k, 2, 0x1p4) * BIT(k, 3, 0x1p8) *                   \
     BIT(k, 4, 0x1p16) * BIT(k, 5, 0x1p32) * BIT(k, 6, 0x1p64) * BIT(k, 7, 0x1p128) *              \
     BIT(k, 8, 0x1p256) * BIT(k, 9, 0x1p512))
/* All p significand bits set, at emax.  Without infinities that code is the NaN: one less. */
#define LARGEST(p, emax, inf)                                                                      \
    ((p) == 0 ? INFINITY                                                                           \
              : (double)((UINT64_C(1) << (p)) - ((inf) ? 1 : 2)) * POWER_OF_TWO((emax) - (p) + 1))

static const struct format_info formats[FORMAT_COUNT] = {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning)                                        \
    {name, bits, p, emin, emax, inf, LARGEST(p, emax, inf), meaning},
#include "reference/formats.def"
#undef FORMAT
};

enum { FRACTION_BITS = 52, BIAS = 1023 };
#define HIDDEN (UINT64_C(1) << FRACTION_BITS)
#define SIGN (UINT64_C(1) << 63)
#define INFINITY_BITS UINT64_C(0x7FF0000000000000)
#define NAN_BITS UINT64_C(0x7FF8000000000000)

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

const struct format_info *format_info(enum format f)
{
    assert((unsigned)f < FORMAT_COUNT);
    return &formats[f];
}

bool format_from_name(const char *name, enum format *f, struct message *why)
{
    const char *names[FORMAT_COUNT];
    for (int i = 0; i < FORMAT_COUNT; i++) {
        names[i] = formats[i].name;
        if (strcmp(name, names[i]) == 0) {
            *f = (enum format)i;
            return true;
        }
    }
    const char *nearest = nearest_name(name, names, FORMAT_COUNT);
    if (nearest != NULL)
        return refuse(why, "unknown format '%.40s': did you mean %s?", name, nearest);
    char list[200] = "";
    for (int i = 0; i < FORMAT_COUNT; i++) {
        assert(strlen(list) + strlen(names[i]) + 3 < sizeof list);
        strcat(strcat(list, i == 0 ? "" : ", "), names[i]);
    }
    return refuse(why, "unknown format '%.40s': the formats are %s", name, list);
}

/* A magnitude (bits of a double) rounded to a multiple of the format's spacing there, ties to even,
   without an upper limit.  Infinity stays; a NaN stays above every finite number. */
static inline uint64_t round_magnitude(uint64_t magnitude, int precision, int emin)
{
    int dropped = FRACTION_BITS + 1 - precision; /* low significand bits to round away */
    if (dropped == 0)
        return magnitude;
    if (magnitude >= (uint64_t)(emin + BIAS) << FRACTION_BITS) {
        uint64_t odd = (magnitude >> dropped) & 1, half = UINT64_C(1) << (dropped - 1);
        /* A carry out of the fraction adds 1 to the exponent field and leaves a zero fraction. */
        return (magnitude + half - 1 + odd) & ~(2 * half - 1);
    }
    int exponent = (int)(magnitude >> FRACTION_BITS) - BIAS;
    dropped += emin - exponent;
    if (dropped > FRACTION_BITS + 1)
        return 0; /* below half the smallest number, as every subnormal double is */
    /* Here the spacing can be the leading bit's weight or twice that: make that bit explicit. */
    uint64_t significand = (magnitude & (HIDDEN - 1)) | HIDDEN;
    uint64_t odd = (significand >> dropped) & 1, half = UINT64_C(1) << (dropped - 1);
    significand = (significand + half - 1 + odd) & ~(2 * half - 1);
    /* The leading bit, or a carry to twice that, adds to the exponent field by itself. */
    return significand == 0 ? 0 : significand + ((uint64_t)(exponent + BIAS - 1) << FRACTION_BITS);
}

/* `flush`: a result that is subnormal once rounded becomes zero; what rounds up to 2^emin stays. */
static inline double round_to(const struct format_info *info, int precision, int emin, bool flush,
                              double x, bool saturate)
{
    uint64_t sign = bits_of(x) & SIGN, magnitude = bits_of(x) & ~SIGN;
    if (precision == 0)
        return magnitude > INFINITY_BITS ? double_of(bits_of(x) | NAN_BITS) : x;
    magnitude = round_magnitude(magnitude, precision, emin);
    if (flush && magnitude < (uint64_t)(emin + BIAS) << FRACTION_BITS)
        magnitude = 0;
    uint64_t largest = bits_of(info->largest);
    if (magnitude > largest) {
        if ((bits_of(x) & ~SIGN) > INFINITY_BITS)
            return double_of(bits_of(x) | NAN_BITS);
        if (!saturate && !info->has_infinity)
            return double_of(NAN_BITS);
        magnitude = saturate ? largest : INFINITY_BITS;
    }
    return double_of(sign | magnitude);
}

/* One copy of round_to per format, its parameters constant: a third faster than looked up. */
double format_round(enum format f, double x, bool saturate)
{
    switch (f) {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning)                                        \
    case FORMAT_##id:                                                                              \
        return round_to(&formats[f], p, emin, FORMAT_##id == FORMAT_FP32_FTZ, x, saturate);
#include "reference/formats.def"
#undef FORMAT
    default:
        assert(!"a format");
        return x;
    }
}

void format_round_row(enum format f, bool saturate, double *y, const double *x, size_t n)
{
    switch (f) {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning)                                        \
    case FORMAT_##id:                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = round_to(&formats[f], p, emin, FORMAT_##id == FORMAT_FP32_FTZ, x[i], saturate); \
        break;
#include "reference/formats.def"
#undef FORMAT
    default:
        assert(!"a format");
    }
}

/* Code of a magnitude (bits of a double) of the format. */
static uint64_t code_of(enum format f, uint64_t magnitude)
{
    const struct format_info *info = format_info(f);
    assert(info->precision > 0);
    if (f == FORMAT_FP64 || magnitude == 0)
        return magnitude;
    int p = info->precision;
    if (magnitude == INFINITY_BITS)
        return (uint64_t)(info->emax - info->emin + 2) << (p - 1);
    assert(bits_of(format_round(f, double_of(magnitude), false)) == magnitude);
    int exponent = (int)(magnitude >> FRACTION_BITS) - BIAS;
    uint64_t significand = (magnitude & (HIDDEN - 1)) | HIDDEN;
    if (exponent < info->emin)
        return significand >> (FRACTION_BITS + 1 - p + info->emin - exponent);
    /* The significand's leading bit adds the 1 that normal exponents start from. */
    return ((uint64_t)(exponent - info->emin) << (p - 1)) +
           (significand >> (FRACTION_BITS + 1 - p));
}

/* The magnitude with that code, which must not be a NaN's. */
static double magnitude_of(enum format f, uint64_t code)
{
    const struct format_info *info = format_info(f);
    assert(info->precision > 0);
    if (f == FORMAT_FP64)
        return double_of(code);
    int p = info->precision;
    uint64_t field = code >> (p - 1), fraction = code & ((UINT64_C(1) << (p - 1)) - 1);
    if (field == 0 && f == FORMAT_FP32_FTZ)
        return 0.0;
    if (field == 0) /* exact: an integer below 2^23 times a power of two */
        return (double)fraction * format_ulp(f, 0.0);
    if (info->has_infinity && (int)field == info->emax - info->emin + 2)
        return INFINITY;
    uint64_t exponent = field - 1 + (uint64_t)(info->emin + BIAS);
    return double_of((exponent << FRACTION_BITS) | (fraction << (FRACTION_BITS + 1 - p)));
}

/* Zero bits below the significand in storage. */
static int padding(enum format f)
{
    return f == FORMAT_TF32 ? 13 : 0;
}

uint64_t format_encode(enum format f, double x)
{
    const struct format_info *info = format_info(f);
    assert(info->precision > 0);
    if (isnan(x)) {
        /* the largest exponent and the top fraction bit; in 8 bits, every bit but the sign */
        uint64_t infinity = code_of(f, INFINITY_BITS) << padding(f);
        return info->bits == 8 ? 0x7F : infinity | infinity >> 1;
    }
    assert(info->has_infinity || !isinf(x));
    uint64_t sign = bits_of(x) >> 63;
    return sign << (info->bits - 1) | code_of(f, bits_of(x) & ~SIGN) << padding(f);
}

double format_decode(enum format f, uint64_t bits)
{
    const struct format_info *info = format_info(f);
    assert(info->precision > 0);
    uint64_t sign_bit = UINT64_C(1) << (info->bits - 1);
    assert((bits & ~(sign_bit | (sign_bit - 1))) == 0);
    uint64_t code = (bits & (sign_bit - 1)) >> padding(f);
    assert(code << padding(f) == (bits & (sign_bit - 1)));
    uint64_t last = code_of(f, info->has_infinity ? INFINITY_BITS : bits_of(info->largest));
    if (code > last)
        return double_of(NAN_BITS);
    return bits & sign_bit ? -magnitude_of(f, code) : magnitude_of(f, code);
}

/* 2^k, -1074 <= k <= 1023. */
static double power_of_two(int k)
{
    if (k < 1 - BIAS)
        return double_of(UINT64_C(1) << (k + BIAS - 1 + FRACTION_BITS));
    return double_of((uint64_t)(k + BIAS) << FRACTION_BITS);
}

double format_ulp(enum format f, double x)
{
    const struct format_info *info = format_info(f);
    uint64_t magnitude = bits_of(x) & ~SIGN;
    if (magnitude >= INFINITY_BITS)
        return double_of(NAN_BITS);
    if (f == FORMAT_EXACT)
        return 0.0;
    int exponent = (int)(magnitude >> FRACTION_BITS) - BIAS;
    if (f == FORMAT_FP32_FTZ && exponent < info->emin)
        return power_of_two(info->emin);
    if (exponent < info->emin)
        exponent = info->emin;
    if (exponent > info->emax)
        exponent = info->emax;
    return power_of_two(exponent - info->precision + 1);
}

/* Steps from zero up to a magnitude of f, and back.  fp32-ftz has no codes between 0 and 2^-126. */
static uint64_t skipped(enum format f)
{
    return f == FORMAT_FP32_FTZ ? (UINT64_C(1) << (formats[f].precision - 1)) - 1 : 0;
}

static int64_t steps_from_zero(enum format f, double x)
{
    uint64_t magnitude = bits_of(x) & ~SIGN, steps;
    assert(magnitude <= INFINITY_BITS);
    if (magnitude == INFINITY_BITS)
        steps = code_of(f, bits_of(formats[f].largest)) + 1 - skipped(f);
    else
        steps = magnitude == 0 ? 0 : code_of(f, magnitude) - skipped(f);
    return bits_of(x) & SIGN ? -(int64_t)steps : (int64_t)steps;
}

double format_next(enum format f, double x, int direction)
{
    if (isnan(x))
        return double_of(bits_of(x) | NAN_BITS);
    bool up = direction > 0, negative = bits_of(x) >> 63;
    int64_t steps = steps_from_zero(f, x) + (up ? 1 : -1);
    int64_t end = steps_from_zero(f, formats[f].has_infinity ? INFINITY : formats[f].largest);
    if (steps > end || steps < -end)
        return x;
    if (steps == 0)
        return negative ? -0.0 : 0.0; /* the sign of the side it comes from */
    double magnitude = magnitude_of(f, (uint64_t)(steps < 0 ? -steps : steps) + skipped(f));
    return steps < 0 ? -magnitude : magnitude;
}

int64_t format_steps(enum format f, double a, double b)
{
    int64_t from = steps_from_zero(f, a), to = steps_from_zero(f, b);
    /* Across all of fp64 there are almost 2^64 steps. */
    if (from < 0 && to > INT64_MAX + from)
        return INT64_MAX;
    if (from > 0 && to < INT64_MIN + from)
        return INT64_MIN;
    return to - from;
}
