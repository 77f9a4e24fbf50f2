/* atomic.c: atomic operations on one 32-bit word.  Fibres do not interrupt one another, so each is
   a plain read and write; the order in which lanes come is the schedule's. */
#include "gpu/emulator/runtime.h"

#include <string.h>

#include "gpu/emulator/detector.h"
#include "gpu/emulator/origins.h"

static uint32_t sum_of_floats(uint32_t a, uint32_t b)
{
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint32_t result_of(enum cuemu_atomic kind, uint32_t old, uint32_t operand, uint32_t compare)
{
    switch (kind) {
    case CUEMU_ADD_FLOAT:
        return sum_of_floats(old, operand);
    case CUEMU_ADD:
        return old + operand;
    case CUEMU_MIN:
        return (int32_t)operand < (int32_t)old ? operand : old;
    case CUEMU_MAX:
        return (int32_t)operand > (int32_t)old ? operand : old;
    case CUEMU_UMIN:
        return operand < old ? operand : old;
    case CUEMU_UMAX:
        return operand > old ? operand : old;
    case CUEMU_AND:
        return old & operand;
    case CUEMU_OR:
        return old | operand;
    case CUEMU_EXCHANGE:
        return operand;
    case CUEMU_SWAP:
        return old == compare ? operand : old;
    }
    return old;
}

uint32_t cuemu_atomic(enum cuemu_atomic kind, void *address, uint32_t operand, uint32_t compare,
                      struct cuemu_site at)
{
    struct lane *l = running_lane();
    uint32_t old;
    emulator_count.atomics++;
    if ((uintptr_t)address % sizeof old != 0) {
        report(FAULT_MISALIGNED, at, nowhere, "atomic operation of %s at %p, not a multiple of 4",
               name_of(l).text, address);
        return 0;
    }
    if (kind == CUEMU_EXCHANGE || kind == CUEMU_SWAP)
        cuemu_yield(at);
    if (detector_watches)
        detector_access(l, address, sizeof old, ACCESS_ATOMIC, origin_of_site(at));
    memcpy(&old, address, sizeof old);
    uint32_t result = result_of(kind, old, operand, compare);
    memcpy(address, &result, sizeof result);
    return old;
}
