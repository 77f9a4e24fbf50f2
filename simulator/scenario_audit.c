/* scenario_audit.c: see scenario_audit.h. */
#include "simulator/scenario_audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/attribution.h"
#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"

/* Words of the command line that are about one run go into its name. */
static const enum option own_options[] = {OPTION_POLICY,       OPTION_SET,      OPTION_ORDER,
                                          OPTION_SPECIAL,      OPTION_TILE,     OPTION_SPLITS,
                                          OPTION_GROUP_TOKENS, OPTION_GROUPING, OPTION_KV,
                                          OPTION_FAULT,        OPTION_ALTER,    OPTION_SWITCH};
enum { OWN_OPTIONS = sizeof own_options / sizeof own_options[0] };

/* Kernels and GPUs beside a problem of one query, and of several. */
static const char usual_decode[] =
    "fa2-split@H200,fa2-split@B200,fa2-split@RTX-PRO-6000,triton-decode@H200,triton-decode@B200,"
    "triton-decode@RTX-PRO-6000,xqa@H200,trtllm-reducer@B200,xqa@RTX-PRO-6000";
static const char usual_prefill[] = "fa2@A100,fa2@H200,fa2@RTX-PRO-6000,triton-fa@A100,"
                                    "triton-fa@H200,triton-fa@RTX-PRO-6000";

struct with_option {
    char **name;
    enum option option;
};

static bool add_option(void *with, const char *line, struct message *why)
{
    struct with_option *w = with;
    char *copy = NULL;
    (void)why;
    text_append(&copy, "%s", line);
    for (char *at = copy; *at != 0; at++)
        *at = *at == ',' ? ';' : *at; /* a comma ends a run's name */
    if (w->option == OPTION_SWITCH)
        text_append(w->name, "+%s", copy);
    else
        text_append(w->name, "+%s=%s", option_info(w->option)->name + 2, copy);
    free(copy);
    return true;
}

/* "fa2+policy=all-bf16+tile=16;16", malloc'ed. */
static char *own_name(const struct scenario *s)
{
    const char *kernel = s->value[OPTION_KERNEL], *listing = s->value[OPTION_ALGORITHM];
    const char *device = s->value[OPTION_DEVICE];
    char *name = NULL;
    struct message why;
    text_append(&name, "%s", kernel != NULL ? kernel : listing != NULL ? listing : "fa2");
    if (kernel != NULL && strchr(kernel, '@') == NULL)
        text_append(&name, "@%s", device != NULL ? device : "H200");
    for (int n = 0; n < OWN_OPTIONS; n++) {
        struct with_option w = {&name, own_options[n]};
        each_line(s->value[own_options[n]], add_option, &w, &why);
    }
    return name;
}

/* The problem and the selection alone. */
static struct scenario without_run(const struct scenario *s)
{
    struct scenario other = *s;
    static const enum option who[] = {OPTION_KERNEL, OPTION_ALGORITHM, OPTION_DEVICE, OPTION_RUNS};
    for (int n = 0; n < OWN_OPTIONS; n++)
        other.value[own_options[n]] = NULL, other.given[own_options[n]] = false;
    for (size_t n = 0; n < sizeof who / sizeof who[0]; n++)
        other.value[who[n]] = NULL, other.given[who[n]] = false;
    return other;
}

static bool add_run(struct audit *a, const char *name, size_t length, struct message *why)
{
    struct audit_run *run = audit_add(a, name, length, why);
    if (run == NULL)
        return false;
    if (audit_model(a, run, why) && audit_simulate(a, run, why))
        return true;
    audit_run_free(run);
    a->runs--;
    return false;
}

/* What --runs names must be; of the usual ones, what takes the problem. */
static bool add_others(struct audit *a, const char *list, struct audited *x, struct message *why)
{
    bool usual = list == NULL;
    const char *own = a->run[x->own].name;
    const char *at = !usual ? list : a->in.problem.Nq == 1 ? usual_decode : usual_prefill;
    for (; *at != 0; at += strcspn(at, ",\n"), at += *at != 0) {
        size_t length = strcspn(at, ",\n");
        bool twice = strlen(own) == length && strncmp(own, at, length) == 0;
        if ((usual && twice) || add_run(a, at, length, why))
            continue;
        if (!usual)
            return false;
        if (x->left_out++ == 0)
            snprintf(x->left_why, sizeof x->left_why, "%.*s: %.180s", (int)length, at, why->text);
    }
    return true;
}

struct scenario scenario_first_group(const struct scenario *s, const struct problem *p,
                                     struct scenario_heads *text)
{
    struct scenario group = *s;
    if (s->given[OPTION_HEADS] || s->given[OPTION_BATCH] || p->Hkv < 1)
        return group;
    snprintf(text->text, sizeof text->text, p->Hq > p->Hkv ? "0-%lld" : "0",
             (long long)(p->Hq / p->Hkv - 1));
    group.value[OPTION_HEADS] = text->text;
    group.given[OPTION_HEADS] = true;
    return group;
}

struct watching {
    struct audit *audit;
    struct audited *audited;
};

static void take_element(void *with, const struct audit_run *run, const struct attribution *x,
                         int64_t at, int64_t i)
{
    struct watching *w = with;
    struct audited_run *to = &w->audited->run[run - w->audit->run];
    const struct truth *truth = &w->audit->truth[i];
    double ulp = truth_ulp(truth, run->format);
    for (int site = 0; site < SITE_OUT; site++)
        if (to->moved[site] != NULL)
            to->moved[site][i] = x->in_situ[site] != NULL ? x->in_situ[site][at] / ulp : 0;
    to->moved[SITE_OUT][i] = (run->O[i] - x->before[at]) / ulp;
    to->listing[i] = truth_error(truth, x->exact[at]) / ulp;
    to->interaction[i] = x->interaction[at] / ulp;
}

