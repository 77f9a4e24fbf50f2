/* check.c: lab 11, merging what warps hold. */
#include "lessons/edges.h"

enum { MERGE, SHARE };

/* Ways to merge: 0 is right. */
static const double LN2 = 0.69314718055994531;

enum way {
    RIGHT,
    OTHER_BASE,
    UNSCALED,
    UPSIDE_DOWN,
    AVERAGED,
    O_UNSCALED,
    L_UNSCALED,
    UNDIVIDED,
    WAYS
};
static const char *const sentences[] = {
    [OTHER_BASE] = "e and 2 are mixed: part_m is in the base that this copy states",
    [UNSCALED] = "the parts were added as they are: each is to be scaled by e^(part_m - m)",
    [UPSIDE_DOWN] = "the factor is upside down: e^(part_m - m), at most 1, is right",
    [AVERAGED] = "the finished parts were averaged: a part counts by its sum",
    [O_UNSCALED] = "l was scaled by e^(part_m - m), O was not",
    [L_UNSCALED] = "O was scaled by e^(part_m - m), l was not",
    [UNDIVIDED] = "O was not divided by l"};

struct merged {
    double m, l, O[MAX_DIM];
};

/* unit: what 1 in part_m is, in base e. */
static struct merged merged(const struct state *s, double unit, enum way way)
{
    struct merged y = {.m = -INFINITY};
    int live = 0;
    if (way == OTHER_BASE)
        unit = unit == 1 ? LN2 : 1;
    for (int w = 0; w < s->parts; w++)
        y.m = fmax(y.m, (double)s->part_m[w]);
    for (int w = 0; w < s->parts; w++) {
        double l = (double)s->part_l[w];
        double a = l > 0 ? exp(((double)s->part_m[w] - y.m) * unit) : 0;
        a = way == UPSIDE_DOWN && a > 0 ? 1 / a : way == UNSCALED ? 1 : a;
        live += l > 0;
        y.l += (way == L_UNSCALED ? 1 : a) * l;
        for (int d = 0; d < s->dim && l > 0; d++)
            y.O[d] += (way == O_UNSCALED ? 1
                       : way == AVERAGED ? 1 / l
                                         : a) *
                      (double)s->part_O[w][d];
    }
    for (int d = 0; d < s->dim && y.l > 0 && way != UNDIVIDED; d++)
        y.O[d] /= way == AVERAGED ? live : y.l;
    return y;
}

static bool is(const struct state *got, const struct merged *y, bool sums)
{
    bool same = !sums || near(got->l[0], y->l, 0);
    for (int d = 0; d < got->dim; d++)
        same = same && near(got->O[0][d], y->O[d], 1);
    return same;
}

static void judge(struct grading *g, const struct state *before, const struct state *after)
{
    double unit = g->variant.base == 2 ? LN2 : 1;
    struct merged right = merged(before, unit, RIGHT);
    if (near(after->m[0], right.m, 0) && is(after, &right, true))
        return;
    if (right.l == 0) {
        wrong(g, "no warp has a key: m = %g, l = %g, O = %g; -INFINITY, 0 and 0 are right",
              (double)after->m[0], (double)after->l[0], (double)after->O[0][0]);
        return;
    }
    for (int way = 1; way < WAYS; way++) {
        struct merged y = merged(before, unit, (enum way)way);
        if (is(after, &y, way != AVERAGED))
            wrong(g, "%s", sentences[way]);
    }
    if (!expect(g, "m[0]", after->m[0], right.m, 0) || !expect(g, "l[0]", after->l[0], right.l, 0))
        return;
    for (int d = 0; d < before->dim; d++)
        expect(g, entry_name("O", 0, d).text, after->O[0][d], right.O[d], 1);
}

/* Parts drawn; bit w of `empty`: warp w has no key. */
static void merge(struct grading *g, int parts, int dim, unsigned empty, float spread)
{
    struct state s, before;
    fresh(&s, 1, 0, dim);
    s.parts = parts;
    for (int w = 0; w < parts; w++) {
        bool none = (empty >> w & 1) != 0;
        s.part_m[w] = none ? -INFINITY : spread * draw(g);
        s.part_l[w] = none ? 0 : 1 + fabsf(draw(g));
        for (int d = 0; d < dim; d++)
            s.part_O[w][d] = none ? 0 : draw(g);
    }
    before = s;
    at(g, "%d warps", parts);
    if (call(g, MERGE, &s))
        judge(g, &before, &s);
}

