/* arith_float.c: the fast arithmetic: tiles of float, sites of fp32 and everything narrower.

   An fp32 site is the machine's own operation; a narrower one takes the exact or rounded-to-odd
   double result and rounds that once.  Quotients need no step to odd: a quotient of two 24-bit
   numbers that is not itself a midpoint of p <= 11 bits differs from every such midpoint by more
   than 2^-37 of it, so a double's rounding cannot move it onto one.

   Compiled once per processor level (Makefile, LEVELLED); cpu.c says which one runs. */
#include <assert.h>
#include <math.h>

#include "simulator/arith.h"
#include "simulator/round.h"

typedef float REAL;
#define REAL_IS_FLOAT 1
#define fused_step fmaf

struct rounding;
INLINE float narrow(const struct rounding *R, double exact_or_odd);

static enum kind kind_of(enum format f)
{
    assert(f != FORMAT_EXACT && f != FORMAT_FP64);
    return f == FORMAT_FP32 ? KIND_MACHINE : f == FORMAT_FP32_FTZ ? KIND_FLUSHED : KIND_NARROW;
}

#define op_add(K, R, a, b) float_add(K, &(R), a, b)
#define op_mul(K, R, a, b) float_mul(K, &(R), a, b)
#define op_div(K, R, a, b) float_div(K, &(R), a, b)
#define op_fma(K, R, a, b, c) float_fma(K, &(R), a, b, c)
#define op_round(K, R, x) float_round(K, &(R), x)
#define op_constant(K, R, real) float_round_double(K, &(R), real_value(real, true))
#define op_narrow(K, R, x) float_round_double(K, &(R), x)
#define op_special(K, R, choice, fn, y, x, n) float_special(K, &(R), choice, fn, y, x, n)

INLINE float float_add(const enum kind K, const struct rounding *R, float a, float b)
{
    if (K == KIND_MACHINE)
        return a + b;
    if (K == KIND_FLUSHED)
        return flush_float(flush_float(a) + flush_float(b));
    return narrow(R, add_odd((double)a, (double)b));
}

INLINE float float_mul(const enum kind K, const struct rounding *R, float a, float b)
{
    if (K == KIND_MACHINE)
        return a * b;
    if (K == KIND_FLUSHED)
        return flush_float(flush_float(a) * flush_float(b));
    return narrow(R, (double)a * (double)b);
}

INLINE float float_div(const enum kind K, const struct rounding *R, float a, float b)
{
    if (K == KIND_MACHINE)
        return a / b;
    if (K == KIND_FLUSHED)
        return flush_float(flush_float(a) / flush_float(b));
    return narrow(R, (double)a / (double)b);
}

INLINE float float_fma(const enum kind K, const struct rounding *R, float a, float b, float c)
{
    if (K == KIND_MACHINE)
        return fmaf(a, b, c);
    if (K == KIND_FLUSHED)
        return flush_float(fmaf(flush_float(a), flush_float(b), flush_float(c)));
    return narrow(R, add_odd((double)a * (double)b, (double)c));
}

INLINE float float_round(const enum kind K, const struct rounding *R, float x)
{
    return K == KIND_MACHINE ? x : K == KIND_FLUSHED ? flush_float(x) : narrow(R, (double)x);
}

/* x to odd. */
INLINE float float_round_double(const enum kind K, const struct rounding *R, double x)
{
    return K == KIND_MACHINE ? (float)x : K == KIND_FLUSHED ? flush_float((float)x) : narrow(R, x);
}

static void float_special(const enum kind K, const struct rounding *R, struct special_choice choice,
                          enum function fn, float *y, const float *x, int n);

#include "simulator/arith_loops.h"

INLINE float narrow(const struct rounding *R, double exact_or_odd)
{
    return (float)(round_to_grid(&R->grid, exact_or_odd * R->up) * R->down);
}

static void float_special(const enum kind K, const struct rounding *R, struct special_choice choice,
                          enum function fn, float *y, const float *x, int n)
{
    bool cr = special_is_cr(choice, fn);
    if (cr && R->up == 1) {
        special_cr(fn, R->format, R->saturate, y, x, (size_t)n);
        return;
    }
    if (cr) { /* a scaled site: the wide value, then one rounding */
        for (int i = 0; i < n; i++) {
            struct wide w = special_wide(fn, (double)x[i]);
            y[i] = float_round_double(K, R, to_odd(w.high, w.low));
        }
        return;
    }
    for (int i = 0; i < n; i++)
        y[i] = K == KIND_FLUSHED ? flush_float(x[i]) : x[i];
    special_float(choice, fn, y, y, (size_t)n);
    for (int i = 0; i < n; i++)
        y[i] = float_round(K, R, y[i]);
}

static void *float_new(const struct run *r, size_t count)
{
    (void)r;
    size_t bytes = (count * sizeof(float) + 64) / 64 * 64; /* whole cache lines: loads cross none */
    float *data = aligned_alloc(64, bytes);
    return data == NULL ? NULL : memset(data, 0, bytes);
}

static void float_free(void *data, size_t count)
{
    (void)count;
    free(data);
}

static double float_get(const void *data, size_t i)
{
    return (double)((const float *)data)[i];
}

static void float_get_wide(const void *data, size_t i, double wide[2])
{
    wide[0] = (double)((const float *)data)[i];
    wide[1] = 0;
}

static void float_set(void *data, size_t i, double x)
{
    ((float *)data)[i] = (float)x;
}

static void float_add_to(void *data, size_t i, double x)
{
    ((float *)data)[i] += (float)x;
}

static void float_move(void *dst, size_t i, const void *src, size_t j)
{
    ((float *)dst)[i] = ((const float *)src)[j];
}

static bool float_same(const void *a, size_t i, const void *b, size_t j)
{
    return ((const float *)a)[i] == ((const float *)b)[j];
}

/* The level is part of the table's name, so that the levels can stand in one library. */
#define TABLE_OF(level) arith_float_##level
#define TABLE_AT(level) TABLE_OF(level)
#define FLOAT_TABLE TABLE_AT(CPU_LEVEL)

extern const struct arithmetic FLOAT_TABLE;
const struct arithmetic FLOAT_TABLE = {
    "float", BODIES, float_new, float_free, float_get, float_get_wide, float_set,
    float_add_to, float_move, float_same, NULL,
};
