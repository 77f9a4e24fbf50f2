/* exact_gradient.h: `flashulp exact PROBLEM --do ...`. */
#ifndef FLASHULP_CLI_EXACT_GRADIENT_H
#define FLASHULP_CLI_EXACT_GRADIENT_H

#include "simulator/report.h"

/* Certified gradients; *status: 1 when one of them is undecided.  Fills the report. */
bool exact_gradient(const struct scenario *s, const struct scenario_input *in, int digits,
                    struct report *r, int *status, struct message *why);

#endif
