/* audit.c: the runs of an audit, read and made; see audit.h. */
#include "simulator/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"

struct audit_run *audit_add(struct audit *a, const char *name, size_t length, struct message *why)
{
    if (a->runs == AUDIT_MOST_RUNS) {
        refuse(why, "--runs: at most %d runs, the capture's own outputs included", AUDIT_MOST_RUNS);
        return NULL;
    }
    for (int n = 0; n < a->runs; n++)
        if (strlen(a->run[n].name) == length && strncmp(a->run[n].name, name, length) == 0) {
            refuse(why, "--runs names %.*s twice; once is right", (int)length, name);
            return NULL;
        }
    struct audit_run *run = &a->run[a->runs++];
    *run = (struct audit_run){.first_of_kind = -1, .first_outside = -1, .worst = -1};
    text_append(&run->name, "%.*s", (int)length, name);
    text_append(&run->groups, "%s", "");
    text_append(&run->remarks, "%s", "");
    return run;
}

/* "o.h200" is in already when the problem is the capture that holds it. */
static bool is_captured(const struct audit *a, const char *name, size_t length, struct message *why)
{
    for (int n = 0; n < a->runs; n++)
        if (strlen(a->run[n].name) == length && strncmp(a->run[n].name, name, length) == 0)
            return true;
    return refuse(why, "--runs %.*s: the problem has no such output; a capture's are named o.NAME",
                  (int)length, name);
}

static bool add_named(struct audit *a, const char *name, size_t length, struct message *why)
{
    if (length == 0)
        return refuse(why, "--runs: names separated by commas are right");
    if (length > 2 && strncmp(name, "o.", 2) == 0)
        return is_captured(a, name, length, why);
    struct audit_run *run = audit_add(a, name, length, why);
    if (run == NULL)
        return false;
    return strncmp(run->name, "file:", 5) == 0
               ? audit_measured_file(a, run, run->name + 5, why)
               : audit_model(a, run, why) && audit_simulate(a, run, why);
}

/* Without --runs: what was measured; else FA2's groups on three GPUs for one query over many keys,
   or fa2. */
static const char *usual_runs(const struct audit *a)
{
    enum { MANY = 1024 };
    const struct problem *p = &a->in.problem;
    bool decode = p->Nq == 1 && p->Nk >= MANY && p->cu_q == NULL && p->D <= 256;
    if (a->runs > 0)
        return NULL;
    return decode ? "H200,B200,RTX-PRO-6000" : "fa2";
}

bool audit_read_runs(struct audit *a, struct message *why)
{
    const char *list = a->scenario->value[OPTION_RUNS];
    char *path = audit_capture_path(a->scenario);
    bool ok = path == NULL || audit_measured_capture(a, path, why);
    free(path);
    if (!ok)
        return false;
    for (const char *at = list != NULL ? list : usual_runs(a); ok && at != NULL && *at != 0;) {
        size_t length = strcspn(at, ",\n");
        ok = add_named(a, at, length, why);
        at += length + (at[length] != 0);
    }
    return ok;
}

/* The selected outputs of a whole result, whose rows are the problem's. */
static bool take_selected(const struct audit *a, const struct result *result, double **O,
                          struct message *why)
{
    const struct selection *s = &a->selection;
    const struct problem *p = &a->in.problem;
    int64_t units = problem_units(p), row = 0, unit = -1;
    int64_t *start = malloc(((size_t)units + 1) * sizeof *start);
    *O = malloc(((size_t)audit_elements(a) + 1) * sizeof **O);
    if (start == NULL || *O == NULL) {
        free(start);
        return refuse(why, "no memory for %lld outputs", (long long)audit_elements(a));
    }
    for (unit = 0; unit < units; unit++) {
        start[unit] = row;
        row += problem_head(p, unit).Nq;
    }
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t k = 0; k < s->dims; k++)
            (*O)[i * s->dims + k] =
                result->O[(start[s->unit[i]] + s->row[i]) * result->D + s->dim[k]];
    free(start);
    return true;
}

/* Before OUT: what fp32 holds in the float arithmetic is left as it is. */
static struct simulation opened(const struct simulation *s)
{
    struct simulation open = *s;
    bool wide = s->arith == &arith_double || s->arith == &arith_mpfr;
    open.policy.site[SITE_OUT].format = wide ? FORMAT_EXACT : FORMAT_FP32;
    return open;
}

bool audit_simulate(struct audit *a, struct audit_run *run, struct message *why)
{
    struct result result = {0};
    struct simulation open = opened(&run->simulation);
    run->format = run->simulation.policy.site[SITE_OUT].format;
    if (run->format == FORMAT_EXACT)
        run->format = FORMAT_FP64;
    bool ok = simulate(&run->problem, &run->simulation, &result, why) &&
              take_selected(a, &result, &run->O, why);
    run->digest = result.digest;
    run->has_digest = ok && !run->padded;
    result_free(&result);
    ok = ok && simulate(&run->problem, &open, &result, why) &&
         take_selected(a, &result, &run->before, why);
    result_free(&result);
    return ok;
}

static bool read_threads(struct audit *a, struct message *why)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *text = a->scenario->value[OPTION_THREADS];
    int64_t threads = processors > 1 && processors < 1024 ? processors : 1;
    bool ok = text == NULL || parse_integer("--threads", text, 1, 1024, &threads, why);
    a->threads = (int)threads;
    return ok;
}

