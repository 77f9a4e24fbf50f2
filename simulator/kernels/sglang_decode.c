/* sglang_decode.c: SGLang's Triton decode, grouped: decode_attention.py, _fwd_grouped_kernel_stage1
   and _fwd_kernel_stage2.

   A split leaves a normalised output and an LSE, both fp32; the second stage is a running softmax over
   the splits, ascending, each of which counts as one key with its LSE as the score. */
#include <math.h>

#include "simulator/kernels/triton.h"

void sglang_decode_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    (void)c;
    *Br = p->Nq >= 1 && p->Nq < 16 ? (int)p->Nq : 16;
    *Bc = 32;
}

bool sglang_decode_adjust(const struct kernel_choice *c, const struct problem *p,
                          struct policy *policy, struct message *why)
{
    (void)c, (void)p;
    return triton_rows(32, 4, policy, why);
}

/* acc old + part fresh, the way the switch says. */
static void merge(struct run *r, const struct attention *x, struct tile *acc, struct tile *part,
                  const struct tile *old, const struct tile *fresh, enum site site)
{
    int fused = x->choices.kernel->option[KERNEL_OPTION_SGLANG_DECODE_MERGE];
    if (fused == 1) {
        mul(r, acc, acc, old, site);
        fma_(r, acc, part, fresh, acc, site);
        return;
    }
    mul(r, part, part, fresh, site);
    if (fused == 0) {
        fma_(r, acc, acc, old, part, site);
    } else {
        mul(r, acc, acc, old, site);
        add(r, acc, acc, part, site);
    }
}

/* Split n's normalised output in s->O and LSE in s->L. */
static bool attend_split(struct run *r, const struct attention *x, struct triton *s, int i, int n)
{
    struct token_range keys;
    r->where.split = (uint32_t)n;
    if (!split_range(&x->choices.kernel->plan, x->head->Nk, n, 0, &keys))
        return false;
    triton_begin(r, x, s, i, 0);
    for (int64_t t = keys.first; t < keys.last; t += x->choices.Bc)
        triton_fold(r, x, s, i, (int)(t / x->choices.Bc), false);
    triton_divide(r, s, s->O, s->l, SITE_NORMALIZE);                    note(r, STEP_NORMALIZE, s->O);
    round_at(r, s->O, SITE_PARTIAL_OUT);
    log_(r, s->L, s->l, SITE_LSE);
    add(r, s->L, s->m, s->L, SITE_LSE);                                 note(r, STEP_LSE, s->L);
    round_at(r, s->L, SITE_PARTIAL_STAT);
    return true;
}

/* The second stage's state: as of a softmax whose scores are the LSEs. */
struct second {
    struct tile *m, *l, *O, *weight, *top;
};

static void fold_split(struct run *r, const struct attention *x, struct triton *s, struct second *t)
{
    anchor(r, NULL, 1);
    max_(r, t->top, t->m, s->L);                                        note(r, STEP_ROW_MAX, t->top);
    copy(r, s->decay, t->m);
    exponential(r, s->decay, t->top, s->log2e, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
    copy(r, t->weight, s->L);
    exponential(r, t->weight, t->top, s->log2e, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
    merge(r, x, t->O, s->O, s->decay, t->weight, SITE_COMBINE_ACC);  note(r, STEP_COMBINE, t->O);
    triton_sum(r, s, t->l, s->decay, t->weight, SITE_COMBINE_SUM);
    copy(r, t->m, t->top);
}

void kernel_sglang_decode(struct run *r, struct attention *x)
{
    const struct kernel_choice *c = x->choices.kernel;
    int Br = x->choices.Br;
    struct triton s;
    s.fused_sum = c->option[KERNEL_OPTION_SGLANG_DECODE_SUM] == 0;
    s.ieee_division = c->option[KERNEL_OPTION_SGLANG_DECODE_DIVISION] == 1;
    triton_new(r, x, &s);
    struct second t = {tile_new(r, TENSOR_M, Br, 1), tile_new(r, TENSOR_L_SUM, Br, 1),
                       tile_new(r, TENSOR_O_ACC, Br, (int)x->head->D),
                       tile_new(r, TENSOR_DECAY, Br, 1), tile_new(r, TENSOR_M, Br, 1)};
    for (int i = 0; i < query_tiles(x); i++) {
        fill(r, t.m, -INFINITY);
        fill(r, t.l, 0);
        fill(r, t.O, 0);
        for (int n = 0; n < split_count(&c->plan, x->head->Nk); n++)
            if (attend_split(r, x, &s, i, n))
                fold_split(r, x, &s, &t);
        triton_divide(r, &s, t.O, t.l, SITE_NORMALIZE);                 note(r, STEP_NORMALIZE, t.O);
        log_(r, s.L, t.l, SITE_LSE);
        add(r, s.L, t.m, s.L, SITE_LSE);                                note(r, STEP_LSE, s.L);
        round_at(r, t.O, SITE_OUT);                                     note(r, STEP_STORE, t.O);
        store(r, x, i, t.O, s.L);
    }
}
