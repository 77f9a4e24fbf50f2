/* identify.c: the stages of the search, and the verdict about what they find. */
#include "simulator/identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/identify_parts.h"
#include "simulator/scenario_parts.h"

/* The highest class of what a candidate is made of. */
static enum change_class class_of(const struct identify_space *space, int base, int changes,
                                  const int *change)
{
    enum change_class most = space->base[base].bug != NULL ? CHANGE_BUG : CHANGE_SCHEDULE;
    for (int n = 0; n < changes; n++) {
        enum change_class c = space->change[change[n]].info.class;
        most = c > most ? c : most;
    }
    return most;
}

/* Simpler first: fewer changes, then of a lower class, then as they were tried. */
static int rank(const struct search *s, const struct candidate *c)
{
    int changes = c->changes + (s->space->base[c->base].bug != NULL);
    return 8 * changes + (int)class_of(s->space, c->base, c->changes, c->change);
}

/* Puts an identity at place n; what falls out at the end is freed. */
static void insert(struct identification *to, int n, struct identity one)
{
    if (to->count == IDENTIFY_MOST)
        identity_free(&to->best[--to->count]);
    memmove(&to->best[n + 1], &to->best[n], sizeof one * (size_t)(to->count - n));
    to->best[n] = one;
    to->count++;
}

bool identity_whole(const struct identity *i)
{
    return i->left == 0 || i->explained == i->left;
}

/* By matches, those that were there first of equal ones. */
static void keep(struct identification *to, struct identity one)
{
    int n = 0;
    while (n < to->count && to->best[n].matched >= one.matched)
        n++;
    if (n < IDENTIFY_MOST)
        insert(to, n, one);
    else
        identity_free(&one);
}

/* Candidates that have every bit where it was looked: over the whole selection, simpler ones first;
   then the nearest ones, which special functions may explain. */
static bool confirm(const struct search *s, int first, struct identification *to,
                    struct message *why)
{
    enum { MOST_EXACT = IDENTIFY_MOST, RANKS = 8 * (IDENTIFY_CHANGES + 2), NEAREST = 3 };
    int exact = 0, place[NEAREST];
    for (int r = 0; r < RANKS && exact < MOST_EXACT; r++)
        for (int i = first; i < s->count && exact < MOST_EXACT; i++) {
            struct identity one;
            if (!search_exact(&s->list[i]) || rank(s, &s->list[i]) != r)
                continue;
            if (!identity_of(s, &s->list[i], &one, why))
                return false;
            to->found = to->found || identity_whole(&one);
            to->others += one.left == 0;
            keep(to, one);
            exact++;
        }
    search_nearest(s, NEAREST, ANY_SIZE, place);
    for (int n = 0; n < NEAREST && exact == 0 && place[n] >= first; n++) {
        struct identity one;
        if (!identity_of(s, &s->list[place[n]], &one, why))
            return false;
        to->found = to->found || identity_whole(&one);
        keep(to, one);
    }
    return true;
}

/* ---- the stages: each adds points, runs them and looks whether they are it ---- */

struct hunt {
    struct search search;
    struct identification *found;
    struct message *why;
    bool ok;
};

static bool over(const struct hunt *h)
{
    return !h->ok || h->found->found || h->search.stopped;
}

static void run_added(struct hunt *h)
{
    int first = search_run(&h->search);
    h->ok = h->ok && confirm(&h->search, first, h->found, h->why);
}

static void bases(struct hunt *h)
{
    const struct identify_space *space = h->search.space;
    for (int n = 0; n < space->bases; n++)
        if (space->base[n].bug == NULL)
            search_add(&h->search, &(struct candidate){.base = n});
    run_added(h);
}

/* The changes of the nearest points that have any, in every base. */
static void everywhere(struct hunt *h, int count)
{
    enum { MOST = 6 };
    struct search *s = &h->search;
    int place[MOST];
    search_nearest(s, count, CHANGED, place);
    for (int n = 0; n < count && place[n] >= 0; n++)
        for (int b = 0; b < s->space->bases; b++) {
            struct candidate c = s->list[place[n]];
            c.base = b;
            search_add(s, &c);
        }
    run_added(h);
}

/* Nothing is near: other inputs, or a bug, in the nearest base and the plainest listings; the
   listings that are bugs. */
static void other_mathematics(struct hunt *h)
{
    struct search *s = &h->search;
    const unsigned classes = 1u << CHANGE_INPUT | 1u << CHANGE_BUG;
    int nearest;
    search_nearest(s, 1, UNCHANGED, &nearest);
    if (nearest < 0 || s->list[nearest].distance <= 1)
        return;
    struct candidate c = s->list[nearest];
    search_extend(s, &c, classes);
    for (int n = 0; n < s->space->bases; n++) {
        const struct base *base = &s->space->base[n];
        c = (struct candidate){.base = n};
        if (base->bug != NULL)
            search_add(s, &c);
        else if (strcmp(base->name, "fa2") == 0 || strncmp(base->name, "decode", 6) == 0)
            search_extend(s, &c, classes);
    }
    run_added(h);
    if (!over(h))
        everywhere(h, 3);
}

