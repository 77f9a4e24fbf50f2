/* watch.c: the performer that lets an exact twin follow, and the notes it makes possible. */
#include "simulator/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/trace.h"

static double *error_room(struct watch *w, size_t n)
{
    if (n > w->error_room) {
        free(w->error);
        w->error = malloc(n * sizeof *w->error);
        if (w->error == NULL)
            abort();
        w->error_room = n;
    }
    return w->error;
}

/* Does the verb build on what dst already holds? */
static bool in_place(const struct call *c)
{
    switch (c->verb) {
    case VERB_PUT:
    case VERB_MMA_AB:
    case VERB_MMA_ATB:
    case VERB_ROW_MAX:
    case VERB_ROW_SUM:
    case VERB_ROW_SUM_RESCALED:
    case VERB_ROW_DOT:
        return true;
    default:
        return c->dst == c->a || c->dst == c->b || c->dst == c->c;
    }
}

static const struct tile *twin_of(const struct tile *t)
{
    return t == NULL ? NULL : t->twin;
}

static void perform_twin(struct watch *w, const struct call *c)
{
    struct call twin = *c;
    twin.dst = c->dst->twin;
    twin.a = twin_of(c->a);
    twin.b = twin_of(c->b);
    twin.c = twin_of(c->c);
    perform_plain(&w->twin, &twin);
}

/* Beside the call: what its own rounding added, and whether dst changed. */
static void perform_watched(struct run *r, const struct call *c)
{
    struct watch *w = r->watch;
    struct tile *dst = c->dst;
    size_t n = (size_t)dst->rows * dst->cols;
    double *before = error_room(w, 2 * n + 1), *error = before + n;
    for (size_t i = 0; i < n; i++)
        before[i] = r->arith->get(dst->data, i);
    if (c->site != SITE_NONE)
        lift_operands(&w->lift, r, c);
    perform_plain(r, c);
    perform_twin(w, c);
    memset(error, 0, n * sizeof *error);
    if (c->site != SITE_NONE) {
        struct call whole = *c; /* both of a call's roundings are its own */
        lift_errors(&w->lift, r, &whole, error, dst->local, &w->finite);
        for (size_t i = 0; i < n; i++)
            dst->local[i] += error[i];
    } else if (c->a != NULL && c->a->local != NULL && c->a->rows == dst->rows &&
               c->a->cols == dst->cols && c->a != dst) {
        memcpy(dst->local, c->a->local, n * sizeof *dst->local);
    } else if (c->a != dst) {
        memset(dst->local, 0, n * sizeof *dst->local);
    }
    bool differs = !in_place(c);
    for (size_t i = 0; i < n && !differs; i++) {
        double now = r->arith->get(dst->data, i);
        differs = memcmp(&now, &before[i], sizeof now) != 0;
    }
    if (c->verb == VERB_FILL || c->verb == VERB_COPY)
        dst->changed = false;
    else if (c->verb == VERB_MASK)
        dst->changed = dst->masked;
    else
        dst->changed = dst->changed || differs;
}

void watch_new(struct watch *w, struct run *r, const struct arithmetic *exact, int precision)
{
    struct message unused;
    memset(w, 0, sizeof *w);
    w->exact_policy = policy_all_exact(r->policy);
    run_new(&w->twin, exact, &w->exact_policy, precision, &unused);
    lift_new(&w->lift, exact, precision, r->policy);
    r->watch = w;
    r->perform = perform_watched;
}

void watch_free(struct watch *w, struct run *r)
{
    run_reset(r);
    r->watch = NULL;
    r->perform = perform_plain;
    run_free(&w->twin);
    lift_free(&w->lift);
    free(w->error);
}

/* e^(unit (m - exact m)) for row i: what turns a value relative to m into one relative to the exact
   maximum; 1 when no maximum is set or it is not finite. */
static double anchor_factor(const struct run *r, int i)
{
    double m[2], exact[2];
    if (r->watch == NULL || r->anchor == NULL || r->anchor->rows <= i)
        return 1;
    r->arith->get_wide(r->anchor->data, (size_t)i, m);
    r->watch->twin.arith->get_wide(r->anchor->twin->data, (size_t)i, exact);
    double shift = r->anchor_unit * ((m[0] - exact[0]) + (m[1] - exact[1]));
    return isfinite(shift) ? special_wide(FUNCTION_EXP, shift).high : 1;
}

