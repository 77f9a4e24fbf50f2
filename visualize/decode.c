/* decode.c: see decode.h. */
#include "visualize/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool decode_plan(const struct decode_story *s, const struct scenario *scenario,
                 struct decode_lane *l, struct message *why)
{
    struct decode_form f;
    if (!decode_form_read(&f, scenario->value[OPTION_SWITCH], why))
        return false;
    enum split_rule rule = f.backend != NULL ? f.backend->rule : SPLIT_RULE_FA2_SPLIT;
    struct launch launch = problem_launch(&s->input.problem);
    launch.sms = l->sms;
    l->planned = rule != SPLIT_RULE_DECODE;
    if (!l->planned) {
        l->tokens = f.backend->tile;
        l->groups = (int)((s->input.problem.Nk + l->tokens - 1) / l->tokens);
        return true;
    }
    if (!split_plan(rule, NULL, &launch, &l->plan, why))
        return false;
    l->groups = split_count(&l->plan, s->input.problem.Nk);
    return true;
}

static void take_groups(const struct decode_lane *l, struct choices *c)
{
    const struct split_plan *p = &l->plan;
    if (!l->planned)
        return;
    c->Bc = (int)p->block_tokens;
    c->grouping =
        (struct grouping){.round_robin = p->order == GROUPS_ROUND_ROBIN, .splits = p->splits};
    if (!c->grouping.round_robin && !p->own_length)
        c->grouping = (struct grouping){.tokens = p->blocks_per_split * p->block_tokens};
}

static double value_at(const struct trace *t, size_t n, int dim)
{
    const struct event *e = trace_event(t, n);
    return trace_values(t, n)[e->cols > 1 && (uint32_t)dim < e->cols ? dim : 0];
}

static void take_record(struct decode_lane *l, const struct event *e, double x)
{
    struct decode_group *g = &l->group[e->split];
    switch (e->tensor) {
    case TENSOR_M:
        g->m = x;
        break;
    case TENSOR_L_SUM:
        g->l = x;
        break;
    case TENSOR_GROUP_LSE:
        g->L = x;
        break;
    default:
        g->O = x;
    }
}

/* An array of one number for each group, the groups' weights in the merge. */
static void take_weights(struct decode_lane *l, const struct trace *t, size_t n)
{
    const struct event *e = trace_event(t, n);
    for (int g = 0; g < l->groups && (uint32_t)g < e->rows * e->cols; g++)
        l->group[g].weight = trace_values(t, n)[g];
}

static bool read_trace(struct decode_lane *l, const struct trace *t, int dim, struct message *why)
{
    l->groups = 0;
    for (size_t n = 0; n < trace_count(t); n++)
        if (trace_event(t, n)->step == STEP_GROUP && (int)trace_event(t, n)->split >= l->groups)
            l->groups = (int)trace_event(t, n)->split + 1;
    free(l->group);
    l->group = malloc(((size_t)l->groups + 1) * sizeof *l->group);
    if (l->group == NULL)
        return refuse(why, "no memory");
    for (int g = 0; g < l->groups; g++)
        l->group[g] = (struct decode_group){NAN, NAN, NAN, NAN, NAN};
    l->before = l->stored = NAN;
    for (size_t n = 0; n < trace_count(t); n++) {
        const struct event *e = trace_event(t, n);
        bool output = e->tensor == TENSOR_O || e->tensor == TENSOR_O_ACC;
        if (trace_values(t, n) == NULL)
            continue;
        if (e->step == STEP_GROUP)
            take_record(l, e, value_at(t, n, dim));
        else if (e->tensor == TENSOR_GROUP_WEIGHT)
            take_weights(l, t, n);
        else if (e->step == STEP_STORE)
            l->stored = value_at(t, n, dim);
        else if (output)
            l->before = value_at(t, n, dim);
    }
    return true;
}

bool decode_run(struct decode_story *s, const struct scenario *scenario, int n, int sms,
                struct message *why)
{
    struct decode_lane *l = &s->lane[n];
    struct simulation simulation;
    struct result result;
    l->sms = sms;
    if (!decode_plan(s, scenario, l, why) ||
        !scenario_simulation(scenario, &s->input, &simulation, why))
        return false;
    take_groups(l, &simulation.choices);
    s->policy = simulation.policy;
    simulation.threads = 1;
    simulation.unit_first = 0;
    simulation.unit_count = 1;
    simulation.trace = trace_new(TRACE_VALUES);
    if (simulation.trace == NULL)
        return refuse(why, "no memory for a trace");
    trace_keep(simulation.trace, UINT64_C(1) << STEP_GROUP | UINT64_C(1) << STEP_COMBINE |
                                     UINT64_C(1) << STEP_NORMALIZE | UINT64_C(1) << STEP_STORE);
    bool ok = simulate(&s->input.problem, &simulation, &result, why);
    if (ok) {
        result_free(&result);
        ok = trace_complete(simulation.trace) ? read_trace(l, simulation.trace, s->place.dim, why)
                                              : refuse(why, "no memory for a trace");
    }
    trace_free(simulation.trace);
    return ok;
}

void decode_free(struct decode_story *s)
{
    for (int n = 0; n < DECODE_LANES; n++)
        free(s->lane[n].group);
    scenario_input_free(&s->input);
}

int decode_owner(const struct decode_story *s, const struct decode_lane *l, int64_t token)
{
    int64_t length = s->input.problem.Nk;
    if (l->planned)
        return split_owner(&l->plan, length, token);
    return (int)(token / l->tokens);
}
