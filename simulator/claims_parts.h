/* claims_parts.h: what the claims' functions share: inputs as numbers, figures at their printed
   digits, runs of the simulator.  Internal to claims*.c. */
#ifndef FLASHULP_CLAIMS_PARTS_H
#define FLASHULP_CLAIMS_PARTS_H

#include <mpfr.h>

#include "simulator/claims.h"
#include "simulator/gradient.h"
#include "simulator/trace.h"

claim_function claim_a1, claim_a2, claim_a3, claim_a4, claim_a5, claim_a6, claim_a7, claim_a8,
    claim_a8b, claim_a9, claim_a10, claim_a11, claim_a12, claim_a13, claim_a14, claim_a15, claim_a16,
    claim_a17, claim_a18, claim_a19, claim_a20, claim_a21, claim_a22, claim_b1, claim_b2, claim_b3, claim_b4, claim_b5,
    claim_c1, claim_c2, claim_c3, claim_c4, claim_c5, claim_c6, claim_c7, claim_c8, claim_c9,
    claim_c10, claim_c11, claim_c12, claim_c13, claim_c14, claim_c15, claim_c16, claim_c17;

enum { CLAIM_NUMBERS = 16 };

/* The numbers of an input, blanks and | between them; at most `room`.  Returns how many. */
int claim_numbers(const struct claim_inputs *in, enum claim_input i, double *x, int room);
/* The n-th of them, 0 where there are not so many. */
double claim_number(const struct claim_inputs *in, enum claim_input i, int n);
/* x against the n-th figure of the input: holds when equal, digits within half a unit of its last
   printed digit, else fails. */
enum verdict_word claim_figure(const struct claim_inputs *in, enum claim_input i, int n, double x);
/* Of a claim with two parts: fails with fails, partly where only one does, digits before holds. */
enum verdict_word verdict_both(enum verdict_word a, enum verdict_word b);
/* Equal or not: holds or fails. */
enum verdict_word verdict_of(bool true_as_stated);

/* Appends to the outcome's text. */
void explain(struct claim_outcome *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* e^x to the nearest double or its neighbour. */
double claim_exp(double x);

/* A problem of one head from inputs that hold scores and values. */
struct problem claim_problem(const struct claim_inputs *in, enum claim_input scores,
                             enum claim_input values);
/* The same from numbers. */
struct problem scores_problem(const double *x, const double *v, int keys);
/* Nq queries, Nk keys of size D, bf16 multiples of 1/16 from a seed. */
struct problem drawn_problem(uint64_t seed, int Nq, int Nk, int D);
/* The same with `group` query heads for each of several key heads; a dO for them; and the problem
   with a copy of its key head's K and V for every query head. */
struct problem drawn_group(uint64_t seed, int group, int key_heads, int Nq, int Nk, int D);
struct tensor drawn_gradient(uint64_t seed, const struct problem *p);
struct problem copied_keys(const struct problem *p);

/* The algorithm in exact arithmetic (256 bits), or under another policy in floats; tile Bc (0: its
   own, or the user's), no faults. */
struct simulation exact_run(enum algorithm a, int Bc);
struct simulation policy_run(enum algorithm a, enum policy_id policy, int Bc);
/* O and LSE; every run of a claim is a valid one, so a refusal is the programmer's mistake. */
struct result claim_run(const struct problem *p, const struct simulation *s);
struct gradients claim_gradients(const struct problem *p, const struct tensor *dO,
                                 const struct simulation *s);
/* claim_run with a trace of every value. */
struct trace *claim_trace(const struct problem *p, const struct simulation *s);
/* Element n of the last event of that step and tensor with key tile j; NaN when there is none. */
double traced(const struct trace *t, enum step step, enum tensor_name tensor, int j, int n);

/* What one head of a problem costs an algorithm, counted over its calls and tiles. */
struct counts {
    int64_t divisions; /* of an output by a sum of weights, per row */
    int64_t products;  /* matrix products */
    int64_t flops;     /* of the products, two per multiplication and addition */
    int64_t elements;  /* of every tile it holds */
    int64_t kept;      /* tiles of m and l */
};
struct counts claim_counts(const struct problem *p, const struct simulation *s);

/* x cut to a whole number between the two. */
int claim_whole(double x, int least, int most);

/* Splitmix64: the drawn cases of a claim. */
uint64_t claim_draw(uint64_t *state);

#endif
