/* oracle_row.h: the numbers of one query row, for oracle_attention.c: its scores, weights and sums
   over a tile's keys, one number and one rounding at a time.

   A key outside the row's interval counts as +0 in sums and is passed over in maxima; its value
   reaches nothing. */
#ifndef FLASHULP_TESTS_ORACLE_ROW_H
#define FLASHULP_TESTS_ORACLE_ROW_H

#include <math.h>

#include "tests/oracle_attention.h"

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

static inline double operate(const struct row *w, enum oracle_site at, enum oracle_operation operation,
                      double a, double b, double c)
{
    return oracle_rounded(w->o->site[at], w->o->saturate, operation, a, b, c);
}

static inline double add(const struct row *w, enum oracle_site at, double a, double b)
{
    return operate(w, at, ORACLE_ADD, a, b, 0);
}

static inline double mul(const struct row *w, enum oracle_site at, double a, double b)
{
    return operate(w, at, ORACLE_MUL, a, b, 0);
}

static inline double divide(const struct row *w, enum oracle_site at, double a, double b)
{
    return operate(w, at, ORACLE_DIV, a, b, 0);
}

static inline double convert(const struct row *w, enum oracle_site at, double x)
{
    int n = w->o->scale_log2[at];
    return ldexp(operate(w, at, ORACLE_CONVERT, ldexp(x, n), 0, 0), -n);
}

/* e^(x - m); m = -inf, nothing but -inf seen so far, counts as 0. */
static inline double exp_shift(const struct row *w, double x, double m, enum oracle_site argument,
                        enum oracle_site at)
{
    double difference = operate(w, argument, ORACLE_SUB, x, m == -INFINITY ? 0 : m, 0);
    return operate(w, at, ORACLE_EXP, difference, 0, 0);
}

/* NaN if either is; +0 above -0. */
static inline double larger(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static inline bool visible(const struct row *w, int64_t c)
{
    return c >= w->o->Nk || (w->lo <= c && c < w->hi);
}

static inline double score(const struct row *w, int64_t c)
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

static inline void take_scores(struct row *w, const struct span *t)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c)) {
            w->s[c - t->begin] = score(w, c);
            w->seen = true;
        }
}

static inline double tile_maximum(const struct row *w, const struct span *t)
{
    double m = -INFINITY;
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            m = larger(m, w->s[c - t->begin]);
    return m;
}

static inline void weigh(struct row *w, const struct span *t, double m)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->p[c - t->begin] = exp_shift(w, w->s[c - t->begin], m, AT_EXP_ARG, AT_EXP);
}

static inline double weights_added(const struct row *w, const struct span *t, double l)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        l = add(w, AT_ROW_SUM, l, visible(w, c) ? w->p[c - t->begin] : 0);
    return l;
}

/* p / l; put off while nothing has been summed (l = 0: every score so far is -inf). */
static inline void divide_weights(struct row *w, const struct span *t, double l)
{
    if (l == 0)
        return;
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->p[c - t->begin] = divide(w, AT_NORMALIZE, w->p[c - t->begin], l);
}

static inline void round_weights(struct row *w, const struct span *t)
{
    for (int64_t c = t->begin; c < t->filled; c++)
        if (visible(w, c))
            w->p[c - t->begin] = convert(w, AT_PROB, w->p[c - t->begin]);
}

static inline void add_values(const struct row *w, const struct span *t, double *sum)
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

static inline void rescale(const struct row *w, double *sum, double factor)
{
    for (int64_t d = 0; d < w->o->D; d++)
        sum[d] = mul(w, AT_RESCALE_OUT, sum[d], factor);
}

/* A row that saw keys but whose scores are all -inf is 0/0; one that saw none stays 0. */
static inline void settle(struct row *w)
{
    for (int64_t d = 0; d < w->o->D && w->l == 0 && w->seen; d++)
        w->O[d] = NAN;
}

/* O / l; put off while nothing has been summed. */
static inline void normalize_block(struct row *w)
{
    for (int64_t d = 0; d < w->o->D && w->l != 0; d++)
        w->O[d] = divide(w, AT_NORMALIZE, w->O[d], w->l);
}

/* O / l, and 0 in a row that has seen no key. */
static inline void normalize(struct row *w)
{
    for (int64_t d = 0; d < w->o->D; d++)
        w->O[d] = w->seen ? divide(w, AT_NORMALIZE, w->O[d], w->l) : 0;
}

#endif
