/* answer.c: lab 12, index arithmetic forward, sums backward. */
#include "lab.h"

void kv_heads(struct state *s)
{
    for (int h = 0; h < s->sizes[0]; h++)
        s->index[h] = h / (int)(s->sizes[0] / s->sizes[1]);
}

void sum_groups(struct state *s)
{
    int group = (int)(s->sizes[0] / s->sizes[1]);
    for (int k = 0; k < s->sizes[1]; k++)
        s->y[k] = 0;
    for (int h = 0; h < s->sizes[0]; h++)
        s->y[h / group] += s->x[h];
}
