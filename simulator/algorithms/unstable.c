/* unstable.c: what happens when tile maxima are used without rescaling: not attention.

   Every tile's weights are relative to that tile's own maximum and are summed as they are.  The
   result weighs tile t by W_t = sum e^(s - m_t) instead of e^(m_t) W_t, so it agrees with attention
   when all tile maxima are equal, when there is one tile, or when the values happen to hide it.
   A blog calls it experimental.  Fault no-tail-mask leaves its ragged tail unmasked as printed. */
#include "simulator/algorithms/state.h"

#include <math.h>

void unstable_softmax(struct run *r, struct attention *x)
{
    struct state s;
    int tiles = key_tiles(x);
    state_new(r, x, &s);
    struct tile *m_tile = tile_new(r, TENSOR_M_TILE, x->choices.Br, 1);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        for (int j = 0; j < tiles; j++) {
            if (!state_enter(r, x, &s, i, j))
                continue;
            scores(r, x, &s);
            if (!tail_unmasked(x, j))
                hide_unseen(r, &s);
            fill(r, m_tile, -INFINITY);
            row_max(r, m_tile, s.S);                                    note(r, STEP_ROW_MAX, m_tile);
            max_(r, s.m, s.m, m_tile);
            anchor(r, NULL, 0); /* l and O are relative to no one maximum: that is the mistake */
            exp_shift(r, s.P, s.S, m_tile, SITE_EXP_ARG, SITE_EXP);     note(r, STEP_EXP, s.P);
            row_sum(r, s.l, s.P, SITE_ROW_SUM);                         note(r, STEP_ROW_SUM, s.l);
            round_at(r, s.P, SITE_PROB);                                note(r, STEP_ROUND_P, s.P);
            mma_ab(r, s.O, s.P, s.V, SITE_PV_PRODUCT, SITE_OUT_ACC);    note(r, STEP_PV, s.O);
        }
        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, s.O, s.O, s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &s, i);
    }
}
