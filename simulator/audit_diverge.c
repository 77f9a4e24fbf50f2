/* audit_diverge.c: the first step at which two models part, in the head of the first selected row.

   Both are run with every step noted; while the steps, their places and their values are the same,
   nothing is said.  What differs first is either a value, or where the two go: another step, tile or
   group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"
#include "simulator/trace.h"

/* Numbers that a trace of one head may hold. */
static const double MOST_NUMBERS = 1 << 25;

static bool grouped_kernel(const struct simulation *s)
{
    return s->is_kernel && (kernel_info(s->kernel.kernel)->flags & GROUPED) != 0;
}

/* Scores three times, and an output for each key tile. */
static bool fits(const struct audit *a, const struct audit_run *run, int64_t unit)
{
    struct head h = problem_head(&run->problem, unit);
    struct choices c = simulation_choices(&run->simulation, &h);
    double rows =
        (double)h.Nq *
        (grouped_kernel(&run->simulation) ? (double)(a->in.problem.Hq / a->in.problem.Hkv) : 1);
    double tiles = (double)h.Nk / (c.Bc > 0 ? c.Bc : 1) + 1;
    return rows * (3 * (double)h.Nk + 3 * tiles * (double)h.D) <= MOST_NUMBERS;
}

static struct trace *traced(const struct audit_run *run, int64_t unit)
{
    struct simulation s = run->simulation;
    struct result result;
    struct message ignored;
    s.trace = trace_new(TRACE_VALUES);
    s.unit_first = unit;
    s.unit_count = 1;
    if (s.trace == NULL)
        return NULL;
    if (simulate(&run->problem, &s, &result, &ignored)) {
        result_free(&result);
        if (trace_complete(s.trace))
            return s.trace;
    }
    trace_free(s.trace);
    return NULL;
}

static bool same_but_shape(const struct event *x, const struct event *y)
{
    return x->step == y->step && x->tensor == y->tensor && x->split == y->split && x->i == y->i &&
           x->j == y->j;
}

static bool same_place(const struct event *x, const struct event *y)
{
    return same_but_shape(x, y) && x->rows == y->rows && x->cols == y->cols;
}

/* "EXP of key tile 3, group 1" */
static void name_place(char **text, const struct trace *t, const struct event *e)
{
    text_append(text, "%s of key tile %u", trace_name(t, TRACE_STEPS, e->step), (unsigned)e->j);
    if (e->split > 0)
        text_append(text, ", group %u", (unsigned)e->split);
}

/* The first number of the two events that differs, or -1. */
static int64_t first_number(const struct trace *x, const struct trace *y, size_t n)
{
    const struct event *e = trace_event(x, n);
    const double *p = trace_values(x, n), *q = trace_values(y, n);
    for (int64_t i = 0; i < (int64_t)e->rows * e->cols; i++)
        if (memcmp(&p[i], &q[i], sizeof p[i]) != 0)
            return i;
    return -1;
}

static void describe(char **text, const struct audit_run *one, const struct audit_run *two,
                     const struct trace *x, const struct trace *y)
{
    size_t both = trace_count(x) < trace_count(y) ? trace_count(x) : trace_count(y);
    int64_t number = -1;
    size_t n = 0;
    while (n < both && same_place(trace_event(x, n), trace_event(y, n)) &&
           (number = first_number(x, y, n)) < 0)
        n++;
    text_append(text, "%s and %s: ", one->name, two->name);
    if (n == both && trace_count(x) == trace_count(y)) {
        text_append(text, "the same in all %zu steps", n);
        return;
    }
    text_append(text, "the same for %zu step%s; then ", n, n == 1 ? "" : "s");
    if (number >= 0) {
        name_place(text, x, trace_event(x, n));
        text_append(text, ", element %lld: %.9g and %.9g", (long long)number,
                    trace_values(x, n)[number], trace_values(y, n)[number]);
        return;
    }
    if (n < both && same_but_shape(trace_event(x, n), trace_event(y, n))) {
        const struct event *p = trace_event(x, n), *q = trace_event(y, n);
        name_place(text, x, p);
        text_append(text, ": %s is %u x %u and %u x %u", trace_name(x, TRACE_TENSORS, p->tensor),
                    (unsigned)p->rows, (unsigned)p->cols, (unsigned)q->rows, (unsigned)q->cols);
        return;
    }
    for (int side = 0; side < 2; side++) {
        const struct trace *t = side == 0 ? x : y;
        text_append(text, side == 0 ? "" : ", ");
        if (n < trace_count(t))
            name_place(text, t, trace_event(t, n));
        else
            text_append(text, "the end");
        text_append(text, " in %s", side == 0 ? one->name : two->name);
    }
}

/* Of a grouped kernel the units of `simulate` are the problem's own. */
char *audit_divergence(const struct audit *a, int x, int y)
{
    const struct audit_run *one = &a->run[x], *two = &a->run[y];
    int64_t unit = a->selection.unit[0];
    char *text = NULL;
    if (one->measured || two->measured)
        return NULL;
    if (!fits(a, one, unit) || !fits(a, two, unit)) {
        text_append(&text, "%s and %s: too many numbers to follow step by step", one->name,
                    two->name);
        return text;
    }
    struct trace *p = traced(one, unit), *q = traced(two, unit);
    if (p != NULL && q != NULL)
        describe(&text, one, two, p, q);
    trace_free(p);
    trace_free(q);
    return text;
}
