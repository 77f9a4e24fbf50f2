/* walk_read.c: what a walk reads from its trace: which events are about its row, and the numbers
   that stood in an array before. */
#include <math.h>

#include "simulator/walk.h"

static bool of_row(const struct walk *w, size_t event)
{
    return trace_event(w->trace, event)->i == (uint32_t)w->query_tile;
}

/* The keys first .. first + count - 1 of the head that the row sees: [lo, hi), relative to first. */
static void keys_seen(const struct walk *w, int64_t first, int count, int *lo, int *hi)
{
    struct visible v = {&w->head, (int64_t)w->query_tile * w->attention.choices.Br, first, count,
                        count};
    visible_interval(&v, w->tile_row, lo, hi);
}

static bool of_keys(const struct event *e)
{
    return e->tensor == TENSOR_DK || e->tensor == TENSOR_DV;
}

bool walk_concerns(const struct walk *w, size_t event, int *first, int *count)
{
    const struct event *e = trace_event(w->trace, event);
    int hi;
    *first = w->tile_row;
    *count = 1;
    if (!w->backward || !of_keys(e))
        return event >= w->first && of_row(w, event);
    int j = (int)e->j, keys = event >= w->ends ? (int)w->head.Nk : key_count(&w->attention, j);
    keys_seen(w, event >= w->ends ? 0 : key_first(&w->attention, j), keys, first, &hi);
    *count = hi - *first;
    bool told = event >= w->ends || e->step == STEP_GRADIENT || of_row(w, event);
    return event >= w->first && *count > 0 && told;
}

/* Of decode's groups, each has arrays of its own; Q serves all. */
static bool of_group(const struct walk *w, size_t event, uint32_t split)
{
    const struct event *e = trace_event(w->trace, event);
    return e->split == split || e->tensor == TENSOR_Q;
}

/* O~ becomes O by its division: one array under two names. */
static bool same_array(uint32_t a, uint32_t b)
{
    return a == b || (a == TENSOR_O_ACC && b == TENSOR_O) || (a == TENSOR_O && b == TENSOR_O_ACC);
}

/* Backward a key tile stands for all query tiles. */
static bool stands_for_row(const struct walk *w, size_t event, enum tensor_name t, uint32_t j)
{
    bool keys = t == TENSOR_K || t == TENSOR_V;
    return w->backward && keys ? trace_event(w->trace, event)->j == j : of_row(w, event);
}

static const double *row_values(const struct walk *w, size_t event)
{
    const struct event *e = trace_event(w->trace, event);
    return trace_values(w->trace, event) + (size_t)w->tile_row * e->cols;
}

const double *walk_before(const struct walk *w, size_t event, enum tensor_name t, int *cols)
{
    uint32_t split = trace_event(w->trace, event)->split, j = trace_event(w->trace, event)->j;
    while (event-- > 0) {
        const struct event *e = trace_event(w->trace, event);
        if (!same_array(e->tensor, t) || !stands_for_row(w, event, t, j) ||
            !of_group(w, event, split))
            continue;
        *cols = (int)e->cols;
        return t == TENSOR_K || t == TENSOR_V ? trace_values(w->trace, event)
                                              : row_values(w, event);
    }
    return NULL;
}

const double *walk_last(const struct walk *w, enum tensor_name t, const double (**exact)[2])
{
    for (size_t n = trace_count(w->trace); n-- > 0;) {
        const struct event *e = trace_event(w->trace, n);
        if (e->tensor != t || !of_row(w, n))
            continue;
        *exact = trace_exact(w->trace, n) + (size_t)w->tile_row * e->cols;
        return row_values(w, n);
    }
    return NULL;
}

void walk_seen(const struct walk *w, size_t event, int *lo, int *hi)
{
    const struct event *e = trace_event(w->trace, event);
    const int *intervals = trace_intervals(w->trace, event);
    bool keys = e->tensor == TENSOR_S || e->tensor == TENSOR_P || e->tensor == TENSOR_DP ||
                e->tensor == TENSOR_DS || e->tensor == TENSOR_SLOPE;
    *lo = 0;
    *hi = (int)e->cols;
    if (intervals != NULL && e->flags & EVENT_MASKED) {
        *lo = intervals[w->tile_row];
        *hi = intervals[e->rows + w->tile_row];
    } else if (keys && !tail_unmasked(&w->attention, (int)e->j)) {
        *hi = key_count(&w->attention, (int)e->j);
    }
    if (w->backward && keys && e->tensor != TENSOR_S) /* what is hidden reaches nothing */
        keys_seen(w, key_first(&w->attention, (int)e->j), key_count(&w->attention, (int)e->j), lo,
                  hi);
}

void walk_operand_seen(const struct walk *w, size_t event, enum tensor_name t, int *lo, int *hi)
{
    *lo = 0;
    while (event-- > 0)
        if (trace_event(w->trace, event)->tensor == t &&
            trace_event(w->trace, event)->i == (uint32_t)w->query_tile) {
            walk_seen(w, event, lo, hi);
            return;
        }
}

double walk_earlier(const struct walk *w, size_t event, enum tensor_name t, int col)
{
    int cols;
    const double *row = walk_before(w, event, t == TENSOR_L_OLD ? TENSOR_L_SUM : t, &cols);
    if (row != NULL)
        return row[col];
    bool zero_start = w->simulation.choices.faults >> FAULT_ZERO_START & 1;
    return t == TENSOR_M && !zero_start ? -INFINITY : 0;
}
