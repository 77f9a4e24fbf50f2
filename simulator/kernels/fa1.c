/* fa1.c: FlashAttention-1 as shipped, v1.0.9: fmha_fprop_kernel_1xN.h, fmha/softmax.h, gmem_tile.h.

   Key blocks ascending, query tiles of 16 rows.  Between blocks O is kept normalised, and of the
   softmax only the LSE: a block starts its maximum at the earlier LSE and weighs the earlier output
   by e^(LSE - m).  Four warps split the columns of a block; their outputs are added in order. */
#include <math.h>

#include "simulator/kernels/exponential.h"
#include "simulator/simulate.h"

enum { ROWS = 16, WARPS = 4, CHUNK = 16 }; /* warp w owns columns 64 i + 16 w .. + 15 */

void fa1_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    (void)c;
    *Br = ROWS;
    *Bc = p->D > 64 || p->Nk <= 128 ? 128 : 256;
}

struct fa1 {
    struct tile *Q, *K, *V, *S, *P;
    struct tile *m, *bias, *scaled, *decay, *l, *inverse, *O, *L; /* scaled: m times the scale */
    struct tile *W[WARPS], *chunk, *values;
    struct tile *scale, *inverse_scale, *scale_log2, *minus_scale_log2, *log2e, *ln2, *one, *never;
};

static void constants(struct run *r, const struct problem *p, struct fa1 *s)
{
    struct tile **all[] = {&s->scale, &s->inverse_scale, &s->scale_log2, &s->minus_scale_log2,
                           &s->log2e, &s->ln2, &s->one, &s->never};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        *all[n] = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){p->scale.value, p->scale.root, REAL_PLAIN});
    times_real(r, s->scale_log2, s->scale, (struct real){1, 1, REAL_TIMES_LOG2E});
    times_real(r, s->minus_scale_log2, s->scale, (struct real){-1, 1, REAL_TIMES_LOG2E});
    rcp(r, s->inverse_scale, s->scale, SITE_CONST);
    constant(r, s->log2e, (struct real){1, 1, REAL_TIMES_LOG2E});
    constant(r, s->ln2, (struct real){1, 1, REAL_TIMES_LN2});
    fill(r, s->one, 1);
    fill(r, s->never, -INFINITY);
}

static void fa1_new(struct run *r, const struct attention *x, struct fa1 *s)
{
    int D = (int)x->head->D, Bc = x->choices.Bc;
    struct tile **columns[] = {&s->m, &s->l, &s->decay, &s->L, &s->bias, &s->scaled, &s->inverse};
    static const enum tensor_name names[] = {TENSOR_M, TENSOR_L_SUM, TENSOR_DECAY, TENSOR_LSE,
                                             TENSOR_SCRATCH, TENSOR_SCRATCH, TENSOR_SCRATCH};
    for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)
        *columns[n] = tile_new(r, names[n], ROWS, 1);
    s->Q = tile_new(r, TENSOR_Q, ROWS, D);
    s->K = tile_new(r, TENSOR_K, Bc, D);
    s->V = tile_new(r, TENSOR_V, Bc, D);
    s->S = tile_new(r, TENSOR_S, ROWS, Bc);
    s->P = tile_new(r, TENSOR_P, ROWS, Bc);
    s->O = tile_new(r, TENSOR_O, ROWS, D);
    for (int w = 0; w < WARPS; w++)
        s->W[w] = tile_new(r, TENSOR_Y, ROWS, D);
    s->chunk = tile_new(r, TENSOR_P, ROWS, CHUNK);
    s->values = tile_new(r, TENSOR_V, CHUNK, D);
    constants(r, x->head->problem, s);
}

