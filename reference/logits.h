/* logits.h: what a difference between two rows of logits does to the next token.

   The token is the first of the largest logits.  The divergence is KL(want || got) of the two
   softmaxes, in nats, as the sum of p (d + e^-d - 1), d the difference of the log-probabilities:
   no term is negative, nothing cancels. */
#ifndef FLASHULP_LOGITS_H
#define FLASHULP_LOGITS_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/format.h"

enum { LOGITS_KEEP = 4 };

struct logit_flip {
    int64_t row, got, want; /* the two tokens */
    /* By how many steps each side's own token leads the other's; 0: a tie. */
    int64_t got_margin, want_margin;
};

struct logits {
    enum format format;
    int64_t rows;
    int64_t undefined; /* rows with a NaN or +inf, or nothing but -inf: neither token nor softmax */
    int64_t flips, ties;                 /* ties: flips where one side has both tokens level */
    struct logit_flip flip[LOGITS_KEEP]; /* the first ones */
    double sum_divergence, max_divergence;
    int64_t worst; /* row of the largest; -1: none */
};

void logits_start(struct logits *l, enum format f);
void logits_add(struct logits *l, const double *got, const double *want, int64_t length);

#endif
