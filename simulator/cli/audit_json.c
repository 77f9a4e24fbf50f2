/* audit_json.c: the audit as JSON, and its table of runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/audit.h"

/* Signed means over `elements`, keyed by site. */
static void add_means(struct json *to, const char *key, const struct audit_sites *s,
                      const double *sums, int64_t elements)
{
    struct json *j = json_object(to, key);
    for (int site = 0; site < SITE_COUNT && elements > 0; site++)
        if (s->met >> site & 1 || site == SITE_OUT)
            json_real(j, site_name((enum site)site), sums[site] / (double)elements);
}

static void add_sites(struct json *j, const struct audit_run *run)
{
    const struct audit_sites *s = &run->sites;
    struct json *sites = json_object(j, "sites");
    add_means(sites, "in_situ", s, s->in_situ, s->elements);
    if (s->explored > 0) {
        add_means(sites, "alone", s, s->alone, s->explored);
        add_means(sites, "without", s, s->without, s->explored);
    }
    json_real(j, "interaction", s->elements > 0 ? s->interaction / (double)s->elements : 0);
    json_real(j, "listing", s->elements > 0 ? s->listing / (double)s->elements : 0);
    json_whole(j, "attributed_elements", s->elements);
    json_whole(j, "attributed_rows", s->rows);
    json_whole(j, "counterfactual_elements", s->explored);
    if (s->stops)
        json_string(j, "attribution_stops_at", site_name(s->stops_at));
}

static void add_flip(struct json *list, const struct audit *a, const struct audit_run *run,
                     const struct audit_flip *f)
{
    struct json *j = json_object(list, NULL), *restored;
    json_string(j, "at", audit_place(a, f->element).text);
    json_real(j, "stored", f->stored);
    json_real(j, "before", f->before);
    json_real(j, "correct", f->correct);
    json_real(j, "boundary", f->boundary.at);
    json_real(j, "exact_above_boundary_ulp", f->boundary.distance);
    json_truth(j, "crossed", f->boundary.crossed);
    json_real(j, "error_before_ulp", f->error_before);
    struct json *in_situ = json_object(j, "in_situ");
    for (int site = 0; site < SITE_OUT; site++)
        if (run->sites.met >> site & 1)
            json_real(in_situ, site_name((enum site)site), f->in_situ[site]);
    if (!f->explored)
        return;
    restored = json_list(j, "correct_without");
    for (int site = 0; site < SITE_OUT; site++)
        if (f->restores >> site & 1)
            json_string(restored, NULL, site_name((enum site)site));
}

static void add_judgement(struct json *j, const struct audit *a, const struct audit_run *run)
{
    int64_t averaged = run->elements - run->of_kind;
    json_whole(j, "elements", run->elements);
    json_real(j, "max_ulp", run->of_kind > 0 ? INFINITY : run->max_ulp);
    json_real(j, "mean_signed_ulp", averaged > 0 ? run->sum_ulp / (double)averaged : 0);
    json_whole(j, "rows", run->rows_averaged);
    if (run->rows_averaged >= AUDIT_FEW_ROWS)
        json_real(j, "z", run->z);
    json_whole(j, "correctly_rounded", run->rounded);
    json_whole(j, "nan", run->nan);
    json_whole(j, "infinite", run->infinite);
    json_whole(j, "different_kind", run->of_kind);
    if (run->first_of_kind >= 0)
        json_string(j, "first_of_different_kind", audit_place(a, run->first_of_kind).text);
    json_real(j, "max_roundoffs", run->max_roundoffs);
    if (!run->bounded) {
        json_string(j, "no_bound", run->unbounded);
        return;
    }
    json_whole(j, "inside_bound", run->elements - run->outside - run->of_kind);
    json_real(j, "max_bound_ulp", run->max_bound);
    json_real(j, "max_error_over_bound", run->max_ratio);
    json_whole(j, "vacuous", run->vacuous);
}

/* Models beside a measured output, the most matching outputs first. */
static void add_identified(struct json *to, const struct audit *a, int n)
{
    struct json *list = json_list(to, "identified");
    bool told[AUDIT_MOST_RUNS] = {false};
    for (;;) {
        int best = -1;
        int64_t least = 0;
        for (int m = 0; m < a->runs; m++) {
            int64_t differ = audit_pair(a, m, n).differ;
            if (a->run[m].measured || told[m] || (best >= 0 && differ >= least))
                continue;
            best = m;
            least = differ;
        }
        if (best < 0)
            return;
        const struct audit_run *model = &a->run[best];
        const struct simulation *s = &model->simulation;
        struct json *j = json_object(list, NULL);
        told[best] = true;
        json_string(j, "kernel", model->what);
        json_string(j, "name", model->name);
        if (s->is_kernel)
            json_string(j, "device", s->kernel.device);
        if (model->groups[0] != 0)
            json_whole(j, "splits", strtol(model->groups, NULL, 10));
        json_whole(j, "matched", audit_elements(a) - least);
        json_whole(j, "elements", audit_elements(a));
    }
}

