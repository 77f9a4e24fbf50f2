/* fold.c: the walk over tiles: the student's functions called in turn, the end judged. */
#include "lessons/fold.h"

#include <assert.h>
#include <stdio.h>

static const double LN2 = 0.69314718055994531;

static int step_called(const struct lab *lab, const char *name)
{
    for (int i = 0; i < MAX_STEPS && lab->steps[i] != NULL; i++)
        if (strcmp(lab->steps[i], name) == 0)
            return i;
    return -1;
}

static struct fold_steps steps_of(const struct lab *lab)
{
    int fold = step_called(lab, "fold_tile");
    return (struct fold_steps){.begin = step_called(lab, "begin"),
                               .next_tile = step_called(lab, "next_tile"),
                               .fold = fold >= 0 ? fold : step_called(lab, "take_key"),
                               .finish = step_called(lab, "finish")};
}

void fold_new(struct fold_run *run, struct grading *g, int rows, int Nk, int dim, int tile)
{
    bool fixed = g->lab->base_of != NULL && g->variant.base >= 0;
    assert(rows <= MAX_ROWS && Nk <= LONGEST_ROW && dim <= MAX_DIM && tile <= MAX_KEYS);
    *run = (struct fold_run){.g = g,
                             .steps = steps_of(g->lab),
                             .divided = -1,
                             .base = !fixed                 ? 0
                                     : g->variant.base == 2 ? 2
                                                            : 1,
                             .rows = rows,
                             .Nk = Nk,
                             .dim = dim,
                             .tile = tile};
}

void fold_draw(struct fold_run *run)
{
    for (int c = 0; c < run->Nk; c++) {
        for (int r = 0; r < run->rows; r++)
            run->S[r][c] = 2 * draw(run->g);
        for (int d = 0; d < run->dim; d++)
            run->V[c][d] = draw(run->g);
    }
}

void fold_example(struct fold_run *run)
{
    static const float x[] = {1, 2, 3, 0}, v[] = {10, 20, 30, 0};
    assert(run->rows == 1 && run->Nk == 4 && run->dim == 1);
    for (int c = 0; c < 4; c++) {
        run->S[0][c] = x[c];
        run->V[c][0] = v[c];
    }
}

static void load_tile(struct fold_run *run, int tile)
{
    struct state *s = &run->state, old = *s;
    int first = tile * run->tile, left = run->Nk - first;
    fresh(s, run->rows, left < run->tile ? left : run->tile, run->dim);
    s->Nk = run->Nk;
    s->key0 = first;
    s->tile = tile;
    s->steps = (run->Nk + run->tile - 1) / run->tile;
    memcpy(s->m, old.m, sizeof s->m);
    memcpy(s->l, old.l, sizeof s->l);
    memcpy(s->O, old.O, sizeof s->O);
    for (int c = 0; c < s->keys; c++) {
        for (int r = 0; r < run->rows; r++)
            s->S[r][c] = run->S[r][first + c];
        for (int d = 0; d < run->dim; d++)
            s->V[c][d] = run->V[first + c][d];
    }
}

bool fold_begin(struct fold_run *run)
{
    struct grading *g = run->g;
    struct state *s = &run->state;
    fresh(s, run->rows, 0, run->dim);
    s->Nk = run->Nk;
    at(g, "before the first tile");
    if (!call(g, run->steps.begin, s))
        return false;
    for (int r = 0; r < run->rows; r++) {
        if (is_poison(s->m[r]) || is_poison(s->l[r]) || is_poison(s->O[r][0]))
            wrong(g, "row %d: m, l or O was never written", r);
        else if (!(s->m[r] < -1e30f))
            wrong(g, "row %d: m = %g; -INFINITY is right: no score is smaller", r, (double)s->m[r]);
        else if (s->l[r] != 0)
            wrong(g, "row %d: l = %g; an empty sum is 0", r, (double)s->l[r]);
        for (int d = 0; d < run->dim; d++)
            if (s->O[r][d] != 0)
                wrong(g, "row %d: O = %g; an empty sum is 0", r, (double)s->O[r][d]);
    }
    return !failed(g);
}

