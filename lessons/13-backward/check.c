/* check.c: lab 13, a backward tile: each gradient for itself, and what slips would give. */
#include "lessons/edges.h"

enum { DELTA, TILE };
enum wanted { WANT_DV = 1, WANT_DQ = 2, WANT_DK = 4 };

/* What is left out or done wrongly; the first that gives what came back is named. */
static const double LN2 = 0.69314718055994531;

enum slip {
    NONE,
    NOTHING,
    OTHER_BASE,
    NO_DELTA,
    NO_SCALE,
    SCALE_SQUARED,
    OVERWRITES,
    NO_P,
    DP_IN_DV,
    SLIPS
};
static const char *const sentences[] = {
    [NOTHING] = "nothing was added",
    [OTHER_BASE] = "e and 2 are mixed: L is in the base that this copy states",
    [NO_DELTA] = "delta was forgotten: dS = P (dP - delta)",
    [NO_SCALE] = "the scale was forgotten: dQ and dK carry it",
    [SCALE_SQUARED] = "the scale was taken twice: S has it already, and dQ, dK once",
    [OVERWRITES] = "what other tiles had added is lost: add to it",
    [NO_P] = "dS lacks the factor P",
    [DP_IN_DV] = "dV takes P, not dS"};

struct gradients {
    double dQ[MAX_ROWS][MAX_DIM], dK[MAX_KEYS][MAX_DIM], dV[MAX_KEYS][MAX_DIM];
};

/* unit: what 1 in L is, in base e. */
static void pair(const struct state *s, int r, int c, double unit, enum slip slip,
                 struct gradients *y)
{
    double L = (double)s->L[r] * (slip != OTHER_BASE ? unit : unit == 1 ? LN2 : 1);
    double p = exp((double)s->S[r][c] - L), dp = 0, scale = (double)s->scale;
    for (int d = 0; d < s->dim; d++)
        dp += (double)s->dO[r][d] * (double)s->V[c][d];
    double ds = (slip == NO_P ? 1 : p) * (dp - (slip == NO_DELTA ? 0 : (double)s->delta[r]));
    ds *= slip == NO_SCALE ? 1 : slip == SCALE_SQUARED ? scale * scale : scale;
    for (int d = 0; d < s->dim; d++) {
        y->dV[c][d] += (slip == DP_IN_DV ? ds : p) * (double)s->dO[r][d];
        y->dQ[r][d] += ds * (double)s->K[c][d];
        y->dK[c][d] += ds * (double)s->Q[r][d];
    }
}

static void expected(const struct state *s, double unit, enum slip slip, struct gradients *y)
{
    *y = (struct gradients){0};
    for (int d = 0; d < s->dim && slip != OVERWRITES; d++) {
        for (int r = 0; r < s->rows; r++)
            y->dQ[r][d] = (double)s->dQ[r][d];
        for (int c = 0; c < s->keys; c++) {
            y->dK[c][d] = (double)s->dK[c][d];
            y->dV[c][d] = (double)s->dV[c][d];
        }
    }
    for (int r = 0; r < s->rows && slip != NOTHING; r++)
        for (int c = 0; c < s->keys; c++)
            pair(s, r, c, unit, slip, y);
}

static bool is(const struct state *got, const struct gradients *y, int wanted)
{
    bool same = true;
    for (int d = 0; d < got->dim; d++) {
        for (int r = 0; r < got->rows && (wanted & WANT_DQ); r++)
            same = same && near(got->dQ[r][d], y->dQ[r][d], 4);
        for (int c = 0; c < got->keys; c++)
            same = same && (!(wanted & WANT_DK) || near(got->dK[c][d], y->dK[c][d], 4)) &&
                   (!(wanted & WANT_DV) || near(got->dV[c][d], y->dV[c][d], 4));
    }
    return same;
}

