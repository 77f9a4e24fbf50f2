/* requests.h: the accesses of an emulated kernel's lanes, put together into what a warp does in one
   go, and what that costs at the 32 banks of shared memory or in sectors of global memory.

   A request is the n-th execution of one instruction by each lane since the warp's lanes last met.
   A bank is four bytes wide; lanes that read the same word share a pass; accesses of 8 and 16 bytes
   are made by half and quarter warps, one after another.  The emulator counts by the same rules
   (gpu/emulator/banks.c); a test holds the two sums together. */
#ifndef FLASHULP_REQUESTS_H
#define FLASHULP_REQUESTS_H

#include "simulator/trace_lanes.h"

enum { REQUEST_LANES = 32, BANKS = 32, SECTOR_BYTES = 32 };

struct lane_request {
    struct lane_access first; /* of the lane that came first: place in the code, verb, space, ... */
    uint32_t lanes;           /* a bit for each that takes part */
    uint32_t access[REQUEST_LANES]; /* its number in the trace */
    int passes, least; /* shared memory: passes over the banks; global: sectors; and at best */
};
struct lane_requests {
    struct lane_request *request; /* in the order of their first access */
    size_t count;
};
/* Of one block, or of all (block -1).  Refused: more than memory holds; a trace that does not say
   which accesses belong together (version 1.0). */
bool lane_requests_new(struct lane_requests *r, const struct trace_lanes *l, int64_t block,
                       struct message *why);
void lane_requests_free(struct lane_requests *r);

/* Which pass serves a lane, from 0, and does it come later than it need, for a bank that another
   lane's word has?  Of several words the last one counts.  pass -1: takes no part. */
struct lane_turn {
    int pass;
    bool conflict;
};
/* Returns the number of passes. */
int request_passes(const struct trace_lanes *l, const struct lane_request *r,
                   struct lane_turn turn[REQUEST_LANES]);

#endif
