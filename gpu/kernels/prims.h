/* prims.h: everything a kernel needs beyond plain C and CUDA's own words.

   A kernel file includes this (or tiles.h, which does) and nothing else.  Under nvcc the names
   below come from prims_ptx.h, the only file with inline assembly; otherwise from the emulator,
   which runs the same file on a CPU.  Two spellings differ from textbook CUDA: DYN_SHARED(name)
   declares the dynamic shared memory, LAUNCH(kernel, grid, block, bytes, arguments...) is <<<>>>.

   mma_m16n8k16_bf16(d, a, b), mma_m16n8k16_f16: d += a b, 16 x 8 += (16 x 16) (16 x 8), by a warp.
     With g = lane / 4, t = lane mod 4, lane owns
       d[0] d[1]  row g,      columns 2t, 2t + 1        d[2] d[3]  row g + 8, the same columns
       a[0]       row g,      k = 2t, 2t + 1            a[2]       row g,     k = 2t + 8, 2t + 9
       a[1]       row g + 8,  k = 2t, 2t + 1            a[3]       row g + 8, k = 2t + 8, 2t + 9
       b[0]       column g,   k = 2t, 2t + 1            b[1]       column g,  k = 2t + 8, 2t + 9
     Two 16-bit numbers a word, the lower index in the lower half.
   ldmatrix_x4(r, row_pointer): four 8 x 8 matrices of 16-bit numbers out of shared memory.  Lane
     8i + n points at row n of matrix i (16 bytes); r[i] becomes row g, columns 2t and 2t + 1 of
     matrix i.  ldmatrix_x4_trans: of its transpose.  ldmatrix_x2, ldmatrix_x2_trans: two matrices.
   cp_async16(shared, global): 16 bytes, later; cp_async16_zfill(shared, global, bytes): `bytes` of
     them, then zeros.  cp_async_commit() closes a group; cp_async_wait<N>() waits until at most N
     groups of this thread are not done.  Other threads see the data after a barrier only.
   pack_bf16(lo, hi), pack_f16(lo, hi): two floats rounded to nearest even, as a word.
   bf16_to_float, float_to_bf16, f16_to_float, float_to_f16: one 16-bit word.
   exp2_approx(x), log2_approx(x), rcp_approx(x): the hardware's, whose bits are its own.
   named_barrier(id, threads).
   dev_alloc, dev_zero, dev_copy_in, dev_copy_out, dev_free: memory of the device, for hosts. */
#ifndef FLASHULP_PRIMS_H
#define FLASHULP_PRIMS_H

#ifdef FLASHULP_EMULATED
#include "gpu/emulator/prims_emu.h"
#else
#include "prims_ptx.h"
#endif
#include "simulator/special_poly.h"

#include <stdlib.h>

static inline void dev_zero(void *to, size_t bytes)
{
    void *zeros = calloc(bytes > 0 ? bytes : 1, 1);
    if (zeros == NULL)
        abort();
    dev_copy_in(to, zeros, bytes);
    free(zeros);
}

#endif
