/* fold.h: labs about the running softmax: tiles of scores folded into m, l and O.

   The student's state is judged after every tile against what it was before it, so one wrong tile
   is one sentence.  Legal forms are told apart by themselves: O may be divided by l after every
   tile (FlashAttention-1) or at the end (FlashAttention-2), m may be in base e or 2, tiles may
   come in any order. */
#ifndef FLASHULP_LESSONS_FOLD_H
#define FLASHULP_LESSONS_FOLD_H

#include "lessons/grade.h"

enum { LONGEST_ROW = 260 };

/* The steps of such a lab, by place in its list; -1: the lab has none of it. */
struct fold_steps {
    int begin, next_tile, fold, finish;
};

struct fold_run {
    struct grading *g;
    struct fold_steps steps;
    bool rounds;             /* P is rounded to bf16 for P V, not for l */
    bool loose_O;            /* O is not judged tile by tile */
    bool unjudged;           /* nothing is: only the end counts */
    int base;                /* of m, as found: 0 unknown, 1 e, 2 two */
    int divided;             /* O is divided by l in every tile: -1 unknown, 0 no, 1 yes */
    int rows, Nk, dim, tile; /* sizes; keys of a tile */
    float S[MAX_ROWS][LONGEST_ROW], V[LONGEST_ROW][MAX_DIM];
    int order[LONGEST_ROW]; /* the tiles, as they came */
    int walked;             /* how many of them are folded in, the one at hand included */
    struct state state;     /* after the last call */
};

/* The lab's steps are known by their names: begin, next_tile, fold_tile or take_key, finish. */
void fold_new(struct fold_run *run, struct grading *g, int rows, int Nk, int dim, int tile);
void fold_draw(struct fold_run *run); /* S and V */
/* The four scores of the worked example: 1 2 | 3 0 with values 10 20 | 30 0. */
void fold_example(struct fold_run *run);

bool fold_begin(struct fold_run *run);
/* begin, then every tile, each judged.  False once the property has failed. */
bool fold_tiles(struct fold_run *run);
/* finish: O = sum e^(s - m) v / l and, in the variant's base, L. */
bool fold_finish(struct fold_run *run, bool judge_O, bool judge_L);
/* finish on m, l, O drawn at random: L = m + ln l, and O / l unless O is divided already. */
bool fold_finish_from_anywhere(struct fold_run *run);
/* What the base of the student's m is, where a tile shows it: from a start of the grader's own. */
void fold_find_base(struct fold_run *run);
/* The first tile alone, to see whether it is divided by l: 1 yes, 0 no, -1 neither. */
int fold_form(struct fold_run *run);
/* One tile onto a state drawn at random: nothing can have been kept elsewhere. */
bool fold_from_anywhere(struct fold_run *run);
/* The truth of row r: its largest score (-inf: none), sum e^(s - m), and column d of the output. */
void fold_truth(const struct fold_run *run, int r, double *m, double *l, double *O);

/* The state after a tile against what was there before it; fails with the slip's sentence. */
bool fold_judge(struct fold_run *run, const struct state *before, const struct state *after);
/* Is it right, in the form found so far? */
bool fold_plain(const struct fold_run *run, const struct state *before, const struct state *after);
/* Tells the legal forms apart, where this tile shows them. */
void fold_settle(struct fold_run *run, const struct state *before, const struct state *after);
/* What 1 in the student's m is, in base e. */
double fold_unit(const struct fold_run *run);

/* "See it": the viewer's command for row r and column d of the tiles walked so far, each as the
   student took it, at the named step of the last of them. */
void fold_see(struct fold_run *run, int r, int d, const char *step, int which);

/* Properties that several labs share (fold_cases.c). */
void fold_case_example(struct grading *g);
void fold_case_tile_sizes(struct grading *g);
void fold_case_tail(struct grading *g);
void fold_case_empty(struct grading *g);
void fold_case_finish(struct grading *g);
void fold_case_anywhere(struct grading *g);
/* begin: s->count is how many tiles of the copy's shape the keys take. */
void fold_case_count(struct grading *g);
void fold_case_hidden(struct grading *g);
/* Cases of the battery (fold_edges.c): all, key by key, those whose rows see keys. */
void fold_case_edges(struct grading *g);
void fold_case_edges_of_keys(struct grading *g);
void fold_case_edges_visible(struct grading *g);

#endif
