/* identify_explain.c: the smallest set of changes between two outputs.

   From every run that gives one output's bits, one change is tried after another until the other's
   are met, and the same from the other side; then what differs between the runs already known; then
   two and three changes.  A kernel on another device or of another version is one change. */
#include <stdlib.h>
#include <string.h>

#include "simulator/identify_parts.h"
#include "simulator/scenario_parts.h"

static struct candidate point(const struct identity *i)
{
    struct candidate c = {.base = i->base, .changes = i->changes};
    memcpy(c.change, i->change, sizeof c.change);
    return c;
}

static struct identity copied(const struct identity *from)
{
    struct identity to = *from;
    to.name = to.what = to.devices = to.groups = NULL;
    text_append(&to.name, "%s", from->name);
    text_append(&to.what, "%s", from->what);
    text_append(&to.devices, "%s", from->devices);
    text_append(&to.groups, "%s", from->groups);
    return to;
}

static bool has(const struct identity *i, int change)
{
    for (int n = 0; n < i->changes; n++)
        if (i->change[n] == change)
            return true;
    return false;
}

/* How many changes lead from one to the other; many where they are of different kernels. */
static int apart(const struct identify_space *space, const struct identity *x,
                 const struct identity *y)
{
    enum { MANY = 100 };
    const struct base *p = &space->base[x->base], *q = &space->base[y->base];
    int count = x->base != y->base;
    if (x->base != y->base && (p->kernel != q->kernel || p->kernel == KERNEL_COUNT))
        return MANY;
    for (int n = 0; n < x->changes; n++)
        count += !has(y, x->change[n]);
    for (int n = 0; n < y->changes; n++)
        count += !has(x, y->change[n]);
    return count;
}

static void take(const struct identify_space *space, struct explanation *e,
                 const struct identity *from, const struct identity *to)
{
    const struct identity *side[2] = {from, to};
    struct audit_run run[2];
    struct candidate c[2] = {point(from), point(to)};
    e->found = true;
    e->from = copied(from);
    e->to = copied(to);
    for (int k = 0; k < 2; k++)
        for (int n = 0; n < side[k]->changes; n++)
            if (!has(side[1 - k], side[k]->change[n]))
                e->change[e->changes++] = side[k]->change[n];
    e->other_base = from->base != to->base;
    if (!e->other_base)
        return;
    c[0].changes = c[1].changes = 0;
    bool both = candidate_run(space, &c[0], FORMAT_BF16, &run[0]);
    if (both && candidate_run(space, &c[1], FORMAT_BF16, &run[1])) {
        e->groups_only = run[0].simulation.is_kernel && run[1].simulation.is_kernel &&
                         space->base[from->base].kernel == space->base[to->base].kernel &&
                         same_but_groups(&run[0], &run[1]);
        candidate_run_free(&run[1]);
    }
    if (both)
        candidate_run_free(&run[0]);
}

/* What the runs already known differ in, where that is at most `most` changes. */
static bool known(const struct identify_space *space, const struct identification *x,
                  const struct identification *y, int most, struct explanation *e)
{
    int best = most + 1, from = 0, to = 0;
    for (int n = 0; n < x->count; n++)
        for (int m = 0; m < y->count; m++) {
            bool both = identity_whole(&x->best[n]) && identity_whole(&y->best[m]);
            int count = both ? apart(space, &x->best[n], &y->best[m]) : best;
            if (count < best) {
                best = count;
                from = n;
                to = m;
            }
        }
    if (best <= most)
        take(space, e, &x->best[from], &y->best[to]);
    return best <= most;
}

enum { STARTS = 3 };

/* The first candidate tried since `first` that has every bit of s->run; `start` has the other's. */
static bool meet(const struct search *s, int first, const struct identification *start,
                 struct identity *at, int *from, struct message *why)
{
    for (int i = first; i < s->count; i++) {
        if (!search_exact(&s->list[i]))
            continue;
        if (!identity_of(s, &s->list[i], at, why))
            return false;
        if (at->left == 0) {
            int best = 0;
            for (int n = 1; n < start->count && n < STARTS; n++)
                if (identity_whole(&start->best[n]) &&
                    apart(s->space, &start->best[n], at) < apart(s->space, &start->best[best], at))
                    best = n;
            *from = best;
            return true;
        }
        identity_free(at);
    }
    *from = -1;
    return true;
}

