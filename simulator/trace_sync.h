/* trace_sync.h: how the warps of an emulated kernel wait for one another, and what its detector found:
   a trace's SYNC chunk.

   SYNC    u32 size of a wait (>= 48)  u32 size of a finding (>= 64)  names (files, meanings): u32
           count, of each: u16 length, text  u64 waits  u64 findings  the waits: 8 u32, 2 u64  the
           findings: 12 u32, 2 u64, in the order of the structures, each then what a later minor
           version added
   Valid C++17. */
#ifndef FLASHULP_TRACE_SYNC_H
#define FLASHULP_TRACE_SYNC_H

#include "simulator/trace_lanes.h"

/* A warp stood at a barrier.  Times are those of lane_access. */
struct sync_wait {
    uint32_t block, warp, barrier; /* barrier 0: __syncthreads() */
    uint32_t lanes;                /* a bit each, of those that stood there */
    uint32_t met, products;        /* of the warp until then, as in lane_access */
    uint32_t file, line;
    uint64_t arrived, released; /* its last lane; all */
};

enum { SYNC_OTHER = 1, SYNC_SAME_BLOCK = 2, SYNC_COPY = 4, SYNC_OTHER_COPY = 8, SYNC_FLAGS = 15 };

/* Two accesses that should not have met, or one that should not have been. */
struct sync_finding {
    uint32_t meaning; /* a name */
    uint32_t block, thread, verb, space, file, line;
    uint32_t flags; /* SYNC_OTHER: another had a part, in the same block, by cp.async */
    uint32_t other_thread, other_verb, other_file, other_line;
    /* Of the access that was judged, as in lane_access; one that is out of bounds or misaligned is
       no access: of the last one before it. */
    uint64_t time, offset;
};

/* Replaces the trace's; every file and meaning is below `names`.  False: no memory. */
bool trace_set_sync(struct trace *t, const struct sync_wait *wait, size_t waits,
                    const struct sync_finding *finding, size_t findings, const char *const *name,
                    size_t names);

/* A trace's, whichever way it came; none where it has no such chunk. */
struct trace_sync {
    const unsigned char *name_text, *wait_records, *finding_records;
    size_t names, waits, findings, wait_size, finding_size;
};
/* Refused, in a sentence, when the chunk is not well-formed. */
bool trace_sync(const struct trace *t, struct trace_sync *s, struct message *why);
struct sync_wait trace_wait(const struct trace_sync *s, size_t n);
struct sync_finding trace_finding(const struct trace_sync *s, size_t n);
/* `length` characters without an end. */
const char *trace_sync_name(const struct trace_sync *s, size_t name, size_t *length);

#endif
