/* memory.c: the device's memory on the host: global memory in an arena of its own, so that an
   address says what it is; a block's dynamic shared memory; each piece ends at a guard page.

   Between the end of a piece and its guard there may be some bytes, since pieces begin at round
   addresses: they hold a pattern that is checked. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "gpu/emulator/runtime.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/emulator/detector.h"
#include "gpu/emulator/device.h"

enum { SHARED_ROOM = 1 << 18, PAGE = 1 << 16, SHARED_ALIGNMENT = 128, GLOBAL_ALIGNMENT = 256 };
enum { PATTERN = 0xFF };

extern unsigned char __start_cuemu_shared[] __attribute__((weak));
extern unsigned char __stop_cuemu_shared[] __attribute__((weak));

static unsigned char *shared_room; /* SHARED_ROOM bytes, then a guard */
static size_t shared_bytes;

static size_t rounded_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* `bytes` of memory between guards, or NULL. */
static unsigned char *guarded(size_t bytes)
{
    unsigned char *room =
        mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    if (mprotect(room + PAGE, bytes, PROT_READ | PROT_WRITE) == 0)
        return room + PAGE;
    munmap(room, bytes + 2 * PAGE);
    return NULL;
}

bool shared_memory_begin(size_t bytes)
{
    if (shared_room == NULL && (shared_room = guarded(SHARED_ROOM)) == NULL)
        return false;
    shared_bytes = bytes;
    cuemu_grid.shared = shared_room + SHARED_ROOM - rounded_up(bytes, SHARED_ALIGNMENT);
    memset(cuemu_grid.shared, PATTERN, rounded_up(bytes, SHARED_ALIGNMENT));
    return true;
}

size_t shared_memory_static_bytes(void)
{
    return (size_t)((uintptr_t)__stop_cuemu_shared - (uintptr_t)__start_cuemu_shared);
}

void shared_memory_poison(void)
{
    memset(cuemu_grid.shared, PATTERN, rounded_up(shared_bytes, SHARED_ALIGNMENT));
    if (shared_memory_static_bytes() > 0)
        memset(__start_cuemu_shared, PATTERN, shared_memory_static_bytes());
}

static bool holds_pattern(const unsigned char *from, const unsigned char *to)
{
    while (from < to && *from == PATTERN)
        from++;
    return from >= to;
}

void shared_memory_check(void)
{
    unsigned char *end = cuemu_grid.shared + shared_bytes;
    if (holds_pattern(end, shared_room + SHARED_ROOM))
        return;
    report(FAULT_OUT_OF_BOUNDS, emulated.launched_at, nowhere,
           "block (%u,%u,%u) of %s wrote past the end of its %zu bytes of dynamic shared memory",
           cuemu_grid.block.x, cuemu_grid.block.y, cuemu_grid.block.z, emulated.launch->kernel,
           shared_bytes);
    memset(end, PATTERN, (size_t)(shared_room + SHARED_ROOM - end));
}

/* Pieces of global memory, by address. */
struct piece {
    unsigned char *from;
    size_t bytes;
};
static struct piece *pieces;
static int piece_count, piece_room;