/* Ways of reading Q, K, V or the output that were tried, and the largest error over its bound. */
static void add_readings(struct json *to, const struct gate *g)
{
    struct json *list = NULL;
    for (int k = 0; k < READINGS; k++) {
        if (!g->tried[k])
            continue;
        list = list != NULL ? list : json_list(to, "readings");
        struct json *j = json_object(list, NULL);
        json_string(j, "reading", reading_words((enum reading)k));
        json_truth(j, "fits", g->fits[k]);
        json_real(j, "max_error_over_bound", g->worst[k]);
        json_whole(j, "outputs", g->outputs[k]);
    }
}

static void add_run(struct report *r, struct json *list, const struct audit *a,
                    const struct findings *f, int n)
{
    const struct audit_run *run = &a->run[n];
    struct json *j = json_object(list, NULL);
    char digest[24];
    json_string(j, "name", run->name);
    json_string(j, "source", run->measured ? "measured" : "model");
    json_string(j, run->measured ? "file" : "model", run->what);
    if (run->groups[0] != 0)
        json_string(j, "groups", run->groups);
    json_string(j, "format", format_info(run->format)->name);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)run->digest);
    if (run->has_digest) {
        json_string(j, "digest", digest);
        json_string(j, "digest_of", run->measured ? "O" : "O, LSE");
    }
    json_string(j, "verdict", audit_verdict_name(audit_run_verdict(run)));
    add_judgement(j, a, run);
    if (!run->measured && run->sites.elements > 0)
        add_sites(j, run);
    if (f->asked[n])
        audit_json_identified(j, &f->found[n]);
    else if (run->measured)
        add_identified(j, a, n);
    add_readings(j, &run->gate);
    audit_json_lse(j, a, &run->lse);
    struct json *flips = json_list(j, "not_correctly_rounded");
    for (int i = 0; i < run->flip_count; i++)
        add_flip(flips, a, run, &run->flip[i]);
    report_row(r, "%s\t%s\t%s\t%lld\t%.17g\t%.17g\t%lld\t%lld\t%s", run->name,
               run->measured ? "measured" : "model", run->groups, (long long)run->elements,
               run->max_ulp, run->sum_ulp / (double)run->elements, (long long)run->rounded,
               (long long)(run->bounded ? run->elements - run->outside - run->of_kind : -1),
               audit_verdict_name(audit_run_verdict(run)));
}

static void add_pairs(struct report *r, const struct audit *a)
{
    struct json *list = json_list(r->json, "pairs");
    for (int x = 0; x < a->runs; x++)
        for (int y = x + 1; y < a->runs; y++) {
            struct audit_pair pair = audit_pair(a, x, y);
            struct json *j = json_object(list, NULL);
            json_string(j, "a", a->run[x].name);
            json_string(j, "b", a->run[y].name);
            json_whole(j, "differ", pair.differ);
            if (pair.comparable)
                json_whole(j, "max_ulp", pair.max_steps);
        }
}

void audit_json(struct report *r, const struct audit *a, const struct findings *f)
{
    json_string(r->json, "problem", a->in.name);
    json_string(r->json, "verdict", audit_verdict_name(audit_verdict(a)));
    json_whole(r->json, "rows", a->selection.rows);
    json_whole(r->json, "rows_total", a->selection.rows_total);
    json_whole(r->json, "elements", audit_elements(a));
    if (a->defaults[0] != 0)
        json_string(r->json, "defaults", a->defaults);
    if (audit_single(a)) {
        struct head h = problem_head(&a->in.problem, a->selection.unit[0]);
        char *digits = truth_digits(&h, a->selection.row[0], a->selection.dim[0], 21);
        json_string(r->json, "exact", digits);
        free(digits);
    }
    report_row(r, "run\tsource\tgroups\telements\tmax_ulp\tmean_signed_ulp\tcorrectly_rounded\t"
                  "inside_bound\tverdict");
    struct json *list = json_list(r->json, "runs");
    for (int n = 0; n < a->runs; n++)
        add_run(r, list, a, f, n);
    add_pairs(r, a);
    audit_json_explained(r, a, f);
}