static void equal(struct grading *g)
{
    merge(g, 2, 3, 0, 0);
}

static void apart(struct grading *g)
{
    merge(g, 2, 3, 0, 2);
    merge(g, 4, 2, 0, 2);
    merge(g, 8, 4, 0, 2);
}

static void one(struct grading *g)
{
    merge(g, 1, 4, 0, 1);
}

static void some_empty(struct grading *g)
{
    merge(g, 4, 2, 5, 2);
    merge(g, 4, 2, 8, 2);
}

static void all_empty(struct grading *g)
{
    merge(g, 3, 2, 7, 1);
}

static void far(struct grading *g)
{
    merge(g, 4, 2, 0, 200);
}

static void shares(struct grading *g)
{
    static const int sizes[][2] = {{16, 4}, {16, 8}, {13, 4}, {5, 8}, {1, 1}, {16, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct state s;
        int rows = sizes[i][0], parts = sizes[i][1], each = (rows + parts - 1) / parts;
        fresh(&s, rows, 0, 1);
        s.parts = parts;
        memset(s.index, 0xFF, sizeof s.index);
        at(g, "%d rows, %d warps", rows, parts);
        if (!call(g, SHARE, &s))
            return;
        for (int r = 0; r < rows; r++)
            if (s.index[r] != r / each)
                wrong(g,
                      s.index[r] == r % parts && parts > 1
                          ? "row %d went to warp %d, want %d: rows are dealt out in turn; a warp "
                            "takes neighbouring rows"
                          : "row %d went to warp %d, want %d",
                      r, s.index[r], r / each);
    }
}

/* The battery's keys, shared by four warps; a warp may have none. */
static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    enum { WARPS = 4 };
    const struct problem *p = &in->problem;
    double unit = g->variant.base == 2 ? LN2 : 1;
    for (int64_t row = 0; row < problem_units(p) * p->Nq; row++) {
        struct state s;
        fresh(&s, 1, 0, (int)p->D);
        s.parts = WARPS;
        for (int w = 0; w < WARPS; w++) {
            struct edge_row part =
                edge_row(in, row / p->Nq, row % p->Nq, w * p->Nk / WARPS, (w + 1) * p->Nk / WARPS);
            s.part_m[w] = (float)(part.m / unit);
            double shift = isinf(part.m) ? 1 : exp(part.m - (double)s.part_m[w] * unit);
            s.part_l[w] = (float)(part.l * shift);
            for (int d = 0; d < s.dim; d++)
                s.part_O[w][d] = (float)(part.O[d] * shift);
        }
        if (!call(g, MERGE, &s))
            return false;
        for (int d = 0; d < s.dim; d++)
            O[row * p->D + d] = edge_number(s.O[0][d]);
        lse[row] = edge_number(s.m[0]) * unit + log(edge_number(s.l[0]));
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
                                  .leaves = {"plus-inf", "residual-large"}});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 8; i++)
        merge(g, draw_between(g, 1, MAX_PARTS), draw_between(g, 1, MAX_DIM),
              (unsigned)draw_between(g, 0, 15), 2);
}

const struct lab lab_warps = {.number = "11",
                              .folder = "warps",
                              .title = "From split-K to split-Q: merging what warps hold",
                              .steps = {"merge", "share_rows"},
                              .knobs = KNOB_BASE,
                              .base_of = "part_m",
                              .writes = {WRITES(m) | WRITES(l) | WRITES(O), 0},
                              .properties = {{"equal maxima: parts add", 1, equal, false},
                                             {"maxima that differ", 3, apart, false},
                                             {"one warp", 1, one, false},
                                             {"warps without a key", 1, some_empty, false},
                                             {"no key at all", 1, all_empty, false},
                                             {"maxima 200 apart", 1, far, false},
                                             {"split-Q: rows of a warp", 1, shares, false},
                                             {"edge cases of the battery", 1, edges, false},
                                             {"hidden, 8 cases", 1, hidden, true}}};
