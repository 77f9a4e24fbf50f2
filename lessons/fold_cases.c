/* fold_cases.c: properties that several labs of the running softmax share. */
#include "lessons/fold.h"

void fold_case_example(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 1, 4, 1, 2);
    fold_example(&run);
    if (fold_tiles(&run))
        fold_finish(&run, true, true);
}

static void drawn(struct grading *g, int rows, int Nk, int dim, int tile, struct fold_run *run)
{
    fold_new(run, g, rows, Nk, dim, tile);
    fold_draw(run);
    if (fold_tiles(run))
        fold_finish(run, true, false);
}

void fold_case_tile_sizes(struct grading *g)
{
    static const int tiles[] = {1, 3, 4, 8, 12, 24};
    struct fold_run run;
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        drawn(g, 3, 24, 4, tiles[i], &run);
}

void fold_case_tail(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 2, 13, 2, 4);
    fold_draw(&run);
    for (int c = 0; c < run.Nk; c++)
        for (int r = 0; r < run.rows; r++)
            run.S[r][c] -= 6; /* a tail read as score 0 outweighs them */
    if (fold_tiles(&run))
        fold_finish(&run, true, false);
    drawn(g, 5, 1, 3, 8, &run);
}

void fold_case_empty(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 3, 8, 2, 4);
    fold_draw(&run);
    for (int c = 0; c < run.Nk; c++) {
        run.S[0][c] = -INFINITY;
        run.S[1][c] = c < 4 ? -INFINITY : run.S[1][c];
        run.S[2][c] = c >= 4 ? -INFINITY : run.S[2][c];
    }
    if (fold_tiles(&run))
        fold_finish(&run, true, true);
}

void fold_case_finish(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 4, 20, 2, 6);
    fold_draw(&run);
    run.divided = fold_form(&run);
    if (!failed(g))
        fold_finish_from_anywhere(&run);
}

void fold_case_anywhere(struct grading *g)
{
    for (int i = 0; i < 3; i++) {
        struct fold_run run;
        fold_new(&run, g, 4, 7, 3, 7);
        fold_draw(&run);
        run.divided = fold_form(&run); /* and the base of m, which a drawn m alone may not show */
        if (!failed(g))
            fold_from_anywhere(&run);
    }
}

/* Slips: the ragged tail has no tile; another copy's tiles. */
static void count_is(struct grading *g, int Nk, int got)
{
    int shape = g->variant.shape, want = (Nk + shape - 1) / shape;
    if (got == want)
        return;
    if (got == -1)
        wrong(g, "count was never written");
    else if (got == Nk / shape)
        wrong(g, "count = %d: %d keys in tiles of %d leave a tail, which takes a tile, too: %d",
              got, Nk, shape, want);
    for (int other = 1; other <= MAX_KEYS; other++)
        if (got == (Nk + other - 1) / other && other != shape)
            wrong(g, "count = %d, as if tiles were of %d keys; this copy asks for %d: %d tiles",
                  got, other, shape, want);
    wrong(g, "count = %d, want %d: %d keys in tiles of %d", got, want, Nk, shape);
}

void fold_case_count(struct grading *g)
{
    int shape = g->variant.shape;
    const int sizes[] = {6 * shape, 6 * shape + 1, shape - 1, 11 * shape - 1, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct fold_run run;
        fold_new(&run, g, 2, sizes[i] <= LONGEST_ROW ? sizes[i] : LONGEST_ROW, 2, shape);
        at(g, "%d keys", run.Nk);
        struct state s;
        fresh(&s, 2, 0, 2);
        s.Nk = run.Nk;
        s.count = -1;
        if (!call(g, run.steps.begin, &s))
            return;
        count_is(g, run.Nk, s.count);
    }
}

void fold_case_hidden(struct grading *g)
{
    for (int i = 0; i < 8; i++) {
        struct fold_run run;
        int Nk = draw_between(g, 1, 40);
        drawn(g, draw_between(g, 1, 16), Nk, draw_between(g, 1, 16), draw_between(g, 1, 16), &run);
    }
}
