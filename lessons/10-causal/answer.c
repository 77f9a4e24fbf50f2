/* answer.c: lab 10, visibility by definition. */
#include "lab.h"

enum { WINDOW = 2 };

static bool sees(const struct state *s, int r, int c)
{
    int p = s->row0 + r + s->Nk - s->Nq, j = s->key0 + c;
    return (s->causal == 0 || j <= p) && (s->causal != 2 || j >= p - WINDOW) &&
           (s->left < 0 || j >= p - s->left) && (s->right < 0 || j <= p + s->right);
}

void mask(struct state *s)
{
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->keys; c++)
            if (!sees(s, r, c))
                s->S[r][c] = -INFINITY;
}

void classify(struct state *s)
{
    int seen = 0;
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->keys; c++)
            seen += sees(s, r, c);
    s->answer = seen == 0 ? 0 : seen == s->rows * s->keys ? 1 : 2;
}
