/* run_special.h: whose special functions a run used. */
#ifndef FLASHULP_CLI_RUN_SPECIAL_H
#define FLASHULP_CLI_RUN_SPECIAL_H

#include "simulator/report.h"

/* Nothing without a table.  JSON: "special_table". */
void describe_table(struct report *r, const struct simulation *s);

#endif