/* Which tile comes now: the student says, or all in turn. */
static int next(struct fold_run *run, int step, int steps)
{
    struct grading *g = run->g;
    int tile = step, direction = g->variant.direction;
    if (run->steps.next_tile >= 0) {
        struct state s;
        fresh(&s, run->rows, run->tile, run->dim);
        s.step = step;
        s.steps = steps;
        s.tile = -1;
        at(g, "step %d of %d", step, steps);
        if (!call(g, run->steps.next_tile, &s))
            return -1;
        tile = s.tile;
        if (tile < 0 || tile >= steps)
            wrong(g, "next_tile says tile %d; the tiles are 0 to %d", tile, steps - 1);
        else if (direction != 0 && tile != (direction > 0 ? step : steps - 1 - step))
            wrong(g, "next_tile says tile %d; this copy asks for %s", tile,
                  direction > 0 ? "first to last" : "last to first");
        for (int before = 0; before < step && !failed(g); before++)
            if (run->order[before] == tile)
                wrong(g, "next_tile says tile %d a second time", tile);
    }
    run->order[step] = tile;
    return failed(g) ? -1 : tile;
}

bool fold_tiles(struct fold_run *run)
{
    int steps = (run->Nk + run->tile - 1) / run->tile;
    if (!fold_begin(run))
        return false;
    for (int step = 0; step < steps; step++) {
        int tile = next(run, step, steps);
        if (tile < 0)
            return false;
        load_tile(run, tile);
        run->state.step = step;
        run->walked = step + 1;
        struct state before = run->state;
        at(run->g, "tile (0,%d)", tile);
        if (!call(run->g, run->steps.fold, &run->state) ||
            (!run->unjudged && !fold_judge(run, &before, &run->state)))
            return false;
    }
    return true;
}

/* m, l and O as some earlier tiles may have left them. */
static void draw_statistics(struct fold_run *run)
{
    for (int r = 0; r < run->rows; r++) {
        run->state.m[r] = draw(run->g);
        run->state.l[r] = 1 + fabsf(draw(run->g));
        for (int d = 0; d < run->dim; d++)
            run->state.O[r][d] = draw(run->g);
    }
}

bool fold_from_anywhere(struct fold_run *run)
{
    struct grading *g = run->g;
    load_tile(run, 0);
    draw_statistics(run);
    struct state before = run->state;
    at(g, "a tile onto m, l, O drawn at random");
    return call(g, run->steps.fold, &run->state) && fold_judge(run, &before, &run->state);
}

void fold_truth(const struct fold_run *run, int r, double *m, double *l, double *O)
{
    *m = -INFINITY;
    *l = 0;
    for (int c = 0; c < run->Nk; c++)
        *m = fmax(*m, (double)run->S[r][c]);
    for (int d = 0; d < run->dim; d++)
        O[d] = 0;
    for (int c = 0; c < run->Nk && !isinf(*m); c++) {
        double p = exp((double)run->S[r][c] - *m);
        *l += p;
        for (int d = 0; d < run->dim; d++)
            O[d] += p * (double)run->V[c][d];
    }
    for (int d = 0; d<run->dim && * l> 0; d++)
        O[d] /= *l;
}

/* What is wrong with O at the end, if it is one of the usual things. */
static bool output_is(struct fold_run *run, int r, const double *O, double l)
{
    struct grading *g = run->g;
    const float *got = run->state.O[r];
    double size = run->rounds ? 256 : 4;
    bool right = true, undivided = true, twice = true;
    int first = 0;
    for (int d = 0; d < run->dim; d++) {
        right = right && near(got[d], O[d], size * (run->rounds ? 1 : 0) + 1);
        undivided = undivided && near(got[d], O[d] * l, 1);
        twice = twice && near(got[d], O[d] / l, 1);
    }
    if (right)
        return true;
    for (int d = run->dim - 1; d >= 0; d--)
        if (!near(got[d], O[d], size * (run->rounds ? 1 : 0) + 1) || d == 0)
            first = d;
    differs(g, "%s = %.6g, want %.6g", entry_name("O", r, first).text, (double)got[first],
            O[first]);
    fold_see(run, r, first, "NORMALIZE", run->walked);
    if (l == 0)
        wrong(g, "row %d: O = %g; a row that sees no key has O = 0, L = -inf", r, (double)got[0]);
    else if (undivided)
        wrong(g, "row %d: O was not divided by l", r);
    else if (twice)
        wrong(g, "row %d: O was divided by l twice", r);
    for (int d = 0; d < run->dim && !failed(g); d++)
        expect(g, entry_name("O", r, d).text, got[d], O[d], 1);
    return false;
}

