/* lanes.c: see lanes.h. */
#include "gpu/emulator/lanes.h"

#include <stdlib.h>

#include "gpu/emulator/origins.h"
#include "simulator/trace_lanes.h"

_Static_assert((int)ACCESS_READ == LANE_READS && (int)ACCESS_WRITE == LANE_WRITES &&
                   (int)ACCESS_ATOMIC == LANE_ADDS,
               "an access is a verb");

/* An access whose file and line are still an origin. */
static struct kept {
    struct lane_access access;
    uint64_t from;
} * kept;
static size_t count, room;

bool lanes_wanted(void)
{
    return emulator_options.most_lane_accesses > 0;
}

void lanes_forget(void)
{
    count = 0;
}

static struct kept *more(void)
{
    if (count == room) {
        size_t larger = room == 0 ? 4096 : 2 * room;
        struct kept *all = realloc(kept, larger * sizeof *all);
        if (all == NULL)
            return NULL;
        kept = all;
        room = larger;
    }
    return &kept[count++];
}

static uint32_t block_number(void)
{
    const struct cuemu_index *b = &cuemu_grid.block, *g = &cuemu_grid.grid_size;
    return (b->z * g->y + b->y) * g->x + b->x;
}

void lanes_access(const struct lane *l, enum space space, size_t offset, const void *address,
                  size_t bytes, enum access access, uint64_t from)
{
    static const enum lane_space spaces[] = {[SPACE_SHARED] = LANE_SHARED,
                                             [SPACE_STATIC_SHARED] = LANE_STATIC_SHARED,
                                             [SPACE_GLOBAL] = LANE_GLOBAL};
    if (!lanes_wanted())
        return;
    uint64_t time = emulator_count.lane_accesses++;
    struct kept *k = count < emulator_options.most_lane_accesses ? more() : NULL;
    if (k == NULL)
        return;
    k->from = from;
    k->access = (struct lane_access){.block = block_number(),
                                     .thread = (uint32_t)(l->warp->number * WARP_LANES + l->number),
                                     .verb = access,
                                     .space = spaces[space],
                                     .piece = space == SPACE_GLOBAL ? piece_number(address) : 0,
                                     .bytes = (uint32_t)bytes,
                                     .time = time,
                                     .offset = offset};
}

/* The origins that occur, each once, in `origin`. */
static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t different_origins(uint64_t *origin)
{
    size_t different = 0;
    for (size_t n = 0; n < count; n++)
        origin[n] = kept[n].from;
    qsort(origin, count, sizeof *origin, by_value);
    for (size_t n = 0; n < count; n++)
        if (n == 0 || origin[n] != origin[n - 1])
            origin[different++] = origin[n];
    return different;
}

/* The number of a file's name among `files`, a new one if it is not there. */
static uint32_t file_number(const char **file, size_t *files, const char *name)
{
    for (size_t i = 0; i < *files; i++)
        if (file[i] == name)
            return (uint32_t)i;
    file[(*files)++] = name;
    return (uint32_t)(*files - 1);
}

/* Every access with its line; `file` gets the names. */
static void find_lines(struct lane_access *access, const uint64_t *origin,
                       const struct cuemu_site *site, size_t different, const char **file,
                       size_t *files)
{
    for (size_t n = 0; n < count; n++) {
        const uint64_t *at = bsearch(&kept[n].from, origin, different, sizeof *origin, by_value);
        const struct cuemu_site *s = &site[at - origin];
        access[n] = kept[n].access;
        if (s->line != 0) {
            access[n].file = file_number(file, files, s->file);
            access[n].line = (uint32_t)s->line;
        }
    }
}

bool emulator_lanes(struct trace *t)
{
    uint64_t *origin = calloc(count + 1, sizeof *origin);
    struct lane_access *access = calloc(count + 1, sizeof *access);
    size_t different = origin != NULL ? different_origins(origin) : 0, files = 0;
    struct cuemu_site *site = calloc(different + 1, sizeof *site);
    const char **file = calloc(different + 1, sizeof *file);
    bool ok = origin != NULL && access != NULL && site != NULL && file != NULL;
    if (ok) {
        sites_of_origins(origin, (int)different, site);
        find_lines(access, origin, site, different, file, &files);
        ok = trace_set_lanes(t, access, count, file, files);
    }
    free(origin);
    free(access);
    free(site);
    free(file);
    return ok;
}
