/* lab 10: each row's visible keys as one interval, not pair by pair */
#include "lab.h"

enum { WINDOW = 2 };

static void interval(const struct state *s, int r, int *lo, int *hi)
{
    int p = s->row0 + r + s->Nk - s->Nq;
    *lo = 0;
    *hi = s->Nk;
    if (s->causal != 0 && p + 1 < *hi)
        *hi = p + 1;
    if (s->causal == 2 && p - WINDOW > *lo)
        *lo = p - WINDOW;
    if (s->left >= 0 && p - s->left > *lo)
        *lo = p - s->left;
    if (s->right >= 0 && p + s->right + 1 < *hi)
        *hi = p + s->right + 1;
    *lo = (*lo > s->key0 ? *lo : s->key0) - s->key0;
    *hi = (*hi < s->key0 + s->keys ? *hi : s->key0 + s->keys) - s->key0;
}

void mask(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        int lo, hi;
        interval(s, r, &lo, &hi);
        for (int c = 0; c < s->keys; c++)
            s->S[r][c] = c < lo || c >= hi ? -INFINITY : s->S[r][c];
    }
}

void classify(struct state *s)
{
    int any = 0, all = 1;
    for (int r = 0; r < s->rows; r++) {
        int lo, hi;
        interval(s, r, &lo, &hi);
        any |= lo < hi;
        all &= lo <= 0 && hi >= s->keys;
    }
    s->answer = !any ? 0 : all ? 1 : 2;
}
