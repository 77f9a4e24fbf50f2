/* scenario_run.c: algorithm, policy, tiles, arithmetic: what a scenario says about the run.

   An example's row may name algorithm, tile and faults; the command line wins, and faults go with
   the algorithm they were named for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/alter.h"
#include "simulator/scenario_gradient.h"
#include "simulator/scenario_parts.h"

bool scenario_example(const struct scenario *s, enum example *e)
{
    return s->problem != NULL && example_from_name(s->problem, e);
}

static const struct example_info *example_of(const struct scenario *s)
{
    enum example e;
    return scenario_example(s, &e) ? example_info(e) : NULL;
}

const char *scenario_tile(const struct scenario *s)
{
    const struct example_info *example = example_of(s);
    if (s->value[OPTION_TILE] != NULL)
        return s->value[OPTION_TILE];
    return example != NULL ? example->tile : NULL;
}

bool scenario_algorithm(const struct scenario *s, enum algorithm *a, struct message *why)
{
    const struct example_info *example = example_of(s);
    const char *name = s->value[OPTION_ALGORITHM];
    if (name == NULL && example != NULL)
        name = example->algorithm;
    *a = ALGORITHM_FA2;
    return name == NULL || algorithm_from_name(name, a, why);
}

static enum policy_id policy_for(enum format held)
{
    switch (held) {
    case FORMAT_BF16:
        return POLICY_GPU_BF16;
    case FORMAT_FP16:
        return POLICY_GPU_FP16;
    case FORMAT_E4M3:
    case FORMAT_E5M2:
        return POLICY_FP8;
    default:
        return POLICY_FP32;
    }
}

/* Does a line name the site that an earlier one names?  The last would win silently. */
static bool sites_once(const struct scenario *s, enum option o, struct message *why)
{
    for (const char *at = s->value[o]; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        size_t site = strcspn(at, "=\n");
        for (const char *before = s->value[o]; before < at; before += strcspn(before, "\n") + 1)
            if (strcspn(before, "=\n") == site && strncmp(before, at, site) == 0)
                return refuse(why, "%s names %.*s twice; once is right", option_info(o)->name,
                              (int)(site < 40 ? site : 40), at);
    }
    return true;
}

bool scenario_policy(const struct scenario *s, enum format held, struct policy *p,
                     struct message *why)
{
    if (s->value[OPTION_POLICY] == NULL)
        *p = policy_table(policy_for(held));
    else if (!policy_from_name(s->value[OPTION_POLICY], p, why))
        return false;
    return scenario_decode_policy(s, p, why) && scenario_policy_changes(s, p, why) &&
           policy_orders_fit(p, scenario_summed(s), why);
}

static bool take_set(void *policy, const char *line, struct message *why)
{
    return policy_set(policy, line, why);
}

static bool take_order(void *policy, const char *line, struct message *why)
{
    return policy_order(policy, line, why);
}

bool scenario_policy_changes(const struct scenario *s, struct policy *p, struct message *why)
{
    return sites_once(s, OPTION_SET, why) && sites_once(s, OPTION_ORDER, why) &&
           each_line(s->value[OPTION_SET], take_set, p, why) &&
           each_line(s->value[OPTION_ORDER], take_order, p, why) &&
           (s->value[OPTION_SPECIAL] == NULL || policy_special(p, s->value[OPTION_SPECIAL], why));
}

/* "tile-max,no-tail-mask", lines and commas alike; "none": no fault. */
static bool read_faults(const char *text, unsigned *faults, struct message *why)
{
    *faults = 0;
    while (*text != 0) {
        char name[64];
        size_t length = strcspn(text, ",\n");
        enum fault f;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 text);
        if (strcmp(name, "none") != 0) {
            if (!fault_from_name(name, &f, why))
                return false;
            *faults |= 1u << f;
        }
        text += length + (text[length] != 0);
    }
    return true;
}

