/* arith_select.h: maxima (no rounding; +0 above -0), visibility and selection; part of
   arith_loops.h. */

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
    enum { MAXIMA = 32 };
    REAL best[MAXIMA], nan[MAXIMA] = {0};
    int c = 0;
    for (int k = 0; k < MAXIMA; k++)
        best[k] = -(REAL)INFINITY;
    for (; c + MAXIMA <= n; c += MAXIMA)
        for (int k = 0; k < MAXIMA; k++) {
            best[k] = x[c + k] > best[k] ? x[c + k] : best[k];
            nan[k] = x[c + k] == x[c + k] ? nan[k] : 1;
        }
    for (; c < n; c++) {
        best[0] = x[c] > best[0] ? x[c] : best[0];
        nan[0] = x[c] == x[c] ? nan[0] : 1;
    }
    for (int half = MAXIMA / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) {
            best[k] = best[k + half] > best[k] ? best[k + half] : best[k];
            nan[k] += nan[k + half];
        }
    *odd = nan[0] != 0 || best[0] == 0;
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

INLINE void divide_seen(const enum kind K, const struct run *run, const struct call *call)
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
            binary_row(OP_DIV, K, R, call->dst->cols, d, row_of(a, r), a->cols > 1, row_of(b, r),
                       b->cols > 1);
    }
    copy_interval(call->dst, a);
}

static void body_divide_rows(const struct run *r, const struct call *c)
{
    KIND_SWITCH(kind_at(r, c->site), divide_seen(K, r, c));
}

static void body_safe_shift(const struct run *r, const struct call *call)
{
    (void)r;
    const struct tile *a = call->a;
    for (int i = 0; i < call->dst->rows; i++) {
        REAL *d = row_of(call->dst, i);
        const REAL *x = row_of(a, i);
        for (int k = 0; k < call->dst->cols; k++) {
            REAL shift = x[a->cols > 1 ? k : 0];
            d[k] = shift == -(REAL)INFINITY ? (REAL)0 : shift;
        }
    }
    copy_interval(call->dst, a);
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
