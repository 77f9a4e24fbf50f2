/* records.c: a group's record, and the merges of decode.def: COMBINE sites, one listing each. */
#include "simulator/algorithms/records.h"

#include <math.h>

static bool normalises(enum merge m)
{
    return m == MERGE_LSE || m == MERGE_LSE_SUM || m == MERGE_NORMALISED_MAX_SUM;
}

static bool merges_by_lse(enum merge m)
{
    return m == MERGE_LSE || m == MERGE_LSE_SUM;
}

void records_new(struct run *r, const struct attention *x, struct records *c)
{
    int G = x->choices.grouping.splits, D = (int)x->head->D;
    *c = (struct records){.G = G};
    c->m = tile_new(r, TENSOR_M, 1, G);
    c->l = tile_new(r, TENSOR_L_SUM, 1, G);
    c->L = tile_new(r, TENSOR_GROUP_LSE, 1, G);
    c->O = tile_new(r, TENSOR_GROUP_O, G, D);
    c->weight = tile_new(r, TENSOR_GROUP_WEIGHT, 1, G);
    c->share = tile_new(r, TENSOR_GROUP_WEIGHT, 1, G);
    c->quotient = tile_new(r, TENSOR_O, 1, D);
    c->O_g = tile_new(r, TENSOR_GROUP_O, 1, D);
    c->m_g = tile_new(r, TENSOR_M, 1, 1);
    c->l_g = tile_new(r, TENSOR_L_SUM, 1, 1);
}

static void note_record(struct run *r, bool seen, const struct tile *t)
{
    if (seen)
        note(r, STEP_GROUP, t);
}

void leave_record(struct run *r, enum merge merge, struct state *s, struct records *c, int g,
                  bool seen)
{
    if (normalises(merge)) {
        divide_summed(r, s->O, c->quotient, s->l);
        s->O->name = TENSOR_GROUP_O;
    }
    round_at(r, s->O, SITE_PARTIAL_OUT);                                note_record(r, seen, s->O);
    put_block(r, c->O, g, 0, s->O);
    s->O->name = TENSOR_O_ACC;
    if (merges_by_lse(merge)) {
        s->L->name = TENSOR_GROUP_LSE;
        log_(r, s->L, s->l, SITE_LSE);
        add(r, s->L, s->m, s->L, SITE_LSE);
        round_at(r, s->L, SITE_PARTIAL_STAT);                           note_record(r, seen, s->L);
        put_block(r, c->L, 0, g, s->L);
        s->L->name = TENSOR_LSE;
    } else {
        round_at(r, s->m, SITE_PARTIAL_STAT);                           note_record(r, seen, s->m);
        round_at(r, s->l, SITE_PARTIAL_STAT);                           note_record(r, seen, s->l);
        put_block(r, c->m, 0, g, s->m);
        put_block(r, c->l, 0, g, s->l);
    }
}

/* m and l of all groups; c->weight: e^(L_g - max L_g) or e^(m_g - m); c->share: what each adds to
   l. */
static void weigh_groups(struct run *r, enum merge merge, struct state *s, struct records *c)
{
    const struct tile *height = merges_by_lse(merge) ? c->L : c->m;
    state_empty(r, s);
    row_max(r, s->m, height);                                           note(r, STEP_COMBINE, s->m);
    exp_shift(r, c->weight, height, s->m, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
    if (merges_by_lse(merge))
        copy(r, c->share, c->weight);
    else
        mul(r, c->share, c->weight, c->l, SITE_COMBINE_WEIGHT);
    row_sum(r, s->l, c->share, SITE_COMBINE_SUM);                       note(r, STEP_COMBINE, s->l);
}

/* O = sum w_g O_g, a group at a time; products rounded like the sum. */
static void add_groups(struct run *r, struct state *s, const struct tile *weight,
                       const struct records *c)
{
                                                                        note(r, STEP_COMBINE, weight);
    mma_ab(r, s->O, weight, c->O, SITE_COMBINE_ACC, SITE_COMBINE_ACC);  note(r, STEP_COMBINE, s->O);
}

/* Weights relative to L: they add up to 1, so nothing is divided. */
static void merge_lse(struct run *r, struct attention *x, struct state *s, struct records *c, int i)
{
    weigh_groups(r, MERGE_LSE, s, c);
    log_(r, s->L, s->l, SITE_LSE);
    add(r, s->L, s->m, s->L, SITE_LSE);                                 note(r, STEP_LSE, s->L);
    exp_shift(r, c->weight, c->L, s->L, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
    s->O->name = TENSOR_O;
    add_groups(r, s, c->weight, c);
    settle_rows(r, x, s, i);
    conclude(r, x, s, i);
}

/* From group to group, as an online softmax whose steps are groups. */
static void merge_running(struct run *r, struct state *s, struct records *c)
{
    state_empty(r, s);
    for (int g = 0; g < c->G; g++) {
        r->where.j = (uint32_t)g; /* a step of its own for each group */
        take_block(r, c->m_g, c->m, 0, g);
        take_block(r, c->l_g, c->l, 0, g);
        take_block(r, c->O_g, c->O, g, 0);
        copy(r, s->decay, s->m);
        max_(r, s->m, s->m, c->m_g);                                    note(r, STEP_COMBINE, s->m);
        exp_shift(r, s->decay, s->decay, s->m, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
        exp_shift(r, c->m_g, c->m_g, s->m, SITE_COMBINE_ARG, SITE_COMBINE_WEIGHT);
        mul(r, s->l, s->l, s->decay, SITE_COMBINE_SUM);
        mul(r, c->l_g, c->l_g, c->m_g, SITE_COMBINE_SUM);
        add(r, s->l, s->l, c->l_g, SITE_COMBINE_SUM);                   note(r, STEP_COMBINE, s->l);
        mul(r, s->O, s->O, s->decay, SITE_COMBINE_ACC);
        mul(r, c->O_g, c->O_g, c->m_g, SITE_COMBINE_ACC);
        add(r, s->O, s->O, c->O_g, SITE_COMBINE_ACC);                   note(r, STEP_COMBINE, s->O);
    }
}

void merge_records(struct run *r, struct attention *x, struct state *s, struct records *c, int i)
{
    enum merge merge = x->choices.merge;
    r->where.split = (uint32_t)c->G; /* of no group */
    if (merge == MERGE_LSE) {
        merge_lse(r, x, s, c, i);
        return;
    }
    if (merge == MERGE_RUNNING) {
        merge_running(r, s, c);
    } else {
        weigh_groups(r, merge, s, c);
        add_groups(r, s, merge == MERGE_MAX_SUM ? c->weight : c->share, c);
    }
    struct visible seen = visible_tiles(x, i, 0, key_tiles(x) - 1);
    divide_rows(r, s->O, s->O, s->l, &seen, SITE_NORMALIZE);
    finish(r, x, s, i);
}
