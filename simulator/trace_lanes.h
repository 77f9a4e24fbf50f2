/* trace_lanes.h: what the lanes of an emulated kernel did to memory: a trace's LANE chunk.

   LANE    u32 record size (>= 48)  u32 files, of each: u16 length, text  u64 accesses, of each:
           8 u32, 2 u64, in the order of struct lane_access; from 60 bytes on (version
           1.1) its last 3 u32, too; then what a later minor version added
   Valid C++17. */
#ifndef FLASHULP_TRACE_LANES_H
#define FLASHULP_TRACE_LANES_H

#include "simulator/trace.h"

enum lane_space { LANE_SHARED, LANE_STATIC_SHARED, LANE_GLOBAL, LANE_SPACES };
enum lane_verb { LANE_READS, LANE_WRITES, LANE_ADDS /* or another atomic operation */, LANE_VERBS };

struct lane_access {
    uint32_t block, thread; /* of the grid, of the block; lane = thread % 32 */
    uint32_t verb, space;
    uint32_t piece; /* of global memory: which allocation, from 0 in the order of addresses */
    uint32_t bytes;
    uint32_t file, line; /* in the kernel; line 0: not known */
    uint64_t time;       /* the order of execution */
    uint64_t offset;     /* in the space, or the piece */
    /* Before it: how often the warp's lanes had met, how many matrix products the warp had done. */
    uint32_t met, products;
    uint32_t instruction; /* accesses of one place in the code have the same, from 1; 0: not known */
};

/* Replaces the trace's accesses; every `file` is below `files`.  False: no memory; none are
   left. */
bool trace_set_lanes(struct trace *t, const struct lane_access *access, size_t count,
                     const char *const *file, size_t files);

/* The accesses of a trace, whichever way it came; none where it has no such chunk. */
struct trace_lanes {
    const unsigned char *names, *records;
    size_t files, count, record_size;
};
/* Refused, in a sentence, when the chunk is not well-formed. */
bool trace_lanes(const struct trace *t, struct trace_lanes *l, struct message *why);
struct lane_access trace_lane(const struct trace_lanes *l, size_t n);
/* The file's name, `length` characters without an end. */
const char *trace_lane_file(const struct trace_lanes *l, size_t file, size_t *length);

#endif
