/* ptx.h: the PTX that nvcc makes of our kernels, read and executed on a CPU, 32 lanes at a time.

   The emulator runs the kernels' C; their inline assembly, operand orders, address spaces and what
   nvcc did with the rest are executed only here.  Of PTX what these kernels contain is known
   (opcodes.def and warp.c); anything else is refused by name and line when a file is read.
   Semantics: PTX ISA, the sections on each instruction.  A register is 64 bits a lane, whatever
   its type; narrower values have zeros above, but for negative numbers in the text. */
#ifndef FLASHULP_PTX_H
#define FLASHULP_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/message.h"
#include "simulator/mma.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PTX_LANES = 32, PTX_OPERANDS = 16, PTX_PARAMS = 8, PTX_NAME = 96 };

enum ptx_special {
    PTX_TID_X,
    PTX_TID_Y,
    PTX_TID_Z,
    PTX_NTID_X,
    PTX_NTID_Y,
    PTX_NTID_Z,
    PTX_CTAID_X,
    PTX_CTAID_Y,
    PTX_CTAID_Z,
    PTX_NCTAID_X,
    PTX_NCTAID_Y,
    PTX_NCTAID_Z,
    PTX_SPECIALS
};
/* A register, or the address [register + offset]; numbers have registers of their own. */
struct ptx_operand {
    int reg;
    bool address;
    int64_t offset;
};
/* What a register that nobody writes holds: a number, or %tid.x and its like. */
struct ptx_constant {
    bool special;
    int64_t value; /* the number; enum ptx_special */
};

/* One of opcodes.def's: what it makes of its sources, in each lane of those named. */
typedef void ptx_function(uint64_t *result, const uint64_t *const *sources, uint32_t lanes);

enum ptx_kind {
    PTX_PURE,   /* function */
    PTX_UNPACK, /* {low, high} = word */
    PTX_LOAD,
    PTX_STORE,
    PTX_ATOMIC_ADD,
    PTX_BRANCH,
    PTX_RETURN,
    PTX_TRAP,
    PTX_BARRIER,
    PTX_SYNCWARP,
    PTX_VOTE_ANY,
    PTX_SHUFFLE,
    PTX_MMA,
    PTX_LDMATRIX,
    PTX_COPY,
    PTX_COPY_COMMIT,
    PTX_COPY_WAIT
};
enum ptx_space { PTX_GLOBAL, PTX_SHARED, PTX_PARAM };

struct ptx_instruction {
    enum ptx_kind kind;
    ptx_function *function;
    const char *name; /* the opcode in full */
    int line;
    int guard; /* a predicate register, or -1 */
    bool guard_negated;
    int results; /* operands that are written come first */
    int operands;
    struct ptx_operand operand[PTX_OPERANDS];
    int target;           /* of a branch: an index */
    enum ptx_space space; /* of a load or store */
    int bytes;            /* of each of its elements */
    int deep;             /* mma: k */
    bool half;            /* mma: fp16, not bf16 */
    bool transposed;      /* ldmatrix */
};

struct ptx_kernel {
    char name[PTX_NAME];
    const char *path;
    struct ptx_instruction *code;
    int count, registers; /* written; the constants' follow */
    struct ptx_constant *constant;
    int constants;
    int params;
    size_t param_at[PTX_PARAMS], param_bytes; /* offsets; of all together */
};

struct ptx_module {
    struct ptx_kernel *kernel;
    int count;
};

/* Adds the file's kernels to the module.  False: unreadable, or not of the PTX known here. */
bool ptx_read(struct ptx_module *m, const char *path, struct message *why);
const struct ptx_kernel *ptx_find(const struct ptx_module *m, const char *name);
void ptx_free(struct ptx_module *m);

enum ptx_order { PTX_ASCENDING, PTX_DESCENDING };
struct ptx_launch {
    const struct ptx_kernel *kernel;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    const unsigned char *params; /* kernel->param_bytes */
    enum ptx_order warps, blocks;
    bool late;             /* cp.async: at the wait, its place filled with NaNs until then */
    const struct mma *mma; /* NULL: fp32 chains, k ascending */
};
/* Runs every block.  False: a wrong access, a divergent collective, a deadlock: instruction, line,
   lane. */
bool ptx_run(const struct ptx_launch *launch, struct message *why);

#ifdef __cplusplus
}
#endif

#endif