static bool choose_faults(const struct scenario *s, struct simulation *simulation,
                          struct message *why)
{
    const struct example_info *example = example_of(s);
    const char *text = s->value[OPTION_FAULT];
    const char *name = algorithm_info(simulation->algorithm)->name;
    unsigned possible = simulation->algorithm == ALGORITHM_UNSTABLE
                            ? 1u << FAULT_NO_TAIL_MASK
                            : algorithm_faults(simulation->algorithm);
    simulation->choices.faults = algorithm_faults(simulation->algorithm);
    if (text == NULL && example != NULL && example->algorithm != NULL &&
        strcmp(example->algorithm, name) == 0)
        text = example->fault;
    if (text == NULL)
        return true;
    if (!read_faults(text, &simulation->choices.faults, why))
        return false;
    if (simulation->choices.faults & ~possible)
        return refuse(why, "--fault %.60s: %s has no such fault; fa2-printed has them all", text,
                      name);
    return true;
}

/* May the tiles of this problem be held?  Standard attention's is the whole score matrix. */
static bool tiles_fit(const struct problem *p, const struct simulation *simulation,
                      struct message *why)
{
    const struct algorithm_info *a = algorithm_info(simulation->algorithm);
    struct kernel_name name = simulation_name(simulation);
    const int64_t most = (int64_t)1 << 30;
    int64_t rows = a->Bc == 0 ? p->Nq : simulation->choices.Br ? simulation->choices.Br : a->Br;
    int64_t keys = a->Bc == 0 ? p->Nk : simulation->choices.Bc ? simulation->choices.Bc : a->Bc;
    if (simulation->is_kernel) {
        int Br, Bc;
        kernel_info(simulation->kernel.kernel)->tiles(&simulation->kernel, p, &Br, &Bc);
        rows = Br;
        keys = Bc;
    }
    if (p->D >= most || p->Nq >= most || p->Nk >= most)
        return refuse(why, "D %s, Nq %s, Nk %s: each below 2^30 is simulated", grouped(p->D).text,
                      grouped(p->Nq).text, grouped(p->Nk).text);
    if (rows * keys <= most && rows * p->D <= most && keys * p->D <= most && p->Nq * p->D <= most)
        return true;
    return refuse(why,
                  "%s: tiles of %s queries and %s keys, D %s, hold more than 2^30 numbers; "
                  "smaller ones are right%s",
                  name.text, grouped(rows).text, grouped(keys).text, grouped(p->D).text,
                  a->Bc == 0 ? ", such as fa2 has" : "");
}

static bool choose_tiles(const struct scenario *s, struct simulation *simulation,
                         struct message *why)
{
    enum { MOST = 1 << 16 };
    const char *text = scenario_tile(s), *order = s->value[OPTION_KV];
    int64_t tile[2], warps;
    if (text != NULL) {
        if (!parse_integers("--tile", text, "Br,Bc", 2, 0, MOST, tile, why))
            return false;
        simulation->choices.Br = (int)tile[0];
        simulation->choices.Bc = (int)tile[1];
    }
    if (s->given[OPTION_WARPS]) {
        if (simulation->algorithm != ALGORITHM_SPLITK && simulation->algorithm != ALGORITHM_SPLITQ)
            return refuse(why, "--warps is for splitk and splitq; %s knows no warps",
                          algorithm_info(simulation->algorithm)->name);
        if (!parse_integer("--warps", s->value[OPTION_WARPS], 1, 32, &warps, why))
            return false;
        simulation->choices.warps = (int)warps;
    }
    if (order == NULL)
        return true;
    simulation->choices.descending = strcmp(order, "descending") == 0;
    if (!simulation->choices.descending && strcmp(order, "ascending") != 0)
        return refuse(why, "--kv %.40s: ascending or descending is right", order);
    if (simulation->choices.descending && simulation->algorithm != ALGORITHM_FA2 &&
        simulation->algorithm != ALGORITHM_DECODE)
        return refuse(why, "--kv descending is for fa2 and decode; %s takes keys in ascending order",
                      algorithm_info(simulation->algorithm)->name);
    return true;
}

