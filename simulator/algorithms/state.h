/* state.h: what the algorithms share: a query tile's state, its scores, its end.

   Q, K, V, S, P are tiles; m, l, decay are columns, one number a row.  O is unnormalised until the
   algorithm divides. */
#ifndef FLASHULP_STATE_H
#define FLASHULP_STATE_H

#include "simulator/simulate.h"

struct state {
    struct tile *Q, *K, *V, *S, *P;
    struct tile *m, *l, *decay, *O, *L;
    struct tile *scale, *cap;
    struct tile *tanh; /* kept by `scores` under softcap, for backward; or NULL */
    struct visible visible; /* of the key tile entered last */
};

/* Makes every tile, rounds the constants. */
void state_new(struct run *r, const struct attention *x, struct state *s);
/* m, l, O of its own for a state whose other tiles are shared. */
void state_own(struct run *r, const struct attention *x, struct state *s);
/* m = -inf, l = 0, O = 0. */
void state_empty(struct run *r, struct state *s);
/* Query tile i: empty, Q loaded. */
void state_begin(struct run *r, const struct attention *x, struct state *s, int i);
/* Query tile i meets key tile j; false when no row of the tile sees any of it. */
bool state_meet(struct run *r, const struct attention *x, struct state *s, int i, int j);
/* The same, with K and V loaded. */
bool state_enter(struct run *r, const struct attention *x, struct state *s, int i, int j);
/* S = scale S, softcapped. */
void scale_scores(struct run *r, const struct attention *x, struct state *s);
/* S = scale Q K^T, softcapped. */
void scores(struct run *r, const struct attention *x, struct state *s);
/* S limited to what each row sees. */
void hide_unseen(struct run *r, struct state *s);
/* dst / l where something has been summed; where l is still 0 (every score so far -inf) the division
   is put off and dst stays as it is.  For listings that divide as they go. */
void divide_summed(struct run *r, struct tile *dst, struct tile *quotient, const struct tile *l);
/* The end of those listings: a row that sees keys but whose scores were all -inf is 0 / 0. */
void settle_rows(struct run *r, const struct attention *x, struct state *s, int i);
/* O (already divided) rounded to the output's format, it and L stored. */
void conclude(struct run *r, struct attention *x, struct state *s, int i);
/* L = m + ln l; O (already divided by l) rounded to the output's format; both stored. */
void finish(struct run *r, struct attention *x, struct state *s, int i);

#endif
