/* bounds_gradient.c: how far finite precision may take the gradients of FlashAttention-2's backward
   pass (arXiv 2307.08691, Algorithm 2), which has O and L as forward stored them.

   u = 2^-24, s = `special`, w = `weight`; x a score, P = e^(x - L), t = dP - D, dS = P t.
   O errs by B_O and L by B_L: bounds_budget.c.  A recomputed score errs by e (there), the exponent
   x - L by a = e + B_L + u (|x - L| + e + B_L), so P by a factor between e^-(a + 2s) and
   e^(a + 2s), and 2^-125 where it is subnormal: |P' - P| <= p = P (e^(a + 2s) - 1) + 2^-125.  As
   dV's product takes it, rounded, it errs by p + w (P + p) + tiny.
   dP errs as a sum of D products; D = sum dO O by sum |dO| (B_O + gamma_D (|O| + B_O)); t by both
   and its own rounding: t' = t + q.  dS errs by P q + p (|t| + q) + u (P + p) (|t| + q), and,
   rounded, by w of its size more and tiny.
   A gradient sums |terms| of which each errs by its factor's error: first the terms' own errors,
   then the sum's: chains of tensor-core steps; for dQ an addition a tile in any order, and of the
   copies as many again; the scale and its product; for dK and dV the query heads' sum. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "reference/bounds_parts.h"

static const double U24 = BOUND_U24, TINY = 0x1p-125;

/* One query: of its visible keys the weights and the score gradients, and how far off they are. */
struct query {
    struct weighed w;
    double *weight_error, *dS, *dS_error;
    double *dO, *row; /* D of each */
    struct bound *O;
};

/* One tensor of gradients: true values, the terms' errors, the terms' sizes. */
struct sums {
    double *value, *error, *size;
};

static void *room(size_t count, size_t each)
{
    void *p = calloc(count + 1, each);
    assert(p != NULL);
    return p;
}

static void query_new(struct query *y, const struct head *h)
{
    size_t keys = (size_t)h->Nk, D = (size_t)h->D;
    double *x = room(6 * keys + 2 * D, sizeof *x);
    *y = (struct query){.w = {.key = room(keys, sizeof *y->w.key),
                              .x = x,
                              .pi = x + keys,
                              .magnitude = x + 2 * keys},
                        .weight_error = x + 3 * keys,
                        .dS = x + 4 * keys,
                        .dS_error = x + 5 * keys,
                        .dO = x + 6 * keys,
                        .row = x + 6 * keys + D,
                        .O = room(D, sizeof *y->O)};
}

static void query_free(struct query *y)
{
    free(y->w.key);
    free(y->w.x);
    free(y->O);
}

/* D = dO . O, and how far off the stored O's may be. */
static double delta_of(const struct query *y, const struct head *h, double *error)
{
    double sum = 0, gamma = bound_gamma((double)h->D);
    *error = 0;
    for (int64_t d = 0; d < h->D; d++) {
        double O = 0;
        for (int64_t j = 0; j < y->w.count; j++)
            O += y->w.pi[j] *
                 tensor_get(&h->problem->v, h->batch, h->kv_head, h->k0 + y->w.key[j], d);
        sum += y->dO[d] * O;
        *error += fabs(y->dO[d]) * (y->O[d].total + (gamma + BOUND_SLACK * U24) *
                                                        (fabs(O) + y->O[d].total));
    }
    return sum;
}

static void query_errors(struct query *y, const struct head *h, int64_t r, const struct tensor *dO,
                         const struct rounding_budget *b, enum format f)
{
    double score = bound_sum(b, h->D, 1) + bound_gamma(4), delta_error;
    tensor_row(dO, h->batch, h->head, h->q0 + r, h->D, y->dO);
    y->w.count = 0;
    y->w.size = 0;
    bound_weigh(&y->w, h, r);
    bound_budgets(h, r, b, &f, 1, y->O, NULL);
    double L = bound_lse(h, r, b, FORMAT_FP32), delta = delta_of(y, h, &delta_error);
    for (int64_t j = 0; j < y->w.count; j++) {
        double dP = 0, size = 0, P = y->w.pi[j], e = score * y->w.magnitude[j];
        double gap = y->w.M - y->w.x[j] + log((double)y->w.count);
        double p = P * expm1(e + L + U24 * (gap + e + L) + 2 * b->special) + TINY;
        tensor_row(&h->problem->v, h->batch, h->kv_head, h->k0 + y->w.key[j], h->D, y->row);
        for (int64_t d = 0; d < h->D; d++) {
            dP += y->dO[d] * y->row[d];
            size += fabs(y->dO[d] * y->row[d]);
        }
        double t = fabs(dP - delta);
        double q = (bound_sum(b, h->D, 1) + BOUND_SLACK * U24) * size + delta_error;
        q += U24 * (t + q) + TINY;
        double before = P * q + p * (t + q) + U24 * (P + p) * (t + q) + TINY;
        y->weight_error[j] = p + b->weight * (P + p) + b->tiny;
        y->dS[j] = P * (dP - delta);
        y->dS_error[j] = before + b->weight * (P * t + before) + b->tiny;
        if (!isfinite(format_round(f, P * t + y->dS_error[j], false)))
            y->dS_error[j] = INFINITY;
    }
}

