/* arith_mpfr.c: the arithmetic `mpfr`: exact sites keep run->precision bits, every other site is
   rounded once, as arith_mpfr.h says.  It judges the float and double arithmetics bit for bit, so
   it shares none of their code.  Here: elements, the verbs that work element by element, masks. */
#include "simulator/arith_mpfr.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void *element_new(const struct run *r, size_t count)
{
    mpfr_t *e = malloc((count > 0 ? count : 1) * sizeof *e);
    assert(e != NULL);
    for (size_t i = 0; i < count; i++) {
        mpfr_init2(e[i], element_precision(r));
        mpfr_set_zero(e[i], 1);
    }
    return e;
}

static void element_free(void *data, size_t count)
{
    mpfr_t *e = data;
    for (size_t i = 0; i < count; i++)
        mpfr_clear(e[i]);
    free(e);
}

static double get(const void *data, size_t i)
{
    return mpfr_get_d(((const mpfr_t *)data)[i], MPFR_RNDN);
}

static void get_wide(const void *data, size_t i, double wide[2])
{
    mpfr_srcptr x = ((const mpfr_t *)data)[i];
    mpfr_t rest;
    wide[0] = mpfr_get_d(x, MPFR_RNDN);
    wide[1] = 0;
    if (!isfinite(wide[0]))
        return;
    mpfr_init2(rest, mpfr_get_prec(x));
    mpfr_sub_d(rest, x, wide[0], MPFR_RNDN);
    wide[1] = mpfr_get_d(rest, MPFR_RNDN);
    mpfr_clear(rest);
}

static void set(void *data, size_t i, double x)
{
    mpfr_set_d(((mpfr_t *)data)[i], x, MPFR_RNDN);
}

static void add_number(void *data, size_t i, double x)
{
    mpfr_ptr e = ((mpfr_t *)data)[i];
    mpfr_add_d(e, e, x, MPFR_RNDN);
}

static void move(void *dst, size_t i, const void *src, size_t j)
{
    mpfr_set(((mpfr_t *)dst)[i], ((const mpfr_t *)src)[j], MPFR_RNDN);
}

static bool same(const void *a, size_t i, const void *b, size_t j)
{
    return mpfr_equal_p(((const mpfr_t *)a)[i], ((const mpfr_t *)b)[j]);
}

/* A column, row or scalar spread over dst has no intervals of dst's columns. */
static void copy_intervals(struct tile *dst, const struct tile *a)
{
    if (dst == a)
        return;
    dst->masked = a->masked && a->rows == dst->rows && a->cols == dst->cols;
    for (int row = 0; dst->masked && row < a->rows; row++) {
        dst->lo[row] = a->lo[row];
        dst->hi[row] = a->hi[row];
    }
}

/* y = what the verb makes of one element of each operand; returns MPFR's ternary value. */
static int operate(enum verb verb, mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    switch (verb) {
    case VERB_ROUND_AT: return mpfr_set(y, a, MPFR_RNDN);
    case VERB_ADD: return mpfr_add(y, a, b, MPFR_RNDN);
    case VERB_SUB: return mpfr_sub(y, a, b, MPFR_RNDN);
    case VERB_MUL: return mpfr_mul(y, a, b, MPFR_RNDN);
    case VERB_FMA: return mpfr_fma(y, a, b, c, MPFR_RNDN);
    case VERB_DIVIDE_ROWS:
    case VERB_DIV: return mpfr_div(y, a, b, MPFR_RNDN);
    case VERB_RCP: return mpfr_ui_div(y, 1, a, MPFR_RNDN);
    case VERB_EXP: return mpfr_exp(y, a, MPFR_RNDN);
    case VERB_EXP2: return mpfr_exp2(y, a, MPFR_RNDN);
    case VERB_LOG: return mpfr_log(y, a, MPFR_RNDN);
    case VERB_LOG2: return mpfr_log2(y, a, MPFR_RNDN);
    case VERB_TANH: return mpfr_tanh(y, a, MPFR_RNDN);
    default: assert(!"not an operation on elements"); return 0;
    }
}

