/* run_all.h: what `run` and its `--algorithm all` share. */
#ifndef FLASHULP_RUN_ALL_H
#define FLASHULP_RUN_ALL_H

#include "simulator/report.h"

/* Every algorithm on the scenario's input, judged; prints and writes its report. */
bool run_all(const struct scenario *s, struct report *r, struct message *why);

/* "name   q 1,1,1,1   k v 1,1,4,1   fp32", and the remarks on the input. */
void run_headline(struct report *r, const struct scenario_input *in);
/* Where each unit's rows begin in a result, malloc'ed; NULL: no memory. */
int64_t *run_row_starts(const struct problem *p);

#endif
