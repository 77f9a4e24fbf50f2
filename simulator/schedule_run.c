/* schedule_run.c: a launch on a machine, event by event.

   The blocks resident on an SM share it evenly, so an SM has a clock of its own, v, which counts
   the work that each of its blocks has had: dv/dt = 1 / resident.  A block ends when v reaches its
   start's v plus its own work.  The next block goes to the SM where one has just ended; at the
   start every SM gets one before any gets two.  A heap holds the SMs by their next ending: the cost
   is blocks x log(SMs), and a constant for each event. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "simulator/schedule.h"

struct resident {
    int64_t block;    /* -1: the slot is free */
    double next, end; /* on the SM's own clock: of the next cell to begin, of the block */
    struct block_walk walk;
};

struct sm {
    double v, time; /* own clock, and the time it is right for */
    double ending;  /* time of the next ending; infinite when idle */
    int resident;
    struct resident *slot;
};

struct engine {
    const struct grid *grid;
    const struct machine *machine;
    schedule_seen *seen;
    void *with;
    struct sm *sm;
    struct resident *slots;
    int *heap, *place; /* SMs by `ending`, ties by number; where each stands */
    double *work;      /* of a head's blocks */
    int64_t next;      /* block to start */
    struct schedule *result;
};

static bool before(const struct engine *e, int a, int b)
{
    return e->sm[a].ending < e->sm[b].ending || (e->sm[a].ending == e->sm[b].ending && a < b);
}

static void put(struct engine *e, int at, int sm)
{
    e->heap[at] = sm;
    e->place[sm] = at;
}

static void reorder(struct engine *e, int sm)
{
    int at = e->place[sm], count = e->machine->sms;
    for (int up; at > 0 && before(e, sm, e->heap[up = (at - 1) / 2]); at = up)
        put(e, at, e->heap[up]);
    for (;;) {
        int down = 2 * at + 1;
        if (down + 1 < count && before(e, e->heap[down + 1], e->heap[down]))
            down++;
        if (down >= count || !before(e, e->heap[down], sm))
            break;
        put(e, at, e->heap[down]);
        at = down;
    }
    put(e, at, sm);
}

static double cell_time(const struct machine *m, enum cell c)
{
    return c == CELL_MASKED ? m->masked : m->plain;
}

/* Cells of the slot's block that begin before the SM's clock reads v. */
static void begin_cells(struct engine *e, int n, int slot, double v)
{
    struct sm *sm = &e->sm[n];
    struct resident *b = &sm->slot[slot];
    struct schedule_event event = {.block = b->block, .sm = n, .slot = slot};
    while (b->next < v && walk_next(&b->walk, &event.i, &event.j)) {
        event.cell = grid_cell(e->grid, event.i, event.j);
        event.time = sm->time + (b->next - sm->v) * sm->resident;
        event.length = cell_time(e->machine, event.cell) * sm->resident;
        e->seen(e->with, &event);
        b->next += cell_time(e->machine, event.cell);
    }
}

static void advance(struct engine *e, int n, double time, double v)
{
    struct sm *sm = &e->sm[n];
    if (e->seen != NULL)
        for (int s = 0; s < e->machine->per_sm; s++)
            if (sm->slot[s].block >= 0)
                begin_cells(e, n, s, v < sm->slot[s].end ? v : INFINITY);
    sm->time = time;
    sm->v = v;
}

/* When will the SM's next block end? */
static void expect(struct engine *e, int n)
{
    struct sm *sm = &e->sm[n];
    double end = INFINITY;
    for (int s = 0; s < e->machine->per_sm; s++)
        if (sm->slot[s].block >= 0 && sm->slot[s].end < end)
            end = sm->slot[s].end;
    sm->ending = sm->time + (end - sm->v) * (sm->resident > 0 ? sm->resident : 1);
    reorder(e, n);
}

static void start(struct engine *e, int n, int slot)
{
    struct sm *sm = &e->sm[n];
    int64_t block = e->next++;
    sm->slot[slot] = (struct resident){.block = block,
                                       .next = sm->v + e->machine->block,
                                       .end = sm->v + e->work[block % e->grid->per_head],
                                       .walk = walk_block(e->grid, block)};
    sm->resident++;
}

/* The blocks of an SM that end now make room for the next ones. */
static void end_blocks(struct engine *e, int n)
{
    struct sm *sm = &e->sm[n];
    double v = INFINITY;
    for (int s = 0; s < e->machine->per_sm; s++)
        if (sm->slot[s].block >= 0 && sm->slot[s].end < v)
            v = sm->slot[s].end;
    advance(e, n, sm->ending, v);
    for (int s = 0; s < e->machine->per_sm; s++) {
        if (sm->slot[s].block < 0 || sm->slot[s].end > v)
            continue;
        sm->slot[s].block = -1;
        sm->resident--;
        e->result->span = sm->time;
        if (e->next < e->grid->blocks)
            start(e, n, s);
    }
    expect(e, n);
}

static void engine_new(struct engine *e)
{
    int sms = e->machine->sms, per_sm = e->machine->per_sm;
    e->sm = calloc((size_t)sms, sizeof *e->sm);
    e->slots = calloc((size_t)sms * (size_t)per_sm, sizeof *e->slots);
    e->heap = calloc((size_t)sms, 2 * sizeof *e->heap);
    e->work = malloc((size_t)e->grid->per_head * sizeof *e->work);
    if (e->sm == NULL || e->slots == NULL || e->heap == NULL || e->work == NULL)
        abort();
    e->place = e->heap + sms;
    for (int n = 0; n < sms; n++) {
        e->sm[n] = (struct sm){.ending = INFINITY, .slot = e->slots + (size_t)n * (size_t)per_sm};
        put(e, n, n);
        for (int s = 0; s < per_sm; s++)
            e->sm[n].slot[s].block = -1;
    }
}

static void sum_work(struct engine *e)
{
    const struct machine *m = e->machine;
    for (int64_t n = 0; n < e->grid->per_head; n++) {
        struct cells c = grid_block(e->grid, n);
        e->work[n] = m->block + (double)c.masked * m->masked + (double)c.plain * m->plain;
        e->result->steps += (c.masked + c.plain) * e->grid->heads;
        e->result->work += e->work[n] * (double)e->grid->heads;
    }
}

void schedule_run(const struct grid *g, const struct machine *m, schedule_seen *seen, void *with,
                  struct schedule *s)
{
    struct engine e = {.grid = g, .machine = m, .seen = seen, .with = with, .result = s};
    assert(m->sms >= 1 && m->per_sm >= 1 && g->blocks >= 1);
    *s = (struct schedule){.slots = (int64_t)m->sms * m->per_sm};
    s->waves = (double)g->blocks / (double)s->slots;
    s->launched = (g->blocks + s->slots - 1) / s->slots;
    s->full = s->waves / (double)s->launched;
    s->busy_sms = g->blocks < m->sms ? (int)g->blocks : m->sms;
    engine_new(&e);
    sum_work(&e);
    for (int slot = 0; slot < m->per_sm; slot++)
        for (int n = 0; n < m->sms && e.next < g->blocks; n++)
            start(&e, n, slot);
    for (int n = 0; n < m->sms; n++)
        expect(&e, n);
    while (e.sm[e.heap[0]].ending < INFINITY)
        end_blocks(&e, e.heap[0]);
    s->busy = s->span > 0 ? s->work / (s->span * m->sms) : 1;
    free(e.sm);
    free(e.slots);
    free(e.heap);
    free(e.work);
}
