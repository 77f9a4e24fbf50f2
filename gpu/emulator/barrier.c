/* barrier.c: __syncthreads and named barriers.

   Barrier 0 waits for every thread that has not exited; a named one for as many as it is told.
   Threads that meet at barrier 0 from different places are reported, and go on. */
#include "gpu/emulator/runtime.h"

#include "gpu/emulator/lanes.h"

static void release(int id)
{
    struct barrier *b = &emulated.barrier[id];
    struct cuemu_site at = b->at;
    if (b->divergent)
        report_deadlock(FAULT_DIVERGENT_BARRIER, "threads meet at different __syncthreads()");
    detector_barrier(id);
    *b = (struct barrier){0, 0, nowhere, false};
    for (int n = 0; n < emulated.warps; n++) {
        struct warp *w = &emulated.warp[n];
        uint32_t lanes = w->at_barrier[id];
        if (lanes != 0)
            lanes_release(w, id, at);
        emulator_count.barriers += lanes != 0;
        w->at_barrier[id] = 0;
        make_runnable(w, lanes);
    }
    emulated.progress++;
    emulated.yields = 0;
}

static void arrive(int id, int needed, struct cuemu_site at)
{
    struct lane *l = running_lane();
    struct barrier *b = &emulated.barrier[id];
    if (b->arrived == 0) {
        b->at = at;
        b->needed = needed;
    }
    if (id == 0 && (b->at.line != at.line || b->at.file != at.file))
        b->divergent = true;
    if (id != 0 && b->needed != needed)
        report(FAULT_BAD_BARRIER, at, b->at,
               "barrier %d for %d threads by %s; others wait there for %d", id, needed,
               name_of(l).text, b->needed);
    b->arrived++;
    l->at = at;
    l->warp->at_barrier[id] |= UINT32_C(1) << l->number;
    lanes_arrive(l->warp, id);
    stop_running(l);
    if (b->arrived == (id == 0 ? emulated.alive : b->needed))
        release(id);
    schedule();
}

void cuemu_syncthreads(struct cuemu_site at)
{
    arrive(0, 0, at);
}

void cuemu_named_barrier(int id, int threads, struct cuemu_site at)
{
    if (id < 1 || id >= BARRIERS || threads < WARP_LANES || threads % WARP_LANES != 0) {
        report(FAULT_BAD_BARRIER, at, nowhere,
               "barrier %d for %d threads by %s: numbers are 1 to %d (0 is __syncthreads), counts "
               "multiples of %d",
               id, threads, name_of(running_lane()).text, BARRIERS - 1, WARP_LANES);
        return;
    }
    arrive(id, threads, at);
}

/* An exit may be what the others at barrier 0 were waiting for. */
void leave_barriers(struct lane *l)
{
    (void)l;
    if (emulated.barrier[0].arrived > 0 && emulated.barrier[0].arrived == emulated.alive)
        release(0);
}
