/* special_wide.c: special_wide, in double-double arithmetic.

   A double-double is an unevaluated sum high + low with |low| <= half an ulp of high; products get
   their rounding errors from fma (C's, exact by definition), so no libm function is involved and
   the bits are the same everywhere.  Series are Taylor's, over the ranges of special_lanes.c:
   leading terms in double-double, those below 2^-50 of the sum in double. */
#include "simulator/special.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static const double shift = 0x1.8p52;
static const struct wide ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const struct wide log2_e = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
/* ln 2 = 40 bits + 53 bits + the rest */
static const double ln2_parts[3] = {0x1.62e42fefa2p-1, 0x1.9ef35793c7673p-41,
                                    0x1.f97b57a079a19p-103};

/* 1/2!, ... 1/12! */
static const struct wide inverse_factorial[] = {
    {0x1p-1, 0x0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
};

/* 1/3, 1/5, ... 1/21 */
static const struct wide inverse_odd[] = {
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},  {0x1.999999999999ap-3, -0x1.999999999999ap-57},
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},  {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
    {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59}, {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
    {0x1.1111111111111p-4, 0x1.1111111111111p-60},  {0x1.e1e1e1e1e1e1ep-5, 0x1.e1e1e1e1e1e1ep-61},
    {0x1.af286bca1af28p-5, 0x1.af286bca1af28p-59},  {0x1.8618618618618p-5, 0x1.8618618618618p-59},
};

/* 1/13!, ... 1/22! */
static const double inverse_factorial_tail[] = {
    1.0 / 6227020800,           1.0 / 87178291200,       1.0 / 1307674368000,
    1.0 / 20922789888000,       1.0 / 355687428096000,   1.0 / 6402373705728000,
    1.0 / 121645100408832e3,    1.0 / 243290200817664e4, 1.0 / 5109094217170944e4,
    1.0 / 112400072777760768e4,
};

/* 1/23, 1/25, ... 1/43 */
static const double inverse_odd_tail[] = {
    1.0 / 23, 1.0 / 25, 1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33,
    1.0 / 35, 1.0 / 37, 1.0 / 39, 1.0 / 41, 1.0 / 43,
};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* a + b for |a| >= |b| or a = 0. */
static struct wide sum_ordered(double a, double b)
{
    double s = a + b;
    return (struct wide){s, b - (s - a)};
}

static struct wide sum(double a, double b)
{
    double s = a + b, b_kept = s - a, a_kept = s - b_kept;
    return (struct wide){s, (a - a_kept) + (b - b_kept)};
}

static struct wide product(double a, double b)
{
    double p = a * b;
    return (struct wide){p, fma(a, b, -p)};
}

static struct wide add(struct wide a, struct wide b)
{
    struct wide s = sum(a.high, b.high), t = sum(a.low, b.low);
    s = sum_ordered(s.high, s.low + t.high);
    return sum_ordered(s.high, s.low + t.low);
}

static struct wide multiply(struct wide a, struct wide b)
{
    struct wide p = product(a.high, b.high);
    p.low = fma(a.high, b.low, fma(a.low, b.high, p.low));
    return sum_ordered(p.high, p.low);
}

static struct wide divide(struct wide a, struct wide b)
{
    double q = a.high / b.high;
    double rest = fma(-q, b.low, fma(-q, b.high, a.high) + a.low);
    return sum_ordered(q, rest / b.high);
}

/* head[0] + x (head[1] + ... + x (tail[0] + x tail[1] ...)) */
static struct wide series(struct wide x, const struct wide *head, int heads, const double *tail,
                          int tails)
{
    double t = tail[tails - 1];
    for (int i = tails - 2; i >= 0; i--)
        t = fma(t, x.high, tail[i]);
    struct wide s = {t, 0};
    for (int i = heads - 1; i >= 0; i--)
        s = add(multiply(s, x), head[i]);
    return s;
}

/* e^r - 1 for |r| <= 0.3466, relative error about 2^-103. */
static struct wide expm1_reduced(struct wide r)
{
    struct wide q = series(r, inverse_factorial, COUNT(inverse_factorial), inverse_factorial_tail,
                           COUNT(inverse_factorial_tail));
    return add(r, multiply(multiply(r, r), q));
}

/* x - k ln 2 for |x| < 1100: the first product and difference are exact. */
static struct wide reduce(double x, double *k)
{
    *k = (x * log2_e.high + shift) - shift;
    double first = x - *k * ln2_parts[0];
    struct wide second = product(*k, ln2_parts[1]);
    struct wide r = sum(first, -second.high);
    return sum_ordered(r.high, r.low - second.low - *k * ln2_parts[2]);
}

/* 2^k, -1022 <= k <= 1023. */
static double power_of_two(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double scaled(double x, int k)
{
    return x * power_of_two(k / 2) * power_of_two(k - k / 2);
}

/* high + low, from 0 to 2^52 spacings, rounded once to a multiple of `spacing`: high alone, unless
   that is a tie. */
static double rounded_to_multiple(struct wide x, double spacing)
{
    double magic = 0x1p52 * spacing, r = (x.high + magic) - magic, rest = x.high - r;
    return 2 * fabs(rest) == spacing && rest * x.low > 0 ? r + 2 * rest : r;
}

/* x 2^k for x in [0.7, 1.5]; subnormal results are multiples of 2^-1074. */
static struct wide scale(struct wide x, int k)
{
    if (k < -1000 && x.high < power_of_two(-1022 - k))
        return (struct wide){scaled(rounded_to_multiple(x, power_of_two(-1074 - k)), k), 0};
    double high = scaled(x.high, k);
    return (struct wide){high, isinf(high) ? 0 : scaled(x.low, k)};
}

static struct wide wide_exp(double x)
{
    if (x > 710 || x < -746)
        return (struct wide){x > 0 ? INFINITY : 0, 0};
    double k;
    struct wide E = expm1_reduced(reduce(x, &k));
    return scale(add((struct wide){1, 0}, E), (int)k);
}

static struct wide wide_exp2(double x)
{
    if (x > 1024 || x < -1076)
        return (struct wide){x > 0 ? INFINITY : 0, 0};
    double k = (x + shift) - shift;
    struct wide r = product(x - k, ln2.high);
    r = sum_ordered(r.high, fma(x - k, ln2.low, r.low));
    return scale(add((struct wide){1, 0}, expm1_reduced(r)), (int)k);
}

/* tanh x = x - x^3/3 + 2x^5/15 below 2^-30;  m / (m + 2) with m = e^2x - 1 up to 1;  then
   1 - 2 / (m + 2) (beyond 300 what is left, -2e^-2x, is only a sign). */
static struct wide tanh_positive(double x)
{
    if (x < 0x1p-30) {
        double cube = x * x * x * fma(x * x, -2.0 / 15, 1.0 / 3);
        cube = cube < DBL_TRUE_MIN && x > 0x1p-960 ? DBL_TRUE_MIN : cube;
        return sum_ordered(x, -cube);
    }
    double k;
    struct wide E = expm1_reduced(reduce(2 * (x < 300 ? x : 300), &k));
    double power = scaled(1, (int)k);
    struct wide m = add((struct wide){E.high * power, E.low * power}, sum(power, -1));
    struct wide m2 = add(m, (struct wide){2, 0});
    if (x < 1)
        return divide(m, m2);
    struct wide t = divide((struct wide){-2, 0}, m2);
    return add((struct wide){1, 0}, t);
}

static struct wide wide_tanh(double x)
{
    struct wide y = isinf(x) ? (struct wide){1, 0} : tanh_positive(fabs(x));
    return (struct wide){copysign(y.high, x), signbit(x) ? -y.low : y.low};
}

/* x = 2^k m with m in [sqrt 1/2, sqrt 2):  log m = 2s + 2s z (1/3 + z/5 + ...),  s = (m-1)/(m+1),
   z = s^2. */
static struct wide log_reduced(double x, double *k)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    *k = exponent;
    struct wide s = divide((struct wide){m - 1, 0}, sum(m, 1));
    struct wide z = multiply(s, s);
    struct wide R =
        series(z, inverse_odd, COUNT(inverse_odd), inverse_odd_tail, COUNT(inverse_odd_tail));
    struct wide two_s = {2 * s.high, 2 * s.low};
    return add(two_s, multiply(two_s, multiply(z, R)));
}

static struct wide wide_log(double x)
{
    double k;
    struct wide log_m = log_reduced(x, &k);
    struct wide log_power = product(k, ln2.high);
    log_power = sum_ordered(log_power.high, fma(k, ln2.low, log_power.low));
    return add(log_power, log_m);
}

static struct wide wide_log2(double x)
{
    double k;
    struct wide log_m = log_reduced(x, &k);
    return add((struct wide){k, 0}, multiply(log_m, log2_e));
}

struct wide special_wide(enum function fn, double x)
{
    bool logarithm = fn == FUNCTION_LOG || fn == FUNCTION_LOG2;
    if (isnan(x) || (logarithm && x < 0))
        return (struct wide){NAN, 0};
    if (logarithm && (x == 0 || isinf(x)))
        return (struct wide){x == 0 ? -INFINITY : INFINITY, 0};
    switch (fn) {
    case FUNCTION_EXP:
        return wide_exp(x);
    case FUNCTION_EXP2:
        return wide_exp2(x);
    case FUNCTION_LOG:
        return wide_log(x);
    case FUNCTION_LOG2:
        return wide_log2(x);
    case FUNCTION_TANH:
        return wide_tanh(x);
    case FUNCTION_COUNT:
    case FUNCTION_ALL:
        break;
    }
    assert(!"a function of special.def");
    return (struct wide){NAN, 0};
}
