/* run_files.h: what `flashulp run` has when it is done, and what it writes. */
#ifndef FLASHULP_RUN_FILES_H
#define FLASHULP_RUN_FILES_H

#include "simulator/report.h"
#include "simulator/scenario_parts.h"

struct finished {
    const struct scenario *scenario;
    struct scenario_input input;
    struct simulation simulation;
    struct selection selection;
    struct result result;
    int64_t *row_start; /* of each unit in the result */
    double seconds;
};

/* In which the report shows O and L. */
enum format run_out_format(const struct finished *x);
enum format run_lse_format(const struct finished *x);

/* --out and --lse: tensors; -o FILE.safetensors: a capture.  All of them, or none. */
bool run_write_outputs(struct report *r, const struct finished *x, struct message *why);

#endif
