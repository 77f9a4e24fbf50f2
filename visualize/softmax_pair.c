/* softmax_pair.c: two lanes in lockstep: in each key tile, the longest run of steps that both have,
   in order (Wagner and Fischer), stands side by side; the others by themselves. */
#include <stdlib.h>

#include "visualize/softmax.h"

enum { MOST = 48 }; /* beats of a tile that are paired */

static void add_moment(struct softmax_story *s, int *room, int a, int b)
{
    if (s->moments + 1 >= *room) {
        *room = *room > 0 ? 2 * *room : 64;
        s->moment = realloc(s->moment, (size_t)*room * sizeof *s->moment);
        if (s->moment == NULL)
            abort();
    }
    struct softmax_moment *m = &s->moment[s->moments];
    if (s->moments == 0)
        m->before[0] = m->before[1] = 0;
    m->beat[0] = a;
    m->beat[1] = b;
    m[1] = (struct softmax_moment){{m->before[0] + (a >= 0), m->before[1] + (b >= 0)}, {-1, -1}};
    s->moments++;
}

/* Beats of a tile: [first, end). */
static int end_of_tile(const struct lane *l, int first)
{
    int end = first;
    while (end < l->beats && l->beat[end].tile == l->beat[first].tile && end - first < MOST)
        end++;
    return end;
}

static void pair_tile(struct softmax_story *s, int *room, int a, int a_end, int b, int b_end)
{
    static int longest[MOST + 1][MOST + 1];
    const struct beat *x = s->lane[0].beat, *y = s->lane[1].beat;
    int rows = a_end - a, cols = b_end - b;
    for (int i = rows; i >= 0; i--)
        for (int j = cols; j >= 0; j--) {
            if (i == rows || j == cols)
                longest[i][j] = 0;
            else if (x[a + i].step == y[b + j].step)
                longest[i][j] = longest[i + 1][j + 1] + 1;
            else
                longest[i][j] =
                    longest[i + 1][j] > longest[i][j + 1] ? longest[i + 1][j] : longest[i][j + 1];
        }
    for (int i = 0, j = 0; i < rows || j < cols;) {
        if (i < rows && j < cols && x[a + i].step == y[b + j].step)
            add_moment(s, room, a + i, b + j), i++, j++;
        else if (j == cols || (i < rows && longest[i + 1][j] >= longest[i][j + 1]))
            add_moment(s, room, a + i++, -1);
        else
            add_moment(s, room, -1, b + j++);
    }
}

static int tile_of(const struct softmax_story *s, int n)
{
    int lane = s->moment[n].beat[0] >= 0 ? 0 : 1;
    return s->lane[lane].beat[s->moment[n].beat[lane]].tile;
}

/* Do the lanes hold other bits of what both hold, n steps done?  Asked where both have done a tile:
   within one their steps differ anyhow. */
static bool differ(const struct softmax_story *s, int n)
{
    static const enum slot compared[] = {SLOT_M, SLOT_L, SLOT_O};
    const struct lane_state *a = &s->lane[0].state[s->moment[n].before[0]];
    const struct lane_state *b = &s->lane[1].state[s->moment[n].before[1]];
    if (n < s->moments && tile_of(s, n) == tile_of(s, n - 1))
        return false;
    for (size_t k = 0; k < sizeof compared / sizeof compared[0]; k++) {
        const struct held *x = &a->slot[compared[k]], *y = &b->slot[compared[k]];
        if (x->is && y->is && x->value != y->value &&
            (x->value == x->value || y->value == y->value))
            return true;
    }
    return false;
}

static bool weights_drift(const struct softmax_story *s, int lane, int beat)
{
    const struct lane *l = &s->lane[lane];
    const struct lane_tile *k = &l->tile[l->beat[beat].tile];
    struct held h;
    for (int col = k->lo; l->beat[beat].tensor == TENSOR_P && col < k->hi; col++)
        if (lane_weight(l, s, l->beat[beat].tile, col, beat + 1, &h) &&
            drift_in(FORMAT_FP64, h.value, h.exact) != 0)
            return true;
    return false;
}

/* Does step n, from 1, leave the exact run? */
static bool drifts(const struct softmax_story *s, int n)
{
    for (int lane = 0; lane < s->lanes; lane++) {
        int beat = s->moment[n - 1].beat[lane];
        if (beat < 0)
            continue;
        for (int k = 0; k < SLOT_COUNT; k++) {
            const struct held *h = &s->lane[lane].state[beat + 1].slot[k];
            if (h->is && drift_in(FORMAT_FP64, h->value, h->exact) != 0)
                return true;
        }
        if (weights_drift(s, lane, beat))
            return true;
    }
    return false;
}

void softmax_pair(struct softmax_story *s)
{
    int room = 0, a = 0, b = 0, b_end;
    s->parted = s->rounded = -1;
    if (s->lanes == 1) {
        for (a = 0; a < s->lane[0].beats; a++)
            add_moment(s, &room, a, -1);
    } else {
        for (int a_end; a < s->lane[0].beats || b < s->lane[1].beats; a = a_end, b = b_end) {
            a_end = a < s->lane[0].beats ? end_of_tile(&s->lane[0], a) : a;
            b_end = b < s->lane[1].beats ? end_of_tile(&s->lane[1], b) : b;
            pair_tile(s, &room, a, a_end, b, b_end);
        }
    }
    for (int n = 1; n <= s->moments; n++) {
        if (s->lanes == 2 && s->parted < 0 && differ(s, n))
            s->parted = n - 1;
        if (s->rounded < 0 && drifts(s, n))
            s->rounded = n - 1;
    }
}
