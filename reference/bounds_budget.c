/* bounds_budget.c: the theorem of bounds.c for any kernel that rounds as a budget says.

   u = 2^-24, s = `special`, K = ceil(D / step_terms), gamma_k = k u / (1 - k u); N keys and T
   tiles at most in a group, G groups; R = max |x| + ln(all keys) bounds every maximum, LSE and
   difference.
   A score's sum errs by ((1 + step)^K - 1) G_j with G_j = |scale| sum |q||k|, its scale and their
   product by 2 u more, the scale's own rounding included: e_j.  A score stored in a narrow format
   adds `score` |x_j|.  Exponents are differences of scores (M - x_j at most, in one or two fused or
   plain steps, maxima off by max e) and, across groups, of LSEs or maxima.  What multiplies a key's
   weight in both sums alike belongs to h: the exponent's roundings, T rescales, G merges, the LSE's
   own roundings (the quotient by the group's sum and the group's weight cancel, kernels' LSEs do
   not).  What only the numerator sees belongs to n, the row sum's to c; each takes every operation
   that a listing makes there, counted from above: four a tile (FlashAttention-1 rescales twice),
   one a group, eight more.  A tensor core's sum errs by (1 + step) a step, also where it is
   longer because tiles are padded: one more a tile.
   The LSE is M + ln sum pi_j e^(eta_j) (1 + lambda_j) e^(LSE - M): it errs by the logarithm of what
   multiplies the sum, and by its own few operations on numbers of size R, bases included. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "reference/bounds_parts.h"

static const double U24 = BOUND_U24, SLACK = BOUND_SLACK;

struct rounding_budget rounding_budget_fp32(enum format weights, int64_t keys, int64_t tiles)
{
    struct rounding_budget b = {
        .keys = keys, .tiles = tiles, .groups = 1, .step = U24, .step_terms = 1, .special = U24};
    const struct format_info *f = format_info(weights);
    double half = ldexp(1.0, -f->precision);
    if (f->precision > 0 && f->precision < format_info(FORMAT_FP32)->precision) {
        b.weight = half / (1 + half);
        b.tiny = ldexp(1.0, f->emin - f->precision);
    }
    return b;
}

void bound_weigh(struct weighed *w, const struct head *h, int64_t r)
{
    const struct problem *p = h->problem;
    double scale = p->scale.value / sqrt((double)p->scale.root), sum = 0;
    double *q = malloc(2 * (size_t)h->D * sizeof *q), *k = q + h->D;
    assert(q != NULL);
    w->M = -INFINITY;
    tensor_row(&p->q, h->batch, h->head, h->q0 + r, h->D, q);
    for (int64_t c = 0; c < h->Nk; c++) {
        double dot = 0, magnitude = 0;
        if (!sees(h, r, c))
            continue;
        tensor_row(&p->k, h->batch, h->kv_head, h->k0 + c, h->D, k);
        for (int64_t d = 0; d < h->D; d++) {
            dot += q[d] * k[d];
            magnitude += fabs(q[d] * k[d]);
        }
        double x = scale * dot;
        x = p->softcap > 0 ? p->softcap * tanh(x / p->softcap) : x;
        w->x[w->count] = x;
        w->magnitude[w->count] = fabs(scale) * magnitude;
        w->key[w->count++] = c;
        w->M = fmax(w->M, x);
        w->size = fmax(w->size, fabs(x));
    }
    for (int64_t j = 0; j < w->count; j++)
        sum += w->pi[j] = exp(w->x[j] - w->M);
    for (int64_t j = 0; j < w->count; j++)
        w->pi[j] /= sum;
    free(q);
}

/* Per key: what multiplies |v - O|, |v| and |O| in the theorem's numerator; and its denominator. */
struct factors {
    double *apart, *value, *output, below;
};

double bound_gamma(double k)
{
    return k * U24 < 1 ? k * U24 / (1 - k * U24) : INFINITY;
}

double bound_sum(const struct rounding_budget *b, int64_t terms, int64_t more)
{
    double steps = ceil((double)terms / b->step_terms) + (double)more;
    return expm1(steps * log1p(b->step));
}

static void set_factors(struct factors *f, const struct weighed *w, const struct head *h,
                        const struct rounding_budget *b)
{
    double score = bound_sum(b, h->D, 1) + bound_gamma(4), worst = 0;
    double reach = w->size + log((double)w->count + 1), few = (double)(b->tiles + b->groups + 4);
    double softcap = h->problem->softcap > 0 ? 5 * U24 + 2 * b->special : 0;
    double plain = bound_gamma(4.0 * (double)b->tiles + (double)b->groups + 8) + 4 * b->special;
    double merge = b->groups > 1 ? 8 * U24 * reach + 2 * b->special * reach : 0;
    double numerator = (1 + b->weight) * (1 + b->partial) * (1 + bound_sum(b, b->keys, b->tiles)) *
                       (1 + plain) * exp(merge);
    double denominator = (1 + (b->sums_rounded ? b->weight : 0)) *
                         (1 + bound_sum(b, b->sums_rounded ? b->keys : 0, 0)) *
                         (1 + bound_gamma((double)b->keys)) * (1 + plain) * exp(merge);
    for (int64_t j = 0; j < w->count; j++)
        worst = fmax(worst, score * w->magnitude[j] + (b->score + softcap) * fabs(w->x[j]));
    f->below = 0;
    for (int64_t j = 0; j < w->count; j++) {
        double e = score * w->magnitude[j] + (b->score + softcap + 4 * U24) * fabs(w->x[j]);
        double hj = e + 2 * U24 * (w->M - w->x[j] + fabs(w->M) + 2 * worst) +
                    few * (U24 + b->special) + merge;
        double tiny = w->pi[j] > 0 ? b->tiny / w->pi[j] : 0;
        double n = numerator * (1 + tiny) - 1;
        double c = denominator * (1 + (b->sums_rounded ? tiny : 0)) - 1;
        f->apart[j] = w->pi[j] * expm1(hj);
        f->value[j] = w->pi[j] * exp(hj) * n;
        f->output[j] = w->pi[j] * exp(hj) * c;
        f->below += w->pi[j] * exp(-hj) * (1 - c);
    }
}

