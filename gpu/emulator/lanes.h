/* lanes.h: every access of every lane, kept for a trace. */
#ifndef FLASHULP_EMULATOR_LANES_H
#define FLASHULP_EMULATOR_LANES_H

#include "gpu/emulator/detector.h"

bool lanes_wanted(void);
void lanes_forget(void);
void lanes_access(const struct lane *l, enum space space, size_t offset, const void *address,
                  size_t bytes, enum access access, uint64_t from);

#endif
