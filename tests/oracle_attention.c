/* oracle_attention.c: ten attention algorithms, a row at a time, every rounding written out.

   Follows the listings (algorithms.def names them) and the contracts of the headers.  Where every
   score so far is -inf (l = 0) the listings that divide as they go put it off.  A key tile that no
   row of the query tile sees is not visited: a row that sees nothing in a visited tile is rescaled
   (by 1, rounded again) and in fa1 multiplied and divided. */
#include "tests/oracle_row.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void standard_tile(struct row *w, const struct span *t)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->s[c - t->begin] = convert(w, AT_SCORE_STORE, w->s[c - t->begin]);
    w->m = tile_maximum(w, t);
    weigh(w, t, w->m);
    w->l = weights_added(w, t, 0);
    divide_weights(w, t, w->l);
    round_weights(w, t);
    add_values(w, t, w->O);
}

static void online_tile(struct row *w, const struct span *t)
{
    double m_old = w->m;
    w->m = larger(m_old, tile_maximum(w, t));
    double a = exp_shift(w, m_old, w->m, AT_RESCALE_ARG, AT_RESCALE);
    double kept = mul(w, AT_ROW_SUM, w->l, a);
    weigh(w, t, w->m);
    w->l = weights_added(w, t, kept);
    divide_weights(w, t, w->l);
    round_weights(w, t);
    rescale(w, w->O, w->l != 0 ? divide(w, AT_NORMALIZE, kept, w->l) : kept);
    add_values(w, t, w->O);
}

static void fa1_tile(struct row *w, const struct span *t)
{
    double m_tile = tile_maximum(w, t);
    weigh(w, t, m_tile);
    double l_tile = weights_added(w, t, 0);
    double m_new = larger(w->m, m_tile);
    double a = exp_shift(w, w->m, m_new, AT_RESCALE_ARG, AT_RESCALE);
    double b = exp_shift(w, m_tile, m_new, AT_RESCALE_ARG, AT_RESCALE);
    double kept = mul(w, AT_ROW_SUM, w->l, a);
    w->l = add(w, AT_ROW_SUM, kept, mul(w, AT_ROW_SUM, l_tile, b));
    round_weights(w, t);
    for (int64_t d = 0; d < w->o->D; d++)
        w->Y[d] = 0;
    add_values(w, t, w->Y);
    rescale(w, w->O, kept);
    rescale(w, w->Y, b);
    for (int64_t d = 0; d < w->o->D; d++)
        w->O[d] = add(w, AT_OUT_ACC, w->O[d], w->Y[d]);
    normalize_block(w);
    w->m = m_new;
}

