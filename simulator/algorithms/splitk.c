/* splitk.c: FlashAttention-2's tile shared out by keys: each warp has a slice of K and V and all of
   the rows.  No warp has a whole row, so maxima, sums and partial outputs go through shared memory;
   the partial outputs, each summed from zero, are added in the order of the warps: another rounding
   than split-Q's.  FlashAttention-1 shares a tile so (arXiv 2307.08691, section 3.3). */
#include <math.h>

#include "simulator/algorithms/warps.h"

/* A warp's own: its keys' slice of every tile, and what it puts into shared memory. */
struct slice {
    struct part keys, columns; /* columns: of O, which it puts together */
    struct tile *Q, *K, *V, *S, *P, *m, *l, *Y, *piece, *O;
};

struct exchange_tiles {
    struct tile *m, *l, *Y;         /* Br x warps twice, warps Br x D */
    struct tile *all_m, *all_l;     /* the copies a warp reads */
};

static void slice_new(struct run *r, const struct attention *x, struct slice *c, int warps, int w)
{
    int Br = x->choices.Br, D = (int)x->head->D;
    c->keys = part_of(x->choices.Bc, warps, w);
    c->columns = part_of(D, warps, w);
    if (c->columns.count > 0) {
        c->piece = tile_new(r, TENSOR_SCRATCH, Br, c->columns.count);
        c->O = tile_new(r, TENSOR_SCRATCH, Br, c->columns.count);
    }
    if (c->keys.count == 0)
        return;
    c->Q = tile_new(r, TENSOR_SCRATCH, Br, D);
    c->K = tile_new(r, TENSOR_SCRATCH, c->keys.count, D);
    c->V = tile_new(r, TENSOR_SCRATCH, c->keys.count, D);
    c->S = tile_new(r, TENSOR_SCRATCH, Br, c->keys.count);
    c->P = tile_new(r, TENSOR_SCRATCH, Br, c->keys.count);
    c->m = tile_new(r, TENSOR_SCRATCH, Br, 1);
    c->l = tile_new(r, TENSOR_SCRATCH, Br, 1);
    c->Y = tile_new(r, TENSOR_Y, Br, D);
}

static void exchange_new(struct run *r, const struct attention *x, struct exchange_tiles *e,
                         int warps)
{
    int Br = x->choices.Br;
    e->m = tile_new(r, TENSOR_SHARED, Br, warps);
    e->l = tile_new(r, TENSOR_SHARED, Br, warps);
    e->Y = tile_new(r, TENSOR_SHARED, warps * Br, (int)x->head->D);
    e->all_m = tile_new(r, TENSOR_SCRATCH, Br, warps);
    e->all_l = tile_new(r, TENSOR_SCRATCH, Br, warps);
    fill(r, e->m, -INFINITY); /* of a warp without keys, for ever */
}

/* What the rows see of the warp's keys. */
static struct visible seen_of(const struct state *s, struct part keys)
{
    struct visible v = s->visible;
    int left = v.count - keys.first;
    v.col0 += keys.first;
    v.cols = keys.count;
    v.count = left < 0 ? 0 : left < keys.count ? left : keys.count;
    return v;
}

/* Every warp: scores of its keys, their maxima; then all know the maximum. */
static void maxima(struct run *r, const struct attention *x, struct state *s, struct slice *own,
                   struct exchange_tiles *e, int warps)
{
    for (int w = 0; w < warps; w++) {
        struct slice *c = &own[w];
        if (c->keys.count == 0)
            continue;
        r->where.warp = (uint32_t)w;
        take_block(r, c->Q, s->Q, 0, 0);
        take_block(r, c->K, s->K, c->keys.first, 0);
        mma_abt(r, c->S, c->Q, c->K, SITE_SCORE_ACC);
        put_block(r, s->S, 0, c->keys.first, c->S);
    }
                                                                        note(r, STEP_QK, s->S);
    scale_scores(r, x, s);
    hide_unseen(r, s);
    for (int w = 0; w < warps; w++) {
        struct slice *c = &own[w];
        if (c->keys.count == 0)
            continue;
        struct visible seen = seen_of(s, c->keys);
        r->where.warp = (uint32_t)w;
        take_block(r, c->S, s->S, 0, c->keys.first);
        mask(r, c->S, &seen);
        fill(r, c->m, -INFINITY);
        row_max(r, c->m, c->S);
        put_block(r, e->m, 0, w, c->m);
    }
    for (int w = 0; w < warps; w++) {
        r->where.warp = (uint32_t)w;
        take_block(r, e->all_m, e->m, 0, 0);
    }
    copy(r, s->decay, s->m);
    row_max(r, s->m, e->all_m);                                         note(r, STEP_ROW_MAX, s->m);
}

