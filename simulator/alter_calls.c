/* alter_calls.c: the alterations of verb calls.

   A kernel and a listing name the same sites, so one rule over calls serves all of them.  Where a
   call becomes several they are performed as the verbs they are, with no alteration in force. */
#include <math.h>

#include "simulator/alter.h"

static bool has(unsigned set, enum alteration a)
{
    return set >> a & 1;
}

/* dst becomes a, without a rounding; false: it is a already. */
static bool become_copy(struct call *c)
{
    if (c->dst == c->a)
        return false;
    c->verb = VERB_COPY;
    c->b = c->c = NULL;
    c->arg_site = c->site = SITE_NONE;
    return true;
}

static bool become_fill(struct call *c, double value)
{
    *c = (struct call){.verb = VERB_FILL,
                       .dst = c->dst,
                       .arg_site = SITE_NONE,
                       .site = SITE_NONE,
                       .real = {value, 1, REAL_PLAIN}};
    return true;
}

/* The running maximum's start; the last tile's empty places. */
static bool alter_start(unsigned set, struct call *c)
{
    static const double SENTINEL = -50000;
    if (c->verb == VERB_FILL && c->real.factor == -INFINITY && c->dst->name == TENSOR_M &&
        has(set, ALTERATION_FINITE_START))
        return become_fill(c, SENTINEL);
    bool mask = c->verb == VERB_MASK || c->verb == VERB_MASK_FILL;
    if (!mask || !has(set, ALTERATION_TAIL_UNMASKED))
        return true;
    const struct visible *v = c->visible;
    return v->count == v->cols || v->col0 + v->count < v->head->Nk;
}

static bool alter_rescale(unsigned set, struct call *c)
{
    bool exponential = c->verb == VERB_EXP || c->verb == VERB_EXP2 || c->verb == VERB_EXP_SHIFT;
    if (exponential && c->site == SITE_RESCALE && has(set, ALTERATION_NO_RESCALE))
        return become_fill(c, 1);
    if (c->verb == VERB_MUL && c->site == SITE_RESCALE_OUT && has(set, ALTERATION_NO_RESCALE_O))
        return become_copy(c);
    if (c->verb == VERB_MUL && c->site == SITE_ROW_SUM && has(set, ALTERATION_NO_RESCALE_L))
        return become_copy(c);
    if (c->verb == VERB_ROW_SUM_RESCALED && has(set, ALTERATION_NO_RESCALE_L)) {
        c->verb = VERB_ROW_SUM;
        c->b = NULL;
    }
    return true;
}

/* e^(L_g - L) as 2^(L_g - L), or as e^(log2 e (L_g - L)). */
static bool alter_merge(struct run *r, unsigned set, struct call *c)
{
    bool twice = has(set, ALTERATION_MERGE_BASE_E);
    bool merges = twice || has(set, ALTERATION_MERGE_BASE_2);
    if (!merges || (c->arg_site != SITE_COMBINE_ARG && c->site != SITE_COMBINE_ARG))
        return true;
    if (c->verb == VERB_EXP_SHIFT) {
        struct tile *x = c->dst;
        sub(r, x, c->a, c->b, SITE_COMBINE_ARG);
        if (twice)
            times_real(r, x, x, (struct real){1, 1, REAL_TIMES_LOG2E});
        (twice ? exp_ : exp2_)(r, x, x, c->site);
        return false;
    }
    if (c->verb != VERB_MUL) /* the product with log2 e */
        return true;
    if (!twice)
        return become_copy(c);
    mul(r, c->dst, c->a, c->b, SITE_COMBINE_ARG);
    times_real(r, c->dst, c->dst, (struct real){1, 1, REAL_TIMES_LOG2E});
    return false;
}

/* Outputs toward zero: the nearest number, or the one before it. */
static void truncate_tile(struct run *r, struct tile *t, enum format f)
{
    for (size_t i = 0; i < (size_t)t->rows * (size_t)t->cols; i++) {
        double x = r->arith->get(t->data, i), y = format_round(f, x, false);
        if (fabs(y) > fabs(x))
            y = format_next(f, y, y > 0 ? -1 : 1);
        r->arith->set(t->data, i, y);
    }
}

static bool alter_end(struct run *r, unsigned set, struct call *c)
{
    bool divides = c->verb == VERB_DIVIDE_ROWS || c->verb == VERB_MUL || c->verb == VERB_DIV;
    if (divides && c->site == SITE_NORMALIZE && has(set, ALTERATION_NO_DIVISION))
        return become_copy(c);
    bool sums = c->verb == VERB_ROW_SUM || c->verb == VERB_ROW_SUM_RESCALED;
    if (sums && c->a->name == TENSOR_P && has(set, ALTERATION_SUM_ROUNDED))
        round_at(r, (struct tile *)c->a, SITE_PROB);
    enum format out = r->policy->site[SITE_OUT].format;
    if (c->verb != VERB_ROUND_AT || c->site != SITE_OUT || !has(set, ALTERATION_TRUNCATED) ||
        out == FORMAT_EXACT)
        return true;
    truncate_tile(r, c->dst, out);
    c->dst->wrote = SITE_OUT;
    return false;
}

bool alter_call(struct run *r, struct call *c)
{
    unsigned set = r->alterations;
    r->alterations = 0;
    bool goes_on = alter_start(set, c) && alter_rescale(set, c) && alter_merge(r, set, c) &&
                   alter_end(r, set, c);
    r->alterations = set;
    return goes_on;
}
