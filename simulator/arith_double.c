/* arith_double.c: the same bodies over double: exact sites are fp64, every other format as written.

   A site narrower than fp64 rounds a result that was first had to odd, so it too rounds once.  The
   ledger's exact runs are runs of this arithmetic with every site exact. */
#include <math.h>

#include "simulator/arith.h"
#include "simulator/round.h"

typedef double REAL;
#define REAL_IS_FLOAT 0
#define fused_step fma

struct rounding;
INLINE double narrow(const enum kind K, const struct rounding *R, double exact_or_odd);

static enum kind kind_of(enum format f)
{
    return f == FORMAT_EXACT || f == FORMAT_FP64 ? KIND_MACHINE
           : f == FORMAT_FP32_FTZ                ? KIND_FLUSHED
                                                 : KIND_NARROW;
}

#define op_add(K, R, a, b) double_add(K, &(R), a, b)
#define op_mul(K, R, a, b) double_mul(K, &(R), a, b)
#define op_div(K, R, a, b) double_div(K, &(R), a, b)
#define op_fma(K, R, a, b, c) double_fma(K, &(R), a, b, c)
#define op_round(K, R, x) double_round(K, &(R), x)
#define op_constant(K, R, real) double_constant(K, &(R), real)
#define op_narrow(K, R, x) double_round(K, &(R), x)
#define op_special(K, R, choice, fn, y, x, n) double_special(K, &(R), choice, fn, y, x, n)

/* An operand as the site's unit reads it. */
INLINE double operand(const enum kind K, double x)
{
    return K == KIND_FLUSHED && fabs(x) < 0x1p-126 ? copysign(0.0, x) : x;
}

INLINE double double_add(const enum kind K, const struct rounding *R, double a, double b)
{
    return K == KIND_MACHINE ? a + b : narrow(K, R, add_odd(operand(K, a), operand(K, b)));
}

INLINE double double_mul(const enum kind K, const struct rounding *R, double a, double b)
{
    if (K == KIND_MACHINE)
        return a * b;
    double x = operand(K, a), y = operand(K, b), product = x * y;
    return narrow(K, R, to_odd(product, fma(x, y, -product)));
}

INLINE double double_div(const enum kind K, const struct rounding *R, double a, double b)
{
    if (K == KIND_MACHINE)
        return a / b;
    double x = operand(K, a), y = operand(K, b), quotient = x / y;
    double rest = fma(-quotient, y, x);
    bool plain = isfinite(quotient) && isfinite(y);
    return narrow(K, R, plain ? to_odd(quotient, y < 0 ? -rest : rest) : quotient);
}

/* a b + c to odd where a b is so small that its own error is lost: against a larger c it only
   breaks ties; with a c as small, the sum is far below every narrow format: only its sign counts. */
static double fma_odd_tiny(double a, double b, double c)
{
    double sum = fma(a, b, c);
    if (a == 0 || b == 0 || !isfinite(c))
        return sum;
    if (fabs(c) > 0x1p-500)
        return to_odd(c, copysign(0x1p-1000, a) * copysign(1.0, b));
    double scaled = fma(fabs(a) < fabs(b) ? a * 0x1p300 : a, fabs(a) < fabs(b) ? b : b * 0x1p300,
                        c * 0x1p300);
    return scaled == 0 ? sum : copysign(0x1p-1074, scaled);
}

/* a b + c to odd: the product's and the sums' errors are exact (Boldo and Melquiond's scheme). */
INLINE double fma_odd(double a, double b, double c)
{
    double product = a * b;
    if (fabs(product) < 0x1p-900)
        return fma_odd_tiny(a, b, c);
    double low = fma(a, b, -product);
    double sum = c + low, back = sum - c, low_error = (c - (sum - back)) + (low - back);
    double high = product + sum, part = high - product;
    double high_error = (product - (high - part)) + (sum - part);
    double tail = add_odd(high_error, low_error);
    return isfinite(high) ? add_odd(high, tail) : fma(a, b, c);
}

INLINE double double_fma(const enum kind K, const struct rounding *R, double a, double b, double c)
{
    if (K == KIND_MACHINE)
        return fma(a, b, c);
    return narrow(K, R, fma_odd(operand(K, a), operand(K, b), operand(K, c)));
}

INLINE double double_round(const enum kind K, const struct rounding *R, double x)
{
    return K == KIND_MACHINE ? x : narrow(K, R, x);
}

static double double_constant(const enum kind K, const struct rounding *R, const struct real *real)
{
    return K == KIND_MACHINE ? real_value(real, false) : narrow(K, R, real_value(real, true));
}

static void double_special(const enum kind K, const struct rounding *R,
                           struct special_choice choice, enum function fn, double *y, const double *x, int n);

#include "simulator/arith_loops.h"

INLINE double narrow(const enum kind K, const struct rounding *R, double exact_or_odd)
{
    double rounded = round_to_grid(&R->grid, exact_or_odd * R->up) * R->down;
    return operand(K, rounded);
}

static void double_special(const enum kind K, const struct rounding *R,
                           struct special_choice choice, enum function fn, double *y, const double *x, int n)
{
    bool in_float = K != KIND_MACHINE && !special_is_cr(choice, fn);
    for (int i = 0; i < n; i++) {
        double argument = operand(K, x[i]);
        if (in_float) {
            float in = (float)argument, out;
            special_float(choice, fn, &out, &in, 1);
            y[i] = double_round(K, R, (double)out);
            continue;
        }
        struct wide w = special_wide(fn, argument);
        y[i] = K == KIND_MACHINE ? w.high : narrow(K, R, to_odd(w.high, w.low));
    }
}

static void *double_new(const struct run *r, size_t count)
{
    (void)r;
    return calloc(count ? count : 1, sizeof(double));
}

static void double_free(void *data, size_t count)
{
    (void)count;
    free(data);
}

static double double_get(const void *data, size_t i)
{
    return ((const double *)data)[i];
}

static void double_get_wide(const void *data, size_t i, double wide[2])
{
    wide[0] = ((const double *)data)[i];
    wide[1] = 0;
}

static void double_set(void *data, size_t i, double x)
{
    ((double *)data)[i] = x;
}

static void double_add_to(void *data, size_t i, double x)
{
    ((double *)data)[i] += (double)x;
}

static void double_move(void *dst, size_t i, const void *src, size_t j)
{
    ((double *)dst)[i] = ((const double *)src)[j];
}

static bool double_same(const void *a, size_t i, const void *b, size_t j)
{
    return ((const double *)a)[i] == ((const double *)b)[j];
}

const struct arithmetic arith_double = {
    "double", BODIES, double_new, double_free, double_get, double_get_wide, double_set,
    double_add_to, double_move, double_same, NULL,
};
