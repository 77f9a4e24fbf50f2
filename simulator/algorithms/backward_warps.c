/* backward_warps.c: FlashAttention-2's backward tile shared out among the warps of its block.

   By rows, as FlashAttention-2 does: a warp has its rows of S, dP and dQ.  dV and dK sum over all
   rows, so P and dS, as the products take them, go through shared memory and each warp makes its
   keys' rows of dV and dK: no sum is cut, the bits are those of backward.c, yet warps wait.
   By keys, as FlashAttention-1 does: dV and dK are a warp's own, but dQ sums over all keys: each
   warp's part, from zero, goes through shared memory; they are added in the order of the warps. */
#include "simulator/algorithms/backward_parts.h"
#include "simulator/algorithms/warps.h"

/* A warp's own: its rows of a tile, its keys, its columns of dQ.  Slices have that many rows or
   columns; `all_` tiles are whole. */
struct worker {
    struct part rows, keys, columns;
    struct tile *Q, *dO, *S, *dP, *dS, *dQ;         /* its rows */
    struct tile *K, *V, *S_k, *dP_k, *P_k, *dS_k;   /* its keys */
    struct tile *dK, *dV, *Y;                       /* keys x D; Br x D */
    struct tile *all_Q, *all_dO, *all_K, *all_V;
    struct tile *piece, *sum;                       /* Br x columns */
};

struct warps {
    int count, row_workers, key_workers;
    struct worker own[MOST_WARPS];
    struct tile *P, *dS; /* shared */
    struct tile *Y;      /* shared: a part of dQ for each warp */
};

static void worker_new(struct run *r, const struct attention *x, struct worker *c, int warps, int w)
{
    int Br = x->choices.Br, Bc = x->choices.Bc, D = (int)x->head->D;
    c->rows = part_of(Br, warps, w);
    c->keys = part_of(Bc, warps, w);
    c->columns = part_of(D, warps, w);
    struct {
        struct tile **tile;
        int rows, cols;
    } tiles[] = {
        {&c->Q, c->rows.count, D},     {&c->dO, c->rows.count, D},   {&c->dQ, c->rows.count, D},
        {&c->S, c->rows.count, Bc},    {&c->dP, c->rows.count, Bc},  {&c->dS, c->rows.count, Bc},
        {&c->K, c->keys.count, D},     {&c->V, c->keys.count, D},    {&c->dK, c->keys.count, D},
        {&c->dV, c->keys.count, D},    {&c->S_k, Br, c->keys.count}, {&c->dP_k, Br, c->keys.count},
        {&c->P_k, Br, c->keys.count},  {&c->dS_k, Br, c->keys.count}, {&c->Y, Br, D},
        {&c->piece, Br, c->columns.count}, {&c->sum, Br, c->columns.count},
        {&c->all_Q, Br, D}, {&c->all_dO, Br, D}, {&c->all_K, Bc, D}, {&c->all_V, Bc, D},
    };
    for (size_t n = 0; n < sizeof tiles / sizeof *tiles; n++)
        if (tiles[n].rows > 0 && tiles[n].cols > 0)
            *tiles[n].tile = tile_new(r, TENSOR_SCRATCH, tiles[n].rows, tiles[n].cols);
}

static void warps_new(struct run *r, const struct attention *x, struct warps *all)
{
    int Br = x->choices.Br, Bc = x->choices.Bc;
    *all = (struct warps){.count = warps_of(x)};
    all->row_workers = workers_of(Br, all->count);
    all->key_workers = workers_of(Bc, all->count);
    all->P = tile_new(r, TENSOR_SHARED_P, Br, Bc);
    all->dS = tile_new(r, TENSOR_SHARED_DS, Br, Bc);
    all->Y = tile_new(r, TENSOR_SHARED, all->count * Br, (int)x->head->D);
    for (int w = 0; w < all->count; w++)
        worker_new(r, x, &all->own[w], all->count, w);
}

/* dV += P^T dO, dK += dS^T Q: the rows of the warp's keys, from the columns it has of P and dS. */
static void own_key_gradients(struct run *r, struct backward *b, struct worker *c)
{
    struct visible seen = seen_of_keys(&b->s.visible, c->keys);
    mask(r, c->P_k, &seen);
    mask(r, c->dS_k, &seen);
    take_block(r, c->dV, b->dV, c->keys.first, 0);
    take_block(r, c->dK, b->dK, c->keys.first, 0);
    mma_atb(r, c->dV, c->P_k, c->all_dO, SITE_NONE, SITE_DV_ACC);
    mma_atb(r, c->dK, c->dS_k, c->all_Q, SITE_NONE, SITE_DK_ACC);
    put_block(r, b->dV, c->keys.first, 0, c->dV);
    put_block(r, b->dK, c->keys.first, 0, c->dK);
}

/* --- by rows */

static void rows_of_scores(struct run *r, struct backward *b, struct warps *all)
{
    for (int w = 0; w < all->row_workers; w++) {
        struct worker *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->Q, b->s.Q, c->rows.first, 0);
        take_block(r, c->all_K, b->s.K, 0, 0);
        mma_abt(r, c->S, c->Q, c->all_K, SITE_SCORE_ACC);
        put_block(r, b->s.S, c->rows.first, 0, c->S);
        take_block(r, c->dO, b->dO, c->rows.first, 0);
        take_block(r, c->all_V, b->s.V, 0, 0);
        mma_abt(r, c->dP, c->dO, c->all_V, SITE_DP_ACC);
        put_block(r, b->dP, c->rows.first, 0, c->dP);
    }
                                                                        note(r, STEP_QK, b->s.S);
}

