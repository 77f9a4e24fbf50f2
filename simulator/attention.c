/* attention.c: one head being attended to: where its tiles lie, how their rows are loaded and stored. */
#include "simulator/simulate.h"
#include "simulator/watch.h"

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

void load_do(struct run *r, const struct attention *x, struct tile *dO, int i)
{
    const struct head *h = x->head;
    int64_t first = (int64_t)i * x->choices.Br;
    load_rows(r, dO, x->dO, h->batch, h->head, h->q0 + first, h->Nq - first);
}

/* dst's rows to.. become `count` rows of a, from.. on; the twins', too. */
static void move_rows(const struct run *r, struct tile *dst, int64_t to, const struct tile *a,
                      int64_t from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < dst->cols; c++)
            r->arith->move(dst->data, (size_t)(to + i) * dst->cols + c, a->data,
                           (size_t)(from + i) * a->cols + c);
    dst->wrote = a->wrote;
    if (r->watch != NULL)
        move_rows(&r->watch->twin, dst->twin, to, a->twin, from, count);
}

/* The rows of tile n, of tiles of `height`, that lie inside `whole`. */
static int64_t rows_inside(const struct tile *whole, int64_t first, int height)
{
    int64_t left = whole->rows - first;
    return left < 0 ? 0 : left < height ? left : height;
}

void store(struct run *r, struct attention *x, int i, const struct tile *O, const struct tile *L)
{
    int64_t first = (int64_t)i * x->choices.Br, count = rows_inside(x->O, first, O->rows);
    move_rows(r, x->O, first, O, 0, count);
    move_rows(r, x->L, first, L, 0, count);
}

void recall(struct run *r, const struct attention *x, int i, struct tile *O, struct tile *L)
{
    int64_t first = (int64_t)i * x->choices.Br, count = rows_inside(x->O, first, O->rows);
    fill(r, O, 0);
    fill(r, L, 0);
    move_rows(r, O, 0, x->O, first, count);
    move_rows(r, L, 0, x->L, first, count);
}

void store_query_gradient(struct run *r, struct attention *x, int i, const struct tile *dQ,
                          const struct tile *dS_sum)
{
    int64_t first = (int64_t)i * x->choices.Br, count = rows_inside(x->dQ, first, dQ->rows);
    move_rows(r, x->dQ, first, dQ, 0, count);
    move_rows(r, x->dS_sum, first, dS_sum, 0, count);
}

void store_key_gradients(struct run *r, struct attention *x, int j, const struct tile *dK,
                         const struct tile *dV)
{
    move_rows(r, x->dK, key_first(x, j), dK, 0, key_count(x, j));
    move_rows(r, x->dV, key_first(x, j), dV, 0, key_count(x, j));
}

/* splitmix64: the next of a sequence of 64-bit words. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

int dq_order(const struct attention *x, int i, int *order)
{
    const struct head *h = x->head;
    int64_t unit = h->sequence * h->problem->Hq + h->head;
    int count = 0, copies = x->choices.dq_copies;
    const int *given = x->choices.dq_given;
    for (int n = 0; n < copies; n++) {
        int copy = given != NULL ? given[unit * copies + n] : n;
        struct visible v = visible_tile(x, i, x->choices.dq_drawn ? copy : 0);
        if (!x->choices.dq_drawn || visible_any(&v, x->choices.Br))
            order[count++] = copy;
    }
    if (given != NULL)
        return count;
    uint64_t state = x->choices.dq_seed;
    const uint64_t place[] = {(uint64_t)h->sequence, (uint64_t)h->head, (uint64_t)i};
    for (int n = 0; n < 3; n++)
        state = next_word(&state) ^ place[n];
    for (int n = count - 1; x->choices.dq_drawn && n > 0; n--) { /* Fisher and Yates */
        int other = (int)(next_word(&state) % (uint64_t)(n + 1)), kept = order[n];
        order[n] = order[other];
        order[other] = kept;
    }
    return count;
}
