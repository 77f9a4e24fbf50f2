/* arith_loops.h: the verbs' bodies, for whichever machine type REAL the including file defined.

   The including file gives REAL, kind_of (how a site reaches its format) and the single steps
   op_add op_mul op_div op_fma op_round op_constant op_special, each with one rounding of a constant
   kind K, to the format that R describes.  A body chooses kind and order once, outside its loops;
   inside they are constants.  Loops vectorise across independent accumulators, never along a sum:
   lanes are columns. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/arith.h"

/* One rounding: the format, and the power of two around it. */
struct rounding {
    enum format format;
    bool saturate;
    double up, down;
    struct grid grid; /* of a narrow format */
};

static enum format format_at(const struct run *r, enum site site)
{
    return r->policy->site[site].format;
}

static enum kind kind_at(const struct run *r, enum site site)
{
    return kind_of(format_at(r, site));
}

static struct rounding rounding_at(const struct run *r, enum site site)
{
    const struct site_rule *rule = &r->policy->site[site];
    bool eight_bits = rule->format == FORMAT_E4M3 || rule->format == FORMAT_E5M2;
    bool saturate = r->policy->saturate && eight_bits;
    enum format grid = kind_of(rule->format) == KIND_NARROW ? rule->format : FORMAT_FP32;
    return (struct rounding){rule->format, saturate, power_of_two(rule->scale_log2),
                             power_of_two(-rule->scale_log2), grid_of(grid, saturate)};
}

/* How the site's sums are put together.  A tensor core that rounds nothing is a chain. */
static enum order_kind order_at(const struct run *r, enum site site)
{
    const struct site_rule *rule = &r->policy->site[site];
    bool exact = rule->format == FORMAT_EXACT || rule->format == FORMAT_FP64;
    return rule->order.kind == ORDER_MMA && exact ? ORDER_SEQ : rule->order.kind;
}

#define KIND_CASE(id, statement) \
    case KIND_##id: { \
        const enum kind K = KIND_##id; \
        statement; \
    } break;
/* Runs `statement` with K a constant equal to `kind`. */
#define KIND_SWITCH(kind, statement) \
    switch (kind) { \
        KIND_CASE(MACHINE, statement) \
        KIND_CASE(FLUSHED, statement) \
        KIND_CASE(NARROW, statement) \
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

enum operation { OP_ADD, OP_SUB, OP_MUL, OP_DIV };

INLINE REAL operate(const enum operation o, const enum kind K, struct rounding R, REAL a, REAL b)
{
    return o == OP_ADD   ? op_add(K, R, a, b)
           : o == OP_SUB ? op_add(K, R, a, -b)
           : o == OP_MUL ? op_mul(K, R, a, b)
                         : op_div(K, R, a, b);
}

INLINE void binary_row(const enum operation o, const enum kind K, struct rounding R, int n,
                       REAL *d, const REAL *a, int step_a, const REAL *b, int step_b)
{
    if (step_a == 1 && step_b == 1) {
        for (int c = 0; c < n; c++)
            d[c] = operate(o, K, R, a[c], b[c]);
    } else if (step_a == 1) {
        const REAL y = *b;
        for (int c = 0; c < n; c++)
            d[c] = operate(o, K, R, a[c], y);
    } else {
        for (int c = 0; c < n; c++)
            d[c] = operate(o, K, R, a[c * step_a], b[c * step_b]);
    }
}

INLINE void binary(const enum operation o, const enum kind K, const struct run *run,
                   const struct call *call)
{
    const struct tile *a = call->a, *b = call->b;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++)
        binary_row(o, K, R, call->dst->cols, row_of(call->dst, r), row_of(a, r), a->cols > 1,
                   row_of(b, r), b->cols > 1);
    copy_interval(call->dst, a);
}

static void body_add(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), binary(OP_ADD, K, r, c));
}

static void body_sub(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), binary(OP_SUB, K, r, c));
}

static void body_mul(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), binary(OP_MUL, K, r, c));
}