static void judge(struct grading *g, const struct state *before, const struct state *after,
                  int wanted)
{
    struct gradients y;
    double unit = g->variant.base == 2 ? LN2 : 1;
    expected(before, unit, NONE, &y);
    if (is(after, &y, wanted))
        return;
    for (int slip = 1; slip < SLIPS; slip++) {
        struct gradients z;
        expected(before, unit, (enum slip)slip, &z);
        if (is(after, &z, wanted))
            wrong(g, "%s", sentences[slip]);
    }
    for (int d = 0; d < before->dim; d++) {
        for (int r = 0; r < before->rows && (wanted & WANT_DQ); r++)
            expect(g, entry_name("dQ", r, d).text, after->dQ[r][d], y.dQ[r][d], 4);
        for (int c = 0; c < before->keys; c++) {
            if (wanted & WANT_DK)
                expect(g, entry_name("dK", c, d).text, after->dK[c][d], y.dK[c][d], 4);
            if (wanted & WANT_DV)
                expect(g, entry_name("dV", c, d).text, after->dV[c][d], y.dV[c][d], 4);
        }
    }
}

/* A tile with its whole row of weights (L of these keys alone), or one of several. */
static void draw_tile(struct grading *g, int rows, int keys, int dim, bool whole, struct state *s)
{
    fresh(s, rows, keys, dim);
    draw_inputs(g, s);
    s->scale = 1 / sqrtf((float)dim * 2);
    for (int r = 0; r < rows; r++) {
        double sum = whole ? 0 : 2;
        for (int c = 0; c < keys; c++) {
            double dot = 0;
            for (int d = 0; d < dim; d++)
                dot += (double)s->Q[r][d] * (double)s->K[c][d];
            s->S[r][c] = (float)(dot * (double)s->scale);
            sum += exp((double)s->S[r][c]);
        }
        s->L[r] = (float)(log(sum) / (g->variant.base == 2 ? LN2 : 1));
        s->delta[r] = 2 + draw(g);
        for (int d = 0; d < dim; d++) {
            s->dO[r][d] = draw(g);
            s->O[r][d] = draw(g);
            s->dQ[r][d] = draw(g);
        }
    }
    for (int c = 0; c < keys; c++)
        for (int d = 0; d < dim; d++) {
            s->dK[c][d] = draw(g);
            s->dV[c][d] = draw(g);
        }
}

static void tile(struct grading *g, int rows, int keys, int dim, int wanted)
{
    struct state s, before;
    draw_tile(g, rows, keys, dim, false, &s);
    before = s;
    at(g, "%d queries, %d keys", rows, keys);
    if (call(g, TILE, &s))
        judge(g, &before, &s, wanted);
}

static void delta(struct grading *g)
{
    for (int i = 0; i < 3; i++) {
        struct state s, before;
        draw_tile(g, 1 + 3 * i, 2, 5, false, &s);
        before = s;
        for (int r = 0; r < s.rows; r++)
            s.delta[r] = NAN;
        if (!call(g, DELTA, &s))
            return;
        for (int r = 0; r < s.rows; r++) {
            double sum = 0;
            for (int d = 0; d < s.dim; d++)
                sum += (double)before.dO[r][d] * (double)before.O[r][d];
            expect(g, entry_name("delta", r, -1).text, s.delta[r], sum, 4);
        }
    }
}

static void d_values(struct grading *g)
{
    tile(g, 4, 6, 3, WANT_DV);
}

static void d_queries(struct grading *g)
{
    tile(g, 4, 6, 3, WANT_DQ);
    tile(g, 1, 9, 4, WANT_DQ);
}

static void d_keys(struct grading *g)
{
    tile(g, 4, 6, 3, WANT_DK);
    tile(g, 9, 1, 4, WANT_DK);
}

/* One key: P = 1, dP = delta, so dS = 0: dQ and dK stay, dV gains dO. */
static void single_key(struct grading *g)
{
    struct state s, before;
    draw_tile(g, 3, 1, 4, true, &s);
    for (int r = 0; r < 3; r++) {
        double dp = 0;
        for (int d = 0; d < 4; d++)
            dp += (double)s.dO[r][d] * (double)s.V[0][d];
        s.delta[r] = (float)dp;
    }
    before = s;
    at(g, "one key");
    if (call(g, TILE, &s))
        judge(g, &before, &s, WANT_DV | WANT_DQ | WANT_DK);
}

/* What goes in and comes out of tensors: rows of a tile of queries or keys. */
static void take(float to[][MAX_DIM], const double *from, int rows, int dim)
{
    for (int r = 0; r < rows; r++)
        for (int d = 0; d < dim; d++)
            to[r][d] = (float)from[r * dim + d];
}

