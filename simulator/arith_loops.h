/* arith_loops.h: the verbs' bodies, for whichever machine type REAL the including file defined.

   The including file gives REAL, ARITH_FORMATS (the formats its sites may name) and the single steps
   op_add op_sub op_mul op_div op_fma op_round op_special, each with one rounding to a constant
   format F.  A body chooses format and order once, outside its loops; inside they are constants.
   Loops vectorise across independent accumulators, never along a sum: lanes are columns. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/arith.h"

/* How a site rounds, beside its format: saturation, and the power of two around the rounding. */
struct rounding {
    bool saturate;
    double up, down;
};

static struct rounding rounding_at(const struct run *r, enum site site)
{
    const struct site_rule *rule = &r->policy->site[site];
    bool eight_bits = rule->format == FORMAT_E4M3 || rule->format == FORMAT_E5M2;
    return (struct rounding){r->policy->saturate && eight_bits, ldexp(1.0, rule->scale_log2),
                             ldexp(1.0, -rule->scale_log2)};
}

static enum format format_at(const struct run *r, enum site site)
{
    return r->policy->site[site].format;
}

#define FORMAT_CASE(id, statement) \
    case FORMAT_##id: { \
        const enum format F = FORMAT_##id; \
        statement; \
    } break;
/* Runs `statement` with F a constant equal to `format`. */
#define FORMAT_SWITCH(format, statement) \
    switch (format) { \
        ARITH_FORMATS(statement) \
    default: \
        assert(!"a format this arithmetic does not have"); \
    }

INLINE REAL *row_of(const struct tile *t, int r)
{
    return (REAL *)t->data + (size_t)(t->rows == 1 ? 0 : r) * t->cols;
}

static void copy_interval(struct tile *dst, const struct tile *a)
{
    if (dst == a)
        return;
    dst->masked = a->masked;
    if (a->masked) {
        memcpy(dst->lo, a->lo, sizeof(int) * (size_t)dst->rows);
        memcpy(dst->hi, a->hi, sizeof(int) * (size_t)dst->rows);
    }
}

INLINE int first_seen(const struct tile *t, int r)
{
    return t->masked ? t->lo[r] : 0;
}

INLINE int end_seen(const struct tile *t, int r)
{
    return t->masked ? t->hi[r] : t->cols;
}

/* ---- element by element ---- */

enum operation { OP_ADD, OP_SUB, OP_MUL, OP_DIV };

INLINE REAL operate(const enum operation o, const enum format F, struct rounding R, REAL a, REAL b)
{
    return o == OP_ADD   ? op_add(F, R, a, b)
           : o == OP_SUB ? op_add(F, R, a, -b)
           : o == OP_MUL ? op_mul(F, R, a, b)
                         : op_div(F, R, a, b);
}

INLINE void binary_row(const enum operation o, const enum format F, struct rounding R, int n,
                       REAL *d, const REAL *a, int step_a, const REAL *b, int step_b)
{
    if (step_a == 1 && step_b == 1) {
        for (int c = 0; c < n; c++)
            d[c] = operate(o, F, R, a[c], b[c]);
    } else if (step_a == 1) {
        const REAL y = *b;
        for (int c = 0; c < n; c++)
            d[c] = operate(o, F, R, a[c], y);
    } else {
        for (int c = 0; c < n; c++)
            d[c] = operate(o, F, R, a[c * step_a], b[c * step_b]);
    }
}

INLINE void binary(const enum operation o, const enum format F, const struct run *run,
                   const struct call *call)
{
    const struct tile *a = call->a, *b = call->b;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++)
        binary_row(o, F, R, call->dst->cols, row_of(call->dst, r), row_of(a, r), a->cols > 1,
                   row_of(b, r), b->cols > 1);
    copy_interval(call->dst, a);
}

static void body_add(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), binary(OP_ADD, F, r, c));
}

static void body_sub(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), binary(OP_SUB, F, r, c));
}

static void body_mul(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), binary(OP_MUL, F, r, c));
}

static void body_div(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), binary(OP_DIV, F, r, c));
}

INLINE void fused(const enum format F, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a, *b = call->b, *c = call->c;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++) {
        REAL *d = row_of(call->dst, r);
        const REAL *x = row_of(a, r), *y = row_of(b, r), *z = row_of(c, r);
        for (int k = 0; k < call->dst->cols; k++)
            d[k] = op_fma(F, R, x[a->cols > 1 ? k : 0], y[b->cols > 1 ? k : 0],
                          z[c->cols > 1 ? k : 0]);
    }
    copy_interval(call->dst, a);
}

static void body_fma(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), fused(F, r, c));
}

INLINE void reciprocal(const enum format F, const struct run *run, const struct call *call)
{
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++) {
        REAL *d = row_of(call->dst, r);
        const REAL *a = row_of(call->a, r);
        for (int c = 0; c < call->dst->cols; c++)
            d[c] = op_div(F, R, 1, a[c]);
    }
    copy_interval(call->dst, call->a);
}

