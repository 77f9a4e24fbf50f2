/* arith_mma.h: sums as a tensor core takes them; part of arith_loops.h.

   mma_step.c says what a step is, output by output.  Products of matrices take the fast form of
   mma_fast.h, sixteen outputs of a row at once, and plainly the steps where that does not hold.

   A hidden term, and one past the depth, is +0 times +0. */
#include "simulator/mma.h"
#include "simulator/mma_fast.h"

/* What an operand was last rounded to; a tile that was only filled holds plain floats. */
static struct mma_factor factor_of(const struct run *r, const struct tile *t)
{
    if (t == NULL || t->wrote == SITE_NONE)
        return (struct mma_factor){FORMAT_FP32, 0};
    return (struct mma_factor){format_at(r, t->wrote), r->policy->site[t->wrote].scale_log2};
}

static struct mma_step step_of(const struct run *r, const struct call *c)
{
    return mma_step_of(r->policy->site[c->site].order.mma, factor_of(r, c->a), factor_of(r, c->b),
                       format_at(r, c->site));
}

/* One step of n terms, of floats or, in the double arithmetic, of anything. */
INLINE REAL mma_any(const struct mma_step *s, const REAL *a, const REAL *b, int n, REAL c)
{
#if REAL_IS_FLOAT
    return mma_dot_add(s, a, b, n, c);
#else
    return mma_dot_add_wide(s, a, b, n, c);
#endif
}

/* acc + row i's terms a[c], or a[c] b[c]. */
static REAL mma_row(const struct mma_step *s, const struct tile *a, const struct tile *b, int i,
                    REAL acc)
{
    const REAL *x = row_of(a, i), *y = b == NULL ? NULL : row_of(b, i);
    int lo = first_seen(a, i), hi = end_seen(a, i), step_b = b != NULL && b->cols > 1;
    REAL p[MMA_MOST_L], q[MMA_MOST_L];
    for (int from = 0; from < a->cols; from += s->L) {
        int n = a->cols - from < s->L ? a->cols - from : s->L;
        for (int k = 0; k < n; k++) {
            bool seen = from + k >= lo && from + k < hi;
            p[k] = seen ? x[from + k] : (REAL)0;
            q[k] = !seen ? (REAL)0 : y == NULL ? (REAL)1 : y[(from + k) * step_b];
        }
        acc = mma_any(s, p, q, n, acc);
    }
    return acc;
}

/* A matrix product whose second operand may lie transposed. */
struct mma_product {
    const struct product *p;
    struct mma_step step;
    const struct tile *y;
    bool transposed, from_zero;
};

INLINE REAL mma_y(const struct mma_product *m, int k, int c)
{
    const REAL *y = m->y->data;
    return m->transposed ? y[(size_t)c * m->y->cols + k] : y[(size_t)k * m->y->cols + c];
}

/* Output (i, c) from k on, one step. */
static REAL mma_plain_step(const struct mma_product *m, int i, int c, int from, REAL acc)
{
    const struct product *p = m->p;
    int n = p->depth - from < m->step.L ? p->depth - from : m->step.L;
    REAL a[MMA_MOST_L], b[MMA_MOST_L];
    for (int k = 0; k < n; k++) {
        bool seen = product_sees(p, i, from + k);
        a[k] = seen ? p->x[i * p->x_row + (from + k) * p->x_step] : (REAL)0;
        b[k] = seen ? mma_y(m, from + k, c) : (REAL)0;
    }
    return mma_any(&m->step, a, b, n, acc);
}

static void mma_plain(const struct mma_product *m)
{
    for (int i = 0; i < m->p->rows; i++) {
        REAL *d = row_of(m->p->call->dst, i);
        for (int c = 0; c < m->p->cols; c++) {
            REAL acc = m->from_zero ? (REAL)0 : d[c];
            for (int from = 0; from < m->p->depth; from += m->step.L)
                acc = mma_plain_step(m, i, c, from, acc);
            d[c] = acc;
        }
    }
}

/* The factors of a matrix product, as floats, beside the exponents they are aligned by; the depth
   is filled up to whole steps, y's columns to MMA_COLUMNS. */
struct mma_panel {
    int depth;
    float *x, *y;                     /* rows x depth; depth x MMA_COLUMNS */
    int32_t *x_exponent, *y_exponent; /* likewise */
};

INLINE float mma_read(uint32_t unread, REAL x)
{
    return float_of_bits(bits_of_float((float)x) & ~unread);
}

