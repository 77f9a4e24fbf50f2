/* fa2_tile.c: FlashAttention-2's inner loop, as shipped.

   flash_attn/src/softmax.h (softmax_rescale_o, normalize_softmax_lse), mask.h, flash_api.cpp
   (scale_softmax_log2, softcap), flash_fwd_launch_template.h (tiles). */
#include "simulator/kernels/exponential.h"
#include "simulator/kernels/fa2.h"

#include <math.h>
#include <string.h>

/* flash_fwd_launch_template.h without dropout: sm86 and sm89 have little shared memory; at head size
   256 only A100 has room for 128 rows and yet not for two blocks of 64 an SM. */
struct fa2_tile fa2_shipped_tile(const char *unit, int64_t D, bool causal)
{
    bool small = strcmp(unit, "sm86") == 0 || strcmp(unit, "sm89") == 0;
    bool narrow = small && causal, a100 = strcmp(unit, "sm80") == 0;
    struct fa2_tile t = {128, D <= 64 ? 128 : 64, 4};
    if (D == 96 || D == 128)
        t.Br = narrow ? 64 : 128;
    if (D == 128 && small && !causal)
        t.Bc = 32;
    if (D == 256)
        t.Br = a100 ? 128 : 64;
    if (D == 192 || (D == 256 && a100))
        t.warps = 8;
    return t;
}

struct fa2_tile fa2_backward_tile(int shared_kb, int64_t D)
{
    bool roomy = shared_kb >= 144;
    struct fa2_tile t = {64, 128, 8};
    if (D == 32 || (D == 64 && roomy))
        t.Br = 128;
    if ((D == 128 && !roomy) || D > 128)
        t.Bc = 64;
    if (D == 256 && !roomy)
        t.Bc = 32;
    return t;
}

/* Rows that hold no query need not be simulated: a row's bits are its own. */
static int shorter(int rows, int64_t Nq)
{
    return Nq >= 1 && Nq < rows ? (int)Nq : rows;
}

void fa2_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    struct fa2_tile t = fa2_shipped_tile(c->unit, p->D, p->mask.causal && p->mask.left < 0);
    *Br = shorter(t.Br, p->Nq);
    *Bc = t.Bc;
}

/* Is a switch that both kernels have at its second value? */
static bool switched(const struct kernel_choice *c, enum kernel_option forward,
                     enum kernel_option split)
{
    return c->option[c->kernel == KERNEL_FA2 ? forward : split] == 1;
}

/* Before 2.5.4 one sum a row, put together in every block. */
static bool sums_per_lane(const struct kernel_choice *c)
{
    return c->version < (c->kernel == KERNEL_FA2 ? 1 : 2);
}

bool fa2_adjust(const struct kernel_choice *c, const struct problem *p, struct policy *policy,
                struct message *why)
{
    (void)p;
    if (sums_per_lane(c) || switched(c, KERNEL_OPTION_FA2_OLD_SUM, KERNEL_OPTION_FA2_SPLIT_OLD_SUM))
        return true;
    return policy_order(policy, "ROW_SUM=lanes:quad:2,1", why);
}

static int ceiling(int64_t a, int64_t b)
{
    return (int)(a > 0 ? (a + b - 1) / b : 0);
}

struct fa2_blocks fa2_blocks(const struct attention *x, int i)
{
    const struct head *h = x->head;
    const struct mask *mask = &h->problem->mask;
    int64_t M = x->choices.Br, N = x->choices.Bc, shift = h->Nk - h->Nq;
    int64_t right = mask->causal ? 0 : mask->right, left = mask->left;
    bool local = left >= 0 || (right >= 0 && !mask->causal);
    struct fa2_blocks b = {0, ceiling(h->Nk, N), 1};
    if (right >= 0 && ceiling((i + 1) * M + shift + right, N) < b.n_max)
        b.n_max = ceiling((i + 1) * M + shift + right, N);
    if (left >= 0 && i * M + shift - left > 0)
        b.n_min = (int)((i * M + shift - left) / N);
    bool even = h->Nq % M == 0 && h->Nk % N == 0 && h->D <= 128 && h->problem->cu_q == NULL;
    if (mask->causal && !local)
        b.masking = ceiling(M, N) + (even ? 0 : 1);
    return b;
}

/* flash_api.cpp: the scale is a float; the product with log2 e is taken in double. */
static void fa2_constants(struct run *r, const struct problem *p, struct fa2 *s)
{
    struct tile **all[] = {&s->scale, &s->scale_log2, &s->minus_scale_log2, &s->cap, &s->ln2,
                           &s->one, &s->infinity};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        *all[n] = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){p->scale.value, p->scale.root, REAL_PLAIN});
    if (p->softcap > 0) { /* scores are tanh(s scale / cap): from there on the scale is the cap */
        constant(r, s->one, (struct real){p->softcap, 1, REAL_PLAIN});
        div_(r, s->cap, s->scale, s->one, SITE_CONST);
        copy(r, s->scale, s->one);
    }
    times_real(r, s->scale_log2, s->scale, (struct real){1, 1, REAL_TIMES_LOG2E});
    times_real(r, s->minus_scale_log2, s->scale, (struct real){-1, 1, REAL_TIMES_LOG2E});
    constant(r, s->ln2, (struct real){1, 1, REAL_TIMES_LN2});
    fill(r, s->one, 1);
    fill(r, s->infinity, INFINITY);
}

