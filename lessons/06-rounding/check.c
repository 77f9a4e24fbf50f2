/* check.c: lab 06, bf16 weights in P V and unrounded ones in l. */
#include "lessons/fold.h"

static void tiles(struct grading *g, int rows, int Nk, int dim, int tile, struct fold_run *run)
{
    fold_new(run, g, rows, Nk, dim, tile);
    fold_draw(run);
    run->rounds = true;
}

/* P V alone is at stake here: one tile, a column of V at a time. */
static void products(struct grading *g)
{
    struct fold_run run;
    tiles(g, 3, 8, 4, 8, &run);
    fold_tiles(&run);
}

static void sums(struct grading *g)
{
    struct fold_run run;
    tiles(g, 4, 24, 2, 8, &run);
    run.loose_O = true;
    fold_tiles(&run);
}

/* A cut weight is never too large: with V = 1 the sums tell. */
static void nearest(struct grading *g)
{
    for (int i = 0; i < 4; i++) {
        struct fold_run run;
        tiles(g, 2, 16, 1, 16, &run);
        for (int c = 0; c < 16; c++)
            run.V[c][0] = 1;
        if (!fold_tiles(&run))
            return;
    }
}

static void many(struct grading *g)
{
    struct fold_run run;
    tiles(g, 2, 21, 3, 4, &run);
    if (fold_tiles(&run))
        fold_finish(&run, true, true);
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++) {
        struct fold_run run;
        int tile = draw_between(g, 1, 16);
        tiles(g, draw_between(g, 1, 8), draw_between(g, 1, 40), draw_between(g, 1, 8), tile, &run);
        if (fold_tiles(&run))
            fold_finish(&run, true, true);
    }
}

const struct lab lab_rounding = {
    .number = "06",
    .folder = "rounding",
    .title = "Where bf16 rounds",
    .steps = {"begin", "fold_tile", "finish"},
    .writes = {WRITES(m) | WRITES(l) | WRITES(O),
               WRITES(m) | WRITES(l) | WRITES(O) | WRITES(S) | WRITES(P), WRITES(O) | WRITES(L)},
    .knobs = KNOB_BASE,
    .properties = {{"l sums unrounded weights", 2, sums, false},
                   {"P V takes weights rounded to bf16", 3, products, false},
                   {"to nearest, not cut", 2, nearest, false},
                   {"several tiles, and the end", 1, many, false},
                   {"edge cases of the battery", 1, fold_case_edges, false},
                   {"hidden, 6 cases", 2, hidden, true}}};
