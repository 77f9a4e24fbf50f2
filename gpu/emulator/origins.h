/* origins.h: where in the kernel something was done, in one number: an instruction's address, whose
   line is looked up when it is needed, or a known site.  0: not known. */
#ifndef FLASHULP_EMULATOR_ORIGINS_H
#define FLASHULP_EMULATOR_ORIGINS_H

#include "gpu/emulator/calls.h"

uint64_t origin_of_site(struct cuemu_site at);
/* The instruction before the one that a call returns to. */
static inline uint64_t origin_of_return(const void *address)
{
    return (uint64_t)(uintptr_t)address - 1;
}
/* Of many at once: one look into the program's line table. */
void sites_of_origins(const uint64_t *from, int count, struct cuemu_site *site);

#endif
