/* run_gradient.c: `flashulp run PROBLEM --do ...`: forward, then backward; dQ, dK, dV, a digest of
   their bits, and how the order of atomic adds shows. */
#include "simulator/cli/run_gradient.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/certified_gradients.h"
#include "reference/error.h"
#include "simulator/cli/cli.h"
#include "simulator/cli/run_all.h"
#include "simulator/cli/run_arrivals.h"
#include "simulator/gradient.h"
#include "simulator/scenario_gradient.h"
#include "simulator/scenario_parts.h"

struct backward_run {
    const struct scenario *scenario;
    struct scenario_input input;
    struct output_gradient given;
    struct simulation simulation;
    struct gradients gradients;
};

/* One of the three. */
struct gradient_array {
    const char *name, *key;
    const double *x;
    enum option file;
    int64_t heads, rows;
};

static void arrays(const struct backward_run *x, struct gradient_array a[3])
{
    const struct problem *p = &x->input.problem;
    const struct gradients *g = &x->gradients;
    a[0] = (struct gradient_array){"dQ", "dq", g->dQ, OPTION_DQ, p->Hq, p->Nq};
    a[1] = (struct gradient_array){"dK", "dk", g->dK, OPTION_DK, p->Hkv, p->Nk};
    a[2] = (struct gradient_array){"dV", "dv", g->dV, OPTION_DV, p->Hkv, p->Nk};
}

static enum format gradient_format(const struct backward_run *x)
{
    enum format f = x->simulation.policy.site[SITE_GRADIENT].format;
    return f == FORMAT_EXACT ? FORMAT_FP64 : f;
}

static void add_array(struct report *r, const struct backward_run *x, const struct gradient_array *a)
{
    enum { IN_TEXT = 4, IN_JSON = 64 };
    const struct problem *p = &x->input.problem;
    enum format f = gradient_format(x);
    int digits = format_info(f)->bits / 4;
    struct json *list = json_list(r->json, a->key);
    int64_t n = p->B * a->heads * a->rows * p->D;
    for (int64_t i = 0; i < n; i++) {
        int64_t d = i % p->D, row = i / p->D % a->rows, head = i / p->D / a->rows;
        char where[96];
        unsigned long long bits = format_encode(f, a->x[i]);
        snprintf(where, sizeof where, "%s[%lld,%lld,%lld,%lld]", a->name,
                 (long long)(head / a->heads), (long long)(head % a->heads), (long long)row,
                 (long long)d);
        if (i < IN_TEXT)
            report_text(r, " %-16s %-22s 0x%0*llX\n", where, number_text(f, a->x[i]).text, digits,
                        bits);
        if (i < IN_JSON)
            json_real(list, NULL, a->x[i]);
        report_row(r, "%s\t%lld\t%lld\t%lld\t%lld\t%s\t0x%0*llX", a->name,
                   (long long)(head / a->heads), (long long)(head % a->heads), (long long)row,
                   (long long)d, number_text(f, a->x[i]).text, digits, bits);
    }
    if (n > IN_TEXT)
        report_text(r, " ... %s more numbers of %s: --%s FILE.npy, -o FILE.csv\n",
                    grouped(n - IN_TEXT).text, a->name, a->key);
}

static bool write_array(struct report *r, const struct backward_run *x,
                        const struct gradient_array *a, struct message *why)
{
    const struct problem *p = &x->input.problem;
    const char *path = x->scenario->value[a->file];
    enum format f = gradient_format(x);
    struct tensor t;
    if (path == NULL)
        return true;
    f = f == FORMAT_FP32_FTZ || f == FORMAT_TF32 ? FORMAT_FP32 : f;
    if (!tensor_new(&t, f, 4, (int64_t[]){p->B, a->heads, a->rows, p->D}, why))
        return false;
    for (int64_t i = 0; i < tensor_elements(&t); i++) {
        int64_t head = i / p->D / a->rows;
        tensor_set(&t, head / a->heads, head % a->heads, i / p->D % a->rows, i % p->D, a->x[i]);
    }
    report_making(r, path);
    bool ok = tensor_write_npy(path, &t, x->scenario->given[OPTION_FORCE], why);
    tensor_free(&t);
    return ok;
}

