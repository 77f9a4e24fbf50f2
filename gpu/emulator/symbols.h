/* symbols.h: the files and lines of instructions, for faults and for accesses that the compiler's
   instrumentation reports. */
#ifndef FLASHULP_EMULATOR_SYMBOLS_H
#define FLASHULP_EMULATOR_SYMBOLS_H

#include "gpu/emulator/calls.h"

/* All of one program or library; NULL: none.  Of an inlined instruction, where in the kernel it was
   asked for: not the line of a header of the emulator.  By addr2line, once for all of them; line 0
   where the machine has none, or the program no line table.  Names are kept until the program
   ends. */
void sites_of(const void *const *pc, int count, struct cuemu_site *site);

#endif