static bool logsum_is(struct fold_run *run, int r, double m, double l)
{
    struct grading *g = run->g;
    float got = run->state.L[r];
    double L = l > 0 ? m + log(l) : -INFINITY;
    int base = g->variant.base;
    if ((base != 2 && near(got, L, 1)) || (base != 0 && near(got, L / LN2, 1)))
        return true;
    differs(g, "L[%d] = %.6g, want %.6g", r, (double)got, base == 2 ? L / LN2 : L);
    if (run->walked > 0)
        fold_see(run, r, 0, "LSE", 1);
    if (is_poison(got))
        wrong(g, "L[%d] was never written", r);
    else if (near(got, L, 1))
        wrong(g, "row %d: L is in base e; this copy asks for base 2", r);
    else if (near(got, L / LN2, 1))
        wrong(g, "row %d: L is in base 2; this copy asks for base e", r);
    else if (l > 0 && near(got, log(l), 1))
        wrong(g, "row %d: L lacks the maximum: m + ln l is right", r);
    else if (l > 0 && near(got, m + l, 1))
        wrong(g, "row %d: L lacks the logarithm: m + ln l is right", r);
    else
        wrong(g, "L[%d] = %.6g, want %.6g", r, (double)got, base == 2 ? L / LN2 : L);
    return false;
}

bool fold_finish_from_anywhere(struct fold_run *run)
{
    struct grading *g = run->g;
    struct state *s = &run->state, before;
    fresh(s, run->rows, 0, run->dim);
    draw_statistics(run);
    before = *s;
    at(g, "finish, on m, l, O drawn at random");
    if (!call(g, run->steps.finish, s))
        return false;
    for (int r = 0; r < run->rows; r++) {
        double l = (double)before.l[r];
        for (int d = 0; d < run->dim; d++) {
            double O = (double)before.O[r][d] / (run->divided == 1 ? 1 : l);
            if (!expect(g, entry_name("O", r, d).text, s->O[r][d], O, 0))
                return false;
        }
        if (!logsum_is(run, r, (double)before.m[r] * fold_unit(run), l))
            return false;
    }
    return true;
}

void fold_find_base(struct fold_run *run)
{
    load_tile(run, 0);
    for (int r = 0; r < run->rows; r++) {
        run->state.m[r] = -INFINITY;
        run->state.l[r] = 0;
        for (int d = 0; d < run->dim; d++)
            run->state.O[r][d] = 0;
    }
    struct state before = run->state;
    at(run->g, "the first tile");
    if (call(run->g, run->steps.fold, &run->state))
        fold_settle(run, &before, &run->state);
}

int fold_form(struct fold_run *run)
{
    if (!fold_begin(run))
        return -1;
    load_tile(run, 0);
    struct state before = run->state;
    at(run->g, "tile (0,0)");
    if (call(run->g, run->steps.fold, &run->state))
        fold_settle(run, &before, &run->state);
    bool plain = run->divided == -1 && fold_plain(run, &before, &run->state);
    return plain ? 0 : run->divided;
}

bool fold_finish(struct fold_run *run, bool judge_O, bool judge_L)
{
    struct state *s = &run->state;
    double m, l, O[MAX_DIM];
    struct state last = *s;
    fresh(s, run->rows, 0, run->dim);
    memcpy(s->m, last.m, sizeof s->m);
    memcpy(s->l, last.l, sizeof s->l);
    memcpy(s->O, last.O, sizeof s->O);
    at(run->g, "after the last tile");
    if (!call(run->g, run->steps.finish, s))
        return false;
    for (int r = 0; r < run->rows; r++) {
        fold_truth(run, r, &m, &l, O);
        if ((judge_O && !output_is(run, r, O, l)) || (judge_L && !logsum_is(run, r, m, l)))
            return false;
    }
    return true;
}
