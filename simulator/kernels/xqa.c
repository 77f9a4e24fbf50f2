/* xqa.c: decode by FlashInfer's XQA (bf16 keys and values), flashinfer csrc/xqa/mha.cu.

   A CTA takes every N-th tile of 256 tokens: four warp tiles of 64.  gemm0 makes scores and weights of
   a warp tile, relative to a maximum that starts at a hint; gemm1 folds them.  Each CTA leaves a
   normalised output in the inputs' format, a maximum and a sum; the last CTA merges them all. */
#include <math.h>
#include <string.h>

#include "simulator/kernels/xqa.h"

static const double safe_start = -1e5; /* safeInitRowMax */
static const double masked = -0x1.fffffep127; /* mha_components.cuh: applyMask */

void xqa_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    (void)c, (void)p;
    *Br = XQA_ROWS;
    *Bc = XQA_WARP_TOKENS;
}

bool xqa_adjust(const struct kernel_choice *c, const struct problem *p, struct policy *policy,
                struct message *why)
{
    if (strcmp(c->unit, "sm90") != 0 && strcmp(c->unit, "sm120") != 0)
        return refuse(why, "xqa is modelled for sm_90 and sm_120; %s is %s", c->device, c->unit);
    if (p->Hq / p->Hkv > XQA_ROWS)
        return refuse(why, "xqa is modelled for up to 16 query heads a KV head, not %lld",
                      (long long)(p->Hq / p->Hkv));
    return policy->site[SITE_INPUT].format != FORMAT_FP16 ||
           refuse(why, "xqa is modelled for bf16, not for fp16; --dtype bf16 is right");
}

/* The caller passes scale sqrt(D) as a float; 1/sqrt(D) was folded when the kernel was compiled. */
static void constants(struct run *r, const struct attention *x, struct xqa *s)
{
    const struct scale *scale = &x->head->problem->scale;
    int64_t D = x->head->D;
    bool usual = scale->root == D;
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->log2e = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->minus_log2e = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->one = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->one, (struct real){usual ? scale->value : scale->value * (double)D,
                                      usual ? 1 : scale->root * D, REAL_PLAIN});
    constant(r, s->scale, (struct real){1, D, REAL_PLAIN});
    mul(r, s->scale, s->one, s->scale, SITE_CONST);
    constant(r, s->log2e, (struct real){1, 1, REAL_TIMES_LOG2E});
    constant(r, s->minus_log2e, (struct real){-1, 1, REAL_TIMES_LOG2E});
    fill(r, s->one, 1);
}

static void xqa_new(struct run *r, const struct attention *x, struct xqa *s)
{
    int D = (int)x->head->D, R = XQA_ROWS, T = XQA_WARP_TOKENS;
    s->sharing = D == 256 ? XQA_ALONE
                 : strcmp(x->choices.kernel->unit, "sm90") == 0 ? XQA_BY_TILE : XQA_BY_TOKEN;
    s->workers = s->sharing == XQA_ALONE ? 1 : 2;
    struct tile **columns[] = {&s->m, &s->l, &s->bias, &s->hint[0], &s->hint[1], &s->hint[2],
                               &s->hint[3], &s->top, &s->decay, &s->shrink, &s->narrow, &s->sum};
    for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)
        *columns[n] = tile_new(r, n == 0 ? TENSOR_M_TILE : n == 1 ? TENSOR_L_TILE : TENSOR_SCRATCH,
                               R, 1);
    s->Q = tile_new(r, TENSOR_Q, R, D);
    s->K = tile_new(r, TENSOR_K, T, D);
    s->V = tile_new(r, TENSOR_V, T, D);
    s->S = tile_new(r, TENSOR_S, R, T);
    s->P = tile_new(r, TENSOR_P, R, T);
    int width = s->sharing == XQA_BY_TOKEN ? T / 2 : T;
    s->part = tile_new(r, TENSOR_P, R, width);
    s->values = tile_new(r, TENSOR_V, width, D);
    for (int g = 0; g < s->workers; g++)
        s->worker[g] = (struct xqa_worker){tile_new(r, TENSOR_M, R, 1), tile_new(r, TENSOR_L_SUM, R, 1),
                                           tile_new(r, TENSOR_O_ACC, R, D)};
    constants(r, x, s);
}

static void xqa_begin(struct run *r, struct xqa *s)
{
    for (int g = 0; g < s->workers; g++) {
        fill(r, s->worker[g].G, safe_start);
        fill(r, s->worker[g].L, 0);
        fill(r, s->worker[g].O, 0);
    }
    for (int warp = 0; warp < XQA_WARPS; warp++)
        fill(r, s->hint[warp], safe_start);
    anchor(r, s->worker[0].G, 1);
}