static void body_div(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), binary(OP_DIV, K, r, c));
}

INLINE void fused(const enum kind K, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a, *b = call->b, *c = call->c;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++) {
        REAL *d = row_of(call->dst, r);
        const REAL *x = row_of(a, r), *y = row_of(b, r), *z = row_of(c, r);
        for (int k = 0; k < call->dst->cols; k++)
            d[k] = op_fma(K, R, x[a->cols > 1 ? k : 0], y[b->cols > 1 ? k : 0],
                          z[c->cols > 1 ? k : 0]);
    }
    copy_interval(call->dst, a);
}

static void body_fma(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), fused(K, r, c));
}

INLINE void reciprocal(const enum kind K, const struct run *run, const struct call *call)
{
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->dst->rows; r++) {
        REAL *d = row_of(call->dst, r);
        const REAL *a = row_of(call->a, r);
        for (int c = 0; c < call->dst->cols; c++)
            d[c] = op_div(K, R, 1, a[c]);
    }
    copy_interval(call->dst, call->a);
}

INLINE void rounded(const enum kind K, struct rounding R, struct tile *dst, const struct tile *a)
{
    size_t n = (size_t)dst->rows * dst->cols;
    REAL *d = dst->data;
    const REAL *x = a->data;
    for (size_t i = 0; i < n; i++)
        d[i] = op_round(K, R, x[i]);
    copy_interval(dst, a);
}

static void body_round_at(const struct run *r, const struct call *c)
{
    struct rounding R = rounding_at(r, c->site);
    KIND_SWITCH(kind_at(r, c->site), rounded(K, R, c->dst, c->a));
}

/* One row of q, k or v: values of the input's format, which every REAL holds.  The formats of most
   inputs are read as they lie; `room` is for the others. */
static void load_row(const struct source *s, int i, REAL *d, int n, double *room)
{
    const struct tensor *t = s->tensor;
    int64_t at = s->batch * t->stride[0] + s->head * t->stride[1] + (s->row0 + i) * t->stride[2];
    if (t->stride[3] == 1 && t->dtype == FORMAT_FP32) {
        const float *from = (const float *)t->data + at;
        for (int c = 0; c < n; c++)
            d[c] = (REAL)from[c];
    } else if (t->stride[3] == 1 && t->dtype == FORMAT_BF16) {
        const uint16_t *from = (const uint16_t *)t->data + at;
        for (int c = 0; c < n; c++)
            d[c] = (REAL)float_of_bits((uint32_t)from[c] << 16);
    } else {
        tensor_row(t, s->batch, s->head, s->row0 + i, n, room);
        for (int c = 0; c < n; c++)
            d[c] = (REAL)room[c];
    }
}

static void body_load(const struct run *r, const struct call *call)
{
    struct tile *dst = call->dst;
    double *room = run_scratch(r, sizeof *room * (size_t)dst->cols);
    for (int i = 0; i < dst->rows; i++) {
        REAL *d = row_of(dst, i);
        if (i < call->source.count)
            load_row(&call->source, i, d, dst->cols, room);
        else
            memset(d, 0, sizeof *d * (size_t)dst->cols);
    }
    dst->masked = false;
}

static void body_copy(const struct run *r, const struct call *c)
{
    (void)r;
    memcpy(c->dst->data, c->a->data, sizeof(REAL) * (size_t)c->dst->rows * c->dst->cols);
    copy_interval(c->dst, c->a);
}

static void body_put(const struct run *r, const struct call *c)
{
    (void)r;
    for (int i = 0; i < c->a->rows; i++)
        memcpy(row_of(c->dst, c->row + i) + c->col, row_of(c->a, i),
               sizeof(REAL) * (size_t)c->a->cols);
    c->dst->masked = false;
}

static void body_take(const struct run *r, const struct call *c)
{
    (void)r;
    for (int i = 0; i < c->dst->rows; i++)
        memcpy(row_of(c->dst, i), row_of(c->a, c->row + i) + c->col,
               sizeof(REAL) * (size_t)c->dst->cols);
    c->dst->masked = false;
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
        KIND_SWITCH(kind_at(r, c->site), d[i] = op_constant(K, R, &c->real));
    c->dst->masked = false;
}

