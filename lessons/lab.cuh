/* lab.cuh: what a lab in CUDA sees: the state of lab.h, and CUDA's words as the emulator has them.

   Kernels take one `struct state *s`, in global memory.  __shared__ float x[64]; __syncthreads();
   threadIdx, blockIdx, __shfl_xor_sync and so on are there; the grader launches. */
#ifndef FLASHULP_LAB_CUH
#define FLASHULP_LAB_CUH

#include "gpu/emulator/prims_emu.h"
#include "lab.h"

#endif
