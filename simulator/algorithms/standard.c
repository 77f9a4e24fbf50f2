/* standard.c: attention as three passes over memory, the baseline.

   S = Q K^T is written to memory, read for the softmax, P is written, read for P V.  Both matrices
   have Nq x Nk elements: that traffic, and the rounding of S and P to the storage format, is what
   the tiled algorithms avoid. */
#include "simulator/algorithms/state.h"

void standard_attention(struct run *r, struct attention *x)
{
    struct state s;
    state_new(r, x, &s);
    if (query_tiles(x) == 0)
        return;
    state_begin(r, x, &s, 0);
    if (state_enter(r, x, &s, 0, 0)) {
        scores(r, x, &s);
        round_at(r, s.S, SITE_SCORE_STORE);                             note(r, STEP_SCORE_STORE, s.S);
        hide_unseen(r, &s);

        row_max(r, s.m, s.S);                                           note(r, STEP_ROW_MAX, s.m);
        exp_shift(r, s.P, s.S, s.m, SITE_EXP_ARG, SITE_EXP);            note(r, STEP_EXP, s.P);
        row_sum(r, s.l, s.P, SITE_ROW_SUM);                             note(r, STEP_ROW_SUM, s.l);
        divide_rows(r, s.P, s.P, s.l, &s.visible, SITE_NORMALIZE);      note(r, STEP_WEIGHT, s.P);
        anchor(r, NULL, 0); /* from here on P and O are normalised */
        round_at(r, s.P, SITE_PROB);                                    note(r, STEP_ROUND_P, s.P);

        s.O->name = TENSOR_O;
        mma_ab(r, s.O, s.P, s.V, SITE_PV_PRODUCT, SITE_OUT_ACC);        note(r, STEP_PV, s.O);
    }
    finish(r, x, &s, 0);
}