static void describe_dq(struct report *r, const struct backward_run *x)
{
    const struct choices *c = &x->simulation.choices;
    const struct problem *p = &x->input.problem;
    double copies = c->dq_copies;
    if (x->scenario->given[OPTION_ATOMIC_SEED])
        report_text(r, "key tiles add to dQ in an order drawn for each query tile, seed %s\n",
                    x->scenario->value[OPTION_ATOMIC_SEED]);
    if (!x->scenario->given[OPTION_DETERMINISTIC])
        return;
    report_text(r, "deterministic: %d cop%s of dQ in fp32, %.4g MB (one: %.4g MB)\n"
                   " key tile j adds to copy j mod %d; other SMs or heads: another order\n",
                c->dq_copies, c->dq_copies == 1 ? "y" : "ies",
                copies * 4e-6 * (double)tensor_elements(&p->q),
                4e-6 * (double)tensor_elements(&p->q), c->dq_copies);
    json_whole(r->json, "dq_copies", c->dq_copies);
    json_real(r->json, "dq_bytes", copies * 4 * (double)tensor_elements(&p->q));
}

static void describe(struct report *r, const struct backward_run *x)
{
    const struct simulation *s = &x->simulation;
    const char *name = simulation_name(s).text;
    run_headline(r, &x->input);
    report_text(r, "%s", x->given.remark);
    report_text(r, "%s, then %s   policy %s   arithmetic %s   dO %s\n", s->is_kernel ? "fa2" : name,
                s->is_kernel ? name : "backward", s->policy.name, s->arith->name,
                x->scenario->value[OPTION_DO]);
    json_string(r->json, s->is_kernel ? "kernel" : "algorithm", name);
    json_string(r->json, "policy", s->policy.name);
    json_string(r->json, "arith", s->arith->name);
    describe_dq(r, x);
}

/* sum_j dS_ij = 0 in exact arithmetic: the size of what rounding left. */
static void add_sums(struct report *r, const struct backward_run *x)
{
    const struct problem *p = &x->input.problem;
    int64_t rows = p->B * p->Hq * p->Nq;
    const double *sum = x->gradients.dS_sum;
    double largest = 0, mean = 0;
    if (p->softcap > 0)
        return;
    for (int64_t i = 0; i < rows; i++) {
        largest = fabs(sum[i]) > largest ? fabs(sum[i]) : largest;
        mean += sum[i] / (double)rows;
    }
    report_text(r, "sum dS     at most %.3g in size over %s queries, mean %+.3g\n"
                   "           (exactly 0 without rounding)\n",
                largest, grouped(rows).text, mean);
    json_real(r->json, "max_sum_ds", largest);
    json_real(r->json, "mean_sum_ds", mean);
}

/* The group's part of an array against the certified gradients. */
static void judge_group(struct certified_gradients *c, const struct head *h, enum gradient which,
                        const struct gradient_array *a, enum format f, struct error_summary *e)
{
    const struct problem *p = h->problem;
    bool queries = which == GRADIENT_Q;
    int64_t heads = queries ? p->Hq / p->Hkv : 1, rows = queries ? h->Nq : h->Nk;
    struct certified proof;
    mpfr_t truth;
    certified_init(&proof);
    mpfr_init2(truth, 128);
    for (int64_t i = 0; i < heads * rows * p->D; i++) {
        int64_t d = i % p->D, row = i / p->D % rows, n = i / p->D / rows;
        int64_t head = queries ? h->head + n : h->kv_head, first = queries ? h->q0 : h->k0;
        double rounded = certified_gradient_round(c, which, n, row, d, f, &proof);
        certified_gradient_value(c, which, n, row, d, truth);
        error_add(e, f, a->x[((h->batch * a->heads + head) * a->rows + first + row) * p->D + d], truth,
                  rounded);
    }
    mpfr_clear(truth);
    certified_clear(&proof);
}

