/* schedule.c: whose turn it is, and the launch loop: grid, block, thread.

   Ascending is the lowest runnable lane of the running warp, then of the lowest warp; descending
   mirrors it; random draws from the seed.  A lane keeps its turn until it must wait. */
#include "gpu/emulator/runtime.h"

#include <assert.h>
#include <string.h>

#include "gpu/emulator/detector.h"

struct block emulated;
struct cuemu_lane *cuemu_self;
struct cuemu_grid cuemu_grid;
static uint64_t random_state;
static void (*thread_body)(void *with);

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

uint64_t next_random(void)
{
    return draw(&random_state);
}

/* One of the set bits. */
static int choose(uint32_t set)
{
    if (emulator_options.threads == EMULATOR_ASCENDING)
        return __builtin_ctz(set);
    if (emulator_options.threads == EMULATOR_DESCENDING)
        return 31 - __builtin_clz(set);
    for (int skip = (int)(next_random() % (unsigned)__builtin_popcount(set)); skip > 0; skip--)
        set &= set - 1;
    return __builtin_ctz(set);
}

static void go_on_with(struct lane *from, struct lane *to)
{
    if (to != from)
        switch_to(from, to);
}

void schedule(void)
{
    struct lane *from = running_lane();
    struct warp *w = from->warp;
    if (w->runnable != 0 && emulator_options.threads == EMULATOR_ASCENDING) {
        go_on_with(from, &w->lane[__builtin_ctz(w->runnable)]);
        return;
    }
    if (emulated.ready == 0) {
        if (emulated.alive > 0)
            report_deadlock(FAULT_DEADLOCK, "deadlock: every thread waits for another");
        abandon_launch();
        return;
    }
    /* at random a warp that could go on is sometimes overtaken */
    bool overtaken = emulator_options.threads == EMULATOR_RANDOM && next_random() % 8 == 0;
    if (w->runnable == 0 || overtaken)
        w = &emulated.warp[choose(emulated.ready)];
    go_on_with(from, &w->lane[choose(w->runnable)]);
}

/* A lane that spins gives way to every other one, in turn: the lowest would keep the turn. */
void cuemu_yield(struct cuemu_site at)
{
    struct lane *from = running_lane(), *to = from;
    if (++emulated.yields > emulator_options.stuck_yields) {
        from->at = at;
        report_deadlock(FAULT_STUCK, "live-lock: threads spin and nobody gets on");
        abandon_launch();
        return;
    }
    do
        to = to == &emulated.lane[emulated.warps * WARP_LANES - 1] ? emulated.lane : to + 1;
    while ((to->warp->runnable >> to->number & 1) == 0);
    from->at = at;
    go_on_with(from, to);
}

void abandon_launch(void)
{
    struct fibre none;
    emulated.abandoned = emulated.alive > 0;
    fibre_switch(&none, &emulated.host);
}

/* A thread from its first instruction to its last. */
static void thread_main(void)
{
    thread_body(emulated.launch->with);
    struct lane *l = running_lane();
    leave_copies(l);
    l->warp->exited |= UINT32_C(1) << l->number;
    emulated.alive--;
    emulated.progress++;
    emulated.yields = 0;
    stop_running(l);
    leave_collectives(l);
    leave_barriers(l);
    schedule();
    assert(false); /* an exited lane has no further turn */
}

static void lane_begin(struct lane *l, int number)
{
    const struct cuemu_index *size = &cuemu_grid.block_size;
    unsigned n = (unsigned)number;
    l->seen.thread =
        (struct cuemu_index){n % size->x, n / size->x % size->y, n / size->x / size->y};
    l->number = number % WARP_LANES;
    l->warp = &emulated.warp[number / WARP_LANES];
    l->seen.a = &l->warp->fragments.a[0][l->number];
    l->seen.b = &l->warp->fragments.b[0][l->number];
    l->seen.d = &l->warp->fragments.d[0][l->number];
    l->seen.loaded = &l->warp->loaded[0][l->number];
    l->seen.row = &l->warp->row[l->number];
    l->at = nowhere;
    forget_copies(l);
    if (number < emulated.threads)
        fibre_prepare(&l->fibre, number, thread_main);
}

static void block_begin(void)
{
    emulated.alive = emulated.threads;
    emulated.ready = 0;
    emulated.yields = 0;
    memset(emulated.barrier, 0, sizeof emulated.barrier);
    for (int n = 0; n < emulated.warps; n++) {
        struct warp *w = &emulated.warp[n];
        int lanes = emulated.threads - n * WARP_LANES;
        w->lane = &emulated.lane[n * WARP_LANES];
        w->number = n;
        w->exists = lanes >= WARP_LANES ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
        w->runnable = w->exited = 0;
        w->opens = 0;
        memset(w->at_barrier, 0, sizeof w->at_barrier);
        make_runnable(w, w->exists);
    }
    for (int n = 0; n < emulated.warps * WARP_LANES; n++)
        lane_begin(&emulated.lane[n], n);
}

