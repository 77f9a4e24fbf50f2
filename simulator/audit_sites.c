/* audit_sites.c: attribution over the heads of an audit: which are looked at, and the sums.

   The same rows for every run: all query heads of a KV head, since a grouped kernel takes them
   together.  A task is one head (or group) of one run; tasks are shared among threads and added up
   in their order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/attribution.h"
#include "simulator/audit_parts.h"

struct task {
    struct audit *audit;
    struct audit_run *run;
    int64_t unit; /* of the run's problem; of a grouped kernel, of its grouped one */
    bool grouped, counterfactuals, failed;
    struct problem problem; /* grouped kernels: theirs */
    struct message why;
    struct audit_sites sites;
    int flip_count;
    struct audit_flip flip[AUDIT_MOST_FLIPS];
};

static int64_t queries_per_key(const struct audit *a)
{
    return a->in.problem.Hq / a->in.problem.Hkv;
}

static bool is_grouped(const struct audit_run *run)
{
    return run->simulation.is_kernel &&
           (kernel_info(run->simulation.kernel.kernel)->flags & GROUPED) != 0;
}

/* Where selected row i lies in the task's head, or -1. */
static int64_t row_in_task(const struct task *t, int64_t i)
{
    const struct selection *s = &t->audit->selection;
    int64_t G = queries_per_key(t->audit);
    if (!t->grouped)
        return s->unit[i] == t->unit ? s->row[i] : -1;
    return s->unit[i] / G == t->unit ? s->unit[i] % G : -1;
}

static void add_counterfactuals(struct audit_sites *s, const struct attribution *x, int64_t at,
                                const struct truth *truth, double ulp)
{
    s->explored++;
    for (int site = 0; site < SITE_COUNT; site++) {
        bool met = x->alone[site] != NULL;
        s->alone[site] += met ? truth_error(truth, x->alone[site][at]) / ulp : 0;
        s->without[site] += truth_error(truth, met ? x->without[site][at] : x->before[at]) / ulp;
    }
}

static void explain_flip(struct task *t, const struct attribution *x, int64_t at, int64_t i,
                         double stored, double correct)
{
    const struct truth *truth = &t->audit->truth[i];
    double ulp = truth_ulp(truth, t->run->format);
    if (t->flip_count == AUDIT_MOST_FLIPS)
        return;
    struct audit_flip *f = &t->flip[t->flip_count++];
    *f = (struct audit_flip){.element = i,
                             .stored = stored,
                             .before = x->before[at],
                             .correct = correct,
                             .explored = t->counterfactuals};
    f->boundary = truth_boundary(truth, t->run->format, correct, f->before);
    f->error_before = truth_error(truth, f->before) / ulp;
    f->listing = truth_error(truth, x->exact[at]) / ulp;
    for (int site = 0; site < SITE_COUNT; site++) {
        if (x->in_situ[site] != NULL)
            f->in_situ[site] = x->in_situ[site][at] / ulp;
        if (x->without[site] != NULL &&
            attribution_without(x, &t->run->simulation, (enum site)site, at) == correct)
            f->restores |= UINT64_C(1) << site;
    }
}

static void add_element(struct task *t, const struct attribution *x, int64_t at, int64_t i)
{
    struct audit_sites *s = &t->sites;
    const struct truth *truth = &t->audit->truth[i];
    double ulp = truth_ulp(truth, t->run->format), before = x->before[at], stored = t->run->O[i];
    double correct = audit_correct(t->audit, t->run, i), rest = x->interaction[at] / ulp;
    double listing = truth_error(truth, x->exact[at]) / ulp;
    if (!isfinite(rest) || !isfinite(listing) || !isfinite(before) || !isfinite(stored))
        return;
    s->elements++;
    for (int site = 0; site < SITE_COUNT; site++) {
        double part = x->in_situ[site] != NULL ? x->in_situ[site][at] / ulp : 0;
        s->in_situ[site] += part;
        s->absolute[site] += fabs(part);
    }
    s->in_situ[SITE_OUT] += (stored - before) / ulp;
    s->absolute[SITE_OUT] += fabs(stored - before) / ulp;
    s->listing += listing;
    s->interaction += rest;
    s->absolute_interaction += fabs(rest);
    if (t->audit->watch != NULL)
        t->audit->watch(t->audit->watching, t->run, x, at, i);
    if (t->counterfactuals)
        add_counterfactuals(s, x, at, truth, ulp);
    if (stored != correct)
        explain_flip(t, x, at, i, stored, correct);
}

static void add_head(struct task *t, const struct attribution *x)
{
    const struct selection *s = &t->audit->selection;
    t->sites.met = x->sites;
    t->sites.stops = x->stops;
    t->sites.stops_at = x->stops_at;
    for (int64_t i = 0; i < s->rows; i++) {
        int64_t row = row_in_task(t, i);
        if (row < 0)
            continue;
        t->sites.rows++;
        for (int64_t k = 0; k < s->dims; k++)
            add_element(t, x, row * t->run->problem.D + s->dim[k], i * s->dims + k);
    }
}

static void perform(void *context, int64_t n)
{
    struct task *t = (struct task *)context + n;
    struct attribution x;
    struct head h = problem_head(t->grouped ? &t->problem : &t->run->problem, t->unit);
    t->failed = !attribute(&x, &t->run->simulation, &h, t->counterfactuals, &t->why);
    if (t->failed)
        return;
    add_head(t, &x);
    attribution_free(&x);
}

