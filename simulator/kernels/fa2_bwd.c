/* fa2_bwd.c: FlashAttention-2, backward, as shipped: flash_bwd_preprocess_kernel.h (dot_do_o,
   convert_dQ), compute_dq_dk_dv_1colblock of flash_bwd_kernel.h, flash_bwd_launch_template.h (tiles).

   A thread block owns one key block and walks the query blocks from the last to the first.  P comes
   from L alone: 2^(S c - L log2 e).  dS takes P unrounded; P and dS are rounded for their products.
   The softmax scale multiplies dQ and dK at the end, dS never. */
#include <math.h>
#include <string.h>

#include "simulator/algorithms/backward.h"
#include "simulator/kernels/fa2.h"

struct fa2_bwd {
    struct tile *Q, *K, *V, *dO, *O, *L, *S, *P, *weight, *dP, *dS;
    struct tile *D, *bias, *dQ, *part, *dK, *dV, *sum;
    struct tile *scale, *scale_log2, *minus_log2e;
    struct tile *all_D, *all_sums; /* a column for every query */
};

/* 144 KB of shared memory a block and more: room for the larger tiles. */
static bool large(const struct kernel_choice *c)
{
    return strcmp(c->unit, "sm80") == 0 || strcmp(c->unit, "sm90") == 0 ||
           strcmp(c->unit, "sm100") == 0;
}

void fa2_bwd_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    enum { LARGE_KB = 163, SMALL_KB = 99 };
    struct fa2_tile t = fa2_backward_tile(large(c) ? LARGE_KB : SMALL_KB, p->D);
    *Br = t.Br;
    *Bc = t.Bc;
}

/* dot_do_o: 8 threads a row where D is a multiple of 64, else 4; each owns 8 neighbouring columns. */
bool fa2_bwd_adjust(const struct kernel_choice *c, const struct problem *p, struct policy *policy,
                    struct message *why)
{
    (void)c;
    return policy_order(policy, p->D % 64 == 0
                                    ? "DELTA=lanes:(0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 "
                                      "3 3 3 3 3 3 3 3 4 4 4 4 4 4 4 4 5 5 5 5 5 5 5 5 "
                                      "6 6 6 6 6 6 6 6 7 7 7 7 7 7 7 7):4,2,1"
                                    : "DELTA=lanes:(0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 "
                                      "3 3 3 3 3 3 3 3):2,1", why);
}

static void fa2_bwd_new(struct run *r, struct attention *x, struct fa2_bwd *s)
{
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc, Nq = Br * query_tiles(x);
    const struct scale *scale = &x->head->problem->scale;
    struct tile **rows[] = {&s->Q, &s->dO, &s->O, &s->dQ, &s->part};
    struct tile **keys[] = {&s->K, &s->V, &s->dK, &s->dV};
    struct tile **pairs[] = {&s->S, &s->P, &s->weight, &s->dP, &s->dS};
    static const enum tensor_name row_names[] = {TENSOR_Q, TENSOR_DO, TENSOR_O, TENSOR_DQ,
                                                 TENSOR_DQ_PART};
    static const enum tensor_name key_names[] = {TENSOR_K, TENSOR_V, TENSOR_DK, TENSOR_DV};
    static const enum tensor_name pair_names[] = {TENSOR_S, TENSOR_P, TENSOR_P, TENSOR_DP, TENSOR_DS};
    for (int n = 0; n < 5; n++)
        *rows[n] = tile_new(r, row_names[n], Br, D);
    for (int n = 0; n < 4; n++)
        *keys[n] = tile_new(r, key_names[n], Bc, D);
    for (int n = 0; n < 5; n++)
        *pairs[n] = tile_new(r, pair_names[n], Br, Bc);
    s->L = tile_new(r, TENSOR_LSE, Br, 1);
    s->D = tile_new(r, TENSOR_DELTA, Br, 1);
    s->bias = tile_new(r, TENSOR_SCRATCH, Br, 1);
    s->sum = tile_new(r, TENSOR_DS_SUM, Br, 1);
    s->all_D = tile_new(r, TENSOR_DELTA, Nq, 1);
    s->all_sums = tile_new(r, TENSOR_DS_SUM, Nq, 1);
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->scale_log2 = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->minus_log2e = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){scale->value, scale->root, REAL_PLAIN});
    times_real(r, s->scale_log2, s->scale, (struct real){1, 1, REAL_TIMES_LOG2E});
    constant(r, s->minus_log2e, (struct real){-1, 1, REAL_TIMES_LOG2E});
    anchor(r, NULL, 0);
}

