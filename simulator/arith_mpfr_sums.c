/* arith_mpfr_sums.c: the MPFR arithmetic's verbs that sum: products of tiles and sums of rows.

   Every element of dst is a sum of terms in their order; a term is a number or a product, or
   invisible, which counts as +0 in its place.  Written for clarity, one term at a time: it judges
   the fast arithmetics. */
#include "simulator/arith_mpfr_sums.h"

#include <assert.h>
#include <stdlib.h>

/* The order as it applies here: a tensor core that rounds nothing is a chain. */
static const struct order *order_of(const struct run *r, enum site site)
{
    static const struct order chain = {.kind = ORDER_SEQ};
    const struct site_rule *rule = site == SITE_NONE ? NULL : &r->policy->site[site];
    bool exact = rule != NULL && (rule->format == FORMAT_EXACT || rule->format == FORMAT_FP64);
    return rule == NULL || (rule->order.kind == ORDER_MMA && exact) ? &chain : &rule->order;
}

static void sum_begin(struct sum *s, const struct run *r, enum site site, enum site product, int n)
{
    work_begin(&s->work, r, site, product);
    s->rounds_product = !s->work.arg.exact;
    s->start = START_ACCUMULATOR;
    s->order = order_of(r, site);
    s->tree = n == 0                          ? NULL
              : s->order->kind == ORDER_TREE     ? s->order->tree
              : s->order->kind == ORDER_PAIRWISE ? order_pairwise(n)
                                                 : NULL;
    assert(s->tree == NULL || s->tree->terms == n);
    s->count = n;
    s->terms = malloc(((size_t)n + 1) * sizeof *s->terms);
    s->room = s->tree != NULL                 ? s->tree->depth
              : s->order->kind == ORDER_LANES ? order_columns(s->order)
                                              : 0;
    s->stack = malloc((2 * (size_t)s->room + 1) * sizeof *s->stack);
    assert(s->terms != NULL && s->stack != NULL);
    for (int i = 0; i < 2 * s->room; i++)
        mpfr_init2(s->stack[i], element_precision(r));
}

static void sum_end(struct sum *s)
{
    for (int i = 0; i < 2 * s->room; i++)
        mpfr_clear(s->stack[i]);
    free(s->stack);
    free(s->terms);
    work_end(&s->work);
}

void sum_leaf(struct sum *s, mpfr_ptr dst, const struct term *t)
{
    if (t->a == NULL)
        mpfr_set_zero(dst, 1);
    else if (t->b == NULL)
        mpfr_set(dst, t->a, MPFR_RNDN);
    else
        round_mul(s->rounds_product ? &s->work.arg : &s->work.at, dst, t->a, t->b);
}

static mpfr_srcptr sum_tree(struct sum *s)
{
    int top = 0;
    for (int i = 0; i < s->tree->length; i++) {
        int n = s->tree->program[i];
        if (n != ORDER_ADD) {
            sum_leaf(s, s->stack[top++], &s->terms[n]);
            continue;
        }
        top--;
        round_add(&s->work.at, s->stack[top - 1], s->stack[top - 1], s->stack[top]);
    }
    return s->stack[0];
}

void sum_step(struct sum *s, mpfr_ptr acc, const struct term *t)
{
    struct rounding *at = &s->work.at;
    if (t->a == NULL) {
        round_add(at, acc, acc, at->zero);
    } else if (t->b == NULL) {
        round_add(at, acc, acc, t->a);
    } else if (s->rounds_product) {
        round_mul(&s->work.arg, s->work.term, t->a, t->b);
        round_add(at, acc, acc, s->work.term);
    } else {
        round_fma(at, acc, t->a, t->b, acc);
    }
}

