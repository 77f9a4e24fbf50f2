/* measured.h: an audit of a problem made in a test, and models' outputs as if they had been measured.
   What cannot be made ends the program with its reason. */
#ifndef FLASHULP_TESTS_MEASURED_H
#define FLASHULP_TESTS_MEASURED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/identify_parts.h"
#include "simulator/scenario_parts.h"

struct bench {
    struct scenario scenario;
    struct audit audit;
};

static inline void bench_must(bool ok, const char *what, const char *why)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

/* Of bf16 inputs; the problem is the audit's from here on. */
static inline void bench_new(struct bench *b, const struct problem *p, int threads)
{
    struct message why = {"no memory"};
    *b = (struct bench){.scenario = {.verb = "audit"}};
    b->audit = (struct audit){.scenario = &b->scenario, .threads = threads};
    b->audit.in.problem = *p;
    b->audit.in.input_format = FORMAT_BF16;
    b->audit.run = calloc(AUDIT_MOST_RUNS, sizeof *b->audit.run);
    bench_must(b->audit.run != NULL && scenario_select(&b->scenario, p, &b->audit.selection, &why),
               "a problem", why.text);
}

/* An output that was measured: [rows][D] values of the format, which the run takes over. */
static inline struct audit_run *bench_measured(struct bench *b, const char *name, enum format f,
                                               double *O)
{
    const struct problem *p = &b->audit.in.problem;
    const int64_t shape[TENSOR_MAX_RANK] = {p->B, p->Hq, p->Nq, p->D};
    struct message why = {"no memory"};
    struct audit_run *run = audit_add(&b->audit, name, strlen(name), &why);
    bench_must(run != NULL && O != NULL, name, why.text);
    run->measured = true;
    run->format = f;
    run->O = O;
    bench_must(tensor_new(&run->whole, f, TENSOR_MAX_RANK, shape, &why), name, why.text);
    for (int64_t i = 0; i < audit_elements(&b->audit); i++) {
        int64_t row = i / p->D, head = row / p->Nq;
        tensor_set(&run->whole, head / p->Hq, head % p->Hq, row % p->Nq, i % p->D, O[i]);
    }
    return run;
}

/* The outputs of a named run, stored in f. */
static inline struct audit_run *bench_measure(struct bench *b, const char *name, enum format f)
{
    struct audit *a = &b->audit;
    struct audit_run model = {0};
    struct message why = {"no memory"};
    char *label = NULL;
    double *O = calloc((size_t)audit_elements(a) + 1, sizeof *O);
    text_append(&model.name, "%s", name);
    text_append(&model.groups, "%s", "");
    text_append(&label, "%s as %s", name, format_info(f)->name);
    bool ok = O != NULL && audit_model(a, &model, &why);
    model.simulation.policy.site[SITE_OUT].format = f;
    bench_must(ok && look_outputs(a, &model, look_whole(a), false, O, &why), name, why.text);
    candidate_run_free(&model);
    struct audit_run *run = bench_measured(b, label, f, O);
    free(label);
    return run;
}

static inline void bench_judge(struct bench *b)
{
    struct message why;
    bench_must(audit_judge(&b->audit, NULL, &why), "the judgement", why.text);
}

static inline void bench_free(struct bench *b)
{
    audit_free(&b->audit); /* and the problem */
}

#endif
