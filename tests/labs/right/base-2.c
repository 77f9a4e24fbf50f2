/* lab 07: m and L in base 2, as kernels keep them */
#include "lab.h"

static const float LOG2E = 1.44269504f;

void begin(struct state *s)
{
    s->count = s->Nk / 4 + (s->Nk % 4 > 0);
    for (int r = 0; r < MAX_ROWS && r < s->rows; r++) {
        s->m[r] = -INFINITY;
        s->l[r] = 0;
        memset(s->O[r], 0, (size_t)s->dim * sizeof(float));
    }
}

void next_tile(struct state *s) { s->tile = s->step; }

void fold_tile(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float m = s->m[r];
        for (int c = 0; c < s->keys; c++) {
            s->S[r][c] *= LOG2E;
            m = s->S[r][c] > m ? s->S[r][c] : m;
        }
        float shift = isinf(m) ? 0 : m, a = exp2f(s->m[r] - shift);
        s->m[r] = m;
        s->l[r] *= a;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] *= a;
        for (int c = 0; c < s->keys; c++)
            s->P[r][c] = exp2f(s->S[r][c] - shift);
        for (int c = 0; c < s->keys; c++)
            s->l[r] += s->P[r][c];
        for (int d = 0; d < s->dim; d++)
            for (int c = 0; c < s->keys; c++)
                s->O[r][d] += s->P[r][c] * s->V[c][d];
    }
}

void finish(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float inverse = s->l[r] == 0 ? 1 : 1 / s->l[r];
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] *= inverse;
        s->L[r] = s->m[r] + log2f(s->l[r]);
    }
}
