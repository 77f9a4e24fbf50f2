/* walk.c: a trace of one head, read for one of its rows, as numbered steps; see walk.h. */
#include "simulator/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "simulator/simulate_parts.h"

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
    case STEP_DELTA:
    case STEP_REWEIGH:
    case STEP_DP:
    case STEP_DQ_COPIES:
    case STEP_GROUP_SUM:
        return true;
    case STEP_DS:
        return e->tensor != TENSOR_DP;
    case STEP_DQ:
        return e->tensor == TENSOR_DQ_PART;
    default:
        return false;
    }
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

static bool key_gradient(const struct event *e)
{
    return e->tensor == TENSOR_DK || e->tensor == TENSOR_DV;
}

/* A number of dK or dV in the event before that shows the same rows: 0 at first. */
static double earlier_of_keys(const struct walk *w, size_t event, size_t at)
{
    const struct event *e = trace_event(w->trace, event);
    for (size_t n = event; n-- > w->first;) {
        const struct event *before = trace_event(w->trace, n);
        if (before->tensor == e->tensor && before->j == e->j && before->rows == e->rows)
            return trace_values(w->trace, n)[at];
    }
    return 0;
}

static bool changes_row(const struct walk *w, size_t event)
{
    const struct event *e = trace_event(w->trace, event);
    const double *values = trace_values(w->trace, event);
    int lo, hi, first, count;
    walk_seen(w, event, &lo, &hi);
    walk_concerns(w, event, &first, &count);
    if (e->step == STEP_MASK)
        return hi - lo < (ragged_counts(w) ? (int)e->cols : key_count(&w->attention, (int)e->j));
    if (made_anew(e))
        return hi > lo;
    if (e->flags & EVENT_UNCHANGED)
        return false;
    for (int row = first; row < first + count; row++)
        for (int c = lo; c < hi; c++) {
            size_t at = (size_t)row * e->cols + (size_t)c;
            double before = key_gradient(e) ? earlier_of_keys(w, event, at)
                                            : walk_earlier(w, event, (enum tensor_name)e->tensor, c);
            if (!same_bits(values[at], before))
                return true;
        }
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
    int first, count;
    if (e->step == STEP_LOAD || !walk_concerns(w, event, &first, &count))
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

/* What is 0 in real numbers, and what the twin's own digits leave of it. */
static void settle_zero(const struct event *e, struct walk_line *line)
{
    if (e->tensor == TENSOR_DS_SUM && fabs(line->exact[0]) < ldexp(fabs(line->value), -20)) {
        line->exact[0] = line->exact[1] = 0;
        line->kind = WALK_NO_DRIFT;
    }
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

static void add_line(struct walk *w, size_t event, int tile, int row, int col)
{
    const struct event *e = trace_event(w->trace, event);
    size_t at = (size_t)row * e->cols + (size_t)col;
    const double *exact = trace_exact(w->trace, event)[at];
    int64_t keys = event >= w->ends ? 0 : key_first(&w->attention, (int)e->j);
    struct walk_line line = {.col = col,
                             .key = key_gradient(e) ? keys + row : -1,
                             .at = at,
                             .value = trace_values(w->trace, event)[at],
                             .exact = {exact[0], exact[1]}};
    measure(w, &line);
    settle_zero(e, &line);
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
                  e->tensor == TENSOR_GROUP_O || e->tensor == TENSOR_DQ ||
                  e->tensor == TENSOR_DQ_PART || key_gradient(e);
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
    int lo, hi, first, count;
    walk_seen(w, event, &lo, &hi);
    walk_concerns(w, event, &first, &count);
    walk_equation(w, event, group.equation, sizeof group.equation);
    for (int row = first; row < first + count; row++)
        for (int c = lo; c < hi; c++)
            if (column_wanted(w, e, c))
                add_line(w, event, tile, row, c);
    group.count = w->line_count - group.first;
    w->groups = grown(w->groups, &w->group_room, w->group_count, sizeof *w->groups);
    w->groups[w->group_count++] = group;
}

/* Events from..to are one step: shown when one of them, a and b aside, is. */
static void add_step(struct walk *w, const size_t *events, int count, int tile)
{
    bool any = false;
    const struct event *e = trace_event(w->trace, events[0]);
    struct walk_step step = {w->step_count + 1, (enum step)e->step, tile, w->group_count, 0};
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

/* Backward D comes first, the end when dQ is finished. */
static int tile_of(const struct walk *w, const size_t *events, size_t count, size_t n)
{
    const struct event *e = trace_event(w->trace, events[n]);
    if (w->backward && e->step == STEP_DELTA)
        return WALK_BEFORE;
    bool after = w->backward ? events[n] >= w->ends : after_tiles(w, events, count, n);
    return after ? WALK_AFTER : (int)e->j;
}

/* Where the backward pass begins, and where its tiles end. */
static void find_backward(struct walk *w)
{
    size_t all = trace_count(w->trace);
    w->first = w->backward ? all : 0;
    w->ends = all;
    for (size_t n = all; n-- > 0 && w->backward;) {
        const struct event *e = trace_event(w->trace, n);
        if (e->step == STEP_DELTA)
            w->first = n;
        if (e->step == STEP_DQ_COPIES || (e->step == STEP_GRADIENT && e->tensor == TENSOR_DQ))
            w->ends = n;
    }
}

static void tell(struct walk *w)
{
    size_t all = trace_count(w->trace), count = 0;
    size_t *events = malloc((all + 1) * sizeof *events);
    uint32_t output = TENSOR_O;
    int first_row, rows;
    if (events == NULL)
        abort();
    find_backward(w);
    for (size_t n = 0; n < all; n++)
        if (walk_concerns(w, n, &first_row, &rows) && trace_event(w->trace, n)->step != STEP_LOAD)
            events[count++] = n;
    for (size_t n = 0, end; n < count; n = end) {
        const struct event *e = trace_event(w->trace, events[n]);
        for (end = n; end < count; end++) {
            const struct event *next = trace_event(w->trace, events[end]);
            if (next->step != e->step || next->j != e->j ||
                (events[end] >= w->ends) != (events[n] >= w->ends) ||
                (end > n && after_tiles(w, events, count, end) && e->step == STEP_NORMALIZE))
                break;
            count_division(w, next, &output);
        }
        add_step(w, events + n, (int)(end - n), tile_of(w, events, count, n));
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
    double bytes = (w->backward ? 72 : 24) * tile * rows * keys;
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
    w->attention = (struct attention){
        .head = &w->head,
        .choices = w->backward ? backward_choices(s, &h) : simulation_choices(s, &h)};
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

static bool record(struct walk *w, const struct scenario *scenario, struct message *why)
{
    struct simulation *s = &w->simulation;
    s->threads = 1;
    s->twin = true;
    s->unit_first = w->selection.unit[0];
    s->unit_count = 1;
    s->trace = w->trace = trace_new(TRACE_VALUES);
    if (w->trace == NULL)
        return refuse(why, "no memory for the steps");
    if (!scenario_watch(scenario, &w->input, s, &w->given, why))
        return false;
    return trace_complete(w->trace) || refuse(why, "no memory for the steps");
}

bool walk_new(struct walk *w, const struct scenario *s, struct message *why)
{
    *w = (struct walk){.backward = s->given[OPTION_DO], .given_as = s->value[OPTION_DO]};
    if (!scenario_problem(s, &w->input, why))
        return false;
    if (w->backward)
        w->input.figures = NULL; /* they are the forward pass's */
    if (!scenario_simulation(s, &w->input, &w->simulation, why) || !choose_row(w, s, why) ||
        !record(w, s, why)) {
        walk_free(w);
        return false;
    }
    w->format = w->simulation.policy.site[w->backward ? SITE_GRADIENT : SITE_OUT].format;
    if (w->format == FORMAT_EXACT)
        w->format = FORMAT_FP64;
    tell(w);
    return true;
}

void walk_free(struct walk *w)
{
    if (w->trace != NULL)
        trace_free(w->trace);
    output_gradient_free(&w->given);
    selection_free(&w->selection);
    scenario_input_free(&w->input);
    free(w->lines);
    free(w->groups);
    free(w->steps);
    *w = (struct walk){0};
}
