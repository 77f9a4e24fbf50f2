/* answer.c: lab 00, rounding on the bits of a float. */
#include "lab.h"

enum { BITS = 7 };

static float rounded(float x)
{
    uint32_t bits, drop = 23 - BITS;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return x;
    /* half of the last place that stays, less one where the fraction is even: a tie goes to even;
       a carry runs into the exponent, as it should */
    bits += (UINT32_C(1) << (drop - 1)) - 1 + (bits >> drop & 1);
    bits &= ~((UINT32_C(1) << drop) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

void round_all(struct state *s)
{
    for (int i = 0; i < s->count; i++)
        s->y[i] = rounded(s->x[i]);
}
