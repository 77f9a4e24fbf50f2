/* arith_mma.h: sums as a tensor core takes them; part of arith_loops.h.

   mma.c says what a step is, output by output.  Products of matrices take the fast form: sixteen
   outputs of a row at once, each product exact in a float, scaled by the power of two that makes the
   last place kept a unit, cut by the conversion to an integer.  It holds while every exponent is
   moderate; any other step (NaN, infinities, very large or very small terms) is taken plainly.

   A hidden term, and one past the depth, is +0 times +0. */
#include "simulator/mma.h"

enum { MMA_COLUMNS = 16 };

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

static void multiply_mma(const struct product *p, const struct tile *y, bool transposed)
{
    struct mma_product m = {p, step_of(p->run, p->call), y, transposed, transposed};
    mma_plain(&m);
}
