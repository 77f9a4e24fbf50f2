/* identify_look.c: a candidate simulated where it is looked at, and compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/identify_parts.h"
#include "simulator/scenario_parts.h"

char *candidate_name(const struct identify_space *space, const struct candidate *c)
{
    char *name = NULL;
    text_append(&name, "%s", space->base[c->base].name);
    for (int n = 0; n < c->changes; n++)
        text_append(&name, "+%s", space->change[c->change[n]].info.text);
    return name;
}

bool candidate_run(const struct identify_space *space, const struct candidate *c, enum format out,
                   struct audit_run *run)
{
    struct message why;
    *run = (struct audit_run){.name = candidate_name(space, c)};
    text_append(&run->groups, "%s", "");
    if (!audit_model(space->audit, run, &why)) {
        candidate_run_free(run);
        return false;
    }
    run->simulation.policy.site[SITE_OUT].format = out;
    run->format = out;
    return true;
}

void candidate_run_free(struct audit_run *run)
{
    free(run->name);
    free(run->what);
    free(run->groups);
    free(run->remarks);
    free(run->O);
    free(run->before);
    if (run->padded) {
        tensor_free(&run->problem.q);
        tensor_free(&run->problem.k);
        tensor_free(&run->problem.v);
    }
}

struct look look_whole(const struct audit *a)
{
    const struct selection *s = &a->selection;
    int64_t G = a->in.problem.Hq / a->in.problem.Hkv, least = s->unit[0], most = s->unit[0];
    for (int64_t i = 0; i < s->rows; i++) {
        least = s->unit[i] < least ? s->unit[i] : least;
        most = s->unit[i] > most ? s->unit[i] : most;
    }
    least -= least % G;
    return (struct look){least, (most / G + 1) * G - least, 0};
}

/* Rows before row0 left out: of a bottom-right mask or none, the others see what they saw. */
static struct problem cut_rows(const struct problem *p, int64_t row0)
{
    struct problem cut = *p;
    size_t element = (size_t)format_info(p->q.dtype)->bits / 8;
    cut.q.owns_data = false;
    cut.q.data = (char *)p->q.data + (size_t)(row0 * p->q.stride[2]) * element;
    cut.q.shape[2] = cut.Nq = p->Nq - row0;
    return cut;
}

bool look_outputs(const struct audit *a, const struct audit_run *run, struct look look, bool open,
                  double *O, struct message *why)
{
    const struct selection *s = &a->selection;
    struct problem p = cut_rows(&run->problem, look.row0);
    struct simulation simulation = run->simulation;
    struct result result;
    simulation.unit_first = look.first;
    simulation.unit_count = look.count;
    if (open)
        simulation.policy.site[SITE_OUT].format = FORMAT_FP32;
    int64_t *start = malloc(((size_t)look.count + 1) * sizeof *start), row = 0;
    if (start == NULL)
        return refuse(why, "no memory");
    for (int64_t n = 0; n < look.count; n++) {
        start[n] = row;
        row += problem_head(&p, look.first + n).Nq;
    }
    bool ok = simulate(&p, &simulation, &result, why);
    for (int64_t i = 0; ok && i < s->rows; i++) {
        int64_t unit = s->unit[i] - look.first, from = s->row[i] - look.row0;
        if (unit < 0 || unit >= look.count || from < 0)
            continue;
        for (int64_t k = 0; k < s->dims; k++)
            O[i * s->dims + k] = result.O[(start[unit] + from) * result.D + s->dim[k]];
    }
    if (ok)
        result_free(&result);
    free(start);
    return ok;
}

static void compare(const struct search *s, struct look look, const double *O, struct candidate *c,
                    double *apart)
{
    enum { FAR = 64 };
    const struct selection *selection = &s->space->audit->selection;
    for (int64_t i = 0; i < selection->rows; i++) {
        int64_t unit = selection->unit[i] - look.first;
        if (unit < 0 || unit >= look.count || selection->row[i] < look.row0)
            continue;
        for (int64_t k = i * selection->dims; k < (i + 1) * selection->dims; k++) {
            bool same = O[k] == s->O[k] || (isnan(O[k]) && isnan(s->O[k]));
            bool kind = isnan(O[k]) != isnan(s->O[k]) || isinf(O[k]) != isinf(s->O[k]);
            int64_t steps =
                same || kind ? FAR * !same : llabs(format_steps(s->format, O[k], s->O[k]));
            *apart += (double)(steps < FAR ? steps : FAR);
            c->matched += same;
            c->elements++;
        }
    }
}

/* Fills in how near the candidate comes, over the looks. */
static void measure(const struct search *s, struct candidate *c)
{
    const struct audit *a = s->space->audit;
    struct audit_run run;
    struct message why;
    double apart = 0;
    c->refused = !candidate_run(s->space, c, s->format, &run);
    if (c->refused)
        return;
    run.simulation.threads = 1;
    double *O = malloc(((size_t)audit_elements(a) + 1) * sizeof *O);
    if (O == NULL)
        abort(); /* no memory for another run's outputs */
    for (int n = 0; n < s->looks && !c->refused; n++) {
        struct look look = s->look[n];
        if (run.simulation.alterations >> ALTERATION_CAUSAL_ALIGN & 1)
            look.row0 = 0;
        c->refused = !look_outputs(a, &run, look, false, O, &why);
        if (!c->refused)
            compare(s, s->look[n], O, c, &apart);
    }
    c->distance = c->elements > 0 ? apart / (double)c->elements : 0;
    free(O);
    candidate_run_free(&run);
}

