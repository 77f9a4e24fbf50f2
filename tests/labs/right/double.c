/* lab 07: sums in double, a finite stand-in for -inf at the start */
#include "lab.h"

static const float LOW = -FLT_MAX;

void begin(struct state *s)
{
    s->count = s->Nk / 4 + (s->Nk % 4 > 0);
    for (int r = 0; r < s->rows; r++) {
        s->m[r] = LOW;
        s->l[r] = 0;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = 0;
    }
}

void next_tile(struct state *s)
{
    s->tile = s->step % 2 == 0 ? s->step / 2 : s->steps - 1 - s->step / 2; /* from both ends */
}

static float weight(const struct state *s, int r, int c, float m)
{
    return s->S[r][c] < LOW ? 0 : (float)exp((double)s->S[r][c] - (double)m);
}

void fold_tile(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float m = s->m[r];
        for (int c = 0; c < s->keys; c++)
            if (s->S[r][c] > m)
                m = s->S[r][c];
        double a = s->m[r] == LOW ? 0 : exp((double)s->m[r] - (double)m), l = a * s->l[r];
        for (int c = 0; c < s->keys; c++)
            l += weight(s, r, c, m);
        for (int d = 0; d < s->dim; d++) {
            double O = a * s->O[r][d];
            for (int c = 0; c < s->keys; c++)
                O += (double)weight(s, r, c, m) * s->V[c][d];
            s->O[r][d] = (float)O;
        }
        s->l[r] = (float)l;
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