static void block_run(uint64_t number)
{
    const struct cuemu_index *g = &cuemu_grid.grid_size;
    cuemu_grid.block =
        (struct cuemu_index){(unsigned)(number % g->x), (unsigned)(number / g->x % g->y),
                             (unsigned)(number / g->x / g->y)};
    block_begin();
    if (emulator_options.poison)
        shared_memory_poison();
    detector_block();
    struct warp *w = &emulated.warp[choose(emulated.ready)];
    struct lane *first = &w->lane[choose(w->runnable)];
    cuemu_self = &first->seen;
    emulated.running = true;
    fibre_switch(&emulated.host, &first->fibre);
    emulated.running = false;
    report_crash();
    detector_block_end();
    shared_memory_check();
    emulator_count.blocks++;
    emulator_count.threads += (uint64_t)emulated.threads;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The order of blocks: a walk from `at` in steps of `step`, at random in steps prime to their
   number. */
struct walk {
    uint64_t at, step;
};

static struct walk walk_of(uint64_t blocks, uint64_t *state)
{
    struct walk w = {0, 1};
    if (emulator_options.blocks == EMULATOR_DESCENDING)
        w = (struct walk){blocks - 1, blocks - 1};
    if (emulator_options.blocks == EMULATOR_RANDOM) {
        w.at = draw(state) % blocks;
        for (w.step = draw(state) % blocks; common_divisor(w.step, blocks) != 1;)
            w.step = (w.step + 1) % blocks;
    }
    return w;
}

static uint64_t first_state(void)
{
    return emulator_options.seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
}

void emulator_block_order(uint64_t blocks, uint64_t *number)
{
    uint64_t state = first_state();
    struct walk w = walk_of(blocks, &state);
    for (uint64_t n = 0; n < blocks; n++, w.at = (w.at + w.step) % blocks)
        number[n] = w.at;
}

static void blocks_run(uint64_t blocks)
{
    struct walk w = walk_of(blocks, &random_state);
    for (uint64_t n = 0; n < blocks && !emulated.abandoned; n++, w.at = (w.at + w.step) % blocks)
        block_run(w.at);
}

/* What the device's own launch refuses. */
static bool launch_fits(const struct cuemu_launch *launch, struct cuemu_site at)
{
    const struct cuemu_index *g = &launch->grid, *b = &launch->block;
    uint64_t threads = (uint64_t)b->x * b->y * b->z;
    if (b->x > 1024 || b->y > 1024 || b->z > 64 || threads == 0 || threads > BLOCK_LANES)
        report(FAULT_BAD_LAUNCH, at, nowhere,
               "%s: a block of (%u,%u,%u) threads; a block has 1 to %d", launch->kernel, b->x, b->y,
               b->z, BLOCK_LANES);
    else if (g->x == 0 || g->y == 0 || g->z == 0 || g->x > INT32_MAX || g->y > 65535 ||
             g->z > 65535)
        report(FAULT_BAD_LAUNCH, at, nowhere,
               "%s: a grid of (%u,%u,%u) blocks; each is at least 1, y and z at most 65535",
               launch->kernel, g->x, g->y, g->z);
    else if (launch->shared_bytes > 227 * 1024)
        report(FAULT_BAD_LAUNCH, at, nowhere,
               "%s: %zu bytes of dynamic shared memory; a block has at most %d", launch->kernel,
               launch->shared_bytes, 227 * 1024);
    else if (!fibre_stacks_need((int)threads) || !shared_memory_begin(launch->shared_bytes))
        report(FAULT_BAD_LAUNCH, at, nowhere, "%s: no memory for %llu threads", launch->kernel,
               (unsigned long long)threads);
    else
        return true;
    return false;
}

void cuemu_run(const struct cuemu_launch *launch, struct cuemu_site at)
{
    emulator_count.launches++;
    if (!launch_fits(launch, at))
        return;
    const struct cuemu_index *g = &launch->grid, *b = &launch->block;
    emulated.launch = launch;
    emulated.launched_at = at;
    emulated.threads = (int)(b->x * b->y * b->z);
    emulated.warps = (emulated.threads + WARP_LANES - 1) / WARP_LANES;
    emulated.abandoned = false;
    cuemu_grid.grid_size = *g;
    cuemu_grid.block_size = *b;
    thread_body = launch->body;
    random_state = first_state();
    detector_launch();
    faults_begin();
    blocks_run((uint64_t)g->x * g->y * g->z);
    faults_end();
    global_memory_check();
}
