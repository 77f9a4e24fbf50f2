/* audit_parts.h: what the files of the audit share. */
#ifndef FLASHULP_AUDIT_PARTS_H
#define FLASHULP_AUDIT_PARTS_H

#include "simulator/audit.h"

/* Room for another run, or a sentence. */
struct audit_run *audit_add(struct audit *a, const char *name, size_t length, struct message *why);

/* Adds every run of --runs and of the capture, models ready to run and measured outputs read. */
bool audit_read_runs(struct audit *a, struct message *why);
/* A model out of its name; fills in run->simulation, problem, what, groups. */
bool audit_model(struct audit *a, struct audit_run *run, struct message *why);
/* Outputs of a file: `tensor` NULL: the only one of a .npy. */
bool audit_measured_file(struct audit *a, struct audit_run *run, const char *path,
                         struct message *why);
/* All o.NAME of the capture, or the one named; says which metadata were missing. */
bool audit_measured_capture(struct audit *a, const char *path, struct message *why);
/* Takes what t owns: outputs of the problem's shape (B, Hq, Nq, D), or (B, Nq, Hq, D). */
bool audit_take_output(struct audit *a, struct audit_run *run, struct tensor *t, bool bnhd,
                       struct message *why);
/* lse.NAME of the capture b, beside the tensor named `output`; true where there is none. */
bool audit_take_lse(struct audit *a, struct audit_run *run, const struct bundle *b,
                    const char *path, const char *output, struct message *why);
/* "o" or "o.NAME". */
bool audit_is_output(const char *name);
/* What 16-bit words hold; whether outputs lie (B, Nq, Hq, D), by --layout or b's metadata. */
enum format audit_words(const struct audit *a);
bool audit_bnhd(const struct audit *a, const struct bundle *b);
/* Are these the problem's Q, K, V?  What was rounded at INPUT cannot be compared any more. */
bool audit_same_inputs(const struct audit *a, const struct audit_run *run, const struct tensor *q,
                       const struct tensor *k, const struct tensor *v, struct message *why);
/* The output of a second capture, made on the same Q, K, V. */
bool audit_replayed_capture(struct audit *a, struct audit_run *run, const char *path,
                            struct message *why);
/* A dumped call's output: the problem's own, or that of a replay on the same Q, K, V. */
bool audit_measured_dump(struct audit *a, const char *path, struct message *why);
bool audit_replayed_dump(struct audit *a, struct audit_run *run, const char *path,
                         struct message *why);
/* The path of the capture that the problem came from, malloc'ed, or NULL. */
char *audit_capture_path(const struct scenario *s);

void audit_run_free(struct audit_run *run);
/* Runs a model: O, before, digest. */
bool audit_simulate(struct audit *a, struct audit_run *run, struct message *why);

/* How a run rounds, or why no bound is known: false. */
bool audit_budget(const struct audit_run *run, const struct problem *p,
                  struct rounding_budget *budget, const char **why);

/* ex2, lg2, rcp of the hardware, and our fmaf polynomials: relative error. */
#define AUDIT_APPROXIMATE 0x1p-21
/* A model's budget, proved or not. */
void audit_model_budget(const struct audit_run *run, struct rounding_budget *budget);

/* Of any kernel with 16-bit weights and partial outputs on a tensor core. */
struct rounding_budget audit_any_budget(const struct problem *p);

/* Distances under every setting of what is not established; cannot_tell where one is 0. */
bool audit_ranges(struct audit *a, const double *unit, struct audit_map *m, struct message *why);

/* Work for several threads: `work` is called for every i below count, once each. */
struct audit_work {
    int64_t count;
    void (*work)(void *context, int64_t i);
    void *context;
    audit_progress *progress;
};
void audit_parallel(const struct audit_work *w, int threads);

#endif
