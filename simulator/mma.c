/* mma.c: what a tensor core's step needs to know, its terms that are not finite, its result's
   conversion; the step on floats stands in mma_step.c, the one on any factors here. */
#include "simulator/mma_step.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "simulator/cpu.h"
#include "simulator/round.h"

static const uint32_t mma_nan = 0x7FFFFFFF, mma_nan_fp16 = 0x7FFFE000; /* fp16's 7FFF as a float */

/* The format's least exponent; a counterfactual factor's own bits have none. */
static int least_of(struct mma_factor f)
{
    return f.format == FORMAT_EXACT ? NO_EXPONENT : format_info(f.format)->emin - f.scale_log2;
}

static uint32_t unread_of(const struct mma_info *info, enum format f)
{
    bool wider = f == FORMAT_EXACT || f == FORMAT_FP64;
    return info->type == MMA_TYPE_TF32 && !wider ? 0x1FFF : 0;
}

static int bits_read(const struct mma_info *info, enum format f)
{
    int bits = f == FORMAT_EXACT ? 1000 : format_info(f)->precision;
    return unread_of(info, f) != 0 ? 11 : bits;
}

struct mma_step mma_step_of(const struct mma *m, struct mma_factor a, struct mma_factor b,
                            enum format output)
{
    const struct mma_info *info = m->info;
    bool half = output == FORMAT_FP16;
    int own = half && info->e_zero_fp16 != 0 ? info->e_zero_fp16 : info->e_zero;
    return (struct mma_step){
        .L = info->L, .F = info->F, .least_a = least_of(a), .least_b = least_of(b),
        .least_c = half ? -14 : -126, .e_zero = m->e_zero != 0 ? m->e_zero : own,
        .fraction = half ? 10 : info->fraction, .output_least = half ? -14 : -126,
        .output_most = half ? 15 : 127, .nearest = half, .count_zeros = m->count_zeros,
        .lose_minus_zero = m->lose_minus_zero,
        .unread_a = unread_of(info, a.format),
        .unread_b = unread_of(info, b.format),
        .product_bits = bits_read(info, a.format) + bits_read(info, b.format)};
}

static float nan_of(const struct mma_step *s)
{
    return float_of_bits(s->nearest ? mma_nan_fp16 : mma_nan);
}

/* NaN, infinity or 0: what the terms that are not finite make of the sum. */
static double special_sum(const struct mma_step *s, const double *a, const double *b, int n,
                          double c)
{
    bool nan = isnan(c), plus = c == INFINITY, minus = c == -INFINITY;
    for (int k = 0; k < n; k++) {
        if (isfinite(a[k]) && isfinite(b[k])) /* their product is, whatever its size */
            continue;
        double product = a[k] * b[k];
        nan = nan || isnan(product);
        plus = plus || product > 0;
        minus = minus || product < 0;
    }
    return nan || (plus && minus) ? (double)nan_of(s) : plus ? INFINITY : minus ? -INFINITY : 0;
}

/* magnitude / 2^shift, toward zero or to the nearest, ties to even. */
static uint64_t shifted(uint64_t magnitude, int shift, bool nearest)
{
    if (shift > 63)
        return 0;
    uint64_t lost = magnitude & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    magnitude >>= shift;
    return magnitude + (nearest && (lost > half || (lost == half && magnitude % 2 == 1)));
}

float mma_converted(const struct mma_step *s, int64_t sum, int last)
{
    uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    if (sum == 0)
        return 0;
    int exponent = last + 63 - __builtin_clzll(magnitude);
    int kept = exponent > s->output_least ? exponent : s->output_least;
    int shift = kept - s->fraction - last; /* what lies below the output's last place */
    double value = INFINITY;
    if (exponent <= s->output_most) {
        magnitude = shift <= 0 ? magnitude : shifted(magnitude, shift, s->nearest);
        value = (double)magnitude * power_of_two(shift > 0 ? kept - s->fraction : last);
        value = value < power_of_two(s->output_most + 1) ? value : INFINITY;
    }
    return (float)(sum < 0 ? -value : value);
}

