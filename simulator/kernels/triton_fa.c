/* triton_fa.c: the forward kernel of Triton's tutorial 06 (python/tutorials/06-fused-attention.py):
   outer loop over query tiles, parallel over the sequence; keys ascending; everything in powers of 2.

   Off the diagonal the maximum is scaled and the scale folded into the exponent; on it the scaled
   scores are masked by adding -1e6.  The LSE it saves is to base 2. */
#include <math.h>

#include "simulator/kernels/triton.h"

enum { QUERY_TILE = 128, KEY_TILE = 64 };

void triton_fa_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    (void)c, (void)p;
    *Br = QUERY_TILE;
    *Bc = KEY_TILE;
}

bool triton_fa_adjust(const struct kernel_choice *c, const struct problem *p, struct policy *policy,
                      struct message *why)
{
    (void)c;
    if (p->Nk % KEY_TILE != 0 || p->Nq % QUERY_TILE != 0)
        return refuse(why, "triton-fa takes queries in multiples of %d and keys in multiples of %d, not "
                           "%lld and %lld", QUERY_TILE, KEY_TILE, (long long)p->Nq, (long long)p->Nk);
    if (p->mask.causal && p->Nq != p->Nk)
        return refuse(why, "triton-fa's causal mask is for as many queries as keys, not %lld and %lld",
                      (long long)p->Nq, (long long)p->Nk);
    return triton_rows(KEY_TILE, 1, policy, why);
}

/* P = S c - m, the maximum taken of raw scores and scaled. */
static void off_diagonal(struct run *r, const struct attention *x, struct triton *s)
{
    fill(r, s->top, -INFINITY);
    row_max(r, s->top, s->S);
    mul(r, s->top, s->top, s->scale, SITE_EXP_BIAS);
    max_(r, s->top, s->m, s->top);                                      note(r, STEP_ROW_MAX, s->top);
    if (x->choices.kernel->option[KERNEL_OPTION_TRITON_FA_ARGUMENT] == 0) {
        sub(r, s->shift, s->zero, s->top, SITE_EXP_BIAS); /* a sign, no rounding */
        fma_(r, s->P, s->S, s->scale, s->shift, SITE_EXP_ARG);
    } else {
        mul(r, s->P, s->S, s->scale, SITE_EXP_ARG);
        sub(r, s->P, s->P, s->top, SITE_EXP_ARG);
    }
}

/* P = (S c + mask) - m, the mask 0 or -1e6. */
static void on_diagonal(struct run *r, const struct attention *x, struct triton *s, int i, int j,
                        struct tile *hidden)
{
    struct visible visible = visible_tile(x, i, j);
    fill(r, hidden, 0);
    mask_fill(r, hidden, &visible, -1e6);
    fma_(r, s->P, s->S, s->scale, hidden, SITE_SCORE);                  note(r, STEP_MASK, s->P);
    copy(r, s->top, s->m);
    row_max(r, s->top, s->P);                                           note(r, STEP_ROW_MAX, s->top);
    sub(r, s->P, s->P, s->top, SITE_EXP_ARG);
}

static void fold_tile(struct run *r, const struct attention *x, struct triton *s, int i, int j,
                      struct tile *hidden)
{
    bool diagonal = x->head->problem->mask.causal && j * KEY_TILE >= i * QUERY_TILE;
    r->where.j = (uint32_t)j;
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    if (diagonal)
        on_diagonal(r, x, s, i, j, hidden);
    else
        off_diagonal(r, x, s);
    exp2_(r, s->P, s->P, SITE_EXP);                                     note(r, STEP_EXP, s->P);
    fill(r, s->sum, 0);
    row_sum(r, s->sum, s->P, SITE_ROW_SUM);
    sub(r, s->decay, s->m, s->top, SITE_RESCALE_ARG);
    exp2_(r, s->decay, s->decay, SITE_RESCALE);                         note(r, STEP_RESCALE, s->decay);
    triton_sum(r, s, s->l, s->decay, s->sum, SITE_ROW_SUM);
    copy(r, s->m, s->top);                                              note(r, STEP_ROW_SUM, s->l);
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->O);
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
}

void kernel_triton_fa(struct run *r, struct attention *x)
{
    const struct kernel_choice *c = x->choices.kernel;
    bool causal = x->head->problem->mask.causal;
    struct triton s;
    s.fused_sum = c->option[KERNEL_OPTION_TRITON_FA_SUM] == 0;
    s.ieee_division = c->option[KERNEL_OPTION_TRITON_FA_DIVISION] == 1;
    triton_new(r, x, &s);
    mul(r, s.scale, s.scale, s.log2e, SITE_CONST);
    struct tile *hidden = tile_new(r, TENSOR_SCRATCH, QUERY_TILE, KEY_TILE);
    for (int i = 0; i < query_tiles(x); i++) {
        int end = causal ? (i + 1) * (QUERY_TILE / KEY_TILE) : key_tiles(x);
        triton_begin(r, x, &s, i, 1);
        anchor(r, s.m, 0.69314718055994531); /* powers of 2 */
        for (int j = 0; j < end; j++)
            fold_tile(r, x, &s, i, j, hidden);
        log2_(r, s.L, s.l, SITE_LSE);
        add(r, s.L, s.m, s.L, SITE_LSE);                                note(r, STEP_LSE, s.L);
        triton_divide(r, &s, s.O, s.l, SITE_NORMALIZE);                 note(r, STEP_NORMALIZE, s.O);
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.L);
    }
}
