/* fa1.c: FlashAttention-1, forward.  arXiv 2205.14135, Algorithm 1.

   The outer loop walks the key tiles, the inner one the query tiles, so m, l and O of every row are
   read and written again for every key tile.  O is normalised in every block: a tile's own softmax,
   relative to the tile's maximum, is merged with what is already there.  The shipped kernel keeps
   only the LSE between blocks; that is the kernel model's matter. */
#include "simulator/algorithms/state.h"

#include <math.h>
#include <stdlib.h>

/* What the merge needs beside the state: the tile's own maximum, sum and product. */
struct block {
    struct tile *m_tile, *m_new, *growth, *l_tile, *l_old, *Y, *quotient;
};

static void block_new(struct run *r, const struct attention *x, struct block *b)
{
    int Br = x->choices.Br;
    b->m_tile = tile_new(r, TENSOR_M_TILE, Br, 1);
    b->m_new = tile_new(r, TENSOR_M, Br, 1);
    b->growth = tile_new(r, TENSOR_GROWTH, Br, 1);
    b->l_tile = tile_new(r, TENSOR_L_TILE, Br, 1);
    b->l_old = tile_new(r, TENSOR_L_OLD, Br, 1);
    b->Y = tile_new(r, TENSOR_Y, Br, (int)x->head->D);
    b->quotient = tile_new(r, TENSOR_O, Br, (int)x->head->D);
}

/* The tile's own softmax, unnormalised: m_tile, P, l_tile, Y = P V. */
static void own_softmax(struct run *r, struct attention *x, struct state *s, struct block *b)
{
    scores(r, x, s);
    hide_unseen(r, s);
    fill(r, b->m_tile, -INFINITY);
    fill(r, b->l_tile, 0);
    fill(r, b->Y, 0);
    anchor(r, b->m_tile, 1);
    row_max(r, b->m_tile, s->S);                                        note(r, STEP_ROW_MAX, b->m_tile);
    exp_shift(r, s->P, s->S, b->m_tile, SITE_EXP_ARG, SITE_EXP);        note(r, STEP_EXP, s->P);
    row_sum(r, b->l_tile, s->P, SITE_ROW_SUM);                          note(r, STEP_ROW_SUM, b->l_tile);
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    mma_ab(r, b->Y, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, b->Y);
}

/* O = (l e^(m - m_new) O + e^(m_tile - m_new) Y) / l_new, with the new m and l. */
static void merge(struct run *r, struct state *s, struct block *b)
{
    max_(r, b->m_new, s->m, b->m_tile);
    exp_shift(r, s->decay, s->m, b->m_new, SITE_RESCALE_ARG, SITE_RESCALE);
    exp_shift(r, b->growth, b->m_tile, b->m_new, SITE_RESCALE_ARG, SITE_RESCALE);
    copy(r, s->m, b->m_new);                                            note(r, STEP_ROW_MAX, b->m_new);
    anchor(r, s->m, 1);
    mul(r, b->l_old, s->l, s->decay, SITE_ROW_SUM);                     note(r, STEP_RESCALE, b->l_old);
    mul(r, b->l_tile, b->l_tile, b->growth, SITE_ROW_SUM);              note(r, STEP_RESCALE, b->l_tile);
    add(r, s->l, b->l_old, b->l_tile, SITE_ROW_SUM);                    note(r, STEP_MERGE, s->l);

    s->O->name = TENSOR_O_ACC;
    mul(r, s->O, s->O, b->l_old, SITE_RESCALE_OUT);
    mul(r, b->Y, b->Y, b->growth, SITE_RESCALE_OUT);
    add(r, s->O, s->O, b->Y, SITE_OUT_ACC);                             note(r, STEP_MERGE, s->O);
    s->O->name = TENSOR_O;
    divide_summed(r, s->O, b->quotient, s->l);                          note(r, STEP_NORMALIZE, s->O);
}

void flash_attention_1(struct run *r, struct attention *x)
{
    int rows = query_tiles(x), tiles = key_tiles(x);
    struct state *s = calloc((size_t)rows + 1, sizeof *s);
    struct block b;
    if (s == NULL)
        abort();
    state_new(r, x, &s[0]);
    block_new(r, x, &b);
    for (int i = 0; i < rows; i++) {
        if (i > 0) {
            s[i] = s[0];
            state_own(r, x, &s[i]);
        }
        state_begin(r, x, &s[i], i);
    }
    for (int j = 0; j < tiles; j++)
        for (int i = 0; i < rows; i++) {
            if (!state_enter(r, x, &s[i], i, j))
                continue;
            load_q(r, x, s[i].Q, i);
            own_softmax(r, x, &s[i], &b);
            merge(r, &s[i], &b);
        }
    for (int i = 0; i < rows; i++) {
        r->where.i = (uint32_t)i;
        settle_rows(r, x, &s[i], i);
        finish(r, x, &s[i], i);
    }
    free(s);
}
