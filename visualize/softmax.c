/* softmax.c: a trace read for one of its rows; see softmax.h. */
#include "visualize/softmax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum tensor_name tensor;
    const char *symbol;
} slots[SLOT_COUNT] = {{TENSOR_M, "m"},        {TENSOR_L_SUM, "l"},    {TENSOR_O_ACC, "O~"},
                       {TENSOR_O, "O"},        {TENSOR_LSE, "L"},      {TENSOR_DECAY, "a"},
                       {TENSOR_M_TILE, "m_t"}, {TENSOR_L_TILE, "l_t"}, {TENSOR_Y, "Y"},
                       {TENSOR_L_OLD, "w"}};

const char *slot_symbol(enum slot s)
{
    return slots[s].symbol;
}

static int slot_of(uint32_t tensor)
{
    for (int s = 0; s < SLOT_COUNT; s++)
        if (slots[s].tensor == tensor)
            return s;
    return -1;
}

static void *grown(void *array, int *room, int count, size_t size)
{
    if (count < *room)
        return array;
    *room = *room > 0 ? 2 * *room : 32;
    array = realloc(array, (size_t)*room * size);
    if (array == NULL)
        abort();
    return array;
}

/* The row's place in the event's array, or -1: the event is about other rows. */
static int row_in(const struct event *e, const struct row_place *p)
{
    if (e->batch != p->batch || e->head != p->head || e->rows == 0 ||
        (int64_t)e->i != p->row / e->rows)
        return -1;
    return (int)(p->row % e->rows);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static struct held held_at(const struct trace *t, size_t n, size_t at)
{
    const double(*exact)[2] = trace_exact(t, n);
    struct held h = {.is = true, .value = trace_values(t, n)[at], .event = n};
    memcpy(h.exact, exact[at], sizeof h.exact);
    return h;
}

static void seen_columns(const struct trace *t, size_t n, int row, int *lo, int *hi)
{
    const struct event *e = trace_event(t, n);
    const int *intervals = trace_intervals(t, n);
    *lo = intervals != NULL ? intervals[row] : 0;
    *hi = intervals != NULL ? intervals[(int)e->rows + row] : (int)e->cols;
}

static struct lane_tile *tile_for(struct lane *l, uint32_t j)
{
    if (l->tiles > 0 && l->tile[l->tiles - 1].j == j)
        return &l->tile[l->tiles - 1];
    l->tile = grown(l->tile, &l->tile_room, l->tiles, sizeof *l->tile);
    l->tile[l->tiles] = (struct lane_tile){.j = j};
    return &l->tile[l->tiles++];
}

/* An event of scores or weights; is it worth a beat? */
static bool take_matrix(struct lane *l, size_t n, int row, bool given)
{
    const struct event *e = trace_event(l->trace, n);
    struct lane_tile *tile = tile_for(l, e->j);
    int lo, hi;
    seen_columns(l->trace, n, row, &lo, &hi);
    if (e->tensor == TENSOR_S) {
        bool first = tile->scores == 0, hides = e->step == STEP_MASK && hi - lo < (int)e->cols;
        tile->scores = n + 1;
        tile->lo = lo, tile->hi = hi;
        if (first)
            tile->scores_beat = given ? 0 : l->beats + 1;
        return !given && (e->step == STEP_QK || hides || !(e->flags & EVENT_UNCHANGED)) &&
               (e->step != STEP_MASK || hides);
    }
    if (e->flags & EVENT_UNCHANGED && e->step != STEP_EXP)
        return false;
    if (tile->weights < 4) {
        tile->weight[tile->weights] = n;
        tile->weight_beat[tile->weights++] = l->beats + 1;
    }
    return hi > lo;
}

/* O~ becomes O by its division, one array under two names: the other one is gone. */
static void take_output(struct lane_state *now, int slot)
{
    if (slot == SLOT_O)
        now->slot[SLOT_O_ACC].is = false;
    if (slot == SLOT_O_ACC)
        now->slot[SLOT_O].is = false;
}

static bool take_number(struct lane_state *now, int slot, struct held h, enum step step)
{
    struct held *old = &now->slot[slot];
    struct held *other = slot == SLOT_O       ? &now->slot[SLOT_O_ACC]
                         : slot == SLOT_O_ACC ? &now->slot[SLOT_O]
                                              : old;
    double before = old->is          ? old->value
                    : other->is      ? other->value
                    : slot == SLOT_M ? -INFINITY
                                     : 0;
    bool renamed = !old->is && other->is && other != old && step == STEP_NORMALIZE;
    bool changed = !same_bits(before, h.value) || renamed || step == STEP_LSE ||
                   (slot >= SLOT_M_TILE && slot <= SLOT_Y && step != STEP_RESCALE);
    if (slot == SLOT_DECAY || slot == SLOT_L_OLD)
        changed = false; /* tells why something else changed */
    take_output(now, slot);
    *old = h;
    return changed;
}

/* The events from `first` on that make one beat; returns the one behind them. */
static size_t take_beat(struct lane *l, size_t first, const struct row_place *p, bool given,
                        struct lane_state *now)
{
    const struct trace *t = l->trace;
    const struct event *e = trace_event(t, first);
    struct beat beat = {
        .step = (enum step)e->step, .first = first, .tensor = (enum tensor_name)e->tensor};
    bool shown = false;
    size_t n = first, count = trace_count(t);
    for (; n < count; n++) {
        const struct event *next = trace_event(t, n);
        int row = row_in(next, p), slot = slot_of(next->tensor);
        if (next->step == STEP_LOAD)
            break;
        if (row < 0)
            continue;
        if (next->step != e->step || next->j != e->j)
            break;
        size_t column = next->cols > (uint32_t)p->dim && next->cols > 1 ? (size_t)p->dim : 0;
        if (next->tensor == TENSOR_S || next->tensor == TENSOR_P) {
            shown = take_matrix(l, n, row, given) || shown;
        } else if (slot >= 0) {
            struct held h = held_at(t, n, (size_t)row * next->cols + column);
            bool changed = take_number(now, slot, h, (enum step)next->step);
            beat.wrote |= changed || slot >= SLOT_DECAY ? 1u << slot : 0u;
            l->divisions += next->step == STEP_NORMALIZE && changed && slot == SLOT_O;
            shown = shown || changed;
        }
    }
    beat.end = n;
    if (!shown)
        return n;
    l->beat = grown(l->beat, &l->room, l->beats, sizeof *l->beat);
    now->tile = beat.tile = l->tiles > 0 ? l->tiles - 1 : 0;
    l->beat[l->beats++] = beat;
    l->state = grown(l->state, &l->state_room, l->beats, sizeof *l->state);
    l->state[l->beats] = *now;
    return n;
}

static void count_keys(struct lane *l)
{
    int key = 0;
    for (int i = 0; i < l->tiles; i++) {
        l->tile[i].key = key;
        key += l->tile[i].hi - l->tile[i].lo;
    }
}

/* A beat's step clears what belongs to the tile before. */
static void begin_tile(struct lane_state *now, const struct event *e, uint32_t *j, bool *any)
{
    if (*any && *j == e->j)
        return;
    for (int s = SLOT_DECAY; s < SLOT_COUNT; s++)
        now->slot[s].is = false;
    *j = e->j;
    *any = true;
}

/* The query tile that holds the row: tiles are as tall as the first of its scores. */
static uint32_t query_tile(const struct trace *t, const struct row_place *p)
{
    for (size_t n = 0; n < trace_count(t); n++) {
        const struct event *e = trace_event(t, n);
        if (e->tensor == TENSOR_S && e->rows > 0)
            return (uint32_t)(p->row / e->rows);
    }
    return 0;
}

static bool is_values(const struct trace *t, size_t n, const struct row_place *p, uint32_t i)
{
    const struct event *e = trace_event(t, n);
    return e->step == STEP_LOAD && e->tensor == TENSOR_V && e->batch == p->batch &&
           e->head == p->head && e->i == i && trace_values(t, n) != NULL;
}

bool lane_tell(struct lane *l, struct trace *t, const struct row_place *place, bool given,
               struct message *why)
{
    struct lane_state now = {.tile = 0};
    uint32_t j = 0, i = query_tile(t, place);
    bool any = false;
    *l = (struct lane){.trace = t};
    l->state = grown(NULL, &l->state_room, 0, sizeof *l->state);
    l->state[0] = now;
    const char *name = trace_meta(t, "algorithm");
    snprintf(l->name, sizeof l->name, "%s", name != NULL ? name : "recorded run");
    for (size_t n = 0; n < trace_count(t);) {
        const struct event *e = trace_event(t, n);
        if (is_values(t, n, place, i))
            tile_for(l, e->j)->values = n + 1;
        if (e->step == STEP_LOAD || row_in(e, place) < 0) {
            n++;
            continue;
        }
        if (trace_values(t, n) == NULL)
            return refuse(why, "no values are kept; flashulp trace --snapshots all is right");
        if (trace_exact(t, n) == NULL)
            return refuse(why, "no exact values are kept beside the run's own");
        begin_tile(&now, e, &j, &any);
        n = take_beat(l, n, place, given, &now);
    }
    count_keys(l);
    return l->beats > 0 || refuse(why, "no step of batch %u, head %u, row %lld", place->batch,
                                  place->head, (long long)place->row);
}

void lane_free(struct lane *l)
{
    trace_free(l->trace);
    free(l->beat);
    free(l->state);
    free(l->tile);
    *l = (struct lane){0};
}

bool lane_score(const struct lane *l, const struct softmax_story *s, int tile, int col, double *x)
{
    const struct lane_tile *k = &l->tile[tile];
    if (k->scores == 0)
        return false;
    const struct event *e = trace_event(l->trace, k->scores - 1);
    *x =
        trace_values(l->trace, k->scores - 1)[(size_t)row_in(e, &s->place) * e->cols + (size_t)col];
    return true;
}

bool lane_value(const struct lane *l, const struct softmax_story *s, int tile, int col, double *v)
{
    const struct lane_tile *k = &l->tile[tile];
    if (k->values == 0)
        return false;
    const struct event *e = trace_event(l->trace, k->values - 1);
    size_t column = (uint32_t)s->place.dim < e->cols ? (size_t)s->place.dim : 0;
    *v = trace_values(l->trace, k->values - 1)[(size_t)col * e->cols + column];
    return true;
}

bool lane_weight(const struct lane *l, const struct softmax_story *s, int tile, int col, int beats,
                 struct held *h)
{
    const struct lane_tile *k = &l->tile[tile];
    for (int n = k->weights - 1; n >= 0; n--)
        if (k->weight_beat[n] <= beats) {
            const struct event *e = trace_event(l->trace, k->weight[n]);
            *h = held_at(l->trace, k->weight[n],
                         (size_t)row_in(e, &s->place) * e->cols + (size_t)col);
            return true;
        }
    return false;
}