/* Every gradient against the certified one. */
static void check(struct report *r, const struct backward_run *x, const struct gradient_array a[3])
{
    const struct problem *p = &x->input.problem;
    int64_t G = p->Hq / p->Hkv, groups = problem_units(p) / G;
    enum format f = gradient_format(x);
    struct error_summary e[3];
    struct json *all = json_object(r->json, "check");
    for (int n = 0; n < 3; n++)
        error_start(&e[n]);
    for (int64_t group = 0; group < groups; group++) {
        struct head h = problem_head(p, group * G);
        struct certified_gradients *c = certified_gradients_new(p, group, &x->given.dO);
        cli_progress("run", group, groups);
        for (int n = 0; n < 3; n++)
            judge_group(c, &h, (enum gradient)n, &a[n], f, &e[n]);
        certified_gradients_free(c);
    }
    cli_progress("run", groups, groups);
    for (int n = 0; n < 3; n++) {
        struct json *j = json_object(all, a[n].key);
        report_text(r, "certified  %s: %s of %s correctly rounded; worst %.3f ulp, mean %+.4f\n",
                    a[n].name, grouped(e[n].correctly_rounded).text, grouped(e[n].elements).text,
                    e[n].max_ulp, error_bias(&e[n]));
        json_whole(j, "elements", e[n].elements);
        json_whole(j, "correctly_rounded", e[n].correctly_rounded);
        json_whole(j, "different_kind", e[n].different_kind);
        json_real(j, "max_ulp", e[n].max_ulp);
        json_real(j, "mean_signed_ulp", error_bias(&e[n]));
    }
}

static bool say(struct report *r, const struct backward_run *x, struct message *why)
{
    struct gradient_array a[3];
    char digest[24];
    bool ok = true;
    arrays(x, a);
    describe(r, x);
    report_row(r, "tensor\tbatch\thead\trow\tdim\tvalue\tbits");
    for (int n = 0; n < 3; n++)
        add_array(r, x, &a[n]);
    add_sums(r, x);
    if (x->scenario->given[OPTION_CHECK])
        check(r, x, a);
    if (!run_arrivals(r, &x->input.problem, &x->given.dO, &x->simulation, why))
        return false;
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)x->gradients.digest);
    json_string(r->json, "gradient_digest", digest);
    report_text(r, "digest %s   (FNV-1a-64 of all of dQ, dK, dV in %s)\n", digest,
                format_info(x->simulation.policy.site[SITE_GRADIENT].format)->name);
    for (int n = 0; ok && n < 3; n++)
        ok = write_array(r, x, &a[n], why);
    if (!ok)
        report_undo(r);
    return ok && report_finish(r, why);
}

static bool prepare(struct backward_run *x, struct message *why)
{
    static const enum option files[] = {OPTION_DQ, OPTION_DK, OPTION_DV};
    const struct scenario *s = x->scenario;
    return scenario_with_gradient(s, why) &&
           report_check_outputs(s, s->given[OPTION_ARRIVALS] ? "json md csv svg" : "json md csv",
                                files, 3, why) &&
           scenario_problem(s, &x->input, why) &&
           scenario_simulation(s, &x->input, &x->simulation, why) &&
           scenario_output_gradient(s, &x->input, &x->given, why) &&
           scenario_dq(s, &x->input.problem, &x->simulation, why);
}

bool run_gradient(const struct scenario *s, struct report *r, struct message *why)
{
    struct backward_run x = {.scenario = s};
    bool ok = prepare(&x, why) &&
              simulate_gradients(&x.input.problem, &x.given.dO, &x.simulation, &x.gradients, why) &&
              say(r, &x, why);
    gradients_free(&x.gradients);
    output_gradient_free(&x.given);
    scenario_input_free(&x.input);
    return ok;
}
