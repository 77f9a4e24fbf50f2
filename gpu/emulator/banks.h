/* banks.h: how often the 32 banks of shared memory must be passed over, how many 32-byte sectors of
   global memory a warp touches.

   ldmatrix is a collective and counted exactly.  Of ordinary accesses those are taken together that
   are the n-th execution of one instruction by each lane since the warp last met: what the warp
   would do in one go. */
#ifndef FLASHULP_EMULATOR_BANKS_H
#define FLASHULP_EMULATOR_BANKS_H

#include "gpu/emulator/runtime.h"

void banks_launch(void);
/* ldmatrix reads eight rows of 16 bytes at a time. */
void banks_ldmatrix(const unsigned char *const *row, int matrices);
void banks_access(const struct lane *l, enum space space, const void *address, size_t bytes,
                  uint64_t from);
void banks_converge(const struct warp *w); /* what its lanes did is complete */

#endif
