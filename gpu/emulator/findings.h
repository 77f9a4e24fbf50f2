/* findings.h: what the detector found, kept until the block is over: then the lines of all are
   looked up at once and they become reports.  Two findings of one kind between the same two places
   are one. */
#ifndef FLASHULP_EMULATOR_FINDINGS_H
#define FLASHULP_EMULATOR_FINDINGS_H

#include "gpu/emulator/detector.h"

/* One who used the memory. */
struct party {
    uint64_t from; /* origins.h */
    int thread;
    bool same_block; /* as the one that runs */
    bool copy;       /* by cp.async */
    enum access access;
};

/* `other`: NULL when nobody else had a part. */
void findings_add(enum emulator_fault fault, enum space space, size_t offset,
                  const struct party *me, const struct party *other);
void findings_misaligned(const struct lane *l, enum space space, size_t offset, enum access access,
                         uint64_t from);
void findings_report(void);

#endif