static void merge(struct audit_run *run, const struct task *t)
{
    struct audit_sites *s = &run->sites;
    const struct audit_sites *more = &t->sites;
    s->elements += more->elements;
    s->rows += more->rows;
    s->explored += more->explored;
    s->met |= more->met;
    s->interaction += more->interaction;
    s->listing += more->listing;
    s->absolute_interaction += more->absolute_interaction;
    if (more->stops && !s->stops)
        s->stops_at = more->stops_at;
    s->stops |= more->stops;
    for (int site = 0; site < SITE_COUNT; site++) {
        s->in_situ[site] += more->in_situ[site];
        s->alone[site] += more->alone[site];
        s->without[site] += more->without[site];
        s->absolute[site] += more->absolute[site];
    }
    for (int i = 0; i < t->flip_count && run->flip_count < AUDIT_MOST_FLIPS; i++)
        run->flip[run->flip_count++] = t->flip[i];
}

/* KV heads that have selected rows, as problem units divided by the queries per key head. */
static int64_t *selected_groups(const struct audit *a, int64_t *count)
{
    const struct selection *s = &a->selection;
    int64_t G = queries_per_key(a), all = problem_units(&a->in.problem) / G;
    bool *seen = calloc((size_t)all + 1, sizeof *seen);
    int64_t *groups = malloc(((size_t)all + 1) * sizeof *groups);
    *count = 0;
    if (seen == NULL || groups == NULL)
        abort(); /* no memory for a number a head */
    for (int64_t i = 0; i < s->rows; i++)
        seen[s->unit[i] / G] = true;
    for (int64_t g = 0; g < all; g++)
        if (seen[g])
            groups[(*count)++] = g;
    free(seen);
    return groups;
}

/* Sites belong to models of attention; an alteration's errors are no roundings. */
static bool attributable(const struct audit_run *run)
{
    return !run->measured && run->simulation.alterations == 0;
}

static double seconds_of(const struct audit *a, const struct audit_run *run, int64_t group,
                         bool counterfactuals)
{
    struct head h = problem_head(&run->problem, group * queries_per_key(a));
    return (double)queries_per_key(a) * attribution_seconds(&run->simulation, &h, counterfactuals);
}

/* How many groups fit. */
static int64_t groups_in(const struct audit *a, const int64_t *groups, int64_t count,
                         double seconds)
{
    double one = 0;
    for (int n = 0; n < a->runs && count > 0; n++)
        if (attributable(&a->run[n]))
            one += seconds_of(a, &a->run[n], groups[0], false);
    return one * (double)count <= seconds ? count : (int64_t)(seconds / one);
}

/* Has the run an output in this group that is not the correct rounding? */
static bool flips_in(const struct audit *a, const struct audit_run *run, int64_t group)
{
    const struct selection *s = &a->selection;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t k = 0; k < s->dims && s->unit[i] / queries_per_key(a) == group; k++) {
            int64_t at = i * s->dims + k;
            if (run->O[at] != audit_correct(a, run, at) && isfinite(run->O[at]))
                return true;
        }
    return false;
}

static bool add_tasks(struct audit *a, struct audit_run *run, int64_t group, bool counterfactuals,
                      struct task *tasks, int64_t *count, struct message *why)
{
    int64_t G = queries_per_key(a);
    bool grouped = is_grouped(run);
    for (int64_t unit = group * G; unit < (group + 1) * G; unit++) {
        struct task *t = &tasks[*count];
        memset(t, 0, sizeof *t);
        t->audit = a;
        t->run = run;
        t->grouped = grouped;
        t->unit = grouped ? group : unit;
        t->counterfactuals = counterfactuals;
        if (grouped && !kernel_group(&run->problem, &t->problem, why))
            return false;
        ++*count;
        if (grouped)
            break;
    }
    return true;
}

static bool make_tasks(struct audit *a, const int64_t *groups, int64_t count, int64_t wanted,
                       double seconds, struct task *tasks, int64_t *made, struct message *why)
{
    for (int64_t g = 0; g < wanted; g++) {
        int64_t group = groups[g * count / wanted];
        for (int n = 0; n < a->runs; n++) {
            struct audit_run *run = &a->run[n];
            if (!attributable(run))
                continue;
            double more = seconds_of(a, run, group, true) - seconds_of(a, run, group, false);
            bool counterfactuals = flips_in(a, run, group) && more <= seconds;
            seconds -= counterfactuals ? more : 0;
            if (!add_tasks(a, run, group, counterfactuals, tasks, made, why))
                return false;
        }
    }
    return true;
}

bool audit_attribute(struct audit *a, int64_t groups, double seconds, audit_progress *progress,
                     struct message *why)
{
    int64_t count, made = 0;
    int64_t *selected = selected_groups(a, &count);
    int64_t wanted = groups < 0 ? groups_in(a, selected, count, seconds) : groups;
    wanted = wanted < count ? wanted : count;
    size_t room = (size_t)(wanted * a->runs * queries_per_key(a)) + 1;
    struct task *tasks = malloc(room * sizeof *tasks);
    bool ok = tasks != NULL || refuse(why, "no memory");
    ok = ok && make_tasks(a, selected, count, wanted, seconds, tasks, &made, why);
    if (ok && made > 0)
        audit_parallel(&(struct audit_work){made, perform, tasks, progress}, a->threads);
    for (int64_t n = 0; n < made; n++) {
        if (ok && tasks[n].failed) {
            *why = tasks[n].why;
            ok = false;
        }
        if (ok)
            merge(tasks[n].run, &tasks[n]);
        if (tasks[n].grouped)
            problem_free(&tasks[n].problem);
    }
    free(tasks);
    free(selected);
    return ok;
}