/* The format whose ulps a tile's drift is counted in: that of its last rounding, or of OUT where it
   was rounded nowhere or exactly. */
static enum format drift_format(const struct run *r, const struct tile *t)
{
    enum format f = t->wrote == SITE_NONE ? FORMAT_EXACT : r->policy->site[t->wrote].format;
    if (f == FORMAT_EXACT)
        f = r->policy->site[SITE_OUT].format;
    return f == FORMAT_EXACT ? FORMAT_FP64 : f;
}

static double ulp_at(enum format f, double exact)
{
    double smallest = ldexp(1.0, format_info(f)->emin);
    return format_ulp(f, fabs(exact) > smallest ? exact : smallest);
}

/* Drift of element i: value against the exact one, in ulps; false when of different kind. */
static bool drift_of(const struct run *r, const struct tile *t, size_t i, double value,
                     const double exact[2], struct event *e)
{
    if (!isfinite(value) || !isfinite(exact[0])) {
        bool same = value == exact[0] || (isnan(value) && isnan(exact[0]));
        return same;
    }
    double ulp = ulp_at((enum format)e->format, exact[0]);
    double total = ((value - exact[0]) - exact[1]) / ulp;
    if (fabs(total) > fabs(e->local + e->inherited)) {
        e->local = t->local[i] / ulp;
        e->inherited = total - e->local;
        e->worst = (uint32_t)i;
    }
    (void)r;
    return true;
}

/* Values, exact values (relative to the run's own maximum where anchored) and drift. */
static void note_values(struct run *r, bool anchored, const struct tile *t, struct event *e,
                        double *values, double (*exact)[2])
{
    for (int row = 0; row < t->rows; row++) {
        double factor = anchored ? anchor_factor(r, row) : 1;
        int lo = t->masked ? t->lo[row] : 0, hi = t->masked ? t->hi[row] : t->cols;
        for (int c = 0; c < t->cols; c++) {
            size_t i = (size_t)row * t->cols + c;
            double value = r->arith->get(t->data, i);
            values[i] = value;
            if (c >= lo && c < hi && fabs(value) > e->max_abs)
                e->max_abs = fabs(value);
            if (r->watch == NULL)
                continue;
            r->watch->twin.arith->get_wide(t->twin->data, i, exact[i]);
            exact[i][0] /= factor;
            exact[i][1] /= factor;
            if (c >= lo && c < hi && !drift_of(r, t, i, value, exact[i], e))
                e->flags |= EVENT_DIFFERENT_KIND;
        }
    }
}

static bool step_anchored(enum step step)
{
    static const bool anchored[STEP_COUNT] = {
#define STEP(id, label, equation, meaning, lesson, names, is_anchored) is_anchored,
#include "simulator/steps.def"
#undef STEP
    };
    return anchored[step];
}

void note_tile(struct run *r, enum step step, const struct tile *t)
{
    size_t n = (size_t)t->rows * t->cols;
    struct event e = {.step = step, .tensor = t->name, .site = t->wrote,
                      .format = drift_format(r, t), .batch = r->where.batch, .head = r->where.head,
                      .block = r->where.block, .warp = r->where.warp, .sm = r->where.sm,
                      .split = r->where.split, .i = r->where.i, .j = r->where.j,
                      .rows = (uint32_t)t->rows, .cols = (uint32_t)t->cols,
                      .time = trace_count(r->trace)};
    double *values = malloc(3 * (n + 1) * sizeof *values);
    if (values == NULL)
        abort();
    double(*exact)[2] = (double(*)[2])(values + n + 1);
    note_values(r, step_anchored(step), t, &e, values, exact);
    e.flags |= (t->masked ? EVENT_MASKED : 0u) | (r->watch != NULL ? EVENT_HAS_TWIN : 0u);
    if (r->watch != NULL && !t->changed)
        e.flags |= EVENT_UNCHANGED;
    ((struct tile *)t)->changed = false; /* the tile's own memory of the last note */
    trace_append(r->trace, &e, values, r->watch != NULL ? (const double(*)[2])exact : NULL,
                 t->masked ? t->lo : NULL, t->masked ? t->hi : NULL);
    free(values);
}
