/* watch.h: a run with an exact twin walking beside it, step by step.

   Every call is made twice: by the run, and on the tiles' twins by an exact run.  Beside the values
   it keeps what each step's own rounding added (local) and whether a bit changed since the last
   note. */
#ifndef FLASHULP_WATCH_H
#define FLASHULP_WATCH_H

#include "simulator/lift.h"

struct watch {
    struct policy exact_policy;
    struct run twin;
    struct lift lift;
    double *error; /* of the call being made */
    size_t error_room;
    bool finite; /* the last call's error was */
};

/* Lets an exact twin walk beside r: in mpfr at `precision` bits, or in double.  Before any tile is
   made. */
void watch_new(struct watch *w, struct run *r, const struct arithmetic *exact, int precision);
void watch_free(struct watch *w, struct run *r);

#endif
