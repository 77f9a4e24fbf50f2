/* trtllm_reducer.c: TensorRT-LLM's separate reduction, as FlashInfer shows it: csrc/fmhaReduction.cu,
   include/flashinfer/trtllm/fmha/kernelUtils.h.

   The kernel that makes the partials is closed.  Here a partial is attention over its tokens with their
   one maximum: weights by one fma and 2^, summed in a chain.  What is published begins with a partial:
   an unnormalised output in the inputs' format, the maximum of the raw scores and the sum, fp32. */
#include <float.h>
#include <math.h>

#include "simulator/kernels/exponential.h"
#include "simulator/simulate.h"

void trtllm_reducer_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    *Br = p->Nq >= 1 && p->Nq < 64 ? (int)p->Nq : 64;
    *Bc = (int)(c->plan.block_tokens * (c->plan.blocks_per_split > 0 ? c->plan.blocks_per_split : 1));
}

bool trtllm_reducer_adjust(const struct kernel_choice *c, const struct problem *p,
                           struct policy *policy, struct message *why)
{
    (void)p;
    if (c->plan.order != GROUPS_CONTIGUOUS)
        return refuse(why, "trtllm-reducer: grouping=round-robin is for `flashulp splits` only; how "
                           "partials are made is not established");
    return c->option[KERNEL_OPTION_TRTLLM_REDUCER_WEIGHTS] == 0 ||
           (policy_set(policy, "PROB=fp32", why) && policy_order(policy, "OUT_ACC=seq", why));
}

struct reducer {
    struct tile *Q, *K, *V, *S, *P, *m, *l, *bias, *part;          /* one partial */
    struct tile *M, *L, *O, *top, *old, *fresh, *lse;              /* the running ones */
    struct tile *scale, *scale_log2, *minus_scale_log2;
};

static void reducer_new(struct run *r, const struct attention *x, struct reducer *s)
{
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc;
    const struct scale *scale = &x->head->problem->scale;
    struct tile **columns[] = {&s->m, &s->l, &s->M, &s->L, &s->bias, &s->top, &s->old, &s->fresh, &s->lse};
    static const enum tensor_name names[] = {TENSOR_M_TILE, TENSOR_L_TILE, TENSOR_M, TENSOR_L_SUM,
                                             TENSOR_SCRATCH, TENSOR_M, TENSOR_DECAY, TENSOR_GROWTH,
                                             TENSOR_LSE};
    for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)
        *columns[n] = tile_new(r, names[n], Br, 1);
    s->Q = tile_new(r, TENSOR_Q, Br, D);
    s->K = tile_new(r, TENSOR_K, Bc, D);
    s->V = tile_new(r, TENSOR_V, Bc, D);
    s->S = tile_new(r, TENSOR_S, Br, Bc);
    s->P = tile_new(r, TENSOR_P, Br, Bc);
    s->part = tile_new(r, TENSOR_Y, Br, D);
    s->O = tile_new(r, TENSOR_O_ACC, Br, D);
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->scale_log2 = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->minus_scale_log2 = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){scale->value, scale->root, REAL_PLAIN});
    times_real(r, s->scale_log2, s->scale, (struct real){1, 1, REAL_TIMES_LOG2E});
    times_real(r, s->minus_scale_log2, s->scale, (struct real){-1, 1, REAL_TIMES_LOG2E});
}

/* The closed part, as this model has it. */
static void make_partial(struct run *r, const struct attention *x, struct reducer *s, int i, int j)
{
    struct visible visible = visible_tile(x, i, j);
    r->where.j = r->where.split = (uint32_t)j;
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    mask_fill(r, s->S, &visible, -INFINITY);                            note(r, STEP_MASK, s->S);
    fill(r, s->m, -INFINITY);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    mul(r, s->bias, s->m, s->minus_scale_log2, SITE_EXP_BIAS);
    fma_(r, s->P, s->S, s->scale_log2, s->bias, SITE_EXP_ARG);
    exp2_(r, s->P, s->P, SITE_EXP);                                     note(r, STEP_EXP, s->P);
    fill(r, s->l, 0);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    fill(r, s->part, 0);
    mma_ab(r, s->part, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);      note(r, STEP_PV, s->part);
    round_at(r, s->part, SITE_PARTIAL_OUT);                             note(r, STEP_STORE, s->part);
    round_at(r, s->m, SITE_PARTIAL_STAT);
    round_at(r, s->l, SITE_PARTIAL_STAT);
}

/* The published part: an ordered running recurrence. */
static void reduce(struct run *r, struct reducer *s)
{
    max_(r, s->top, s->M, s->m);                                        note(r, STEP_ROW_MAX, s->top);
    copy(r, s->old, s->M);
    exponential(r, s->old, s->top, s->scale_log2, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
                                                                        note(r, STEP_RESCALE, s->old);
    copy(r, s->fresh, s->m);
    exponential(r, s->fresh, s->top, s->scale_log2, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
                                                                        note(r, STEP_RESCALE, s->fresh);
    mul(r, s->l, s->l, s->fresh, SITE_COMBINE_SUM);
    fma_(r, s->L, s->L, s->old, s->l, SITE_COMBINE_SUM);                note(r, STEP_ROW_SUM, s->L);
    mul(r, s->O, s->O, s->old, SITE_COMBINE_ACC);
    fma_(r, s->O, s->part, s->fresh, s->O, SITE_COMBINE_ACC);           note(r, STEP_COMBINE, s->O);
    copy(r, s->M, s->top);
}

void kernel_trtllm_reducer(struct run *r, struct attention *x)
{
    struct reducer s;
    reducer_new(r, x, &s);
    anchor(r, NULL, 1);
    for (int i = 0; i < query_tiles(x); i++) {
        load_q(r, x, s.Q, i);
        fill(r, s.M, -FLT_MAX);
        fill(r, s.L, 0);
        fill(r, s.O, 0);
        for (int j = 0; j < key_tiles(x); j++) {
            make_partial(r, x, &s, i, j);
            reduce(r, &s);
        }
        rcp(r, s.bias, s.L, SITE_NORMALIZE);
        select_bad(r, s.bias, s.bias, s.L, s.L); /* no tokens: the output is 0 */
        mul(r, s.O, s.O, s.bias, SITE_NORMALIZE);                       note(r, STEP_NORMALIZE, s.O);
        log_(r, s.lse, s.L, SITE_LSE);
        fma_(r, s.lse, s.M, s.scale, s.lse, SITE_LSE);                  note(r, STEP_LSE, s.lse);
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.lse);
    }
}