static void give(double *to, const float from[][MAX_DIM], int rows, int dim)
{
    for (int r = 0; r < rows; r++)
        for (int d = 0; d < dim; d++)
            to[r * dim + d] = edge_number(from[r][d]);
}

static void load_rows(const struct grading *g, const struct battery_input *in, int64_t unit,
                      int64_t row0, struct state *s)
{
    int64_t at = (unit * in->problem.Nq + row0) * in->problem.D;
    take(s->Q, in->q_values + at, s->rows, s->dim);
    take(s->dO, in->dO_values + at, s->rows, s->dim);
    for (int r = 0; r < s->rows; r++) {
        struct edge_row y = edge_row(in, unit, row0 + r, 0, in->problem.Nk);
        s->L[r] = (float)((y.m + log(y.l)) / (g->variant.base == 2 ? LN2 : 1));
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = (float)(y.O[d] / y.l);
    }
}

/* Row tiles of sixteen, key tiles of eight; every key tile adds to what the ones before left. */
static bool solve_rows(struct grading *g, const struct battery_input *in, int64_t unit,
                       int64_t row0, double *dQ, double *dK, double *dV)
{
    enum { TILE_KEYS = 8 };
    const struct problem *p = &in->problem;
    struct head h = problem_head(p, unit);
    int rows = p->Nq - row0 < MAX_ROWS ? (int)(p->Nq - row0) : MAX_ROWS;
    for (int64_t key0 = 0; key0 < p->Nk; key0 += TILE_KEYS) {
        struct state s;
        int keys = p->Nk - key0 < TILE_KEYS ? (int)(p->Nk - key0) : TILE_KEYS;
        int64_t at = ((h.batch * p->Hkv + h.kv_head) * p->Nk + key0) * p->D;
        fresh(&s, rows, keys, (int)p->D);
        s.scale = 1 / sqrtf((float)p->D);
        load_rows(g, in, unit, row0, &s);
        if (!call(g, DELTA, &s))
            return false;
        take(s.K, in->k_values + at, keys, s.dim);
        take(s.V, in->v_values + at, keys, s.dim);
        take(s.dQ, dQ, rows, s.dim);
        take(s.dK, dK + at, keys, s.dim);
        take(s.dV, dV + at, keys, s.dim);
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < keys; c++)
                s.S[r][c] = (float)edge_score(in, unit, row0 + r, key0 + c);
        if (!call(g, TILE, &s))
            return false;
        give(dQ, s.dQ, rows, s.dim);
        give(dK + at, s.dK, keys, s.dim);
        give(dV + at, s.dV, keys, s.dim);
    }
    return true;
}

static bool solve(struct grading *g, const struct battery_input *in, double *dQ, double *dK,
                  double *dV)
{
    const struct problem *p = &in->problem;
    for (int64_t unit = 0; unit < problem_units(p); unit++)
        for (int64_t row0 = 0; row0 < p->Nq; row0 += MAX_ROWS)
            if (!solve_rows(g, in, unit, row0, dQ + (unit * p->Nq + row0) * p->D, dK, dV))
                return false;
    return true;
}

static void edges(struct grading *g)
{
    edge_cases(g, &(struct edges){
                      .solve_gradients = solve, .plain = true, .most_keys = 80, .most_rows = 40});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++) {
        int rows = draw_between(g, 1, 12), keys = draw_between(g, 1, 12);
        tile(g, rows, keys, draw_between(g, 1, 12), WANT_DV | WANT_DQ | WANT_DK);
    }
}

const struct lab lab_backward = {
    .number = "13",
    .folder = "backward",
    .title = "The backward pass of one tile",
    .steps = {"row_delta", "backward_tile"},
    .knobs = KNOB_BASE,
    .base_of = "the given L",
    .writes = {WRITES(delta), WRITES(P) | WRITES(dQ) | WRITES(dK) | WRITES(dV)},
    .properties = {{"delta", 1, delta, false},
                   {"dV += P^T dO", 2, d_values, false},
                   {"dQ += scale dS K", 2, d_queries, false},
                   {"dK += scale dS^T Q", 2, d_keys, false},
                   {"one key: dQ and dK stay", 1, single_key, false},
                   {"edge cases of the battery", 1, edges, false},
                   {"hidden, 6 cases", 2, hidden, true}}};
