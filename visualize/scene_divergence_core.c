/* scene_divergence_core.c: the recorded run, its outputs with their errors, the row of the output
   that is told; see scene_divergence.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/kernels.h"
#include "visualize/scene_divergence.h"

/* Rows of one head, heads and columns, from the events that store outputs. */
static bool measure_outputs(struct divergence_core *c, struct message *why)
{
    uint32_t last = 0;
    bool any = false, known = c->per_head > 0; /* else a tile's padding counts */
    for (size_t n = 0; n < trace_count(c->trace); n++) {
        const struct event *e = trace_event(c->trace, n);
        if (e->step != STEP_STORE)
            continue;
        if (trace_values(c->trace, n) == NULL || trace_exact(c->trace, n) == NULL)
            return refuse(why, "no values, or no exact ones, are kept; flashulp trace "
                               "--snapshots all is right");
        if (!any) {
            c->batch = e->batch;
            c->first_head = last = e->head;
        }
        any = true;
        if (e->batch != c->batch)
            continue;
        int reach = (int)((e->i + 1) * e->rows);
        if (!known)
            c->per_head = reach > c->per_head ? reach : c->per_head;
        last = e->head > last ? e->head : last;
        c->cols = (int)e->cols;
        c->format = e->format < FORMAT_COUNT ? (enum format)e->format : FORMAT_FP32;
    }
    c->heads = (int)(last - c->first_head) + 1;
    return any || refuse(why, "the run stores no output");
}

static void take_outputs(struct divergence_core *c, size_t n)
{
    const struct event *e = trace_event(c->trace, n);
    for (uint32_t r = 0; r < e->rows; r++) {
        int in_head = (int)(e->i * e->rows + r);
        int row = (int)(e->head - c->first_head) * c->per_head + in_head;
        for (int k = 0; in_head < c->per_head && k < c->cols; k++) {
            size_t to = (size_t)row * (size_t)c->cols + (size_t)k;
            size_t from = r * (size_t)e->cols + (size_t)k;
            c->stored[to] = trace_values(c->trace, n)[from];
            memcpy(c->exact[to], trace_exact(c->trace, n)[from], sizeof c->exact[to]);
            c->drift[to] = drift_in(c->format, c->stored[to], c->exact[to]);
        }
    }
}

static double size_of(double drift)
{
    return isnan(drift) ? INFINITY : fabs(drift);
}

static _Thread_local const double *compared;
static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    double more = size_of(compared[y]), less = size_of(compared[x]);
    return more > less ? 1 : more < less ? -1 : x - y;
}

static bool read_outputs(struct divergence_core *c, struct message *why)
{
    if (!measure_outputs(c, why))
        return false;
    c->rows = c->heads * c->per_head;
    if (c->rows > DIVERGENCE_SIDE || c->cols > DIVERGENCE_SIDE)
        return refuse(why, "%d x %d outputs; 1 to %d a side can be drawn", c->rows, c->cols,
                      DIVERGENCE_SIDE);
    size_t count = (size_t)c->rows * (size_t)c->cols;
    c->drift = calloc(count, sizeof *c->drift);
    c->stored = calloc(count, sizeof *c->stored);
    c->exact = calloc(count, sizeof *c->exact);
    c->order = calloc(count, sizeof *c->order);
    if (c->drift == NULL || c->stored == NULL || c->exact == NULL || c->order == NULL)
        return refuse(why, "no memory");
    for (size_t n = 0; n < trace_count(c->trace); n++)
        if (trace_event(c->trace, n)->step == STEP_STORE &&
            trace_event(c->trace, n)->batch == c->batch)
            take_outputs(c, n);
    for (size_t n = 0; n < count; n++)
        c->order[n] = (int)n;
    compared = c->drift;
    qsort(c->order, count, sizeof *c->order, by_size);
    c->largest = size_of(c->drift[c->order[0]]);
    return true;
}

void divergence_forget(struct divergence_view *v)
{
    for (int n = 0; n < v->element.story.lanes; n++) {
        v->element.story.lane[n].trace = NULL; /* the core's */
        lane_free(&v->element.story.lane[n]);
    }
    free(v->element.story.moment);
    v->element.story = (struct softmax_story){.lanes = 0};
}

bool divergence_tell(struct divergence_view *v, int output, struct message *why)
{
    const struct divergence_core *c = v->core;
    struct softmax_story *s = &v->element.story;
    int row = output / c->cols;
    divergence_forget(v);
    v->chosen = output;
    s->place = (struct row_place){c->batch, c->first_head + (uint32_t)(row / c->per_head),
                                  row % c->per_head, output % c->cols};
    s->lanes = 1;
    v->element.format = c->format;
    snprintf(v->element.ulps, sizeof v->element.ulps, "%s", format_info(c->format)->name);
    if (!lane_tell(&s->lane[0], c->trace, &s->place, false, why))
        return false;
    softmax_pair(s);
    if (v->page == DIVERGENCE_SITES)
        divergence_tell_sites(v); /* elsewhere a job may be making the audit */
    return true;
}

void divergence_choose(struct divergence_view *v, int pinned)
{
    const struct divergence_core *c = v->core;
    struct message why;
    int worst = c->order[0];
    int wanted = pinned > 0 && pinned <= c->rows * c->cols ? pinned - 1 : worst;
    if (wanted != v->chosen && !divergence_tell(v, wanted, &why))
        divergence_tell(v, worst, &why);
}

void divergence_core_leave(struct divergence_core *c)
{
    if (c == NULL || --c->users > 0)
        return;
    trace_free(c->trace);
    free(c->drift);
    free(c->stored);
    free(c->exact);
    free(c->order);
    if (c->audited_is)
        audited_free(&c->audited);
    free(c);
}

/* A kernel that packs the query heads of a group has them as the rows of one head; rows that only
   fill its tile are none of the problem's. */
static void find_group(struct divergence_core *c, const struct problem *p)
{
    enum kernel kernel;
    struct message why;
    char name[40] = "";
    if (c->scenario.value[OPTION_KERNEL] != NULL)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(c->scenario.value[OPTION_KERNEL], ":@"),
                 c->scenario.value[OPTION_KERNEL]);
    c->grouped = kernel_from_name(name, &kernel, &why) && kernel_info(kernel)->flags & GROUPED;
    c->heads_q = p->Hq;
    if (c->grouped)
        c->per_head = (int)(p->Hq / p->Hkv);
    else if (p->cu_q == NULL && p->Nq <= DIVERGENCE_SIDE)
        c->per_head = (int)p->Nq;
}

/* The trace of the scenario's own run, of the first heads that share their keys. */
static bool run_core(struct divergence_core *c, struct message *why)
{
    struct scenario_input in;
    struct scenario_heads heads;
    if (!scenario_problem(&c->scenario, &in, why))
        return false;
    struct scenario group = scenario_first_group(&c->scenario, &in.problem, &heads);
    c->trace = scenario_trace(&group, TRACE_VALUES, true, why);
    find_group(c, &in.problem);
    scenario_input_free(&in);
    return c->trace != NULL;
}

struct divergence_core *divergence_core_new(const struct scenario *s, struct trace *t,
                                            struct message *why)
{
    struct divergence_core *c = calloc(1, sizeof *c);
    if (c == NULL) {
        trace_free(t);
        refuse(why, "no memory");
        return NULL;
    }
    c->users = 1;
    c->scenario = *s;
    c->trace = t;
    c->recorded = t != NULL;
    if ((c->recorded || run_core(c, why)) && read_outputs(c, why))
        return c;
    divergence_core_leave(c);
    return NULL;
}
