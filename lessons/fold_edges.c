/* fold_edges.c: the battery's cases put to the labs of the running softmax: scores and masks are
   the grader's, the tiles' work and the end the student's. */
#include "lessons/edges.h"
#include "lessons/fold.h"

static void load(const struct battery_input *in, int64_t unit, int64_t row0, struct fold_run *run)
{
    for (int c = 0; c < run->Nk; c++) {
        for (int r = 0; r < run->rows; r++)
            run->S[r][c] = edge_sees(in, unit, row0 + r, c)
                               ? (float)edge_score(in, unit, row0 + r, c)
                               : -INFINITY;
        for (int d = 0; d < run->dim; d++)
            run->V[c][d] = (float)edge_value(in, unit, c, d);
    }
}

/* O, and in labs that have it L, of the rows of this run. */
static void take(const struct fold_run *run, const struct battery_input *in, int64_t row, double *O,
                 double *lse)
{
    for (int r = 0; r < run->rows; r++) {
        double m, l, unused[MAX_DIM];
        fold_truth(run, r, &m, &l, unused);
        for (int d = 0; d < run->dim; d++)
            O[(row + r) * in->problem.D + d] = edge_number(run->state.O[r][d]);
        lse[row + r] = edge_natural(run->g, run->state.L[r], m + log(l));
    }
}

static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    const struct problem *p = &in->problem;
    for (int64_t unit = 0; unit < problem_units(p); unit++)
        for (int64_t row0 = 0; row0 < p->Nq; row0 += MAX_ROWS) {
            struct fold_run run;
            int64_t left = p->Nq - row0;
            fold_new(&run, g, left < MAX_ROWS ? (int)left : MAX_ROWS, (int)p->Nk, (int)p->D, 16);
            if (g->lab->steps[run.steps.fold][0] == 't') /* take_key: one at a time */
                run.tile = 1;
            run.unjudged = true;
            load(in, unit, row0, &run);
            if (!fold_tiles(&run) || (run.steps.finish >= 0 && !fold_finish(&run, false, false)))
                return false;
            take(&run, in, unit * p->Nq + row0, O, lse);
        }
    return true;
}

static const struct edges all = {.solve = solve,
                                 .plain = true,
                                 .masked = true,
                                 .lse = true,
                                 .most_keys = LONGEST_ROW,
                                 .most_rows = 80,
                                 .leaves = {"plus-inf", "causal-future-value", "window-past"}};

void fold_case_edges(struct grading *g)
{
    struct edges e = all;
    e.dtype = strcmp(g->lab->number, "06") == 0 ? FORMAT_BF16 : FORMAT_FP32;
    edge_cases(g, &e);
}

/* Without L, one key at a time: short rows. */
void fold_case_edges_of_keys(struct grading *g)
{
    struct edges e = all;
    e.lse = false;
    e.most_keys = 130;
    e.most_rows = 9;
    edge_cases(g, &e);
}

/* Rows that see no key are not what lab 04 is about. */
void fold_case_edges_visible(struct grading *g)
{
    struct edges e = all;
    e.lse = e.masked = false;
    e.leaves[1] = "first-minus-inf";
    e.leaves[2] = "no-keys";
    edge_cases(g, &e);
}
