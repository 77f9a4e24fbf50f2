/* tiling.h: what a tile needs of an SM, how many such blocks fit, and which tile ships.

   Shared memory is as flash_attn/src/kernel_traits.h adds it up for 16-bit elements.  Of registers
   only the accumulators are certain: they alone are a lower bound; what else a thread holds is an
   assumption.  Limits are devices.def's architectures'. */
#ifndef FLASHULP_TILING_H
#define FLASHULP_TILING_H

#include "simulator/devices.h"
#include "simulator/schedule.h"

enum { REGISTERS_PER_SM = 65536, REGISTERS_PER_THREAD = 255, THREADS_PER_WARP = 32 };

struct tile_needs {
    int64_t shared;       /* bytes of a block */
    int64_t accumulators; /* fp32 registers of a thread that O and S (backward: dK, dV, S, dP, dQ)
                             take at their fullest */
    int threads;
};
struct tile_needs tile_needs(enum plan_kernel k, struct tiling t, int64_t dim);

enum tile_verdict {
    TILE_FITS,
    TILE_MAY_SPILL, /* accumulators fit a thread's registers, with the assumed others they do not */
    TILE_SPILLS,    /* the accumulators alone do not */
    TILE_NO_LAUNCH  /* more shared memory or threads than a block may have */
};

enum occupancy_limit { LIMIT_SHARED, LIMIT_REGISTERS, LIMIT_THREADS, LIMIT_BLOCKS, LIMIT_COUNT };
const char *occupancy_limit_name(enum occupancy_limit l);

struct occupancy {
    struct tile_needs needs;
    enum tile_verdict verdict;
    int registers;            /* of a thread, as allocated: at most 255, a multiple of 8 */
    int allowed[LIMIT_COUNT]; /* blocks an SM has room for, by each limit */
    int per_sm;               /* the least of them; 0 when the tile does not launch */
    enum occupancy_limit limit;
};
/* `others`: registers of a thread beside its accumulators. */
struct occupancy occupancy(enum architecture a, enum plan_kernel k, struct tiling t, int64_t dim,
                           int others);

/* 32 64 96 128 192 256: the head size that is compiled for `dim`, 0 when none is. */
int64_t compiled_dim(int64_t dim);
/* The shipped kernel's.  Refused: head sizes and architectures it does not ship for. */
bool shipped_tile(enum plan_kernel k, enum architecture a, const struct attention_shape *shape,
                  struct tiling *t, struct message *why);

#endif
