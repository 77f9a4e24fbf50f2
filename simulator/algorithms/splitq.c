/* splitq.c: FlashAttention-2's tile shared out by rows: each warp has a slice of Q and O and reads
   all of K and V.  A row belongs to one warp, so nothing but K and V is in shared memory and no warp
   waits for another's results; the bits are those of fa2 (arXiv 2307.08691, section 3.3). */
#include "simulator/algorithms/warps.h"

struct slice {
    struct part rows;
    struct tile *Q, *K, *V, *S, *P, *O;
};

static void slice_new(struct run *r, const struct attention *x, struct slice *c, int warps, int w)
{
    int D = (int)x->head->D, Bc = x->choices.Bc;
    c->rows = part_of(x->choices.Br, warps, w);
    c->Q = tile_new(r, TENSOR_SCRATCH, c->rows.count, D);
    c->K = tile_new(r, TENSOR_SCRATCH, Bc, D);
    c->V = tile_new(r, TENSOR_SCRATCH, Bc, D);
    c->S = tile_new(r, TENSOR_SCRATCH, c->rows.count, Bc);
    c->P = tile_new(r, TENSOR_SCRATCH, c->rows.count, Bc);
    c->O = tile_new(r, TENSOR_SCRATCH, c->rows.count, D);
}

static void own_scores(struct run *r, struct state *s, struct slice *own, int workers)
{
    for (int w = 0; w < workers; w++) {
        struct slice *c = &own[w];
        r->where.warp = (uint32_t)w;
        take_block(r, c->Q, s->Q, c->rows.first, 0);
        take_block(r, c->K, s->K, 0, 0);
        mma_abt(r, c->S, c->Q, c->K, SITE_SCORE_ACC);
        put_block(r, s->S, c->rows.first, 0, c->S);
    }
                                                                        note(r, STEP_QK, s->S);
}

/* O = O + P V, each warp its rows. */
static void own_outputs(struct run *r, struct state *s, struct slice *own, int workers)
{
    for (int w = 0; w < workers; w++) {
        struct slice *c = &own[w];
        struct visible seen = seen_by_rows(&s->visible, c->rows);
        r->where.warp = (uint32_t)w;
        take_block(r, c->V, s->V, 0, 0);
        take_block(r, c->P, s->P, c->rows.first, 0);
        mask(r, c->P, &seen);
        take_block(r, c->O, s->O, c->rows.first, 0);
        mma_ab(r, c->O, c->P, c->V, SITE_PV_PRODUCT, SITE_OUT_ACC);
        put_block(r, s->O, c->rows.first, 0, c->O);
    }
                                                                        note(r, STEP_PV, s->O);
}

void split_q(struct run *r, struct attention *x)
{
    struct state s;
    struct slice own[MOST_WARPS] = {0};
    int warps = warps_of(x), workers = workers_of(x->choices.Br, warps), tiles = key_tiles(x);
    state_new(r, x, &s);
    for (int w = 0; w < workers; w++)
        slice_new(r, x, &own[w], warps, w);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        for (int j = 0; j < tiles; j++) {
            if (!state_enter(r, x, &s, i, j))
                continue;
            own_scores(r, &s, own, workers);
            scale_scores(r, x, &s); /* from here to P every warp works on its own rows */
            hide_unseen(r, &s);
            copy(r, s.decay, s.m);
            row_max(r, s.m, s.S);                                       note(r, STEP_ROW_MAX, s.m);
            rescale_state(r, &s);
            exp_shift(r, s.P, s.S, s.m, SITE_EXP_ARG, SITE_EXP);        note(r, STEP_EXP, s.P);
            row_sum(r, s.l, s.P, SITE_ROW_SUM);                         note(r, STEP_ROW_SUM, s.l);
            round_at(r, s.P, SITE_PROB);                                note(r, STEP_ROUND_P, s.P);
            own_outputs(r, &s, own, workers);
        }
        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, s.O, s.O, s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &s, i);
    }
}
