/* arith_sums.h: the summing verbs' bodies; second half of arith_loops.h.

   A chain over k is kept for each output by itself; a block of outputs (ROWS x COLUMNS) advances
   together through k, so that each k is one fused step for every lane.  Terms a row does not see
   count as +0.  Adding +0 twice is like adding it more often; once is not: a finer accumulator may
   round to -0 first and become +0 then. */

enum { BLOCK_ROWS = 6, BLOCK_COLUMNS = 128 / sizeof(REAL) };

/* acc[i][c] += x[i][k] y[k][c], k ascending, each step rounded once. */
INLINE void chain_block(const enum format F, struct rounding R, const int rows,
                        REAL acc[][BLOCK_COLUMNS], const REAL *x, size_t x_row, size_t x_step,
                        const REAL *y, int depth)
{
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < rows; i++) {
            const REAL factor = x[i * x_row + k * x_step];
            for (int c = 0; c < BLOCK_COLUMNS; c++)
                acc[i][c] = op_fma(F, R, factor, y[k * BLOCK_COLUMNS + c], acc[i][c]);
        }
}

/* The same with every product rounded by itself (product site not exact). */
static void chain_products(const struct run *run, const struct call *call, REAL *acc,
                           const REAL *x, size_t x_step, const REAL *y, int depth)
{
    struct rounding P = rounding_at(run, call->arg_site), R = rounding_at(run, call->site);
    REAL product[BLOCK_COLUMNS];
    for (int k = 0; k < depth; k++) {
        const REAL factor = x[k * x_step], *row = y + k * BLOCK_COLUMNS;
        FORMAT_SWITCH(format_at(run, call->arg_site),
                      for (int c = 0; c < BLOCK_COLUMNS; c++) product[c] =
                          op_mul(F, P, factor, row[c]));
        FORMAT_SWITCH(format_at(run, call->site),
                      for (int c = 0; c < BLOCK_COLUMNS; c++) acc[c] =
                          op_add(F, R, acc[c], product[c]));
    }
}

/* Formats whose outputs advance in blocks; the rest, rounded in many more steps, one row at a time. */
INLINE bool blocked(const enum format F)
{
    return F == FORMAT_FP32 || F == FORMAT_FP64 || F == FORMAT_EXACT;
}

/* One matrix product, as the chains see it: out[i][c] (+)= sum_k x(i,k) y(k,c). */
struct product {
    int rows, cols, depth;
    const REAL *x; /* x(i,k) = x[i * x_row + k * x_step] */
    size_t x_row, x_step;
    REAL *panel; /* columns of y: depth x BLOCK_COLUMNS, zero beyond cols */
    const struct tile *seen; /* whose intervals limit k for each i; NULL: all */
    bool by_column;          /* the intervals belong to k's rows and limit i (mma_atb) */
};

static bool product_sees(const struct product *p, int i, int k)
{
    if (p->seen == NULL || !p->seen->masked)
        return true;
    return p->by_column ? i >= p->seen->lo[k] && i < p->seen->hi[k]
                        : k >= p->seen->lo[i] && k < p->seen->hi[i];
}

/* `hidden` terms of +0. */
INLINE void add_zeros(const enum format F, struct rounding R, REAL *acc, int hidden)
{
    for (int n = 0; n < hidden && n < 2; n++)
        for (int c = 0; c < BLOCK_COLUMNS; c++)
            acc[c] = op_add(F, R, acc[c], (REAL)0);
}

/* BLOCK_ROWS rows from i on, all seeing the same interval of k. */
INLINE void chain_rows(const enum format F, const struct run *run, const struct call *call,
                       const struct product *p, int i, REAL acc[][BLOCK_COLUMNS])
{
    struct rounding R = rounding_at(run, call->site);
    int lo = p->seen != NULL ? first_seen(p->seen, i) : 0;
    int hi = p->seen != NULL ? end_seen(p->seen, i) : p->depth;
    const REAL *x = p->x + i * p->x_row + lo * p->x_step, *y = p->panel + lo * BLOCK_COLUMNS;
    for (int n = 0; n < BLOCK_ROWS; n++)
        add_zeros(F, R, acc[n], lo);
    chain_block(F, R, BLOCK_ROWS, acc, x, p->x_row, p->x_step, y, hi - lo);
    for (int n = 0; n < BLOCK_ROWS; n++)
        add_zeros(F, R, acc[n], p->depth - hi);
}

