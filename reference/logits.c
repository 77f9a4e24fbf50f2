/* logits.c: see logits.h. */
#include "reference/logits.h"

#include <math.h>

void logits_start(struct logits *l, enum format f)
{
    *l = (struct logits){.format = f, .worst = -1};
}

/* The first largest; -1 where there is none, or NaN or +inf. */
static int64_t top(const double *x, int64_t length)
{
    int64_t best = -1;
    for (int64_t i = 0; i < length; i++) {
        if (isnan(x[i]) || x[i] == INFINITY)
            return -1;
        if (x[i] != -INFINITY && (best < 0 || x[i] > x[best]))
            best = i;
    }
    return best;
}

static double sum_of_exponentials(const double *x, int64_t length, double shift)
{
    double sum = 0;
    for (int64_t i = 0; i < length; i++)
        sum += exp(x[i] - shift);
    return sum;
}

/* d + e^-d - 1 for |d| <= 0.01, where the three terms cancel, by its series. */
static double excess(double d)
{
    return d * d * (1.0 / 2 - d * (1.0 / 6 - d * (1.0 / 24 - d * (1.0 / 120 - d / 720))));
}

static double divergence(const double *got, const double *want, int64_t length, double got_top,
                         double want_top)
{
    double got_sum = sum_of_exponentials(got, length, got_top);
    double want_sum = sum_of_exponentials(want, length, want_top);
    double shift = log(want_sum / got_sum), total = 0;
    for (int64_t i = 0; i < length; i++) {
        double p = exp(want[i] - want_top) / want_sum, q = exp(got[i] - got_top) / got_sum;
        double d = (want[i] - want_top) - (got[i] - got_top) - shift;
        /* p e^-d is q, also where p is 0 */
        total += p == 0 ? q : fabs(d) > 0.01 ? p * d - p + q : p * excess(d);
    }
    return total;
}

void logits_add(struct logits *l, const double *got, const double *want, int64_t length)
{
    int64_t g = top(got, length), w = top(want, length), row = l->rows++;
    if (g < 0 || w < 0) {
        l->undefined++;
        return;
    }
    if (g != w) {
        struct logit_flip flip = {row, g, w, format_steps(l->format, got[w], got[g]),
                                  format_steps(l->format, want[g], want[w])};
        l->ties += flip.got_margin == 0 || flip.want_margin == 0;
        if (l->flips < LOGITS_KEEP)
            l->flip[l->flips] = flip;
        l->flips++;
    }
    double kl = divergence(got, want, length, got[g], want[w]);
    l->sum_divergence += kl;
    if (l->worst < 0 || kl > l->max_divergence) {
        l->max_divergence = kl;
        l->worst = row;
    }
}