void fa2_new(struct run *r, const struct attention *x, struct fa2 *s)
{
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc;
    bool per_lane = sums_per_lane(x->choices.kernel);
    int lanes = order_columns(&r->policy->site[SITE_ROW_SUM].order); /* 4 as shipped */
    s->Q = tile_new(r, TENSOR_Q, Br, D);
    s->K = tile_new(r, TENSOR_K, Bc, D);
    s->V = tile_new(r, TENSOR_V, Bc, D);
    s->S = tile_new(r, TENSOR_S, Br, Bc);
    s->P = tile_new(r, TENSOR_P, Br, Bc);
    s->m = tile_new(r, TENSOR_M, Br, 1);
    s->shift = tile_new(r, TENSOR_SCRATCH, Br, 1);
    s->bias = tile_new(r, TENSOR_SCRATCH, Br, 1);
    s->decay = tile_new(r, TENSOR_DECAY, Br, 1);
    s->l = tile_new(r, TENSOR_L_SUM, Br, per_lane ? lanes : 1);
    s->total = tile_new(r, TENSOR_L_SUM, Br, 1);
    s->inverse = tile_new(r, TENSOR_SCRATCH, Br, 1);
    s->O = tile_new(r, TENSOR_O_ACC, Br, D);
    s->L = tile_new(r, TENSOR_LSE, Br, 1);
    fa2_constants(r, x->head->problem, s);
}

void fa2_begin(struct run *r, const struct attention *x, struct fa2 *s, int i)
{
    const struct problem *p = x->head->problem;
    double scale = p->scale.value / sqrt((double)p->scale.root);
    r->where.i = (uint32_t)i;
    s->O->name = TENSOR_O_ACC;
    s->started = false;
    fill(r, s->m, -INFINITY);
    fill(r, s->l, 0);
    fill(r, s->O, 0);
    load_q(r, x, s->Q, i);
    anchor(r, s->m, p->softcap > 0 ? p->softcap : scale);
}

static void raw_scores(struct run *r, const struct attention *x, struct fa2 *s,
                       const struct visible *visible)
{
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    if (x->head->problem->softcap > 0) {
        mul(r, s->S, s->S, s->cap, SITE_SOFTCAP);
        tanh_(r, s->S, s->S, SITE_SOFTCAP);                             note(r, STEP_SOFTCAP, s->S);
    }
    mask_fill(r, s->S, visible, -INFINITY);                             note(r, STEP_MASK, s->S);
}

/* a = 2^((m_old - m) c); every owned output times a.  l is rescaled where it is summed. */
static void rescale(struct run *r, struct fa2 *s, bool guarded)
{
    exponential(r, s->decay, guarded ? s->shift : s->m, s->scale_log2, SITE_RESCALE_ARG,
                SITE_RESCALE);                                          note(r, STEP_RESCALE, s->decay);
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->O);
}

/* P = 2^(S c - m c). */
static void weights(struct run *r, const struct attention *x, struct fa2 *s)
{
    mul(r, s->bias, s->shift, s->minus_scale_log2, SITE_EXP_BIAS);
    if (switched(x->choices.kernel, KERNEL_OPTION_FA2_EXP_ARG, KERNEL_OPTION_FA2_SPLIT_EXP_ARG)) {
        mul(r, s->P, s->S, s->scale_log2, SITE_EXP_ARG);
        add(r, s->P, s->P, s->bias, SITE_EXP_ARG);
    } else {
        fma_(r, s->P, s->S, s->scale_log2, s->bias, SITE_EXP_ARG);
    }
    exp2_(r, s->P, s->P, SITE_EXP);                                     note(r, STEP_EXP, s->P);
}

void fa2_fold(struct run *r, const struct attention *x, struct fa2 *s, int i, int n, bool guarded)
{
    struct visible visible = visible_tile(x, i, n);
    r->where.j = (uint32_t)n;
    load_k(r, x, s->K, n);
    load_v(r, x, s->V, n);
    raw_scores(r, x, s, &visible);
    copy(r, s->decay, s->m);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    safe_shift(r, s->shift, s->m);
    if (s->started)
        rescale(r, s, guarded);
    weights(r, x, s);
    if (s->started)
        row_sum_rescaled(r, s->l, s->P, s->decay, SITE_ROW_SUM);
    else
        row_sum(r, s->l, s->P, SITE_ROW_SUM);
                                                                        note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB); /* after the sum: l keeps unrounded P */
                                                                        note(r, STEP_ROUND_P, s->P);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
    s->started = true;
}

void fa2_normalize(struct run *r, struct fa2 *s, double empty)
{
    if (s->l->cols > 1)
        fold(r, s->total, s->l, SITE_ROW_SUM);
    else
        copy(r, s->total, s->l);
                                                                        note(r, STEP_ROW_SUM, s->total);
    rcp(r, s->inverse, s->total, SITE_NORMALIZE);
    select_bad(r, s->inverse, s->inverse, s->total, s->one);
    mul(r, s->O, s->O, s->inverse, SITE_NORMALIZE);
    s->O->name = TENSOR_O;                                              note(r, STEP_NORMALIZE, s->O);
    log2_(r, s->L, s->total, SITE_LSE);
    mul(r, s->L, s->L, s->ln2, SITE_LSE);
    fma_(r, s->L, s->m, s->scale, s->L, SITE_LSE);
    fill(r, s->infinity, empty);
    select_bad(r, s->L, s->L, s->total, s->infinity);                   note(r, STEP_LSE, s->L);
}
