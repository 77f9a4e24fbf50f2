/* Lab 05: FlashAttention-1: the output is finished after every tile.

   Fold tiles of scores S and values V into m, l and O, so that after every tile, for every row, m
   is the largest score so far, l = sum e^(s - m), and O = sum e^(s - m) v / l: rescaled and
   divided in every tile.  At the end write L = m + ln l.
   A row that has seen no key, or only scores of -INFINITY, has m = -INFINITY, l = 0, O = 0, and
   L = -INFINITY.
   A score or a value that is NaN and counts makes the row's O NaN.
   $VARIANT$ */
#include "lab.h"

/* Before the first tile: write m[r], l[r], O[r][d]; and s->count, how many tiles of this copy's
   size the s->Nk keys take (fold_tile is given tiles of any size). */
void begin(struct state *s)
{
    (void)s;
}

/* Fold in s->keys keys: S[r][c], V[c][d].  S and P are yours to overwrite. */
void fold_tile(struct state *s)
{
    (void)s;
}

/* After the last tile: write L[r]; O is finished already. */
void finish(struct state *s)
{
    (void)s;
}
