/* answer.c: lab 15, FLOPs; in double, since the products pass 2^31. */
#include "lab.h"

void forward_flops(struct state *s)
{
    s->flops = s->causal ? 2 : 4;
    for (int i = 0; i < 5; i++)
        s->flops *= (double)s->sizes[i];
}

void backward_flops(struct state *s)
{
    forward_flops(s);
    s->flops *= 2.5;
}

void utilisation(struct state *s)
{
    s->ratio = s->flops / s->seconds / (s->scale * 1e12);
}
