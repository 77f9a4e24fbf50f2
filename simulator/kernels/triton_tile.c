/* triton_tile.c: the loop body of Triton's attention kernels: vLLM's triton_unified_attention.py
   (softmax_step), SGLang's decode_attention.py (_fwd_grouped_kernel_stage1). */
#include <math.h>

#include "simulator/kernels/triton.h"

void triton_new(struct run *r, const struct attention *x, struct triton *s)
{
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc;
    const struct scale *scale = &x->head->problem->scale;
    struct tile **columns[] = {&s->m, &s->l, &s->decay, &s->top, &s->shift, &s->sum, &s->inverse};
    static const enum tensor_name names[] = {TENSOR_M, TENSOR_L_SUM, TENSOR_DECAY, TENSOR_M,
                                             TENSOR_SCRATCH, TENSOR_L_TILE, TENSOR_SCRATCH};
    for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)
        *columns[n] = tile_new(r, names[n], Br, 1);
    s->Q = tile_new(r, TENSOR_Q, Br, D);
    s->K = tile_new(r, TENSOR_K, Bc, D);
    s->V = tile_new(r, TENSOR_V, Bc, D);
    s->S = tile_new(r, TENSOR_S, Br, Bc);
    s->P = tile_new(r, TENSOR_P, Br, Bc);
    s->O = tile_new(r, TENSOR_O_ACC, Br, D);
    s->L = tile_new(r, TENSOR_LSE, Br, 1);
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->log2e = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->zero = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){scale->value, scale->root, REAL_PLAIN});
    constant(r, s->log2e, (struct real){1, 1, REAL_TIMES_LOG2E});
    fill(r, s->zero, 0);
}

void triton_begin(struct run *r, const struct attention *x, struct triton *s, int i, double start)
{
    r->where.i = (uint32_t)i;
    s->O->name = TENSOR_O_ACC;
    fill(r, s->m, -INFINITY);
    fill(r, s->l, start);
    fill(r, s->O, 0);
    load_q(r, x, s->Q, i);
    anchor(r, s->m, 1);
}

void triton_sum(struct run *r, const struct triton *s, struct tile *l, const struct tile *decay,
                const struct tile *sum, enum site site)
{
    if (s->fused_sum) {
        fma_(r, l, l, decay, sum, site);
    } else {
        mul(r, l, l, decay, site);
        add(r, l, l, sum, site);
    }
}

void triton_divide(struct run *r, const struct triton *s, struct tile *y, const struct tile *l,
                   enum site site)
{
    if (s->ieee_division) {
        div_(r, y, y, l, site);
    } else {
        rcp(r, s->inverse, l, site);
        mul(r, y, y, s->inverse, site);
    }
    select_bad(r, y, y, l, s->zero);
}

void triton_fold(struct run *r, const struct attention *x, struct triton *s, int i, int j,
                 bool guarded)
{
    struct visible visible = visible_tile(x, i, j);
    r->where.j = (uint32_t)j;
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    mul(r, s->S, s->S, s->scale, SITE_SCORE);                           note(r, STEP_SCALE, s->S);
    mask_fill(r, s->S, &visible, -INFINITY);                            note(r, STEP_MASK, s->S);
    copy(r, s->top, s->m);
    row_max(r, s->top, s->S);                                           note(r, STEP_ROW_MAX, s->top);
    if (guarded)
        safe_shift(r, s->top, s->top);
    copy(r, s->P, s->S);
    exponential(r, s->P, s->top, s->log2e, SITE_EXP_ARG, SITE_EXP);     note(r, STEP_EXP, s->P);
    fill(r, s->sum, 0);
    row_sum(r, s->sum, s->P, SITE_ROW_SUM);                             note(r, STEP_ROW_SUM, s->sum);
    copy(r, s->decay, s->m);
    exponential(r, s->decay, s->top, s->log2e, SITE_RESCALE_ARG, SITE_RESCALE);
                                                                        note(r, STEP_RESCALE, s->decay);
    triton_sum(r, s, s->l, s->decay, s->sum, SITE_ROW_SUM);
    copy(r, s->m, s->top);                                              note(r, STEP_ROW_SUM, s->l);
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->O);
    round_at(r, s->P, SITE_PROB); /* after the sum: l keeps unrounded P */
                                                                        note(r, STEP_ROUND_P, s->P);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
}
