/* banks.h: how often shared memory's 32 banks must be passed over, how many 32-byte sectors of
   global memory a warp touches. */
#ifndef FLASHULP_EMULATOR_BANKS_H
#define FLASHULP_EMULATOR_BANKS_H

#include "gpu/emulator/runtime.h"

/* ldmatrix reads eight rows of 16 bytes at a time. */
void banks_ldmatrix(const unsigned char *const *row, int matrices);

#endif