/* The sum's first operand joins the accumulator. */
static void start_sum(struct sum *s, mpfr_ptr acc, mpfr_srcptr decay, mpfr_srcptr first)
{
    if (s->start == START_RESCALED && s->order->kind == ORDER_LANES && !s->order->lanes->fused) {
        round_mul(&s->work.at, acc, acc, decay);
        round_add(&s->work.at, acc, acc, first);
    } else if (s->start == START_RESCALED)
        round_fma(&s->work.at, acc, acc, decay, first);
    else
        mpfr_set(acc, first, MPFR_RNDN);
}

/* acc takes s->terms.  After two invisible terms (a tiny acc may become -0, then +0) acc + 0 = acc:
   the next ones are passed over. */
static void take_terms(struct sum *s, mpfr_ptr acc, mpfr_srcptr decay)
{
    int first = 0;
    if (s->count == 0)
        return;
    if (s->order->kind == ORDER_MMA) {
        if (s->start == START_RESCALED)
            round_mul(&s->work.at, acc, acc, decay);
        else if (s->start == START_FIRST)
            mpfr_set_zero(acc, 1);
        sum_mma(s, acc);
        return;
    }
    if (s->tree != NULL || s->order->kind == ORDER_LANES) {
        mpfr_srcptr total = s->tree != NULL ? sum_tree(s) : sum_lanes(s);
        if (s->start == START_ACCUMULATOR)
            round_add(&s->work.at, acc, acc, total);
        else
            start_sum(s, acc, decay, total);
        return;
    }
    if (s->start != START_ACCUMULATOR) {
        sum_leaf(s, s->work.term, &s->terms[first++]);
        start_sum(s, acc, decay, s->work.term);
    }
    for (int i = first; i < s->count; i++)
        if (i < first + 2 || s->terms[i].a != NULL || s->terms[i - 1].a != NULL ||
            s->terms[i - 2].a != NULL)
            sum_step(s, acc, &s->terms[i]);
}

void mma_abt_mpfr(const struct run *r, const struct call *c)
{
    struct sum s;
    assert(c->a->cols == c->b->cols && c->dst->rows == c->a->rows && c->dst->cols == c->b->rows);
    assert(c->dst != c->a && c->dst != c->b);
    sum_begin(&s, r, c->site, SITE_NONE, c->a->cols);
    sum_factors(&s, r, c->site, c->a, c->b);
    if (s.order->kind == ORDER_LANES)
        s.start = START_FIRST; /* the butterfly's result as it is: no addition */
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            mpfr_ptr acc = element(c->dst, row, col);
            for (int d = 0; d < s.count; d++)
                s.terms[d] = (struct term){element(c->a, row, d), element(c->b, col, d)};
            mpfr_set_zero(acc, 1);
            take_terms(&s, acc, NULL);
        }
    }
    c->dst->masked = false;
    sum_end(&s);
}

void mma_ab_mpfr(const struct run *r, const struct call *c)
{
    struct sum s;
    assert(c->a->cols == c->b->rows && c->dst->rows == c->a->rows && c->dst->cols == c->b->cols);
    assert(c->dst != c->a && c->dst != c->b);
    sum_begin(&s, r, c->site, c->arg_site, c->a->cols);
    sum_factors(&s, r, c->site, c->a, c->b);
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            for (int k = 0; k < s.count; k++) {
                bool seen = is_visible(c->a, row, k);
                s.terms[k] = (struct term){seen ? element(c->a, row, k) : NULL,
                                          element(c->b, k, col)};
            }
            take_terms(&s, element(c->dst, row, col), NULL);
        }
    }
    sum_end(&s);
}

void mma_atb_mpfr(const struct run *r, const struct call *c)
{
    struct sum s;
    assert(c->a->rows == c->b->rows && c->dst->rows == c->a->cols && c->dst->cols == c->b->cols);
    assert(c->dst != c->a && c->dst != c->b);
    sum_begin(&s, r, c->site, c->arg_site, c->a->rows);
    sum_factors(&s, r, c->site, c->a, c->b);
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            for (int k = 0; k < s.count; k++) {
                bool seen = is_visible(c->a, k, row);
                s.terms[k] = (struct term){seen ? element(c->a, k, row) : NULL,
                                          element(c->b, k, col)};
            }
            take_terms(&s, element(c->dst, row, col), NULL);
        }
    }
    sum_end(&s);
}