static double *unknown(int64_t count)
{
    double *x = malloc(((size_t)count + 1) * sizeof *x);
    if (x == NULL)
        abort(); /* no memory for a number an output */
    for (int64_t i = 0; i < count; i++)
        x[i] = NAN;
    return x;
}

/* "fa2:gpu-bf16", "xqa@H200", or as a measured output is named. */
static void name_run(struct audited_run *to, const struct audit_run *run)
{
    bool kernel = !run->measured && run->simulation.is_kernel;
    const char *what = run->measured ? "measured" : run->what;
    const char *at = kernel ? strchr(run->name, '@') : NULL, *device = at != NULL ? at + 1 : "";
    int length = (int)strcspn(device, "+");
    snprintf(to->kernel, sizeof to->kernel, "%.31s", what);
    snprintf(to->device, sizeof to->device, "%.*s", length < 31 ? length : 31, device);
    snprintf(to->groups, sizeof to->groups, "%.31s", run->groups);
    if (run->measured)
        snprintf(to->name, sizeof to->name, "%.60s", run->name);
    else if (kernel)
        snprintf(to->name, sizeof to->name, "%.30s@%.*s", what, length < 31 ? length : 31, device);
    else
        snprintf(to->name, sizeof to->name, "%.30s:%.31s", what, run->simulation.policy.name);
}

static void begin_run(struct audited *x, const struct audit *a, int n)
{
    struct audited_run *to = &x->run[n];
    const struct audit_run *run = &a->run[n];
    *to = (struct audited_run){.format = run->format};
    name_run(to, run);
    to->stored = unknown(x->outputs);
    memcpy(to->stored, run->O, (size_t)x->outputs * sizeof *to->stored);
    for (int site = 0; site <= SITE_OUT; site++)
        to->moved[site] = unknown(x->outputs);
    to->listing = unknown(x->outputs);
    to->interaction = unknown(x->outputs);
}

/* Sites that made no error are none of the run's. */
static void end_run(struct audited_run *to, const struct audit_sites *sites)
{
    to->stops = sites->stops;
    to->stops_at = sites->stops_at;
    for (int site = 0; site < SITE_OUT; site++)
        if ((sites->met >> site & 1) == 0) {
            free(to->moved[site]);
            to->moved[site] = NULL;
        }
}

static bool map_runs(struct audited *x, struct audit *a, struct message *why)
{
    struct audit_map m = {.points = 0};
    if (a->runs < 2)
        return true;
    if (!audit_points(a, &m, why))
        return false;
    x->mapped = true;
    x->before = m.has_before;
    x->map[0] = m.stored;
    x->map[1] = m.before;
    memcpy(x->cannot_tell, m.cannot_tell, sizeof x->cannot_tell);
    return true;
}

static bool take_all(struct audited *x, struct audit *a, struct message *why)
{
    struct watching w = {a, x};
    if (!audit_judge(a, NULL, why))
        return false;
    x->runs = a->runs;
    for (int n = 0; n < a->runs; n++)
        begin_run(x, a, n);
    x->exact = malloc(((size_t)x->outputs + 1) * sizeof *x->exact);
    if (x->exact == NULL)
        abort();
    memcpy(x->exact, a->truth, (size_t)x->outputs * sizeof *x->exact);
    a->watch = take_element;
    a->watching = &w;
    if (!audit_attribute(a, INT32_MAX, 0, NULL, why) || !map_runs(x, a, why))
        return false;
    for (int n = 0; n < a->runs; n++)
        end_run(&x->run[n], &a->run[n].sites);
    x->selection = a->selection;
    a->selection = (struct selection){0}; /* ours now */
    return true;
}

bool scenario_audit(const struct scenario *s, struct audited *x, struct message *why)
{
    struct scenario alone = without_run(s);
    struct scenario_input in;
    struct audit a = {0};
    struct scenario_heads heads;
    *x = (struct audited){0};
    if (!scenario_problem(s, &in, why))
        return false;
    alone = scenario_first_group(&alone, &in.problem, &heads);
    scenario_input_free(&in);
    alone.value[OPTION_RUNS] = own_name(s);
    bool ok = audit_new(&a, &alone, why);
    x->outputs = ok ? audit_elements(&a) : 0;
    x->own = a.runs - 1; /* behind a capture's outputs */
    ok = ok && (x->outputs <= AUDITED_OUTPUTS ||
                refuse(why,
                       "%s outputs; at most %s are told apart by site, so --heads, --rows or "
                       "--dims of fewer is right",
                       grouped(x->outputs).text, grouped(AUDITED_OUTPUTS).text));
    ok = ok && add_others(&a, s->value[OPTION_RUNS], x, why) && take_all(x, &a, why);
    free(alone.value[OPTION_RUNS]);
    audit_free(&a);
    if (!ok)
        audited_free(x);
    return ok;
}

void audited_free(struct audited *x)
{
    for (int n = 0; n < x->runs; n++) {
        struct audited_run *run = &x->run[n];
        for (int site = 0; site < SITE_COUNT; site++)
            free(run->moved[site]);
        free(run->stored);
        free(run->listing);
        free(run->interaction);
    }
    free(x->exact);
    selection_free(&x->selection);
    *x = (struct audited){0};
}
