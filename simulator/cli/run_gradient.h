/* run_gradient.h: `flashulp run PROBLEM --do ...`. */
#ifndef FLASHULP_CLI_RUN_GRADIENT_H
#define FLASHULP_CLI_RUN_GRADIENT_H

#include "simulator/report.h"

/* Forward and backward of the scenario; prints and writes its report and files. */
bool run_gradient(const struct scenario *s, struct report *r, struct message *why);

#endif
