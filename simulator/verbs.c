/* verbs.c: each verb builds its call and has it performed.  What a verb means: verbs.def. */
#include <assert.h>
#include <string.h>

#include "simulator/alter.h"
#include "simulator/ledger.h"

/* Values that were only moved keep the site they were last rounded at. */
static void perform(struct run *r, struct call *c)
{
    if (r->alterations != 0 && !alter_call(r, c))
        return;
    r->perform(r, c);
    if (c->site != SITE_NONE)
        c->dst->wrote = c->site;
    else if (c->a != NULL)
        c->dst->wrote = c->a->wrote;
}

static bool fits(const struct tile *dst, const struct tile *operand)
{
    return (operand->rows == dst->rows || operand->rows == 1) &&
           (operand->cols == dst->cols || operand->cols == 1);
}

static void elementwise(struct run *r, enum verb verb, struct tile *dst, const struct tile *a,
                        const struct tile *b, const struct tile *c, enum site site)
{
    assert(fits(dst, a) && (b == NULL || fits(dst, b)) && (c == NULL || fits(dst, c)));
    perform(r, &(struct call){.verb = verb, .dst = dst, .a = a, .b = b, .c = c,
                              .arg_site = SITE_NONE, .site = site});
}

void load(struct run *r, struct tile *dst, struct source source)
{
    perform(r, &(struct call){.verb = VERB_LOAD, .dst = dst, .arg_site = SITE_NONE,
                              .site = SITE_NONE, .source = source});
    dst->wrote = SITE_INPUT;
}

void copy(struct run *r, struct tile *dst, const struct tile *a)
{
    assert(dst->rows == a->rows && dst->cols == a->cols);
    elementwise(r, VERB_COPY, dst, a, NULL, NULL, SITE_NONE);
}

static void move_block(struct run *r, enum verb verb, struct tile *dst, const struct tile *a,
                       int row, int col)
{
    const struct tile *block = verb == VERB_PUT ? a : dst, *whole = verb == VERB_PUT ? dst : a;
    assert(row >= 0 && row + block->rows <= whole->rows);
    assert(col >= 0 && col + block->cols <= whole->cols && dst != a);
    perform(r, &(struct call){.verb = verb, .dst = dst, .a = a, .arg_site = SITE_NONE,
                              .site = SITE_NONE, .row = row, .col = col});
}

void put_block(struct run *r, struct tile *dst, int row, int col, const struct tile *a)
{
    move_block(r, VERB_PUT, dst, a, row, col);
}

void take_block(struct run *r, struct tile *dst, const struct tile *a, int row, int col)
{
    move_block(r, VERB_TAKE, dst, a, row, col);
}

void fill(struct run *r, struct tile *dst, double value)
{
    perform(r, &(struct call){.verb = VERB_FILL, .dst = dst, .arg_site = SITE_NONE,
                              .site = SITE_NONE, .real = {value, 1, REAL_PLAIN}});
    dst->wrote = SITE_NONE;
}

void constant(struct run *r, struct tile *dst, struct real real)
{
    perform(r, &(struct call){.verb = VERB_CONSTANT, .dst = dst, .arg_site = SITE_NONE,
                              .site = SITE_CONST, .real = real});
}

void times_real(struct run *r, struct tile *dst, const struct tile *a, struct real x)
{
    assert(fits(dst, a));
    perform(r, &(struct call){.verb = VERB_TIMES_REAL, .dst = dst, .a = a, .arg_site = SITE_NONE,
                              .site = SITE_CONST, .real = x});
}

void round_at(struct run *r, struct tile *dst, enum site site)
{
    elementwise(r, VERB_ROUND_AT, dst, dst, NULL, NULL, site);
}

void mma_abt(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
             enum site site)
{
    assert(dst->rows == a->rows && dst->cols == b->rows && a->cols == b->cols);
    assert(dst != a && dst != b);
    perform(r, &(struct call){.verb = VERB_MMA_ABT, .dst = dst, .a = a, .b = b,
                              .arg_site = SITE_NONE, .site = site});
}

void mma_ab(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
            enum site product, enum site site)
{
    assert(dst->rows == a->rows && dst->cols == b->cols && a->cols == b->rows);
    assert(dst != a && dst != b);
    perform(r, &(struct call){.verb = VERB_MMA_AB, .dst = dst, .a = a, .b = b,
                              .arg_site = product, .site = site});
}

void mma_atb(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
             enum site product, enum site site)
{
    assert(dst->rows == a->cols && dst->cols == b->cols && a->rows == b->rows);
    assert(dst != a && dst != b);
    perform(r, &(struct call){.verb = VERB_MMA_ATB, .dst = dst, .a = a, .b = b,
                              .arg_site = product, .site = site});
}

void add(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s)
{
    elementwise(r, VERB_ADD, dst, a, b, NULL, s);
}

void sub(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s)
{
    elementwise(r, VERB_SUB, dst, a, b, NULL, s);
}