/* dst = round(a verb b verb c); operands the verb does not take are NULL. */
static void elementwise(const struct run *r, const struct call *c)
{
    struct work w;
    struct tile *dst = c->dst;
    work_begin(&w, r, c->site, SITE_NONE);
    for (int row = 0; row < dst->rows; row++) {
        for (int col = 0; col < dst->cols; col++) {
            mpfr_srcptr a = operand(&w.at, broadcast(c->a, row, col));
            mpfr_srcptr b = c->b != NULL ? operand(&w.at, broadcast(c->b, row, col)) : NULL;
            mpfr_srcptr d = c->c != NULL ? operand(&w.at, broadcast(c->c, row, col)) : NULL;
            settle(&w.at, operate(c->verb, w.at.y, a, b, d));
            mpfr_set(element(dst, row, col), w.at.y, MPFR_RNDN);
        }
    }
    copy_intervals(dst, c->a);
    work_end(&w);
}

/* A row that sees no key gives +0, whatever stands in a and b. */
static void divide_rows_mpfr(const struct run *r, const struct call *c)
{
    elementwise(r, c);
    for (int row = 0; row < c->dst->rows; row++) {
        int lo, hi;
        visible_interval(c->visible, row, &lo, &hi);
        for (int col = 0; lo >= hi && col < c->dst->cols; col++)
            mpfr_set_zero(element(c->dst, row, col), 1);
    }
}

/* w->at.y = verb(x), settled.  What is computed in floats is, then rounded once to the site. */
static void special_element(struct work *w, enum verb verb, mpfr_srcptr x)
{
    static const enum function functions[VERB_COUNT] = {
        [VERB_EXP] = FUNCTION_EXP, [VERB_EXP2] = FUNCTION_EXP2, [VERB_LOG] = FUNCTION_LOG,
        [VERB_LOG2] = FUNCTION_LOG2, [VERB_TANH] = FUNCTION_TANH, [VERB_RCP] = FUNCTION_RCP,
    };
    struct rounding *at = &w->at;
    x = operand(at, x);
    struct special_choice choice = w->run->policy->special;
    bool wide = at->exact || at->format->precision >= 53;
    if (!wide && !special_is_cr(choice, functions[verb])) {
        float in = mpfr_get_flt(x, MPFR_RNDN), out;
        special_float(choice, functions[verb], &out, &in, 1);
        settle(at, mpfr_set_flt(at->y, out, MPFR_RNDN));
    } else {
        settle(at, operate(verb, at->y, x, NULL, NULL));
    }
}

static void special(const struct run *r, const struct call *c)
{
    struct work w;
    work_begin(&w, r, c->site, SITE_NONE);
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            special_element(&w, c->verb, broadcast(c->a, row, col));
            mpfr_set(element(c->dst, row, col), w.at.y, MPFR_RNDN);
        }
    }
    copy_intervals(c->dst, c->a);
    work_end(&w);
}

/* e^(a - m), the difference rounded at the argument's site; m = -inf: e^a; +0 where not visible. */
static void exp_shift_mpfr(const struct run *r, const struct call *c)
{
    struct work w;
    struct tile *dst = c->dst;
    assert(dst->rows == c->a->rows && dst->cols == c->a->cols);
    work_begin(&w, r, c->site, c->arg_site);
    for (int row = 0; row < dst->rows; row++) {
        for (int col = 0; col < dst->cols; col++) {
            mpfr_srcptr m = operand(&w.arg, broadcast(c->b, row, col));
            mpfr_srcptr a = operand(&w.arg, element(c->a, row, col));
            bool none = mpfr_inf_p(m) && mpfr_signbit(m);
            settle(&w.arg, none ? mpfr_set(w.arg.y, a, MPFR_RNDN)
                                : mpfr_sub(w.arg.y, a, m, MPFR_RNDN));
            if (is_visible(c->a, row, col))
                special_element(&w, VERB_EXP, w.arg.y);
            else
                mpfr_set_zero(w.at.y, 1);
            mpfr_set(element(dst, row, col), w.at.y, MPFR_RNDN);
        }
    }
    copy_intervals(dst, c->a);
    work_end(&w);
}

