/* walk.c: a trace of one head, read for one of its rows, as numbered steps; see walk.h. */
#include "simulator/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"

static void *grown(void *array, int *room, int count, size_t size)
{
    if (count < *room)
        return array;
    *room = *room > 0 ? 2 * *room : 64;
    array = realloc(array, (size_t)*room * size);
    if (array == NULL)
        abort();
    return array;
}

const char *walk_label(enum step step)
{
    static const char *const labels[STEP_COUNT] = {
#define STEP(id, label, ...) label,
#include "simulator/steps.def"
#undef STEP
    };
    return labels[step];
}

static bool of_row(const struct walk *w, size_t event)
{
    return trace_event(w->trace, event)->i == (uint32_t)w->query_tile;
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

static const double *row_values(const struct walk *w, size_t event)
{
    const struct event *e = trace_event(w->trace, event);
    return trace_values(w->trace, event) + (size_t)w->tile_row * e->cols;
}

const double *walk_before(const struct walk *w, size_t event, enum tensor_name t, int *cols)
{
    uint32_t split = trace_event(w->trace, event)->split;
    while (event-- > 0) {
        const struct event *e = trace_event(w->trace, event);
        if (!same_array(e->tensor, t) || !of_row(w, event) || !of_group(w, event, split))
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
    bool keys = e->tensor == TENSOR_S || e->tensor == TENSOR_P;
    *lo = 0;
    *hi = (int)e->cols;
    if (intervals != NULL && e->flags & EVENT_MASKED) {
        *lo = intervals[w->tile_row];
        *hi = intervals[e->rows + w->tile_row];
    } else if (keys && !tail_unmasked(&w->attention, (int)e->j)) {
        *hi = key_count(&w->attention, (int)e->j);
    }
}

/* Does the step make its array anew, so that what stood there before says nothing? */
static bool made_anew(const struct event *e)
{
    switch (e->step) {
    case STEP_QK:
    case STEP_EXP:
    case STEP_LSE:
    case STEP_GROUP:
    case STEP_COMBINE:
        return true;
    case STEP_ROW_MAX:
        return e->tensor == TENSOR_M_TILE;
    case STEP_ROW_SUM:
        return e->tensor == TENSOR_L_TILE;
    case STEP_PV:
        return e->tensor == TENSOR_Y;
    default:
        return false;
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

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Are a tile's empty places worth a step?  Not those of tiles the user wrote, of lengths that
   differ, nor those of a single tile that is wider than the problem. */
static bool ragged_counts(const struct walk *w)
{
    return w->input.problem.tiles == 0 && key_tiles(&w->attention) > 1;
}

static bool changes_row(const struct walk *w, size_t event)
{
    const struct event *e = trace_event(w->trace, event);
    const double *row = row_values(w, event);
    int lo, hi;
    walk_seen(w, event, &lo, &hi);
    if (e->step == STEP_MASK)
        return hi - lo < (ragged_counts(w) ? (int)e->cols : key_count(&w->attention, (int)e->j));
    if (made_anew(e))
        return hi > lo;
    if (e->flags & EVENT_UNCHANGED)
        return false;
    for (int c = lo; c < hi; c++)
        if (!same_bits(row[c], walk_earlier(w, event, (enum tensor_name)e->tensor, c)))
            return true;
    return false;
}

/* The factors a and b tell why something else changed. */
static bool auxiliary(const struct event *e)
{
    return e->tensor == TENSOR_DECAY || e->tensor == TENSOR_GROWTH;
}

static bool shown(const struct walk *w, size_t event)
{
    const struct event *e = trace_event(w->trace, event);
    if (e->step == STEP_LOAD || !of_row(w, event))
        return false;
    if ((e->step == STEP_QK || e->step == STEP_SCALE) && w->input.problem.scores_given)
        return false;
    return auxiliary(e) || changes_row(w, event);
}

static double ulp_at(enum format f, double exact)
{
    double smallest = ldexp(1.0, format_info(f)->emin);
    return format_ulp(f, fabs(exact) > smallest ? exact : smallest);
}

static void measure(const struct walk *w, struct walk_line *line)
{
    bool exact_finite = isfinite(line->exact[0]), finite = isfinite(line->value);
    if (exact_finite && finite) {
        line->kind = WALK_DRIFT;
        line->drift =
            ((line->value - line->exact[0]) - line->exact[1]) / ulp_at(w->format, line->exact[0]);
    } else {
        bool same = line->value == line->exact[0] || (isnan(line->value) && isnan(line->exact[0]));
        line->kind = same ? WALK_NO_DRIFT : WALK_OTHER_KIND;
    }
}

static void add_line(struct walk *w, size_t event, int tile, int col)
{
    const struct event *e = trace_event(w->trace, event);
    size_t at = (size_t)w->tile_row * e->cols + (size_t)col;
    const double *exact = trace_exact(w->trace, event)[at];
    struct walk_line line = {
        .col = col, .value = trace_values(w->trace, event)[at], .exact = {exact[0], exact[1]}};
    measure(w, &line);
    if (w->input.figures != NULL)
        line.figure = example_figure(w->input.figures, tile, (enum step)e->step,
                                     (enum tensor_name)e->tensor, (int)w->row, col);
    w->lines = grown(w->lines, &w->line_room, w->line_count, sizeof *w->lines);
    w->lines[w->line_count++] = line;
}

/* Output columns are those of --dims; a mask has no numbers. */
static bool column_wanted(const struct walk *w, const struct event *e, int col)
{
    bool output = e->tensor == TENSOR_O || e->tensor == TENSOR_O_ACC || e->tensor == TENSOR_Y ||
                  e->tensor == TENSOR_GROUP_O;
    for (int64_t d = 0; output && d < w->selection.dims; d++)
        if (w->selection.dim[d] == col)
            return true;
    return !output && e->step != STEP_MASK;
}

static void add_group(struct walk *w, size_t event, int tile)
{
    const struct event *e = trace_event(w->trace, event);
    struct walk_group group = {
        .event = event, .tensor = (enum tensor_name)e->tensor, .first = w->line_count};
    int lo, hi;
    walk_seen(w, event, &lo, &hi);
    walk_equation(w, event, group.equation, sizeof group.equation);
    for (int c = lo; c < hi; c++)
        if (column_wanted(w, e, c))
            add_line(w, event, tile, c);
    group.count = w->line_count - group.first;
    w->groups = grown(w->groups, &w->group_room, w->group_count, sizeof *w->groups);
    w->groups[w->group_count++] = group;
}

/* Events from..to are one step: shown when one of them, a and b aside, is. */
static void add_step(struct walk *w, const size_t *events, int count, bool after)
{
    bool any = false;
    const struct event *e = trace_event(w->trace, events[0]);
    struct walk_step step = {w->step_count + 1, (enum step)e->step, after ? WALK_AFTER : (int)e->j,
                             w->group_count, 0};
    for (int n = 0; n < count; n++)
        any = any || (shown(w, events[n]) && !auxiliary(trace_event(w->trace, events[n])));
    if (!any)
        return;
    for (int n = 0; n < count; n++)
        if (shown(w, events[n]))
            add_group(w, events[n], step.tile);
    step.count = w->group_count - step.first;
    w->steps = grown(w->steps, &w->step_room, w->step_count, sizeof *w->steps);
    w->steps[w->step_count++] = step;
}

/* Divisions by a sum of weights: of P, or of an O~ that had not been divided. */
static void count_division(struct walk *w, const struct event *e, uint32_t *output)
{
    if (e->step == STEP_WEIGHT || e->tensor == TENSOR_GROUP_O || (e->step == STEP_NORMALIZE && *output == TENSOR_O_ACC))
        w->divisions++;
    if (e->tensor == TENSOR_O || e->tensor == TENSOR_O_ACC)
        *output = e->tensor;
}

/* The end of a row is NORMALIZE, LSE, STORE, in that order, decode's with COMBINE before; fa1 normalises in its tiles too. */
static bool after_tiles(const struct walk *w, const size_t *events, size_t count, size_t n)
{
    enum step step = (enum step)trace_event(w->trace, events[n])->step;
    if (step == STEP_NORMALIZE)
        return n + 1 < count && trace_event(w->trace, events[n + 1])->step == STEP_LSE;
    return step == STEP_LSE || step == STEP_STORE || step == STEP_COMBINE;
}

static void tell(struct walk *w)
{
    size_t all = trace_count(w->trace), count = 0;
    size_t *events = malloc((all + 1) * sizeof *events);
    uint32_t output = TENSOR_O;
    if (events == NULL)
        abort();
    for (size_t n = 0; n < all; n++)
        if (of_row(w, n) && trace_event(w->trace, n)->step != STEP_LOAD)
            events[count++] = n;
    for (size_t n = 0, end; n < count; n = end) {
        const struct event *e = trace_event(w->trace, events[n]);
        for (end = n; end < count; end++) {
            const struct event *next = trace_event(w->trace, events[end]);
            if (next->step != e->step || next->j != e->j ||
                (end > n && after_tiles(w, events, count, end) && e->step == STEP_NORMALIZE))
                break;
            count_division(w, next, &output);
        }
        add_step(w, events + n, (int)(end - n), after_tiles(w, events, count, n));
    }
    free(events);
}

/* Every value of one head is kept, with the exact one beside it. */
static bool room_for(const struct walk *w, struct message *why)
{
    const struct choices *c = &w->attention.choices;
    double rows = (double)query_tiles(&w->attention), keys = (double)key_tiles(&w->attention);
    double tile =
        8.0 * c->Br * c->Bc + 4.0 * c->Br * (double)w->head.D + 2.0 * c->Bc * (double)w->head.D;
    double bytes = 24 * tile * rows * keys;
    if (bytes <= 4e9)
        return true;
    return refuse(why,
                  "a walk keeps every value of one head, here about %.0f GB; a head of fewer "
                  "queries and keys is right (%s x %s now), or flashulp run",
                  bytes / 1e9, grouped(w->head.Nq).text, grouped(w->head.Nk).text);
}

/* Where the row lies among the tiles.  A grouped kernel's rows are the heads of a group. */
static void place_row(struct walk *w)
{
    const struct simulation *s = &w->simulation;
    bool grouped = s->is_kernel && kernel_info(s->kernel.kernel)->flags & GROUPED;
    struct problem seen = w->input.problem;
    struct head h = w->head;
    int64_t row = w->row;
    if (grouped) {
        seen.Nq = h.Nq = seen.Hq / seen.Hkv;
        h.problem = &seen;
        row = h.head % seen.Nq;
    }
    w->attention = (struct attention){.head = &w->head, .choices = simulation_choices(s, &h)};
    w->query_tile = (int)(row / w->attention.choices.Br);
    w->tile_row = (int)(row % w->attention.choices.Br);
}

static bool choose_row(struct walk *w, const struct scenario *s, struct message *why)
{
    if (!scenario_select(s, &w->input.problem, &w->selection, why))
        return false;
    if (w->selection.rows == 0)
        return refuse(why, "the selection has no row; a problem of at least one query and "
                           "--batch, --heads, --rows that exist are right");
    w->head = problem_head(&w->input.problem, w->selection.unit[0]);
    w->row = w->selection.row[0];
    place_row(w);
    return room_for(w, why);
}

static bool record(struct walk *w, struct message *why)
{
    struct result result;
    struct simulation *s = &w->simulation;
    s->threads = 1;
    s->twin = true;
    s->unit_first = w->selection.unit[0];
    s->unit_count = 1;
    s->trace = w->trace = trace_new(TRACE_VALUES);
    if (w->trace == NULL)
        return refuse(why, "no memory for the steps");
    if (!simulate(&w->input.problem, s, &result, why))
        return false;
    result_free(&result);
    return trace_complete(w->trace) || refuse(why, "no memory for the steps");
}

bool walk_new(struct walk *w, const struct scenario *s, struct message *why)
{
    *w = (struct walk){0};
    if (!scenario_problem(s, &w->input, why))
        return false;
    if (!scenario_simulation(s, &w->input, &w->simulation, why) || !choose_row(w, s, why) ||
        !record(w, why)) {
        walk_free(w);
        return false;
    }
    w->format = w->simulation.policy.site[SITE_OUT].format;
    if (w->format == FORMAT_EXACT)
        w->format = FORMAT_FP64;
    tell(w);
    return true;
}

void walk_free(struct walk *w)
{
    if (w->trace != NULL)
        trace_free(w->trace);
    selection_free(&w->selection);
    scenario_input_free(&w->input);
    free(w->lines);
    free(w->groups);
    free(w->steps);
    *w = (struct walk){0};
}
