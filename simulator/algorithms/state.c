/* state.c: the beginning and the end that all algorithms share. */
#include "simulator/algorithms/state.h"

#include <math.h>

void state_own(struct run *r, const struct attention *x, struct state *s)
{
    s->m = tile_new(r, TENSOR_M, x->choices.Br, 1);
    s->l = tile_new(r, TENSOR_L_SUM, x->choices.Br, 1);
    s->O = tile_new(r, TENSOR_O_ACC, x->choices.Br, (int)x->head->D);
}

void state_new(struct run *r, const struct attention *x, struct state *s)
{
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc;
    const struct problem *p = x->head->problem;
    s->Q = tile_new(r, TENSOR_Q, Br, D);
    s->K = tile_new(r, TENSOR_K, Bc, D);
    s->V = tile_new(r, TENSOR_V, Bc, D);
    s->S = tile_new(r, TENSOR_S, Br, Bc);
    s->P = tile_new(r, TENSOR_P, Br, Bc);
    s->decay = tile_new(r, TENSOR_DECAY, Br, 1);
    s->L = tile_new(r, TENSOR_LSE, Br, 1);
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->cap = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->tanh = NULL;
    state_own(r, x, s);
    constant(r, s->scale, (struct real){p->scale.value, p->scale.root, REAL_PLAIN});
    if (p->softcap > 0)
        constant(r, s->cap, (struct real){p->softcap, 1, REAL_PLAIN});
}

void state_empty(struct run *r, struct state *s)
{
    s->O->name = TENSOR_O_ACC;
    fill(r, s->m, -INFINITY);
    fill(r, s->l, 0);
    fill(r, s->O, 0);
}

void state_begin(struct run *r, const struct attention *x, struct state *s, int i)
{
    r->where.i = (uint32_t)i;
    state_empty(r, s);
    load_q(r, x, s->Q, i);
    anchor(r, s->m, 1);
}

bool state_meet(struct run *r, const struct attention *x, struct state *s, int i, int j)
{
    s->visible = visible_tile(x, i, j);
    if (!visible_any(&s->visible, x->choices.Br))
        return false;
    r->where.i = (uint32_t)i;
    r->where.j = (uint32_t)j;
    return true;
}

bool state_enter(struct run *r, const struct attention *x, struct state *s, int i, int j)
{
    if (!state_meet(r, x, s, i, j))
        return false;
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    return true;
}

void scale_scores(struct run *r, const struct attention *x, struct state *s)
{
    mul(r, s->S, s->S, s->scale, SITE_SCORE);                           note(r, STEP_SCALE, s->S);
    if (x->head->problem->softcap > 0) {
        div_(r, s->S, s->S, s->cap, SITE_SOFTCAP);
        tanh_(r, s->S, s->S, SITE_SOFTCAP);
        if (s->tanh != NULL)
            copy(r, s->tanh, s->S);
        mul(r, s->S, s->S, s->cap, SITE_SOFTCAP);                       note(r, STEP_SOFTCAP, s->S);
    }
}

void scores(struct run *r, const struct attention *x, struct state *s)
{
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    scale_scores(r, x, s);
}

void hide_unseen(struct run *r, struct state *s)
{
    mask(r, s->S, &s->visible);                                         note(r, STEP_MASK, s->S);
}

void divide_summed(struct run *r, struct tile *dst, struct tile *quotient, const struct tile *l)
{
    div_(r, quotient, dst, l, SITE_NORMALIZE);
    select_bad(r, dst, quotient, l, dst);
}

void settle_rows(struct run *r, const struct attention *x, struct state *s, int i)
{
    struct visible seen = visible_tiles(x, i, 0, key_tiles(x) - 1);
    divide_rows(r, s->decay, s->l, s->l, &seen, SITE_NORMALIZE); /* 0 / 0, 0 unseen, else 1 */
    select_bad(r, s->O, s->O, s->l, s->decay);
}

void conclude(struct run *r, struct attention *x, struct state *s, int i)
{
    round_at(r, s->O, SITE_OUT);                                        note(r, STEP_STORE, s->O);
    store(r, x, i, s->O, s->L);
}

void finish(struct run *r, struct attention *x, struct state *s, int i)
{
    s->O->name = TENSOR_O;                                              note(r, STEP_NORMALIZE, s->O);
    log_(r, s->L, s->l, SITE_LSE);
    add(r, s->L, s->m, s->L, SITE_LSE);                                 note(r, STEP_LSE, s->L);
    conclude(r, x, s, i);
}
