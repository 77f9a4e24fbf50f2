/* identify_left.c: what a candidate leaves over, and whether special functions explain it.

   A model's exp, log and reciprocal are correctly rounded, a GPU's are not.  An output differs for
   that reason only where the model's value before OUT lies within their part of the a-priori bound
   of the boundary between the two numbers.  A weight that rounds the other way is not counted, so
   fewer are explained than might be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/identify_parts.h"
#include "simulator/scenario_parts.h"

/* |change of row i's outputs| by special functions in place of correctly rounded ones: E[0..D). */
static void special_part(const struct audit *a, const struct audit_run *run, int64_t i, double *E)
{
    struct head h = problem_head(&a->in.problem, a->selection.unit[i]);
    struct rounding_budget budget[2];
    enum format f[2] = {FORMAT_FP32, FORMAT_FP32};
    struct bound *bound = malloc(2 * (size_t)h.D * sizeof *bound);
    if (bound == NULL)
        abort(); /* no memory for a row */
    audit_model_budget(run, &budget[0]);
    budget[1] = budget[0];
    budget[0].special = 0;
    budget[1].special = AUDIT_APPROXIMATE;
    bound_budgets(&h, a->selection.row[i], budget, f, 2, bound, NULL);
    for (int64_t d = 0; d < h.D; d++)
        E[d] = bound[h.D + d].B - bound[d].B;
    free(bound);
}

/* Are the two numbers neighbours, and the value between them near enough to the boundary? */
static bool explained(enum format f, double model, double measured, double before, double E)
{
    if (!isfinite(model) || !isfinite(measured) || llabs(format_steps(f, model, measured)) != 1)
        return false;
    return fabs(before - (model / 2 + measured / 2)) <= E;
}

static int64_t count_explained(const struct search *s, const struct audit_run *run, const double *O,
                               const double *before)
{
    const struct audit *a = s->space->audit;
    const struct selection *selection = &a->selection;
    double *E = malloc(((size_t)a->in.problem.D + 1) * sizeof *E);
    int64_t count = 0;
    if (E == NULL)
        abort(); /* no memory for a row */
    for (int64_t i = 0; i < selection->rows; i++) {
        bool known = false;
        for (int64_t k = 0; k < selection->dims; k++) {
            int64_t at = i * selection->dims + k;
            if (O[at] == s->O[at] || isnan(O[at]))
                continue;
            if (!known)
                special_part(a, run, i, E);
            known = true;
            count += explained(s->format, O[at], s->O[at], before[at], E[selection->dim[k]]);
        }
    }
    free(E);
    return count;
}

static void describe(const struct search *s, const struct candidate *c, const struct audit_run *run,
                     struct identity *to)
{
    const struct base *base = &s->space->base[c->base];
    *to = (struct identity){.base = c->base, .changes = c->changes};
    memcpy(to->change, c->change, sizeof to->change);
    to->name = candidate_name(s->space, c);
    text_append(&to->what, "%s", run->what);
    text_append(&to->devices, "%s", base->devices);
    text_append(&to->groups, "%s", run->groups);
    to->splits = (int)strtol(run->groups, NULL, 10);
}

bool identity_of(const struct search *s, const struct candidate *c, struct identity *to,
                 struct message *why)
{
    enum { MOST_LEFT = 10 }; /* percent: beyond that nothing is explained */
    const struct audit *a = s->space->audit;
    struct audit_run run;
    size_t bytes = ((size_t)audit_elements(a) + 1) * sizeof *run.O;
    if (!candidate_run(s->space, c, s->format, &run))
        return refuse(why, "%s cannot be run again", s->space->base[c->base].name);
    run.simulation.threads = a->threads;
    run.O = malloc(bytes);
    run.before = malloc(bytes);
    bool ok = (run.O != NULL && run.before != NULL) || refuse(why, "no memory for outputs");
    ok = ok && look_outputs(a, &run, look_whole(a), false, run.O, why);
    describe(s, c, &run, to);
    to->elements = audit_elements(a);
    for (int64_t i = 0; ok && i < to->elements; i++)
        to->matched += run.O[i] == s->O[i] || (isnan(run.O[i]) && isnan(s->O[i]));
    to->left = to->elements - to->matched;
    bool few = to->left > 0 && 100 * to->left <= MOST_LEFT * to->elements;
    if (ok && few && run.simulation.policy.special.how == SPECIAL_CR &&
        look_outputs(a, &run, look_whole(a), true, run.before, why))
        to->explained = count_explained(s, &run, run.O, run.before);
    candidate_run_free(&run);
    return ok;
}

void identity_free(struct identity *i)
{
    free(i->name);
    free(i->what);
    free(i->devices);
    free(i->groups);
}
