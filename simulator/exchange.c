/* exchange.c: the calls of a listing whose warps share tiles, counted; see exchange.h. */
#include "simulator/exchange.h"

#include <assert.h>
#include <string.h>

#include "simulator/algorithms/warps.h"

/* Who has touched a shared tile since the last barrier: a bit a warp. */
struct touched {
    const struct tile *tile;
    uint32_t written, read;
};

/* The run is the first member, so that `perform` finds the counts behind it. */
struct counting {
    struct run run;
    struct exchange *exchange;
    struct touched touched[EXCHANGE_TILES];
    int tiles;
};

static bool is_input(const struct tile *t)
{
    return t->name == TENSOR_Q || t->name == TENSOR_K || t->name == TENSOR_V;
}

static bool is_shared(const struct tile *t)
{
    return is_input(t) || t->name == TENSOR_SHARED;
}

/* Of the format it was last rounded to; statistics and sums are fp32. */
static int64_t bytes_of(const struct run *r, const struct tile *t, const struct tile *elements)
{
    enum format f = is_input(t) ? r->policy->site[SITE_INPUT].format : FORMAT_FP32;
    int bits = format_info(f)->bits > 0 ? format_info(f)->bits : 32;
    return (int64_t)elements->rows * elements->cols * bits / 8;
}

static struct touched *touched_of(struct counting *n, const struct tile *t)
{
    for (int i = 0; i < n->tiles; i++)
        if (n->touched[i].tile == t)
            return &n->touched[i];
    assert(n->tiles < EXCHANGE_TILES);
    n->touched[n->tiles] = (struct touched){t, 0, 0};
    n->exchange->shared += bytes_of(&n->run, t, t);
    return &n->touched[n->tiles++];
}

static void barrier(struct counting *n, bool for_results)
{
    n->exchange->barriers++;
    for (int w = 0; w < n->exchange->warps; w++)
        n->exchange->warp[w].waits += for_results;
    for (int i = 0; i < n->tiles; i++)
        n->touched[i].written = n->touched[i].read = 0;
}

static void write_shared(struct counting *n, const struct tile *t, uint32_t who)
{
    struct touched *at = touched_of(n, t);
    if (at->read & ~who || (who & (who - 1) && at->read)) /* another has read what is replaced */
        barrier(n, !is_input(t));
    at->written |= who;
}

static void read_shared(struct counting *n, const struct tile *t, uint32_t who)
{
    struct touched *at = touched_of(n, t);
    if (at->written & ~who)
        barrier(n, !is_input(t));
    at->read |= who;
}

static void count_call(struct run *r, const struct call *c)
{
    struct counting *n = (struct counting *)r;
    uint32_t me = UINT32_C(1) << r->where.warp, all = UINT32_MAX;
    struct warp_exchange *w = &n->exchange->warp[r->where.warp];
    if (c->verb == VERB_LOAD) {
        write_shared(n, c->dst, all);
        n->exchange->loaded += bytes_of(r, c->dst, c->dst);
    } else if (c->verb == VERB_PUT && is_shared(c->dst)) {
        write_shared(n, c->dst, me);
        w->writes += bytes_of(r, c->dst, c->a);
    } else if (c->verb == VERB_TAKE && is_shared(c->a)) {
        int64_t bytes = bytes_of(r, c->a, c->dst);
        read_shared(n, c->a, me);
        w->inputs += is_input(c->a) ? bytes : 0;
        w->reads += is_input(c->a) ? 0 : bytes;
    }
}

/* A warp's registers: its rows or keys of S and P, and accumulators of O for its rows. */
static void count_held(const struct attention *x, bool by_rows, struct exchange *e)
{
    int Br = x->choices.Br, Bc = x->choices.Bc, D = (int)x->head->D;
    for (int w = 0; w < e->warps; w++) {
        int rows = by_rows ? part_of(Br, e->warps, w).count : Br;
        int keys = by_rows ? Bc : part_of(Bc, e->warps, w).count;
        bool works = rows > 0 && keys > 0;
        e->warp[w].held = works ? (int64_t)sizeof(float) * ((int64_t)rows * keys + rows * D) : 0;
    }
}

void exchange_count(const struct simulation *s, const struct head *h, struct exchange *e)
{
    struct counting n;
    struct message why;
    assert(s->algorithm == ALGORITHM_SPLITK || s->algorithm == ALGORITHM_SPLITQ);
    memset(&n, 0, sizeof n);
    *e = (struct exchange){0};
    bool ok = run_new(&n.run, s->arith, &s->policy, s->precision, &why);
    assert(ok);
    (void)ok;
    struct attention x = {.head = h, .choices = simulation_choices(s, h)};
    e->warps = warps_of(&x);
    n.exchange = e;
    n.run.perform = count_call;
    simulate_head(&n.run, s, h);
    count_held(&x, s->algorithm == ALGORITHM_SPLITQ, e);
    run_free(&n.run);
}
