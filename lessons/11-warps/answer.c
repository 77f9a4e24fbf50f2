/* answer.c: lab 11, merging partial softmaxes; sharing rows. */
#include "lab.h"

void merge(struct state *s)
{
    float m = -INFINITY, l = 0;
    for (int w = 0; w < s->parts; w++)
        m = fmaxf(m, s->part_m[w]);
    for (int d = 0; d < s->dim; d++)
        s->O[0][d] = 0;
    for (int w = 0; w < s->parts; w++) {
        float factor = m == -INFINITY ? 0 : expf(s->part_m[w] - m);
        l += factor * s->part_l[w];
        for (int d = 0; d < s->dim; d++)
            s->O[0][d] += factor * s->part_O[w][d];
    }
    for (int d = 0; d < s->dim && l > 0; d++)
        s->O[0][d] /= l;
    s->m[0] = m;
    s->l[0] = l;
}

void share_rows(struct state *s)
{
    int each = (s->rows + s->parts - 1) / s->parts;
    for (int r = 0; r < s->rows; r++)
        s->index[r] = r / each;
}
