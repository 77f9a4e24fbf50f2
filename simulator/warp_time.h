/* warp_time.h: when the warps of a thread block work, and where they wait: a model.

   A block has its SM to itself.  Every warp does its tasks one after another, each at a unit of the
   SM: tensor core, other arithmetic and special functions are there once for each quarter of the
   SM (warp w has quarter w mod 4), shared memory and the way to device memory once for all.  A
   unit serves one warp at a time, piece by piece, whoever came first.  At a barrier a warp waits
   until all that belong to it have come.  Nothing else takes time: no latency, no other block. */
#ifndef FLASHULP_WARP_TIME_H
#define FLASHULP_WARP_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIMED_WARPS = 32, QUARTERS = 4 };
enum warp_unit {
    UNIT_TENSOR,
    UNIT_OTHER,
    UNIT_SPECIAL,
    UNIT_SHARED,
    UNIT_MEMORY,
    UNIT_BARRIER,
    UNITS
};

/* In the order of the program. */
struct warp_task {
    enum warp_unit unit;
    uint32_t warps; /* a bit each: one, or those that a barrier waits for */
    double clocks;  /* of work; a barrier: none */
    int pieces;     /* at least 1 */
    int tag;        /* the caller's */
};

/* One warp at one task: of the time from `from` to `to` it worked `worked`; the rest it waited, for
   the unit or for the others at the barrier. */
struct warp_span {
    size_t task;
    int warp;
    double from, to, worked;
};
struct warp_times {
    struct warp_span *span; /* each warp's in its order */
    size_t count;
    double end;
};
/* False: no memory. */
bool warp_times_new(struct warp_times *t, const struct warp_task *task, size_t tasks);
void warp_times_free(struct warp_times *t);

/* Sums over a warp's spans. */
struct warp_sum {
    double work[UNITS]; /* [UNIT_BARRIER]: 0 */
    double wait[UNITS];
};
struct warp_sum warp_sum(const struct warp_times *t, const struct warp_task *task, int warp);

#endif
