/* battery_gradient.c: the backward pass in double with stated mistakes; with none it is the
   gradient, which tests hold to the certified one. */
#include "simulator/battery_gradient.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct gradient_mistake_info mistakes[] = {
#define GRADIENT_MISTAKE(name, tiles, sentence, ...) {name, tiles, sentence, {__VA_ARGS__}},
#include "simulator/battery.def"
#undef GRADIENT_MISTAKE
};

const struct gradient_mistake_info *gradient_mistake_info(int n)
{
    return n < (int)(sizeof mistakes / sizeof mistakes[0]) ? &mistakes[n] : NULL;
}

struct mistake_text gradient_mistake_text(const struct gradient_mistake_info *info,
                                          const char *keys)
{
    return mistake_text(&(struct mistake_info){.sentence = info->sentence}, keys);
}

bool battery_has_gradients(const struct battery_input *in)
{
    const struct problem *p = &in->problem;
    const double *x[] = {in->q_values, in->k_values, in->v_values};
    int64_t count[] = {p->B * p->Hq * p->Nq * p->D, p->B * p->Hkv * in->buffer * p->D,
                       p->B * p->Hkv * in->buffer * p->D};
    if (p->softcap > 0 || in->buffer != p->Nk)
        return false;
    for (int t = 0; t < 3; t++)
        for (int64_t i = 0; i < count[t]; i++)
            if (!isfinite(x[t][i]))
                return false;
    return true;
}

/* One query row: what it sees as the mistake has it, and its weights. */
struct pass {
    const struct battery_input *in;
    const struct gradient_mistake *m;
    int tile;
    int64_t b, h, kv, r;
    double *P, *dP;
    double *dQ, *dK, *dV;
};

static bool visible(const struct pass *x, int64_t c)
{
    const struct mask *mask = &x->in->problem.mask;
    int64_t at = x->r + (x->m->top_left ? 0 : x->in->problem.Nk - x->in->problem.Nq);
    int64_t left = x->m->no_window ? -1 : mask->left, right = x->m->no_window ? -1 : mask->right;
    if (mask->causal)
        right = x->m->no_causal ? -1 : 0;
    return (left < 0 || c >= at - left) && (right < 0 || c <= at + right);
}

static double dot(const double *a, const double *b, int64_t D)
{
    double sum = 0;
    for (int64_t d = 0; d < D; d++)
        sum += a[d] * b[d];
    return sum;
}

/* P and dP of the row; delta.  False: it sees no key. */
static bool weigh(struct pass *x, const double *q, const double *k, const double *v,
                  const double *dO, double *delta)
{
    const struct problem *p = &x->in->problem;
    double m = -INFINITY, l = 0;
    *delta = 0;
    for (int64_t c = 0; c < p->Nk; c++) {
        x->P[c] = visible(x, c) ? dot(q, k + c * p->D, p->D) / sqrt((double)p->D) : -INFINITY;
        m = fmax(m, x->P[c]);
    }
    if (m == -INFINITY)
        return false;
    for (int64_t c = 0; c < p->Nk; c++)
        l += exp(x->P[c] - m);
    double L = m + log(l), unit = x->m->base_2 ? log(2) : 1; /* L taken as one in base 2 */
    for (int64_t c = 0; c < p->Nk; c++) {
        x->P[c] = x->m->unnormalised ? exp(x->P[c] - m) : exp(x->P[c] - L * unit);
        x->dP[c] = dot(dO, v + c * p->D, p->D);
    }
    for (int64_t c = 0; c < p->Nk; c++)
        *delta += x->P[c] * x->dP[c];
    return true;
}

/* Does query head h count in what its key head gets?  By how much. */
static double share(const struct pass *x)
{
    const struct problem *p = &x->in->problem;
    int64_t group = p->Hq / p->Hkv, place = x->h % group;
    switch (x->m->group) {
    case 1:
        return place == group - 1;
    case 2:
        return place == 0;
    case 3:
        return 1 / (double)group;
    default:
        return 1;
    }
}

static int64_t last_tile(int64_t n, int tile)
{
    return (n - 1) / tile * tile;
}

static void run_row(struct pass *x)
{
    const struct problem *p = &x->in->problem;
    const struct gradient_mistake *m = x->m;
    int64_t D = p->D, row = (x->b * p->Hq + x->h) * p->Nq + x->r,
            keys = (x->b * p->Hkv + x->kv) * p->Nk;
    const double *q = x->in->q_values + row * D, *dO = x->in->dO_values + row * D;
    const double *k = x->in->k_values + keys * D, *v = x->in->v_values + keys * D;
    double delta, scale = 1 / sqrt((double)D), part = share(x);
    bool seen = weigh(x, q, k, v, dO, &delta);
    scale = m->no_scale ? 1 : m->scale_twice ? scale * scale : scale;
    if (m->last_queries && x->r < last_tile(p->Nq, x->tile))
        part = 0;
    for (int64_t d = 0; d < D && !seen && m->empty_nan; d++)
        x->dQ[row * D + d] = NAN;
    for (int64_t c = 0; c < p->Nk && seen; c++) {
        double ds =
            (m->no_p ? visible(x, c) : x->P[c]) * (x->dP[c] - (m->no_delta ? 0 : delta)) * scale;
        bool in_dq = !m->no_dq && (!m->last_keys || c >= last_tile(p->Nk, x->tile));
        for (int64_t d = 0; d < D; d++) {
            x->dQ[row * D + d] += in_dq ? ds * k[c * D + d] : 0;
            x->dK[(keys + c) * D + d] += part * ds * q[d];
            double dv = (m->ds_in_dv ? ds : x->P[c]) * dO[d];
            x->dV[(keys + c) * D + d] =
                part * dv + (m->dv_overwritten ? 0 : x->dV[(keys + c) * D + d]);
        }
    }
}

static void fill(double *x, int64_t count, double with)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = with;
}

void mistaken_gradients(const struct battery_input *in, const struct gradient_mistake *m, int tile,
                        double *dQ, double *dK, double *dV)
{
    const struct problem *p = &in->problem;
    int64_t queries = p->B * p->Hq * p->Nq * p->D, keys = p->B * p->Hkv * p->Nk * p->D;
    struct pass x = {.in = in, .m = m, .tile = tile, .dQ = dQ, .dK = dK, .dV = dV};
    fill(dQ, queries, m->poison ? BATTERY_POISON : 0);
    fill(dK, keys, m->poison ? BATTERY_POISON : 0);
    fill(dV, keys, m->poison ? BATTERY_POISON : 0);
    if (m->poison || m->zero)
        return;
    x.P = malloc((2 * (size_t)p->Nk + 1) * sizeof *x.P);
    assert(x.P != NULL);
    x.dP = x.P + p->Nk;
    for (x.b = 0; x.b < p->B; x.b++)
        for (x.h = 0; x.h < p->Hq; x.h++)
            for (x.kv = x.h / (p->Hq / p->Hkv), x.r = 0; x.r < p->Nq; x.r++)
                run_row(&x);
    free(x.P);
}
