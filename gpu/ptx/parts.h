/* parts.h: what the interpreter's files share. */
#ifndef FLASHULP_PTX_PARTS_H
#define FLASHULP_PTX_PARTS_H

#include <math.h>
#include <string.h>

#include "gpu/ptx/ptx.h"

/* pure.c: the function of opcodes.def by name and shape (instruction.c), or NULL; *name lives on. */
ptx_function *ptx_pure(const char *text, const char *shape, const char **name);

/* A register's low word as a float, and back: every NaN is 7FFFFFFF. */
static inline float ptx_float(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}
static inline uint64_t ptx_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7FFFFFFF : bits;
}

struct ptx_copy {
    unsigned char *to;
    const unsigned char *from;
    int bytes; /* of 16; the rest become zeros */
};
/* A lane's asynchronous copies: `copies` in flight, the first committed[g] of group g. */
enum { PTX_COPIES = 256, PTX_GROUPS = 16 };
struct ptx_copies {
    struct ptx_copy copy[PTX_COPIES];
    int copies, groups, committed[PTX_GROUPS];
};

struct ptx_warp {
    uint64_t (*reg)[PTX_LANES]; /* the kernel's, then its constants */
    int number, pc[PTX_LANES];
    uint32_t alive, waiting;   /* lanes that have not returned; at a barrier */
    uint32_t parked;           /* at a collective, for others of their warp */
    struct ptx_copies *copies; /* of each lane */
};

/* A block under way. */
struct ptx_block {
    const struct ptx_launch *launch;
    unsigned at[3];
    int threads, warps;
    struct ptx_warp *warp;
    unsigned char *shared;
    struct mma_step bf16, f16;
    uint64_t executed;
    const struct ptx_instruction *now;
    bool failed;
    struct message *why;
};

/* Stops the launch: the instruction, its line, the lane and what is wrong with it. */
void ptx_fail(struct ptx_block *b, const struct ptx_warp *w, int lane, const char *what);

/* A source's value, or an address. */
static inline uint64_t ptx_value(const struct ptx_warp *w, int lane, const struct ptx_operand *o)
{
    return w->reg[o->reg][lane] + (uint64_t)o->offset;
}
/* The place of `bytes` in shared or global memory, or NULL after ptx_fail. */
unsigned char *ptx_place(struct ptx_block *b, const struct ptx_warp *w, int lane,
                         enum ptx_space space, uint64_t address, int bytes);

/* memory.c: what one lane loads, stores, adds. */
void ptx_load(struct ptx_block *b, struct ptx_warp *w, int lane);
void ptx_store(struct ptx_block *b, struct ptx_warp *w, int lane);
void ptx_atomic_add(struct ptx_block *b, struct ptx_warp *w, int lane);

/* warp.c: instructions of the whole warp, for its lanes in `active`. */
void ptx_vote_any(struct ptx_block *b, struct ptx_warp *w, uint32_t active);
void ptx_shuffle(struct ptx_block *b, struct ptx_warp *w, uint32_t active);
void ptx_mma(struct ptx_block *b, struct ptx_warp *w, uint32_t active);
void ptx_ldmatrix(struct ptx_block *b, struct ptx_warp *w, uint32_t active);
void ptx_copy(struct ptx_block *b, struct ptx_warp *w, int lane);
void ptx_copy_commit(struct ptx_warp *w, int lane);
void ptx_copy_wait(struct ptx_block *b, struct ptx_warp *w, int lane);

#endif
