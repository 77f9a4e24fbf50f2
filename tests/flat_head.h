/* flat_head.h: one head's numbers and intervals as plain arrays, for an oracle. */
#ifndef FLASHULP_TESTS_FLAT_HEAD_H
#define FLASHULP_TESTS_FLAT_HEAD_H

#include <math.h>
#include <stdlib.h>

#include "reference/problem.h"

/* The head's numbers and intervals, flat, for the oracle.  Intervals come from sees(). */
struct flat {
    double *q, *k, *v;
    int64_t *lo, *hi;
};

static inline void flatten(struct flat *f, const struct head *h)
{
    const struct problem *p = h->problem;
    f->q = calloc((size_t)(h->Nq * h->D) + 1, sizeof(double));
    f->k = calloc((size_t)(h->Nk * h->D) + 1, sizeof(double));
    f->v = calloc((size_t)(h->Nk * h->D) + 1, sizeof(double));
    f->lo = calloc((size_t)h->Nq + 1, sizeof(int64_t));
    f->hi = calloc((size_t)h->Nq + 1, sizeof(int64_t));
    for (int64_t r = 0; r < h->Nq; r++) {
        tensor_row(&p->q, h->batch, h->head, h->q0 + r, h->D, f->q + r * h->D);
        while (f->lo[r] < h->Nk && !sees(h, r, f->lo[r]))
            f->lo[r]++;
        for (f->hi[r] = f->lo[r]; f->hi[r] < h->Nk && sees(h, r, f->hi[r]);)
            f->hi[r]++;
    }
    for (int64_t c = 0; c < h->Nk; c++) {
        tensor_row(&p->k, h->batch, h->kv_head, h->k0 + c, h->D, f->k + c * h->D);
        tensor_row(&p->v, h->batch, h->kv_head, h->k0 + c, h->D, f->v + c * h->D);
    }
}

static inline void flat_free(struct flat *f)
{
    free(f->q);
    free(f->k);
    free(f->v);
    free(f->lo);
    free(f->hi);
}

static inline bool same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

#endif
