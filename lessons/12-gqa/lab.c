/* Lab 12: query heads that share key heads.

   sizes[0] = Hq query heads, sizes[1] = Hkv key/value heads, Hq a multiple of Hkv; neighbouring
   query heads share one.
   $VARIANT$ */
#include "lab.h"

/* index[h], h < Hq: the key/value head that query head h reads. */
void kv_heads(struct state *s)
{
    (void)s;
}

/* Backward: x[h], h < Hq, is what query head h contributes to an element of dK; y[k], k < Hkv, is
   that element of key head k. */
void sum_groups(struct state *s)
{
    (void)s;
}
