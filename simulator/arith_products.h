/* arith_products.h: the three matrix products; part of arith_loops.h.

   A chain over k is kept for each output by itself; a block of outputs (rows x BLOCK_COLUMNS) stays
   in registers and advances together through k, so that each k is one fused step for every lane.
   Hidden terms count as +0 (arith_sums.h). */

#include "simulator/lanes.h"

enum { LANES = sizeof(lanes) / sizeof(REAL), BLOCK_COLUMNS = BLOCK_LANES * LANES };

/* One matrix product, as the chains see it: out[i][c] (+)= sum_k x(i,k) y(k,c). */
struct product {
    const struct run *run;
    const struct call *call;
    int rows, cols, depth;
    const REAL *x; /* x(i,k) = x[i * x_row + k * x_step] */
    size_t x_row, x_step;
    const REAL *y; /* BLOCK_COLUMNS columns: y(k,c) = y[k * y_row + c] */
    size_t y_row;
    const struct tile *seen; /* whose intervals limit k for each i; NULL: all */
    bool by_column;          /* the intervals belong to k's rows and limit i (mma_atb) */
    bool fused;              /* the products are not rounded by themselves */
};

/* The outputs' sums so far: BLOCK_COLUMNS of row n at at[n * row]. */
struct sums {
    REAL *at;
    size_t row;
};

static bool product_sees(const struct product *p, int i, int k)
{
    if (p->seen == NULL)
        return true;
    return p->by_column ? i >= p->seen->lo[k] && i < p->seen->hi[k]
                        : k >= p->seen->lo[i] && k < p->seen->hi[i];
}

INLINE lanes lanes_from(const REAL *x)
{
    lanes y;
    memcpy(&y, x, sizeof y);
    return y;
}

/* sum[n][c] += x(i + n, k) y(k, c) for n < rows, k = from .. end - 1, one machine step each. */
INLINE void chain_block(const int rows, const struct product *p, int i, int from, int end,
                        struct sums sum)
{
    lanes acc[BLOCK_ROWS][BLOCK_LANES];
    const size_t x_row = p->x_row, x_step = p->x_step, y_row = p->y_row;
    const REAL *x = p->x + i * x_row + from * x_step, *y = p->y + from * y_row;
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < BLOCK_LANES; c++)
            acc[n][c] = lanes_from(sum.at + n * sum.row + c * LANES);
    for (int k = from; k < end; k++, x += x_step, y += y_row)
        for (int n = 0; n < rows; n++)
            for (int c = 0; c < BLOCK_LANES; c++)
                acc[n][c] = lanes_fma(x[n * x_row], lanes_from(y + c * LANES), acc[n][c]);
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < BLOCK_LANES; c++)
            memcpy(sum.at + n * sum.row + c * LANES, &acc[n][c], sizeof acc[n][c]);
}

/* One row, every fused step rounded to kind K. */
INLINE void chain_rounded(const enum kind K, const struct product *p, int i, int from, int end,
                          REAL *sum)
{
    struct rounding R = rounding_at(p->run, p->call->site);
    for (int k = from; k < end; k++) {
        const REAL factor = p->x[i * p->x_row + k * p->x_step], *y = p->y + k * p->y_row;
        for (int c = 0; c < BLOCK_COLUMNS; c++)
            sum[c] = op_fma(K, R, factor, y[c], sum[c]);
    }
}

/* One row, every product rounded by itself at the call's first site. */
static void chain_products(const struct product *p, int i, int from, int end, REAL *sum)
{
    const struct run *run = p->run;
    struct rounding P = rounding_at(run, p->call->arg_site), R = rounding_at(run, p->call->site);
    REAL product[BLOCK_COLUMNS];
    for (int k = from; k < end; k++) {
        const REAL factor = p->x[i * p->x_row + k * p->x_step], *y = p->y + k * p->y_row;
        KIND_SWITCH(kind_at(run, p->call->arg_site),
                    for (int c = 0; c < BLOCK_COLUMNS; c++) product[c] = op_mul(K, P, factor, y[c]))
        KIND_SWITCH(kind_at(run, p->call->site),
                    for (int c = 0; c < BLOCK_COLUMNS; c++) sum[c] =
                        op_add(K, R, sum[c], product[c]))
    }
}

/* Row i through k = from .. end - 1, all of them seen. */
static void chain_row(const struct product *p, int i, int from, int end, REAL *sum)
{
    enum kind kind = kind_at(p->run, p->call->site);
    if (from >= end)
        return;
    if (!p->fused)
        chain_products(p, i, from, end, sum);
    else if (kind == KIND_MACHINE)
        chain_block(1, p, i, from, end, (struct sums){sum, 0});
    else
        KIND_SWITCH(kind, chain_rounded(K, p, i, from, end, sum))
}

