/* answer.c: lab 05, FlashAttention-1 (arXiv 2205.14135, Algorithm 1). */
#include "lab.h"

enum { TILE = 4 };

void begin(struct state *s)
{
    s->count = (s->Nk + TILE - 1) / TILE;
    for (int r = 0; r < s->rows; r++) {
        s->m[r] = -INFINITY;
        s->l[r] = 0;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = 0;
    }
}

void fold_tile(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float m = s->m[r];
        for (int c = 0; c < s->keys; c++)
            m = fmaxf(m, s->S[r][c]);
        if (m == -INFINITY)
            continue;
        float old = s->l[r] * expf(s->m[r] - m);
        s->l[r] = old;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] *= old;
        for (int c = 0; c < s->keys; c++) {
            float p = expf(s->S[r][c] - m);
            s->l[r] += p;
            for (int d = 0; d < s->dim; d++)
                s->O[r][d] += p * s->V[c][d];
        }
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] /= s->l[r];
        s->m[r] = m;
    }
}

void finish(struct state *s)
{
    for (int r = 0; r < s->rows; r++)
        s->L[r] = s->l[r] == 0 ? -INFINITY : s->m[r] + logf(s->l[r]);
}
