/* bounds.c: a-priori error bounds.

   Theorem.  pi_j >= 0 with sum 1, O = sum pi_j v_j, |eta_j| <= h_j, |nu_j| <= n_j,
   |lambda_j| <= c_j < 1,  y = sum pi_j e^eta_j (1 + nu_j) v_j / sum pi_j e^eta_j (1 + lambda_j):

       |y - O| <= B = sum pi_j [(e^h_j - 1) |v_j - O| + e^h_j (n_j |v_j| + c_j |O|)]
                      / sum pi_j e^-h_j (1 - c_j).

   Proof.  Over the common denominator, y - O has the numerator
   sum pi e^eta [(v - O) + nu v - lambda O].  Because sum pi (v - O) = 0, e^eta may be replaced by
   e^eta - 1 in front of v - O, and |e^eta - 1| <= e^h - 1.  The remaining terms are at most
   e^h (n |v| + c |O|), and every term of the denominator is at least pi e^-h (1 - c) > 0.

   gpu-bf16, N visible keys in T tiles; u = 2^-24, gamma_k = k u / (1 - k u), b = 2^-8 / (1 + 2^-8)
   the largest relative error of rounding to bf16; G_j = |scale| sum |q| |k|.
   Score: bf16 products are exact in the chain's fused steps, D - 1 additions round, the scale and
   its product round: e_j = gamma_(D+1) G_j.  Softcap adds 5 u |x_j|: the cap's constant counts
   twice, then quotient, tanh, product; neither tanh's slope nor its condition number exceeds 1.
   x - m and the rescaling arguments round differences that add up to at most M - x_j + 2 max e;
   T exponentials round.  All of it is common to both sums:
       h_j = e_j + u (M - x_j + 2 max e) + T u.
   Weight to bf16, then N - 1 additions and T rescalings: n = (1 + b)(1 + gamma_(N-1+T)) - 1.
   Row sum: c = gamma_(N-1+T).  The division: B (1 + u) + u |O|.
   Underflow: U = 2^-125 (sum |v| + N |O|) + N 2^-149.
   We compute in double, N (D + 8) 2^-52 relative at worst in a weight's exponent; SLACK covers it
   up to scores of about 10^6 and the second order of what is called first order above. */
#include "reference/bounds.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double U24 = 0x1p-24, SLACK = 1e-6;

double bound_theorem(int64_t keys, const double *pi, const double *v, const struct budget *budget,
                     double O)
{
    double above = 0, below = 0;
    for (int64_t j = 0; j < keys; j++) {
        double h = budget[j].h, n = budget[j].n, c = budget[j].c;
        above += pi[j] * (expm1(h) * fabs(v[j] - O) + exp(h) * (n * fabs(v[j]) + c * fabs(O)));
        below += pi[j] * exp(-h) * (1 - c);
    }
    return below > 0 ? above / below : INFINITY;
}

static double gamma_of(double k)
{
    return k * U24 < 1 ? k * U24 / (1 - k * U24) : INFINITY;
}

/* The visible keys of one query: scores, then weights; score errors, then budgets. */
struct weighed {
    int64_t count;
    int64_t *key;
    double *pi;
    struct budget *budget;
    double *v;
};

static void score_keys(struct weighed *w, const struct head *h, int64_t r)
{
    const struct problem *p = h->problem;
    double *q = malloc((size_t)h->D * sizeof *q), *k = malloc((size_t)h->D * sizeof *k);
    assert(q && k);
    double scale = p->scale.value / sqrt((double)p->scale.root);
    tensor_row(&p->q, h->batch, h->head, h->q0 + r, h->D, q);
    for (int64_t c = 0; c < h->Nk; c++) {
        if (!sees(h, r, c))
            continue;
        tensor_row(&p->k, h->batch, h->kv_head, h->k0 + c, h->D, k);
        double dot = 0, magnitude = 0;
        for (int64_t d = 0; d < h->D; d++) {
            dot += q[d] * k[d];
            magnitude += fabs(q[d] * k[d]);
        }
        double x = scale * dot, e = gamma_of((double)h->D + 1) * fabs(scale) * magnitude;
        if (p->softcap > 0) {
            x = p->softcap * tanh(x / p->softcap);
            e += 5 * U24 * fabs(x);
        }
        w->pi[w->count] = x;
        w->budget[w->count].h = e;
        w->key[w->count++] = c;
    }
    free(q);
    free(k);
}

static void set_budgets(struct weighed *w, int64_t tiles)
{
    const double b = 0x1p-8 / (1 + 0x1p-8);
    double M = -INFINITY, worst = 0, sum = 0, chain = gamma_of((double)(w->count - 1 + tiles));
    for (int64_t j = 0; j < w->count; j++) {
        M = fmax(M, w->pi[j]);
        worst = fmax(worst, w->budget[j].h);
    }
    for (int64_t j = 0; j < w->count; j++) {
        w->budget[j].h += U24 * (M - w->pi[j] + 2 * worst) + (double)tiles * U24;
        w->budget[j].n = (1 + b) * (1 + chain) - 1;
        w->budget[j].c = chain;
        w->pi[j] = exp(w->pi[j] - M);
        sum += w->pi[j];
    }
    for (int64_t j = 0; j < w->count; j++)
        w->pi[j] /= sum;
}

static struct bound bound_column(const struct weighed *w, enum format f)
{
    double O = 0, A = 0, magnitude = 0, least = INFINITY, most = -INFINITY;
    for (int64_t j = 0; j < w->count; j++) {
        O += w->pi[j] * w->v[j];
        A += w->pi[j] * fabs(w->v[j]);
        magnitude += fabs(w->v[j]);
        least = fmin(least, w->v[j]);
        most = fmax(most, w->v[j]);
    }
    double N = (double)w->count;
    double B = bound_theorem(w->count, w->pi, w->v, w->budget, O) * (1 + SLACK);
    B = B * (1 + U24) + U24 * fabs(O) + SLACK * U24 * A;
    double end = B + 0x1p-125 * (magnitude + N * fabs(O)) + N * 0x1p-149;
    if (!isfinite(end))
        return (struct bound){INFINITY, INFINITY, true};
    return (struct bound){B, end + format_ulp(f, fabs(O) + end) / 2, B > most - least};
}

void bound_gpu_bf16(const struct head *h, int64_t r, int64_t Bc, enum format f,
                    struct bound *bounds)
{
    size_t room = (size_t)h->Nk + 1;
    struct weighed w = {0, malloc(room * sizeof *w.key), malloc(room * sizeof *w.pi),
                        malloc(room * sizeof *w.budget), malloc(room * sizeof *w.v)};
    assert(w.key && w.pi && w.budget && w.v && Bc > 0);
    score_keys(&w, h, r);
    if (w.count > 0)
        set_budgets(&w, (h->Nk + Bc - 1) / Bc);
    for (int64_t d = 0; d < h->D; d++) {
        bounds[d] = (struct bound){0, 0, false};
        for (int64_t j = 0; j < w.count; j++)
            w.v[j] = tensor_get(&h->problem->v, h->batch, h->kv_head, h->k0 + w.key[j], d);
        if (w.count > 0)
            bounds[d] = bound_column(&w, f);
    }
    free(w.key);
    free(w.pi);
    free(w.budget);
    free(w.v);
}
