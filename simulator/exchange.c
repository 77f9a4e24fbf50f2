/* exchange.c: the calls of a listing whose warps share tiles, counted; see exchange.h. */
#include "simulator/exchange_parts.h"

#include <assert.h>
#include <string.h>

#include "simulator/algorithms/warps.h"
#include "simulator/gradient.h"

bool exchange_is_input(const struct tile *t)
{
    return t->name == TENSOR_Q || t->name == TENSOR_K || t->name == TENSOR_V || t->name == TENSOR_DO;
}

bool exchange_is_shared(const struct tile *t)
{
    return exchange_is_input(t) || t->name == TENSOR_SHARED || t->name == TENSOR_SHARED_P ||
           t->name == TENSOR_SHARED_DS;
}

/* Inputs and operands are in their sites' formats; statistics and sums are fp32. */
int64_t exchange_bytes(const struct run *r, const struct tile *t, const struct tile *elements)
{
    const struct site_rule *site = r->policy->site;
    enum format f = exchange_is_input(t)                   ? site[SITE_INPUT].format
                    : t->name == TENSOR_SHARED_P  ? site[SITE_PROB].format
                    : t->name == TENSOR_SHARED_DS ? site[SITE_DS].format
                                                  : FORMAT_FP32;
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
    n->exchange->shared += exchange_bytes(&n->run, t, t);
    return &n->touched[n->tiles++];
}

static void barrier(struct counting *n, bool for_results)
{
    n->exchange->barriers++;
    if (n->timing != NULL)
        timing_barrier(n->timing, for_results);
    for (int w = 0; w < n->exchange->warps; w++)
        n->exchange->warp[w].waits += for_results;
    for (int i = 0; i < n->tiles; i++)
        n->touched[i].written = n->touched[i].read = 0;
}

static void write_shared(struct counting *n, const struct tile *t, uint32_t who)
{
    struct touched *at = touched_of(n, t);
    if (at->read & ~who || (who & (who - 1) && at->read)) /* another has read what is replaced */
        barrier(n, !exchange_is_input(t));
    at->written |= who;
}

static void read_shared(struct counting *n, const struct tile *t, uint32_t who)
{
    struct touched *at = touched_of(n, t);
    if (at->written & ~who)
        barrier(n, !exchange_is_input(t));
    at->read |= who;
}

static void count_call(struct run *r, const struct call *c)
{
    struct counting *n = (struct counting *)r;
    uint32_t me = UINT32_C(1) << r->where.warp, all = UINT32_MAX;
    struct warp_exchange *w = &n->exchange->warp[r->where.warp];
    if (c->verb == VERB_LOAD) {
        write_shared(n, c->dst, all);
        n->exchange->loaded += exchange_bytes(r, c->dst, c->dst);
    } else if (c->verb == VERB_PUT && exchange_is_shared(c->dst)) {
        write_shared(n, c->dst, me);
        w->writes += exchange_bytes(r, c->dst, c->a);
        w->sums += c->dst->name == TENSOR_SHARED ? exchange_bytes(r, c->dst, c->a) : 0;
    } else if (c->verb == VERB_TAKE && exchange_is_shared(c->a)) {
        int64_t bytes = exchange_bytes(r, c->a, c->dst);
        read_shared(n, c->a, me);
        w->inputs += exchange_is_input(c->a) ? bytes : 0;
        w->reads += exchange_is_input(c->a) ? 0 : bytes;
        w->sums += c->a->name == TENSOR_SHARED ? bytes : 0;
    }
    if (n->timing != NULL)
        timing_call(n, c);
}

/* A warp's registers, forward: its rows or keys of S and P, accumulators of O for its rows. */
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