/* A site that a float cannot hold: its name, or NULL.  INPUT is the reader's, and an exact
   PV_PRODUCT means a fused step, which float has. */
static const char *site_beyond_float(const struct policy *p)
{
    for (int i = 0; i < SITE_COUNT; i++) {
        enum format f = p->site[i].format;
        if (i == SITE_INPUT || (i == SITE_PV_PRODUCT && f == FORMAT_EXACT))
            continue;
        if (f == FORMAT_EXACT || f == FORMAT_FP64)
            return site_name((enum site)i);
    }
    return NULL;
}

static bool choose_arithmetic(const struct scenario *s, const struct scenario_input *in,
                              struct simulation *simulation, struct message *why)
{
    const char *name = s->value[OPTION_ARITH];
    const struct problem *p = &in->problem;
    const char *site = site_beyond_float(&simulation->policy);
    bool wide_input = in->input_format == FORMAT_FP64 || in->input_format == FORMAT_EXACT;
    if (name == NULL && (site != NULL || wide_input)) {
        /* mpfr while it takes seconds, double beyond */
        double work = (double)problem_units(p) * (double)p->Nq * (double)p->Nk * (double)p->D;
        name = work <= 1 << 22 ? "mpfr" : "double";
    }
    if (name == NULL)
        return true;
    simulation->arith = arithmetic_named(name, why);
    if (simulation->arith == NULL)
        return false;
    if (simulation->arith != arith_float())
        return true;
    if (site != NULL)
        return refuse(why,
                      "--arith float cannot hold site %s of this policy, which is wider than "
                      "fp32; --arith double or mpfr is right",
                      site);
    if (wide_input)
        return refuse(why, "--arith float takes inputs of fp32 and less; --dtype fp32, or --arith "
                           "double, is right");
    return true;
}

static bool read_number(const struct scenario *s, enum option o, int64_t least, int64_t most,
                        int *x, struct message *why)
{
    int64_t value;
    if (s->value[o] == NULL)
        return true;
    if (!parse_integer(option_info(o)->name, s->value[o], least, most, &value, why))
        return false;
    *x = (int)value;
    return true;
}

static bool read_precision(const struct scenario *s, struct simulation *simulation,
                           struct message *why)
{
    if (!read_number(s, OPTION_PRECISION, 24, 1 << 16, &simulation->precision, why))
        return false;
    if (s->given[OPTION_PRECISION] && simulation->arith != &arith_mpfr)
        return refuse(why, "--precision is for mpfr, and this run is in %s; --arith mpfr is right",
                      simulation->arith->name);
    return true;
}

/* --option repeated-max=BETA, autocast's only switch. */
static bool choose_shift(const struct scenario *s, struct simulation *simulation,
                         struct message *why)
{
    enum { MOST = 64 };
    static const char name[] = "repeated-max=";
    const char *text = s->value[OPTION_SWITCH];
    double *times = &simulation->choices.repeated_max;
    if (simulation->algorithm != ALGORITHM_AUTOCAST || text == NULL)
        return true;
    if (strncmp(text, name, strlen(name)) != 0 || strchr(text, '\n') != NULL)
        return refuse(why, "--option %.60s: autocast knows repeated-max=BETA, once", text);
    if (!parse_real("--option repeated-max", text + strlen(name), times, why))
        return false;
    return (*times > 1 && *times <= MOST) ||
           refuse(why, "--option %.60s: above 1, at most %d, is right; 7 is published", text, MOST);
}

static bool choose_listing(const struct scenario *s, const struct scenario_input *in,
                           struct simulation *simulation, struct message *why)
{
    return scenario_algorithm(s, &simulation->algorithm, why) &&
           scenario_policy(s, in->input_format, &simulation->policy, why) &&
           choose_faults(s, simulation, why) && choose_tiles(s, simulation, why) &&
           choose_shift(s, simulation, why) &&
           scenario_decode(s, &in->problem, &simulation->choices, why);
}

