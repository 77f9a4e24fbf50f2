/* detector.h: what the runtime tells the race detector.

   Order is kept between warps: a clock for each, and of each warp what it knows of the others'.
   __syncthreads and named barriers join those who meet, __syncwarp orders the lanes of one warp;
   shuffles, votes and mma order nothing.  Nothing is done unless the options ask. */
#ifndef FLASHULP_EMULATOR_DETECTOR_H
#define FLASHULP_EMULATOR_DETECTOR_H

#include "gpu/emulator/runtime.h"

void detector_launch(void);
void detector_block(void);
void detector_syncwarp(struct warp *w);
void detector_barrier(int id);            /* the lanes that wait there are about to go on */
void detector_converge(struct warp *w);   /* a collective of the warp is complete */
/* An access of lane l by the runtime on its behalf, at l->at's site or another. */
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };
void detector_access(const struct lane *l, const void *address, size_t bytes, enum access access,
                     struct cuemu_site at);
void detector_copy_begin(const struct lane *l, const struct pending_copy *c);
void detector_copy_end(const struct lane *l, const struct pending_copy *c);
/* Host side: memory is allocated, freed, written. */
void detector_global(void *from, size_t bytes);
void detector_global_gone(void *from);
void detector_host_write(const void *address, size_t bytes);

#endif