static void rows_into_shared_memory(struct run *r, struct backward *b, struct warps *all)
{
    for (int w = 0; w < all->row_workers; w++) {
        struct worker *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->S, b->weight, c->rows.first, 0);
        put_block(r, all->P, c->rows.first, 0, c->S);
        take_block(r, c->dS, b->dS, c->rows.first, 0);
        put_block(r, all->dS, c->rows.first, 0, c->dS);
    }
}

static void rows_of_dq(struct run *r, struct backward *b, struct warps *all)
{
    for (int w = 0; w < all->row_workers; w++) {
        struct worker *c = &all->own[w];
        struct visible seen = seen_by_rows(&b->s.visible, c->rows);
        r->where.warp = (uint32_t)w;
        mask(r, c->dS, &seen);
        fill(r, c->dQ, 0);
        mma_ab(r, c->dQ, c->dS, c->all_K, SITE_NONE, SITE_DQ_ACC);
        put_block(r, b->part, c->rows.first, 0, c->dQ);
    }
                                                                        note(r, STEP_DQ, b->part);
}

static void fold_by_rows(struct run *r, struct attention *x, struct backward *b, void *with, int i,
                         int j)
{
    struct warps *all = with;
    rows_of_scores(r, b, all);
    reweigh(r, x, b); /* from here to dS every warp works on its own rows */
                                                                        note(r, STEP_DP, b->dP);
    score_gradients(r, b);
    sum_score_gradients(r, x, b, i);
    rows_into_shared_memory(r, b, all);
    for (int w = 0; w < all->key_workers; w++) {
        struct worker *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->P_k, all->P, 0, c->keys.first);
        take_block(r, c->dS_k, all->dS, 0, c->keys.first);
        take_block(r, c->all_dO, b->dO, 0, 0);
        take_block(r, c->all_Q, b->s.Q, 0, 0);
        own_key_gradients(r, b, c);
    }
                                                                        note(r, STEP_DV, b->dV);
                                                                        note(r, STEP_DK, b->dK);
    rows_of_dq(r, b, all);
    add_to_dq(r, x, b->dQ, b->part, i, j);
}

/* --- by keys */

static void keys_of_scores(struct run *r, struct backward *b, struct warps *all)
{
    for (int w = 0; w < all->key_workers; w++) {
        struct worker *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->all_Q, b->s.Q, 0, 0);
        take_block(r, c->K, b->s.K, c->keys.first, 0);
        mma_abt(r, c->S_k, c->all_Q, c->K, SITE_SCORE_ACC);
        put_block(r, b->s.S, 0, c->keys.first, c->S_k);
        take_block(r, c->all_dO, b->dO, 0, 0);
        take_block(r, c->V, b->s.V, c->keys.first, 0);
        mma_abt(r, c->dP_k, c->all_dO, c->V, SITE_DP_ACC);
        put_block(r, b->dP, 0, c->keys.first, c->dP_k);
    }
                                                                        note(r, STEP_QK, b->s.S);
}

/* Every warp: of its columns, all parts. */
static void parts_of_dq(struct run *r, struct backward *b, struct warps *all, int Br)
{
    for (int w = 0; w < all->count && all->own[w].columns.count > 0; w++) {
        struct worker *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        fill(r, c->sum, 0);
        for (int v = 0; v < all->key_workers; v++) {
            take_block(r, c->piece, all->Y, v * Br, c->columns.first);
            add(r, c->sum, c->sum, c->piece, SITE_DQ_ACC);
        }
        put_block(r, b->part, 0, c->columns.first, c->sum);
    }
                                                                        note(r, STEP_DQ, b->part);
}

static void fold_by_keys(struct run *r, struct attention *x, struct backward *b, void *with, int i,
                         int j)
{
    struct warps *all = with;
    keys_of_scores(r, b, all);
    reweigh(r, x, b);
                                                                        note(r, STEP_DP, b->dP);
    score_gradients(r, b);
    sum_score_gradients(r, x, b, i);
    for (int w = 0; w < all->key_workers; w++) {
        struct worker *c = &all->own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->P_k, b->weight, 0, c->keys.first);
        take_block(r, c->dS_k, b->dS, 0, c->keys.first);
        own_key_gradients(r, b, c);
        fill(r, c->Y, 0);
        mma_ab(r, c->Y, c->dS_k, c->K, SITE_NONE, SITE_DQ_ACC);
        put_block(r, all->Y, w * x->choices.Br, 0, c->Y);
    }
                                                                        note(r, STEP_DV, b->dV);
                                                                        note(r, STEP_DK, b->dK);
    parts_of_dq(r, b, all, x->choices.Br);
    add_to_dq(r, x, b->dQ, b->part, i, j);
}

static void share_tiles(struct run *r, struct attention *x, fold_tiles *fold_pair)
{
    struct backward b;
    struct warps all;
    backward_new(r, x, &b);
    warps_new(r, x, &all);
    backward_tiles(r, x, &b, fold_pair, &all);
}

void backward_by_rows(struct run *r, struct attention *x)
{
    share_tiles(r, x, fold_by_rows);
}

void backward_by_keys(struct run *r, struct attention *x)
{
    share_tiles(r, x, fold_by_keys);
}