/* m: of this block's scores and, but for the first block, the earlier LSE divided by the scale. */
static void weights(struct run *r, const struct attention *x, struct fa1 *s, int i, int j, bool first)
{
    struct visible visible = visible_tile(x, i, j);
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    mma_abt(r, s->S, s->Q, s->K, SITE_SCORE_ACC);                       note(r, STEP_QK, s->S);
    mask_fill(r, s->S, &visible, -INFINITY);                            note(r, STEP_MASK, s->S);
    fill(r, s->m, -INFINITY);
    if (!first)
        mul(r, s->m, s->L, s->inverse_scale, SITE_EXP_BIAS);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    mul(r, s->bias, s->m, s->minus_scale_log2, SITE_EXP_BIAS);
    fma_(r, s->P, s->S, s->scale_log2, s->bias, SITE_EXP_ARG);
    exp2_(r, s->P, s->P, SITE_EXP);                                     note(r, STEP_EXP, s->P);
    fill(r, s->l, 0);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB); /* after the sum: l keeps unrounded P */
                                                                        note(r, STEP_ROUND_P, s->P);
}

/* Warp w's share of P V, from zero, its columns ascending. */
static void warp_product(struct run *r, struct fa1 *s, int w)
{
    r->where.warp = (uint32_t)w;
    fill(r, s->W[w], 0);
    for (int column = w * CHUNK; column < s->P->cols; column += WARPS * CHUNK) {
        take_block(r, s->chunk, s->P, 0, column);
        take_block(r, s->values, s->V, column, 0);
        mma_ab(r, s->W[w], s->chunk, s->values, SITE_PV_PRODUCT, SITE_OUT_ACC);
    }
                                                                        note(r, STEP_PV, s->W[w]);
}

/* The earlier sum and output, weighed by c = e^(LSE - m), and this block's. */
static void put_together(struct run *r, struct fa1 *s, bool first)
{
    if (!first) {
        copy(r, s->decay, s->L);
        exponential(r, s->decay, s->scaled, s->log2e, SITE_RESCALE_ARG, SITE_RESCALE);
                                                                        note(r, STEP_RESCALE, s->decay);
        add(r, s->l, s->l, s->decay, SITE_ROW_SUM);                     note(r, STEP_ROW_SUM, s->l);
        fma_(r, s->O, s->O, s->decay, s->W[0], SITE_COMBINE_ACC);
    } else {
        copy(r, s->O, s->W[0]);
    }
    for (int w = 1; w < WARPS; w++)
        add(r, s->O, s->O, s->W[w], SITE_COMBINE_ACC);
                                                                        note(r, STEP_MERGE, s->O);
}

static void fold_block(struct run *r, const struct attention *x, struct fa1 *s, int i, int j,
                       bool first)
{
    r->where.j = (uint32_t)j;
    weights(r, x, s, i, j, first);
    for (int w = 0; w < WARPS; w++)
        warp_product(r, s, w);
    mul(r, s->scaled, s->m, s->scale, SITE_LSE);
    put_together(r, s, first);
    log2_(r, s->L, s->l, SITE_LSE);
    fma_(r, s->L, s->L, s->ln2, s->scaled, SITE_LSE);
    select_bad(r, s->L, s->L, s->l, s->never);                          note(r, STEP_LSE, s->L);
    rcp(r, s->inverse, s->l, SITE_NORMALIZE);
    select_bad(r, s->inverse, s->inverse, s->l, s->one);
    mul(r, s->O, s->O, s->inverse, SITE_NORMALIZE);                     note(r, STEP_NORMALIZE, s->O);
}

void kernel_fa1(struct run *r, struct attention *x)
{
    struct fa1 s;
    fa1_new(r, x, &s);
    anchor(r, NULL, 1);
    for (int i = 0; i < query_tiles(x); i++) {
        bool first = true;
        r->where.i = (uint32_t)i;
        load_q(r, x, s.Q, i);
        fill(r, s.O, 0);
        fill(r, s.L, -INFINITY);
        for (int j = 0; j < key_tiles(x); j++) {
            if (x->head->problem->mask.causal && i < j * x->choices.Bc / ROWS)
                break;
            fold_block(r, x, &s, i, j, first);
            first = false;
        }
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.L);
    }
}