/* ---- the search's list ---- */

/* The first KV head with its queries, and of several sequences the last one's too; of many rows the
   last, a whole number of any kernel's tiles left out. */
static void choose_looks(struct search *s)
{
    enum { TILE = 128 };
    const struct audit *a = s->space->audit;
    const struct problem *p = &a->in.problem;
    struct look whole = look_whole(a);
    int64_t G = p->Hq / p->Hkv, sequences = p->cu_q != NULL ? p->sequences : p->B;
    bool cuttable = p->cu_q == NULL && p->mask.align == ALIGN_BOTTOM_RIGHT && p->Nq > 2 * TILE;
    int64_t row0 = cuttable ? (p->Nq / TILE - 1) * TILE : 0;
    bool selected = false;
    for (int64_t i = 0; i < a->selection.rows; i++)
        selected =
            selected || (a->selection.unit[i] < whole.first + G && a->selection.row[i] >= row0);
    s->look[0] = (struct look){whole.first, G, selected ? row0 : 0};
    s->looks = 1;
    if (sequences > 1 && whole.count > G)
        s->look[s->looks++] = (struct look){whole.first + whole.count - G, G, 0};
}

void search_new(struct search *s, struct identify_space *space, int run)
{
    *s = (struct search){.space = space,
                         .run = run,
                         .O = space->audit->run[run].O,
                         .format = space->audit->run[run].format};
    s->allowed = 1.6e10; /* a quarter of a minute on two cores */
    choose_looks(s);
}

void search_free(struct search *s)
{
    free(s->list);
}

void search_add(struct search *s, const struct candidate *c)
{
    for (int i = 0; i < s->count; i++)
        if (s->list[i].base == c->base && s->list[i].changes == c->changes &&
            memcmp(s->list[i].change, c->change, sizeof c->change[0] * (size_t)c->changes) == 0)
            return;
    if (s->count == s->room) {
        s->room = 2 * s->room + 64;
        s->list = realloc(s->list, (size_t)s->room * sizeof *s->list);
        if (s->list == NULL)
            abort(); /* no memory for a candidate */
    }
    struct candidate *added = &s->list[s->count++];
    *added = (struct candidate){.base = c->base, .changes = c->changes, .elements = -1};
    memcpy(added->change, c->change, sizeof added->change);
}

void search_extend(struct search *s, const struct candidate *c, unsigned classes)
{
    const struct identify_space *space = s->space;
    for (int n = 0; n < space->changes && c->changes < IDENTIFY_CHANGES; n++) {
        struct candidate one = *c;
        const struct change *change = &space->change[n];
        bool other =
            change->kernel != KERNEL_COUNT && change->kernel != space->base[c->base].kernel;
        bool there = false;
        for (int i = 0; i < c->changes; i++)
            there = there || c->change[i] == n ||
                    (change->groups && space->change[c->change[i]].groups);
        if (other || there || !(classes >> change->info.class & 1))
            continue;
        int at = one.changes++;
        for (; at > 0 && one.change[at - 1] > n; at--)
            one.change[at] = one.change[at - 1];
        one.change[at] = n;
        search_add(s, &one);
    }
}

static double products(const struct search *s)
{
    const struct problem *p = &s->space->audit->in.problem;
    double rows = 0;
    for (int n = 0; n < s->looks; n++)
        rows += (double)s->look[n].count * (double)(p->Nq - s->look[n].row0);
    return 2 * rows * (double)p->Nk * (double)p->D;
}

struct batch {
    struct search *search;
    int first;
};

static void try_one(void *context, int64_t i)
{
    const struct batch *b = context;
    struct candidate *c = &b->search->list[b->first + i];
    c->elements = 0;
    measure(b->search, c);
}

int search_run(struct search *s)
{
    int first = 0;
    while (first < s->count && s->list[first].elements >= 0)
        first++;
    double one = products(s);
    if (s->work + one * (s->count - first) > s->allowed) {
        int fit = (int)((s->allowed - s->work) / one);
        s->stopped = true;
        s->count = first + (fit > 0 ? fit : 0);
    }
    struct batch batch = {s, first};
    if (s->count > first)
        audit_parallel(&(struct audit_work){s->count - first, try_one, &batch, s->progress},
                       s->space->audit->threads);
    for (int i = first; i < s->count; i++)
        s->work += s->list[i].refused ? 0 : one;
    return first;
}

bool search_exact(const struct candidate *c)
{
    return !c->refused && c->elements > 0 && c->matched == c->elements;
}

void search_nearest(const struct search *s, int count, unsigned sizes, int *place)
{
    for (int n = 0; n < count; n++) {
        place[n] = -1;
        for (int i = 0; i < s->count; i++) {
            const struct candidate *c = &s->list[i];
            bool told = c->refused || c->elements <= 0 || !(sizes >> c->changes & 1);
            for (int m = 0; m < n; m++)
                told = told || place[m] == i;
            if (!told && (place[n] < 0 || c->distance < s->list[place[n]].distance))
                place[n] = i;
        }
    }
}
