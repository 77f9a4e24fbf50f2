/* arith_sums.h: sums along rows, and the table of bodies; the last part of arith_loops.h.

   Terms a row does not see count as +0.  Adding +0 twice is like adding it more often; once is not:
   a finer accumulator may round to -0 first and become +0 then. */

/* Terms from..width of one row, `lo`..`hi` of them seen, chained to acc; terms are a or a b. */
INLINE REAL row_chain(const enum kind K, struct rounding R, REAL acc, const REAL *a,
                      const REAL *b, int step_b, int from, int lo, int hi, int width)
{
    int first = lo > from ? lo : from, end = hi > from ? hi : from;
    for (int n = 0; n < first - from && n < 2; n++)
        acc = op_add(K, R, acc, (REAL)0);
    for (int c = first; c < hi; c++)
        acc = b == NULL ? op_add(K, R, acc, a[c]) : op_fma(K, R, a[c], b[c * step_b], acc);
    for (int n = 0; n < width - (end > first ? end : first) && n < 2; n++)
        acc = op_add(K, R, acc, (REAL)0);
    return acc;
}

/* The terms of one row put together by the site's tree. */
INLINE REAL row_tree(const enum kind K, const struct run *run, enum site site, const REAL *a,
                     const REAL *b, int step_b, int lo, int hi, int width)
{
    struct rounding R = rounding_at(run, site);
    REAL *term = run_scratch(run, sizeof(REAL) * (2 * (size_t)width + 1));
    for (int c = 0; c < width; c++)
        term[c] = c < lo || c >= hi ? (REAL)0
                  : b == NULL       ? a[c]
                                    : op_mul(K, R, a[c], b[c * step_b]);
    return width == 0 ? (REAL)0
                      : tree_sum(K, R, &run->policy->site[site].order, term, width, term + width);
}

/* Eight rows that see all of a: eight chains at once. */
INLINE void eight_rows(const enum kind K, struct rounding R, REAL *d, const REAL *a, int width)
{
    REAL acc[8];
    memcpy(acc, d, sizeof acc);
    for (int c = 0; c < width; c++)
        for (int i = 0; i < 8; i++)
            acc[i] = op_add(K, R, acc[i], a[(size_t)i * width + c]);
    memcpy(d, acc, sizeof acc);
}

/* One row's terms given to their lanes, each adding its own in ascending order.  A lane that has
   not `begun` begins with its first term, or with lane decay + that term where a decay is given. */
INLINE void share_row(const enum kind K, struct rounding R, const struct order_lanes *o, REAL *lane,
                      bool *begun, const REAL *decay, const struct tile *a, int r, const REAL *b,
                      int step_b)
{
    const REAL *x = row_of(a, r);
    int lo = first_seen(a, r), hi = end_seen(a, r);
    for (int c = 0, n = 0; c < a->cols; c++, n = n + 1 < o->period ? n + 1 : 0) {
        REAL *sum = &lane[o->owner[n]];
        bool seen = c >= lo && c < hi, first = !begun[o->owner[n]];
        REAL y = b != NULL ? b[c * step_b] : 1;
        if (!first) {
            *sum = !seen ? op_add(K, R, *sum, (REAL)0) : b == NULL ? op_add(K, R, *sum, x[c])
                                                                   : op_fma(K, R, x[c], y, *sum);
            continue;
        }
        REAL term = !seen ? (REAL)0 : b == NULL ? x[c] : op_mul(K, R, x[c], y);
        *sum = decay != NULL ? op_fma(K, R, *sum, *decay, term) : term;
        begun[o->owner[n]] = true;
    }
    for (int t = 0; t < o->lanes; t++)
        lane[t] = begun[t] ? lane[t] : decay != NULL ? op_mul(K, R, lane[t], *decay) : (REAL)0;
}

/* The sum of one row by lanes and butterfly. */
INLINE REAL row_lanes(const enum kind K, struct rounding R, const struct order_lanes *o,
                      const struct tile *a, int r, const REAL *b, int step_b)
{
    REAL lane[ORDER_MOST_LANES], before[ORDER_MOST_LANES];
    bool begun[ORDER_MOST_LANES] = {false};
    share_row(K, R, o, lane, begun, NULL, a, r, b, step_b);
    butterfly(K, R, o, lane, before, 1);
    return lane[0];
}

