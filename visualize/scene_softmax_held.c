/* scene_softmax_held.c: where the lanes of a row's story stand at a time, and what each of them and
   the exact recurrence hold there. */
#include <math.h>

#include "visualize/scene_softmax.h"

struct instant instant_at(const struct softmax_story *s, double time)
{
    int n = (int)floor(time);
    n = n < 0 ? 0 : n > s->moments ? s->moments : n;
    const struct softmax_moment *m = &s->moment[n];
    struct instant i = {{m->before[0], m->before[1]}, {-1, -1}, {-1, -1}, time - n};
    for (int lane = 0; lane < 2; lane++) {
        if (i.share > 0 && n < s->moments)
            i.beat[lane] = i.last[lane] = m->beat[lane];
        else if (n > 0)
            i.last[lane] = m[-1].beat[lane];
    }
    return i;
}

int exact_lane(const struct softmax_story *s)
{
    return s->lanes - 1;
}

static struct held of_lane(const struct softmax_story *s, const int done[2], int lane,
                           enum slot slot)
{
    return s->lane[lane].state[done[lane]].slot[slot];
}

/* high + low of a / b, to about twice a double. */
static void divided(const double a[2], const double b[2], double q[2])
{
    q[0] = a[0] / b[0];
    q[1] = (fma(-q[0], b[0], a[0]) + (a[1] - q[0] * b[1])) / b[0];
    if (!isfinite(q[1]))
        q[1] = 0;
}

struct held exact_held(const struct softmax_story *s, const int done[2], enum slot slot)
{
    int lane = exact_lane(s);
    struct held h = of_lane(s, done, lane, slot);
    if (slot == SLOT_O && !h.is) { /* what it would be after a division now */
        struct held O = of_lane(s, done, lane, SLOT_O_ACC), l = of_lane(s, done, lane, SLOT_L);
        h = O;
        if (O.is && l.is && l.exact[0] != 0)
            divided(O.exact, l.exact, h.exact);
        else
            h.is = false;
    }
    h.value = h.exact[0];
    return h;
}

struct held softmax_held(const struct softmax_story *s, const int done[2], int lane, enum slot slot)
{
    return lane < s->lanes ? of_lane(s, done, lane, slot) : exact_held(s, done, slot);
}

struct held softmax_last(const struct softmax_story *s, const int done[2], int lane, enum slot slot)
{
    const struct lane *l = &s->lane[lane];
    int n = done[lane];
    while (n > 0 && !l->state[n].slot[slot].is)
        n--;
    return l->state[n].slot[slot];
}

bool softmax_key(const struct lane *l, int key, int *tile, int *col)
{
    int low = 0, high = l->tiles; /* the last tile that begins at the key or before */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (l->tile[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    const struct lane_tile *k = &l->tile[low];
    if (l->tiles == 0 || key < k->key || key >= k->key + k->hi - k->lo)
        return false;
    *tile = low;
    *col = k->lo + key - k->key;
    return true;
}
