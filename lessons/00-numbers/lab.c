/* Lab 00: round a float to fewer bits, to nearest, ties to even.

   For every i < s->count: y[i] is the number nearest to x[i] that has BITS bits of fraction (and
   float's exponents); of two that are equally near, the one whose last bit is 0.  Beyond the
   largest comes an infinity; a NaN stays a NaN.  7 bits are bf16.
   $VARIANT$ */
#include "lab.h"

enum { BITS = 7 };

void round_all(struct state *s)
{
    (void)s;
}
