/* Lab 11: what split-K makes warps exchange, and split-Q does not.

   Under split-K every warp w < s->parts has seen some of the keys of one query row and holds
   part_m[w], its largest score; part_l[w] = sum e^(s - part_m[w]); part_O[w][d] = sum e^(s -
   part_m[w]) v, undivided.  A warp without a key has part_m = -INFINITY, part_l = 0, part_O = 0.
   With part_m in base 2, scores are in base 2, too, and e is 2 in these sums.
   Under split-Q every warp has its own query rows and all keys.
   $VARIANT$ */
#include "lab.h"

/* Write m[0], l[0] and the finished output O[0][d], of all keys; no key at all: O = 0. */
void merge(struct state *s)
{
    (void)s;
}

/* Split-Q: index[r], r < s->rows: which of s->parts warps holds query row r.  Warps take equal
   shares of neighbouring rows, ceil(rows / parts) each, the last one what is left. */
void share_rows(struct state *s)
{
    (void)s;
}
