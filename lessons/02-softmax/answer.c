/* answer.c: lab 02, safe softmax and logsumexp. */
#include "lab.h"

void softmax(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float m = -INFINITY, l = 0;
        for (int c = 0; c < s->keys; c++)
            m = fmaxf(m, s->S[r][c]);
        for (int c = 0; c < s->keys; c++) {
            s->P[r][c] = expf(s->S[r][c] - m);
            l += s->P[r][c];
        }
        for (int c = 0; c < s->keys; c++)
            s->P[r][c] /= l;
        s->m[r] = m;
        s->L[r] = m + logf(l);
    }
}
