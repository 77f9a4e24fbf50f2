/* check.c: lab 02, safe softmax and logsumexp. */
#include "lessons/edges.h"

enum { MAXIMUM = 1, WEIGHTS = 2, LOGSUM = 4 };

static void judge_logsum(struct grading *g, float got, double m, double l)
{
    double L = m + log(l), two = L / log(2);
    int base = g->variant.base;
    if ((base != 2 && near(got, L, 1)) || (base != 0 && near(got, two, 1)))
        return;
    if (near(got, two, 1))
        wrong(g, "L is in base 2; this copy asks for base e");
    else if (near(got, L, 1))
        wrong(g, "L is in base e; this copy asks for base 2");
    else if (near(got, log(l), 1))
        wrong(g, "L lacks the maximum: m + ln l is right");
    else if (near(got, m + l, 1))
        wrong(g, "L lacks the logarithm: m + ln l is right");
    else if (isinf(got) || isnan(got))
        wrong(g, "L = %g: e^s overflowed or vanished; L = m + ln l is right", (double)got);
    else
        expect(g, "L", got, base == 2 ? two : L, 1);
}

static void judge_row(struct grading *g, const struct state *s, int r, int what)
{
    double m = -INFINITY, l = 0, sum = 0;
    for (int c = 0; c < s->keys; c++)
        m = fmax(m, (double)s->S[r][c]);
    for (int c = 0; c < s->keys; c++)
        l += exp((double)s->S[r][c] - m);
    if (what & MAXIMUM)
        expect(g, entry_name("m", r, -1).text, s->m[r], m, 0);
    for (int c = 0; c < s->keys && (what & WEIGHTS); c++)
        sum += (double)s->P[r][c];
    if ((what & WEIGHTS) && near((float)sum, l, 0) && !near((float)l, 1, 0))
        wrong(g, "row %d: the weights sum to l = %.6g: they were not divided by it", r, l);
    for (int c = 0; c < s->keys && (what & WEIGHTS) && !failed(g); c++) {
        double p = exp((double)s->S[r][c] - m) / l;
        if (isnan(s->P[r][c]) && !is_poison(s->P[r][c]))
            wrong(g, "P[%d][%d] is NaN for a score of %g: subtract the maximum first", r, c,
                  (double)s->S[r][c]);
        expect(g, entry_name("P", r, c).text, s->P[r][c], p, 0.05);
    }
    if (what & LOGSUM)
        judge_logsum(g, s->L[r], m, l);
}

/* Scores drawn, times `spread`, moved by `shift`; every third one -inf where `holes`. */
static void softmax(struct grading *g, int rows, int keys, float spread, float shift, bool holes,
                    int what)
{
    struct state s;
    fresh(&s, rows, keys, 1);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < keys; c++)
            s.S[r][c] = holes && c % 3 == 1 ? -INFINITY : draw(g) * spread + shift;
    at(g, shift != 0 ? "scores about %g" : "%g x scores", (double)(shift != 0 ? shift : spread));
    if (!call(g, 0, &s))
        return;
    for (int r = 0; r < rows; r++)
        judge_row(g, &s, r, what);
}

static void maxima(struct grading *g)
{
    softmax(g, 3, 7, 1, 0, false, MAXIMUM);
    softmax(g, 3, 7, 1, -50, false, MAXIMUM);
}

static void weights(struct grading *g)
{
    softmax(g, 4, 6, 1, 0, false, WEIGHTS);
}

static void huge(struct grading *g)
{
    softmax(g, 3, 5, 1, 1000, false, WEIGHTS);
    softmax(g, 3, 5, 1, -1000, false, WEIGHTS);
    softmax(g, 2, 9, 300, 0, false, WEIGHTS);
}

static void holes(struct grading *g)
{
    softmax(g, 3, 8, 1, 0, true, WEIGHTS | MAXIMUM);
}

static void logsum(struct grading *g)
{
    softmax(g, 3, 6, 1, 0, false, LOGSUM);
}

static void huge_logsum(struct grading *g)
{
    softmax(g, 2, 6, 1, 2000, false, LOGSUM);
    softmax(g, 2, 6, 1, -2000, true, LOGSUM);
}

/* The student's weights times V, and L; sixteen rows of the battery's scores at a time. */
static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    const struct problem *p = &in->problem;
    for (int64_t row = 0; row < problem_units(p) * p->Nq; row++) {
        struct state s;
        int64_t unit = row / p->Nq;
        fresh(&s, 1, (int)p->Nk, 1);
        for (int c = 0; c < s.keys; c++)
            s.S[0][c] = (float)edge_score(in, unit, row % p->Nq, c);
        if (!call(g, 0, &s))
            return false;
        struct edge_row want = edge_row(in, unit, row % p->Nq, 0, p->Nk);
        lse[row] = edge_natural(g, s.L[0], want.m + log(want.l));
        for (int64_t d = 0; d < p->D; d++)
            for (int c = 0; c < s.keys; c++)
                O[row * p->D + d] += edge_number(s.P[0][c]) * edge_value(in, unit, c, d);
    }
    return true;
}

static void edges(struct grading *g)
{
    edge_cases(g, &(struct edges){.solve = solve,
                                  .plain = true,
                                  .lse = true,
                                  .most_keys = MAX_KEYS,
                                  .most_rows = 40,
                                  .leaves = {"no-keys", "plus-inf"}});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 8; i++)
        softmax(g, draw_between(g, 1, MAX_ROWS), draw_between(g, 1, MAX_KEYS), 2, 0, i % 2 == 1,
                MAXIMUM | WEIGHTS | LOGSUM);
}

const struct lab lab_softmax = {
    .number = "02",
    .folder = "softmax",
    .title = "Safe softmax and logsumexp",
    .steps = {"softmax"},
    .writes = {WRITES(m) | WRITES(P) | WRITES(L) | WRITES(l)},
    .knobs = KNOB_BASE,
    .properties = {{"m is the largest score", 1, maxima, false},
                   {"the weights of ordinary scores", 2, weights, false},
                   {"scores of 1,000 and -1,000", 2, huge, false},
                   {"scores of -inf have weight 0", 1, holes, false},
                   {"L = m + ln l", 1, logsum, false},
                   {"L of huge scores", 1, huge_logsum, false},
                   {"edge cases of the battery", 1, edges, false},
                   {"hidden, 8 cases", 2, hidden, true}}};