/* Row i alone, k one at a time. */
INLINE void chain_row(const enum format F, const struct run *run, const struct call *call,
                      const struct product *p, bool fused, int i, REAL acc[][BLOCK_COLUMNS])
{
    struct rounding R = rounding_at(run, call->site);
    for (int k = 0; k < p->depth; k++) {
        const REAL *x = p->x + i * p->x_row + k * p->x_step, *y = p->panel + k * BLOCK_COLUMNS;
        if (!product_sees(p, i, k))
            add_zeros(F, R, acc[0], 1);
        else if (fused)
            chain_block(F, R, 1, acc, x, p->x_row, p->x_step, y, 1);
        else
            chain_products(run, call, acc[0], x, p->x_step, y, 1);
    }
}

static bool same_interval(const struct product *p, int i, int count)
{
    if (p->seen == NULL || !p->seen->masked)
        return true;
    for (int n = 1; n < count; n++)
        if (p->seen->lo[i + n] != p->seen->lo[i] || p->seen->hi[i + n] != p->seen->hi[i])
            return false;
    return true;
}

/* All rows of one column block of dst, starting at column c0. */
INLINE void chain_panel(const enum format F, const struct run *run, const struct call *call,
                        const struct product *p, int c0, bool from_zero)
{
    struct tile *dst = call->dst;
    int width = p->cols - c0 < BLOCK_COLUMNS ? p->cols - c0 : BLOCK_COLUMNS;
    bool fused = call->arg_site == SITE_NONE || format_at(run, call->arg_site) == FORMAT_EXACT;
    for (int i = 0; i < p->rows;) {
        bool block = blocked(F) && fused && i + BLOCK_ROWS <= p->rows && !p->by_column &&
                     same_interval(p, i, BLOCK_ROWS);
        int count = block ? BLOCK_ROWS : 1;
        REAL acc[BLOCK_ROWS][BLOCK_COLUMNS] = {{0}};
        for (int n = 0; n < count && !from_zero; n++)
            memcpy(acc[n], row_of(dst, i + n) + c0, sizeof(REAL) * (size_t)width);
        if (block)
            chain_rows(F, run, call, p, i, acc);
        else
            chain_row(F, run, call, p, fused, i, acc);
        for (int n = 0; n < count; n++)
            memcpy(row_of(dst, i + n) + c0, acc[n], sizeof(REAL) * (size_t)width);
        i += count;
    }
}

/* ---- explicit trees ---- */

/* The terms of one output put together by the order's tree, each node rounded at the site. */
INLINE REAL tree_sum(const enum format F, struct rounding R, const struct order *o,
                     const REAL *term, int n, REAL *stack)
{
    const struct order_tree *t = o->kind == ORDER_TREE ? o->tree : order_pairwise(n);
    int top = 0;
    assert(t->terms == n);
    for (int k = 0; k < t->length; k++) {
        if (t->program[k] == ORDER_ADD) {
            top--;
            stack[top - 1] = op_add(F, R, stack[top - 1], stack[top]);
        } else {
            stack[top++] = term[t->program[k]];
        }
    }
    return stack[0];
}

static void term_products(const struct run *run, const struct call *call, const struct product *p,
                          int i, int c, REAL *term)
{
    bool own = call->arg_site != SITE_NONE && format_at(run, call->arg_site) != FORMAT_EXACT;
    enum site site = own ? call->arg_site : call->site;
    struct rounding R = rounding_at(run, site);
    const REAL *x = p->x + i * p->x_row, *y = p->panel + c;
    FORMAT_SWITCH(format_at(run, site),
                  for (int k = 0; k < p->depth; k++) term[k] =
                      product_sees(p, i, k)
                          ? op_mul(F, R, x[k * p->x_step], y[k * BLOCK_COLUMNS])
                          : (REAL)0);
}

INLINE void tree_panel(const enum format F, const struct run *run, const struct call *call,
                       const struct product *p, int c0, bool from_zero, REAL *term)
{
    struct rounding R = rounding_at(run, call->site);
    int width = p->cols - c0 < BLOCK_COLUMNS ? p->cols - c0 : BLOCK_COLUMNS;
    for (int i = 0; i < p->rows; i++)
        for (int c = 0; c < width; c++) {
            REAL *d = row_of(call->dst, i) + c0 + c;
            term_products(run, call, p, i, c, term);
            REAL sum = p->depth == 0 ? (REAL)0
                                     : tree_sum(F, R, &run->policy->site[call->site].order, term,
                                                p->depth, term + p->depth);
            *d = op_add(F, R, from_zero ? (REAL)0 : *d, sum);
        }
}

/* ---- the three products ---- */

