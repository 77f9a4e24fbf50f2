/* shadow.c: a `struct unit` for every two bytes of the device's memory, and for every granule of
   eight whether they differ: most accesses are of whole granules, whose units tell one story.

   Shared memory's are of one block after another: a stamp of another block counts as none.  Global
   memory's live as long as the allocation, and are made when the detector first looks; what the
   host wrote is kept in a bit for each. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "gpu/emulator/detector.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct shadow {
    const unsigned char *from;
    struct unit *unit;      /* whole granules of them, then a `split` for each granule */
    size_t bytes;           /* of the memory */
    unsigned char *written; /* by the host: a bit for each unit */
    bool all_written;       /* somebody may have written anything */
};
static struct shadow *globals;
static int global_count, global_room, last_global;
static struct shadow shared, static_shared;

static size_t granules_of(size_t bytes)
{
    return bytes / GRANULE_BYTES + 1;
}

static size_t room_of(size_t bytes)
{
    return granules_of(bytes) * (GRANULE_UNITS * sizeof(struct unit) + 1);
}

/* Zeros that cost nothing until they are touched. */
static struct unit *new_units(size_t bytes)
{
    void *units = mmap(NULL, room_of(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (units == MAP_FAILED)
        abort();
    return units;
}

static void free_units(struct shadow *s)
{
    if (s->unit != NULL)
        munmap(s->unit, room_of(s->bytes));
    s->unit = NULL;
}

static void need(struct shadow *s, size_t bytes)
{
    if (s->unit != NULL && bytes <= s->bytes)
        return;
    free_units(s);
    s->bytes = bytes;
    s->unit = new_units(bytes);
}

void shadow_launch(size_t shared_bytes, size_t static_shared_bytes)
{
    need(&shared, shared_bytes);
    need(&static_shared, static_shared_bytes);
}

void shadow_add(const void *from, size_t bytes)
{
    if (global_count == global_room) {
        global_room = global_room == 0 ? 16 : 2 * global_room;
        globals = realloc(globals, (size_t)global_room * sizeof *globals);
        if (globals == NULL)
            abort();
    }
    struct shadow new = {from, NULL, bytes, calloc(bytes / 16 + 1, 1), false};
    if (new.written == NULL)
        abort();
    globals[global_count++] = new;
}

void shadow_remove(const void *from)
{
    for (int n = 0; n < global_count; n++)
        if (globals[n].from == from) {
            free_units(&globals[n]);
            free(globals[n].written);
            globals[n] = globals[--global_count];
            return;
        }
}

static struct shadow *global_shadow(const void *address)
{
    for (int turn = 0; turn <= global_count; turn++) {
        int n = turn == 0 ? last_global : turn - 1;
        if (n >= global_count ||
            (uintptr_t)address - (uintptr_t)globals[n].from >= globals[n].bytes)
            continue;
        last_global = n;
        return &globals[n];
    }
    return NULL;
}

void shadow_host_write(const void *address, size_t bytes)
{
    struct shadow *s = global_shadow(address);
    size_t first = (size_t)((const unsigned char *)address - s->from) / 2;
    size_t last = first + (bytes + 1) / 2;
    for (size_t n = first; n < last; n++)
        if (n % 8 == 0 && last - n >= 8) {
            memset(s->written + n / 8, 0xFF, (last - n) / 8);
            n += (last - n) / 8 * 8 - 1;
        } else {
            s->written[n / 8] |= (unsigned char)(1 << n % 8);
        }
}

void shadow_all_written(void)
{
    for (int n = 0; n < global_count; n++)
        globals[n].all_written = true;
}

bool shadow_written(const void *address)
{
    const struct shadow *s = global_shadow(address);
    size_t n = (size_t)((const unsigned char *)address - s->from) / 2;
    return s->all_written || (s->written[n / 8] >> n % 8 & 1) != 0;
}

static void spread(struct unit *units, unsigned char *split)
{
    if (*split != 0)
        return;
    for (int i = 1; i < GRANULE_UNITS; i++)
        units[i] = units[0];
    *split = 1;
}

struct unit *shadow_of(enum space space, const void *address, size_t offset, size_t bytes,
                       unsigned char **whole)
{
    struct shadow *s = space == SPACE_SHARED ? &shared : &static_shared;
    if (space == SPACE_GLOBAL) {
        s = global_shadow(address);
        if (s->unit == NULL)
            s->unit = new_units(s->bytes);
    }
    unsigned char *split = (unsigned char *)(s->unit + GRANULE_UNITS * granules_of(s->bytes));
    size_t first = offset / GRANULE_BYTES, last = (offset + bytes - 1) / GRANULE_BYTES;
    *whole = offset % GRANULE_BYTES == 0 && bytes == GRANULE_BYTES ? split + first : NULL;
    for (size_t g = first; g <= last && *whole == NULL; g++)
        spread(s->unit + GRANULE_UNITS * g, split + g);
    return s->unit + offset / 2;
}