static bool take_alteration(void *alterations, const char *line, struct message *why)
{
    enum alteration a;
    if (!alteration_from_name(line, &a, why))
        return false;
    *(unsigned *)alterations |= 1u << a;
    return true;
}

static bool read_alterations(const struct scenario *s, const struct problem *p,
                             struct simulation *simulation, struct message *why)
{
    struct problem altered;
    if (s->value[OPTION_ALTER] == NULL)
        return true;
    if (s->given[OPTION_DO])
        return refuse(why, "--alter is for the forward pass; leave out --do");
    bool ok = each_line(s->value[OPTION_ALTER], take_alteration, &simulation->alterations, why) &&
              alter_problem(p, simulation, &altered, why); /* said at the door */
    if (ok)
        alter_problem_free(&altered);
    return ok;
}

bool scenario_simulation(const struct scenario *s, const struct scenario_input *in,
                         struct simulation *simulation, struct message *why)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *simulation = simulation_default();
    simulation->threads = processors > 1 && processors < 1024 ? (int)processors : 1;
    bool listing = s->value[OPTION_KERNEL] == NULL;
    return (listing ? choose_listing(s, in, simulation, why)
                    : scenario_kernel(s, in, simulation, why)) &&
           tiles_fit(&in->problem, simulation, why) && choose_arithmetic(s, in, simulation, why) &&
           read_precision(s, simulation, why) &&
           read_number(s, OPTION_THREADS, 1, 1024, &simulation->threads, why) &&
           read_alterations(s, &in->problem, simulation, why);
}

/* The consecutive units the selection is about. */
static bool choose_units(const struct scenario *s, const struct problem *p,
                         struct simulation *simulation, struct message *why)
{
    struct selection selection;
    int64_t first = INT64_MAX, last = -1, units = 0;
    if (!s->given[OPTION_BATCH] && !s->given[OPTION_HEADS])
        return true;
    if (!scenario_select(s, p, &selection, why))
        return false;
    for (int64_t i = 0; i < selection.rows; i++) {
        int64_t unit = selection.unit[i];
        units += i == 0 || unit != selection.unit[i - 1];
        first = unit < first ? unit : first;
        last = unit > last ? unit : last;
    }
    selection_free(&selection);
    if (units == 0)
        return refuse(why, "--batch and --heads select no rows");
    if (units != last - first + 1)
        return refuse(why, "--batch and --heads: a trace wants neighbouring heads");
    simulation->unit_first = first;
    simulation->unit_count = units;
    return true;
}

static struct trace *record(const struct scenario *s, struct simulation *simulation,
                            const struct scenario_input *in, enum trace_detail detail,
                            struct message *why)
{
    struct output_gradient given;
    char *command;
    simulation->trace = trace_new(detail);
    if (simulation->trace == NULL) {
        refuse(why, "no memory for a trace");
        return NULL;
    }
    if (!scenario_watch(s, in, simulation, &given, why)) {
        trace_free(simulation->trace);
        return NULL;
    }
    output_gradient_free(&given);
    command = scenario_command(s);
    trace_set_meta(simulation->trace, "command", command);
    trace_set_meta(simulation->trace, "problem", in->name);
    trace_set_meta(simulation->trace, "policy", simulation->policy.name);
    trace_set_meta(simulation->trace, "algorithm", simulation_name(simulation).text);
    trace_set_meta(simulation->trace, "device",
                   simulation->is_kernel ? simulation->kernel.device : "simulated");
    free(command);
    return simulation->trace;
}

struct trace *scenario_trace(const struct scenario *s, enum trace_detail detail, bool twin,
                             struct message *why)
{
    struct scenario_input in;
    struct simulation simulation;
    struct trace *trace = NULL;
    if (!scenario_problem(s, &in, why))
        return NULL;
    if (scenario_simulation(s, &in, &simulation, why) &&
        choose_units(s, &in.problem, &simulation, why)) {
        simulation.threads = 1;
        simulation.twin = twin;
        trace = record(s, &simulation, &in, detail, why);
    }
    scenario_input_free(&in);
    return trace;
}
