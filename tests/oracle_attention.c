/* oracle_attention.c: seven attention algorithms, a row at a time, every rounding written out.

   Follows the listings (algorithms.def names them) and the contracts of the header.  A key outside
   a row's interval counts as +0 in sums and is passed over in maxima; its value reaches nothing.
   Where every score so far is -inf (l = 0) the listings that divide as they go put it off.  A key tile that no row of the query tile sees is not visited: a row that sees
   nothing in a visited tile is rescaled (by 1, rounded again) and in fa1 multiplied and divided. */
#include "tests/oracle_attention.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys begin .. end - 1, and beyond them, up to `filled`, keys of score 0 and value 0. */
struct span {
    int64_t begin, end, filled;
};

struct row {
    const struct oracle *o;
    int64_t lo, hi; /* visible keys */
    const double *q;
    double scale, cap; /* rounded at CONST */
    bool tile_max;     /* fault: weights relative to the tile's maximum */
    bool seen;         /* has any key been visible in the tiles visited so far? */
    double m, l;
    double *O, *Y; /* D */
    double *s, *p; /* scores and weights of the tile's keys; nothing where not visible */
};

static double operate(const struct row *w, enum oracle_site at, enum oracle_operation operation,
                      double a, double b, double c)
{
    return oracle_rounded(w->o->site[at], w->o->saturate, operation, a, b, c);
}

static double add(const struct row *w, enum oracle_site at, double a, double b)
{
    return operate(w, at, ORACLE_ADD, a, b, 0);
}

static double mul(const struct row *w, enum oracle_site at, double a, double b)
{
    return operate(w, at, ORACLE_MUL, a, b, 0);
}

static double divide(const struct row *w, enum oracle_site at, double a, double b)
{
    return operate(w, at, ORACLE_DIV, a, b, 0);
}

static double convert(const struct row *w, enum oracle_site at, double x)
{
    int n = w->o->scale_log2[at];
    return ldexp(operate(w, at, ORACLE_CONVERT, ldexp(x, n), 0, 0), -n);
}

/* e^(x - m); m = -inf, nothing but -inf seen so far, counts as 0. */
static double exp_shift(const struct row *w, double x, double m, enum oracle_site argument,
                        enum oracle_site at)
{
    double difference = operate(w, argument, ORACLE_SUB, x, m == -INFINITY ? 0 : m, 0);
    return operate(w, at, ORACLE_EXP, difference, 0, 0);
}

/* NaN if either is; +0 above -0. */
static double larger(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static bool visible(const struct row *w, int64_t c)
{
    return c >= w->o->Nk || (w->lo <= c && c < w->hi);
}

static double score(const struct row *w, int64_t c)
{
    const struct oracle *o = w->o;
    if (c >= o->Nk)
        return 0;
    double s = 0;
    for (int64_t d = 0; d < o->D; d++)
        s = operate(w, AT_SCORE_ACC, ORACLE_FMA, w->q[d], o->k[c * o->D + d], s);
    s = mul(w, AT_SCORE, s, w->scale);
    if (o->softcap > 0) {
        s = divide(w, AT_SOFTCAP, s, w->cap);
        s = operate(w, AT_SOFTCAP, ORACLE_TANH, s, 0, 0);
        s = mul(w, AT_SOFTCAP, s, w->cap);
    }
    return s;
}

static void take_scores(struct row *w, const struct span *t)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c)) {
            w->s[c - t->begin] = score(w, c);
            w->seen = true;
        }
}

static double tile_maximum(const struct row *w, const struct span *t)
{
    double m = -INFINITY;
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            m = larger(m, w->s[c - t->begin]);
    return m;
}

static void weigh(struct row *w, const struct span *t, double m)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->p[c - t->begin] = exp_shift(w, w->s[c - t->begin], m, AT_EXP_ARG, AT_EXP);
}

static double weights_added(const struct row *w, const struct span *t, double l)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        l = add(w, AT_ROW_SUM, l, visible(w, c) ? w->p[c - t->begin] : 0);
    return l;
}

/* p / l; put off while nothing has been summed (l = 0: every score so far is -inf). */
static void divide_weights(struct row *w, const struct span *t, double l)
{
    if (l == 0)
        return;
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->p[c - t->begin] = divide(w, AT_NORMALIZE, w->p[c - t->begin], l);
}

static void round_weights(struct row *w, const struct span *t)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->p[c - t->begin] = convert(w, AT_PROB, w->p[c - t->begin]);
}

static void add_values(const struct row *w, const struct span *t, double *sum)
{
    const struct oracle *o = w->o;
    for (int64_t c = t->begin; c < t->filled; c++) {
        double p = w->p[c - t->begin];
        for (int64_t d = 0; d < o->D; d++) {
            double v = c < o->Nk ? o->v[c * o->D + d] : 0;
            if (!visible(w, c))
                sum[d] = add(w, AT_OUT_ACC, sum[d], 0);
            else if (o->site[AT_PV_PRODUCT] == FORMAT_EXACT)
                sum[d] = operate(w, AT_OUT_ACC, ORACLE_FMA, p, v, sum[d]);
            else
                sum[d] = add(w, AT_OUT_ACC, sum[d], mul(w, AT_PV_PRODUCT, p, v));
        }
    }
}

static void rescale(const struct row *w, double *sum, double factor)
{
    for (int64_t d = 0; d < w->o->D; d++)
        sum[d] = mul(w, AT_RESCALE_OUT, sum[d], factor);
}

/* A row that saw keys but whose scores are all -inf is 0/0; one that saw none stays 0. */
static void settle(struct row *w)
{
    for (int64_t d = 0; d < w->o->D && w->l == 0 && w->seen; d++)
        w->O[d] = NAN;
}

/* O / l; put off while nothing has been summed. */
static void normalize_block(struct row *w)
{
    for (int64_t d = 0; d < w->o->D && w->l != 0; d++)
        w->O[d] = divide(w, AT_NORMALIZE, w->O[d], w->l);
}

/* O / l, and 0 in a row that has seen no key. */
static void normalize(struct row *w)
{
    for (int64_t d = 0; d < w->o->D; d++)
        w->O[d] = w->seen ? divide(w, AT_NORMALIZE, w->O[d], w->l) : 0;
}

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

static void unstable_tile(struct row *w, const struct span *t)
{
    double m_tile = tile_maximum(w, t);
    weigh(w, t, m_tile);
    w->l = weights_added(w, t, w->l);
    round_weights(w, t);
    add_values(w, t, w->O);
    w->m = larger(w->m, m_tile);
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
