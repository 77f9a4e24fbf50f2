/* round.h: one rounding to any format, fast: the simulator's own.

   A result is first had in double, exactly or "to odd" (truncated, the last bit set if anything was
   lost); rounding that to a format of p <= 24 bits is then the only rounding, since a double has
   more than p + 2 bits.  The rounding itself adds and subtracts 1.5 * 2^52 quanta, which lets the
   adder round to nearest even at the quantum's place.  reference/format.c does the same by integer
   arithmetic; a test compares them on every float.

   A format is described by a `struct grid`, made once outside a loop: one loop serves every narrow
   format. */
#ifndef FLASHULP_ROUND_H
#define FLASHULP_ROUND_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reference/format.h"

#define INLINE static inline __attribute__((always_inline))

/* How an operation reaches its format, from a machine type that is wider or the same: by itself;
   by itself, subnormals becoming zeros (fp32-ftz); by one more step, to a narrower format. */
enum kind { KIND_MACHINE, KIND_FLUSHED, KIND_NARROW };

INLINE double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 2^e, |e| < 1023. */
INLINE double power_of_two(int e)
{
    return double_of((uint64_t)(e + 1023) << 52);
}

/* The largest finite number; e4m3 gives its top code to NaN. */
INLINE double format_top(enum format f)
{
    const struct format_info *info = format_info(f);
    int last = f == FORMAT_E4M3 ? info->precision - 2 : info->precision - 1;
    return (2.0 - power_of_two(-last)) * power_of_two(info->emax);
}

/* A format of p <= 24 bits, as its numbers lie on the line. */
struct grid {
    double smallest, beyond; /* 2^emin, 2^(emax + 1) */
    double magic;            /* times a binade's 2^e: 1.5 * 2^52 of its quanta */
    double top, over;        /* the largest finite number; what exceeds it becomes */
};

INLINE struct grid grid_of(enum format f, bool saturate)
{
    const struct format_info *info = format_info(f);
    double top = format_top(f);
    return (struct grid){power_of_two(info->emin), power_of_two(info->emax + 1),
                         1.5 * power_of_two(53 - info->precision), top,
                         saturate ? top : f == FORMAT_E4M3 ? (double)NAN : (double)INFINITY};
}

/* x, exact or to odd, rounded once: the last place of x + shift is the quantum. */
INLINE double round_to_grid(const struct grid *g, double x)
{
    double binade = double_of(bits_of(x) & UINT64_C(0x7FF) << 52);
    binade = binade > g->smallest ? binade : g->smallest;
    binade = binade < g->beyond ? binade : g->beyond;
    double shift = binade * g->magic, rounded = copysign((x + shift) - shift, x);
    return fabs(rounded) > g->top ? copysign(g->over, x) : rounded;
}

/* The same to a format of at most 24 bits.  `saturate`: whatever exceeds the largest finite number,
   infinities too, becomes that number. */
INLINE double round_narrow(enum format f, bool saturate, double x)
{
    const struct grid g = grid_of(f, saturate);
    return round_to_grid(&g, x);
}

/* Subnormal floats become zeros of their sign. */
INLINE float flush_float(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* s + error, the error known exactly and below s's last place: truncated, its last bit set.  From 0
   (underflow) that is the least subnormal of the error's sign. */
INLINE double to_odd(double s, double error)
{
    const uint64_t bits = bits_of(s), sign = bits_of(error) & UINT64_C(1) << 63;
    const uint64_t away = (error > 0) != (s > 0); /* the true value lies nearer zero than s */
    const uint64_t odd = s == 0 ? sign | 1 : (bits - (away & ~bits & 1)) | 1;
    return error == 0 || !(fabs(s) <= 0x1.fffffffffffffp1023) ? s : double_of(odd);
}

/* a + b to odd (Knuth's error-free sum). */
INLINE double add_odd(double a, double b)
{
    double s = a + b;
    double t = s - a;
    double error = (a - (s - t)) + (b - t);
    return to_odd(s, error);
}

#endif