/* Backward: S and dP, accumulators of dK and dV for its keys, of dQ for its rows. */
static void count_held_backward(const struct attention *x, bool by_rows, struct exchange *e)
{
    int64_t Br = x->choices.Br, Bc = x->choices.Bc, D = x->head->D;
    for (int w = 0; w < e->warps; w++) {
        int64_t own_keys = part_of((int)Bc, e->warps, w).count;
        int64_t rows = by_rows ? part_of((int)Br, e->warps, w).count : own_keys > 0 ? Br : 0;
        int64_t keys = by_rows ? Bc : own_keys;
        e->warp[w].held = (int64_t)sizeof(float) * (2 * rows * keys + 2 * own_keys * D + rows * D);
    }
}

struct attention exchange_start(struct counting *n, const struct simulation *s,
                                const struct head *h, struct exchange *e, struct timing *timing)
{
    struct message why;
    assert(s->algorithm == ALGORITHM_SPLITK || s->algorithm == ALGORITHM_SPLITQ);
    memset(n, 0, sizeof *n);
    *e = (struct exchange){0};
    bool ok = run_new(&n->run, s->arith, &s->policy, s->precision, &why);
    assert(ok);
    (void)ok;
    struct attention x = {.head = h, .choices = simulation_choices(s, h)};
    e->warps = warps_of(&x);
    n->exchange = e;
    n->timing = timing;
    n->run.perform = count_call;
    return simulate_head(&n->run, s, h);
}

void exchange_count(const struct simulation *s, const struct head *h, struct exchange *e)
{
    struct counting n;
    struct attention x = exchange_start(&n, s, h, e, NULL);
    count_held(&x, s->algorithm == ALGORITHM_SPLITQ, e);
    run_free(&n.run);
}

void exchange_count_backward(const struct simulation *s, const struct head *h,
                             const struct tensor *dO, struct exchange *e)
{
    struct counting n;
    struct attention x = exchange_start(&n, s, h, e, NULL);
    *e = (struct exchange){.warps = e->warps}; /* what was counted is the forward pass */
    n.tiles = 0;
    simulate_backward(&n.run, s, &x, dO);
    count_held_backward(&x, s->algorithm == ALGORITHM_SPLITQ, e);
    run_free(&n.run);
}

static bool zeros(struct tensor *t, int rows, int D)
{
    struct message why;
    return tensor_new(t, FORMAT_BF16, TENSOR_MAX_RANK, (int64_t[]){1, 1, rows, D}, &why);
}

/* A row tile that meets `tiles` key tiles. */
static struct exchange of_block(bool by_rows, bool backward, int Br, int Bc, int D, int warps,
                                int tiles)
{
    struct simulation s = simulation_default();
    struct problem_options options = problem_defaults();
    struct tensor q, k, v, dO;
    struct problem p;
    struct message why;
    struct exchange e;
    bool ok = zeros(&q, Br, D) && zeros(&k, tiles * Bc, D) && zeros(&v, tiles * Bc, D) &&
              zeros(&dO, Br, D) && problem_new(&p, &q, &k, &v, &options, &why);
    assert(ok);
    (void)ok;
    s.algorithm = by_rows ? ALGORITHM_SPLITQ : ALGORITHM_SPLITK;
    s.policy = policy_table(POLICY_GPU_BF16);
    s.choices = (struct choices){.Br = Br, .Bc = Bc, .warps = warps};
    struct head h = problem_head(&p, 0);
    if (backward)
        exchange_count_backward(&s, &h, &dO, &e);
    else
        exchange_count(&s, &h, &e);
    tensor_free(&dO);
    problem_free(&p);
    return e;
}

struct tile_exchange exchange_of_tile(bool by_rows, bool backward, int Br, int Bc, int D, int warps)
{
    struct exchange one = of_block(by_rows, backward, Br, Bc, D, warps, 1);
    struct exchange two = of_block(by_rows, backward, Br, Bc, D, warps, 2);
    struct tile_exchange t = {.barriers = two.barriers - one.barriers, .shared = two.shared};
    for (int w = 0; w < warps; w++)
        t.results += two.warp[w].reads + two.warp[w].writes - one.warp[w].reads - one.warp[w].writes;
    return t;
}
