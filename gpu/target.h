/* target.h: where kernels run: a GPU, or the emulator.  One of target_emulator.c and target_cuda.cu
   is linked. */
#ifndef FLASHULP_GPU_TARGET_H
#define FLASHULP_GPU_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/kernels/kernels.h"
#include "reference/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the threads of a launch take turns.  A GPU knows one way. */
enum schedule {
    SCHEDULE_PLAIN,    /* ascending lanes, warps and blocks; copies at once */
    SCHEDULE_LATE,     /* descending; asynchronous copies as late as legal */
    SCHEDULE_RANDOM,   /* drawn; late copies */
    SCHEDULE_DETECTOR, /* ascending, late copies, every access watched for races */
    SCHEDULES
};
const char *schedule_name(enum schedule s);

struct target_settings {
    enum schedule schedule;
    uint64_t seed;
    bool statistics;  /* count what ordinary accesses do, in watched kernels */
    size_t lanes;     /* accesses to keep for a trace, in watched kernels, and races; 0: none */
    bool hw;          /* weights by the hardware's 2^x, not by special_poly.h */
    const char *unit; /* the emulated tensor core, "sm90"; NULL: fp32 chains */
};

/* The launch functions; `watched`: of the kernels that report every access. */
struct kernel_entries {
    void (*forward[5])(struct attention_args a); /* the first rows of kernels.def */
    void (*decode)(struct decode_args d);
    void (*combine)(struct decode_args d);
    void (*backward)(struct backward_args b);
};
/* One table of them, gpu_ or checked_. */
#define KERNEL_ENTRIES(of)                                                                         \
    {                                                                                              \
        {of##fa2_rows, of##fa2_tiles, of##fa2, of##fa1, of##splitk}, of##decode, of##combine,      \
            of##fa2_bwd                                                                            \
    }
const struct kernel_entries *target_kernels(bool watched);

bool target_is_emulator(void);
/* Is there a device to run on?  The emulator is always there. */
bool target_here(struct message *why);
/* "NVIDIA H200, sm_90, 132 SMs, driver 13.0, runtime 13.0"; "the emulator". */
const char *target_name(void);
/* Whose tensor cores: "sm90".  The emulator: NULL, it is asked for one. */
const char *target_unit(void);
/* Bytes of shared memory a block may have. */
int target_shared_bytes(void);
bool target_configure(const struct target_settings *s, struct message *why);
/* The numbers of a launch's blocks in the order in which they run.  False: a GPU does not say. */
bool target_block_order(uint64_t blocks, uint64_t *number);
/* What the emulator counted since the last configuration; a GPU: zeros. */
struct target_counters {
    uint64_t blocks, threads, switches, barriers, mma, ldmatrix, copies, atomics;
    uint64_t ldmatrix_passes, ldmatrix_ideal, shared_passes, shared_ideal, global_sectors,
        global_ideal, accesses;
};
void target_count(struct target_counters *c);
/* The accesses kept become the trace's.  False: no memory; a GPU keeps none. */
struct trace;
bool target_lanes(struct trace *t);
/* Waits for what was launched.  False: something went wrong, in words. */
bool target_finish(struct message *why);

#ifdef __cplusplus
}
#endif

#endif
