/* audit_gate.h: a measured output that no rounding explains: is it attention of these Q, K, V read
   another way?  Each reading changes one thing: the mask, the scale, which key head a query head
   reads, the last key, the layout of the output.  A reading fits when every output looked at lies
   inside the bound of any 16-bit kernel, where that bound says anything. */
#ifndef FLASHULP_AUDIT_GATE_H
#define FLASHULP_AUDIT_GATE_H

#include "reference/problem.h"

enum reading {
    READ_AS_GIVEN,
    READ_CAUSAL,
    READ_CAUSAL_TOP_LEFT,
    READ_UNMASKED,
    READ_SCALE_1,
    READ_SCALE_USUAL,
    READ_SCALE_BASE_2,
    READ_HEADS_INTERLEAVED,
    READ_LAST_KEY_DROPPED,
    READ_LAYOUT,
    READINGS
};
/* "with a causal mask, bottom-right": completes "it is attention of these Q, K, V ...". */
const char *reading_words(enum reading r);

/* Head `unit` of *other, which becomes p as it is read; false: the reading changes nothing there, or
   is no reading of Q, K, V. */
bool gate_head(const struct problem *p, enum reading r, int64_t unit, struct problem *other,
               struct head *h);

struct gate {
    bool tried[READINGS], fits[READINGS];
    double worst[READINGS];    /* largest error, as a part of its bound; infinite for NaN */
    int64_t outputs[READINGS]; /* looked at, where the bound says anything */
};

/* O: (B, Hq, Nq, D), a view.  Looks at a few rows and columns spread over all. */
void gate_try(const struct problem *p, const struct tensor *O, struct gate *g);

#endif
