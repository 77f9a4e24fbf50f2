/* detector.h: what the runtime tells the race detector, and what that remembers.

   Order is kept between warps: a clock for each, and of each warp what it knows of the others'.
   __syncthreads and named barriers join those who meet, __syncwarp orders the lanes of one warp;
   shuffles, votes and mma order nothing.  Two accesses of the same memory by different threads, one
   of them a write, not both atomic, are a race when neither is ordered before the other; threads of
   different blocks of a launch are never ordered.  Memory is judged in units of two bytes; accesses
   of a single byte are only looked up, not judged as races.  Nothing is done unless the options
   ask. */
#ifndef FLASHULP_EMULATOR_DETECTOR_H
#define FLASHULP_EMULATOR_DETECTOR_H

#include "gpu/emulator/runtime.h"

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

extern bool detector_watches; /* detector, statistics or lanes: somebody wants to know */

void detector_launch(void);
void detector_block(void);
void detector_block_end(void);
void detector_syncwarp(const struct warp *w);
void detector_barrier(int id);                /* the lanes that wait there are about to go on */
void detector_converge(const struct warp *w); /* a collective of the warp is complete */
/* An access of lane l; `from`: origins.h. */
void detector_access(const struct lane *l, const void *address, size_t bytes, enum access access,
                     uint64_t from);
/* The same where `space_of` has been asked. */
void detector_access_at(const struct lane *l, enum space space, size_t offset, const void *address,
                        size_t bytes, enum access access, uint64_t from);
void detector_copy_begin(const struct lane *l, const struct pending_copy *c);
void detector_copy_end(const struct lane *l, const struct pending_copy *c);
/* Who did something to a unit of memory, when; all zero: nobody. */
struct stamp {
    uint64_t when; /* block, warp clock, thread, flags: detector.c */
    uint64_t from; /* origins.h */
};
/* Two bytes of memory: the last write, the last read, the last read of a warp that is not its. */
struct unit {
    struct stamp write, read, other_read;
};
/* shadow.c: the units of `bytes` from an address on, where `space_of` said that it lies.  For the
   bytes of one granule and no others *whole is its `split`: while that is 0 the first unit speaks
   for all; else *whole is NULL, and each unit speaks for itself. */
enum { GRANULE_UNITS = 8, GRANULE_BYTES = 2 * GRANULE_UNITS };
struct unit *shadow_of(enum space space, const void *address, size_t offset, size_t bytes,
                       unsigned char **whole);
void shadow_launch(size_t shared_bytes, size_t static_shared_bytes);
void shadow_add(const void *from, size_t bytes); /* global memory: allocated, freed, written */
void shadow_remove(const void *from);
void shadow_host_write(const void *address, size_t bytes);
void shadow_all_written(void);
bool shadow_written(const void *address); /* by the host, or while nobody looked */

#endif
