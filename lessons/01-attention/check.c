/* check.c: lab 01, attention by definition. */
#include "lessons/edges.h"

enum { SCORES = 1, WEIGHTS = 2, OUTPUT = 4 };

static double dot(const struct state *s, int r, int c)
{
    double sum = 0;
    for (int d = 0; d < s->dim; d++)
        sum += (double)s->Q[r][d] * (double)s->K[c][d];
    return sum;
}

static void weights(const struct state *s, int r, double *P)
{
    double top = -INFINITY, sum = 0;
    for (int c = 0; c < s->keys; c++)
        top = fmax(top, (double)s->scale * dot(s, r, c));
    for (int c = 0; c < s->keys; c++)
        sum += P[c] = exp((double)s->scale * dot(s, r, c) - top);
    for (int c = 0; c < s->keys; c++)
        P[c] /= sum;
}

static void judge_scores(struct grading *g, const struct state *s)
{
    bool plain = s->keys > 0, squared = plain;
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->keys; c++) {
            plain = plain && near(s->S[r][c], dot(s, r, c), 1);
            squared = squared && near(s->S[r][c], (double)(s->scale * s->scale) * dot(s, r, c), 1);
        }
    if (plain && s->scale != 1)
        wrong(g, "the scores are not scaled: S = scale q . k");
    if (squared && s->scale != 1)
        wrong(g, "the scores are scaled twice");
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->keys && !failed(g); c++)
            expect(g, entry_name("S", r, c).text, s->S[r][c], (double)s->scale * dot(s, r, c), 4);
}

static void judge_weights(struct grading *g, const struct state *s)
{
    for (int r = 0; r < s->rows && !failed(g); r++) {
        double P[MAX_KEYS], sum = 0, by_column = 0;
        weights(s, r, P);
        for (int c = 0; c < s->keys; c++)
            sum += (double)s->P[r][c];
        for (int q = 0; q < s->rows; q++)
            by_column += (double)s->P[q][0];
        if (s->keys > 0 && !near((float)sum, 1, 1)) {
            if (near((float)by_column, 1, 1) && s->rows > 1)
                wrong(g,
                      "the weights of a key sum to 1 over the queries; those of a query, over the "
                      "keys, are to");
            else if (!is_poison(s->P[r][0]))
                wrong(g, "row %d: the weights sum to %.6g, not to 1", r, sum);
        }
        for (int c = 0; c < s->keys && !failed(g); c++)
            expect(g, entry_name("P", r, c).text, s->P[r][c], P[c], 0.05);
    }
}

static void judge_output(struct grading *g, const struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        double P[MAX_KEYS];
        weights(s, r, P);
        for (int d = 0; d < s->dim && !failed(g); d++) {
            double O = 0;
            for (int c = 0; c < s->keys; c++)
                O += P[c] * (double)s->V[c][d];
            expect(g, entry_name("O", r, d).text, s->O[r][d], O, 1);
        }
    }
}

static void attend(struct grading *g, int rows, int keys, int dim, float grow, int what)
{
    struct state s;
    fresh(&s, rows, keys, dim);
    draw_inputs(g, &s);
    s.scale = 1 / sqrtf((float)dim);
    for (int r = 0; r < rows; r++)
        for (int d = 0; d < dim; d++)
            s.Q[r][d] *= grow;
    at(g, "%d queries, %d keys", rows, keys);
    if (!call(g, 0, &s))
        return;
    if (what & SCORES)
        judge_scores(g, &s);
    if (what & WEIGHTS)
        judge_weights(g, &s);
    if (what & OUTPUT)
        judge_output(g, &s);
}

static void scores(struct grading *g)
{
    attend(g, 4, 4, 4, 1, SCORES);
    attend(g, 3, 7, 9, 1, SCORES);
}

static void sums(struct grading *g)
{
    attend(g, 4, 4, 4, 1, WEIGHTS);
    attend(g, 5, 9, 2, 1, WEIGHTS);
}

static void outputs(struct grading *g)
{
    attend(g, 4, 4, 4, 1, OUTPUT);
}

static void shapes(struct grading *g)
{
    attend(g, 2, 9, 3, 1, OUTPUT);
    attend(g, 9, 2, 5, 1, OUTPUT);
    attend(g, 1, 32, 16, 1, OUTPUT);
}

static void one_key(struct grading *g)
{
    attend(g, 3, 1, 4, 1, WEIGHTS | OUTPUT);
}

static void no_keys(struct grading *g)
{
    attend(g, 3, 0, 4, 1, OUTPUT);
}

static void large(struct grading *g)
{
    attend(g, 3, 6, 4, 512, WEIGHTS | OUTPUT);
}

/* The battery's Q, K, V, sixteen queries of a head at a time. */
static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    const struct problem *p = &in->problem;
    (void)lse;
    for (int64_t unit = 0; unit < problem_units(p); unit++)
        for (int64_t row0 = 0; row0 < p->Nq; row0 += MAX_ROWS) {
            struct state s;
            struct head h = problem_head(p, unit);
            int rows = p->Nq - row0 < MAX_ROWS ? (int)(p->Nq - row0) : MAX_ROWS;
            fresh(&s, rows, (int)p->Nk, (int)p->D);
            s.scale = 1 / sqrtf((float)p->D);
            for (int d = 0; d < s.dim; d++) {
                for (int r = 0; r < rows; r++)
                    s.Q[r][d] = (float)tensor_get(&p->q, h.batch, h.head, row0 + r, d);
                for (int c = 0; c < s.keys; c++) {
                    s.K[c][d] = (float)tensor_get(&p->k, h.batch, h.kv_head, c, d);
                    s.V[c][d] = (float)tensor_get(&p->v, h.batch, h.kv_head, c, d);
                }
            }
            if (!call(g, 0, &s))
                return false;
            for (int r = 0; r < rows; r++)
                for (int d = 0; d < s.dim; d++)
                    O[(unit * p->Nq + row0 + r) * p->D + d] = edge_number(s.O[r][d]);
        }
    return true;
}

static void edges(struct grading *g)
{
    edge_cases(
        g, &(struct edges){.solve = solve, .plain = true, .most_keys = MAX_KEYS, .most_rows = 80});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 8; i++) {
        int rows = draw_between(g, 1, MAX_ROWS), keys = draw_between(g, 1, MAX_KEYS);
        attend(g, rows, keys, draw_between(g, 1, MAX_DIM), 1, SCORES | WEIGHTS | OUTPUT);
    }
}

const struct lab lab_attention = {
    .number = "01",
    .folder = "attention",
    .title = "Attention by definition",
    .steps = {"attend"},
    .writes = {WRITES(S) | WRITES(P) | WRITES(O)},
    .properties = {{"scores are scaled", 1, scores, false},
                   {"a query's weights sum to 1", 2, sums, false},
                   {"O = P V", 2, outputs, false},
                   {"any numbers of queries and keys", 1, shapes, false},
                   {"one key: O is its value", 1, one_key, false},
                   {"no keys: O = 0", 1, no_keys, false},
                   {"large scores", 1, large, false},
                   {"edge cases of the battery", 1, edges, false},
                   {"hidden, 8 shapes", 2, hidden, true}}};
