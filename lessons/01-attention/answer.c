/* answer.c: lab 01, three passes. */
#include "lab.h"

void attend(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        float top = -INFINITY, sum = 0;
        for (int c = 0; c < s->keys; c++) {
            float dot = 0;
            for (int d = 0; d < s->dim; d++)
                dot += s->Q[r][d] * s->K[c][d];
            s->S[r][c] = dot * s->scale;
            top = fmaxf(top, s->S[r][c]);
        }
        for (int c = 0; c < s->keys; c++) {
            s->P[r][c] = expf(s->S[r][c] - top);
            sum += s->P[r][c];
        }
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = 0;
        for (int c = 0; c < s->keys; c++) {
            s->P[r][c] /= sum;
            for (int d = 0; d < s->dim; d++)
                s->O[r][d] += s->P[r][c] * s->V[c][d];
        }
    }
}
