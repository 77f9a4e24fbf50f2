/* workloads.h: named decode workloads, workloads.def as data. */
#ifndef FLASHULP_WORKLOADS_H
#define FLASHULP_WORKLOADS_H

enum workload {
#define WORKLOAD(id, ...) WORKLOAD_##id,
#include "simulator/workloads.def"
#undef WORKLOAD
    WORKLOAD_COUNT
};

struct decode_range {
    enum workload workload;
    const char *series, *message;
    int depth, tokens;
};

/* Every range, in the table's order, those of a workload together. */
extern const struct decode_range decode_ranges[];
extern const int decode_range_count;

const char *workload_name(enum workload w);
const char *workload_meaning(enum workload w);

#endif
