/* truth.c: see truth.h.  Values are taken to 160 bits and split in two. */
#include "reference/truth.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "reference/certified.h"
#include "reference/exact_gradients.h"

static struct truth split(const mpfr_t x)
{
    struct truth t = {{mpfr_get_d(x, MPFR_RNDN), 0}};
    if (!isfinite(t.value[0]))
        return t;
    mpfr_t rest;
    mpfr_init2(rest, mpfr_get_prec(x));
    mpfr_sub_d(rest, x, t.value[0], MPFR_RNDN);
    t.value[1] = mpfr_get_d(rest, MPFR_RNDN);
    mpfr_clear(rest);
    return t;
}

void truth_row(const struct head *h, int64_t r, const int64_t *dims, int64_t count,
               const enum format *formats, int format_count, struct truth *truth, double *rounded)
{
    struct certified_row *row = certified_row_new(h, r);
    mpfr_t x;
    mpfr_init2(x, 160);
    for (int64_t i = 0; i < count; i++) {
        certified_value(row, dims[i], x); /* first: its weights are precise enough for the rest */
        truth[i] = split(x);
        for (int k = 0; k < format_count; k++)
            rounded[k * count + i] = certified_round(row, dims[i], formats[k], NULL);
    }
    mpfr_clear(x);
    certified_row_free(row);
}

void truth_lse(const struct head *h, int64_t r, enum format f, struct truth *truth,
               double *rounded)
{
    struct certified_row *row = certified_row_new(h, r);
    mpfr_t x;
    mpfr_init2(x, 160);
    certified_value_lse(row, x);
    *truth = split(x);
    *rounded = certified_round_lse(row, f, NULL);
    mpfr_clear(x);
    certified_row_free(row);
}

char *truth_digits(const struct head *h, int64_t r, int64_t d, int digits)
{
    struct certified_row *row = certified_row_new(h, r);
    char *text = certified_digits(row, d, digits, NULL);
    certified_row_free(row);
    return text;
}

void truth_gradients(const struct problem *p, int64_t group, const struct tensor *dO,
                     const struct gradient_place *at, int count, struct truth *truth)
{
    struct exact_gradients g;
    int64_t heads = p->Hq / p->Hkv;
    struct head h = problem_head(p, group * heads);
    bool *columns = calloc((size_t)h.D + 1, sizeof *columns);
    assert(columns != NULL);
    for (int i = 0; i < count; i++)
        columns[at[i].d] = true;
    exact_gradients_new(&g, &h, heads, 160);
    g.columns = columns;
    for (int64_t n = 0; n < heads; n++) {
        h = problem_head(p, group * heads + n);
        exact_gradients_add(&g, &h, dO);
    }
    for (int i = 0; i < count; i++) {
        int64_t row = at[i].which == GRADIENT_Q ? at[i].head * h.Nq + at[i].row : at[i].row;
        mpfr_t *const from[] = {g.dQ, g.dK, g.dV};
        truth[i] = split(from[at[i].which][row * h.D + at[i].d]);
    }
    exact_gradients_free(&g);
    free(columns);
}

double truth_error(const struct truth *t, double x)
{
    if (isfinite(x) && isfinite(t->value[0]))
        return (x - t->value[0]) - t->value[1];
    bool same = x == t->value[0] || (isnan(x) && isnan(t->value[0]));
    return same ? 0 : NAN;
}

double truth_ulp(const struct truth *t, enum format f)
{
    double x = fabs(t->value[0]), below = t->value[0] < 0 ? -t->value[1] : t->value[1];
    if (below < 0) /* just below a power of two it is the smaller spacing that counts */
        x = nextafter(x, 0);
    return format_ulp(f, x);
}

/* Between `correct` and its neighbour on the given side. */
static double boundary_beside(enum format f, double correct, int side)
{
    double next = format_next(f, correct, side);
    return isfinite(next) ? correct + (next - correct) / 2
                          : correct + side * format_ulp(f, correct) / 2;
}

struct boundary truth_boundary(const struct truth *t, enum format f, double correct, double before)
{
    struct boundary b = {NAN, NAN, false};
    double ulp = truth_ulp(t, f);
    if (!isfinite(correct) || !isfinite(before) || !isfinite(t->value[0]))
        return b;
    double below = boundary_beside(f, correct, -1), above = boundary_beside(f, correct, 1);
    double rounded = format_round(f, before, false);
    b.crossed = rounded != correct;
    if (b.crossed)
        b.at = rounded < correct ? below : above;
    else
        b.at = fabs(truth_error(t, below)) <= fabs(truth_error(t, above)) ? below : above;
    b.distance = -truth_error(t, b.at) / ulp;
    return b;
}