/* `hidden` terms of +0. */
static void add_zeros(const struct product *p, int hidden, REAL *sum)
{
    if (hidden == 0)
        return;
    struct rounding R = rounding_at(p->run, p->call->site);
    for (int n = 0; n < hidden && n < 2; n++)
        KIND_SWITCH(kind_at(p->run, p->call->site),
                    for (int c = 0; c < BLOCK_COLUMNS; c++) sum[c] = op_add(K, R, sum[c], (REAL)0))
}

/* Row i, where each k's row says which i it reaches. */
static void chain_scattered(const struct product *p, int i, REAL *sum)
{
    for (int k = 0; k < p->depth; k++)
        if (product_sees(p, i, k))
            chain_row(p, i, k, k + 1, sum);
        else
            add_zeros(p, 1, sum);
}

/* Row i through k = from .. end - 1, of which it sees lo .. hi - 1; the rest are hidden. */
static void chain_part(const struct product *p, int i, int from, int end, REAL *sum)
{
    int lo = p->seen != NULL ? p->seen->lo[i] : 0, hi = p->seen != NULL ? p->seen->hi[i] : p->depth;
    int first = lo < from ? from : lo > end ? end : lo;
    int last = hi < first ? first : hi > end ? end : hi;
    add_zeros(p, first - from, sum);
    chain_row(p, i, first, last, sum);
    add_zeros(p, end - last, sum);
}

/* `count` rows from i on: together where all of them see k, before and after that row by row. */
static void chain_rows(const struct product *p, int i, int count, struct sums sum)
{
    bool block = count == BLOCK_ROWS && p->fused && kind_at(p->run, p->call->site) == KIND_MACHINE;
    int from = 0, end = p->depth;
    for (int n = 0; n < count && p->seen != NULL; n++) {
        from = p->seen->lo[i + n] > from ? p->seen->lo[i + n] : from;
        end = p->seen->hi[i + n] < end ? p->seen->hi[i + n] : end;
    }
    if (!block || from > end)
        from = end = p->depth;
    for (int n = 0; n < count && from > 0; n++)
        chain_part(p, i + n, 0, from, sum.at + n * sum.row);
    if (from < end)
        chain_block(BLOCK_ROWS, p, i, from, end, sum);
    for (int n = 0; n < count && end < p->depth; n++)
        chain_part(p, i + n, end, p->depth, sum.at + n * sum.row);
}

/* All rows of one column block of dst, starting at column c0; a narrow last block in a copy. */
static void chain_panel(const struct product *p, int c0, int width, bool from_zero)
{
    struct tile *dst = p->call->dst;
    REAL room[BLOCK_ROWS * BLOCK_COLUMNS] = {0};
    bool copy = width < BLOCK_COLUMNS;
    for (int i = 0; i < p->rows; i += BLOCK_ROWS) {
        int count = p->rows - i < BLOCK_ROWS ? p->rows - i : BLOCK_ROWS;
        REAL *d = row_of(dst, i) + c0;
        size_t bytes = sizeof *d * (size_t)width;
        struct sums sum = {copy ? room : d, copy ? BLOCK_COLUMNS : (size_t)dst->cols};
        for (int n = 0; n < count; n++, d += dst->cols)
            if (from_zero)
                memset(sum.at + n * sum.row, 0, bytes);
            else if (copy)
                memcpy(sum.at + n * sum.row, d, bytes);
        if (!p->by_column)
            chain_rows(p, i, count, sum);
        for (int n = 0; n < count && p->by_column; n++)
            chain_scattered(p, i + n, sum.at + n * sum.row);
        d = row_of(dst, i) + c0;
        for (int n = 0; n < count && copy; n++, d += dst->cols)
            memcpy(d, sum.at + n * sum.row, bytes);
    }
}

/* The terms of one output put together by the order's tree, each node rounded at the site. */
INLINE REAL tree_sum(const enum kind K, struct rounding R, const struct order *o,
                     const REAL *term, int n, REAL *stack)
{
    const struct order_tree *t = o->kind == ORDER_TREE ? o->tree : order_pairwise(n);
    int top = 0;
    assert(t->terms == n);
    for (int k = 0; k < t->length; k++) {
        if (t->program[k] == ORDER_ADD) {
            top--;
            stack[top - 1] = op_add(K, R, stack[top - 1], stack[top]);
        } else {
            stack[top++] = term[t->program[k]];
        }
    }
    return stack[0];
}