bool audit_new(struct audit *a, const struct scenario *s, struct message *why)
{
    *a = (struct audit){.scenario = s};
    text_append(&a->defaults, "%s", "");
    if (!read_threads(a, why) || !scenario_problem(s, &a->in, why))
        return false;
    enum example e;
    a->in_example = scenario_example(s, &e) && example_info(e)->file == NULL;
    a->run = calloc(AUDIT_MOST_RUNS, sizeof *a->run);
    if (a->run == NULL)
        return refuse(why, "no memory");
    if (!scenario_select(s, &a->in.problem, &a->selection, why))
        return false;
    a->columns = a->selection.dims;
    if (audit_elements(a) == 0)
        return refuse(why, "the selection has no outputs; there is nothing to audit");
    return audit_read_runs(a, why);
}

void audit_run_free(struct audit_run *run)
{
    free(run->name);
    free(run->what);
    free(run->groups);
    free(run->remarks);
    free(run->O);
    free(run->before);
    free(run->lse.stored);
    tensor_free(&run->whole);
    if (run->padded) {
        tensor_free(&run->problem.q);
        tensor_free(&run->problem.k);
        tensor_free(&run->problem.v);
    }
}

void audit_free(struct audit *a)
{
    for (int n = 0; n < a->runs; n++)
        audit_run_free(&a->run[n]);
    free(a->run);
    free(a->defaults);
    free(a->truth);
    free(a->rounded);
    free(a->A);
    selection_free(&a->selection);
    scenario_input_free(&a->in);
    *a = (struct audit){0};
}

static bool outputs_outside(const struct audit_run *run)
{
    return run->of_kind > 0 || (run->bounded && run->outside > 0);
}

/* Another base than was thought is no error of the kernel's. */
bool audit_only_lse(const struct audit_run *run)
{
    bool other_base = run->lse.fits && run->lse.reading == READ_AS_GIVEN;
    return !outputs_outside(run) && audit_lse_wrong(&run->lse) > 0 && !other_base;
}

enum audit_verdict audit_run_verdict(const struct audit_run *run)
{
    if (outputs_outside(run) || audit_only_lse(run))
        return AUDIT_OUTSIDE;
    return run->bounded ? AUDIT_LEGAL : AUDIT_UNKNOWN;
}

enum audit_verdict audit_verdict(const struct audit *a)
{
    enum audit_verdict worst = AUDIT_LEGAL;
    for (int n = 0; n < a->runs; n++) {
        enum audit_verdict v = audit_run_verdict(&a->run[n]);
        if (v == AUDIT_OUTSIDE)
            return v;
        worst = v == AUDIT_UNKNOWN ? v : worst;
    }
    return worst;
}

static const struct {
    const char *name, *meaning;
} verdicts[AUDIT_VERDICTS] = {
#define AUDIT_VERDICT(id, name, meaning) {name, meaning},
#include "simulator/verdicts.def"
#undef AUDIT_VERDICT
};

const char *audit_verdict_name(enum audit_verdict v)
{
    return verdicts[v].name;
}

const char *audit_verdict_meaning(enum audit_verdict v)
{
    return verdicts[v].meaning;
}

struct audit_place audit_place(const struct audit *a, int64_t i)
{
    struct audit_place place;
    int64_t row = i / a->selection.dims;
    struct head h = problem_head(&a->in.problem, a->selection.unit[row]);
    snprintf(place.text, sizeof place.text, "[%lld,%lld,%lld,%lld]", (long long)h.batch,
             (long long)h.head, (long long)(h.q0 + a->selection.row[row]),
             (long long)a->selection.dim[i % a->selection.dims]);
    return place;
}

struct audit_pair audit_pair(const struct audit *a, int x, int y)
{
    const struct audit_run *one = &a->run[x], *two = &a->run[y];
    struct audit_pair pair = {0, one->format == two->format, 0};
    for (int64_t i = 0; i < audit_elements(a); i++) {
        double p = one->O[i], q = two->O[i];
        if (p == q || (isnan(p) && isnan(q)))
            continue;
        pair.differ++;
        pair.comparable = pair.comparable && !isnan(p) && !isnan(q);
        if (!pair.comparable)
            continue;
        int64_t steps = llabs(format_steps(one->format, p, q));
        pair.max_steps = steps > pair.max_steps ? steps : pair.max_steps;
    }
    return pair;
}

int audit_reproduced(const struct audit *a, int n)
{
    for (int m = 0; m < a->runs && a->run[n].measured; m++)
        if (!a->run[m].measured && a->run[m].format == a->run[n].format &&
            audit_pair(a, m, n).differ == 0)
            return m;
    return -1;
}

static bool alike(const double *x, int64_t count)
{
    for (int64_t i = 1; x != NULL && i < count; i++)
        if (!(x[i] == x[0]))
            return false;
    return true;
}

bool audit_single(const struct audit *a)
{
    int64_t count = audit_elements(a);
    for (int n = 0; n < a->runs; n++)
        if (!alike(a->run[n].O, count) || !alike(a->run[n].before, count))
            return false;
    for (int64_t i = 1; i < count; i++)
        if (a->truth[i].value[0] != a->truth[0].value[0] ||
            a->truth[i].value[1] != a->truth[0].value[1])
            return false;
    return true;
}
