/* check.c: lab 17, the combine of split decode. */
#include "lessons/edges.h"

static const double LN2 = 0.69314718055994531;

enum way { RIGHT, OTHER_BASE, AVERAGED, BY_MAXIMUM, UNDIVIDED, WAYS };
static const char *const sentences[] = {
    [OTHER_BASE] = "e and 2 are mixed: part_L is in the base that this copy states",
    [AVERAGED] = "the groups were averaged: each counts by e^(part_L - L)",
    [BY_MAXIMUM] = "only the group with the largest part_L counts",
    [UNDIVIDED] =
        "the weights do not sum to 1: e^(part_L - largest) is to be divided by their sum"};

struct combined {
    double L, O[MAX_DIM];
};

static struct combined combined(const struct grading *g, const struct state *s, enum way way)
{
    struct combined y = {.L = -INFINITY};
    bool two = (g->variant.base == 2) != (way == OTHER_BASE);
    double unit = two ? LN2 : 1, top = -INFINITY, sum = 0, live = 0;
    for (int i = 0; i < s->parts; i++)
        top = fmax(top, (double)s->part_L[i] * unit);
    if (isinf(top))
        return y;
    for (int i = 0; i < s->parts; i++)
        sum += exp((double)s->part_L[i] * unit - top);
    y.L = (top + log(sum)) / unit;
    for (int i = 0; i < s->parts; i++) {
        double w = exp((double)s->part_L[i] * unit - top);
        live += w > 0;
        w = way == AVERAGED ? w > 0 : way == BY_MAXIMUM ? w == 1 : w;
        for (int d = 0; d < s->dim; d++)
            y.O[d] += w * (double)s->part_O[i][d];
    }
    for (int d = 0; d < s->dim; d++)
        y.O[d] /= way == AVERAGED ? live : way == BY_MAXIMUM || way == UNDIVIDED ? 1 : sum;
    return y;
}

static bool output_is(const struct state *got, const struct combined *y)
{
    bool same = true;
    for (int d = 0; d < got->dim; d++)
        same = same && near(got->O[0][d], y->O[d], 1);
    return same;
}

static void combine(struct grading *g, int parts, int dim, unsigned empty, float spread)
{
    struct state s, before;
    fresh(&s, 1, 0, dim);
    s.parts = parts;
    for (int i = 0; i < parts; i++) {
        bool none = (empty >> i & 1) != 0;
        s.part_L[i] = none ? -INFINITY : spread * (float)(i + 1) + draw(g);
        for (int d = 0; d < dim; d++)
            s.part_O[i][d] = none ? 0 : draw(g);
    }
    before = s;
    at(g, "%d groups", parts);
    if (!call(g, 0, &s))
        return;
    struct combined right = combined(g, &before, RIGHT);
    if (output_is(&s, &right) && near(s.L[0], right.L, 1))
        return;
    for (int way = 1; way < WAYS && isfinite(right.L); way++) {
        struct combined y = combined(g, &before, (enum way)way);
        if (output_is(&s, &y) && !output_is(&s, &right))
            wrong(g, "%s", sentences[way]);
    }
    if (isnan(s.O[0][0]) && !is_poison(s.O[0][0]))
        wrong(g, "O is NaN: (-inf) - (-inf), where no group has a key");
    for (int d = 0; d < dim && !failed(g); d++)
        expect(g, entry_name("O", 0, d).text, s.O[0][d], right.O[d], 1);
    if (!failed(g))
        expect(g, "L[0]", s.L[0], right.L, 1);
}

static void two(struct grading *g)
{
    combine(g, 2, 2, 0, 1);
    combine(g, 2, 1, 0, -2);
}

static void many(struct grading *g)
{
    combine(g, 8, 4, 0, 0.5f);
    combine(g, 5, 3, 0, -0.5f);
}

static void one(struct grading *g)
{
    combine(g, 1, 3, 0, 1);
}

static void some_empty(struct grading *g)
{
    combine(g, 4, 2, 6, 1);
}

static void all_empty(struct grading *g)
{
    combine(g, 3, 2, 7, 1);
}

static void huge(struct grading *g)
{
    combine(g, 3, 2, 0, 400);
    combine(g, 3, 2, 0, -400);
}

/* The battery's keys in four groups; a group may have none. */
static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    enum { GROUPS = 4 };
    const struct problem *p = &in->problem;
    for (int64_t row = 0; row < problem_units(p) * p->Nq; row++) {
        struct state s;
        fresh(&s, 1, 0, (int)p->D);
        s.parts = GROUPS;
        struct edge_row want = edge_row(in, row / p->Nq, row % p->Nq, 0, p->Nk);
        for (int i = 0; i < GROUPS; i++) {
            struct edge_row part = edge_row(in, row / p->Nq, row % p->Nq, i * p->Nk / GROUPS,
                                            (i + 1) * p->Nk / GROUPS);
            double L = part.l == 0 ? -INFINITY : part.m + log(part.l);
            s.part_L[i] = (float)(L / (g->variant.base == 2 ? LN2 : 1));
            for (int d = 0; d < s.dim; d++)
                s.part_O[i][d] = (float)(part.l == 0 ? 0 : part.O[d] / part.l);
        }
        if (!call(g, 0, &s))
            return false;
        for (int d = 0; d < s.dim; d++)
            O[row * p->D + d] = edge_number(s.O[0][d]);
        lse[row] = g->variant.base == 2 ? edge_natural(g, s.L[0], want.m + log(want.l))
                                        : edge_number(s.L[0]);
    }
    return true;
}

static void edges(struct grading *g)
{
    edge_cases(g, &(struct edges){.solve = solve,
                                  .plain = true,
                                  .masked = true,
                                  .lse = true,
                                  .most_keys = 260,
                                  .most_rows = 10,
                                  .most_score = 1000, /* e^(part_L - L) loses digits beyond */
                                  .leaves = {"plus-inf"}});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 8; i++)
        combine(g, draw_between(g, 1, MAX_PARTS), draw_between(g, 1, MAX_DIM),
                (unsigned)draw_between(g, 0, 15), 0.5f);
}

const struct lab lab_combine = {.number = "17",
                                .folder = "two-answers",
                                .title = "Combining the groups of a split decode",
                                .steps = {"combine"},
                                .writes = {WRITES(O) | WRITES(L)},
                                .knobs = KNOB_BASE,
                                .properties = {{"two groups", 2, two, false},
                                               {"many groups", 2, many, false},
                                               {"one group", 1, one, false},
                                               {"groups without a key", 1, some_empty, false},
                                               {"no key at all", 1, all_empty, false},
                                               {"logarithms of 400 and more", 1, huge, false},
                                               {"edge cases of the battery", 1, edges, false},
                                               {"hidden, 8 cases", 2, hidden, true}}};
