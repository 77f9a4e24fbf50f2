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

struct warps {
    int count, workers; /* workers: those that have keys */
    struct slice own[MOST_WARPS];
    struct tile *weight;        /* P as the value product takes it: l keeps the unrounded */
    struct tile *m, *l, *Y;     /* shared: Br x warps twice, warps Br x D */
    struct tile *all_m, *all_l; /* the copies a warp reads */
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

static void warps_new(struct run *r, const struct attention *x, struct warps *all)
{
    int Br = x->choices.Br, Bc = x->choices.Bc, count = warps_of(x);
    *all = (struct warps){.count = count, .workers = workers_of(Bc, count)};
    all->weight = tile_new(r, TENSOR_P, Br, Bc);
    all->m = tile_new(r, TENSOR_SHARED, Br, count);
    all->l = tile_new(r, TENSOR_SHARED, Br, count);
    all->Y = tile_new(r, TENSOR_SHARED, count * Br, (int)x->head->D);
    all->all_m = tile_new(r, TENSOR_SCRATCH, Br, count);
    all->all_l = tile_new(r, TENSOR_SCRATCH, Br, count);
    fill(r, all->m, -INFINITY); /* of a warp without keys, for ever */
    for (int w = 0; w < count; w++)
        slice_new(r, x, &all->own[w], count, w);
}

/* Every worker: scores of its keys, their maxima; then every warp knows the maximum. */
static void maxima(struct run *r, const struct attention *x, struct state *s, struct warps *all)
{
    for (int w = 0; w < all->workers; w++) {
        struct slice *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->Q, s->Q, 0, 0);
        take_block(r, c->K, s->K, c->keys.first, 0);
        mma_abt(r, c->S, c->Q, c->K, SITE_SCORE_ACC);
        put_block(r, s->S, 0, c->keys.first, c->S);
    }
                                                                        note(r, STEP_QK, s->S);
    scale_scores(r, x, s);
    hide_unseen(r, s);
    for (int w = 0; w < all->workers; w++) {
        struct slice *c = &all->own[w];
        struct visible seen = seen_of_keys(&s->visible, c->keys);
        r->where.warp = (uint32_t)w;
        take_block(r, c->S, s->S, 0, c->keys.first);
        mask(r, c->S, &seen);
        fill(r, c->m, -INFINITY);
        row_max(r, c->m, c->S);
        put_block(r, all->m, 0, w, c->m);
    }
    for (int w = 0; w < all->count; w++) {
        r->where.warp = (uint32_t)w;
        take_block(r, all->all_m, all->m, 0, 0);
    }
    copy(r, s->decay, s->m);
    row_max(r, s->m, all->all_m);                                       note(r, STEP_ROW_MAX, s->m);
}

/* Every worker: the sum of its weights and their part of P V, from zero, into shared memory. */
static void partial_results(struct run *r, struct state *s, struct warps *all, int Br)
{
    exp_shift(r, s->P, s->S, s->m, SITE_EXP_ARG, SITE_EXP);             note(r, STEP_EXP, s->P);
    copy(r, all->weight, s->P);
    round_at(r, all->weight, SITE_PROB);                                note(r, STEP_ROUND_P, all->weight);
    for (int w = 0; w < all->workers; w++) {
        struct slice *c = &all->own[w];
        struct visible seen = seen_of_keys(&s->visible, c->keys);
        r->where.warp = (uint32_t)w;
        take_block(r, c->P, s->P, 0, c->keys.first);
        mask(r, c->P, &seen);
        fill(r, c->l, 0);
        row_sum(r, c->l, c->P, SITE_ROW_SUM);
        put_block(r, all->l, 0, w, c->l);
        take_block(r, c->P, all->weight, 0, c->keys.first);
        mask(r, c->P, &seen);
        take_block(r, c->V, s->V, c->keys.first, 0);
        fill(r, c->Y, 0);
        mma_ab(r, c->Y, c->P, c->V, SITE_PV_PRODUCT, SITE_OUT_ACC);     note(r, STEP_PV, c->Y);
        put_block(r, all->Y, w * Br, 0, c->Y);
    }
}

/* Every warp: all sums; of its columns of O, all partial outputs. */
static void put_together(struct run *r, struct state *s, struct warps *all, int Br)
{
    for (int w = 0; w < all->count; w++) {
        struct slice *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, all->all_l, all->l, 0, 0);
        if (c->columns.count == 0)
            continue;
        take_block(r, c->O, s->O, 0, c->columns.first);
        for (int v = 0; v < all->workers; v++) {
            take_block(r, c->piece, all->Y, v * Br, c->columns.first);
            add(r, c->O, c->O, c->piece, SITE_OUT_ACC);
        }
        put_block(r, s->O, 0, c->columns.first, c->O);
    }
    row_sum(r, s->l, all->all_l, SITE_ROW_SUM);                         note(r, STEP_ROW_SUM, s->l);
                                                                        note(r, STEP_PV, s->O);
}

void split_k(struct run *r, struct attention *x)
{
    struct state s;
    struct warps all;
    int Br = x->choices.Br, tiles = key_tiles(x);
    state_new(r, x, &s);
    warps_new(r, x, &all);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        for (int j = 0; j < tiles; j++) {
            if (!state_enter(r, x, &s, i, j))
                continue;
            maxima(r, x, &s, &all);
            rescale_state(r, &s);
            partial_results(r, &s, &all, Br);
            put_together(r, &s, &all, Br);
        }
        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, s.O, s.O, s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &s, i);
    }
}
