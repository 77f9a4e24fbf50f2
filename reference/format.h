/* format.h: number formats: rounding, encoding, spacing.  The table is formats.def.

   This is the readable side: one number at a time, integer arithmetic on the bits, no reliance on
   the machine's own conversions.  The simulator has its own fast rounding (simulator/round.h); a
   test compares the two on every float.  Valid C++17. */
#ifndef FLASHULP_FORMAT_H
#define FLASHULP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum format {
#define FORMAT(id, name, bits, p, emin, emax, inf, meaning) FORMAT_##id,
#include "reference/formats.def"
#undef FORMAT
    FORMAT_COUNT
};

struct format_info {
    const char *name;
    int bits;      /* storage */
    int precision; /* significand bits, the leading one included; 0 = exact */
    int emin, emax;
    bool has_infinity;
    double largest; /* largest finite value; infinity for exact */
    const char *meaning;
};

const struct format_info *format_info(enum format f);

/* Looks a name up ("bf16"); false with a sentence naming the nearest when unknown. */
struct message;
bool format_from_name(const char *name, enum format *f, struct message *why);

/* x rounded once to f, to nearest, ties to even, as a double (every format's values are doubles).
   Overflow gives infinity, in e4m3 NaN, or the largest finite number when `saturate`; an infinity
   counts as overflow.  NaN gives a quiet NaN; fp32-ftz gives zero of x's sign for a subnormal result
   (judged after rounding to fp32: what rounds up to 2^-126 stays). */
double format_round(enum format f, double x, bool saturate);
/* The same for n numbers, the format looked at once; y may be x. */
void format_round_row(enum format f, bool saturate, double *y, const double *x, size_t n);

/* The bits that hold x in f (x must be a value of f), in the low `bits` of the word; NaN is the
   canonical one: 7FC00000, 7FC0, 7E00, 7F (e4m3), 7F (e5m2).  And back (fp32-ftz reads a subnormal
   as zero).  exact has no bits, no next number and no steps: asking is the caller's mistake. */
uint64_t format_encode(enum format f, double x);
double format_decode(enum format f, uint64_t bits);

/* Distance between consecutive numbers of f at |x| (the subnormal spacing below 2^emin, in fp32-ftz
   2^emin itself; beyond the largest number the spacing there); 0 for exact, NaN for a NaN or an
   infinity. */
double format_ulp(enum format f, double x);

/* The next number of f above (direction > 0) or below x, x being a value of f; at the end of the
   range an infinity, or x itself where the format has none. */
double format_next(enum format f, double x, int direction);

/* How many steps of f lead from a to b (negative when b < a); both values of f, neither NaN.
   +0 and -0 are no step apart; an infinity is one step beyond the largest finite number.  Held
   inside int64_t where fp64 has more. */
int64_t format_steps(enum format f, double a, double b);

#endif
