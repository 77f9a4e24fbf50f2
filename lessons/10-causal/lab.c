/* Lab 10: which keys a query sees, and which tiles need a mask.

   Query i (0 <= i < Nq) stands at p = i + Nk - Nq and sees key j when
     causal 0: always;  causal 1: j <= p;  causal 2: j <= p and j >= p - WINDOW;
   and, where left >= 0, only j >= p - left; where right >= 0, only j <= p + right.
   The tile at hand holds queries row0 .. row0 + rows - 1 and keys key0 .. key0 + keys - 1.
   $VARIANT$ */
#include "lab.h"

enum { WINDOW = 2 };

/* S[r][c] becomes -INFINITY where query row0 + r does not see key key0 + c; the others stay. */
void mask(struct state *s)
{
    (void)s;
}

/* s->answer = 0: no query of the tile sees any of its keys (skip it), 1: every query sees every key
   (no mask is needed), 2: some do. */
void classify(struct state *s)
{
    (void)s;
}
