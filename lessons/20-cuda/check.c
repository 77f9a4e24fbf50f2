/* check.c: lab 20, a softmax by the threads of a block, on the emulator, watched by its
   detector. */
#include "lessons/edges.h"

enum { VALUES = 1, SUMS = 2 };

static void judge(struct grading *g, const struct state *s, int what)
{
    for (int r = 0; r < s->rows; r++) {
        double m = -INFINITY, l = 0;
        for (int c = 0; c < s->keys; c++)
            m = fmax(m, (double)s->S[r][c]);
        for (int c = 0; c < s->keys; c++)
            l += exp((double)s->S[r][c] - m);
        if (what & SUMS) {
            if (s->keys > 32 / 2 && near(s->l[r], l / 2, 0))
                wrong(g, "l[%d] is half of what it should be: one warp's part is missing", r);
            expect(g, entry_name("m", r, -1).text, s->m[r], m, 0);
            expect(g, entry_name("l", r, -1).text, s->l[r], l, 0);
        }
        for (int c = 0; c < s->keys && (what & VALUES) && !failed(g); c++)
            expect(g, entry_name("P", r, c).text, s->P[r][c], exp((double)s->S[r][c] - m) / l,
                   0.05);
    }
}

/* order: how threads are taken, 0 ascending, 1 descending, 2 at random. */
static void softmax(struct grading *g, int rows, int keys, int order, int what, bool watched)
{
    struct state s;
    fresh(&s, rows, keys, 1);
    s.order = order;
    draw_scores(g, &s);
    static const char *const words[] = {"ascending", "descending", "random"};
    at(g, "%d rows, %d keys, %d threads a block, %s", rows, keys, g->variant.shape, words[order]);
    g->watched = watched;
    if (call(g, 0, &s))
        judge(g, &s, what);
    g->watched = false;
}

static void sums(struct grading *g)
{
    softmax(g, 2, 32, 0, SUMS, false);
}

static void weights(struct grading *g)
{
    softmax(g, 3, 32, 0, VALUES, false);
}

static void any_keys(struct grading *g)
{
    softmax(g, 2, 1, 0, VALUES | SUMS, false);
    softmax(g, 2, 19, 0, VALUES | SUMS, false);
}

static void orders(struct grading *g)
{
    softmax(g, 2, 32, 1, VALUES | SUMS, false);
    softmax(g, 2, 27, 2, VALUES | SUMS, false);
}

static void races(struct grading *g)
{
    softmax(g, 2, 32, 0, 0, true);
    softmax(g, 1, 7, 1, VALUES | SUMS, true);
}

/* The student's weights times V, and m + ln l; sixteen rows of the battery's scores at a time. */
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
        lse[row] = edge_number(s.m[0]) + log(edge_number(s.l[0]));
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
                                  .most_rows = 4,
                                  .leaves = {"no-keys", "plus-inf"}});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 3; i++)
        softmax(g, draw_between(g, 1, MAX_ROWS), draw_between(g, 1, MAX_KEYS), i, VALUES | SUMS,
                true);
}

const struct lab lab_cuda = {.number = "20",
                             .folder = "cuda",
                             .title = "A softmax by the threads of a block (CUDA)",
                             .steps = {"softmax_rows"},
                             .writes = {WRITES(m) | WRITES(l) | WRITES(P)},
                             .cuda = true,
                             .knobs = KNOB_SHAPE,
                             .shape = {"blocks of ", " threads"},
                             .shapes = {64, 32, 128, 256},
                             .properties = {{"m and l", 2, sums, false},
                                            {"P", 2, weights, false},
                                            {"any number of keys", 1, any_keys, false},
                                            {"any order of threads", 2, orders, false},
                                            {"no race, no stray access", 2, races, false},
                                            {"edge cases of the battery", 1, edges, false},
                                            {"hidden, 3 cases", 1, hidden, true}}};
