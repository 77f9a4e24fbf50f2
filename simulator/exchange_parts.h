/* exchange_parts.h: what the files of exchange share: a run whose calls are counted, or timed. */
#ifndef FLASHULP_EXCHANGE_PARTS_H
#define FLASHULP_EXCHANGE_PARTS_H

#include "simulator/exchange_time.h"

/* Who has touched a shared tile since the last barrier: a bit a warp. */
struct touched {
    const struct tile *tile;
    uint32_t written, read;
};

/* The run is the first member, so that `perform` finds the counts behind it. */
struct counting {
    struct run run;
    struct exchange *exchange;
    struct touched touched[EXCHANGE_TILES];
    int tiles;
    struct timing *timing; /* NULL: counted alone */
};

bool exchange_is_input(const struct tile *t);
bool exchange_is_shared(const struct tile *t);
/* Of `elements`, in the format that the shared tile t is kept in. */
int64_t exchange_bytes(const struct run *r, const struct tile *t, const struct tile *elements);
/* A run that counts into e, and times; the listing has run when it returns. */
struct attention exchange_start(struct counting *n, const struct simulation *s,
                                const struct head *h, struct exchange *e, struct timing *timing);

/* exchange_time.c: what a call takes; a barrier of all warps. */
void timing_call(struct counting *n, const struct call *c);
void timing_barrier(struct timing *t, bool for_results);

#endif
