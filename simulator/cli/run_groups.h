/* run_groups.h: the groups of a decode run, for its report; of the first head. */
#ifndef FLASHULP_CLI_RUN_GROUPS_H
#define FLASHULP_CLI_RUN_GROUPS_H

#include "simulator/report.h"

/* Nothing for other algorithms.  JSON: "groups", with the keys of `splits`. */
void describe_groups(struct report *r, const struct scenario_input *in, const struct simulation *s);

#endif