static void body_rcp(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), reciprocal(F, r, c));
}

INLINE void rounded(const enum format F, struct rounding R, struct tile *dst, const struct tile *a)
{
    size_t n = (size_t)dst->rows * dst->cols;
    REAL *d = dst->data;
    const REAL *x = a->data;
    for (size_t i = 0; i < n; i++)
        d[i] = op_round(F, R, x[i]);
    copy_interval(dst, a);
}

static void body_round_at(const struct run *r, const struct call *c)
{
    struct rounding R = rounding_at(r, c->site);
    FORMAT_SWITCH(format_at(r, c->site), rounded(F, R, c->dst, c->a));
}

/* Rows of q, k, v are values of the input's format, which every REAL holds. */
static void body_load(const struct run *r, const struct call *call)
{
    const struct source *s = &call->source;
    struct tile *dst = call->dst;
    double *row = run_scratch(r, sizeof *row * (size_t)dst->cols);
    bool plain = sizeof(REAL) == 4 && s->tensor->dtype == FORMAT_FP32 && s->tensor->stride[3] == 1;
    for (int i = 0; i < dst->rows; i++) {
        REAL *d = row_of(dst, i);
        if (i >= s->count) {
            memset(d, 0, sizeof *d * (size_t)dst->cols);
        } else if (plain) {
            const struct tensor *t = s->tensor;
            const REAL *from = (const REAL *)t->data + s->batch * t->stride[0] +
                               s->head * t->stride[1] + (s->row0 + i) * t->stride[2];
            memcpy(d, from, sizeof *d * (size_t)dst->cols);
        } else {
            tensor_row(s->tensor, s->batch, s->head, s->row0 + i, dst->cols, row);
            for (int c = 0; c < dst->cols; c++)
                d[c] = (REAL)row[c];
        }
    }
    dst->masked = false;
}

static void body_copy(const struct run *r, const struct call *c)
{
    (void)r;
    memcpy(c->dst->data, c->a->data, sizeof(REAL) * (size_t)c->dst->rows * c->dst->cols);
    copy_interval(c->dst, c->a);
}

static void body_fill(const struct run *r, const struct call *c)
{
    (void)r;
    REAL *d = c->dst->data;
    for (size_t i = 0; i < (size_t)c->dst->rows * c->dst->cols; i++)
        d[i] = (REAL)c->real.factor;
    c->dst->masked = false;
}

static void body_constant(const struct run *r, const struct call *c)
{
    struct rounding R = rounding_at(r, c->site);
    REAL *d = c->dst->data;
    for (size_t i = 0; i < (size_t)c->dst->rows * c->dst->cols; i++)
        FORMAT_SWITCH(format_at(r, c->site), d[i] = op_constant(F, R, &c->real));
    c->dst->masked = false;
}

/* ---- exponentials and their kin ---- */

static void special_row(const struct run *r, enum function fn, enum site site, REAL *y,
                        const REAL *x, int n)
{
    struct rounding R = rounding_at(r, site);
    FORMAT_SWITCH(format_at(r, site), op_special(F, R, r->policy->special, fn, y, x, n));
}

static void special_tile(const struct run *r, const struct call *c, enum function fn)
{
    special_row(r, fn, c->site, c->dst->data, c->a->data, c->dst->rows * c->dst->cols);
    copy_interval(c->dst, c->a);
}

static void body_exp(const struct run *r, const struct call *c)
{
    special_tile(r, c, FUNCTION_EXP);
}

static void body_exp2(const struct run *r, const struct call *c)
{
    special_tile(r, c, FUNCTION_EXP2);
}

static void body_log(const struct run *r, const struct call *c)
{
    special_tile(r, c, FUNCTION_LOG);
}

static void body_log2(const struct run *r, const struct call *c)
{
    special_tile(r, c, FUNCTION_LOG2);
}

static void body_tanh(const struct run *r, const struct call *c)
{
    special_tile(r, c, FUNCTION_TANH);
}

INLINE void shift_row(const enum format F, struct rounding R, int n, REAL *d, const REAL *a,
                      int step_m, const REAL *m)
{
    for (int c = 0; c < n; c++) {
        REAL shift = m[c * step_m];
        d[c] = op_add(F, R, a[c], shift == -(REAL)INFINITY ? (REAL)0 : -shift);
    }
}

static void body_exp_shift(const struct run *r, const struct call *call)
{
    struct tile *dst = call->dst;
    const struct tile *a = call->a, *m = call->b;
    struct rounding R = rounding_at(r, call->arg_site);
    for (int i = 0; i < dst->rows; i++) {
        REAL *d = row_of(dst, i);
        int lo = first_seen(a, i), hi = end_seen(a, i), step = m->cols > 1;
        const REAL *x = row_of(a, i) + lo, *shift = row_of(m, i) + step * lo;
        FORMAT_SWITCH(format_at(r, call->arg_site), shift_row(F, R, hi - lo, d + lo, x, step, shift));
        special_row(r, FUNCTION_EXP, call->site, d + lo, d + lo, hi - lo);
        memset(d, 0, sizeof *d * (size_t)lo);
        memset(d + hi, 0, sizeof *d * (size_t)(dst->cols - hi));
    }
    copy_interval(dst, a);
}

