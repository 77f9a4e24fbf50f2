/* fa2.c: FlashAttention-2, forward.  arXiv 2307.08691, Algorithm 1.

   One query tile walks the key tiles (ascending as printed, or descending as shipped) with a running
   maximum m, a running sum of weights l and an unnormalised output O.  One division at the end; of
   the softmax only L = m + ln l is stored.  The paper prints an inverse on diag(e^(m_old - m)):
   taken literally that is the wrong direction; the factor multiplies. */
#include "simulator/algorithms/state.h"

/* Fold the key tile just entered into the running softmax.
   Invariant before and after:  O = sum e^(s - m) v  and  l = sum e^(s - m)
   over every key folded so far, with m their largest score. */
static void fold_key_tile(struct run *r, struct attention *x, struct state *s)
{
    scores(r, x, s);
    hide_unseen(r, s);

    copy(r, s->decay, s->m);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    exp_shift(r, s->decay, s->decay, s->m, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, s->l, s->l, s->decay, SITE_ROW_SUM); /* decay = e^(m_old - m) <= 1 */
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->decay);
                                                                        note(r, STEP_RESCALE, s->l);
                                                                        note(r, STEP_RESCALE, s->O);
    exp_shift(r, s->P, s->S, s->m, SITE_EXP_ARG, SITE_EXP);             note(r, STEP_EXP, s->P);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB); /* after the sum: l keeps unrounded P */
                                                                        note(r, STEP_ROUND_P, s->P);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
}

void flash_attention_2(struct run *r, struct attention *x)
{
    struct state s;
    int tiles = key_tiles(x);
    state_new(r, x, &s);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        for (int n = 0; n < tiles; n++)
            if (state_enter(r, x, &s, i, x->choices.descending ? tiles - 1 - n : n))
                fold_key_tile(r, x, &s);

        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, s.O, s.O, s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &s, i);
    }
}