/* sum += a x for the D numbers x of `row`; a errs by `error`. */
static void add_terms(const struct sums *s, int64_t at, const double *row, int64_t D, double a,
                      double error)
{
    for (int64_t d = 0; d < D; d++) {
        s->value[at + d] += a * row[d];
        s->error[at + d] += row[d] != 0 ? error * fabs(row[d]) : 0;
        s->size[at + d] += row[d] != 0 ? (fabs(a) + error) * fabs(row[d]) : 0;
    }
}

/* The bound: the terms' errors, `factor` of their sizes, what is subnormal, the rounding to f. */
static void close_sums(const struct sums *s, int64_t count, double scale, double factor,
                       int64_t terms, enum format f)
{
    for (int64_t i = 0; i < count; i++) {
        double value = fabs(scale * s->value[i]);
        double error = fabs(scale) * (s->error[i] + factor * s->size[i]) * (1 + BOUND_SLACK);
        if (s->size[i] > 0)
            error += (double)terms * TINY * (1 + fabs(scale));
        if (!isfinite(format_round(f, value + error, false)))
            s->error[i] = INFINITY;
        else
            s->error[i] = s->size[i] > 0 ? error + format_ulp(f, value + error) / 2 : 0;
    }
}

static struct sums sums_new(int64_t count, double *error)
{
    struct sums s = {room((size_t)count, sizeof(double)), error,
                     room((size_t)count, sizeof(double))};
    for (int64_t i = 0; i < count; i++)
        error[i] = 0;
    return s;
}

static void sums_free(struct sums *s)
{
    free(s->value);
    free(s->size);
}

void bound_gradients(const struct problem *p, int64_t group, const struct tensor *dO,
                     const struct rounding_budget *b, enum format f, double *dQ, double *dK,
                     double *dV)
{
    int64_t heads = p->Hq / p->Hkv, D = p->D;
    struct head h = problem_head(p, group * heads);
    struct query y;
    struct sums q = sums_new(heads * h.Nq * D, dQ), k = sums_new(h.Nk * D, dK),
                v = sums_new(h.Nk * D, dV);
    assert(p->softcap == 0);
    query_new(&y, &h);
    for (int64_t n = 0; n < heads * h.Nq; n++) {
        h = problem_head(p, group * heads + n / h.Nq);
        query_errors(&y, &h, n % h.Nq, dO, b, f);
        for (int64_t j = 0; j < y.w.count; j++) {
            int64_t key = y.w.key[j];
            add_terms(&v, key * D, y.dO, D, y.w.pi[j], y.weight_error[j]);
            tensor_row(&p->k, h.batch, h.kv_head, h.k0 + key, D, y.row);
            add_terms(&q, n * D, y.row, D, y.dS[j], y.dS_error[j]);
            tensor_row(&p->q, h.batch, h.head, h.q0 + n % h.Nq, D, y.row);
            add_terms(&k, key * D, y.row, D, y.dS[j], y.dS_error[j]);
        }
    }
    double scale = p->scale.value / sqrt((double)p->scale.root), tiles = (double)b->tiles;
    double rows = bound_sum(b, h.Nq, h.Nq / 16 + 1), keys = bound_sum(b, h.Nk, b->tiles);
    double met = (1 + rows) * (1 + bound_gamma((double)heads + 3)) - 1;
    close_sums(&q, heads * h.Nq * D, scale, (1 + keys) * (1 + bound_gamma(2 * tiles + 4)) - 1, h.Nk,
               f);
    close_sums(&k, h.Nk * D, scale, met, heads * h.Nq, f);
    close_sums(&v, h.Nk * D, 1, met, heads * h.Nq, f);
    query_free(&y);
    sums_free(&q);
    sums_free(&k);
    sums_free(&v);
}
