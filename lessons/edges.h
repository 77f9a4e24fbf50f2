/* edges.h: the battery's edge cases (simulator/battery.def) put to a lab: what the lab's functions
   make of a case is judged as any program's output is, and a wrong one gets the name of the known
   mistake that gives the same numbers.

   A lab takes the cases that its state can hold: no softcap, no buffer longer than the keys, and
   not all-minus-inf: in a lab a score of -inf is a masked one, so O = 0. */
#ifndef FLASHULP_LESSONS_EDGES_H
#define FLASHULP_LESSONS_EDGES_H

#include "lessons/grade.h"
#include "simulator/battery.h"

/* What the lab gives in a case, as battery's `mistaken` does: O[B,Hq,Nq,D], lse[B,Hq,Nq].  False:
   the property has failed. */
typedef bool edge_solver(struct grading *g, const struct battery_input *in, double *O, double *lse);

/* The same of a backward pass: dQ[B,Hq,Nq,D], dK and dV[B,Hkv,Nk,D], 0 at the start. */
typedef bool edge_gradient_solver(struct grading *g, const struct battery_input *in, double *dQ,
                                  double *dK, double *dV);

struct edges {
    edge_solver *solve;
    edge_gradient_solver *solve_gradients; /* in place of it */
    bool plain, masked;                    /* without a mask; causal or with a window */
    bool heads;                            /* only those with several query heads */
    bool lse;                              /* the logarithms are judged, too */
    int most_keys, most_rows;
    double most_score;     /* in magnitude; 0: any */
    const char *leaves[4]; /* cases that the lab's text does not cover */
    enum format dtype;     /* of Q, K, V; exact, 0: fp32 */
};
/* Every such case, until one fails. */
void edge_cases(struct grading *g, const struct edges *e);

/* Query row r of a unit (batch x query head) against key c: the scaled score; and what is seen. */
double edge_score(const struct battery_input *in, int64_t unit, int64_t r, int64_t c);
double edge_value(const struct battery_input *in, int64_t unit, int64_t c, int64_t d);
bool edge_sees(const struct battery_input *in, int64_t unit, int64_t r, int64_t c);
/* As the judge takes it: one that was never written is told from a NaN. */
double edge_number(float x);
/* A logarithm in the base that the copy asks for, or either, as natural; `want`: what is right. */
double edge_natural(const struct grading *g, float L, double want);

/* A row's softmax over its keys [first, end): the largest score, sum e^(s - m), sum e^(s - m) v. */
struct edge_row {
    double m, l, O[MAX_DIM];
};
struct edge_row edge_row(const struct battery_input *in, int64_t unit, int64_t r, int64_t first,
                         int64_t end);
/* The same with K and V of another KV head than the query head's. */
struct edge_row edge_row_of(const struct battery_input *in, int64_t unit, int64_t kv_head,
                            int64_t r, int64_t first, int64_t end);

#endif
