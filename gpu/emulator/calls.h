/* calls.h: the boundary between kernels compiled for the emulator and its runtime: what cuemu.h and
   prims_emu.h call.  Valid C11 and C++17.

   A call that may let another lane run carries its site, the file and line in the kernel: reports
   name it, and lanes meet in a collective only at the same site. */
#ifndef FLASHULP_EMULATOR_CALLS_H
#define FLASHULP_EMULATOR_CALLS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cuemu_site {
    const char *file;
    int line;
};

struct cuemu_index {
    unsigned x, y, z;
};

/* The part of a lane that compiled kernels read and write.  Operands of the tensor core's
   instructions lie word by word: word i of this lane at [CUEMU_LANES i]. */
enum { CUEMU_LANES = 32 };
struct cuemu_lane {
    struct cuemu_index thread;
    uint64_t result; /* of the last shuffle or vote */
    uint32_t *a, *b, *loaded;
    float *d;
    const void **row;
};
extern struct cuemu_lane *cuemu_self; /* the lane that runs */

struct cuemu_grid {
    struct cuemu_index block, block_size, grid_size;
    unsigned char *shared; /* the block's dynamic shared memory */
};
extern struct cuemu_grid cuemu_grid;

/* x86-64: has the processor a fused multiply-add?  Without one, the library's. */
extern int cuemu_has_fma;
float cuemu_library_fmaf(float a, float b, float c);

/* Runs body(with) once for each thread of each block.  Host side. */
struct cuemu_launch {
    const char *kernel;
    struct cuemu_index grid, block;
    size_t shared_bytes;
    void (*body)(void *with);
    void *with;
};
void cuemu_run(const struct cuemu_launch *launch, struct cuemu_site at);

void cuemu_syncthreads(struct cuemu_site at);
void cuemu_named_barrier(int id, int threads, struct cuemu_site at);
void cuemu_syncwarp(uint32_t mask, struct cuemu_site at);

/* A collective returns when it has been performed for the lane; its result is in *cuemu_self.
   Lane l gets the value of lane source(l) of its segment of `width` lanes; its own where there is
   none. */
enum cuemu_shuffle { CUEMU_SHUFFLE_INDEX, CUEMU_SHUFFLE_UP, CUEMU_SHUFFLE_DOWN, CUEMU_SHUFFLE_XOR };
void cuemu_shuffle(enum cuemu_shuffle kind, uint32_t mask, uint64_t value, int argument, int width,
                   struct cuemu_site at);
/* The lanes of the mask whose predicate is true. */
void cuemu_ballot(uint32_t mask, int predicate, struct cuemu_site at);
uint32_t cuemu_active_mask(void);

/* One 32-bit word is read, replaced by what the operation makes of it, and returned as it was.
   Compare-and-swap and exchange let other lanes run: kernels spin on them. */
enum cuemu_atomic {
    CUEMU_ADD_FLOAT,
    CUEMU_ADD,
    CUEMU_MIN,
    CUEMU_MAX,
    CUEMU_UMIN,
    CUEMU_UMAX,
    CUEMU_AND,
    CUEMU_OR,
    CUEMU_EXCHANGE,
    CUEMU_SWAP
};
uint32_t cuemu_atomic(enum cuemu_atomic kind, void *address, uint32_t operand, uint32_t compare,
                      struct cuemu_site at);
void cuemu_yield(struct cuemu_site at);

/* d (16 x 8) += a (16 x 16) b (16 x 8), each lane holding its fragments. */
void cuemu_mma_bf16(struct cuemu_site at);
void cuemu_mma_f16(struct cuemu_site at);
/* `matrices` 8 x 8 matrices of 16-bit elements; lanes 8 i .. 8 i + 7 name the rows of matrix i. */
void cuemu_ldmatrix(int matrices, int transposed, struct cuemu_site at);

/* 16 bytes, the first `bytes` of them from src and zeros after those. */
void cuemu_copy(void *dst, const void *src, int bytes, struct cuemu_site at);
void cuemu_copy_commit(void);
/* Until at most `most` of the lane's committed groups are under way. */
void cuemu_copy_wait(int most, struct cuemu_site at);

#ifdef __cplusplus
}
#endif

#endif
