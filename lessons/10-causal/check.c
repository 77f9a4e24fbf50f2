/* check.c: lab 10, masks and the class of a tile.  Visibility is the reference's own definition. */
#include "lessons/edges.h"
#include "reference/problem.h"

enum { MASK, CLASSIFY };

struct rules {
    int Nq, Nk, causal, left, right;
};

/* Other rules that students apply: what they are called, and how query i's place is found. */
enum other { TOP_LEFT, LEFT_MORE, LEFT_LESS, STRICT, UNMASKED, OTHERS };
static const char *const other_sentences[] = {
    [TOP_LEFT] = "the diagonal is aligned top-left; bottom-right is right: p = i + Nk - Nq",
    [LEFT_MORE] = "the window is one key too wide on the left",
    [LEFT_LESS] = "the window is one key too narrow on the left: j >= p - left, inclusive",
    [STRICT] = "the diagonal itself is masked: j <= p, inclusive",
    [UNMASKED] = "nothing is masked"};

static bool visible(const struct rules *x, int window, int i, int j)
{
    struct problem p = {.Nq = x->Nq, .Nk = x->Nk, .mask = {.left = x->left, .right = x->right}};
    struct head h = {.problem = &p, .Nq = x->Nq, .Nk = x->Nk};
    p.mask.causal = x->causal != 0;
    if (!sees(&h, i, j))
        return false;
    p.mask.left = window;
    return x->causal != 2 || sees(&h, i, j);
}

static bool visible_to(enum other o, const struct rules *x, int window, int i, int j)
{
    struct rules y = *x;
    int more = o == LEFT_MORE ? 1 : o == LEFT_LESS ? -1 : 0;
    if (o == UNMASKED)
        return true;
    if (o == TOP_LEFT)
        i -= x->Nk - x->Nq;
    if (o == STRICT && x->causal != 0)
        i--;
    if (x->left >= 0)
        y.left += more;
    int p = i + x->Nk - x->Nq;
    return (y.causal == 0 || j <= p) && (y.causal != 2 || j >= p - window - more) &&
           (y.left < 0 || j >= p - y.left) && (y.right < 0 || j <= p + y.right);
}

static void load(struct grading *g, const struct rules *x, int row0, int key0, int rows, int keys,
                 struct state *s)
{
    fresh(s, rows, keys, 1);
    s->Nq = x->Nq;
    s->Nk = x->Nk;
    s->row0 = row0;
    s->key0 = key0;
    s->causal = x->causal;
    s->left = x->left;
    s->right = x->right;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < keys; c++)
            s->S[r][c] = draw(g);
    at(g, "Nq %d, Nk %d, tile of queries %d.. and keys %d..", x->Nq, x->Nk, row0, key0);
}

/* Is the mask what this other rule would give? */
static bool masked_by(enum other o, const struct rules *x, int window, const struct state *s)
{
    for (int r = 0; r < s->rows; r++)
        for (int c = 0; c < s->keys; c++)
            if ((s->S[r][c] != -INFINITY) != visible_to(o, x, window, s->row0 + r, s->key0 + c))
                return false;
    return true;
}

static void judge_mask(struct grading *g, const struct rules *x, const struct state *before,
                       const struct state *after)
{
    int window = g->variant.window;
    for (int r = 0; r < after->rows; r++)
        for (int c = 0; c < after->keys; c++) {
            int i = after->row0 + r, j = after->key0 + c;
            bool seen = visible(x, window, i, j), hidden = after->S[r][c] == -INFINITY;
            if (!hidden && after->S[r][c] != before->S[r][c]) {
                wrong(
                    g,
                    "query %d, key %d: the score became %g; -INFINITY or the score itself is right",
                    i, j, (double)after->S[r][c]);
                return;
            }
            if (seen != hidden)
                continue;
            for (int o = 0; o < OTHERS; o++)
                if (masked_by((enum other)o, x, window, after))
                    wrong(g, "%s", other_sentences[o]);
            wrong(g, "query %d %s key %d", i, seen ? "is to see" : "must not see", j);
            return;
        }
}

static void every_tile(struct grading *g, struct rules x, int rows, int keys, int step)
{
    for (int row0 = 0; row0 < x.Nq; row0 += rows)
        for (int key0 = 0; key0 < x.Nk; key0 += keys) {
            struct state s, before;
            int left_rows = x.Nq - row0, left_keys = x.Nk - key0, seen = 0;
            load(g, &x, row0, key0, left_rows < rows ? left_rows : rows,
                 left_keys < keys ? left_keys : keys, &s);
            before = s;
            s.answer = -1;
            if (!call(g, step, &s))
                return;
            if (step == MASK)
                judge_mask(g, &x, &before, &s);
            for (int r = 0; r < s.rows; r++)
                for (int c = 0; c < s.keys; c++)
                    seen += visible(&x, g->variant.window, row0 + r, key0 + c);
            int want = seen == 0 ? 0 : seen == s.rows * s.keys ? 1 : 2;
            static const char *const words[] = {"skip", "plain", "mask"};
            if (step == CLASSIFY && s.answer != want)
                wrong(g, "answer = %d; %d (%s) is right: %d of %d pairs are visible", s.answer,
                      want, words[want], seen, s.rows * s.keys);
        }
}