/* Row r of dst, its lanes apart: they go on, rescaled where there is a decay; or begin anew. */
INLINE void lanes_apart(const enum kind K, struct rounding R, const struct order_lanes *o,
                        REAL *lane, bool anew, const REAL *decay, const struct tile *a, int r)
{
    bool begun[ORDER_MOST_LANES], fused = decay != NULL && o->fused;
    for (int t = 0; t < o->lanes; t++) {
        begun[t] = !anew && !fused;
        lane[t] = decay != NULL && !fused ? op_mul(K, R, lane[t], *decay) : lane[t];
    }
    share_row(K, R, o, lane, begun, fused ? decay : NULL, a, r, NULL, 0);
}

INLINE void sum_lanes(const enum kind K, const struct run *run, const struct call *call,
                      const struct tile *b)
{
    const struct order_lanes *o = run->policy->site[call->site].order.lanes;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->a->rows; r++) {
        REAL *d = row_of(call->dst, r);
        if (call->dst->cols > 1)
            lanes_apart(K, R, o, d, false, NULL, call->a, r);
        else
            *d = op_add(K, R, *d, row_lanes(K, R, o, call->a, r, b == NULL ? NULL : row_of(b, r),
                                            b != NULL && b->cols > 1));
    }
}

static void sum_mma(const struct run *run, const struct call *call, const struct tile *b)
{
    struct mma_step s = step_of(run, call);
    REAL *d = call->dst->data;
    for (int r = 0; r < call->a->rows; r++)
        d[r] = mma_row(&s, call->a, b, r, d[r]);
}

INLINE void sum_rows(const enum kind K, const struct run *run, const struct call *call,
                     const struct tile *b)
{
    const struct tile *a = call->a;
    struct rounding R = rounding_at(run, call->site);
    bool chain = order_at(run, call->site) == ORDER_SEQ;
    if (order_at(run, call->site) == ORDER_LANES) {
        sum_lanes(K, run, call, b);
        return;
    }
    if (order_at(run, call->site) == ORDER_MMA) {
        sum_mma(run, call, b);
        return;
    }
    REAL *d = call->dst->data;
    int r = 0;
    for (; K == KIND_MACHINE && chain && b == NULL && !a->masked && r + 8 <= a->rows; r += 8)
        eight_rows(K, R, d + r, row_of(a, r), a->cols);
    for (; r < a->rows; r++) {
        int lo = first_seen(a, r), hi = end_seen(a, r);
        const REAL *y = b == NULL ? NULL : row_of(b, r);
        int step = b != NULL && b->cols > 1;
        d[r] = chain ? row_chain(K, R, d[r], row_of(a, r), y, step, 0, lo, hi, a->cols)
                     : op_add(K, R, d[r],
                              row_tree(K, run, call->site, row_of(a, r), y, step, lo, hi, a->cols));
    }
}

static void body_row_sum(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), sum_rows(K, r, c, NULL));
}

static void body_row_dot(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), sum_rows(K, r, c, c->b));
}

INLINE void lanes_rescaled(const enum kind K, const struct run *run, const struct call *call)
{
    const struct order_lanes *o = run->policy->site[call->site].order.lanes;
    struct rounding R = rounding_at(run, call->site);
    for (int r = 0; r < call->a->rows; r++) {
        REAL *l = row_of(call->dst, r);
        const REAL *decay = call->b == NULL ? NULL : row_of(call->b, r);
        if (call->dst->cols > 1) {
            lanes_apart(K, R, o, l, decay == NULL, decay, call->a, r);
            continue;
        }
        REAL sum = row_lanes(K, R, o, call->a, r, NULL, 0);
        *l = decay == NULL ? sum
             : o->fused    ? op_fma(K, R, *l, *decay, sum)
                           : op_add(K, R, op_mul(K, R, *l, *decay), sum);
    }
}

/* The rescaled l is the accumulator of the first step. */
INLINE void mma_rescaled(const enum kind K, const struct run *run, const struct call *call)
{
    struct call sum = *call;
    sum.b = NULL; /* the decay is no factor of the sum */
    struct mma_step s = step_of(run, &sum);
    struct rounding R = rounding_at(run, call->site);
    REAL *l = call->dst->data;
    for (int r = 0; r < call->a->rows; r++) {
        REAL acc = call->b == NULL ? (REAL)0 : op_mul(K, R, l[r], *row_of(call->b, r));
        l[r] = mma_row(&s, call->a, NULL, r, acc);
    }
}

/* l = fma(l, decay, p0), then p1, p2, ...; without a decay the first term starts the chain.  With a
   tree T over the terms: fma(l, decay, T), or T. */