/* The last piece that begins at or before the address, or -1. */
static int piece_before(const void *address)
{
    int low = 0, high = piece_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((uintptr_t)pieces[middle].from <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

uint32_t piece_number(const void *address)
{
    return (uint32_t)piece_before(address);
}

void *dev_alloc(size_t bytes)
{
    size_t whole = rounded_up(bytes == 0 ? 1 : bytes, GLOBAL_ALIGNMENT);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    unsigned char *room = guarded(rounded_up(whole, PAGE));
    if (room == NULL)
        return NULL;
    if (piece_count == piece_room) {
        piece_room = piece_room == 0 ? 16 : 2 * piece_room;
        pieces = realloc(pieces, (size_t)piece_room * sizeof *pieces);
        if (pieces == NULL)
            abort();
    }
    unsigned char *from = room + rounded_up(whole, PAGE) - whole;
    memset(from, PATTERN, whole);
    int at = piece_before(from) + 1;
    memmove(pieces + at + 1, pieces + at, (size_t)(piece_count - at) * sizeof *pieces);
    pieces[at] = (struct piece){from, bytes};
    piece_count++;
    shadow_add(from, bytes);
    return from;
}

void dev_free(void *p)
{
    if (p == NULL)
        return;
    int at = piece_before(p);
    assert(at >= 0 && pieces[at].from == p);
    size_t whole = rounded_up(pieces[at].bytes == 0 ? 1 : pieces[at].bytes, GLOBAL_ALIGNMENT);
    size_t room = rounded_up(whole, PAGE);
    munmap(pieces[at].from + whole - room - PAGE, room + 2 * PAGE);
    shadow_remove(p);
    memmove(pieces + at, pieces + at + 1, (size_t)(--piece_count - at) * sizeof *pieces);
}

static bool inside_piece(const void *address, size_t bytes)
{
    int at = piece_before(address);
    return at >= 0 && (uintptr_t)address + bytes <= (uintptr_t)pieces[at].from + pieces[at].bytes;
}

void dev_copy_in(void *dst, const void *host, size_t bytes)
{
    assert(bytes == 0 || inside_piece(dst, bytes));
    if (bytes == 0)
        return;
    memcpy(dst, host, bytes);
    shadow_host_write(dst, bytes);
}

void dev_copy_out(void *host, const void *src, size_t bytes)
{
    assert(bytes == 0 || inside_piece(src, bytes));
    memcpy(host, src, bytes);
}

/* After a launch. */
void global_memory_check(void)
{
    for (int n = 0; n < piece_count; n++) {
        unsigned char *end = pieces[n].from + pieces[n].bytes;
        size_t slack = rounded_up(pieces[n].bytes, GLOBAL_ALIGNMENT) - pieces[n].bytes;
        if (holds_pattern(end, end + slack))
            continue;
        report(FAULT_OUT_OF_BOUNDS, emulated.launched_at, nowhere,
               "%s wrote past the end of %zu bytes of global memory", emulated.launch->kernel,
               pieces[n].bytes);
        memset(end, PATTERN, slack);
    }
}

enum space space_of(const void *address, size_t bytes, size_t *offset)
{
    static int last;
    uintptr_t at = (uintptr_t)address, within = at - (uintptr_t)cuemu_grid.shared;
    *offset = within;
    if (at - (uintptr_t)shared_room < SHARED_ROOM)
        return within < shared_bytes && within + bytes <= shared_bytes ? SPACE_SHARED
                                                                       : SPACE_OUTSIDE;
    *offset = within = at - (uintptr_t)__start_cuemu_shared;
    if (within < shared_memory_static_bytes())
        return SPACE_STATIC_SHARED;
    if (last >= piece_count || at - (uintptr_t)pieces[last].from >= pieces[last].bytes)
        last = piece_before(address);
    if (last < 0) {
        last = 0;
        return SPACE_NONE;
    }
    *offset = within = at - (uintptr_t)pieces[last].from;
    if (within < pieces[last].bytes)
        return within + bytes <= pieces[last].bytes ? SPACE_GLOBAL : SPACE_OUTSIDE;
    return within < rounded_up(pieces[last].bytes, GLOBAL_ALIGNMENT) ? SPACE_OUTSIDE : SPACE_NONE;
}

struct place_text place_text(const void *address)
{
    struct place_text t;
    uintptr_t at = (uintptr_t)address, shared = (uintptr_t)shared_room;
    snprintf(t.text, sizeof t.text, "address %#llx, which the device does not have",
             (unsigned long long)at);
    if (at < PAGE)
        snprintf(t.text, sizeof t.text, "address %#llx: through a null pointer",
                 (unsigned long long)at);
    if (shared_room != NULL && at - (shared - PAGE) < SHARED_ROOM + 2 * PAGE)
        snprintf(t.text, sizeof t.text, "shared %+lld, outside its %zu bytes",
                 (long long)((intptr_t)at - (intptr_t)cuemu_grid.shared), shared_bytes);
    for (int n = 0; n < piece_count; n++) {
        uintptr_t from = (uintptr_t)pieces[n].from;
        if (at - (from - 2 * PAGE) < pieces[n].bytes + 4 * PAGE)
            snprintf(t.text, sizeof t.text, "global %+lld, outside an allocation of %zu bytes",
                     (long long)((intptr_t)at - (intptr_t)from), pieces[n].bytes);
    }
    return t;
}
