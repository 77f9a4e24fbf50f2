/* lab 02: L first, then the weights as e^(s - L) */
#include "lab.h"

void softmax(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        double sum = 0;
        s->m[r] = s->S[r][0];
        for (int c = 1; c < s->keys; c++)
            s->m[r] = s->S[r][c] > s->m[r] ? s->S[r][c] : s->m[r];
        for (int c = 0; c < s->keys; c++)
            sum += exp((double)s->S[r][c] - (double)s->m[r]);
        double L = (double)s->m[r] + log(sum);
        for (int c = 0; c < s->keys; c++)
            s->P[r][c] = (float)exp((double)s->S[r][c] - L);
        s->L[r] = (float)(L / log(2));
    }
}
