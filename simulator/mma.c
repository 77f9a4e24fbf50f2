/* mma.c: one fused step in plain integers, written for reading; the fast form (arith_mma.h) must
   equal it in every bit.  Then the same for factors that are not floats. */
#include "simulator/mma.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "simulator/round.h"

enum { NO_EXPONENT = INT_MIN / 4 };

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

/* sum * 2^last in the output's format; a sum that is not zero keeps its sign. */
static float converted(const struct mma_step *s, int64_t sum, int last)
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

/* Floats taken apart, as arrays so that the compiler may take several at once:
   x = (-1)^minus significand 2^(power - 23), aligned by `exponent`, which a subnormal number's
   power does not lower beneath the format's least. */
struct parts {
    uint32_t significand[MMA_MOST_L];
    int32_t power[MMA_MOST_L], exponent[MMA_MOST_L], minus[MMA_MOST_L];
};

static void take_apart(struct parts *p, const float *x, int n, uint32_t unread, int least)
{
    for (int k = 0; k < n; k++) {
        uint32_t bits = bits_of_float(x[k]) & ~unread, field = bits >> 23 & 255, normal = field > 0;
        p->significand[k] = (bits & 0x7FFFFF) | normal << 23;
        p->power[k] = (int32_t)(field + 1 - normal) - 127;
        p->exponent[k] = p->power[k] > least ? p->power[k] : least;
        p->minus[k] = (int32_t)(bits >> 31);
    }
}

static bool any_special(const struct parts *p, int n)
{
    int any = 0;
    for (int k = 0; k < n; k++)
        any |= p->power[k] == 128;
    return any != 0;
}

/* The terms of a step: products and, last, the accumulator: (-1)^minus magnitude 2^(power - 46). */
struct terms {
    uint64_t magnitude[MMA_MOST_L + 1];
    int32_t power[MMA_MOST_L + 1], exponent[MMA_MOST_L + 1], minus[MMA_MOST_L + 1];
    int32_t zero[MMA_MOST_L + 1];
};

/* t[0 .. n) = a b; what is missing up to L is +0 times +0. */
static void multiply(struct terms *t, const struct mma_step *s, const struct parts *a,
                     const struct parts *b, int n)
{
    for (int k = 0; k < n; k++) {
        t->magnitude[k] = (uint64_t)a->significand[k] * b->significand[k];
        t->power[k] = a->power[k] + b->power[k];
        t->exponent[k] = a->exponent[k] + b->exponent[k];
        t->minus[k] = a->minus[k] ^ b->minus[k];
        t->zero[k] = (a->significand[k] == 0) | (b->significand[k] == 0);
    }
    for (int k = n; k < s->L; k++) {
        t->magnitude[k] = 0;
        t->power[k] = t->minus[k] = 0;
        t->exponent[k] = s->least_a + s->least_b;
        t->zero[k] = 1;
    }
}

/* The accumulator is term L. */
static void take_accumulator(struct terms *t, const struct mma_step *s, const struct parts *c)
{
    t->magnitude[s->L] = (uint64_t)c->significand[0] << 23;
    t->power[s->L] = c->power[0];
    t->exponent[s->L] = c->exponent[0];
    t->minus[s->L] = c->minus[0];
    t->zero[s->L] = c->significand[0] == 0;
}

/* The exponent every term is aligned to; zeros count as e_zero, or with their own exponent. */
static int largest_exponent(const struct mma_step *s, const struct terms *t)
{
    const int count_zeros = s->count_zeros, e_zero = s->e_zero;
    int top = NO_EXPONENT;
    for (int k = 0; k <= s->L; k++) {
        int exponent = (t->zero[k] & !count_zeros) ? e_zero : t->exponent[k];
        top = exponent > top ? exponent : top;
    }
    return top;
}

/* The sum of the terms, each cut toward zero to units of 2^last.  2^last is far above the last
   place of every term that is not zero, so that shifts go one way. */
static int64_t cut_sum(const struct terms *t, int count, int last)
{
    int64_t sum = 0;
    for (int k = 0; k < count; k++) {
        int shift = last - (t->power[k] - 46);
        shift = shift < 0 ? 0 : shift < 63 ? shift : 63;
        int64_t units = (int64_t)(t->magnitude[k] >> shift);
        sum += (units ^ -(int64_t)t->minus[k]) + t->minus[k]; /* -units where minus */
    }
    return sum;
}

static float sum_of_terms(const struct mma_step *s, const struct terms *t)
{
    int zeros = 1, minus = 1;
    for (int k = 0; k <= s->L; k++) {
        zeros &= t->zero[k];
        minus &= t->minus[k];
    }
    if (zeros)
        return minus && !s->lose_minus_zero ? -0.0f : 0.0f;
    int last = largest_exponent(s, t) - s->F;
    return converted(s, cut_sum(t, s->L + 1, last), last);
}

static float without(uint32_t unread, float x)
{
    return float_of_bits(bits_of_float(x) & ~unread);
}

static float special_floats(const struct mma_step *s, const float *a, const float *b, int n,
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
    struct parts x, y, z;
    struct terms terms;
    assert(n <= s->L && s->L <= MMA_MOST_L);
    take_apart(&x, a, n, s->unread_a, s->least_a);
    take_apart(&y, b, n, s->unread_b, s->least_b);
    take_apart(&z, &c, 1, 0, s->least_c);
    if (any_special(&x, n) || any_special(&y, n) || any_special(&z, 1))
        return special_floats(s, a, b, n, c);
    multiply(&terms, s, &x, &y, n);
    take_accumulator(&terms, s, &z);
    return sum_of_terms(s, &terms);
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
    return (double)converted(s, sum, top - s->F);
}
