/* check.c: lab 07, FlashAttention-2, tile by tile. */
#include "lessons/fold.h"

static const struct fold_steps steps = {.begin = 0, .next_tile = 1, .fold = 2, .finish = 3};

enum { EXAMPLE, TILES, TAIL, EMPTY, LOGSUM, DIVISION, ANYWHERE, HIDDEN };

static void example(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, steps, 1, 4, 1, 2);
    fold_example(&run);
    if (fold_tiles(&run))
        fold_finish(&run, true, true);
}

static void drawn(struct grading *g, int rows, int Nk, int dim, int tile, struct fold_run *run)
{
    fold_new(run, g, steps, rows, Nk, dim, tile);
    fold_draw(run);
    if (fold_tiles(run))
        fold_finish(run, true, false);
}

static void any_tile_size(struct grading *g)
{
    static const int tiles[] = {1, 3, 4, 8, 12, 24};
    struct fold_run run;
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        drawn(g, 3, 24, 4, tiles[i], &run);
}

static void ragged_tail(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, steps, 2, 13, 2, 4);
    fold_draw(&run);
    for (int c = 0; c < run.Nk; c++)
        for (int r = 0; r < run.rows; r++)
            run.S[r][c] -= 6; /* a tail read as score 0 outweighs them */
    if (fold_tiles(&run))
        fold_finish(&run, true, false);
    drawn(g, 5, 1, 3, 8, &run);
}

static void empty_rows(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, steps, 3, 8, 2, 4);
    fold_draw(&run);
    for (int c = 0; c < run.Nk; c++) {
        run.S[0][c] = -INFINITY;
        run.S[1][c] = c < 4 ? -INFINITY : run.S[1][c];
        run.S[2][c] = c >= 4 ? -INFINITY : run.S[2][c];
    }
    if (fold_tiles(&run))
        fold_finish(&run, true, true);
}

static void logsum(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, steps, 4, 20, 2, 6);
    fold_draw(&run);
    run.divided = fold_form(&run);
    if (!failed(g))
        fold_finish_from_anywhere(&run);
}

static void one_division(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, steps, 2, 12, 3, 4);
    fold_draw(&run);
    int form = fold_form(&run);
    if (form == 1)
        fail(g, "O is divided by l in every tile, as FlashAttention-1 does; FlashAttention-2 "
                "divides once, at the end");
    else if (form < 0)
        fail(g, "O is neither sum e^(s - m) v nor that divided by l");
}

static void anywhere(struct grading *g)
{
    for (int i = 0; i < 3; i++) {
        struct fold_run run;
        fold_new(&run, g, steps, 4, 7, 3, 7);
        fold_draw(&run);
        fold_from_anywhere(&run);
    }
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 8; i++) {
        struct fold_run run;
        int Nk = draw_between(g, 1, 40);
        drawn(g, draw_between(g, 1, 16), Nk, draw_between(g, 1, 16), draw_between(g, 1, 16), &run);
    }
}

static void grade(struct grading *g)
{
    static void (*const parts[])(struct grading *) = {
        [EXAMPLE] = example,   [TILES] = any_tile_size,   [TAIL] = ragged_tail,
        [EMPTY] = empty_rows,  [LOGSUM] = logsum,         [DIVISION] = one_division,
        [ANYWHERE] = anywhere, [HIDDEN] = hidden};
    for (int n = 0; n <= HIDDEN; n++) {
        if (parts[n] == NULL)
            continue;
        property(g, n);
        parts[n](g);
    }
}

const struct lab lab_fa2 = {
    .number = "07",
    .folder = "fa2",
    .title = "FA2: one division at the end",
    .steps = {"begin", "next_tile", "fold_tile", "finish"},
    .writes = {WRITES(m) | WRITES(l) | WRITES(O), 0,
               WRITES(m) | WRITES(l) | WRITES(O) | WRITES(S) | WRITES(P), WRITES(O) | WRITES(L)},
    .knobs = KNOB_BASE | KNOB_DIRECTION,
    .properties = {[EXAMPLE] = {"worked example, every step", 2, false},
                   [TILES] = {"any tile size gives the same O", 3, false},
                   [TAIL] = {"ragged tail", 1, false},
                   [EMPTY] = {"rows with no visible key", 1, false},
                   [LOGSUM] = {"finish: O, and L = m + ln l", 1, false},
                   [DIVISION] = {"one division, at the end", 1, false},
                   [ANYWHERE] = {"a tile onto any m, l, O", 1, false},
                   [HIDDEN] = {"hidden, 8 cases", 2, true}},
    .grade = grade};