/* Every warp: the sum of its weights and their part of P V, from zero, into shared memory. */
static void partial_results(struct run *r, struct state *s, struct slice *own,
                            struct exchange_tiles *e, int Br, int warps)
{
    exp_shift(r, s->P, s->S, s->m, SITE_EXP_ARG, SITE_EXP);             note(r, STEP_EXP, s->P);
    for (int w = 0; w < warps; w++) {
        struct slice *c = &own[w];
        if (c->keys.count == 0)
            continue;
        struct visible seen = seen_of(s, c->keys);
        r->where.warp = (uint32_t)w;
        take_block(r, c->P, s->P, 0, c->keys.first);
        mask(r, c->P, &seen);
        fill(r, c->l, 0);
        row_sum(r, c->l, c->P, SITE_ROW_SUM);
        put_block(r, e->l, 0, w, c->l);
    }
    round_at(r, s->P, SITE_PROB); /* after the sum: l keeps unrounded P */
                                                                        note(r, STEP_ROUND_P, s->P);
    for (int w = 0; w < warps; w++) {
        struct slice *c = &own[w];
        if (c->keys.count == 0)
            continue;
        struct visible seen = seen_of(s, c->keys);
        r->where.warp = (uint32_t)w;
        take_block(r, c->P, s->P, 0, c->keys.first);
        mask(r, c->P, &seen);
        take_block(r, c->V, s->V, c->keys.first, 0);
        fill(r, c->Y, 0);
        mma_ab(r, c->Y, c->P, c->V, SITE_PV_PRODUCT, SITE_OUT_ACC);     note(r, STEP_PV, c->Y);
        put_block(r, e->Y, w * Br, 0, c->Y);
    }
}

/* Every warp: all sums; of its columns of O, all partial outputs. */
static void put_together(struct run *r, struct state *s, struct slice *own,
                         struct exchange_tiles *e, int Br, int warps)
{
    for (int w = 0; w < warps; w++) {
        struct slice *c = &own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, e->all_l, e->l, 0, 0);
        if (c->columns.count == 0)
            continue;
        take_block(r, c->O, s->O, 0, c->columns.first);
        for (int v = 0; v < warps; v++) {
            if (own[v].keys.count == 0)
                continue;
            take_block(r, c->piece, e->Y, v * Br, c->columns.first);
            add(r, c->O, c->O, c->piece, SITE_OUT_ACC);
        }
        put_block(r, s->O, 0, c->columns.first, c->O);
    }
    row_sum(r, s->l, e->all_l, SITE_ROW_SUM);                           note(r, STEP_ROW_SUM, s->l);
                                                                        note(r, STEP_PV, s->O);
}

void split_k(struct run *r, struct attention *x)
{
    struct state s;
    struct slice own[MOST_WARPS] = {0};
    struct exchange_tiles e;
    int warps = warps_of(x), Br = x->choices.Br, tiles = key_tiles(x);
    state_new(r, x, &s);
    exchange_new(r, x, &e, warps);
    for (int w = 0; w < warps; w++)
        slice_new(r, x, &own[w], warps, w);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        for (int j = 0; j < tiles; j++) {
            if (!state_enter(r, x, &s, i, j))
                continue;
            maxima(r, x, &s, own, &e, warps);
            rescale_state(r, &s);
            partial_results(r, &s, own, &e, Br, warps);
            put_together(r, &s, own, &e, Br, warps);
        }
        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, s.O, s.O, s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &s, i);
    }
}