INLINE void sum_rescaled(const enum kind K, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a, *decay = call->b;
    struct rounding R = rounding_at(run, call->site);
    bool chain = order_at(run, call->site) == ORDER_SEQ;
    REAL *l = call->dst->data;
    if (order_at(run, call->site) == ORDER_LANES) {
        lanes_rescaled(K, run, call);
        return;
    }
    if (order_at(run, call->site) == ORDER_MMA) {
        mma_rescaled(K, run, call);
        return;
    }
    for (int r = 0; r < a->rows; r++) {
        int lo = first_seen(a, r), hi = end_seen(a, r);
        const REAL *p = row_of(a, r);
        REAL first = !chain             ? row_tree(K, run, call->site, p, NULL, 0, lo, hi, a->cols)
                     : lo == 0 && hi > 0 ? p[0]
                                         : (REAL)0;
        REAL acc = decay == NULL ? first : op_fma(K, R, l[r], *row_of(decay, r), first);
        l[r] = chain ? row_chain(K, R, acc, p, NULL, 0, 1, lo, hi, a->cols) : acc;
    }
}

static void body_row_sum_rescaled(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), sum_rescaled(K, r, c));
}

/* a's columns are the lanes; or a has one column; or it is summed as a row by lanes. */
INLINE void fold_lanes(const enum kind K, const struct run *run, const struct call *call)
{
    const struct order_lanes *o = run->policy->site[call->site].order.lanes;
    const struct tile *a = call->a;
    struct rounding R = rounding_at(run, call->site);
    REAL lane[ORDER_MOST_LANES], before[ORDER_MOST_LANES];
    for (int r = 0; r < a->rows; r++) {
        REAL *d = row_of(call->dst, r);
        if (a->cols != 1 && a->cols != o->lanes) {
            *d = row_lanes(K, R, o, a, r, NULL, 0);
            continue;
        }
        for (int c = 0; c < a->cols; c++)
            lane[c] = c >= first_seen(a, r) && c < end_seen(a, r) ? row_of(a, r)[c] : (REAL)0;
        if (a->cols > 1)
            butterfly(K, R, o, lane, before, 1);
        *d = lane[0];
    }
}

INLINE void fold_columns(const enum kind K, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a;
    struct rounding R = rounding_at(run, call->site);
    bool chain = order_at(run, call->site) == ORDER_SEQ;
    REAL *d = call->dst->data;
    if (order_at(run, call->site) == ORDER_LANES) {
        fold_lanes(K, run, call);
        return;
    }
    if (order_at(run, call->site) == ORDER_MMA) {
        memset(d, 0, sizeof *d * (size_t)call->dst->rows);
        sum_mma(run, call, NULL);
        return;
    }
    for (int r = 0; r < a->rows; r++) {
        const REAL *x = row_of(a, r);
        int lo = first_seen(a, r), hi = end_seen(a, r);
        REAL first = lo == 0 && hi > 0 ? x[0] : (REAL)0;
        d[r] = chain ? row_chain(K, R, first, x, NULL, 0, 1, lo, hi, a->cols)
                     : row_tree(K, run, call->site, x, NULL, 0, lo, hi, a->cols);
    }
}

static void body_fold(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), fold_columns(K, r, c));
}

#define BODIES \
    { \
        [VERB_LOAD] = body_load, [VERB_COPY] = body_copy, [VERB_PUT] = body_put, \
        [VERB_TAKE] = body_take, [VERB_FILL] = body_fill, \
        [VERB_CONSTANT] = body_constant, [VERB_ROUND_AT] = body_round_at, \
        [VERB_MMA_ABT] = body_mma_abt, [VERB_MMA_AB] = body_mma_ab, [VERB_MMA_ATB] = body_mma_atb, \
        [VERB_ADD] = body_add, [VERB_SUB] = body_sub, [VERB_MUL] = body_mul, \
        [VERB_FMA] = body_fma, [VERB_DIV] = body_div, [VERB_RCP] = body_rcp, \
        [VERB_MAX] = body_max, \
        [VERB_EXP_SHIFT] = body_exp_shift, [VERB_EXP] = body_exp, [VERB_EXP2] = body_exp2, \
        [VERB_LOG] = body_log, [VERB_LOG2] = body_log2, [VERB_TANH] = body_tanh, \
        [VERB_ROW_MAX] = body_row_max, [VERB_ROW_SUM] = body_row_sum, \
        [VERB_ROW_SUM_RESCALED] = body_row_sum_rescaled, [VERB_ROW_DOT] = body_row_dot, \
        [VERB_FOLD] = body_fold, [VERB_MASK] = body_mask, [VERB_MASK_FILL] = body_mask_fill, \
        [VERB_DIVIDE_ROWS] = body_divide_rows, [VERB_SELECT_BAD] = body_select_bad, \
        [VERB_TIMES_REAL] = body_times_real, [VERB_SAFE_SHIFT] = body_safe_shift, \
    }
