/* autocast.c: FlashAttention-2 in a framework's operations, as low-precision training runs it: P V of
   a key tile is a product of its own whose result is stored in 16 bits (site PV_STORE) before it is
   added to O~ and divided; the shipped kernel keeps it in fp32 and rounds the quotient.

   Where the maximum of a row is repeated several weights are exactly 1, their values' sum has one bit
   too many half of the time, and the small terms behind it decide the rounding: always away from 0
   where the values have one sign (arXiv 2510.04212).  choices.repeated_max is the fix published
   there: a repeated maximum is multiplied by it if positive, replaced by 0 if negative, so that every
   weight is below 1.  Weights vanish where (repeated_max - 1) m passes the exponential's range. */
#include <math.h>

#include "simulator/algorithms/warps.h"

struct autocast {
    struct state s;
    struct tile *m_tile, *equal, *count, *shifted, *Y;
    struct tile *zero, *one, *times;
};

static void autocast_new(struct run *r, const struct attention *x, struct autocast *b)
{
    int Br = x->choices.Br, Bc = x->choices.Bc;
    state_new(r, x, &b->s);
    b->Y = tile_new(r, TENSOR_Y, Br, (int)x->head->D);
    b->m_tile = tile_new(r, TENSOR_M_TILE, Br, 1);
    b->equal = tile_new(r, TENSOR_SCRATCH, Br, Bc);
    b->count = tile_new(r, TENSOR_SCRATCH, Br, 1);
    b->shifted = tile_new(r, TENSOR_SCRATCH, Br, 1);
    b->zero = tile_new(r, TENSOR_CONSTANT, 1, 1);
    b->one = tile_new(r, TENSOR_CONSTANT, 1, 1);
    b->times = tile_new(r, TENSOR_CONSTANT, 1, 1);
    fill(r, b->zero, 0);
    fill(r, b->one, 1);
    constant(r, b->times, (struct real){x->choices.repeated_max, 1, REAL_PLAIN});
}

/* m_tile where one key has it or none is seen, else the larger of times m_tile and 0. */
static void shift_repeated(struct run *r, struct autocast *b)
{
    struct state *s = &b->s;
    fill(r, b->m_tile, -INFINITY);
    row_max(r, b->m_tile, s->S);                                        note(r, STEP_ROW_MAX, b->m_tile);
    sub(r, b->equal, s->S, b->m_tile, SITE_EXP_ARG);
    select_bad(r, b->equal, b->zero, b->equal, b->one);
    mask(r, b->equal, &s->visible);
    fill(r, b->count, -1);
    row_sum(r, b->count, b->equal, SITE_ROW_SUM); /* 0, 1, ..: no rounding */
    max_(r, b->count, b->count, b->zero);
    max_(r, b->shifted, b->m_tile, b->zero);
    mul(r, b->shifted, b->shifted, b->times, SITE_EXP_BIAS);
    select_bad(r, b->shifted, b->shifted, b->count, b->m_tile);
    max_(r, s->m, s->m, b->shifted);                                    note(r, STEP_SHIFT, s->m);
}

static void fold_key_tile(struct run *r, struct attention *x, struct autocast *b)
{
    struct state *s = &b->s;
    scores(r, x, s);
    hide_unseen(r, s);

    copy(r, s->decay, s->m);
    if (x->choices.repeated_max > 0) {
        shift_repeated(r, b);
    } else {
        row_max(r, s->m, s->S);                                         note(r, STEP_ROW_MAX, s->m);
    }
    rescale_state(r, s);
    exp_shift(r, s->P, s->S, s->m, SITE_EXP_ARG, SITE_EXP);             note(r, STEP_EXP, s->P);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    fill(r, b->Y, 0);
    mma_ab(r, b->Y, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, b->Y);
    round_at(r, b->Y, SITE_PV_STORE);                                   note(r, STEP_PV_STORE, b->Y);
    add(r, s->O, s->O, b->Y, SITE_OUT_ACC);                             note(r, STEP_PV_STORE, s->O);
}

void autocast(struct run *r, struct attention *x)
{
    struct autocast b;
    int tiles = key_tiles(x);
    autocast_new(r, x, &b);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &b.s, i);
        for (int j = 0; j < tiles; j++)
            if (state_enter(r, x, &b.s, i, j))
                fold_key_tile(r, x, &b);
        struct visible seen = visible_tiles(x, i, 0, tiles - 1);
        divide_rows(r, b.s.O, b.s.O, b.s.l, &seen, SITE_NORMALIZE);
        finish(r, x, &b.s, i);
    }
}
