/* emulator.h: what hosts say to the emulator and ask of it: options, counters, reports.

   One launch runs at a time, in the calling thread; blocks one after another, each block's threads
   as fibres.  Whatever a kernel does wrong becomes a report: a launch always returns.
   Valid C++17. */
#ifndef FLASHULP_EMULATOR_H
#define FLASHULP_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulator/mma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose turn it is: of the lanes of a warp, the warps of a block, the blocks of a grid. */
enum emulator_order { EMULATOR_ASCENDING, EMULATOR_DESCENDING, EMULATOR_RANDOM };

struct emulator_options {
    enum emulator_order threads, blocks;
    uint64_t seed;             /* of random orders */
    bool late_copies;          /* cp.async as late as legal, NaNs until then; else at once */
    bool poison;               /* shared memory is NaNs when a block begins; else what was there */
    bool detector;             /* races and uninitialised reads, in kernels compiled for it */
    bool statistics;           /* bank conflicts and sectors of ordinary accesses, likewise */
    size_t most_lane_accesses; /* how many are kept for a trace, likewise; 0: none */
    const struct mma *mma;     /* the tensor core; NULL: chains of fp32 fused multiply-adds */
    int most_reports;          /* of one launch; the rest is counted */
    int stuck_seconds;         /* CPU time a lane may run without reaching the runtime */
    uint64_t stuck_yields;     /* times that lanes may spin while nobody gets on */
};
/* Ascending, late copies, poison; no detector. */
struct emulator_options emulator_defaults(void);
void emulator_configure(const struct emulator_options *options);

struct emulator_counters {
    uint64_t launches, blocks, threads, switches;
    uint64_t barriers, collectives, mma, ldmatrix, copies, atomics; /* warp-wide but the last two */
    uint64_t ldmatrix_passes, ldmatrix_ideal; /* passes over the banks of shared memory */
    uint64_t shared_requests, shared_passes, shared_ideal;  /* of ordinary accesses */
    uint64_t global_requests, global_sectors, global_ideal; /* sectors of 32 bytes */
    uint64_t lane_accesses, reports;                        /* kept or not */
};
const struct emulator_counters *emulator_counters(void);

enum emulator_fault {
#define EMULATOR_FAULT(id, meaning) FAULT_##id,
#include "gpu/emulator/faults.def"
#undef EMULATOR_FAULT
    EMULATOR_FAULTS
};
const char *emulator_fault_meaning(enum emulator_fault fault);

/* What went wrong: where (line 0: not known), and in words, lines of at most 100 characters. */
struct emulator_report {
    enum emulator_fault fault;
    char file[256], other_file[256];
    int line, other_line; /* the other party's, or 0 */
    char text[4096];
};
int emulator_reports(void);
const struct emulator_report *emulator_report(int n);
/* The accesses kept since the last reset become the trace's (trace_lanes.h).  False: no memory. */
struct trace;
bool emulator_lanes(struct trace *t);
/* The numbers of a launch's blocks in the order in which they run, as configured.  Number: x + y
   (blocks in x) + z (blocks in x and y). */
void emulator_block_order(uint64_t blocks, uint64_t *number);
/* Counters, reports and accesses from here on. */
void emulator_reset(void);

#ifdef __cplusplus
}
#endif

#endif
