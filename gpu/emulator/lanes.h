/* lanes.h: every access of every lane, every warp's wait at a barrier and every finding of the
   detector, kept for a trace: trace_lanes.h and trace_sync.h say what is told of each.

   Nothing is kept unless the options ask; at most as many of each as they say. */
#ifndef FLASHULP_EMULATOR_LANES_H
#define FLASHULP_EMULATOR_LANES_H

#include "gpu/emulator/findings.h"
#include "simulator/trace_sync.h"

bool lanes_wanted(void);
void lanes_forget(void);
void lanes_block(void);                  /* one begins */
void lanes_met(const struct warp *w);    /* its lanes have met */
void lanes_product(const struct warp *w); /* it has done a matrix product */
void lanes_access(const struct lane *l, enum space space, size_t offset, const void *address,
                  size_t bytes, enum access access, uint64_t from);
/* A warp's last lane has reached the barrier; those that are there may go on. */
void lanes_arrive(const struct warp *w, int barrier);
void lanes_release(const struct warp *w, int barrier, struct cuemu_site at);
void lanes_finding(enum emulator_fault fault, enum space space, size_t offset,
                   const struct party *me, const struct party *other);

/* What is kept: file and line are still an origin or a site. */
struct kept_access {
    struct lane_access access;
    uint64_t from;
};
struct kept_wait {
    struct sync_wait wait;
    struct cuemu_site at;
};
struct kept_finding {
    struct sync_finding finding;
    enum emulator_fault fault;
    uint64_t from, other_from; /* 0: nobody */
};
struct kept_lanes {
    struct kept_access *access;
    struct kept_wait *wait;
    struct kept_finding *finding;
    size_t accesses, waits, findings;
};
const struct kept_lanes *lanes_kept(void);

#endif
