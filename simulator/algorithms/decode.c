/* decode.c: one query row whose keys are cut into groups, so that many parts of a GPU can work on
   it: a softmax for each group, then one output out of what the groups leave (records.c).  The
   teaching form: the grouping, the records' formats and the merge are parameters (decode.def).

   A group's weights are relative to its own maximum, known before the first weight; or, as shipped
   kernels walk, to a maximum that runs over its key tiles (choices.running_max). */
#include "simulator/algorithms/records.h"

#include <math.h>
#include <stdlib.h>

/* P = e^(S - m), and what it adds to l and O. */
static void weigh(struct run *r, struct attention *x, struct state *s, const struct tile *S)
{
    exp_shift(r, s->P, S, s->m, SITE_EXP_ARG, SITE_EXP);                note(r, STEP_EXP, s->P);
    if (x->choices.sum_rounded) {
        round_at(r, s->P, SITE_PROB);                                   note(r, STEP_ROUND_P, s->P);
    }
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    round_at(r, s->P, SITE_PROB); /* once more changes nothing */       note(r, STEP_ROUND_P, s->P);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
}

/* Twice over the group's tiles: for the maximum, which keeps their scores, then for the weights. */
static void known_maximum(struct run *r, struct attention *x, struct state *s, struct tile **S,
                          int i, int g)
{
    for (int n = 0; n < group_tiles(x, g); n++) {
        if (!state_meet(r, x, s, i, group_tile(x, g, n)))
            continue;
        load_k(r, x, s->K, group_tile(x, g, n));
        s->S = S[n];
        scores(r, x, s);
        hide_unseen(r, s);
        row_max(r, s->m, s->S);                                         note(r, STEP_ROW_MAX, s->m);
    }
    for (int n = 0; n < group_tiles(x, g); n++) {
        if (!state_meet(r, x, s, i, group_tile(x, g, n)))
            continue;
        load_v(r, x, s->V, group_tile(x, g, n));
        weigh(r, x, s, S[n]);
    }
}

/* Once over them: what was summed is rescaled where the maximum grows. */
static void running_maximum(struct run *r, struct attention *x, struct state *s, int i, int g)
{
    for (int n = 0; n < group_tiles(x, g); n++) {
        if (!state_enter(r, x, s, i, group_tile(x, g, n)))
            continue;
        scores(r, x, s);
        hide_unseen(r, s);
        copy(r, s->decay, s->m);
        row_max(r, s->m, s->S);                                         note(r, STEP_ROW_MAX, s->m);
        exp_shift(r, s->decay, s->decay, s->m, SITE_RESCALE_ARG, SITE_RESCALE);
        mul(r, s->l, s->l, s->decay, SITE_ROW_SUM);
        mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                 note(r, STEP_RESCALE, s->decay);
                                                                        note(r, STEP_RESCALE, s->l);
                                                                        note(r, STEP_RESCALE, s->O);
        weigh(r, x, s, s->S);
    }
}

static bool group_seen(const struct attention *x, int i, int g)
{
    bool seen = false;
    for (int n = 0; n < group_tiles(x, g) && !seen; n++) {
        struct visible v = visible_tile(x, i, group_tile(x, g, n));
        seen = visible_any(&v, 1);
    }
    return seen;
}

void decode(struct run *r, struct attention *x)
{
    struct state s;
    struct records c;
    int most = group_tiles(x, 0);
    struct tile **S = malloc(((size_t)most + 1) * sizeof *S);
    if (S == NULL)
        abort();
    for (int n = 0; n < most; n++)
        S[n] = tile_new(r, TENSOR_S, 1, x->choices.Bc);
    state_new(r, x, &s);
    records_new(r, x, &c);
    for (int i = 0; i < query_tiles(x); i++) {
        state_begin(r, x, &s, i);
        for (int g = 0; g < c.G; g++) {
            r->where.split = (uint32_t)g;
            state_empty(r, &s);
            bool seen = group_seen(x, i, g);
            if (x->choices.running_max)
                running_maximum(r, x, &s, i, g);
            else
                known_maximum(r, x, &s, S, i, g);
            leave_record(r, x->choices.merge, &s, &c, g, seen);
        }
        merge_records(r, x, &s, &c, i);
    }
    free(S);
}