static void pack_x(const struct mma_product *m, const struct mma_panel *n)
{
    const struct product *p = m->p;
    for (int i = 0; i < p->rows; i++)
        for (int k = 0; k < n->depth; k++) {
            bool seen = k < p->depth && product_sees(p, i, k);
            REAL x = seen ? p->x[i * p->x_row + k * p->x_step] : (REAL)0;
            size_t at = (size_t)i * n->depth + k;
            n->x[at] = mma_read(m->step.unread_a, x);
            n->x_exponent[at] = mma_exponent(n->x[at], m->step.least_a);
        }
}

static void pack_y(const struct mma_product *m, const struct mma_panel *n, int c0, int width)
{
    for (int k = 0; k < n->depth; k++)
        for (int c = 0; c < MMA_COLUMNS; c++) {
            bool given = k < m->p->depth && c < width;
            size_t at = (size_t)k * MMA_COLUMNS + c;
            n->y[at] = mma_read(m->step.unread_b, given ? mma_y(m, k, c0 + c) : (REAL)0);
            n->y_exponent[at] = mma_exponent(n->y[at], m->step.least_b);
        }
}

/* Row i's outputs c0 .. c0 + width - 1 through all steps. */
INLINE void mma_chain(const int L, const struct mma_product *m, const struct mma_panel *n, int i,
                      int c0, int width, float *acc)
{
    for (int k = 0; k < n->depth; k += L) {
        size_t x = (size_t)i * n->depth + k, y = (size_t)k * MMA_COLUMNS;
        for (int first = 0; first < width; first += MMA_LANES) {
            if (mma_fast_step(L, &m->step, n->x + x, n->x_exponent + x, n->y + y + first,
                              n->y_exponent + y + first, acc + first))
                continue;
            for (int c = first; c < width && c < first + MMA_LANES; c++)
                acc[c] = (float)mma_plain_step(m, i, c0 + c, k, (REAL)acc[c]);
        }
    }
}

static void mma_fast(const struct mma_product *m, const struct mma_panel *n)
{
    for (int c0 = 0; c0 < m->p->cols; c0 += MMA_COLUMNS) {
        int width = m->p->cols - c0 < MMA_COLUMNS ? m->p->cols - c0 : MMA_COLUMNS;
        pack_y(m, n, c0, width);
        for (int i = 0; i < m->p->rows; i++) {
            REAL *d = row_of(m->p->call->dst, i) + c0;
            float acc[MMA_COLUMNS] = {0};
            for (int c = 0; c < width && !m->from_zero; c++)
                acc[c] = (float)d[c];
            switch (m->step.L) {
            case 4: mma_chain(4, m, n, i, c0, width, acc); break;
            case 8: mma_chain(8, m, n, i, c0, width, acc); break;
            case 16: mma_chain(16, m, n, i, c0, width, acc); break;
            default: mma_chain(32, m, n, i, c0, width, acc); break;
            }
            for (int c = 0; c < width; c++)
                d[c] = (REAL)acc[c];
        }
    }
}

/* Does a float hold every element?  NaNs too, though their bits may be lost. */
static bool all_floats(const struct tile *t)
{
    bool all = true;
    for (size_t i = 0; i < (size_t)t->rows * t->cols && !REAL_IS_FLOAT; i++) {
        REAL x = ((const REAL *)t->data)[i];
        all = all && ((REAL)(float)x == x || isnan(x));
    }
    return all;
}

static void multiply_mma(const struct product *p, const struct tile *y, bool transposed)
{
    struct mma_product m = {p, step_of(p->run, p->call), y, transposed, transposed};
    struct mma_panel n = {.depth = (p->depth + m.step.L - 1) / m.step.L * m.step.L};
    bool floats =
        all_floats(p->call->a) && all_floats(y) && (transposed || all_floats(p->call->dst));
    if (!mma_is_fast(&m.step) || !floats) {
        mma_plain(&m);
        return;
    }
    size_t xs = (size_t)p->rows * n.depth, ys = (size_t)n.depth * MMA_COLUMNS;
    n.y = run_scratch(p->run, sizeof(float) * 2 * (xs + ys));
    n.y_exponent = (int32_t *)(n.y + ys);
    n.x = (float *)(n.y_exponent + ys);
    n.x_exponent = (int32_t *)(n.x + xs);
    pack_x(&m, &n);
    mma_fast(&m, &n);
}
