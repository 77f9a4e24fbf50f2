/* certified_gradients.h: gradients with a proof attached, as certified.h has it for O.

   Structural cases come first, as rational numbers: queries that see no key or one, or whose dO . v
   are all equal, have dS = 0; queries whose visible scores are all equal have weights 1/n (dS too is
   rational where the scale is, and under softcap where the scores are 0).  Otherwise precision
   rises until both ends of the enclosure answer alike, or to a cap: then the honest answer is
   "undecided".  No theorem of certified.h is claimed here. */
#ifndef FLASHULP_CERTIFIED_GRADIENTS_H
#define FLASHULP_CERTIFIED_GRADIENTS_H

#include "reference/certified.h"
#include "reference/truth.h"

enum { CERTIFIED_GRADIENT_BITS = 4096 };

/* One key head of one sequence: the group of query heads that problem_head's units group * G ..
   group * G + G - 1 are, G = Hq / Hkv.  p and dO must stay. */
struct certified_gradients;
struct certified_gradients *certified_gradients_new(const struct problem *p, int64_t group,
                                                    const struct tensor *dO);
void certified_gradients_free(struct certified_gradients *g);

/* Element [row][d] of dQ of the group's query head number `head`, or of dK or dV (head 0).
   c->precision: of the gradients' own sums; 0: none was needed. */
double certified_gradient_round(struct certified_gradients *g, enum gradient which, int64_t head,
                                int64_t row, int64_t d, enum format f, struct certified *c);
/* As certified_digits. */
char *certified_gradient_digits(struct certified_gradients *g, enum gradient which, int64_t head,
                                int64_t row, int64_t d, int digits, struct certified *c);
/* Its value to 2^-128 of its size (exact_gradients.h). */
void certified_gradient_value(struct certified_gradients *g, enum gradient which, int64_t head,
                              int64_t row, int64_t d, mpfr_t x);

#endif
