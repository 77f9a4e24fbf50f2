/* oracle_groups.c: attention by groups of keys, every rounding written out.

   All sums are chains in ascending order from +0; a hidden or empty place of a visited tile adds +0;
   every product of a merge is rounded before it is added.  e^(x - m) with m = -inf is e^x. */
#include "tests/oracle_groups.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct record {
    double m, l, L;
    double *O; /* D */
};

struct row {
    const struct oracle *o;
    const struct oracle_groups *g;
    int64_t r, lo, hi;
    double scale, cap;
};

static double operate(const struct oracle *o, enum oracle_site at, enum oracle_operation operation,
                      double a, double b, double c)
{
    return oracle_rounded(o->site[at], o->saturate, operation, a, b, c);
}

static double convert(const struct oracle *o, enum oracle_site at, double x)
{
    int n = o->scale_log2[at];
    return ldexp(operate(o, at, ORACLE_CONVERT, ldexp(x, n), 0, 0), -n);
}

static double weight_of(const struct oracle *o, double x, double m, enum oracle_site argument,
                        enum oracle_site at)
{
    double shift = m == -INFINITY ? 0 : m;
    return operate(o, at, ORACLE_EXP, operate(o, argument, ORACLE_SUB, x, shift, 0), 0, 0);
}

static double larger(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static bool sees_key(const struct row *w, int64_t c)
{
    return c >= w->lo && c < w->hi;
}

static double score(const struct row *w, int64_t c)
{
    const struct oracle *o = w->o;
    double s = 0;
    for (int64_t d = 0; d < o->D; d++)
        s = operate(o, AT_SCORE_ACC, ORACLE_FMA, o->q[w->r * o->D + d], o->k[c * o->D + d], s);
    s = operate(o, AT_SCORE, ORACLE_MUL, s, w->scale, 0);
    if (o->softcap > 0) {
        s = operate(o, AT_SOFTCAP, ORACLE_DIV, s, w->cap, 0);
        s = operate(o, AT_SOFTCAP, ORACLE_TANH, s, 0, 0);
        s = operate(o, AT_SOFTCAP, ORACLE_MUL, s, w->cap, 0);
    }
    return s;
}

static double tile_maximum(const struct row *w, int64_t tile, double m)
{
    for (int64_t c = tile * w->o->tile; c < (tile + 1) * w->o->tile; c++)
        if (sees_key(w, c))
            m = larger(m, score(w, c));
    return m;
}

/* One product p v, added. */
static double step(const struct oracle *o, double sum, double p, double v)
{
    if (o->site[AT_PV_PRODUCT] == FORMAT_EXACT)
        return operate(o, AT_OUT_ACC, ORACLE_FMA, p, v, sum);
    return operate(o, AT_OUT_ACC, ORACLE_ADD, sum, operate(o, AT_PV_PRODUCT, ORACLE_MUL, p, v, 0),
                   0);
}

/* Key c of a visited tile, relative to m; hidden keys add +0. */
static void take_key(const struct row *w, int64_t c, double m, struct record *to)
{
    const struct oracle *o = w->o;
    double p = 0, stored = 0;
    bool seen = sees_key(w, c);
    if (seen) {
        p = weight_of(o, score(w, c), m, AT_EXP_ARG, AT_EXP);
        stored = convert(o, AT_PROB, p);
    }
    to->l = operate(o, AT_ROW_SUM, ORACLE_ADD, to->l, w->g->sum_rounded ? stored : p, 0);
    for (int64_t d = 0; d < o->D; d++)
        to->O[d] = seen ? step(o, to->O[d], stored, o->v[c * o->D + d])
                        : operate(o, AT_OUT_ACC, ORACLE_ADD, to->O[d], 0, 0);
}

/* The tiles of group g in the order of visit, those of which the row sees something. */
static int64_t list_tiles(const struct row *w, int64_t group, int64_t *list)
{
    const struct oracle *o = w->o;
    int64_t tiles = (o->Nk + o->tile - 1) / o->tile, count = 0;
    for (int64_t n = 0; n < tiles; n++) {
        int64_t j = o->descending ? tiles - 1 - n : n;
        int64_t owner = w->g->tiles == 0 ? j % w->g->groups : j / w->g->tiles;
        bool any = false;
        for (int64_t c = j * o->tile; c < (j + 1) * o->tile; c++)
            any = any || sees_key(w, c);
        if (owner == group && any)
            list[count++] = j;
    }
    return count;
}

static void fold_group(const struct row *w, int64_t group, struct record *to)
{
    const struct oracle *o = w->o;
    int64_t *list = calloc((size_t)o->Nk + 1, sizeof *list), count = list_tiles(w, group, list);
    to->m = -INFINITY;
    to->l = 0;
    for (int64_t d = 0; d < o->D; d++)
        to->O[d] = 0;
    for (int64_t n = 0; n < count && !w->g->running_max; n++)
        to->m = tile_maximum(w, list[n], to->m);
    for (int64_t n = 0; n < count; n++) {
        if (w->g->running_max) {
            double old = to->m;
            to->m = tile_maximum(w, list[n], old);
            double a = weight_of(o, old, to->m, AT_RESCALE_ARG, AT_RESCALE);
            to->l = operate(o, AT_ROW_SUM, ORACLE_MUL, to->l, a, 0);
            for (int64_t d = 0; d < o->D; d++)
                to->O[d] = operate(o, AT_RESCALE_OUT, ORACLE_MUL, to->O[d], a, 0);
        }
        for (int64_t c = list[n] * o->tile; c < (list[n] + 1) * o->tile; c++)
            take_key(w, c, to->m, to);
    }
    free(list);
}

static bool is(const struct row *w, const char *merge)
{
    return strcmp(w->g->merge, merge) == 0;
}

static void store_record(const struct row *w, struct record *to)
{
    const struct oracle *o = w->o;
    bool divides = is(w, "lse") || is(w, "lse-sum") || is(w, "normalised-max-sum");
    for (int64_t d = 0; d < o->D; d++) {
        if (divides && to->l != 0)
            to->O[d] = operate(o, AT_NORMALIZE, ORACLE_DIV, to->O[d], to->l, 0);
        to->O[d] = convert(o, AT_PARTIAL_OUT, to->O[d]);
    }
    to->L = operate(o, AT_LSE, ORACLE_ADD, to->m, operate(o, AT_LSE, ORACLE_LOG, to->l, 0, 0), 0);
    to->L = convert(o, AT_PARTIAL_STAT, to->L);
    if (is(w, "lse") || is(w, "lse-sum"))
        return;
    to->m = convert(o, AT_PARTIAL_STAT, to->m);
    to->l = convert(o, AT_PARTIAL_STAT, to->l);
}

/* sum = sum + w x, two roundings. */
static double added(const struct oracle *o, double sum, double w, double x)
{
    return operate(o, AT_COMBINE_ACC, ORACLE_ADD, sum,
                   operate(o, AT_COMBINE_ACC, ORACLE_MUL, w, x, 0), 0);
}

static void merge_running(const struct row *w, const struct record *record, struct record *all)
{
    const struct oracle *o = w->o;
    for (int64_t g = 0; g < w->g->groups; g++) {
        double old = all->m;
        all->m = larger(old, record[g].m);
        double a = weight_of(o, old, all->m, AT_COMBINE_ARG, AT_COMBINE_WEIGHT);
        double b = weight_of(o, record[g].m, all->m, AT_COMBINE_ARG, AT_COMBINE_WEIGHT);
        double kept = operate(o, AT_COMBINE_SUM, ORACLE_MUL, all->l, a, 0);
        double gained = operate(o, AT_COMBINE_SUM, ORACLE_MUL, record[g].l, b, 0);
        all->l = operate(o, AT_COMBINE_SUM, ORACLE_ADD, kept, gained, 0);
        for (int64_t d = 0; d < o->D; d++) {
            double left = operate(o, AT_COMBINE_ACC, ORACLE_MUL, all->O[d], a, 0);
            all->O[d] = added(o, left, record[g].O[d], b);
        }
    }
}

static void merge_at_once(const struct row *w, const struct record *record, struct record *all)
{
    const struct oracle *o = w->o;
    bool by_lse = is(w, "lse") || is(w, "lse-sum");
    int64_t G = w->g->groups;
    double *weight = calloc((size_t)(2 * G) + 1, sizeof *weight), *share = weight + G;
    for (int64_t g = 0; g < G; g++)
        all->m = larger(all->m, by_lse ? record[g].L : record[g].m);
    for (int64_t g = 0; g < G; g++) {
        weight[g] = weight_of(o, by_lse ? record[g].L : record[g].m, all->m, AT_COMBINE_ARG,
                              AT_COMBINE_WEIGHT);
        share[g] = by_lse ? weight[g]
                          : operate(o, AT_COMBINE_WEIGHT, ORACLE_MUL, weight[g], record[g].l, 0);
        all->l = operate(o, AT_COMBINE_SUM, ORACLE_ADD, all->l, share[g], 0);
    }
    double L = operate(o, AT_LSE, ORACLE_ADD, all->m, operate(o, AT_LSE, ORACLE_LOG, all->l, 0, 0), 0);
    for (int64_t g = 0; g < G; g++) {
        double w_g = is(w, "lse")       ? weight_of(o, record[g].L, L, AT_COMBINE_ARG, AT_COMBINE_WEIGHT)
                     : is(w, "max-sum") ? weight[g]
                                        : share[g];
        for (int64_t d = 0; d < o->D; d++)
            all->O[d] = added(o, all->O[d], w_g, record[g].O[d]);
    }
    free(weight);
}

/* 0 where nothing is seen; NaN where all that is seen is -inf. */
static void finish(const struct row *w, struct record *all, double *O, double *lse)
{
    const struct oracle *o = w->o;
    for (int64_t d = 0; d < o->D; d++) {
        double x = all->O[d];
        if (w->lo >= w->hi)
            x = is(w, "lse") ? x : 0;
        else if (!is(w, "lse"))
            x = operate(o, AT_NORMALIZE, ORACLE_DIV, x, all->l, 0);
        else if (all->l == 0)
            x = NAN;
        O[d] = convert(o, AT_OUT, x);
    }
    *lse = operate(o, AT_LSE, ORACLE_ADD, all->m, operate(o, AT_LSE, ORACLE_LOG, all->l, 0, 0), 0);
}

void oracle_grouped(const struct oracle *o, const struct oracle_groups *g, double *O, double *lse)
{
    struct row w = {.o = o, .g = g};
    struct record *record = calloc((size_t)g->groups + 1, sizeof *record), *all = record + g->groups;
    double *room = calloc((size_t)((g->groups + 1) * o->D) + 1, sizeof *room);
    assert(record != NULL && room != NULL && o->tile > 0);
    w.scale = oracle_constant(o->site[AT_CONST], o->saturate, o->scale_value, o->scale_root);
    w.cap = oracle_constant(o->site[AT_CONST], o->saturate, o->softcap, 1);
    for (w.r = 0; w.r < o->Nq; w.r++) {
        w.lo = o->lo != NULL ? o->lo[w.r] : 0;
        w.hi = o->hi != NULL && o->hi[w.r] < o->Nk ? o->hi[w.r] : o->Nk;
        for (int64_t i = 0; i <= g->groups; i++)
            record[i].O = room + i * o->D;
        for (int64_t i = 0; i < g->groups; i++) {
            fold_group(&w, i, &record[i]);
            store_record(&w, &record[i]);
        }
        all->m = -INFINITY;
        all->l = 0;
        for (int64_t d = 0; d < o->D; d++)
            all->O[d] = 0;
        (is(&w, "running") ? merge_running : merge_at_once)(&w, record, all);
        finish(&w, all, O + w.r * o->D, &lse[w.r]);
    }
    free(record);
    free(room);
}
