/* Lab 15: FLOPs and utilisation, as papers count them.

   Forward: two products of 2 Nq Nk D each for every head and sequence; causal (Nq = Nk) counts
   half.  Backward: five products where forward has two.
   sizes[0..4] = B, heads, Nq, Nk, D.
   $VARIANT$ */
#include "lab.h"

/* Write s->flops of the forward pass; s->causal is 0 or 1. */
void forward_flops(struct state *s)
{
    (void)s;
}

/* Write s->flops of the backward pass. */
void backward_flops(struct state *s)
{
    (void)s;
}

/* s->flops were done in s->seconds on a GPU of s->scale TFLOP/s: write s->ratio, the share of the
   peak that was reached, between 0 and 1. */
void utilisation(struct state *s)
{
    (void)s;
}
