/* triton_decode.c: vLLM's unified Triton attention in its decoding form, 16 contiguous segments:
   triton_unified_attention.py, kernel_unified_attention and reduce_segments.

   A segment leaves an unnormalised output, a maximum and a sum, all fp32.  Segments without tokens
   leave nothing; they count as maximum -inf. */
#include <math.h>
#include <stdio.h>

#include "simulator/kernels/triton.h"

void triton_decode_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    *Br = p->Nq >= 1 && p->Nq < 16 ? (int)p->Nq : 16;
    *Bc = (int)c->plan.block_tokens;
}

bool triton_rows(int tile, int most_warps, struct policy *policy, struct message *why)
{
    char text[512];
    int warps = tile / 8 < most_warps ? tile / 8 : most_warps;
    int used = snprintf(text, sizeof text, "ROW_SUM=lanes:(");
    for (int lane = 0; lane < 4 * warps; lane++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%d %d", lane > 0 ? " " : "", lane,
                         lane);
    used += snprintf(text + used, sizeof text - (size_t)used, "):2,1");
    for (int offset = 2 * warps; offset >= 4; offset /= 2)
        used += snprintf(text + used, sizeof text - (size_t)used, ",%d", offset);
    return policy_order(policy, text, why);
}

bool triton_decode_adjust(const struct kernel_choice *c, const struct problem *p,
                          struct policy *policy, struct message *why)
{
    (void)p;
    return triton_rows((int)c->plan.block_tokens, 4, policy, why);
}

/* Segments' outputs below one another, maxima and sums side by side, of one query tile. */
struct segments {
    struct tile *O, *M, *L, *factor, *top;
    int count;
};

static void segments_new(struct run *r, const struct attention *x, int count, struct segments *g)
{
    int Br = x->choices.Br;
    g->count = count;
    g->O = tile_new(r, TENSOR_O_ACC, count * Br, (int)x->head->D);
    g->M = tile_new(r, TENSOR_M, Br, count);
    g->L = tile_new(r, TENSOR_L_SUM, Br, count);
    g->factor = tile_new(r, TENSOR_DECAY, Br, count);
    g->top = tile_new(r, TENSOR_M, Br, 1);
}

static void attend_segment(struct run *r, const struct attention *x, struct triton *s,
                           struct segments *g, int i, int n)
{
    struct token_range keys;
    r->where.split = (uint32_t)n;
    triton_begin(r, x, s, i, 1);
    bool live = split_range(&x->choices.kernel->plan, x->head->Nk, n, 0, &keys);
    for (int64_t t = keys.first; live && t < keys.last; t += x->choices.Bc)
        triton_fold(r, x, s, i, (int)(t / x->choices.Bc), true);
    if (!live)
        fill(r, s->l, 0);
    round_at(r, s->O, SITE_PARTIAL_OUT);
    round_at(r, s->m, SITE_PARTIAL_STAT);
    round_at(r, s->l, SITE_PARTIAL_STAT);
    put_block(r, g->O, n * s->O->rows, 0, s->O);
    put_block(r, g->M, 0, n, s->m);
    put_block(r, g->L, 0, n, s->l);
}

/* One row's outputs of all segments: count x D. */
static void gather(struct run *r, const struct segments *g, int rows, int row, struct tile *one,
                   struct tile *all)
{
    for (int n = 0; n < g->count; n++) {
        take_block(r, one, g->O, n * rows + row, 0);
        put_block(r, all, n, 0, one);
    }
}

static void reduce_segments(struct run *r, struct triton *s, struct segments *g)
{
    int rows = s->O->rows, D = s->O->cols;
    struct tile *one = tile_new(r, TENSOR_O, 1, D), *all = tile_new(r, TENSOR_O, g->count, D);
    struct tile *factors = tile_new(r, TENSOR_DECAY, 1, g->count);
    anchor(r, NULL, 1);
    fill(r, g->top, -INFINITY);
    row_max(r, g->top, g->M);
    safe_shift(r, g->top, g->top);
    copy(r, g->factor, g->M);
    exponential(r, g->factor, g->top, s->log2e, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
    fill(r, s->l, 0);
    row_dot(r, s->l, g->L, g->factor, SITE_COMBINE_SUM);                note(r, STEP_ROW_SUM, s->l);
    for (int row = 0; row < rows; row++) {
        gather(r, g, rows, row, one, all);
        take_block(r, factors, g->factor, row, 0);
        fill(r, one, 0);
        mma_ab(r, one, factors, all, SITE_PV_PRODUCT, SITE_COMBINE_ACC);
        put_block(r, s->O, row, 0, one);
    }
                                                                        note(r, STEP_COMBINE, s->O);
    triton_divide(r, s, s->O, s->l, SITE_NORMALIZE);                    note(r, STEP_NORMALIZE, s->O);
    log_(r, s->L, s->l, SITE_LSE);
    add(r, s->L, g->top, s->L, SITE_LSE);                               note(r, STEP_LSE, s->L);
}

void kernel_triton_decode(struct run *r, struct attention *x)
{
    const struct kernel_choice *c = x->choices.kernel;
    int count = split_count(&c->plan, x->head->Nk);
    struct triton s;
    struct segments g;
    s.fused_sum = c->option[KERNEL_OPTION_TRITON_DECODE_SUM] == 0;
    s.ieee_division = c->option[KERNEL_OPTION_TRITON_DECODE_DIVISION] == 1;
    triton_new(r, x, &s);
    segments_new(r, x, count, &g);
    for (int i = 0; i < query_tiles(x); i++) {
        for (int n = 0; n < count; n++)
            attend_segment(r, x, &s, &g, i, n);
        reduce_segments(r, &s, &g);
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.L);
    }
}