static void body_times_real(const struct run *r, const struct call *c)
{
    struct rounding R = rounding_at(r, c->site);
    double factor = real_value(&c->real, false);
    for (int row = 0; row < c->dst->rows; row++) {
        REAL *d = row_of(c->dst, row);
        const REAL *x = row_of(c->a, row);
        for (int i = 0; i < c->dst->cols; i++)
            KIND_SWITCH(kind_at(r, c->site),
                        d[i] = op_narrow(K, R, (double)x[c->a->cols > 1 ? i : 0] * factor));
    }
    copy_interval(c->dst, c->a);
}

static void special_row(const struct run *r, enum function fn, enum site site, REAL *y,
                        const REAL *x, int n)
{
    struct rounding R = rounding_at(r, site);
    KIND_SWITCH(kind_at(r, site), op_special(K, R, r->policy->special, fn, y, x, n));
}

static void special_tile(const struct run *r, const struct call *c, enum function fn)
{
    special_row(r, fn, c->site, c->dst->data, c->a->data, c->dst->rows * c->dst->cols);
    copy_interval(c->dst, c->a);
}

/* A table's reciprocal is a float's; 1/x in sites wider than fp32 is the quotient. */
static void body_rcp(const struct run *r, const struct call *c)
{
    bool wide = !REAL_IS_FLOAT && kind_at(r, c->site) == KIND_MACHINE;
    if (!wide && !special_is_cr(r->policy->special, FUNCTION_RCP))
        special_tile(r, c, FUNCTION_RCP);
    else
        KIND_SWITCH(kind_at(r, c->site), reciprocal(K, r, c));
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

INLINE REAL shift_of(REAL m)
{
    return m == -(REAL)INFINITY ? (REAL)0 : m;
}

INLINE void shift_row(const enum kind K, struct rounding R, int n, REAL *d, const REAL *a,
                      int step_m, const REAL *m)
{
    if (step_m == 0) {
        const REAL shift = shift_of(*m);
        for (int c = 0; c < n; c++)
            d[c] = op_add(K, R, a[c], -shift);
    } else {
        for (int c = 0; c < n; c++)
            d[c] = op_add(K, R, a[c], -shift_of(m[c]));
    }
}

/* The differences, where they are seen. */
static void shift_rows(const struct run *r, const struct call *call)
{
    const struct tile *dst = call->dst, *a = call->a, *m = call->b;
    struct rounding R = rounding_at(r, call->arg_site);
    int step = m->cols > 1;
    for (int i = 0; i < dst->rows; i++) {
        int lo = first_seen(a, i), hi = end_seen(a, i);
        KIND_SWITCH(kind_at(r, call->arg_site),
                    shift_row(K, R, hi - lo, row_of(dst, i) + lo, row_of(a, i) + lo, step,
                              row_of(m, i) + step * lo))
    }
}

/* Exponentials are taken over as many elements at once as lie together. */
static void body_exp_shift(const struct run *r, const struct call *call)
{
    struct tile *dst = call->dst;
    const struct tile *a = call->a;
    REAL *d = dst->data;
    shift_rows(r, call);
    if (!a->masked)
        special_row(r, FUNCTION_EXP, call->site, d, d, dst->rows * dst->cols);
    for (int i = 0; i < dst->rows && a->masked; i++, d += dst->cols) {
        int lo = a->lo[i], hi = a->hi[i];
        special_row(r, FUNCTION_EXP, call->site, d + lo, d + lo, hi - lo);
        memset(d, 0, sizeof *d * (size_t)lo);
        memset(d + hi, 0, sizeof *d * (size_t)(dst->cols - hi));
    }
    copy_interval(dst, a);
}

#include "simulator/arith_select.h"
#include "simulator/arith_products.h"
#include "simulator/arith_sums.h"
