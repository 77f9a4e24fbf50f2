/* certify.c: a kernel's outputs and gradients against the certified result: the share of the proved
   bound that the error reaches, in a few rows and columns of every head. */
#include <math.h>
#include <stdlib.h>

#include "gpu/launch.h"
#include "reference/bounds.h"
#include "reference/truth.h"
#include "simulator/audit_parts.h"

enum { PICKED = 3 };

/* The first, the middle and the last of n; how many differ. */
static int pick(int64_t n, int64_t at[PICKED])
{
    at[0] = 0;
    at[1] = n > 2 ? n / 2 : n - 1;
    at[2] = n - 1;
    return n < PICKED ? (int)n : PICKED;
}

/* Of the bound; infinite when outside one that is 0, or of another kind. */
static double share(double error, double bound)
{
    return error == 0 || isinf(bound) ? 0 : error / bound < INFINITY ? error / bound : INFINITY;
}

static double row_share(const struct gpu_pair *p, const struct head *h, int64_t r,
                        const uint16_t *O)
{
    struct rounding_budget budget = audit_any_budget(h->problem);
    enum format f = p->input.input_format;
    int64_t dims[PICKED];
    struct truth truth[PICKED];
    double rounded[PICKED], most = 0;
    int columns = pick(h->D, dims);
    struct bound *bounds = malloc((size_t)h->D * sizeof *bounds);
    if (bounds == NULL)
        abort();
    bound_budgets(h, r, &budget, &f, 1, bounds, NULL);
    truth_row(h, r, dims, columns, &f, 1, truth, rounded);
    for (int i = 0; i < columns; i++)
        most = fmax(most, share(fabs(truth_error(&truth[i], format_decode(f, O[dims[i]]))),
                                bounds[dims[i]].total));
    free(bounds);
    return most;
}

double gpu_certified_outputs(const struct gpu_pair *p, const struct gpu_output *o)
{
    const struct problem *x = &p->input.problem;
    double most = 0;
    for (int64_t n = 0; n < problem_units(x); n += problem_units(x) > 2 ? 3 : 1) {
        struct head h = problem_head(x, n);
        int64_t rows[PICKED];
        int count = pick(h.Nq, rows);
        for (int i = 0; i < count; i++)
            most = fmax(most, row_share(p, &h, rows[i], o->O + (n * x->Nq + rows[i]) * x->D));
    }
    return most;
}

/* Of our backward kernels, whose exponentials are special_poly.h's. */
static struct rounding_budget backward_budget(const struct gpu_pair *p)
{
    const struct problem *x = &p->input.problem;
    struct rounding_budget b =
        rounding_budget_fp32(p->input.input_format, x->Nk, x->Nk / KEY_TILE(x->D) + 1);
    struct rounding_budget any = audit_any_budget(x);
    b.special = 0x1p-23; /* an ulp */
    if (p->unit != NULL) {
        b.step = any.step;
        b.step_terms = any.step_terms;
    }
    return b;
}

/* Gradient number `which` of a key head: (heads, rows, D) words, bounds beside them. */
struct part {
    enum gradient which;
    int64_t heads, rows;
    const uint16_t *words;
    const double *bound;
};

static double part_share(const struct gpu_pair *p, int64_t group, const struct part *part)
{
    enum { MOST_HEADS = 16, MOST = MOST_HEADS * PICKED * PICKED };
    int64_t D = p->input.problem.D, rows[PICKED], dims[PICKED];
    int count = 0, columns = pick(D, dims), lines = pick(part->rows, rows);
    struct gradient_place at[MOST] = {{GRADIENT_Q, 0, 0, 0}};
    struct truth truth[MOST];
    double most = 0;
    for (int64_t h = 0; h < part->heads && h < MOST_HEADS; h++)
        for (int i = 0; i < lines * columns; i++)
            at[count++] =
                (struct gradient_place){part->which, h, rows[i / columns], dims[i % columns]};
    truth_gradients(&p->input.problem, group, &p->dO, at, count, truth);
    for (int i = 0; i < count; i++) {
        int64_t n = (at[i].head * part->rows + at[i].row) * D + at[i].d;
        double got = format_decode(p->input.input_format, part->words[n]);
        most = fmax(most, share(fabs(truth_error(&truth[i], got)), part->bound[n]));
    }
    return most;
}

double gpu_certified_gradients(const struct gpu_pair *p, const struct gpu_output *o)
{
    const struct problem *x = &p->input.problem;
    struct rounding_budget budget = backward_budget(p);
    int64_t heads = x->Hq / x->Hkv, queries = heads * x->Nq * x->D, keys = x->Nk * x->D;
    double *bound = malloc((size_t)(queries + 2 * keys + 1) * sizeof *bound), most = 0;
    if (bound == NULL)
        abort();
    for (int64_t group = 0; group < x->B * x->Hkv; group++) {
        const struct part parts[] = {
            {GRADIENT_Q, heads, x->Nq, o->dQ + group * queries, bound},
            {GRADIENT_K, 1, x->Nk, o->dK + group * keys, bound + queries},
            {GRADIENT_V, 1, x->Nk, o->dV + group * keys, bound + queries + keys},
        };
        bound_gradients(x, group, &p->dO, &budget, p->input.input_format, bound, bound + queries,
                        bound + queries + keys);
        for (int i = 0; i < 3; i++)
            most = fmax(most, part_share(p, group, &parts[i]));
    }
    free(bound);
    return most;
}
