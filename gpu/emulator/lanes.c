/* lanes.c: see lanes.h; lanes_trace.c makes a trace of what is kept. */
#include "gpu/emulator/lanes.h"

#include <stdlib.h>

_Static_assert((int)ACCESS_READ == LANE_READS && (int)ACCESS_WRITE == LANE_WRITES &&
                   (int)ACCESS_ATOMIC == LANE_ADDS,
               "an access is a verb");

static struct kept_lanes kept;
static size_t access_room, wait_room, finding_room;
/* Of each warp of the block that runs. */
static struct {
    uint32_t met, products;
    uint64_t arrived[BARRIERS];
} warps[BLOCK_WARPS];

static const enum lane_space spaces[] = {[SPACE_SHARED] = LANE_SHARED,
                                         [SPACE_STATIC_SHARED] = LANE_STATIC_SHARED,
                                         [SPACE_GLOBAL] = LANE_GLOBAL,
                                         [SPACE_OUTSIDE] = LANE_GLOBAL};

const struct kept_lanes *lanes_kept(void)
{
    return &kept;
}

bool lanes_wanted(void)
{
    return emulator_options.most_lane_accesses > 0;
}

void lanes_forget(void)
{
    kept.accesses = kept.waits = kept.findings = 0;
}

void lanes_block(void)
{
    for (int n = 0; n < BLOCK_WARPS; n++)
        warps[n].met = warps[n].products = 0;
}

void lanes_met(const struct warp *w)
{
    warps[w->number].met++;
}

void lanes_product(const struct warp *w)
{
    warps[w->number].products++;
}

/* Room for one more of a list's elements; false: as many are kept as were asked for, or as fit. */
static bool has_room(void **list, size_t count, size_t *room, size_t each)
{
    if (count >= emulator_options.most_lane_accesses)
        return false;
    if (count < *room)
        return true;
    size_t larger = *room == 0 ? 4096 : 2 * *room;
    void *all = realloc(*list, larger * each);
    if (all == NULL)
        return false;
    *list = all;
    *room = larger;
    return true;
}

static uint32_t block_number(void)
{
    const struct cuemu_index *b = &cuemu_grid.block, *g = &cuemu_grid.grid_size;
    return (b->z * g->y + b->y) * g->x + b->x;
}

void lanes_access(const struct lane *l, enum space space, size_t offset, const void *address,
                  size_t bytes, enum access access, uint64_t from)
{
    if (!lanes_wanted())
        return;
    uint64_t time = emulator_count.lane_accesses++;
    if (!has_room((void **)&kept.access, kept.accesses, &access_room, sizeof *kept.access))
        return;
    struct kept_access *k = &kept.access[kept.accesses++];
    k->from = from;
    k->access = (struct lane_access){.block = block_number(),
                                     .thread = (uint32_t)(l->warp->number * WARP_LANES + l->number),
                                     .verb = access,
                                     .space = spaces[space],
                                     .piece = space == SPACE_GLOBAL ? piece_number(address) : 0,
                                     .bytes = (uint32_t)bytes,
                                     .time = time,
                                     .offset = offset,
                                     .met = warps[l->warp->number].met,
                                     .products = warps[l->warp->number].products};
}

void lanes_arrive(const struct warp *w, int barrier)
{
    warps[w->number].arrived[barrier] = emulator_count.lane_accesses;
}

void lanes_release(const struct warp *w, int barrier, struct cuemu_site at)
{
    if (!lanes_wanted() ||
        !has_room((void **)&kept.wait, kept.waits, &wait_room, sizeof *kept.wait))
        return;
    kept.wait[kept.waits++] = (struct kept_wait){{.block = block_number(),
                                                  .warp = (uint32_t)w->number,
                                                  .barrier = (uint32_t)barrier,
                                                  .lanes = w->at_barrier[barrier],
                                                  .met = warps[w->number].met,
                                                  .products = warps[w->number].products,
                                                  .arrived = warps[w->number].arrived[barrier],
                                                  .released = emulator_count.lane_accesses},
                                                 at};
}

void lanes_finding(enum emulator_fault fault, enum space space, size_t offset,
                   const struct party *me, const struct party *other)
{
    if (!lanes_wanted() ||
        !has_room((void **)&kept.finding, kept.findings, &finding_room, sizeof *kept.finding))
        return;
    struct kept_finding *k = &kept.finding[kept.findings++];
    *k = (struct kept_finding){
        {.block = block_number(),
         .thread = (uint32_t)me->thread,
         .verb = me->access,
         .space = spaces[space],
         .flags = me->copy ? SYNC_COPY : 0,
         .time = emulator_count.lane_accesses > 0 ? emulator_count.lane_accesses - 1 : 0,
         .offset = offset},
        fault,
        me->from,
        0};
    if (other == NULL)
        return;
    k->other_from = other->from;
    k->finding.flags |= SYNC_OTHER | (other->same_block ? SYNC_SAME_BLOCK : 0u) |
                        (other->copy ? SYNC_OTHER_COPY : 0u);
    k->finding.other_thread = (uint32_t)other->thread;
    k->finding.other_verb = other->access;
}
