/* Lab 04: repair a printed kernel.

   This tile kernel was printed as FlashAttention-2 and is attention only sometimes.  It has three
   faults.  Repair it: afterwards, for every row, O = sum e^(s - m) v and l = sum e^(s - m) over the
   keys so far, m their largest score; at the end O is divided by l.
   In base 2 m is the largest score times log2(e); l and O are the same numbers.
   $VARIANT$ */
#include "lab.h"

enum { TILE = 4 };

void begin(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        s->m[r] = 0;
        s->l[r] = 0;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = 0;
    }
}

void fold_tile(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float top = -INFINITY;
        for (int c = 0; c < TILE; c++)
            top = fmaxf(top, c < s->keys ? s->S[r][c] : 0);
        float m = fmaxf(s->m[r], top), decay = expf(s->m[r] - m);
        s->l[r] *= decay;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] *= decay;
        for (int c = 0; c < TILE; c++) {
            float p = expf((c < s->keys ? s->S[r][c] : 0) - top);
            s->l[r] += p;
            for (int d = 0; d < s->dim; d++)
                s->O[r][d] += p * (c < s->keys ? s->V[c][d] : 0);
        }
        s->m[r] = m;
    }
}

void finish(struct state *s)
{
    for (int r = 0; r < s->rows; r++)
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] /= s->l[r];
}
