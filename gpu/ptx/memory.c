/* memory.c: a lane's loads, stores and atomic additions; every access is inside what was allocated,
   and aligned, or ends the launch. */
#include <string.h>

#include "gpu/emulator/runtime.h"
#include "gpu/ptx/parts.h"

unsigned char *ptx_place(struct ptx_block *b, const struct ptx_warp *w, int lane,
                         enum ptx_space space, uint64_t address, int bytes)
{
    size_t offset;
    if (space == PTX_SHARED) {
        address = (uint32_t)address;
        if (address + (uint64_t)bytes > b->launch->shared_bytes)
            ptx_fail(b, w, lane, "lies outside the block's shared memory");
        else if (address % (uint64_t)bytes != 0)
            ptx_fail(b, w, lane, "is not aligned to its size");
        return b->failed ? NULL : b->shared + address;
    }
    unsigned char *p = (unsigned char *)(uintptr_t)address;
    if (space_of(p, (size_t)bytes, &offset) != SPACE_GLOBAL)
        ptx_fail(b, w, lane, "lies outside the device's memory");
    else if ((bytes & (bytes - 1)) == 0 && address % (uint64_t)bytes != 0)
        ptx_fail(b, w, lane, "is not aligned to its size");
    return b->failed ? NULL : p;
}

void ptx_load(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    const struct ptx_instruction *i = b->now;
    uint64_t at = ptx_value(w, lane, &i->operand[i->results]);
    const unsigned char *from;
    int bytes = i->bytes * i->results;
    if (i->space == PTX_PARAM)
        from =
            at + (uint64_t)bytes <= b->launch->kernel->param_bytes ? b->launch->params + at : NULL;
    else
        from = ptx_place(b, w, lane, i->space, at, bytes);
    if (from == NULL) {
        ptx_fail(b, w, lane, "lies outside the parameters");
        return;
    }
    for (int n = 0; n < i->results; n++) {
        uint64_t x = 0;
        memcpy(&x, from + n * i->bytes, (size_t)i->bytes);
        w->reg[i->operand[n].reg][lane] = x;
    }
}

void ptx_store(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    const struct ptx_instruction *i = b->now;
    int count = i->operands - 1;
    unsigned char *to =
        ptx_place(b, w, lane, i->space, ptx_value(w, lane, &i->operand[0]), i->bytes * count);
    for (int n = 0; n < count && to != NULL; n++) {
        uint64_t x = ptx_value(w, lane, &i->operand[n + 1]);
        memcpy(to + n * i->bytes, &x, (size_t)i->bytes);
    }
}

void ptx_atomic_add(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    const struct ptx_instruction *i = b->now;
    unsigned char *to = ptx_place(b, w, lane, PTX_GLOBAL, ptx_value(w, lane, &i->operand[1]), 4);
    uint64_t operand = ptx_value(w, lane, &i->operand[2]), old = 0;
    if (to == NULL)
        return;
    memcpy(&old, to, 4);
    uint64_t sum = ptx_bits(ptx_float(old) + ptx_float(operand));
    memcpy(to, &sum, 4);
    w->reg[i->operand[0].reg][lane] = old;
}
