/* symbols.h: the file and line of an instruction, for faults and for accesses that the compiler's
   instrumentation reports. */
#ifndef FLASHULP_EMULATOR_SYMBOLS_H
#define FLASHULP_EMULATOR_SYMBOLS_H

#include "gpu/emulator/calls.h"

/* By addr2line, if the machine has it and the program its line table; nowhere otherwise. */
struct cuemu_site site_of_pc(const void *pc);

#endif
