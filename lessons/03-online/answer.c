/* answer.c: lab 03, the recurrence of the online softmax (arXiv 1805.02867, with values). */
#include "lab.h"

void begin(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        s->m[r] = -INFINITY;
        s->l[r] = 0;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = 0;
    }
}

void take_key(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float x = s->S[r][0], m = fmaxf(s->m[r], x);
        if (x == -INFINITY)
            continue;
        float old = s->l[r] * expf(s->m[r] - m), p = expf(x - m), l = old + p;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = s->O[r][d] * (old / l) + p / l * s->V[0][d];
        s->m[r] = m;
        s->l[r] = l;
    }
}