static void load_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    const struct source *s = &c->source;
    struct tile *dst = c->dst;
    double *row_values = malloc(((size_t)dst->cols + 1) * sizeof *row_values);
    assert(row_values != NULL);
    for (int row = 0; row < dst->rows; row++) {
        if (row < s->count)
            tensor_row(s->tensor, s->batch, s->head, s->row0 + row, dst->cols, row_values);
        for (int col = 0; col < dst->cols; col++)
            mpfr_set_d(element(dst, row, col), row < s->count ? row_values[col] : 0, MPFR_RNDN);
    }
    dst->masked = false;
    free(row_values);
}

static void copy_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    assert(c->dst->rows == c->a->rows && c->dst->cols == c->a->cols);
    for (int row = 0; row < c->dst->rows; row++)
        for (int col = 0; col < c->dst->cols; col++)
            mpfr_set(element(c->dst, row, col), element(c->a, row, col), MPFR_RNDN);
    copy_intervals(c->dst, c->a);
}

/* PUT: the block is a, of dst; TAKE: the block is dst, of a. */
static void block_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    bool puts = c->verb == VERB_PUT;
    const struct tile *block = puts ? c->a : c->dst, *whole = puts ? c->dst : c->a;
    for (int row = 0; row < block->rows; row++)
        for (int col = 0; col < block->cols; col++) {
            mpfr_ptr part = element(block, row, col);
            mpfr_ptr place = element(whole, c->row + row, c->col + col);
            mpfr_set(puts ? place : part, puts ? part : place, MPFR_RNDN);
        }
    c->dst->masked = false;
}

static void fill_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    for (int row = 0; row < c->dst->rows; row++)
        for (int col = 0; col < c->dst->cols; col++)
            mpfr_set_d(element(c->dst, row, col), c->real.factor, MPFR_RNDN);
    c->dst->masked = false;
}

static void constant_mpfr(const struct run *r, const struct call *c)
{
    struct work w;
    work_begin(&w, r, c->site, SITE_NONE);
    round_real(&w.at, w.acc, &c->real);
    for (int row = 0; row < c->dst->rows; row++)
        for (int col = 0; col < c->dst->cols; col++)
            mpfr_set(element(c->dst, row, col), w.acc, MPFR_RNDN);
    c->dst->masked = false;
    work_end(&w);
}

/* A site that is not exact sees the product of doubles. */
static void times_real_mpfr(const struct run *r, const struct call *c)
{
    struct work w;
    struct rounding exact;
    double factor = real_value(&c->real, false);
    work_begin(&w, r, c->site, SITE_NONE);
    rounding_init(&exact, r, SITE_NONE);
    round_real(&exact, w.acc, &c->real);
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            mpfr_srcptr a = broadcast(c->a, row, col);
            settle(&w.at, w.at.exact ? mpfr_mul(w.at.y, a, w.acc, MPFR_RNDN)
                                     : mpfr_set_d(w.at.y, mpfr_get_d(a, MPFR_RNDN) * factor, MPFR_RNDN));
            mpfr_set(element(c->dst, row, col), w.at.y, MPFR_RNDN);
        }
    }
    rounding_clear(&exact);
    copy_intervals(c->dst, c->a);
    work_end(&w);
}

static void max_mpfr(const struct run *r, const struct call *c)
{
    for (int row = 0; row < c->dst->rows; row++)
        for (int col = 0; col < c->dst->cols; col++)
            larger(element(c->dst, row, col), broadcast(c->a, row, col), broadcast(c->b, row, col),
                   r->policy->max_ignores_nan);
    copy_intervals(c->dst, c->a);
}

