/* backward.c: FlashAttention-2, backward.  arXiv 2307.08691, Algorithm 2.

   The outer loop walks the key tiles, which on a GPU are thread blocks of their own, the inner one
   the query tiles.  Of the forward pass it takes O and L only: P = e^(S - L) needs neither a maximum
   nor a sum.  dK_j and dV_j grow in the loop; every key tile adds to all of dQ, which is where the
   order of arrival shows (dq.c).  P is rounded for P^T dO only: dS takes it unrounded.  The scale
   comes last, on dQ and dK. */
#include "simulator/algorithms/backward_parts.h"

void backward_new(struct run *r, struct attention *x, struct backward *b)
{
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc, Nq = Br * query_tiles(x);
    gradients_new(r, x);
    state_new(r, x, &b->s);
    b->dO = tile_new(r, TENSOR_DO, Br, D);
    b->D = tile_new(r, TENSOR_DELTA, Br, 1);
    b->weight = tile_new(r, TENSOR_P, Br, Bc);
    b->dP = tile_new(r, TENSOR_DP, Br, Bc);
    b->dS = tile_new(r, TENSOR_DS, Br, Bc);
    b->dQ = tile_new(r, TENSOR_DQ, Br, D);
    b->part = tile_new(r, TENSOR_DQ_PART, Br, D);
    b->dK = tile_new(r, TENSOR_DK, Bc, D);
    b->dV = tile_new(r, TENSOR_DV, Bc, D);
    b->sum = tile_new(r, TENSOR_DS_SUM, Br, 1);
    b->one = tile_new(r, TENSOR_CONSTANT, 1, 1);
    b->all_D = tile_new(r, TENSOR_DELTA, Nq, 1);
    b->all_sums = tile_new(r, TENSOR_DS_SUM, Nq, 1);
    if (x->head->problem->softcap > 0)
        b->s.tanh = tile_new(r, TENSOR_SLOPE, Br, Bc);
    fill(r, b->one, 1);
    anchor(r, NULL, 0);
}

/* D = rowsum(dO o O) of every query: sum_j P_j dP_j, which softmax's gradient takes off each dP. */
static void row_sums(struct run *r, struct attention *x, struct backward *b)
{
    for (int i = 0; i < query_tiles(x); i++) {
        r->where.i = (uint32_t)i;
        load_do(r, x, b->dO, i);
        recall(r, x, i, b->s.O, b->s.L);
        fill(r, b->D, 0);
        row_dot(r, b->D, b->dO, b->s.O, SITE_DELTA);                    note(r, STEP_DELTA, b->D);
        put_block(r, b->all_D, i * x->choices.Br, 0, b->D);
    }
}

/* dS = P (dP - D); under softcap times 1 - tanh^2. */
void score_gradients(struct run *r, struct backward *b)
{
    struct state *s = &b->s;
    sub(r, b->dP, b->dP, b->D, SITE_DP_SHIFT);                          note(r, STEP_DS, b->dP);
    mul(r, b->dS, s->P, b->dP, SITE_DS_PRODUCT);
    if (s->tanh != NULL) {
        mul(r, s->tanh, s->tanh, s->tanh, SITE_SOFTCAP);
        sub(r, s->tanh, b->one, s->tanh, SITE_SOFTCAP);                 note(r, STEP_DS, s->tanh);
        mul(r, b->dS, b->dS, s->tanh, SITE_DS_PRODUCT);
    }
    round_at(r, b->dS, SITE_DS);                                        note(r, STEP_DS, b->dS);
}

/* No part of the gradients: without softcap dS sums to 0 along a row; what else it sums to is
   rounding. */
void sum_score_gradients(struct run *r, struct attention *x, struct backward *b, int i)
{
    take_block(r, b->sum, b->all_sums, i * x->choices.Br, 0);
    row_sum(r, b->sum, b->dS, SITE_DS_SUM);                             note(r, STEP_DS_SUM, b->sum);
    put_block(r, b->all_sums, i * x->choices.Br, 0, b->sum);
}

void reweigh(struct run *r, struct attention *x, struct backward *b)
{
    struct state *s = &b->s;
    scale_scores(r, x, s);
    hide_unseen(r, s);
    sub(r, s->P, s->S, s->L, SITE_EXP_ARG);
    exp_(r, s->P, s->P, SITE_EXP);                                      note(r, STEP_REWEIGH, s->P);
    copy(r, b->weight, s->P);
    round_at(r, b->weight, SITE_PROB);                                  note(r, STEP_ROUND_P, b->weight);
}

static void fold_query_tile(struct run *r, struct attention *x, struct backward *b, void *with,
                            int i, int j)
{
    struct state *s = &b->s;
    (void)with;
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    reweigh(r, x, b);
    mma_atb(r, b->dV, b->weight, b->dO, SITE_NONE, SITE_DV_ACC);        note(r, STEP_DV, b->dV);
    mma_abt(r, b->dP, b->dO, s->V, SITE_DP_ACC);                        note(r, STEP_DP, b->dP);
    score_gradients(r, b);
    sum_score_gradients(r, x, b, i);
    mma_atb(r, b->dK, b->dS, s->Q, SITE_NONE, SITE_DK_ACC);             note(r, STEP_DK, b->dK);
    fill(r, b->part, 0);
    mma_ab(r, b->part, b->dS, s->K, SITE_NONE, SITE_DQ_ACC);            note(r, STEP_DQ, b->part);
    add_to_dq(r, x, b->dQ, b->part, i, j);
}

void backward_tiles(struct run *r, struct attention *x, struct backward *b, fold_tiles *fold_pair,
                    void *with)
{
    row_sums(r, x, b);
    for (int j = 0; j < key_tiles(x); j++) {
        r->where.j = (uint32_t)j;
        load_k(r, x, b->s.K, j);
        load_v(r, x, b->s.V, j);
        fill(r, b->dK, 0);
        fill(r, b->dV, 0);
        for (int i = 0; i < query_tiles(x); i++) {
            if (!state_meet(r, x, &b->s, i, j))
                continue;
            load_q(r, x, b->s.Q, i);
            load_do(r, x, b->dO, i);
            recall(r, x, i, b->s.O, b->s.L);
            take_block(r, b->D, b->all_D, i * x->choices.Br, 0);
            fold_pair(r, x, b, with, i, j);
        }
        mul(r, b->dK, b->dK, b->s.scale, SITE_GRADIENT_SCALE);          note(r, STEP_GRADIENT, b->dK);
                                                                        note(r, STEP_GRADIENT, b->dV);
        store_key_gradients(r, x, j, b->dK, b->dV);
    }
    finish_dq(r, x, b->dQ, b->part, b->sum, b->s.scale, b->all_sums);
}

void backward(struct run *r, struct attention *x)
{
    struct backward b;
    backward_new(r, x, &b);
    backward_tiles(r, x, &b, fold_query_tile, NULL);
}
