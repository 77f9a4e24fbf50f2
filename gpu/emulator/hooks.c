/* hooks.c: what compilers call for every access in a kernel compiled with -fsanitize=thread.  Their
   names and meaning are ThreadSanitizer's interface; its library is not linked.

   Accesses of the host and of a lane's own stack are passed over.  clang copies structures by
   memcpy, whose alignment nobody tells: there a misaligned vector access goes unnoticed. */
#include <string.h>

#include "gpu/emulator/banks.h"
#include "gpu/emulator/detector.h"
#include "gpu/emulator/findings.h"
#include "gpu/emulator/origins.h"

bool detector_watches;

static void access_memory(const void *address, size_t bytes, enum access access, bool aligned,
                          const void *return_address)
{
    if (!detector_watches || !emulated.running || fibre_owns(address))
        return;
    const struct lane *l = running_lane();
    uint64_t from = origin_of_return(return_address);
    size_t offset;
    enum space space = space_of(address, bytes, &offset);
    if (space == SPACE_NONE)
        return;
    if (aligned && (uintptr_t)address % bytes != 0)
        findings_misaligned(l, space, offset, access, from);
    banks_access(l, space, address, bytes, from);
    detector_access_at(l, space, offset, address, bytes, access, from);
}

#define HOOK(name, bytes, access, aligned)                                                         \
    void name(void *address);                                                                      \
    void name(void *address)                                                                       \
    {                                                                                              \
        access_memory(address, bytes, access, aligned, __builtin_return_address(0));               \
    }
#define HOOKS(bytes)                                                                               \
    HOOK(__tsan_read##bytes, bytes, ACCESS_READ, true)                                             \
    HOOK(__tsan_write##bytes, bytes, ACCESS_WRITE, true)                                           \
    HOOK(__tsan_volatile_read##bytes, bytes, ACCESS_READ, true)                                    \
    HOOK(__tsan_volatile_write##bytes, bytes, ACCESS_WRITE, true)                                  \
    HOOK(__tsan_unaligned_read##bytes, bytes, ACCESS_READ, false)                                  \
    HOOK(__tsan_unaligned_write##bytes, bytes, ACCESS_WRITE, false)                                \
    HOOK(__tsan_unaligned_volatile_read##bytes, bytes, ACCESS_READ, false)                         \
    HOOK(__tsan_unaligned_volatile_write##bytes, bytes, ACCESS_WRITE, false)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

#define RANGE_HOOK(name, access)                                                                   \
    void name(void *address, size_t bytes);                                                        \
    void name(void *address, size_t bytes)                                                         \
    {                                                                                              \
        if (bytes > 0)                                                                             \
            access_memory(address, bytes, access, false, __builtin_return_address(0));             \
    }
RANGE_HOOK(__tsan_read_range, ACCESS_READ)
RANGE_HOOK(__tsan_write_range, ACCESS_WRITE)

#define COPY_HOOK(name, function)                                                                  \
    void *name(void *dst, const void *src, size_t bytes);                                          \
    void *name(void *dst, const void *src, size_t bytes)                                           \
    {                                                                                              \
        if (bytes > 0) {                                                                           \
            access_memory(src, bytes, ACCESS_READ, false, __builtin_return_address(0));            \
            access_memory(dst, bytes, ACCESS_WRITE, false, __builtin_return_address(0));           \
        }                                                                                          \
        return function(dst, src, bytes);                                                          \
    }
COPY_HOOK(__tsan_memcpy, memcpy)
COPY_HOOK(__tsan_memmove, memmove)

void *__tsan_memset(void *dst, int value, size_t bytes);
void *__tsan_memset(void *dst, int value, size_t bytes)
{
    if (bytes > 0)
        access_memory(dst, bytes, ACCESS_WRITE, false, __builtin_return_address(0));
    return memset(dst, value, bytes);
}

#define EMPTY_HOOK(name, ...)                                                                      \
    void name(__VA_ARGS__);                                                                        \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
    }
EMPTY_HOOK(__tsan_init, void)
EMPTY_HOOK(__tsan_func_exit, void)
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