static void square(struct grading *g)
{
    every_tile(g, (struct rules){8, 8, 1, -1, -1}, 4, 4, MASK);
    every_tile(g, (struct rules){6, 6, 0, -1, -1}, 4, 4, MASK);
}

static void oblong(struct grading *g)
{
    every_tile(g, (struct rules){2, 5, 1, -1, -1}, 4, 4, MASK);
    every_tile(g, (struct rules){5, 2, 1, -1, -1}, 4, 4, MASK);
    every_tile(g, (struct rules){1, 9, 1, -1, -1}, 4, 4, MASK);
}

static void windows(struct grading *g)
{
    every_tile(g, (struct rules){9, 9, 0, 2, 1}, 4, 4, MASK);
    every_tile(g, (struct rules){4, 9, 1, 3, -1}, 4, 4, MASK);
    every_tile(g, (struct rules){9, 4, 0, 0, 0}, 4, 4, MASK);
}

static void own_window(struct grading *g)
{
    every_tile(g, (struct rules){10, 10, 2, -1, -1}, 4, 4, MASK);
    every_tile(g, (struct rules){5, 11, 2, -1, -1}, 4, 4, MASK);
}

static void classes(struct grading *g)
{
    every_tile(g, (struct rules){16, 16, 1, -1, -1}, 4, 4, CLASSIFY);
    every_tile(g, (struct rules){12, 20, 1, -1, -1}, 4, 4, CLASSIFY);
    every_tile(g, (struct rules){12, 12, 0, 5, 2}, 3, 4, CLASSIFY);
}

/* The battery's masked cases: the student's mask, tile by tile, the rest of attention ours. */
static bool solve_row(struct grading *g, const struct battery_input *in, int64_t row, double *O)
{
    const struct problem *p = &in->problem;
    double m = -INFINITY, l = 0, score[MAX_KEYS * 4];
    struct rules x = {(int)p->Nq, (int)p->Nk, p->mask.causal, (int)p->mask.left,
                      p->mask.causal ? -1 : (int)p->mask.right};
    for (int key0 = 0; key0 < p->Nk; key0 += MAX_KEYS) {
        struct state s;
        int left = (int)p->Nk - key0;
        load(g, &x, (int)(row % p->Nq), key0, 1, left < MAX_KEYS ? left : MAX_KEYS, &s);
        for (int c = 0; c < s.keys; c++)
            s.S[0][c] = (float)edge_score(in, row / p->Nq, row % p->Nq, key0 + c);
        if (!call(g, MASK, &s))
            return false;
        for (int c = 0; c < s.keys; c++) {
            score[key0 + c] = edge_number(s.S[0][c]);
            m = fmax(m, score[key0 + c]);
        }
    }
    for (int c = 0; c < p->Nk; c++) {
        double w = score[c] == -INFINITY ? 0 : exp(score[c] - m);
        l += w;
        for (int64_t d = 0; d < p->D && w != 0; d++)
            O[d] += w * edge_value(in, row / p->Nq, c, d);
    }
    for (int64_t d = 0; d < p->D && l != 0; d++)
        O[d] /= l;
    return true;
}

static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    const struct problem *p = &in->problem;
    (void)lse;
    for (int64_t row = 0; row < problem_units(p) * p->Nq; row++)
        if (!solve_row(g, in, row, O + row * p->D))
            return false;
    return true;
}

static void edges(struct grading *g)
{
    edge_cases(g, &(struct edges){
                      .solve = solve, .masked = true, .most_keys = 4 * MAX_KEYS, .most_rows = 80});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++) {
        struct rules x = {draw_between(g, 1, 20), draw_between(g, 1, 20), draw_between(g, 0, 2),
                          draw_between(g, -1, 4), draw_between(g, -1, 4)};
        every_tile(g, x, 5, 4, i % 2 == 0 ? MASK : CLASSIFY);
    }
}

const struct lab lab_causal = {
    .number = "10",
    .folder = "causal",
    .title = "Causal masks, windows, and tiles to skip",
    .steps = {"mask", "classify"},
    .writes = {WRITES(S), 0},
    .knobs = KNOB_WINDOW,
    .properties = {{"causal, square", 2, square, false},
                   {"more keys or more queries", 2, oblong, false},
                   {"windows given by left and right", 2, windows, false},
                   {"causal with this copy's window", 1, own_window, false},
                   {"skip, plain or mask", 2, classes, false},
                   {"edge cases of the battery", 1, edges, false},
                   {"hidden, 6 cases", 2, hidden, true}}};