static void term_products(const struct product *p, int i, int c, REAL *term)
{
    enum site site = p->fused ? p->call->site : p->call->arg_site;
    struct rounding R = rounding_at(p->run, site);
    const REAL *x = p->x + i * p->x_row, *y = p->y + c;
    KIND_SWITCH(kind_at(p->run, site),
                for (int k = 0; k < p->depth; k++) term[k] =
                    product_sees(p, i, k) ? op_mul(K, R, x[k * p->x_step], y[k * p->y_row])
                                          : (REAL)0)
}

INLINE void tree_panel(const enum kind K, const struct product *p, int c0, int width,
                       bool from_zero, REAL *term)
{
    const struct call *call = p->call;
    struct rounding R = rounding_at(p->run, call->site);
    const struct order *order = &p->run->policy->site[call->site].order;
    for (int i = 0; i < p->rows; i++)
        for (int c = 0; c < width; c++) {
            REAL *d = row_of(call->dst, i) + c0 + c;
            term_products(p, i, c, term);
            REAL sum = p->depth == 0 ? (REAL)0
                                     : tree_sum(K, R, order, term, p->depth, term + p->depth);
            *d = op_add(K, R, from_zero ? (REAL)0 : *d, sum);
        }
}

/* Term k of each of row i's outputs, a product rounded by itself; +0 where it is hidden. */
static void lane_terms(const struct product *p, int i, int k, REAL *term)
{
    enum site site = p->fused ? p->call->site : p->call->arg_site;
    struct rounding R = rounding_at(p->run, site);
    const REAL factor = p->x[i * p->x_row + k * p->x_step], *y = p->y + k * p->y_row;
    memset(term, 0, sizeof *term * BLOCK_COLUMNS);
    if (product_sees(p, i, k))
        KIND_SWITCH(kind_at(p->run, site),
                    for (int c = 0; c < BLOCK_COLUMNS; c++) term[c] = op_mul(K, R, factor, y[c]))
}

/* sum[c] takes term k of each output; `begun`: it holds terms already. */
INLINE void lane_step(const enum kind K, struct rounding R, const struct product *p, int i, int k,
                      bool begun, REAL *sum)
{
    const REAL factor = p->x[i * p->x_row + k * p->x_step], *y = p->y + k * p->y_row;
    REAL term[BLOCK_COLUMNS];
    if (!begun) {
        lane_terms(p, i, k, sum);
    } else if (p->fused && product_sees(p, i, k)) {
        for (int c = 0; c < BLOCK_COLUMNS; c++)
            sum[c] = op_fma(K, R, factor, y[c], sum[c]);
    } else {
        lane_terms(p, i, k, term);
        for (int c = 0; c < BLOCK_COLUMNS; c++)
            sum[c] = op_add(K, R, sum[c], term[c]);
    }
}

/* Every lane becomes lane i + lane (i xor o), for each offset o in turn; a lane is `width`
   numbers. */
INLINE void butterfly(const enum kind K, struct rounding R, const struct order_lanes *o, REAL *lane,
                      REAL *before, int width)
{
    for (int n = 0; n < o->offsets; n++) {
        memcpy(before, lane, sizeof *lane * (size_t)o->lanes * width);
        for (int t = 0; t < o->lanes; t++)
            for (int c = 0; c < width; c++)
                lane[t * width + c] = op_add(K, R, before[t * width + c],
                                             before[(t ^ o->offset[n]) * width + c]);
    }
}

/* The lanes' chains of fused products over their own k, the butterfly, one addition to dst; from
   zero there is none.  `room`: twice the lanes' columns. */
INLINE void lanes_panel(const enum kind K, const struct product *p, int c0, int width,
                        bool from_zero, REAL *room)
{
    struct rounding R = rounding_at(p->run, p->call->site);
    const struct order_lanes *o = p->run->policy->site[p->call->site].order.lanes;
    size_t count = (size_t)o->lanes * BLOCK_COLUMNS;
    for (int i = 0; i < p->rows; i++) {
        REAL *d = row_of(p->call->dst, i) + c0;
        bool begun[ORDER_MOST_LANES] = {false};
        memset(room, 0, sizeof *room * count);
        for (int k = 0; k < p->depth; k++) {
            int t = o->owner[k % o->period];
            lane_step(K, R, p, i, k, begun[t], room + (size_t)t * BLOCK_COLUMNS);
            begun[t] = true;
        }
        butterfly(K, R, o, room, room + count, BLOCK_COLUMNS);
        for (int c = 0; c < width; c++)
            d[c] = from_zero ? room[c] : op_add(K, R, d[c], room[c]);
    }
}

/* Four rows of y, four elements each, as four rows of the panel. */
INLINE void transpose_four(REAL *panel, const REAL *y, size_t y_step)
{
    const REAL *a = y, *b = y + y_step, *c = y + 2 * y_step, *d = y + 3 * y_step;
    for (int k = 0; k < 4; k++) {
        REAL column[4] = {a[k], b[k], c[k], d[k]};
        memcpy(panel + k * BLOCK_COLUMNS, column, sizeof column);
    }
}

