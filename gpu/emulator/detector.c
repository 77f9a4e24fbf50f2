/* detector.c: see detector.h: clocks, and the judgement of each access. */
#include "gpu/emulator/detector.h"

#include <string.h>

#include "gpu/emulator/banks.h"
#include "gpu/emulator/findings.h"
#include "gpu/emulator/lanes.h"
#include "gpu/emulator/origins.h"

/* A stamp's `when`: block 32 bits, clock 20, thread 10, flags 2. */
enum { FLAG_ATOMIC = 1, FLAG_IN_FLIGHT = 2, THREAD_SHIFT = 2, CLOCK_SHIFT = 12, BLOCK_SHIFT = 32 };
enum { MOST_CLOCK = (1 << 20) - 1 };

static uint32_t block, first_block; /* this one, the launch's first; they count from 1 */
static uint32_t known[BLOCK_WARPS][BLOCK_WARPS]; /* [w][v]: what of v's time is before w's now */
static bool judging;

static uint32_t block_of(uint64_t when)
{
    return (uint32_t)(when >> BLOCK_SHIFT);
}
static uint32_t clock_of(uint64_t when)
{
    return (uint32_t)(when >> CLOCK_SHIFT) & MOST_CLOCK;
}
static uint32_t thread_of(uint64_t when)
{
    return (uint32_t)(when >> THREAD_SHIFT) & (BLOCK_LANES - 1);
}

static uint64_t now_of(const struct lane *l, unsigned flags)
{
    uint64_t warp = (uint64_t)l->warp->number, thread = warp * WARP_LANES + (uint64_t)l->number;
    return (uint64_t)block << BLOCK_SHIFT | (uint64_t)known[warp][warp] << CLOCK_SHIFT |
           thread << THREAD_SHIFT | flags;
}

void detector_launch(void)
{
    judging = emulator_options.detector;
    detector_watches = judging || emulator_options.statistics || lanes_wanted();
    if (judging)
        shadow_launch(1 << 18, shared_memory_static_bytes());
    else
        shadow_all_written();
    first_block = block + 1;
    banks_launch();
}

void detector_block(void)
{
    block++;
    if (!detector_watches)
        return;
    lanes_block();
    for (int w = 0; w < BLOCK_WARPS; w++)
        for (int v = 0; v < BLOCK_WARPS; v++)
            known[w][v] = v == w;
}

void detector_block_end(void)
{
    if (!detector_watches)
        return;
    for (int n = 0; n < emulated.warps; n++)
        detector_converge(&emulated.warp[n]);
    findings_report();
}

static void tick(int warp)
{
    if (known[warp][warp] < MOST_CLOCK)
        known[warp][warp]++;
}

void detector_syncwarp(const struct warp *w)
{
    tick(w->number);
}

void detector_barrier(int id)
{
    uint32_t joined[BLOCK_WARPS] = {0};
    if (!detector_watches)
        return;
    for (int w = 0; w < emulated.warps; w++) {
        const struct warp *warp = &emulated.warp[w];
        bool exited = id == 0 && warp->exited == warp->exists; /* what it did came before */
        for (int v = 0; v < emulated.warps && (warp->at_barrier[id] != 0 || exited); v++)
            joined[v] = known[w][v] > joined[v] ? known[w][v] : joined[v];
        detector_converge(warp);
    }
    for (int w = 0; w < emulated.warps; w++)
        if (emulated.warp[w].at_barrier[id] != 0) {
            memcpy(known[w], joined, sizeof joined);
            tick(w);
        }
}

void detector_converge(const struct warp *w)
{
    if (!detector_watches)
        return;
    banks_converge(w);
    lanes_met(w);
}

/* Is what `s` says unordered with lane l's access of now? */
static bool unordered(const struct stamp *s, uint64_t now, bool atomic)
{
    if (s->when == 0 || (atomic && (s->when & FLAG_ATOMIC) != 0))
        return false;
    if (block_of(s->when) != block)
        return block_of(s->when) >= first_block;
    uint32_t thread = thread_of(s->when), own = thread_of(now);
    uint32_t warp = own / WARP_LANES, other = thread / WARP_LANES;
    if (thread == own)
        return false;
    return warp == other ? clock_of(s->when) == clock_of(now)
                         : clock_of(s->when) > known[warp][other];
}

static struct party party_of(const struct stamp *s, enum access access)
{
    return (struct party){.from = s->from,
                          .thread = (int)thread_of(s->when),
                          .same_block = block_of(s->when) == block,
                          .access = access,
                          .copy = (s->when & FLAG_IN_FLIGHT) != 0};
}

struct judged {
    enum space space;
    const unsigned char *address;
    size_t offset;
    enum access access;
    struct stamp now;
};