/* y's columns c0.. as a panel; y(k,c) = y[k * y_row + c * y_step]. */
static void pack_panel(struct product *p, const REAL *y, size_t y_row, size_t y_step, int c0)
{
    int width = p->cols - c0 < BLOCK_COLUMNS ? p->cols - c0 : BLOCK_COLUMNS;
    if (y_step == 1) {
        for (int k = 0; k < p->depth; k++) {
            memcpy(p->panel + k * BLOCK_COLUMNS, y + k * y_row + c0, sizeof(REAL) * (size_t)width);
            memset(p->panel + k * BLOCK_COLUMNS + width, 0,
                   sizeof(REAL) * (size_t)(BLOCK_COLUMNS - width));
        }
        return;
    }
    memset(p->panel, 0, width == BLOCK_COLUMNS ? 0 : sizeof(REAL) * BLOCK_COLUMNS * (size_t)p->depth);
    for (int k = 0; k < p->depth; k++)
        for (int c = 0; c < width; c++)
            p->panel[k * BLOCK_COLUMNS + c] = y[k * y_row + (c0 + c) * y_step];
}

static void multiply(const struct run *run, const struct call *call, struct product *p,
                     const REAL *y, size_t y_row, size_t y_step, bool from_zero)
{
    size_t panel = (size_t)p->depth * BLOCK_COLUMNS;
    p->panel = run_scratch(run, sizeof(REAL) * (panel + 2 * (size_t)p->depth + 1));
    bool chain = run->policy->site[call->site].order.kind == ORDER_SEQ;
    for (int c0 = 0; c0 < p->cols; c0 += BLOCK_COLUMNS) {
        pack_panel(p, y, y_row, y_step, c0);
        if (chain)
            FORMAT_SWITCH(format_at(run, call->site), chain_panel(F, run, call, p, c0, from_zero))
        else
            FORMAT_SWITCH(format_at(run, call->site),
                          tree_panel(F, run, call, p, c0, from_zero, p->panel + panel))
    }
}

static void body_mma_abt(const struct run *r, const struct call *c)
{
    struct product p = {c->a->rows, c->b->rows, c->a->cols, c->a->data, (size_t)c->a->cols, 1,
                        NULL,       NULL,       false};
    multiply(r, c, &p, c->b->data, 1, (size_t)c->b->cols, true);
    c->dst->masked = false;
}

static void body_mma_ab(const struct run *r, const struct call *c)
{
    struct product p = {c->a->rows, c->b->cols, c->a->cols, c->a->data, (size_t)c->a->cols, 1,
                        NULL,       c->a,       false};
    multiply(r, c, &p, c->b->data, (size_t)c->b->cols, 1, false);
}

static void body_mma_atb(const struct run *r, const struct call *c)
{
    const struct tile *seen = c->a->masked ? c->a : NULL;
    struct product p = {c->a->cols, c->b->cols, c->a->rows, c->a->data, 1, (size_t)c->a->cols,
                        NULL,       seen,       seen != NULL};
    multiply(r, c, &p, c->b->data, (size_t)c->b->cols, 1, false);
}

/* ---- sums along rows ---- */

/* Terms from..width of one row, `lo`..`hi` of them seen, chained to acc; terms are a or a b. */
INLINE REAL row_chain(const enum format F, struct rounding R, REAL acc, const REAL *a,
                      const REAL *b, int step_b, int from, int lo, int hi, int width)
{
    int first = lo > from ? lo : from, end = hi > from ? hi : from;
    for (int n = 0; n < first - from && n < 2; n++)
        acc = op_add(F, R, acc, (REAL)0);
    for (int c = first; c < hi; c++)
        acc = b == NULL ? op_add(F, R, acc, a[c]) : op_fma(F, R, a[c], b[c * step_b], acc);
    for (int n = 0; n < width - (end > first ? end : first) && n < 2; n++)
        acc = op_add(F, R, acc, (REAL)0);
    return acc;
}

/* The terms of one row put together by the site's tree. */
INLINE REAL row_tree(const enum format F, const struct run *run, enum site site, const REAL *a,
                     const REAL *b, int step_b, int lo, int hi, int width)
{
    struct rounding R = rounding_at(run, site);
    REAL *term = run_scratch(run, sizeof(REAL) * (2 * (size_t)width + 1));
    for (int c = 0; c < width; c++)
        term[c] = c < lo || c >= hi ? (REAL)0
                  : b == NULL       ? a[c]
                                    : op_mul(F, R, a[c], b[c * step_b]);
    return width == 0 ? (REAL)0
                      : tree_sum(F, R, &run->policy->site[site].order, term, width, term + width);
}

/* Eight rows that see all of a: eight chains at once. */
INLINE void eight_rows(const enum format F, struct rounding R, REAL *d, const REAL *a, int width)
{
    REAL acc[8];
    memcpy(acc, d, sizeof acc);
    for (int c = 0; c < width; c++)
        for (int i = 0; i < 8; i++)
            acc[i] = op_add(F, R, acc[i], a[(size_t)i * width + c]);
    memcpy(d, acc, sizeof acc);
}

