/* special_lanes.c: exp, exp2, log, log2, tanh of floats in fp64 lanes, and the rounding of lanes.

   Plain loops of +, -, *, / and integer steps that compilers turn into vectors; compiled once per
   processor level (CPU_LEVEL).  No fma: the same bits with and without one.

   Error bounds, in units of u = 2^-53, half an ulp of 1.  "round(v)" is the half ulp of v's binade.
   Polynomials are Taylor's, so the truncation is the series' next terms.

   E(r) = e^r - 1,  |r| <= 0.34658 (k is rint of a product that is off by < 2^-43):
     E = r + t q,  t = r r <= 0.1202,  q = 1/2 + r w in [0.447, 0.564],
     w = even + r odd,  even = 1/6 + t/120 + ... + t^5/13!,  odd = 1/24 + t/720 + ... + t^4/12!
     even  1/6's own rounding u/8, round(even) u/8, all below 0.005u                          0.255u
     w     that, odd's 0.064u times r, round(r odd) u/128, round(w) u/8                        0.41u
     q     round(q) u/2, round(r w) u/16, 0.34658 * 0.41u                                     0.705u
     t q   t * 0.705u + q * round(t) u/16 + round(t q) u/16                                   0.183u
     E     that and round(E) u/4 (E in [-0.293, 0.415]); truncation r^14/14! is 0.04u          0.47u
   exp: r = (x - k hi) - k lo, hi = ln 2 to 42 bits: k hi and the first difference are exact, k lo
     is off by < 2^-87, the last difference by u/4.  For r >= 0: u/4 + 0.47u + round(1 + E) u; for
     r < 0: u/4 + (0.47u + u/2) / 0.707.  Scaling by 2^k is exact.                             1.73u
   exp2: r = (x - k) ln2: x - k is exact, ln 2's own rounding 0.301u * 0.34658, round(r) u/4:
     0.105u more than exp.                                                                     1.83u
   tanh|x| = m / (m + 2),  m = e^(2|x|) - 1 = 2^k E + (2^k - 1);  an error of m counts 2/(m+2)-fold:
     k = 0: r is exact; E relative to itself: round(E) u, t q's own 3.4u on at most 0.164 of E,
            truncation 0.1u: 1.66u.                       With the sum's and the quotient's u: 3.66u
     k = 1: m in [0.414, 1.83], absolute 2 * (0.47u + u/4 e^r) + round(m).  Worst at m = 0.414:
            (1.44u + u/4) / 0.414 * 0.829, and 2u.                                             5.4u
     k > 1: 2^k / m <= 2.19, so m is within 2.19 * 0.83u + u, counted 0.53-fold, and 2u.       3.5u
   log m = 2 sigma + 2 sigma z R(z),  sigma = (m - 1)/(m + 1), z = sigma^2,  m in [0.7071, 1.4143]:
     m - 1 and m + 1 are exact (24-bit m), |sigma| <= 0.1716, computed s within u, z within 3u;
     R = 1/3 + z/5 + ... + z^9/21, split like w: 1/3's own rounding, round(even) and round(R) u/4
     each, z odd (<= 0.006) within 5.3u: relative 2.4u.  z R (<= 0.0100) within 6.4u, 2 s z R
     (<= 0.00344) within 8.4u; truncation z^11/23 is 0.01u.
     k = 0: 0.99u + 0.01 * 8.4u + u for the sum.                                               2.1u
     k # 0: k lo + 2 s z R, then + 2s, then + k hi.  Absolute: 2s u/4, its tail 0.03u, the sum u/4;
            |log x| >= 0.3465: 1.54u, and u for the last sum.                                  2.55u
   log2 = k + (log m) log2(e):
     k = 0: 2.1u, log2(e)'s own rounding 0.13u, the product's u.                               3.25u
     k # 0: log m within 0.54u absolute, times 1.443, and 0.064u and u/4; |log2 x| >= 1/2: 2.2u;
            and u for the sum.                                                                 3.2u
   Terms in u^2 are below 10^-14 of these. */
#include "simulator/special_lanes.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "simulator/special_poly.h"

_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");

#define SHIFT 0x1.8p52 /* adding it rounds to an integer, which stands in the low bits */

static const double log2_e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;
static const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* E(r) above; two short chains instead of a long one. */
static inline double expm1_reduced(double r)
{
    double t = r * r;
    double even = (1.0 / 6227020800) * t + 1.0 / 39916800;
    even = even * t + 1.0 / 362880;
    even = even * t + 1.0 / 5040;
    even = even * t + 1.0 / 120;
    even = even * t + 1.0 / 6;
    double odd = (1.0 / 479001600) * t + 1.0 / 3628800;
    odd = odd * t + 1.0 / 40320;
    odd = odd * t + 1.0 / 720;
    odd = odd * t + 1.0 / 24;
    double q = (odd * r + even) * r + 0.5;
    return r + t * q;
}

/* 2^k from k + SHIFT, |k| < 1000. */
static inline double power_of_two(double shifted)
{
    return from_bits((bits_of(shifted) << 52) + ((uint64_t)1023 << 52));
}

static inline double clamp(double x, double limit)
{
    x = x > limit ? limit : x;
    return x < -limit ? -limit : x;
}

static inline double exp_lane(float argument)
{
    double x = clamp(argument, 128);
    double shifted = x * log2_e + SHIFT, k = shifted - SHIFT;
    double r = (x - k * ln2_high) - k * ln2_low;
    return (1 + expm1_reduced(r)) * power_of_two(shifted);
}

