/* schedule.h: thread blocks over the SMs of a GPU, in waves.

   A launch is a grid of blocks; a block walks the (query tile, key tile) cells it owns, skipping
   those the mask empties.  The machine is a number of SMs, on each of which some blocks are
   resident and share its speed evenly.  Times are in whatever unit the caller's step times have.
   Cells follow from the mask's definition: query r sees key c iff not causal or
   c <= r + len_k - len_q. */
#ifndef FLASHULP_SCHEDULE_H
#define FLASHULP_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/message.h"

enum plan_kernel {
#define PLAN_KERNEL(id, ...) PLAN_KERNEL_##id,
#include "simulator/plan.def"
#undef PLAN_KERNEL
    PLAN_KERNEL_COUNT
};
const char *plan_kernel_name(enum plan_kernel k);
const char *plan_kernel_owns(enum plan_kernel k); /* "a row block" */
const char *plan_kernel_meaning(enum plan_kernel k);
bool plan_kernel_from_name(const char *name, enum plan_kernel *k, struct message *why);

/* All at least 1; heads_q a multiple of heads_kv. */
struct attention_shape {
    int64_t batch, heads_q, heads_kv, len_q, len_k, dim;
    bool causal;
};

struct tiling {
    int Br, Bc, warps; /* query rows, keys, warps of a block */
};

enum cell { CELL_SKIPPED, CELL_MASKED, CELL_PLAIN };

struct cells {
    int64_t skipped, masked, plain;
};

/* Blocks are numbered as they start: those of a head together, heads after one another. */
struct grid {
    enum plan_kernel kernel;
    struct attention_shape shape;
    struct tiling tile;
    int64_t rows;                 /* queries of a head; decode: those of a KV head's whole group */
    int64_t heads;                /* batch x heads that have blocks of their own */
    int64_t row_tiles, key_tiles; /* of a head */
    int64_t splits, split_tiles;  /* decode: groups of a row tile, key tiles of a group */
    int64_t per_head, blocks;     /* thread blocks */
};

/* splits, split_tiles: decode's alone; others ignore them. */
struct grid grid_of(enum plan_kernel kernel, const struct attention_shape *shape,
                    struct tiling tile, int64_t splits, int64_t split_tiles);
/* What the mask leaves of query tile i and key tile j; a ragged last key tile is masked. */
enum cell grid_cell(const struct grid *g, int64_t i, int64_t j);
/* The cells that block n owns, in closed form; and all blocks' of a head. */
struct cells grid_block(const struct grid *g, int64_t n);
struct cells grid_head(const struct grid *g);

/* The cells a block computes, in its kernel's order: fa2, decode: keys last to first; backward:
   queries last to first; fa1: key tiles ascending, for each the query tiles ascending. */
struct block_walk {
    const struct grid *grid;
    int64_t i, j, from, to; /* next cell; bounds of the running index */
    bool done;
};
struct block_walk walk_block(const struct grid *g, int64_t n);
bool walk_next(struct block_walk *w, int64_t *i, int64_t *j);

struct machine {
    int sms, per_sm;
    double plain, masked; /* an SM's time for a cell, when one block has it to itself */
    double block;         /* for the beginning and end of a block */
};

struct schedule_event {
    int64_t block, i, j;
    int sm, slot;
    enum cell cell;
    double time, length; /* length: at the speed the block has when the cell begins */
};
typedef void schedule_seen(void *with, const struct schedule_event *e);

struct schedule {
    int64_t slots;    /* sms x per_sm */
    double waves;     /* blocks / slots */
    int64_t launched; /* waves, rounded up */
    double full;      /* waves / launched: share of the slots that the launched waves fill */
    int busy_sms;     /* SMs that get any block */
    int64_t steps;    /* cells computed */
    double span;      /* until the last block ends */
    double work;      /* time of all cells and blocks, an SM's */
    double busy;      /* work / (span x sms) */
};
/* Runs the launch; events, in no particular order among SMs, go to `seen` unless it is NULL. */
void schedule_run(const struct grid *g, const struct machine *m, schedule_seen *seen, void *with,
                  struct schedule *s);

#endif