/* Reports what is wrong with the access to the unit, if anything is. */
static void judge(const struct unit *u, const struct judged *j)
{
    bool shared = j->space != SPACE_GLOBAL, atomic = j->access == ACCESS_ATOMIC;
    bool stale = shared && block_of(u->write.when) != block;
    struct party me = party_of(&j->now, j->access);
    if (j->access != ACCESS_WRITE && (u->write.when == 0 || stale) &&
        (shared || !shadow_written(j->address)))
        findings_add(FAULT_UNINITIALISED, j->space, j->offset, &me, NULL);
    if (!stale && (u->write.when & FLAG_IN_FLIGHT) != 0 && block_of(u->write.when) == block) {
        struct party copy = party_of(&u->write, ACCESS_WRITE);
        findings_add(FAULT_IN_FLIGHT, j->space, j->offset, &me, &copy);
    } else if (!stale && unordered(&u->write, j->now.when, atomic)) {
        struct party writer = party_of(&u->write, ACCESS_WRITE);
        findings_add(FAULT_RACE, j->space, j->offset, &me, &writer);
    }
    const struct stamp *reads[] = {&u->read, &u->other_read};
    for (int i = 0; i < 2 && j->access != ACCESS_READ; i++)
        if ((!shared || block_of(reads[i]->when) == block) &&
            unordered(reads[i], j->now.when, atomic)) {
            struct party reader = party_of(reads[i], ACCESS_READ);
            findings_add(FAULT_RACE, j->space, j->offset, &me, &reader);
            return;
        }
}

static uint32_t warp_of(const struct stamp *s)
{
    return thread_of(s->when) / WARP_LANES;
}

/* The two reads kept are of two threads, of two warps if there were any. */
static void remember(struct unit *u, const struct judged *j)
{
    if (j->access != ACCESS_READ)
        u->write = j->now;
    if (j->access == ACCESS_WRITE)
        return;
    const struct stamp *other = &u->other_read;
    bool of_two_warps = block_of(other->when) == block && warp_of(other) != warp_of(&j->now);
    if (warp_of(&u->read) != warp_of(&j->now) || !of_two_warps)
        u->other_read = u->read;
    u->read = j->now;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return ((a->when ^ b->when) | (a->from ^ b->from)) == 0;
}

static bool same_unit(const struct unit *a, const struct unit *b)
{
    return same_stamp(&a->write, &b->write) && same_stamp(&a->read, &b->read) &&
           same_stamp(&a->other_read, &b->other_read);
}

/* Units that tell the same story are judged once.  Returns whether all ended with the same. */
static bool judge_each(struct unit *u, size_t units, struct judged *j)
{
    struct unit before = *u, after;
    bool alike = true;
    judge(u, j);
    remember(u, j);
    after = *u;
    for (size_t i = 1; i < units; i++) {
        j->offset += 2;
        j->address += 2;
        if (same_unit(&u[i], &before)) {
            u[i] = after;
            continue;
        }
        before = u[i];
        judge(&u[i], j);
        remember(&u[i], j);
        alike = alike && same_unit(&u[i], &after);
        after = u[i];
    }
    return alike;
}

static void judge_units(size_t bytes, struct judged *j)
{
    unsigned char *whole;
    struct unit *u = shadow_of(j->space, j->address, j->offset, bytes, &whole);
    if (whole == NULL)
        judge_each(u, (bytes + 1) / 2, j);
    else if (*whole == 0)
        judge_each(u, 1, j);
    else
        *whole = !judge_each(u, GRANULE_UNITS, j);
}

void detector_access_at(const struct lane *l, enum space space, size_t offset, const void *address,
                        size_t bytes, enum access access, uint64_t from)
{
    struct judged j = {space, address, offset, access, {0}};
    j.now = (struct stamp){now_of(l, access == ACCESS_ATOMIC ? FLAG_ATOMIC : 0), from};
    if (space == SPACE_OUTSIDE) {
        struct party me = party_of(&j.now, access);
        findings_add(FAULT_OUT_OF_BOUNDS, space, offset, &me, NULL);
        return;
    }
    lanes_access(l, space, offset, address, bytes, access, from);
    if (judging && bytes > 1)
        judge_units(bytes, &j);
}

void detector_access(const struct lane *l, const void *address, size_t bytes, enum access access,
                     uint64_t from)
{
    size_t offset;
    enum space space = space_of(address, bytes, &offset);
    if (space != SPACE_NONE)
        detector_access_at(l, space, offset, address, bytes, access, from);
}

void detector_copy_begin(const struct lane *l, const struct pending_copy *c)
{
    if (!detector_watches)
        return;
    uint64_t from = origin_of_site(c->at);
    if (c->bytes > 0)
        detector_access(l, c->src, (size_t)c->bytes, ACCESS_READ, from);
    struct judged j = {.address = c->dst, .access = ACCESS_WRITE};
    j.space = space_of(c->dst, 16, &j.offset);
    j.now = (struct stamp){now_of(l, FLAG_IN_FLIGHT), from};
    lanes_access(l, j.space, j.offset, c->dst, 16, ACCESS_WRITE, from);
    if (judging)
        judge_units(16, &j);
}

/* The write happens now, as far as others can tell. */
void detector_copy_end(const struct lane *l, const struct pending_copy *c)
{
    size_t offset;
    if (!judging)
        return;
    enum space space = space_of(c->dst, 16, &offset);
    unsigned char *whole;
    struct unit *u = shadow_of(space, c->dst, offset, GRANULE_BYTES, &whole);
    struct stamp now = {now_of(l, 0), origin_of_site(c->at)};
    bool one = whole != NULL && *whole == 0;
    for (int i = 0; i < (one ? 1 : GRANULE_UNITS); i++)
        u[i].write = now;
}
