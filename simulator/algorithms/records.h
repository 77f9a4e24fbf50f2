/* records.h: what the groups of a decode row leave behind, and how that becomes one output; for
   decode.c alone. */
#ifndef FLASHULP_RECORDS_H
#define FLASHULP_RECORDS_H

#include "simulator/algorithms/state.h"

/* Of the G groups of one row. */
struct records {
    int G;
    struct tile *m, *l, *L, *O;  /* 1 x G, 1 x G, 1 x G, G x D */
    struct tile *weight, *share; /* 1 x G */
    struct tile *O_g, *quotient; /* 1 x D */
    struct tile *m_g, *l_g;      /* 1 x 1 */
};

void records_new(struct run *r, const struct attention *x, struct records *c);
/* What group g, folded into the state, leaves: O or O~ at PARTIAL_OUT; L, or m and l, at
   PARTIAL_STAT.  A group in which the row sees nothing leaves, unnoted, O = 0, l = 0, m = L = -inf. */
void leave_record(struct run *r, enum merge merge, struct state *s, struct records *c, int g,
                  bool seen);
/* The records as one output, stored. */
void merge_records(struct run *r, struct attention *x, struct state *s, struct records *c, int i);

#endif
