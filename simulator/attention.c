/* attention.c: one head being attended to: where its tiles lie, how their rows are loaded and stored. */
#include "simulator/simulate.h"

static bool user_tiles(const struct attention *x)
{
    return x->head->problem->tiles > 0 && x->choices.Bc == x->choices.widest;
}

int query_tiles(const struct attention *x)
{
    return (int)((x->head->Nq + x->choices.Br - 1) / x->choices.Br);
}

int key_tiles(const struct attention *x)
{
    if (user_tiles(x))
        return x->head->problem->tiles;
    return (int)((x->head->Nk + x->choices.Bc - 1) / x->choices.Bc);
}

int64_t key_first(const struct attention *x, int j)
{
    if (user_tiles(x))
        return j == 0 ? 0 : x->head->problem->tile_ends[j - 1];
    return (int64_t)j * x->choices.Bc;
}

int key_count(const struct attention *x, int j)
{
    int64_t first = key_first(x, j), left = x->head->Nk - first;
    if (user_tiles(x))
        return (int)(x->head->problem->tile_ends[j] - first);
    return (int)(left < x->choices.Bc ? left : x->choices.Bc);
}

int group_tiles(const struct attention *x, int g)
{
    const struct grouping *o = &x->choices.grouping;
    int tiles = key_tiles(x);
    if (o->round_robin)
        return g < tiles ? (tiles - g + o->splits - 1) / o->splits : 0;
    int64_t left = tiles - (int64_t)g * o->tiles;
    return left < 0 ? 0 : left < o->tiles ? (int)left : o->tiles;
}

int group_tile(const struct attention *x, int g, int n)
{
    const struct grouping *o = &x->choices.grouping;
    if (x->choices.descending)
        n = group_tiles(x, g) - 1 - n;
    return o->round_robin ? g + n * o->splits : g * o->tiles + n;
}

int group_of(const struct attention *x, int j)
{
    const struct grouping *o = &x->choices.grouping;
    return o->round_robin ? j % o->splits : j / o->tiles;
}

struct visible visible_tiles(const struct attention *x, int i, int from, int to)
{
    struct visible v = {x->head, (int64_t)i * x->choices.Br, 0, 0, 0};
    if (from > to)
        return v;
    v.col0 = key_first(x, from);
    v.count = (int)(key_first(x, to) + key_count(x, to) - v.col0);
    v.cols = v.count;
    return v;
}

struct visible visible_tile(const struct attention *x, int i, int j)
{
    struct visible v = visible_tiles(x, i, j, j);
    v.cols = x->choices.Bc;
    return v;
}

bool tail_unmasked(const struct attention *x, int j)
{
    return x->choices.faults >> FAULT_NO_TAIL_MASK & 1 && j == key_tiles(x) - 1 &&
           key_count(x, j) < x->choices.Bc;
}

static void load_rows(struct run *r, struct tile *dst, const struct tensor *t, int64_t batch,
                      int64_t head, int64_t row0, int64_t left)
{
    int64_t count = left < dst->rows ? left : dst->rows;
    load(r, dst, (struct source){t, batch, head, row0, count < 0 ? 0 : count});
    note(r, STEP_LOAD, dst);
}

void load_q(struct run *r, const struct attention *x, struct tile *Q, int i)
{
    const struct head *h = x->head;
    int64_t first = (int64_t)i * x->choices.Br;
    load_rows(r, Q, &h->problem->q, h->batch, h->head, h->q0 + first, h->Nq - first);
}

void load_k(struct run *r, const struct attention *x, struct tile *K, int j)
{
    const struct head *h = x->head;
    load_rows(r, K, &h->problem->k, h->batch, h->kv_head, h->k0 + key_first(x, j), key_count(x, j));
}

void load_v(struct run *r, const struct attention *x, struct tile *V, int j)
{
    const struct head *h = x->head;
    load_rows(r, V, &h->problem->v, h->batch, h->kv_head, h->k0 + key_first(x, j), key_count(x, j));
}

static void store_rows(const struct run *r, struct tile *whole, int64_t row0, const struct tile *t)
{
    for (int i = 0; i < t->rows && row0 + i < whole->rows; i++)
        for (int c = 0; c < t->cols; c++)
            r->arith->move(whole->data, (size_t)(row0 + i) * whole->cols + c, t->data,
                           (size_t)i * t->cols + c);
}

void store(struct run *r, struct attention *x, int i, const struct tile *O, const struct tile *L)
{
    store_rows(r, x->O, (int64_t)i * x->choices.Br, O);
    store_rows(r, x->L, (int64_t)i * x->choices.Br, L);
}

