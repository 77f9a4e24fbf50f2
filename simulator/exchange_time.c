/* exchange_time.c: see exchange_time.h. */
#include <math.h>
#include <stdlib.h>

#include "simulator/algorithms/warps.h"
#include "simulator/exchange_parts.h"

/* One instruction of a warp: what a unit serves in one go. */
enum { PIECE_FLOPS = 4096, PIECE_ELEMENTS = 32, PIECE_BYTES = 512 };

struct timing {
    struct exchange_time *to;
    size_t room;
    double clocks[UNITS]; /* that one FLOP, element or byte takes a warp at the unit */
    bool by_rows, closed, out_of_memory;
    int Br, Bc, D, phase;
};

static int tag_of(const struct timing *t)
{
    int tile = t->to->tiles > 0 ? t->to->tiles - 1 : 0;
    return t->phase == TILE_PHASES ? t->to->tiles * TILE_PHASES : tile * TILE_PHASES + t->phase;
}

static void add_task(struct timing *t, struct warp_task task, bool for_results)
{
    struct exchange_time *to = t->to;
    if (to->tasks == t->room) {
        size_t larger = t->room == 0 ? 256 : 2 * t->room;
        struct warp_task *all = realloc(to->task, larger * sizeof *all);
        bool *causes = realloc(to->for_results, larger * sizeof *causes);
        to->task = all != NULL ? all : to->task;
        to->for_results = causes != NULL ? causes : to->for_results;
        t->out_of_memory = t->out_of_memory || all == NULL || causes == NULL;
        if (t->out_of_memory)
            return;
        t->room = larger;
    }
    task.tag = tag_of(t);
    to->for_results[to->tasks] = for_results;
    to->task[to->tasks++] = task;
}

static void add_work(struct timing *t, int warp, enum warp_unit unit, double amount)
{
    double piece = unit == UNIT_TENSOR                          ? PIECE_FLOPS
                   : unit == UNIT_SHARED || unit == UNIT_MEMORY ? PIECE_BYTES
                                                                : PIECE_ELEMENTS;
    if (amount > 0)
        add_task(t,
                 (struct warp_task){.unit = unit,
                                    .warps = UINT32_C(1) << warp,
                                    .clocks = amount * t->clocks[unit],
                                    .pieces = (int)ceil(amount / piece)},
                 false);
}

void timing_barrier(struct timing *t, bool for_results)
{
    uint32_t all = UINT32_MAX >> (TIMED_WARPS - t->to->warps);
    if (!t->closed)
        add_task(t, (struct warp_task){.unit = UNIT_BARRIER, .warps = all, .pieces = 1},
                 for_results);
}

static double elements(const struct tile *t)
{
    return (double)t->rows * t->cols;
}

/* What a call asks of which unit; UNIT_BARRIER: of none. */
static enum warp_unit unit_of(const struct call *c, double *amount)
{
    *amount = elements(c->dst);
    switch (c->verb) {
    case VERB_MMA_ABT:
    case VERB_MMA_AB:
        *amount *= 2.0 * c->a->cols;
        return UNIT_TENSOR;
    case VERB_ROW_MAX:
    case VERB_ROW_SUM:
        *amount = elements(c->a);
        return UNIT_OTHER;
    case VERB_ADD:
    case VERB_SUB:
    case VERB_MUL:
    case VERB_FMA:
    case VERB_MAX:
    case VERB_ROUND_AT:
        return UNIT_OTHER;
    case VERB_EXP_SHIFT:
    case VERB_EXP:
    case VERB_LOG:
    case VERB_TANH:
    case VERB_DIV:
    case VERB_RCP:
    case VERB_DIVIDE_ROWS:
        return UNIT_SPECIAL;
    default: /* moves within registers, constants, intervals */
        return UNIT_BARRIER;
    }
}

/* The warp's share of a call on a tile that all warps hold. */
static double share_of(const struct timing *t, const struct call *c, int warp)
{
    int warps = t->to->warps, cols = c->dst->cols;
    if (t->by_rows)
        return (double)part_of(t->Br, warps, warp).count / t->Br;
    if (cols == t->Bc && cols > 1)
        return (double)part_of(t->Bc, warps, warp).count / t->Bc;
    if (cols == t->D && cols > 1)
        return (double)part_of(t->D, warps, warp).count / t->D;
    return 1; /* of m, l and the like each warp has every row */
}