static void mask_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    struct tile *dst = c->dst;
    dst->masked = false;
    for (int row = 0; row < dst->rows; row++) {
        visible_interval(c->visible, row, &dst->lo[row], &dst->hi[row]);
        dst->masked |= dst->lo[row] > 0 || dst->hi[row] < dst->cols;
    }
}

static void mask_fill_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    struct tile *dst = c->dst;
    for (int row = 0; row < dst->rows; row++) {
        int lo, hi;
        visible_interval(c->visible, row, &lo, &hi);
        for (int col = 0; col < dst->cols; col++)
            if (col < lo || col >= hi)
                mpfr_set_d(element(dst, row, col), c->real.factor, MPFR_RNDN);
    }
    dst->masked = false;
}

static void safe_shift_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            mpfr_srcptr a = broadcast(c->a, row, col);
            if (mpfr_inf_p(a) && mpfr_signbit(a))
                mpfr_set_zero(element(c->dst, row, col), 1);
            else
                mpfr_set(element(c->dst, row, col), a, MPFR_RNDN);
        }
    }
    copy_intervals(c->dst, c->a);
}

static void select_bad_mpfr(const struct run *r, const struct call *c)
{
    (void)r;
    for (int row = 0; row < c->dst->rows; row++) {
        for (int col = 0; col < c->dst->cols; col++) {
            mpfr_srcptr b = broadcast(c->b, row, col);
            bool bad = mpfr_zero_p(b) || mpfr_nan_p(b);
            mpfr_set(element(c->dst, row, col),
                     bad ? broadcast(c->c, row, col) : broadcast(c->a, row, col), MPFR_RNDN);
        }
    }
    copy_intervals(c->dst, c->a);
}

/* MPFR's constants and pools are per thread. */
static void thread_done(void)
{
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

const struct arithmetic arith_mpfr = {
    .name = "mpfr",
    .body = {
        [VERB_LOAD] = load_mpfr,
        [VERB_COPY] = copy_mpfr,
        [VERB_PUT] = block_mpfr,
        [VERB_TAKE] = block_mpfr,
        [VERB_FILL] = fill_mpfr,
        [VERB_CONSTANT] = constant_mpfr,
        [VERB_TIMES_REAL] = times_real_mpfr,
        [VERB_ROUND_AT] = elementwise,
        [VERB_MMA_ABT] = mma_abt_mpfr,
        [VERB_MMA_AB] = mma_ab_mpfr,
        [VERB_MMA_ATB] = mma_atb_mpfr,
        [VERB_ADD] = elementwise,
        [VERB_SUB] = elementwise,
        [VERB_MUL] = elementwise,
        [VERB_FMA] = elementwise,
        [VERB_DIV] = elementwise,
        [VERB_RCP] = special,
        [VERB_MAX] = max_mpfr,
        [VERB_EXP_SHIFT] = exp_shift_mpfr,
        [VERB_EXP] = special,
        [VERB_EXP2] = special,
        [VERB_LOG] = special,
        [VERB_LOG2] = special,
        [VERB_TANH] = special,
        [VERB_ROW_MAX] = row_max_mpfr,
        [VERB_ROW_SUM] = row_sum_mpfr,
        [VERB_ROW_SUM_RESCALED] = row_sum_rescaled_mpfr,
        [VERB_ROW_DOT] = row_dot_mpfr,
        [VERB_FOLD] = fold_mpfr,
        [VERB_MASK] = mask_mpfr,
        [VERB_MASK_FILL] = mask_fill_mpfr,
        [VERB_DIVIDE_ROWS] = divide_rows_mpfr,
        [VERB_SAFE_SHIFT] = safe_shift_mpfr,
        [VERB_SELECT_BAD] = select_bad_mpfr,
    },
    .element_new = element_new,
    .element_free = element_free,
    .get = get,
    .get_wide = get_wide,
    .set = set,
    .add = add_number,
    .move = move,
    .same = same,
    .thread_done = thread_done,
};

const char *arith_mpfr_version(void)
{
    return mpfr_get_version();
}
