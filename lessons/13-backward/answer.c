/* answer.c: lab 13, the five products of a backward tile. */
#include "lab.h"

void row_delta(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        s->delta[r] = 0;
        for (int d = 0; d < s->dim; d++)
            s->delta[r] += s->dO[r][d] * s->O[r][d];
    }
}

void backward_tile(struct state *s)
{
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->keys; c++) {
            float p = expf(s->S[r][c] - s->L[r]), dp = 0;
            for (int d = 0; d < s->dim; d++)
                dp += s->dO[r][d] * s->V[c][d];
            float ds = p * (dp - s->delta[r]) * s->scale;
            for (int d = 0; d < s->dim; d++) {
                s->dV[c][d] += p * s->dO[r][d];
                s->dQ[r][d] += ds * s->K[c][d];
                s->dK[c][d] += ds * s->Q[r][d];
            }
        }
}
