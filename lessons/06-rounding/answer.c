/* answer.c: lab 06: bf16 weights in P V, unrounded ones in l. */
#include "lab.h"

static float bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7FFF + (bits >> 16 & 1);
    bits &= 0xFFFF0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void begin(struct state *s)
{
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
        float decay = expf(s->m[r] - m);
        s->l[r] *= decay;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] *= decay;
        for (int c = 0; c < s->keys; c++) {
            float p = expf(s->S[r][c] - m);
            s->l[r] += p;
            for (int d = 0; d < s->dim; d++)
                s->O[r][d] += bf16(p) * s->V[c][d];
        }
        s->m[r] = m;
    }
}

void finish(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = s->l[r] == 0 ? 0 : s->O[r][d] / s->l[r];
        s->L[r] = s->l[r] == 0 ? -INFINITY : s->m[r] + logf(s->l[r]);
    }
}