/* ---- maxima: no rounding; +0 above -0 ---- */

INLINE REAL larger(REAL a, REAL b, bool ignore_nan)
{
    if (isnan(a) || isnan(b)) {
        REAL nan = (REAL)NAN;
        return !ignore_nan ? nan : isnan(a) ? (isnan(b) ? nan : b) : a;
    }
    if (a == 0 && b == 0)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static void body_max(const struct run *r, const struct call *call)
{
    const struct tile *a = call->a, *b = call->b;
    for (int i = 0; i < call->dst->rows; i++) {
        REAL *d = row_of(call->dst, i);
        const REAL *x = row_of(a, i), *y = row_of(b, i);
        for (int c = 0; c < call->dst->cols; c++)
            d[c] = larger(x[a->cols > 1 ? c : 0], y[b->cols > 1 ? c : 0],
                          r->policy->max_ignores_nan);
    }
    copy_interval(call->dst, a);
}

/* The maximum of x[0..n) when it is nonzero and nothing is NaN; `*odd` otherwise: look closer. */
static REAL plain_max(const REAL *x, int n, bool *odd)
{
    enum { LANES = 16 };
    REAL best[LANES];
    int nan = 0, c = 0;
    for (int k = 0; k < LANES; k++)
        best[k] = -(REAL)INFINITY;
    for (; c + LANES <= n; c += LANES)
        for (int k = 0; k < LANES; k++) {
            best[k] = x[c + k] > best[k] ? x[c + k] : best[k];
            nan |= x[c + k] != x[c + k];
        }
    for (; c < n; c++) {
        best[0] = x[c] > best[0] ? x[c] : best[0];
        nan |= x[c] != x[c];
    }
    for (int k = 1; k < LANES; k++)
        best[0] = best[k] > best[0] ? best[k] : best[0];
    *odd = nan || best[0] == 0;
    return best[0];
}

static void body_row_max(const struct run *r, const struct call *call)
{
    const struct tile *a = call->a;
    for (int i = 0; i < a->rows; i++) {
        REAL *m = row_of(call->dst, i);
        const REAL *x = row_of(a, i);
        int lo = first_seen(a, i), hi = end_seen(a, i);
        bool odd;
        REAL best = plain_max(x + lo, hi - lo, &odd);
        if (!odd) {
            *m = lo < hi ? larger(*m, best, r->policy->max_ignores_nan) : *m;
            continue;
        }
        for (int c = lo; c < hi; c++)
            *m = larger(*m, x[c], r->policy->max_ignores_nan);
    }
}

/* ---- visibility and selection ---- */

static void body_mask(const struct run *r, const struct call *call)
{
    (void)r;
    struct tile *t = call->dst;
    bool all = true;
    for (int i = 0; i < t->rows; i++) {
        visible_interval(call->visible, i, &t->lo[i], &t->hi[i]);
        all = all && t->lo[i] == 0 && t->hi[i] == t->cols;
    }
    t->masked = !all;
}

static void body_mask_fill(const struct run *r, const struct call *call)
{
    (void)r;
    struct tile *t = call->dst;
    for (int i = 0; i < t->rows; i++) {
        int lo, hi;
        REAL *d = row_of(t, i);
        visible_interval(call->visible, i, &lo, &hi);
        for (int c = 0; c < t->cols; c++)
            d[c] = c >= lo && c < hi ? d[c] : (REAL)call->real.factor;
    }
    t->masked = false;
}

INLINE void divide_seen(const enum format F, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a, *b = call->b;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++) {
        int lo, hi;
        REAL *d = row_of(call->dst, r);
        visible_interval(call->visible, r, &lo, &hi);
        if (lo == hi)
            memset(d, 0, sizeof *d * (size_t)call->dst->cols);
        else
            binary_row(OP_DIV, F, R, call->dst->cols, d, row_of(a, r), a->cols > 1, row_of(b, r),
                       b->cols > 1);
    }
    copy_interval(call->dst, a);
}

static void body_divide_rows(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), divide_seen(F, r, c));
}

static void body_select_bad(const struct run *r, const struct call *call)
{
    (void)r;
    const struct tile *a = call->a, *b = call->b, *c = call->c;
    for (int i = 0; i < call->dst->rows; i++) {
        REAL *d = row_of(call->dst, i);
        const REAL *x = row_of(a, i), *y = row_of(b, i), *z = row_of(c, i);
        for (int k = 0; k < call->dst->cols; k++) {
            REAL test = y[b->cols > 1 ? k : 0];
            d[k] = test == 0 || isnan(test) ? z[c->cols > 1 ? k : 0] : x[a->cols > 1 ? k : 0];
        }
    }
    copy_interval(call->dst, a);
}

#include "simulator/arith_sums.h"
