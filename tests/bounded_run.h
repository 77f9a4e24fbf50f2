/* bounded_run.h: families of problems, and a run of one held against its bound, output by output. */
#ifndef FLASHULP_TESTS_BOUNDED_RUN_H
#define FLASHULP_TESTS_BOUNDED_RUN_H

#include "simulator/audit_parts.h"
#include "tests/random_problem.h"

struct tally {
    int64_t problems, outputs, vacuous;
    double worst; /* error, as a part of its bound */
};

/* Columns 0, `stride`, 2 `stride` ... of every row against the certified value and its bound. */
static inline void bounded(struct audit_run *run, int64_t stride, const char *what,
                           struct tally *tally)
{
    struct rounding_budget budget;
    struct result result;
    struct message why;
    const char *reason;
    struct problem *p = &run->problem;
    enum format f = run->simulation.policy.site[SITE_OUT].format;
    if (!audit_budget(run, p, &budget, &reason))
        fail_msg("%s: %s", what, reason);
    if (!simulate(p, &run->simulation, &result, &why))
        fail_msg("%s: %s", what, why.text);
    int64_t *dims = malloc((size_t)p->D * sizeof *dims), row = 0, count = 0;
    struct truth *truth = malloc((size_t)p->D * sizeof *truth);
    double *rounded = malloc((size_t)p->D * sizeof *rounded);
    struct bound *bounds = malloc((size_t)p->D * sizeof *bounds);
    for (int64_t d = 0; d < p->D; d += stride)
        dims[count++] = d;
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        for (int64_t r = 0; r < h.Nq; r++, row++) {
            truth_row(&h, r, dims, count, &f, 1, truth, rounded);
            bound_budgets(&h, r, &budget, &f, 1, bounds, NULL);
            for (int64_t i = 0; i < count; i++, tally->outputs++) {
                const struct bound *b = &bounds[dims[i]];
                double got = result.O[row * result.D + dims[i]];
                double error = fabs(truth_error(&truth[i], got));
                double used = error == 0 ? 0 : error / b->total;
                if (!(error <= b->total))
                    fail_msg("%s: O[%d,%d,%d] = %a errs by %a, the bound is %a", what, (int)n,
                             (int)r, (int)dims[i], got, error, b->total);
                tally->worst = used > tally->worst ? used : tally->worst;
                tally->vacuous += b->vacuous;
            }
        }
    }
    tally->problems++;
    free(dims);
    free(truth);
    free(rounded);
    free(bounds);
    result_free(&result);
}

enum family_kind { PLAIN, OUTLIERS, NEEDLE, CANCELLING, REPEATED, SUBNORMAL, ONE_KEY, RAGGED };

/* size: of Q and K; tilt is added to every value. */
struct family {
    const char *name;
    double size, tilt;
    enum family_kind kind;
};
static const struct family families[] = {
    {"gaussian", 1, 0, PLAIN},       {"one sign", 1, 4, PLAIN},
    {"outliers", 1, 0, OUTLIERS},    {"huge scores", 6, 0, PLAIN},
    {"tiny scores", 0.01, 0, PLAIN}, {"repeated maxima", 1, 1, REPEATED},
    {"needle", 1, 0, NEEDLE},        {"cancelling values", 0.25, 2, CANCELLING},
    {"subnormals", 1, 0, SUBNORMAL}, {"one key", 2, 0, ONE_KEY},
    {"ragged", 1, 0, RAGGED},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

/* Key n of key head h, and its values, as the family wants them. */
static inline void rewrite_key(struct problem *p, const struct family *family, enum format f,
                               int64_t h, int64_t n, uint64_t *state)
{
    bool outlier = family->kind == OUTLIERS, tiny = family->kind == SUBNORMAL;
    for (int64_t d = 0; d < p->D; d++) {
        double v = tensor_get(&p->v, 0, h, n, d) + family->tilt;
        v *= outlier && draw_below(state, 16) == 0 ? 64 : 1;
        v = tiny && n % 3 > 0 ? ldexp(v, format_info(f)->emin - 3) : v;
        v = family->kind == CANCELLING && n % 2 == 1 ? -tensor_get(&p->v, 0, h, n - 1, d) : v;
        tensor_set(&p->v, 0, h, n, d, format_round(f, v, true));
        double k = tensor_get(&p->k, 0, h, n, d), q = tensor_get(&p->q, 0, h, 0, d);
        k = family->kind == REPEATED && n > 0 ? tensor_get(&p->k, 0, h, n % 3, d) : k;
        k = family->kind == NEEDLE && n == p->Nk * 2 / 3 ? (q < 0 ? -6 : 6) : k;
        k = tiny && n % 2 == 1 ? ldexp(k, format_info(f)->emin - 2) : k;
        tensor_set(&p->k, 0, h, n, d, format_round(f, k, true));
    }
}

/* "Ragged": packed sequences of one query each, as many as shape.Nq; their lengths differ. */
static inline void draw_family(struct problem *p, const struct family *family, enum format f,
                               struct shape shape, const struct problem_options *o, uint64_t *state)
{
    enum { MOST_SEQUENCES = 8 };
    int64_t cu_q[MOST_SEQUENCES + 1] = {0}, cu_k[MOST_SEQUENCES + 1] = {0};
    struct problem_options options = *o;
    if (family->kind == ONE_KEY)
        shape.Nk = 1;
    if (family->kind == RAGGED) {
        options.sequences = shape.Nq = 2 + draw_below(state, 3);
        for (int64_t s = 1; s <= options.sequences; s++) {
            cu_q[s] = s;
            cu_k[s] = s == options.sequences
                          ? shape.Nk
                          : cu_k[s - 1] + draw_below(state, shape.Nk - cu_k[s - 1] + 1);
        }
        options.cu_q = cu_q;
        options.cu_k = cu_k;
    }
    assert_true(draw_problem(p, f, shape, family->size, &options, state));
    for (int64_t h = 0; h < shape.Hkv; h++)
        for (int64_t n = 0; n < shape.Nk; n++)
            rewrite_key(p, family, f, h, n, state);
}

#endif
