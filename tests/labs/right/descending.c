/* lab 07: the last tile first, as shipped kernels walk */
#include "lab.h"

static void scale(float *x, int n, float a)
{
    while (n-- > 0)
        *x++ *= a;
}

void begin(struct state *s)
{
    s->count = s->Nk / 4 + (s->Nk % 4 > 0);
    for (int r = s->rows; r-- > 0;) {
        s->m[r] = -HUGE_VALF;
        s->l[r] = 0;
        scale(memset(s->O[r], 0, sizeof(float) * (unsigned)s->dim), s->dim, 1);
    }
}

void next_tile(struct state *s) { s->tile = s->steps - 1 - s->step; }

void fold_tile(struct state *s)
{
    for (int r = s->rows; r-- > 0;)
        for (int c = s->keys; c-- > 0;) { /* key by key: as legal as tile by tile */
            float x = s->S[r][c];
            if (x > s->m[r]) {
                float a = expf(s->m[r] - x);
                s->l[r] *= a;
                scale(s->O[r], s->dim, a);
                s->m[r] = x;
            }
            float p = x == -HUGE_VALF ? 0 : expf(x - s->m[r]);
            s->l[r] += p;
            for (int d = 0; d < s->dim; d++)
                s->O[r][d] = fmaf(p, s->V[c][d], s->O[r][d]);
        }
}

void finish(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        if (s->l[r] > 0)
            scale(s->O[r], s->dim, 1 / s->l[r]);
        s->L[r] = logf(s->l[r]) + s->m[r];
    }
}
