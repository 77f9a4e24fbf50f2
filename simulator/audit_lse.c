/* audit_lse.c: see audit_lse.h. */
#include "simulator/audit_lse.h"

#include <math.h>
#include <stdlib.h>

#include "reference/truth.h"
#include "simulator/audit_parts.h"

static const double LN_2 = 0.693147180559945309417;

bool audit_lse_take(struct audit_lse *l, const char *what, const struct tensor *lse,
                    const struct problem *p, const struct selection *s, struct message *why)
{
    const int64_t want[3] = {p->B, p->Hq, p->Nq};
    int missing = 3 - lse->rank;
    bool fits = missing >= 0;
    for (int i = 0; fits && i < 3; i++)
        fits = want[i] == (i < missing ? 1 : lse->shape[i - missing]);
    if (!fits)
        return refuse(why, "%s: its shape is %s; the LSE of this problem is %s", what,
                      shape_text(lse->rank, lse->shape).text, shape_text(3, want).text);
    l->format = lse->dtype;
    l->stored = malloc(((size_t)s->rows + 1) * sizeof *l->stored);
    if (l->stored == NULL)
        return refuse(why, "%s: no memory", what);
    for (int64_t i = 0; i < s->rows; i++) {
        struct head h = problem_head(p, s->unit[i]);
        int64_t at[3] = {h.batch, h.head, h.q0 + s->row[i]};
        l->stored[i] = tensor_get(lse,
                                  missing < 1   ? at[0]
                                  : missing < 2 ? at[1]
                                                : at[2],
                                  missing < 1   ? at[1]
                                  : missing < 2 ? at[2]
                                                : 0,
                                  missing < 1 ? at[2] : 0, 0);
    }
    return true;
}

int64_t audit_lse_wrong(const struct audit_lse *l)
{
    return l->outside + l->of_kind;
}

static double natural(const struct audit_lse *l, int64_t i)
{
    return l->base_2 ? l->stored[i] * LN_2 : l->stored[i];
}

/* |error| as a part of its bound; a product by ln 2 in fp32 is within that of any LSE. */
static double used(const struct head *h, int64_t r, enum format f, double got)
{
    struct rounding_budget budget = audit_any_budget(h->problem);
    struct truth truth;
    double rounded;
    truth_lse(h, r, f, &truth, &rounded);
    double error = fabs(truth_error(&truth, got));
    return isnan(error) ? INFINITY : error == 0 ? 0 : error / bound_lse(h, r, &budget, f);
}

/* What is true of every selected row, made by several threads. */
struct known {
    const struct problem *p;
    const struct selection *s;
    enum format format;
    struct truth *truth;
    double *rounded, *bound;
};

static void know_row(void *context, int64_t i)
{
    struct known *k = context;
    struct head h = problem_head(k->p, k->s->unit[i]);
    struct rounding_budget budget = audit_any_budget(k->p);
    truth_lse(&h, k->s->row[i], k->format, &k->truth[i], &k->rounded[i]);
    k->bound[i] = bound_lse(&h, k->s->row[i], &budget, k->format);
}

static void judge_row(struct audit_lse *l, const struct known *k, int64_t i)
{
    double got = natural(l, i), rounded = k->rounded[i];
    double error = truth_error(&k->truth[i], got);
    double ulps = error / truth_ulp(&k->truth[i], l->format);
    double part = error == 0 ? 0 : fabs(error) / k->bound[i];
    l->rows++;
    l->rounded += got == rounded || (isnan(got) && isnan(rounded));
    if (k->truth[i].value[0] == -INFINITY && got == INFINITY) {
        l->plus_infinity++;
        return;
    }
    l->of_kind += isnan(error);
    l->outside += part > 1;
    if (l->first < 0 && (isnan(error) || part > 1))
        l->first = i;
    if (isnan(error) || !isfinite(got))
        return;
    l->sum_ulp += ulps;
    l->max_ulp = fabs(ulps) > l->max_ulp ? fabs(ulps) : l->max_ulp;
    l->max_ratio = part > l->max_ratio ? part : l->max_ratio;
}

/* Every row looked at fits, and some is finite: infinities say nothing of a base or a scale. */
static bool reading_fits(const struct audit_lse *l, const struct problem *p,
                         const struct selection *s, enum reading r, double factor)
{
    enum { FEW = 16 };
    int64_t looks = s->rows < FEW ? s->rows : FEW, finite = 0;
    for (int64_t n = 0; n < looks; n++) {
        struct problem other;
        struct head h;
        int64_t i = n * s->rows / looks;
        double got = l->stored[i] * factor;
        if (!gate_head(p, r, s->unit[i], &other, &h) || !(used(&h, s->row[i], l->format, got) <= 1))
            return false;
        finite += isfinite(got);
    }
    return finite > 0;
}

static void find_reading(struct audit_lse *l, const struct problem *p, const struct selection *s)
{
    for (int r = READ_AS_GIVEN; r < READINGS; r++)
        for (int base = 0; base < 2; base++)
            if (reading_fits(l, p, s, (enum reading)r, base == 0 ? 1 : LN_2)) {
                l->fits = true;
                l->fits_base_2 = base == 1;
                l->reading = (enum reading)r;
                return;
            }
}

bool audit_lse_judge(struct audit_lse *l, const struct problem *p, const struct selection *s,
                     int threads, struct message *why)
{
    size_t rows = (size_t)s->rows + 1;
    struct known k = {p,
                      s,
                      l->format,
                      malloc(rows * sizeof *k.truth),
                      malloc(rows * sizeof *k.rounded),
                      malloc(rows * sizeof *k.bound)};
    bool ok = (k.truth != NULL && k.rounded != NULL && k.bound != NULL) ||
              refuse(why, "no memory to judge %lld logarithms", (long long)s->rows);
    if (ok)
        audit_parallel(&(struct audit_work){s->rows, know_row, &k, NULL}, threads);
    l->first = -1;
    for (int64_t i = 0; ok && i < s->rows; i++)
        judge_row(l, &k, i);
    if (ok && audit_lse_wrong(l) > 0)
        find_reading(l, p, s);
    free(k.truth);
    free(k.rounded);
    free(k.bound);
    return ok;
}
