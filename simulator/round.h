/* round.h: one rounding to any format, fast: the simulator's own.

   A result is first had in double, exactly or "to odd" (truncated, the last bit set if anything was
   lost); rounding that to a format of p <= 24 bits is then the only rounding, since a double has
   more than p + 2 bits.  The rounding itself adds and subtracts 1.5 * 2^52 quanta, which lets the
   adder round to nearest even at the quantum's place.  reference/format.c does the same by integer
   arithmetic; a test compares them on every float.

   Always called with a constant format, so that the tests on it vanish. */
#ifndef FLASHULP_ROUND_H
#define FLASHULP_ROUND_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reference/format.h"

#define INLINE static inline __attribute__((always_inline))

/* Formats whose values are rounded from a wider one here (the others are the machine's own). */
INLINE bool format_is_narrow(enum format f)
{
    return f == FORMAT_TF32 || f == FORMAT_FP16 || f == FORMAT_BF16 || f == FORMAT_E4M3 ||
           f == FORMAT_E5M2;
}

INLINE int format_precision(enum format f)
{
    switch (f) {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning) \
    case FORMAT_##id: \
        return p;
#include "reference/formats.def"
#undef FORMAT
    default:
        return 0;
    }
}

INLINE int format_emin(enum format f)
{
    switch (f) {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning) \
    case FORMAT_##id: \
        return emin;
#include "reference/formats.def"
#undef FORMAT
    default:
        return 0;
    }
}

INLINE int format_emax(enum format f)
{
    switch (f) {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning) \
    case FORMAT_##id: \
        return emax;
#include "reference/formats.def"
#undef FORMAT
    default:
        return 0;
    }
}

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

/* The largest finite number; e4m3 gives its top code to NaN. */
INLINE double format_top(enum format f)
{
    int p = format_precision(f);
    int last = f == FORMAT_E4M3 ? p - 2 : p - 1;
    return (2.0 - ldexp(1.0, -last)) * ldexp(1.0, format_emax(f));
}

/* x, exact or to odd, rounded to a format of at most 24 bits.  `saturate`: whatever exceeds the
   largest finite number, infinities too, becomes that number. */
INLINE double round_narrow(enum format f, bool saturate, double x)
{
    const int p = format_precision(f);
    const double top = format_top(f);
    int e = (int)(bits_of(x) >> 52 & 0x7FF) - 1023;
    e = e < format_emin(f) ? format_emin(f) : e;
    e = e > format_emax(f) + 1 ? format_emax(f) + 1 : e;
    /* 1.5 * 2^(52 + quantum's exponent): the sum's last place is the quantum */
    double shift = double_of((uint64_t)(e - p + 1 + 52 + 1023) << 52 | UINT64_C(1) << 51);
    double rounded = copysign((x + shift) - shift, x);
    double over = saturate ? top : f == FORMAT_E4M3 ? (double)NAN : (double)INFINITY;
    rounded = fabs(rounded) > top ? copysign(over, x) : rounded;
    return rounded;
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
    if (s == 0)
        return error == 0 ? s : copysign(0x1p-1074, error);
    uint64_t bits = bits_of(s);
    bool away = (error > 0) != (s > 0); /* the true value lies nearer zero than s */
    uint64_t odd = bits & 1 ? bits : away ? bits - 1 : bits | 1;
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