static void begin_phase(struct timing *t, const struct call *c, uint32_t row_tile)
{
    bool loads = c->verb == VERB_LOAD;
    t->closed = t->closed || row_tile > 0;
    if (loads && c->dst->name == TENSOR_K && !t->closed) {
        t->closed = t->to->more = t->to->tiles == TIMED_TILES;
        t->to->tiles += !t->closed;
        t->phase = PHASE_LOAD;
    } else if (c->verb == VERB_TAKE && t->phase == PHASE_LOAD) {
        t->phase = PHASE_SCORES;
    } else if (c->verb == VERB_EXP_SHIFT && c->dst->name == TENSOR_P) {
        t->phase = PHASE_OUTPUTS;
    } else if (c->verb == VERB_DIVIDE_ROWS) {
        t->phase = TILE_PHASES;
    }
}

void timing_call(struct counting *n, const struct call *c)
{
    struct timing *t = n->timing;
    double amount;
    int me = (int)n->run.where.warp, warps = t->to->warps;
    begin_phase(t, c, n->run.where.i);
    if (t->closed)
        return;
    if (c->verb == VERB_LOAD) {
        double bytes = (double)exchange_bytes(&n->run, c->dst, c->dst) / warps;
        for (int w = 0; w < warps; w++) {
            add_work(t, w, UNIT_MEMORY, bytes);
            add_work(t, w, UNIT_SHARED, bytes);
        }
        return;
    }
    if (c->verb == VERB_PUT && exchange_is_shared(c->dst)) {
        add_work(t, me, UNIT_SHARED, (double)exchange_bytes(&n->run, c->dst, c->a));
        return;
    }
    if (c->verb == VERB_TAKE && exchange_is_shared(c->a)) {
        add_work(t, me, UNIT_SHARED, (double)exchange_bytes(&n->run, c->a, c->dst));
        return;
    }
    enum warp_unit unit = unit_of(c, &amount);
    if (unit == UNIT_BARRIER || elements(c->dst) == 1)
        return;
    if (c->dst->name == TENSOR_SCRATCH || c->dst->name == TENSOR_Y)
        add_work(t, me, unit, amount);
    else
        for (int w = 0; w < warps; w++)
            add_work(t, w, unit, amount * share_of(t, c, w));
}

bool unit_clocks(double clocks[UNITS], const struct device_record *d, struct message *why)
{
    struct plan_request usual = plan_request_default();
    struct rates r = device_rates(d, usual.assume);
    double sms = d->figure[QUANTITY_SMS];
    if (!(r.matmul > 0 && r.other > 0 && r.memory > 0 && r.clock > 0 && sms > 0))
        return refuse(why, "%s: its rates are not established, so warps have no time on it",
                      d->name);
    clocks[UNIT_TENSOR] = QUARTERS * r.clock / r.matmul;
    clocks[UNIT_OTHER] = QUARTERS * r.clock / r.other;
    clocks[UNIT_SPECIAL] = QUARTERS * r.clock / r.special;
    clocks[UNIT_SHARED] = r.clock / r.shared;
    clocks[UNIT_MEMORY] = r.clock / (r.memory / sms);
    clocks[UNIT_BARRIER] = 0;
    return true;
}

static void find_phases(struct exchange_time *t)
{
    int last = t->tiles * TILE_PHASES;
    for (size_t n = 0; n < t->times.count; n++) {
        int tag = t->task[t->times.span[n].task].tag;
        t->phase_end[tag] = fmax(t->phase_end[tag], t->times.span[n].to);
    }
    for (int p = 1; p <= last; p++)
        t->phase_end[p] = fmax(t->phase_end[p], t->phase_end[p - 1]);
}

bool exchange_time_new(struct exchange_time *t, const struct simulation *s, const struct head *h,
                       const struct device_record *d, struct message *why)
{
    struct counting n;
    struct exchange e;
    struct choices c = simulation_choices(s, h);
    struct attention x = {.head = h, .choices = c};
    struct timing timing = {.to = t,
                            .by_rows = s->algorithm == ALGORITHM_SPLITQ,
                            .Br = c.Br,
                            .Bc = c.Bc,
                            .D = (int)h->D};
    *t = (struct exchange_time){.warps = warps_of(&x)};
    if (!unit_clocks(timing.clocks, d, why))
        return false;
    exchange_start(&n, s, h, &e, &timing);
    run_free(&n.run);
    if (timing.out_of_memory || !warp_times_new(&t->times, t->task, t->tasks)) {
        exchange_time_free(t);
        return refuse(why, "no memory for the calls of %d warps", t->warps);
    }
    find_phases(t);
    return true;
}

void exchange_time_free(struct exchange_time *t)
{
    warp_times_free(&t->times);
    free(t->task);
    free(t->for_results);
    t->task = NULL;
    t->for_results = NULL;
}
