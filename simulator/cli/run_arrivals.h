/* run_arrivals.h: `run --do --arrivals`: how many dQ there are under other orders of atomic adds. */
#ifndef FLASHULP_RUN_ARRIVALS_H
#define FLASHULP_RUN_ARRIVALS_H

#include "simulator/report.h"
#include "simulator/simulate.h"

/* Nothing without --arrivals; with an .svg also the picture. */
bool run_arrivals(struct report *r, const struct problem *problem, const struct tensor *dO,
                  const struct simulation *simulation, struct message *why);

#endif
