/* check.c: lab 05, FlashAttention-1, tile by tile. */
#include "lessons/fold.h"

static void divided_each_time(struct grading *g)
{
    struct fold_run run;
    fold_new(&run, g, 2, 12, 3, 4);
    fold_draw(&run);
    int form = fold_form(&run);
    if (form == 0)
        wrong(g, "O is not divided by l after the tile: FlashAttention-1 finishes it every time");
    else if (form < 0)
        wrong(g, "O is neither sum e^(s - m) v nor that divided by l");
}

const struct lab lab_fa1 = {
    .number = "05",
    .folder = "fa1",
    .title = "FA1: finished after every tile",
    .steps = {"begin", "fold_tile", "finish"},
    .writes = {WRITES(m) | WRITES(l) | WRITES(O),
               WRITES(m) | WRITES(l) | WRITES(O) | WRITES(S) | WRITES(P), WRITES(O) | WRITES(L)},
    .knobs = KNOB_BASE | KNOB_SHAPE,
    .shape = {"tiles of ", " keys"},
    .shapes = {4, 3, 5, 6, 7},
    .properties = {{"worked example, every step", 2, fold_case_example, false},
                   {"any tile size gives the same O", 3, fold_case_tile_sizes, false},
                   {"ragged tail", 1, fold_case_tail, false},
                   {"rows with no visible key", 1, fold_case_empty, false},
                   {"finish: L = m + ln l", 1, fold_case_finish, false},
                   {"O is divided in every tile", 1, divided_each_time, false},
                   {"a tile onto any m, l, O", 1, fold_case_anywhere, false},
                   {"tiles for all keys", 1, fold_case_count, false},
                   {"edge cases of the battery", 1, fold_case_edges, false},
                   {"hidden, 8 cases", 2, fold_case_hidden, true}}};
