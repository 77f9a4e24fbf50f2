/* online.c: the online softmax, normalised at every step: one key at a time, or by tiles as a blog
   prints its FA1 kernel (right, ragged tails included).

   After each step O is attention over the keys seen so far:
   O = (w / l) O + sum (p / l) v,  w = e^(m_old - m) l_old,  l = w + sum p.
   Milakov and Gimelshein, arXiv 1805.02867, for m and l (their d). */
#include "simulator/algorithms/state.h"

/* w and the quotients that divide_summed needs room for. */
struct earlier {
    struct tile *w, *w_quotient, *P_quotient;
};

static void fold_normalised(struct run *r, struct attention *x, struct state *s,
                            struct earlier *e)
{
    scores(r, x, s);
    hide_unseen(r, s);
    copy(r, s->decay, s->m);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    exp_shift(r, s->decay, s->decay, s->m, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, e->w, s->l, s->decay, SITE_ROW_SUM);
    exp_shift(r, s->P, s->S, s->m, SITE_EXP_ARG, SITE_EXP);             note(r, STEP_EXP, s->P);
    copy(r, s->l, e->w);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);

    divide_summed(r, e->w, e->w_quotient, s->l);
    divide_summed(r, s->P, e->P_quotient, s->l);                        note(r, STEP_WEIGHT, s->P);
    anchor(r, NULL, 0); /* P / l and O are normalised */
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    mul(r, s->O, s->O, e->w, SITE_RESCALE_OUT);                         note(r, STEP_RESCALE, s->O);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
    anchor(r, s->m, 1);
}

/* `online` comes with key tiles of 1, `fa1-printed` with whole ones. */
void online_softmax(struct run *r, struct attention *x)
{
    struct state s;
    int tiles = key_tiles(x);
    state_new(r, x, &s);
    int Br = x->choices.Br;
    struct earlier e = {tile_new(r, TENSOR_L_OLD, Br, 1), tile_new(r, TENSOR_L_OLD, Br, 1),
                        tile_new(r, TENSOR_P, Br, x->choices.Bc)};
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        s.O->name = TENSOR_O;
        for (int j = 0; j < tiles; j++)
            if (state_enter(r, x, &s, i, j))
                fold_normalised(r, x, &s, &e);
        settle_rows(r, x, &s, i);
        finish(r, x, &s, i);
    }
}