/* Any change in the nearest base, then in the next one, while half of the work is left. */
static void one_change(struct hunt *h)
{
    struct search *s = &h->search;
    int bases = s->space->bases, *place = malloc((size_t)bases * sizeof *place);
    double half = s->work + (s->allowed - s->work) / 2;
    if (place == NULL)
        abort(); /* no memory for a number */
    search_nearest(s, bases, UNCHANGED, place);
    for (int n = 0; n < bases && place[n] >= 0 && !over(h) && s->work < half; n++) {
        struct candidate c = s->list[place[n]];
        search_extend(s, &c, ~0u);
        run_added(h);
    }
    free(place);
}

static void two_changes(struct hunt *h)
{
    enum { NEAREST = 4 };
    struct search *s = &h->search;
    int place[NEAREST];
    search_nearest(s, NEAREST, CHANGED, place);
    for (int n = 0; n < NEAREST && place[n] >= 0 && !over(h); n++) {
        struct candidate c = s->list[place[n]];
        search_extend(s, &c, ~0u);
        run_added(h);
    }
}

/* The same changes in other bases may give the same bits. */
static void twins(struct hunt *h)
{
    struct search *s = &h->search;
    struct candidate c = {0};
    const struct identity *best = &h->found->best[0];
    c.changes = best->changes;
    memcpy(c.change, best->change, sizeof c.change);
    for (int b = 0; b < s->space->bases && c.changes > 0; b++) {
        c.base = b;
        search_add(s, &c);
    }
    run_added(h);
}

/* ---- the verdict ---- */

enum { NEAR = 4 }; /* numbers from the correct rounding */

/* Are all outputs of this candidate near the correct roundings? */
static bool cured(const struct search *s, const struct candidate *c)
{
    const struct audit *a = s->space->audit;
    const struct audit_run *measured = &a->run[s->run];
    struct audit_run run;
    struct message why;
    if (!candidate_run(s->space, c, s->format, &run))
        return false;
    double *O = malloc(((size_t)audit_elements(a) + 1) * sizeof *O);
    bool ok = O != NULL && look_outputs(a, &run, look_whole(a), false, O, &why);
    for (int64_t i = 0; ok && i < audit_elements(a); i++) {
        double right = audit_correct(a, measured, i);
        ok = isnan(right) == isnan(O[i]) &&
             (isnan(right) || llabs(format_steps(s->format, O[i], right)) <= NEAR);
    }
    free(O);
    candidate_run_free(&run);
    return ok;
}

/* The one switch, known for a bug, without which the kernel would be right. */
static const struct change_info *cure(const struct search *s, const struct identity *best)
{
    const struct identify_space *space = s->space;
    for (int n = 0; n < space->changes; n++) {
        const struct change *change = &space->change[n];
        struct candidate c = {.base = best->base, .changes = 1, .change = {n}};
        bool fits = change->kernel == space->base[best->base].kernel;
        if (fits && best->changes == 0 && change->info.bug_case[0] != 0 && cured(s, &c))
            return &change->info;
    }
    return NULL;
}

static void judge(const struct search *s, struct identification *to)
{
    const struct identify_space *space = s->space;
    const struct audit_run *run = &space->audit->run[s->run];
    const struct identity *best = &to->best[0];
    to->verdict = AUDIT_UNEXPLAINED;
    if (!to->found)
        return;
    enum change_class class = class_of(space, best->base, best->changes, best->change);
    to->bug = space->base[best->base].bug;
    for (int n = 0; n < best->changes; n++)
        if (space->change[best->change[n]].info.class == class && class >= CHANGE_INPUT)
            to->bug = &space->change[best->change[n]].info;
    to->verdict = class == CHANGE_BUG     ? AUDIT_BUG
                  : class == CHANGE_INPUT ? AUDIT_INPUTS
                                          : AUDIT_LEGAL;
    if (class >= CHANGE_INPUT || audit_run_verdict(run) != AUDIT_OUTSIDE)
        return;
    to->bug = cure(s, best);
    to->verdict = to->bug != NULL ? AUDIT_BUG : AUDIT_KERNEL;
}

/* What gives every bit comes first, then what special functions explain. */
static void order_found(struct identification *to)
{
    for (int n = 0; n < to->count; n++)
        if (identity_whole(&to->best[n]) && to->best[n].left > 0 && to->best[0].left > 0 &&
            !identity_whole(&to->best[0])) {
            struct identity one = to->best[n];
            memmove(&to->best[1], &to->best[0], sizeof one * (size_t)n);
            to->best[0] = one;
            return;
        }
}

bool identify(struct identify_space *space, int run, struct identification *found,
              audit_progress *progress, struct message *why)
{
    struct hunt h = {.found = found, .why = why, .ok = true};
    *found = (struct identification){.run = run};
    search_new(&h.search, space, run);
    h.search.progress = progress;
    bases(&h);
    if (!over(&h))
        other_mathematics(&h);
    if (!over(&h))
        one_change(&h);
    if (!over(&h))
        everywhere(&h, 6);
    if (!over(&h))
        two_changes(&h);
    if (h.ok && found->found)
        twins(&h);
    order_found(found);
    found->others -= found->count < found->others ? found->count : found->others;
    found->tried = h.search.count;
    found->stopped = h.search.stopped;
    if (h.ok)
        judge(&h.search, found);
    search_free(&h.search);
    return h.ok;
}

void identification_free(struct identification *found)
{
    for (int n = 0; n < found->count; n++)
        identity_free(&found->best[n]);
    *found = (struct identification){0};
}
