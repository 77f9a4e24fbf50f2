/* check.c: lab 03, the online softmax, judged after every key. */
#include "lessons/fold.h"

static void example(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 1, 4, 1, 1);
    fold_example(&run);
    fold_tiles(&run);
}

/* Scores that rise, fall or are drawn: the rescaling does everything, nothing, or both. */
static void keys(struct grading *g, int rows, int Nk, int dim, float slope)
{
    struct fold_run run;
    fold_new(&run, g, rows, Nk, dim, 1);
    fold_draw(&run);
    for (int c = 0; c < Nk && slope != 0; c++)
        for (int r = 0; r < rows; r++)
            run.S[r][c] = slope * (float)c;
    fold_tiles(&run);
}

static void falling(struct grading *g)
{
    keys(g, 2, 8, 3, -0.5f);
}

static void rising(struct grading *g)
{
    keys(g, 2, 8, 3, 0.5f);
}

static void drawn(struct grading *g)
{
    keys(g, 4, 16, 2, 0);
}

static void finished(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 2, 6, 2, 1);
    fold_draw(&run);
    for (int r = 0; r < 2; r++)
        run.S[r][0] = run.S[r][1] = 1; /* l = 2 after two equal keys */
    if (!fold_tiles(&run))
        return;
    if (run.divided != 1)
        wrong(g, "O is not divided by l: after every key it is to be the finished output");
}

static void infinite(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 2, 6, 2, 1);
    fold_draw(&run);
    for (int c = 0; c < 6; c++)
        run.S[0][c] = c < 3 ? -INFINITY : run.S[0][c];
    run.S[1][4] = -INFINITY;
    fold_tiles(&run);
}

static void large(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 1, 4, 1, 1);
    fold_draw(&run);
    for (int c = 0; c < 4; c++)
        run.S[0][c] = 500 + 100 * (float)(c % 3);
    fold_tiles(&run);
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++)
        keys(g, draw_between(g, 1, MAX_ROWS), draw_between(g, 1, 20), draw_between(g, 1, 16), 0);
}

const struct lab lab_online = {
    .number = "03",
    .folder = "online",
    .title = "The online softmax, key by key",
    .steps = {"begin", "take_key"},
    .writes = {WRITES(m) | WRITES(l) | WRITES(O),
               WRITES(m) | WRITES(l) | WRITES(O) | WRITES(S) | WRITES(P)},
    .knobs = KNOB_BASE,
    .base_of = "m",
    .properties = {{"worked example, every key", 2, example, false},
                   {"scores that fall: nothing to rescale", 1, falling, false},
                   {"scores that rise: rescaled every time", 2, rising, false},
                   {"scores drawn at random", 1, drawn, false},
                   {"O is finished after every key", 1, finished, false},
                   {"scores of -inf", 1, infinite, false},
                   {"scores of 500 to 700", 1, large, false},
                   {"edge cases of the battery", 1, fold_case_edges_of_keys, false},
                   {"hidden, 6 cases", 1, hidden, true}}};