/* dst (a column; a column for each lane) = the sum over each row of a, or of a `factor`; `decay`
   for START_RESCALED. */
static void sum_rows(const struct run *r, const struct call *c, enum sum_start start,
                     const struct tile *factor, const struct tile *decay)
{
    struct sum s;
    assert(c->dst->rows == c->a->rows);
    sum_begin(&s, r, c->site, SITE_NONE, c->a->cols);
    sum_factors(&s, r, c->site, c->a, factor);
    s.start = start;
    for (int row = 0; row < c->a->rows; row++) {
        for (int col = 0; col < s.count; col++) {
            bool seen = is_visible(c->a, row, col);
            s.terms[col] = (struct term){seen ? element(c->a, row, col) : NULL,
                                         factor != NULL ? broadcast(factor, row, col) : NULL};
        }
        if (c->dst->cols > 1) {
            sum_lanes_apart(&s, c->dst, row, decay != NULL ? broadcast(decay, row, 0) : NULL);
            continue;
        }
        mpfr_set(s.work.acc, element(c->dst, row, 0), MPFR_RNDN);
        take_terms(&s, s.work.acc, decay != NULL ? broadcast(decay, row, 0) : NULL);
        mpfr_set(element(c->dst, row, 0), s.work.acc, MPFR_RNDN);
    }
    sum_end(&s);
}

void row_sum_mpfr(const struct run *r, const struct call *c)
{
    sum_rows(r, c, START_ACCUMULATOR, NULL, NULL);
}

void row_sum_rescaled_mpfr(const struct run *r, const struct call *c)
{
    sum_rows(r, c, c->b != NULL ? START_RESCALED : START_FIRST, NULL, c->b);
}

void row_dot_mpfr(const struct run *r, const struct call *c)
{
    sum_rows(r, c, START_ACCUMULATOR, c->b, NULL);
}

/* a's columns are the lanes: the butterfly alone. */
static void fold_lanes(const struct run *r, const struct call *c)
{
    struct sum s;
    sum_begin(&s, r, c->site, SITE_NONE, c->a->cols);
    for (int row = 0; row < c->a->rows; row++) {
        for (int col = 0; col < s.count; col++) {
            s.terms[col] =
                (struct term){is_visible(c->a, row, col) ? element(c->a, row, col) : NULL, NULL};
            sum_leaf(&s, s.stack[col], &s.terms[col]);
        }
        if (s.count > 1)
            sum_butterfly(&s);
        mpfr_set(element(c->dst, row, 0), s.stack[0], MPFR_RNDN);
    }
    sum_end(&s);
}

void fold_mpfr(const struct run *r, const struct call *c)
{
    const struct order *o = &r->policy->site[c->site].order;
    if (o->kind == ORDER_LANES && (c->a->cols == 1 || c->a->cols == o->lanes->lanes))
        fold_lanes(r, c);
    else
        sum_rows(r, c, START_FIRST, NULL, NULL);
}

void row_max_mpfr(const struct run *r, const struct call *c)
{
    struct work w;
    assert(c->dst->rows == c->a->rows && c->dst->cols == 1);
    work_begin(&w, r, SITE_NONE, SITE_NONE);
    for (int row = 0; row < c->a->rows; row++) {
        mpfr_set(w.acc, element(c->dst, row, 0), MPFR_RNDN);
        for (int col = 0; col < c->a->cols; col++)
            if (is_visible(c->a, row, col))
                larger(w.acc, w.acc, element(c->a, row, col), r->policy->max_ignores_nan);
        mpfr_set(element(c->dst, row, 0), w.acc, MPFR_RNDN);
    }
    work_end(&w);
}
