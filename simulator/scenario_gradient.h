/* scenario_gradient.h: --do and what goes with it: the gradient of O, and how dQ is added up. */
#ifndef FLASHULP_SCENARIO_GRADIENT_H
#define FLASHULP_SCENARIO_GRADIENT_H

#include "simulator/scenario.h"

/* dO (B, Hq, Nq, D) in what the inputs are held in: a file's numbers rounded once to the inputs'
   format, ones, or numbers drawn from a seed, about normal. */
struct output_gradient {
    struct tensor dO;
    char *remark; /* a line, or "" */
};
bool scenario_output_gradient(const struct scenario *s, const struct scenario_input *in,
                              struct output_gradient *g, struct message *why);
void output_gradient_free(struct output_gradient *g);

/* --atomic-seed, --deterministic, --arrivals: the simulation's copies of dQ. */
bool scenario_dq(const struct scenario *s, const struct problem *p, struct simulation *simulation,
                 struct message *why);
/* Runs the simulation for its trace's sake: forward, or with --do backward too, when *g is filled (and
   the caller's to free). */
bool scenario_watch(const struct scenario *s, const struct scenario_input *in,
                    struct simulation *simulation, struct output_gradient *g, struct message *why);
/* Options that need --do, given without it, are refused; and those that go without it, with it. */
bool scenario_without_gradient(const struct scenario *s, struct message *why);
bool scenario_with_gradient(const struct scenario *s, struct message *why);

#endif
