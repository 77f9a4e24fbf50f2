/* check.c: lab 04, the printed kernel repaired: one property for each of its faults. */
#include "lessons/fold.h"

enum { TILE = 4 };

static void tiles(struct grading *g, int rows, int Nk, int dim, float shift)
{
    struct fold_run run;
    fold_new(&run, g, rows, Nk, dim, TILE);
    fold_draw(&run);
    for (int c = 0; c < Nk; c++)
        for (int r = 0; r < rows; r++)
            run.S[r][c] += shift;
    if (fold_tiles(&run))
        fold_finish(&run, true, false);
}

static void start(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 2, TILE, 1, TILE);
    fold_begin(&run);
}

/* A whole tile onto a state whose maximum is larger, and onto one whose maximum is smaller. */
static void running_maximum(struct grading *g)
{
    for (int i = 0; i < 2; i++) {
        struct fold_run run;
        fold_new(&run, g, 3, TILE, 2, TILE);
        fold_draw(&run);
        for (int c = 0; c < TILE; c++)
            for (int r = 0; r < 3; r++)
                run.S[r][c] += i == 0 ? -8 : 8;
        fold_find_base(&run);
        fold_from_anywhere(&run);
    }
}

/* A short tile onto a large maximum, and alone: a score 0 would outweigh scores of -6. */
static void tail(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 2, 3, 2, TILE);
    fold_draw(&run);
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 2; r++)
            run.S[r][c] -= 6;
    fold_find_base(&run);
    fold_from_anywhere(&run);
}

static void whole(struct grading *g)
{
    tiles(g, 2, 12, 2, 0);
    tiles(g, 3, 13, 2, -5);
    tiles(g, 1, 1, 1, -2);
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++)
        tiles(g, draw_between(g, 1, MAX_ROWS), draw_between(g, 1, 30), draw_between(g, 1, 8),
              (float)draw_between(g, -9, 9));
}

const struct lab lab_repair = {
    .number = "04",
    .folder = "unstable",
    .title = "Repair a printed kernel",
    .steps = {"begin", "fold_tile", "finish"},
    .writes = {WRITES(m) | WRITES(l) | WRITES(O),
               WRITES(m) | WRITES(l) | WRITES(O) | WRITES(S) | WRITES(P), WRITES(O) | WRITES(L)},
    .knobs = KNOB_BASE,
    .base_of = "m",
    .properties = {{"m starts below every score", 1, start, false},
                   {"one maximum in exponent and state", 2, running_maximum, false},
                   {"the ragged tail is no key", 2, tail, false},
                   {"the whole row", 2, whole, false},
                   {"edge cases of the battery", 1, fold_case_edges_visible, false},
                   {"hidden, 6 cases", 2, hidden, true}}};