static float without(uint32_t unread, float x)
{
    return float_of_bits(bits_of_float(x) & ~unread);
}

float mma_special_floats(const struct mma_step *s, const float *a, const float *b, int n,
                            float c)
{
    double x[MMA_MOST_L], y[MMA_MOST_L];
    for (int k = 0; k < n; k++) {
        x[k] = (double)without(s->unread_a, a[k]);
        y[k] = (double)without(s->unread_b, b[k]);
    }
    return (float)special_sum(s, x, y, n, (double)c);
}

float mma_dot_add(const struct mma_step *s, const float *a, const float *b, int n, float c)
{
    static mma_dot_add_body *const levels[CPU_LEVELS] = {
        mma_dot_add_base,
#ifdef __x86_64__
        mma_dot_add_v3,
        mma_dot_add_v4,
#endif
    };
    return levels[cpu_level()](s, a, b, n, c);
}

/* A factor or an accumulator of any width: significand 2^power, the significand in [1/2, 1). */
struct wide_term {
    double significand;
    int power, exponent;
};

static struct wide_term wide_decoded(double x, int least)
{
    struct wide_term t = {0, 0, least};
    t.significand = frexp(x, &t.power);
    if (x != 0 && t.power - 1 > least)
        t.exponent = t.power - 1;
    return t;
}

/* a b in units of 2^last, cut toward zero: the rounded product may stand on a whole number that the
   true one does not reach. */
static int64_t wide_aligned(struct wide_term a, struct wide_term b, int last)
{
    double high = a.significand * b.significand, low = fma(a.significand, b.significand, -high);
    int power = a.power + b.power - last;
    if (high == 0 || power < -64)
        return 0;
    double units = ldexp(high, power), whole = trunc(units);
    if (whole == units && low != 0 && (low < 0) != (high < 0))
        whole -= copysign(1, high);
    return (int64_t)whole;
}

double mma_dot_add_wide(const struct mma_step *s, const double *a, const double *b, int n, double c)
{
    const struct wide_term one = {0.5, 1, 0}, zero = {0, 0, 0};
    struct wide_term x[MMA_MOST_L + 1], y[MMA_MOST_L + 1];
    bool finite = isfinite(c), zeros = true, minus = true;
    int top = NO_EXPONENT;
    assert(n <= s->L && s->L <= MMA_MOST_L);
    for (int k = 0; k <= s->L; k++) {
        double p = k == s->L ? c : k < n ? a[k] : 0, q = k == s->L ? 1 : k < n ? b[k] : 0;
        if (k < n && s->unread_a != 0)
            p = (double)without(s->unread_a, (float)p);
        if (k < n && s->unread_b != 0)
            q = (double)without(s->unread_b, (float)q);
        finite = finite && isfinite(p) && isfinite(q);
        x[k] = isfinite(p) ? wide_decoded(p, k == s->L ? s->least_c : s->least_a) : zero;
        y[k] = k == s->L ? one : isfinite(q) ? wide_decoded(q, s->least_b) : zero;
        bool nothing = p == 0 || q == 0;
        int exponent = nothing && !s->count_zeros ? s->e_zero : x[k].exponent + y[k].exponent;
        top = exponent > top ? exponent : top;
        zeros = zeros && nothing;
        minus = minus && (signbit(p) != 0) != (signbit(q) != 0);
    }
    if (!finite)
        return special_sum(s, a, b, n, c);
    if (zeros)
        return minus && !s->lose_minus_zero ? -0.0 : 0.0;
    int64_t sum = 0;
    for (int k = 0; k <= s->L; k++)
        sum += wide_aligned(x[k], y[k], top - s->F);
    return (double)mma_converted(s, sum, top - s->F);
}
