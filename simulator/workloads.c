/* workloads.c: workloads.def as data. */
#include "simulator/workloads.h"

const struct decode_range decode_ranges[] = {
#define RANGE(workload, series, message, depth, tokens)                                            \
    {WORKLOAD_##workload, series, message, depth, tokens},
#include "simulator/workloads.def"
#undef RANGE
};
const int decode_range_count = sizeof decode_ranges / sizeof decode_ranges[0];

static const struct {
    const char *name, *meaning;
} workloads[WORKLOAD_COUNT] = {
#define WORKLOAD(id, name, meaning) {name, meaning},
#include "simulator/workloads.def"
#undef WORKLOAD
};

const char *workload_name(enum workload w)
{
    return workloads[w].name;
}

const char *workload_meaning(enum workload w)
{
    return workloads[w].meaning;
}