/* y's rows as the panel's columns: panel(k,c) = y[c * y_step + k], c < width; zeros beyond. */
static void pack_transposed(REAL *panel, int depth, const REAL *y, size_t y_step, int width)
{
    if (width < BLOCK_COLUMNS)
        memset(panel, 0, sizeof *panel * BLOCK_COLUMNS * (size_t)depth);
    int even_depth = depth & ~3, even_width = width & ~3;
    for (int c = 0; c < even_width; c += 4)
        for (int k = 0; k < even_depth; k += 4)
            transpose_four(panel + k * BLOCK_COLUMNS + c, y + c * y_step + k, y_step);
    for (int c = 0; c < width; c++)
        for (int k = c < even_width ? even_depth : 0; k < depth; k++)
            panel[k * BLOCK_COLUMNS + c] = y[c * y_step + k];
}

/* y's columns from y on: in place where there are enough of them. */
static void take_columns(struct product *p, REAL *panel, const REAL *y, size_t y_row, int width)
{
    if (width == BLOCK_COLUMNS) {
        p->y = y;
        p->y_row = y_row;
        return;
    }
    p->y = panel;
    p->y_row = BLOCK_COLUMNS;
    memset(panel, 0, sizeof *panel * BLOCK_COLUMNS * (size_t)p->depth);
    for (int k = 0; k < p->depth; k++)
        memcpy(panel + k * BLOCK_COLUMNS, y + k * y_row, sizeof *panel * (size_t)width);
}

#include "simulator/arith_mma.h"

static void multiply(struct product *p, const struct tile *y, bool transposed)
{
    if (order_at(p->run, p->call->site) == ORDER_MMA) {
        multiply_mma(p, y, transposed);
        return;
    }
    size_t room = (size_t)p->depth * BLOCK_COLUMNS;
    enum site product = p->call->arg_site, site = p->call->site;
    enum order_kind order = order_at(p->run, site);
    size_t columns = (size_t)order_columns(&p->run->policy->site[site].order) * BLOCK_COLUMNS;
    REAL *panel = run_scratch(p->run, sizeof(REAL) * (room + 2 * (size_t)p->depth + 2 * columns));
    p->fused = product == SITE_NONE || format_at(p->run, product) == FORMAT_EXACT;
    for (int c0 = 0; c0 < p->cols; c0 += BLOCK_COLUMNS) {
        int width = p->cols - c0 < BLOCK_COLUMNS ? p->cols - c0 : BLOCK_COLUMNS;
        if (transposed) {
            pack_transposed(panel, p->depth, row_of(y, 0) + (size_t)c0 * y->cols, (size_t)y->cols,
                            width);
            p->y = panel;
            p->y_row = BLOCK_COLUMNS;
        } else {
            take_columns(p, panel, row_of(y, 0) + c0, (size_t)y->cols, width);
        }
        if (order == ORDER_SEQ)
            chain_panel(p, c0, width, transposed);
        else if (order == ORDER_LANES)
            KIND_SWITCH(kind_at(p->run, site),
                        lanes_panel(K, p, c0, width, transposed, panel + room))
        else
            KIND_SWITCH(kind_at(p->run, site),
                        tree_panel(K, p, c0, width, transposed, panel + room))
    }
}

static void body_mma_abt(const struct run *r, const struct call *c)
{
    struct product p = {.run = r, .call = c, .rows = c->a->rows, .cols = c->b->rows,
                        .depth = c->a->cols, .x = c->a->data, .x_row = (size_t)c->a->cols,
                        .x_step = 1};
    multiply(&p, c->b, true);
    c->dst->masked = false;
}

static void body_mma_ab(const struct run *r, const struct call *c)
{
    struct product p = {.run = r, .call = c, .rows = c->a->rows, .cols = c->b->cols,
                        .depth = c->a->cols, .x = c->a->data, .x_row = (size_t)c->a->cols,
                        .x_step = 1, .seen = c->a->masked ? c->a : NULL};
    multiply(&p, c->b, false);
}

static void body_mma_atb(const struct run *r, const struct call *c)
{
    const struct tile *seen = c->a->masked ? c->a : NULL;
    struct product p = {.run = r, .call = c, .rows = c->a->cols, .cols = c->b->cols,
                        .depth = c->a->rows, .x = c->a->data, .x_row = 1,
                        .x_step = (size_t)c->a->cols, .seen = seen, .by_column = seen != NULL};
    multiply(&p, c->b, false);
}