INLINE void sum_rows(const enum format F, const struct run *run, const struct call *call,
                     const struct tile *b)
{
    const struct tile *a = call->a;
    struct rounding R = rounding_at(run, call->site);
    bool chain = run->policy->site[call->site].order.kind == ORDER_SEQ;
    REAL *d = call->dst->data;
    int r = 0;
    for (; blocked(F) && chain && b == NULL && !a->masked && r + 8 <= a->rows; r += 8)
        eight_rows(F, R, d + r, row_of(a, r), a->cols);
    for (; r < a->rows; r++) {
        int lo = first_seen(a, r), hi = end_seen(a, r);
        const REAL *y = b == NULL ? NULL : row_of(b, r);
        int step = b != NULL && b->cols > 1;
        d[r] = chain ? row_chain(F, R, d[r], row_of(a, r), y, step, 0, lo, hi, a->cols)
                     : op_add(F, R, d[r],
                              row_tree(F, run, call->site, row_of(a, r), y, step, lo, hi, a->cols));
    }
}

static void body_row_sum(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), sum_rows(F, r, c, NULL));
}

static void body_row_dot(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), sum_rows(F, r, c, c->b));
}

/* l = fma(l, decay, p0), then p1, p2, ...; without a decay the first term starts the chain.  With a
   tree T over the terms: fma(l, decay, T), or T. */
INLINE void sum_rescaled(const enum format F, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a, *decay = call->b;
    struct rounding R = rounding_at(run, call->site);
    bool chain = run->policy->site[call->site].order.kind == ORDER_SEQ;
    REAL *l = call->dst->data;
    for (int r = 0; r < a->rows; r++) {
        int lo = first_seen(a, r), hi = end_seen(a, r);
        const REAL *p = row_of(a, r);
        REAL first = !chain             ? row_tree(F, run, call->site, p, NULL, 0, lo, hi, a->cols)
                     : lo == 0 && hi > 0 ? p[0]
                                         : (REAL)0;
        REAL acc = decay == NULL ? first : op_fma(F, R, l[r], *row_of(decay, r), first);
        l[r] = chain ? row_chain(F, R, acc, p, NULL, 0, 1, lo, hi, a->cols) : acc;
    }
}

static void body_row_sum_rescaled(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), sum_rescaled(F, r, c));
}

INLINE void fold_columns(const enum format F, const struct run *run, const struct call *call)
{
    const struct tile *a = call->a;
    struct rounding R = rounding_at(run, call->site);
    bool chain = run->policy->site[call->site].order.kind == ORDER_SEQ;
    REAL *d = call->dst->data;
    for (int r = 0; r < a->rows; r++) {
        const REAL *x = row_of(a, r);
        int lo = first_seen(a, r), hi = end_seen(a, r);
        REAL first = lo == 0 && hi > 0 ? x[0] : (REAL)0;
        d[r] = chain ? row_chain(F, R, first, x, NULL, 0, 1, lo, hi, a->cols)
                     : row_tree(F, run, call->site, x, NULL, 0, lo, hi, a->cols);
    }
}

static void body_fold(const struct run *r, const struct call *c)
{
    FORMAT_SWITCH(format_at(r, c->site), fold_columns(F, r, c));
}

/* ---- the table ---- */

#define BODIES \
    { \
        [VERB_LOAD] = body_load, [VERB_COPY] = body_copy, [VERB_FILL] = body_fill, \
        [VERB_CONSTANT] = body_constant, [VERB_ROUND_AT] = body_round_at, \
        [VERB_MMA_ABT] = body_mma_abt, [VERB_MMA_AB] = body_mma_ab, [VERB_MMA_ATB] = body_mma_atb, \
        [VERB_ADD] = body_add, [VERB_SUB] = body_sub, [VERB_MUL] = body_mul, [VERB_FMA] = body_fma, \
        [VERB_DIV] = body_div, [VERB_RCP] = body_rcp, [VERB_MAX] = body_max, \
        [VERB_EXP_SHIFT] = body_exp_shift, [VERB_EXP] = body_exp, [VERB_EXP2] = body_exp2, \
        [VERB_LOG] = body_log, [VERB_LOG2] = body_log2, [VERB_TANH] = body_tanh, \
        [VERB_ROW_MAX] = body_row_max, [VERB_ROW_SUM] = body_row_sum, \
        [VERB_ROW_SUM_RESCALED] = body_row_sum_rescaled, [VERB_ROW_DOT] = body_row_dot, \
        [VERB_FOLD] = body_fold, [VERB_MASK] = body_mask, [VERB_MASK_FILL] = body_mask_fill, \
        [VERB_DIVIDE_ROWS] = body_divide_rows, [VERB_SELECT_BAD] = body_select_bad, \
    }