static void dot_do_o(struct run *r, struct attention *x, struct fa2_bwd *s)
{
    for (int i = 0; i < query_tiles(x); i++) {
        r->where.i = (uint32_t)i;
        load_do(r, x, s->dO, i);
        recall(r, x, i, s->O, s->L);
        fill(r, s->D, 0);
        row_dot(r, s->D, s->dO, s->O, SITE_DELTA);                      note(r, STEP_DELTA, s->D);
        put_block(r, s->all_D, i * x->choices.Br, 0, s->D);
    }
}

/* P = 2^(S c - L log2 e); an L of -inf counts as 0, one of +inf makes P = 0. */
static void weights(struct run *r, struct fa2_bwd *s, const struct visible *visible)
{
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    mask_fill(r, s->S, visible, -INFINITY);                             note(r, STEP_MASK, s->S);
    safe_shift(r, s->bias, s->L);
    mul(r, s->bias, s->bias, s->minus_log2e, SITE_EXP_BIAS);
    fma_(r, s->P, s->S, s->scale_log2, s->bias, SITE_EXP_ARG);
    exp2_(r, s->P, s->P, SITE_EXP);                                     note(r, STEP_REWEIGH, s->P);
}

static void fold_query_block(struct run *r, struct attention *x, struct fa2_bwd *s, int i, int j)
{
    struct visible visible = visible_tile(x, i, j);
    load_q(r, x, s->Q, i);
    load_do(r, x, s->dO, i);
    recall(r, x, i, s->O, s->L);
    take_block(r, s->D, s->all_D, i * x->choices.Br, 0);
    weights(r, s, &visible);
    mma_abt(r, s->dP, s->dO, s->V, SITE_DP_ACC);                        note(r, STEP_DP, s->dP);
    sub(r, s->dP, s->dP, s->D, SITE_DP_SHIFT);                          note(r, STEP_DS, s->dP);
    mul(r, s->dS, s->P, s->dP, SITE_DS_PRODUCT);
    copy(r, s->weight, s->P);
    round_at(r, s->weight, SITE_PROB);                                  note(r, STEP_ROUND_P, s->weight);
    round_at(r, s->dS, SITE_DS);                                        note(r, STEP_DS, s->dS);
    mma_atb(r, s->dV, s->weight, s->dO, SITE_NONE, SITE_DV_ACC);        note(r, STEP_DV, s->dV);
    fill(r, s->part, 0);
    mma_ab(r, s->part, s->dS, s->K, SITE_NONE, SITE_DQ_ACC);            note(r, STEP_DQ, s->part);
    add_to_dq(r, x, s->dQ, s->part, i, j);
    mma_atb(r, s->dK, s->dS, s->Q, SITE_NONE, SITE_DK_ACC);             note(r, STEP_DK, s->dK);
    take_block(r, s->sum, s->all_sums, i * x->choices.Br, 0);
    row_sum(r, s->sum, s->dS, SITE_DS_SUM); /* shown only */
    put_block(r, s->all_sums, i * x->choices.Br, 0, s->sum);
}

static int ceiling(int64_t a, int64_t b)
{
    return (int)(a > 0 ? (a + b - 1) / b : 0);
}

/* Query blocks first .. last - 1 of key block j, as the kernel bounds them. */
static void query_blocks(const struct attention *x, int j, int *first, int *last)
{
    const struct head *h = x->head;
    const struct mask *mask = &h->problem->mask;
    int64_t M = x->choices.Br, N = x->choices.Bc, shift = h->Nq - h->Nk;
    int64_t right = mask->causal ? 0 : mask->right, reach = (j + 1) * N + shift + mask->left;
    int64_t from = j * N + shift - right;
    *first = right >= 0 && from > 0 ? (int)(from / M) : 0;
    *last = query_tiles(x);
    if (mask->left >= 0 && ceiling(reach, M) < *last)
        *last = ceiling(reach, M);
}

void kernel_fa2_bwd(struct run *r, struct attention *x)
{
    struct fa2_bwd s;
    gradients_new(r, x);
    fa2_bwd_new(r, x, &s);
    dot_do_o(r, x, &s);
    for (int j = 0; j < key_tiles(x); j++) {
        int first, last;
        r->where.j = (uint32_t)j;
        load_k(r, x, s.K, j);
        load_v(r, x, s.V, j);
        fill(r, s.dK, 0);
        fill(r, s.dV, 0);
        query_blocks(x, j, &first, &last);
        for (int i = last - 1; i >= first; i--) {
            r->where.i = (uint32_t)i;
            fold_query_block(r, x, &s, i, j);
        }
        mul(r, s.dK, s.dK, s.scale, SITE_GRADIENT_SCALE);               note(r, STEP_GRADIENT, s.dK);
                                                                        note(r, STEP_GRADIENT, s.dV);
        store_key_gradients(r, x, j, s.dK, s.dV);
    }
    finish_dq(r, x, s.dQ, s.part, s.sum, s.scale, s.all_sums);
}