/* gemm0: scores, weights and their sum, of warp tile j. */
static void warp_tile(struct run *r, const struct attention *x, struct xqa *s, int j, int warp)
{
    struct visible visible = visible_tile(x, 0, j);
    r->where.j = (uint32_t)j;
    r->where.warp = (uint32_t)warp;
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    mul(r, s->S, s->S, s->scale, SITE_SCORE);                           note(r, STEP_SCALE, s->S);
    mask_fill(r, s->S, &visible, masked);                               note(r, STEP_MASK, s->S);
    copy(r, s->m, s->hint[warp]);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    mul(r, s->bias, s->m, s->minus_log2e, SITE_EXP_BIAS);
    fma_(r, s->P, s->S, s->log2e, s->bias, SITE_EXP_ARG);
    exp2_(r, s->P, s->P, SITE_EXP);                                     note(r, STEP_EXP, s->P);
    round_at(r, s->P, SITE_PROB); /* before the sum: l is a sum of rounded weights */
                                                                        note(r, STEP_ROUND_P, s->P);
    fill(r, s->l, 0);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
}

/* CTA `group`: its tiles of 256 tokens, four warp tiles each; those past the end are skipped. */
static void attend_group(struct run *r, const struct attention *x, struct xqa *s, int group)
{
    struct token_range keys;
    r->where.split = (uint32_t)group;
    xqa_begin(r, s);
    for (int n = 0; split_range(&x->choices.kernel->plan, x->head->Nk, group, n, &keys); n++)
        for (int warp = 0; warp < XQA_WARPS; warp++) {
            int64_t first = keys.first + warp * XQA_WARP_TOKENS;
            if (first >= x->head->Nk)
                continue;
            warp_tile(r, x, s, (int)(first / XQA_WARP_TOKENS), warp);
            xqa_absorb(r, s, warp);
        }
}

/* What the CTAs leave: outputs below one another, maxima and sums side by side. */
struct records {
    struct tile *O, *G, *L, *top, *weight, *part;
};

/* Worker g of the last CTA sums the groups g, g + workers, ...: A = sum w O, T = sum w. */
static void merge_share(struct run *r, struct xqa *s, struct records *a, int g, int groups)
{
    struct xqa_worker *w = &s->worker[g];
    fill(r, w->O, 0);
    fill(r, w->L, 0);
    for (int n = g; n < groups; n += s->workers) {
        r->where.split = (uint32_t)n;
        take_block(r, a->weight, a->G, 0, n);
        exponential(r, a->weight, a->top, s->log2e, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
        take_block(r, s->sum, a->L, 0, n);
        mul(r, a->weight, s->sum, a->weight, SITE_COMBINE_WEIGHT);
        add(r, w->L, w->L, a->weight, SITE_COMBINE_SUM);
        take_block(r, a->part, a->O, n * XQA_ROWS, 0);
        fma_(r, w->O, a->part, a->weight, w->O, SITE_COMBINE_ACC);      note(r, STEP_COMBINE, w->O);
    }
}

static void merge(struct run *r, struct xqa *s, struct records *a, int groups)
{
    anchor(r, NULL, 1);
    fill(r, a->top, -INFINITY);
    row_max(r, a->top, a->G);
    for (int g = 0; g < s->workers; g++)
        merge_share(r, s, a, g, groups);
    if (s->workers == 2) {
        add(r, s->worker[0].L, s->worker[0].L, s->worker[1].L, SITE_COMBINE_SUM);
        copy(r, s->worker[1].L, s->worker[0].L);
    }
    copy(r, s->worker[0].G, a->top);
    s->sharing = s->workers == 2 ? XQA_BY_TOKEN : XQA_ALONE; /* one maximum and one sum from here on */
    xqa_finish(r, s, SITE_OUT);
}

static void records_new(struct run *r, const struct attention *x, int groups, struct records *a)
{
    int D = (int)x->head->D;
    a->O = tile_new(r, TENSOR_O, groups * XQA_ROWS, D);
    a->G = tile_new(r, TENSOR_M, XQA_ROWS, groups);
    a->L = tile_new(r, TENSOR_L_SUM, XQA_ROWS, groups);
    a->top = tile_new(r, TENSOR_M, XQA_ROWS, 1);
    a->weight = tile_new(r, TENSOR_DECAY, XQA_ROWS, 1);
    a->part = tile_new(r, TENSOR_O, XQA_ROWS, D);
}

void kernel_xqa(struct run *r, struct attention *x)
{
    int groups = x->choices.kernel->plan.splits;
    struct xqa s;
    struct records a;
    xqa_new(r, x, &s);
    records_new(r, x, groups, &a);
    load_q(r, x, s.Q, 0);
    for (int n = 0; n < groups; n++) {
        attend_group(r, x, &s, n);
        xqa_finish(r, &s, groups > 1 ? SITE_PARTIAL_OUT : SITE_OUT);
        put_block(r, a.O, n * XQA_ROWS, 0, s.worker[0].O);
        round_at(r, s.worker[0].G, SITE_PARTIAL_STAT);
        round_at(r, s.worker[0].L, SITE_PARTIAL_STAT);
        put_block(r, a.G, 0, n, s.worker[0].G);
        put_block(r, a.L, 0, n, s.worker[0].L);
    }
    if (groups > 1)
        merge(r, &s, &a, groups);
    log_(r, s.l, s.worker[0].L, SITE_LSE);
    add(r, s.l, s.worker[0].G, s.l, SITE_LSE);                          note(r, STEP_LSE, s.l);
    store(r, x, 0, s.worker[0].O, s.l);
}