void mul(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s)
{
    elementwise(r, VERB_MUL, dst, a, b, NULL, s);
}

void div_(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b, enum site s)
{
    elementwise(r, VERB_DIV, dst, a, b, NULL, s);
}

void fma_(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
          const struct tile *c, enum site s)
{
    elementwise(r, VERB_FMA, dst, a, b, c, s);
}

void rcp(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    elementwise(r, VERB_RCP, dst, a, NULL, NULL, s);
}

void max_(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b)
{
    elementwise(r, VERB_MAX, dst, a, b, NULL, SITE_NONE);
}

void exp_shift(struct run *r, struct tile *dst, const struct tile *a, const struct tile *m,
               enum site arg, enum site site)
{
    assert(fits(dst, m) && dst->rows == a->rows && dst->cols == a->cols && dst != m);
    perform(r, &(struct call){.verb = VERB_EXP_SHIFT, .dst = dst, .a = a, .b = m,
                              .arg_site = arg, .site = site});
}

void exp_(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    elementwise(r, VERB_EXP, dst, a, NULL, NULL, s);
}

void exp2_(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    elementwise(r, VERB_EXP2, dst, a, NULL, NULL, s);
}

void log_(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    elementwise(r, VERB_LOG, dst, a, NULL, NULL, s);
}

void log2_(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    elementwise(r, VERB_LOG2, dst, a, NULL, NULL, s);
}

void tanh_(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    elementwise(r, VERB_TANH, dst, a, NULL, NULL, s);
}

/* dst is a column; a sum by lanes may keep them apart, a column each. */
static void along_rows(struct run *r, enum verb verb, struct tile *dst, const struct tile *a,
                       const struct tile *b, enum site site)
{
    bool sum = verb == VERB_ROW_SUM || verb == VERB_ROW_SUM_RESCALED;
    int apart = sum ? order_columns(&r->policy->site[site].order) : 1;
    assert(dst->rows == a->rows && (dst->cols == 1 || dst->cols == apart));
    perform(r, &(struct call){.verb = verb, .dst = dst, .a = a, .b = b, .arg_site = SITE_NONE,
                              .site = site});
}

void row_max(struct run *r, struct tile *dst, const struct tile *a)
{
    along_rows(r, VERB_ROW_MAX, dst, a, NULL, SITE_NONE);
}

void row_sum(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    along_rows(r, VERB_ROW_SUM, dst, a, NULL, s);
}

void row_sum_rescaled(struct run *r, struct tile *dst, const struct tile *a,
                      const struct tile *decay, enum site s)
{
    along_rows(r, VERB_ROW_SUM_RESCALED, dst, a, decay, s);
}

void row_dot(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
             enum site s)
{
    assert(fits(a, b));
    along_rows(r, VERB_ROW_DOT, dst, a, b, s);
}

void fold(struct run *r, struct tile *dst, const struct tile *a, enum site s)
{
    assert(a->cols > 0);
    along_rows(r, VERB_FOLD, dst, a, NULL, s);
}

void mask(struct run *r, struct tile *dst, const struct visible *visible)
{
    assert(visible->cols == dst->cols);
    perform(r, &(struct call){.verb = VERB_MASK, .dst = dst, .a = dst, .arg_site = SITE_NONE,
                              .site = SITE_NONE, .visible = visible});
}

void mask_fill(struct run *r, struct tile *dst, const struct visible *visible, double value)
{
    assert(visible->cols == dst->cols);
    perform(r, &(struct call){.verb = VERB_MASK_FILL, .dst = dst, .a = dst, .arg_site = SITE_NONE,
                              .site = SITE_NONE, .visible = visible,
                              .real = {value, 1, REAL_PLAIN}});
}

void divide_rows(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
                 const struct visible *seen, enum site s)
{
    assert(fits(dst, a) && fits(dst, b));
    perform(r, &(struct call){.verb = VERB_DIVIDE_ROWS, .dst = dst, .a = a, .b = b,
                              .arg_site = SITE_NONE, .site = s, .visible = seen});
}

void safe_shift(struct run *r, struct tile *dst, const struct tile *a)
{
    elementwise(r, VERB_SAFE_SHIFT, dst, a, NULL, NULL, SITE_NONE);
}

void select_bad(struct run *r, struct tile *dst, const struct tile *a, const struct tile *b,
                const struct tile *otherwise)
{
    elementwise(r, VERB_SELECT_BAD, dst, a, b, otherwise, SITE_NONE);
}

bool rows_equal(struct run *r, const struct tile *a, const struct tile *b)
{
    assert(a->rows == b->rows && a->cols == b->cols);
    if (r->ledger != NULL && ledger_replays(r->ledger))
        return ledger_decision(r->ledger);
    bool equal = true;
    for (size_t i = 0; i < (size_t)a->rows * a->cols; i++)
        equal = equal && r->arith->same(a->data, i, b->data, i);
    if (r->ledger != NULL)
        ledger_decide(r->ledger, equal);
    return equal;
}