/* One change: one less than the start has, or one more; or another device or version. */
static void step(struct search *s, const struct identity *start, unsigned classes)
{
    const struct identify_space *space = s->space;
    struct candidate c = point(start);
    for (int n = 0; n < c.changes; n++) {
        struct candidate less = c;
        less.changes--;
        memmove(&less.change[n], &less.change[n + 1],
                sizeof c.change[0] * (size_t)(less.changes - n));
        search_add(s, &less);
    }
    search_extend(s, &c, classes);
    for (int b = 0; b < space->bases; b++) {
        struct candidate other = c;
        other.base = b;
        if (b != c.base && space->base[b].kernel == space->base[c.base].kernel &&
            space->base[b].kernel != KERNEL_COUNT)
            search_add(s, &other);
    }
}

/* From x's runs to y's bits, `most` changes. */
static bool walk(struct identify_space *space, const struct identification *x,
                 const struct identification *y, int most, struct explanation *e,
                 audit_progress *progress, struct message *why)
{
    enum { ALL = 15, NEAREST = 6 };
    struct search s;
    struct identity at;
    int from = -1, first = 0;
    bool ok = true;
    search_new(&s, space, y->run);
    s.progress = progress;
    for (int n = 0; n < x->count && n < STARTS; n++)
        if (identity_whole(&x->best[n]))
            step(&s, &x->best[n], ALL);
    for (int depth = 1; ok && from < 0 && depth <= most && !s.stopped; depth++) {
        int place[NEAREST];
        search_nearest(&s, NEAREST, ANY_SIZE, place);
        for (int n = 0; depth > 1 && n < NEAREST / (depth - 1) && place[n] >= 0; n++) {
            struct candidate c = s.list[place[n]];
            search_extend(&s, &c, ALL);
        }
        search_run(&s);
        ok = meet(&s, first, x, &at, &from, why);
        first = s.count;
    }
    e->tried += s.count;
    e->stopped = e->stopped || s.stopped;
    if (ok && from >= 0) {
        bool forward = x->run == e->a;
        take(space, e, forward ? &x->best[from] : &at, forward ? &at : &x->best[from]);
        identity_free(&at);
    }
    search_free(&s);
    return ok;
}

static void judge(const struct identify_space *space, const struct identification *x,
                  const struct identification *y, struct explanation *e)
{
    const struct audit *a = space->audit;
    bool outside = audit_run_verdict(&a->run[e->a]) == AUDIT_OUTSIDE ||
                   audit_run_verdict(&a->run[e->b]) == AUDIT_OUTSIDE;
    enum change_class class = CHANGE_SCHEDULE;
    if (!e->found) { /* both known, of different kernels; or one is not known */
        bool both = x->found && y->found;
        bool bug = x->verdict == AUDIT_BUG || y->verdict == AUDIT_BUG;
        bool inputs = x->verdict == AUDIT_INPUTS || y->verdict == AUDIT_INPUTS;
        e->verdict = !both    ? AUDIT_UNEXPLAINED
                     : bug    ? AUDIT_BUG
                     : inputs ? AUDIT_INPUTS
                              : AUDIT_KERNEL;
        return;
    }
    if (e->other_base && !e->groups_only)
        class = CHANGE_ARITHMETIC;
    for (int n = 0; n < e->changes; n++) {
        const struct change_info *info = identify_change(space, e->change[n]);
        bool bug = outside && info->bug_case[0] != 0;
        class = bug ? CHANGE_BUG : info->class > class ? info->class : class;
    }
    e->verdict = class == CHANGE_BUG          ? AUDIT_BUG
                 : class == CHANGE_INPUT      ? AUDIT_INPUTS
                 : class == CHANGE_ARITHMETIC ? AUDIT_KERNEL
                                              : AUDIT_SCHEDULE;
}

bool identify_explain(struct identify_space *space, const struct identification *x,
                      const struct identification *y, struct explanation *e,
                      audit_progress *progress, struct message *why)
{
    *e = (struct explanation){.a = x->run, .b = y->run};
    e->differ = audit_pair(space->audit, x->run, y->run).differ;
    bool ok = true;
    if (!known(space, x, y, 1, e)) {
        ok = walk(space, x, y, 1, e, progress, why) &&
             (e->found || walk(space, y, x, 1, e, progress, why));
        if (ok && !e->found)
            e->found = known(space, x, y, IDENTIFY_CHANGES, e);
        if (ok && !e->found)
            ok = walk(space, x, y, IDENTIFY_CHANGES, e, progress, why);
        if (ok && !e->found)
            ok = walk(space, y, x, IDENTIFY_CHANGES, e, progress, why);
    }
    if (ok)
        judge(space, x, y, e);
    return ok;
}

void explanation_free(struct explanation *e)
{
    identity_free(&e->from);
    identity_free(&e->to);
    *e = (struct explanation){0};
}