static void fa2_tile(struct row *w, const struct span *t)
{
    double m_old = w->m, m_tile = tile_maximum(w, t);
    w->m = larger(m_old, m_tile);
    double a = exp_shift(w, m_old, w->m, AT_RESCALE_ARG, AT_RESCALE);
    w->l = mul(w, AT_ROW_SUM, w->l, a);
    rescale(w, w->O, a);
    weigh(w, t, w->tile_max ? m_tile : w->m);
    w->l = weights_added(w, t, w->l);
    round_weights(w, t);
    add_values(w, t, w->O);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* fa2's tile shared out by keys: of a full tile each warp has ceil(tile / warps) neighbouring keys,
   the last warps fewer or none.  Its weights are relative to the maximum of all the warps, its sums
   start from zero; they are added to the running ones in the order of the warps. */
static void splitk_tile(struct row *w, const struct span *t)
{
    const struct oracle *o = w->o;
    int64_t width = o->tile > 0 ? o->tile : o->Nk, each = (width + o->warps - 1) / o->warps;
    double m_old = w->m;
    w->m = larger(m_old, tile_maximum(w, t));
    double a = exp_shift(w, m_old, w->m, AT_RESCALE_ARG, AT_RESCALE);
    w->l = mul(w, AT_ROW_SUM, w->l, a);
    rescale(w, w->O, a);
    weigh(w, t, w->m);
    for (int64_t share = 0; share < width; share += each) {
        struct row warp = *w;
        int64_t from = smaller(t->begin + share, t->filled);
        int64_t to = smaller(t->begin + share + each, t->filled);
        struct span keys = {from, to, to};
        warp.p += from - t->begin;
        w->l = add(w, AT_ROW_SUM, w->l, weights_added(&warp, &keys, 0));
        round_weights(&warp, &keys);
        for (int64_t d = 0; d < o->D; d++)
            w->Y[d] = 0;
        add_values(&warp, &keys, w->Y);
        for (int64_t d = 0; d < o->D; d++)
            w->O[d] = add(w, AT_OUT_ACC, w->O[d], w->Y[d]);
    }
}

static void unstable_tile(struct row *w, const struct span *t)
{
    double m_tile = tile_maximum(w, t);
    weigh(w, t, m_tile);
    w->l = weights_added(w, t, w->l);
    round_weights(w, t);
    add_values(w, t, w->O);
    w->m = larger(w->m, m_tile);
}

/* What the tile's weights are relative to: its maximum, but where that is repeated (keys whose
   distance from it, rounded at EXP_ARG, is 0) `repeated_max` times it if it is positive, 0 if it is
   negative: then every weight is below 1. */
static double shift_of(const struct row *w, const struct span *t, double m)
{
    const struct oracle *o = w->o;
    int64_t equal = 0;
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c)) {
            double d = operate(w, AT_EXP_ARG, ORACLE_SUB, w->s[c - t->begin], m, 0);
            equal += d == 0 || isnan(d);
        }
    if (o->repeated_max == 0 || equal < 2)
        return m;
    double times = oracle_constant(o->site[AT_CONST], o->saturate, o->repeated_max, 1);
    return mul(w, AT_EXP_BIAS, larger(m, 0), times);
}

/* A framework's operations: P V of a tile is stored before it is added. */
static void autocast_tile(struct row *w, const struct span *t)
{
    double m_old = w->m;
    w->m = larger(m_old, shift_of(w, t, tile_maximum(w, t)));
    double a = exp_shift(w, m_old, w->m, AT_RESCALE_ARG, AT_RESCALE);
    w->l = mul(w, AT_ROW_SUM, w->l, a);
    rescale(w, w->O, a);
    weigh(w, t, w->m);
    w->l = weights_added(w, t, w->l);
    round_weights(w, t);
    for (int64_t d = 0; d < w->o->D; d++)
        w->Y[d] = 0;
    add_values(w, t, w->Y);
    for (int64_t d = 0; d < w->o->D; d++)
        w->O[d] = add(w, AT_OUT_ACC, w->O[d], convert(w, AT_PV_STORE, w->Y[d]));
}

enum width { WIDTH_GIVEN, WIDTH_ALL, WIDTH_ONE };

static const struct listing {
    const char *name;
    void (*fold_tile)(struct row *, const struct span *);
    enum width width;
    bool divides_at_end, max_and_start_faults, tail_fault;
} listings[] = {
    {"standard", standard_tile, WIDTH_ALL, false, false, false},
    {"online", online_tile, WIDTH_ONE, false, false, false},
    {"fa1", fa1_tile, WIDTH_GIVEN, false, false, false},
    {"fa2", fa2_tile, WIDTH_GIVEN, true, false, false},
    {"fa1-printed", online_tile, WIDTH_GIVEN, false, false, false},
    {"fa2-printed", fa2_tile, WIDTH_GIVEN, true, true, true},
    {"unstable", unstable_tile, WIDTH_GIVEN, true, false, true},
    {"autocast", autocast_tile, WIDTH_GIVEN, true, false, false},
    {"splitk", splitk_tile, WIDTH_GIVEN, true, false, false},
    {"splitq", fa2_tile, WIDTH_GIVEN, true, false, false}, /* a row is one warp's alone */
};

