/* Lab 02: a softmax that does not overflow.

   For every row r of scores S[r][c]: m[r] the largest score, P[r][c] = e^(S[r][c] - m[r]) divided
   by their sum, L[r] = ln of the sum of e^S[r][c], without forming e^S.  A score of -INFINITY has
   weight 0.
   $VARIANT$ */
#include "lab.h"

void softmax(struct state *s)
{
    (void)s;
}
