/* fa2_printed.c: the FlashAttention-2 kernel as one blog printed it, with its three faults, each a
   switch; with none of them it is fa2, the corrected loop.

   tile-max      e^(s - m_t) with the tile's own maximum, while l and O are relative to the running m
   zero-start    m starts at 0 instead of -inf
   no-tail-mask  a last tile that is not full counts its empty places as scores 0, values 0 */
#include "simulator/algorithms/state.h"

#include <math.h>

static bool has(const struct attention *x, enum fault f)
{
    return x->choices.faults >> f & 1;
}

static void fold_as_printed(struct run *r, struct attention *x, struct state *s,
                            struct tile *m_tile)
{
    scores(r, x, s);
    if (!tail_unmasked(x, (int)r->where.j))
        hide_unseen(r, s);
    fill(r, m_tile, -INFINITY);
    row_max(r, m_tile, s->S);                                           note(r, STEP_ROW_MAX, m_tile);
    copy(r, s->decay, s->m);
    max_(r, s->m, s->m, m_tile);                                        note(r, STEP_ROW_MAX, s->m);
    exp_shift(r, s->decay, s->decay, s->m, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, s->l, s->l, s->decay, SITE_ROW_SUM);
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->decay);
                                                                        note(r, STEP_RESCALE, s->l);
                                                                        note(r, STEP_RESCALE, s->O);
    exp_shift(r, s->P, s->S, has(x, FAULT_TILE_MAX) ? m_tile : s->m, SITE_EXP_ARG, SITE_EXP);
                                                                        note(r, STEP_EXP, s->P);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
}

void flash_attention_2_printed(struct run *r, struct attention *x)
{
    struct state s;
    int tiles = key_tiles(x);
    state_new(r, x, &s);
    struct tile *m_tile = tile_new(r, TENSOR_M_TILE, x->choices.Br, 1);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        if (has(x, FAULT_ZERO_START))
            fill(r, s.m, 0);
        for (int j = 0; j < tiles; j++)
            if (state_enter(r, x, &s, i, j))
                fold_as_printed(r, x, &s, m_tile);
        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, s.O, s.O, s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &s, i);
    }
}