/* The key tiles in the order of visit; returns how many.  spans has room for Nk + tiles. */
static int64_t lay_tiles(const struct oracle *o, const struct listing *a, struct span *spans)
{
    const int64_t *ends = a->width == WIDTH_GIVEN ? o->ends : NULL;
    int64_t step = a->width == WIDTH_ONE ? 1 : a->width == WIDTH_ALL ? 0 : o->tile;
    int64_t count = 0;
    for (int64_t begin = 0; ends != NULL ? count < o->tiles : begin < o->Nk; count++) {
        int64_t end = step > 0 && o->Nk - begin > step ? begin + step : o->Nk;
        if (ends != NULL)
            end = ends[count];
        assert(begin <= end && end <= o->Nk);
        spans[count] = (struct span){begin, end, end};
        begin = end;
    }
    assert(count == 0 ? o->Nk == 0 : spans[count - 1].end == o->Nk);
    if (a->tail_fault && o->no_tail_mask && count > 0) {
        struct span *last = &spans[count - 1];
        if (last->end - last->begin < o->tile)
            last->filled = last->begin + o->tile;
    }
    for (int64_t i = 0; o->descending && i < count / 2; i++) {
        struct span first = spans[i];
        spans[i] = spans[count - 1 - i];
        spans[count - 1 - i] = first;
    }
    return count;
}

static int64_t first_key(const struct oracle *o, int64_t r)
{
    return o->lo != NULL ? o->lo[r] : 0;
}

static int64_t key_limit(const struct oracle *o, int64_t r)
{
    return o->hi != NULL && o->hi[r] < o->Nk ? o->hi[r] : o->Nk;
}

/* Does any row of r's query tile see a key of the span? */
static bool visited(const struct oracle *o, int64_t r, const struct span *t)
{
    int64_t from = o->row_tile > 0 ? r - r % o->row_tile : 0;
    int64_t to = o->row_tile > 0 && from + o->row_tile < o->Nq ? from + o->row_tile : o->Nq;
    if (t->filled > t->end)
        return true;
    for (int64_t i = from; i < to; i++) {
        int64_t begin = first_key(o, i) > t->begin ? first_key(o, i) : t->begin;
        int64_t end = key_limit(o, i) < t->end ? key_limit(o, i) : t->end;
        if (begin < end)
            return true;
    }
    return false;
}

static double *numbers(int64_t count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert(x != NULL);
    return x;
}

/* w: the state before the first tile. */
static void run_row(const struct listing *a, struct row w, int64_t r, const struct span *spans,
                    int64_t count, double *O, double *lse)
{
    const struct oracle *o = w.o;
    w.lo = first_key(o, r);
    w.hi = key_limit(o, r);
    w.q = o->q + r * o->D;
    w.O = O;
    for (int64_t d = 0; d < o->D; d++)
        O[d] = 0;
    for (int64_t j = 0; j < count; j++)
        if (visited(o, r, &spans[j])) {
            take_scores(&w, &spans[j]);
            a->fold_tile(&w, &spans[j]);
        }
    if (a->divides_at_end)
        normalize(&w);
    else
        settle(&w);
    *lse = add(&w, AT_LSE, w.m, operate(&w, AT_LSE, ORACLE_LOG, w.l, 0, 0));
    for (int64_t d = 0; d < o->D; d++)
        O[d] = convert(&w, AT_OUT, O[d]);
}

void oracle_run(const struct oracle *o, const char *algorithm, double *O, double *lse)
{
    const struct listing *a = listings, *end = a + sizeof listings / sizeof *listings;
    while (a < end && strcmp(a->name, algorithm) != 0)
        a++;
    assert(a < end);
    struct span *spans = calloc((size_t)(o->Nk + o->tiles) + 1, sizeof *spans);
    assert(spans != NULL);
    int64_t count = lay_tiles(o, a, spans);
    double *s = numbers(o->Nk + o->tile), *p = numbers(o->Nk + o->tile), *Y = numbers(o->D);
    struct row fresh = {.o = o, .s = s, .p = p, .Y = Y};
    fresh.scale = oracle_constant(o->site[AT_CONST], o->saturate, o->scale_value, o->scale_root);
    fresh.cap = oracle_constant(o->site[AT_CONST], o->saturate, o->softcap, 1);
    fresh.tile_max = a->max_and_start_faults && o->tile_max;
    fresh.m = a->max_and_start_faults && o->zero_start ? 0 : -INFINITY;
    for (int64_t r = 0; r < o->Nq; r++)
        run_row(a, fresh, r, spans, count, O + r * o->D, &lse[r]);
    free(spans);
    free(s);
    free(p);
    free(Y);
}