/* Sums over the keys, column by column, V read row by row. */
struct columns {
    double *O, *A, *magnitude, *least, *most, *above, *v;
};

static void first_pass(struct columns *s, const struct weighed *w, const struct head *h)
{
    for (int64_t d = 0; d < h->D; d++) {
        s->O[d] = s->A[d] = s->magnitude[d] = 0;
        s->least[d] = INFINITY;
        s->most[d] = -INFINITY;
    }
    for (int64_t j = 0; j < w->count; j++) {
        tensor_row(&h->problem->v, h->batch, h->kv_head, h->k0 + w->key[j], h->D, s->v);
        for (int64_t d = 0; d < h->D; d++) {
            double v = s->v[d], size = fabs(v);
            s->O[d] += w->pi[j] * v;
            s->A[d] += w->pi[j] * size;
            s->magnitude[d] += size;
            s->least[d] = v < s->least[d] ? v : s->least[d];
            s->most[d] = v > s->most[d] ? v : s->most[d];
        }
    }
}

static void bound_columns(struct columns *s, const struct weighed *w, const struct head *h,
                          const struct factors *f, enum format out, struct bound *bounds)
{
    for (int64_t d = 0; d < h->D; d++)
        s->above[d] = 0;
    for (int64_t j = 0; j < w->count; j++) {
        tensor_row(&h->problem->v, h->batch, h->kv_head, h->k0 + w->key[j], h->D, s->v);
        for (int64_t d = 0; d < h->D; d++)
            s->above[d] += f->apart[j] * fabs(s->v[d] - s->O[d]) + f->value[j] * fabs(s->v[d]) +
                           f->output[j] * fabs(s->O[d]);
    }
    double N = (double)w->count;
    for (int64_t d = 0; d < h->D; d++) {
        double O = fabs(s->O[d]);
        double B = f->below > 0 ? s->above[d] / f->below * (1 + SLACK) : INFINITY;
        B += 2 * U24 * O + SLACK * U24 * s->A[d];
        double end = B + 0x1p-125 * (s->magnitude[d] + N * O) + N * 0x1p-149;
        bounds[d] = (struct bound){INFINITY, INFINITY, true};
        if (isfinite(end))
            bounds[d] =
                (struct bound){B, end + format_ulp(out, O + end) / 2, B > s->most[d] - s->least[d]};
    }
}

double bound_lse(const struct head *h, int64_t r, const struct rounding_budget *budget,
                 enum format f)
{
    size_t keys = (size_t)h->Nk + 1;
    double *room = malloc(6 * keys * sizeof *room), bound = 0, most = 0, L = 0;
    struct weighed w = {.key = malloc(keys * sizeof *w.key),
                        .x = room,
                        .pi = room + keys,
                        .magnitude = room + 2 * keys};
    struct factors x = {room + 3 * keys, room + 4 * keys, room + 5 * keys, 0};
    assert(room != NULL && w.key != NULL);
    bound_weigh(&w, h, r);
    if (w.count > 0) {
        set_factors(&x, &w, h, budget);
        for (int64_t j = 0; j < w.count; j++) {
            most += w.pi[j] + x.apart[j] + x.output[j];
            L += exp(w.x[j] - w.M);
        }
        L = fabs(w.M + log(L));
        double reach = w.size + log((double)w.count + 1);
        double sum = fmax(log(most), x.below > 0 ? -log(x.below) : INFINITY);
        bound = sum * (1 + SLACK) + (8 * U24 + 4 * budget->special) * reach + 0x1p-120;
        bound += isfinite(bound) ? format_ulp(f, L + bound) / 2 : 0;
        bound = isfinite(bound) ? bound : INFINITY;
    }
    free(w.key);
    free(room);
    return bound;
}

void bound_budgets(const struct head *h, int64_t r, const struct rounding_budget *budgets,
                   const enum format *f, int count, struct bound *bounds, double *A)
{
    size_t keys = (size_t)h->Nk + 1, D = (size_t)h->D;
    double *room = malloc((6 * keys + 7 * D) * sizeof *room), *columns = room + 6 * keys;
    struct weighed w = {.key = malloc(keys * sizeof *w.key),
                        .x = room,
                        .pi = room + keys,
                        .magnitude = room + 2 * keys};
    struct factors x = {room + 3 * keys, room + 4 * keys, room + 5 * keys, 0};
    struct columns s = {columns,         columns + D,     columns + 2 * D, columns + 3 * D,
                        columns + 4 * D, columns + 5 * D, columns + 6 * D};
    assert(room != NULL && w.key != NULL);
    bound_weigh(&w, h, r);
    first_pass(&s, &w, h);
    for (int k = 0; k < count; k++) {
        for (int64_t d = 0; d < h->D; d++)
            bounds[k * h->D + d] = (struct bound){0, 0, false};
        if (w.count == 0)
            continue;
        set_factors(&x, &w, h, &budgets[k]);
        bound_columns(&s, &w, h, &x, f[k], bounds + k * h->D);
    }
    for (int64_t d = 0; d < h->D && A != NULL; d++)
        A[d] = s.A[d];
    free(w.key);
    free(room);
}