static inline double exp2_lane(float argument)
{
    double x = clamp(argument, 192);
    double shifted = x + SHIFT, k = shifted - SHIFT;
    return (1 + expm1_reduced((x - k) * ln2)) * power_of_two(shifted);
}

static inline double tanh_lane(float argument)
{
    double x = argument, a = 2 * fabs(x);
    a = a > 64 ? 64 : a;
    double shifted = a * log2_e + SHIFT, k = shifted - SHIFT, scale = power_of_two(shifted);
    double r = (a - k * ln2_high) - k * ln2_low;
    double m = scale * expm1_reduced(r) + (scale - 1);
    double y = m / (m + 2);
    return from_bits(bits_of(y) | (bits_of(x) & (uint64_t)1 << 63));
}

/* x = 2^k m with m in [sqrt 1/2, sqrt 2); gives 2s, and tail = 2 s z R(z). */
static inline double log_reduced(double x, double *k, double *tail)
{
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd, bias = (uint64_t)1024 << 52;
    uint64_t offset = bits_of(x) - sqrt_half;
    *k = from_bits(((offset + bias) >> 52) | 0x4330000000000000) - (0x1p52 + 1024);
    double m = from_bits((offset & 0x000fffffffffffff) + sqrt_half);
    double s = (m - 1) / (m + 1), z = s * s;
    double z2 = z * z;
    double even = (1.0 / 19) * z2 + 1.0 / 15, odd = (1.0 / 21) * z2 + 1.0 / 17;
    even = even * z2 + 1.0 / 11;
    even = even * z2 + 1.0 / 7;
    even = even * z2 + 1.0 / 3;
    odd = odd * z2 + 1.0 / 13;
    odd = odd * z2 + 1.0 / 9;
    odd = odd * z2 + 1.0 / 5;
    double R = odd * z + even;
    *tail = (2 * s) * (z * R);
    return 2 * s;
}

static inline double nan_unless_positive_finite(double value, double x)
{
    return ((x > 0) & (x <= FLT_MAX)) ? value : (double)NAN;
}

static inline double log_lane(float argument)
{
    double x = argument, k, tail, two_s = log_reduced(x, &k, &tail);
    return nan_unless_positive_finite(((tail + k * ln2_low) + two_s) + k * ln2_high, x);
}

static inline double log2_lane(float argument)
{
    double x = argument, k, tail, two_s = log_reduced(x, &k, &tail);
    return nan_unless_positive_finite((two_s + tail) * log2_e + k, x);
}

static void evaluate_exp(double *restrict value, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = exp_lane(x[i]);
}

static void evaluate_exp2(double *restrict value, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = exp2_lane(x[i]);
}

static void evaluate_log(double *restrict value, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = log_lane(x[i]);
}

static void evaluate_log2(double *restrict value, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = log2_lane(x[i]);
}

static void evaluate_tanh(double *restrict value, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = tanh_lane(x[i]);
}

/* a = |value| rounds to r, the nearest multiple of its binade's spacing.  Rounding changes only at
   midpoints, half a spacing from r, so if a is further than bound * a from both, every number
   within the bound rounds to r too.  a - r is exact. */
static bool round_lanes(const struct rounding *to, double bound, float *restrict y,
                        double *restrict open, const double *restrict value, size_t n)
{
    const struct rounding c = *to;
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = bits_of(value[i]);
        double a = fabs(value[i]);
        double binade = from_bits(bits & 0x7ff0000000000000);
        binade = binade > c.smallest_normal ? binade : c.smallest_normal;
        double magic = binade * c.magic;
        double r = (a + magic) - magic;
        open[i] = fabs(fabs(a - r) - binade * c.half) > bound * a ? 0 : 1;
        any |= bits_of(open[i]);
        r = r > c.largest ? c.overflow : r;
        r = r < c.flush_below ? 0 : r;
        y[i] = (float)from_bits(bits_of(r) | (bits & (uint64_t)1 << 63));
    }
    return any != 0;
}

static void poly_exp_lanes(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = poly_exp(x[i]);
}

static void poly_exp2_lanes(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = poly_exp2(x[i]);
}

static void poly_log_lanes(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = poly_log(x[i]);
}

static void poly_log2_lanes(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = poly_log2(x[i]);
}

static void poly_tanh_lanes(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = poly_tanh(x[i]);
}

/* The one macro that names this level's table: special_lanes_base, _v3 or _v4. */
#define TABLE_OF(level) special_lanes_##level
#define TABLE_AT(level) TABLE_OF(level)
#define SPECIAL_LANES TABLE_AT(CPU_LEVEL)

const struct special_lanes SPECIAL_LANES = {
    .evaluate = {[FUNCTION_EXP] = evaluate_exp,
                 [FUNCTION_EXP2] = evaluate_exp2,
                 [FUNCTION_LOG] = evaluate_log,
                 [FUNCTION_LOG2] = evaluate_log2,
                 [FUNCTION_TANH] = evaluate_tanh},
    .round = round_lanes,
    .poly = {[FUNCTION_EXP] = poly_exp_lanes,
             [FUNCTION_EXP2] = poly_exp2_lanes,
             [FUNCTION_LOG] = poly_log_lanes,
             [FUNCTION_LOG2] = poly_log2_lanes,
             [FUNCTION_TANH] = poly_tanh_lanes},
};
