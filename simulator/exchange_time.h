/* exchange_time.h: one thread block of splitk or splitq over time: its listing's calls, each a task
   of the warp that makes it, and the barriers that exchange.h finds, put through warp_time.h.

   The first row tile, its first key tiles.  A call on a tile that all warps hold parts of is split
   as they are held: rows (split-Q), keys or columns of O (split-K); what each warp of split-K keeps
   of every row, m and l, each computes.  Rates are the device's (cost.h); shared memory and device
   memory are asked for in pieces of 512 bytes. */
#ifndef FLASHULP_EXCHANGE_TIME_H
#define FLASHULP_EXCHANGE_TIME_H

#include "simulator/cost.h"
#include "simulator/exchange.h"
#include "simulator/warp_time.h"

enum { TIMED_TILES = 4 };
/* Of a key tile; a task's tag is tile * TILE_PHASES + phase. */
enum tile_phase { PHASE_LOAD, PHASE_SCORES, PHASE_OUTPUTS, TILE_PHASES };

/* Clocks that a FLOP, an element's operation or a byte takes a warp at each unit of an SM.  Refused:
   the device's rates are not established. */
bool unit_clocks(double clocks[UNITS], const struct device_record *d, struct message *why);

struct exchange_time {
    struct warp_task *task;
    size_t tasks;
    bool *for_results; /* of each task: a barrier whose cause is a partial result */
    struct warp_times times; /* in clocks */
    int warps, tiles;        /* timed: at most TIMED_TILES */
    bool more;               /* there were more tiles */
    double phase_end[TIMED_TILES * TILE_PHASES + 1]; /* in clocks; the last: dividing, storing */
};
/* Of splitk or splitq on this head.  Refused: no memory; the device's rates are not established. */
bool exchange_time_new(struct exchange_time *t, const struct simulation *s, const struct head *h,
                       const struct device_record *d, struct message *why);
void exchange_time_free(struct exchange_time *t);

#endif
