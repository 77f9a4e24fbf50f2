/* fa2_split.c: split-KV decode of FlashAttention-2: compute_attn_1rowblock_splitkv and
   combine_attn_seqk_parallel of flash_fwd_kernel.h, run_flash_splitkv_fwd of its launch template.

   Every group of keys is attended to by itself, last block to first; it leaves a normalised output
   and a natural LSE, both fp32.  The groups are combined by exponentials of LSE differences: no
   division. */
#include <math.h>
#include <stdio.h>

#include "simulator/kernels/exponential.h"
#include "simulator/kernels/fa2.h"

/* One group, of a caller that does not force the split kernel, is the forward kernel's. */
static bool runs_forward(const struct kernel_choice *c)
{
    return c->plan.splits == 1 && c->option[KERNEL_OPTION_FA2_SPLIT_ENTRY] == 0;
}

void fa2_split_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    fa2_tiles(c, p, Br, Bc);
    if (runs_forward(c))
        return;
    *Br = p->Nq >= 1 && p->Nq < 64 ? (int)p->Nq : 64;
    *Bc = p->D <= 64 ? 256 : p->D <= 128 ? 128 : 64;
}

/* Lanes that share a row of the combine kernel: lane r holds splits r, R + r, 2R + r ... */
static int combine_lanes(int splits, int64_t D)
{
    int rows = D % 128 == 0 ? 4 : D % 64 == 0 ? 8 : 16, most = 2;
    while (most < splits)
        most *= 2;
    return 128 / rows < most ? 128 / rows : most;
}

bool fa2_split_adjust(const struct kernel_choice *c, const struct problem *p, struct policy *policy,
                      struct message *why)
{
    char text[96];
    int R = combine_lanes(c->plan.splits, p->D);
    int used = snprintf(text, sizeof text, "COMBINE_SUM=lanes:mod%d:", R);
    for (int offset = R / 2; offset > 0; offset /= 2)
        used += snprintf(text + used, sizeof text - (size_t)used, "%d%s", offset, offset > 1 ? "," : "");
    return fa2_adjust(c, p, policy, why) && policy_order(policy, text, why);
}

/* What the groups of one query tile leave, and what combining needs. */
struct partials {
    struct tile *O, *L; /* groups x rows x D, rows x groups */
    struct tile *E, *m, *z, *sum, *log2e, *weight, *part;
    int groups;
};

static void partials_new(struct run *r, const struct attention *x, int groups, struct partials *g)
{
    int Br = x->choices.Br, D = (int)x->head->D;
    int lanes = order_columns(&r->policy->site[SITE_COMBINE_SUM].order);
    g->groups = groups;
    g->O = tile_new(r, TENSOR_O, groups * Br, D);
    g->L = tile_new(r, TENSOR_LSE, Br, groups);
    g->E = tile_new(r, TENSOR_SCRATCH, Br, groups);
    g->m = tile_new(r, TENSOR_M, Br, 1);
    g->z = tile_new(r, TENSOR_SCRATCH, Br, lanes);
    g->sum = tile_new(r, TENSOR_L_SUM, Br, 1);
    g->log2e = tile_new(r, TENSOR_CONSTANT, 1, 1);
    g->weight = tile_new(r, TENSOR_DECAY, Br, 1);
    g->part = tile_new(r, TENSOR_O, Br, D);
    constant(r, g->log2e, (struct real){1, 1, REAL_TIMES_LOG2E});
}

static void attend_group(struct run *r, struct attention *x, struct fa2 *s, int i, int group)
{
    struct token_range keys;
    r->where.split = (uint32_t)group;
    fa2_begin(r, x, s, i);
    if (split_range(&x->choices.kernel->plan, x->head->Nk, group, 0, &keys)) {
        int first = (int)(keys.first / x->choices.Bc);
        int last = (int)((keys.last - 1) / x->choices.Bc);
        for (int n = last; n >= first; n--)
            fa2_fold(r, x, s, i, n, false);
    }
}

static void combine(struct run *r, struct fa2 *s, struct partials *g)
{
    anchor(r, NULL, 1);
    fill(r, g->m, -INFINITY);
    row_max(r, g->m, g->L);                                             note(r, STEP_ROW_MAX, g->m);
    safe_shift(r, g->m, g->m);
    copy(r, g->E, g->L);
    exponential(r, g->E, g->m, g->log2e, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
    fill(r, g->z, 0);
    row_sum(r, g->z, g->E, SITE_COMBINE_SUM);
    fold(r, g->sum, g->z, SITE_COMBINE_SUM);
    log2_(r, s->L, g->sum, SITE_LSE);
    fma_(r, s->L, s->L, s->ln2, g->m, SITE_LSE);
    fill(r, s->infinity, INFINITY);
    select_bad(r, s->L, s->L, g->sum, s->infinity);                     note(r, STEP_LSE, s->L);
    fill(r, s->O, 0);
    for (int n = 0; n < g->groups; n++) {
        r->where.split = (uint32_t)n;
        take_block(r, g->weight, g->L, 0, n);
        exponential(r, g->weight, s->L, g->log2e, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
        take_block(r, g->part, g->O, n * s->O->rows, 0);
        fma_(r, s->O, g->weight, g->part, s->O, SITE_COMBINE_ACC);      note(r, STEP_COMBINE, s->O);
    }
}

void kernel_fa2_split(struct run *r, struct attention *x)
{
    const struct kernel_choice *c = x->choices.kernel;
    int groups = c->plan.splits;
    struct fa2 s;
    struct partials g = {0};
    fa2_new(r, x, &s);
    if (groups > 1)
        partials_new(r, x, groups, &g);
    for (int i = 0; i < query_tiles(x); i++) {
        for (int n = 0; n < groups; n++) {
            attend_group(r, x, &s, i, n);
            fa2_normalize(r, &s, groups > 1 ? -INFINITY : INFINITY);
            if (groups == 1)
                break;
            round_at(r, s.O, SITE_PARTIAL_OUT);                         note(r, STEP_STORE, s.O);
            round_at(r, s.L, SITE_PARTIAL_STAT);
            put_block(r, g.O, n * x->choices.Br, 0, s.O);
            put_block(r, g.L, 0, n, s.L);
        }
        if (groups > 1)
            combine(r, &s, &g);
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.L);
    }
}
