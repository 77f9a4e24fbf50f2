/* test_exact_arith.c: in exact arithmetic every right algorithm is attention: the mpfr run at 256
   bits against the definition, |dO| <= 2^-200 sum pi |v| and |dLSE| <= 2^-200 max(1, |LSE|), on
   every mask and shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "reference/certified.h"
#include "reference/exact.h"
#include "simulator/simulate.h"
#include "tests/exact_row.h"
#include "tests/random_problem.h"

enum { PRECISION = 256 };

static const struct runner {
    enum algorithm algorithm;
    bool descending;
    enum merge merge; /* decode's */
    bool running_max;
} runners[] = {
    {ALGORITHM_STANDARD, false, 0, false},
    {ALGORITHM_ONLINE, false, 0, false},
    {ALGORITHM_FA1, false, 0, false},
    {ALGORITHM_FA2, false, 0, false},
    {ALGORITHM_FA2, true, 0, false},
    {ALGORITHM_FA1_PRINTED, false, 0, false},
    {ALGORITHM_FA2_PRINTED, false, 0, false}, /* none of its faults on */
    {ALGORITHM_DECODE, false, MERGE_LSE, false},
    {ALGORITHM_DECODE, true, MERGE_LSE_SUM, true},
    {ALGORITHM_DECODE, false, MERGE_MAX_SUM, true},
    {ALGORITHM_DECODE, true, MERGE_NORMALISED_MAX_SUM, false},
    {ALGORITHM_DECODE, false, MERGE_RUNNING, false},
    {ALGORITHM_AUTOCAST, false, 0, false},
    {ALGORITHM_SPLITK, false, 0, false},
    {ALGORITHM_SPLITQ, false, 0, false},
};

static const struct mask_row {
    bool causal, top_left;
    int64_t left, right;
    double softcap;
} masks[] = {
    {false, false, -1, -1, 0}, {true, false, -1, -1, 0}, {true, true, -1, -1, 0},
    {false, false, 2, 1, 0},   {false, false, 0, 0, 0},  {false, true, 1, 2, 0},
    {false, false, -1, 0, 0},  {false, false, 1, -1, 0}, {true, false, 3, 0, 0},
    {true, true, 0, 0, 0},     {false, false, -1, -1, 1.5}, {true, false, -1, -1, 5},
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 7, 3},  {1, 1, 1, 5, 5, 4},  {1, 1, 1, 9, 4, 2},
    {1, 1, 1, 4, 9, 3}, {2, 4, 2, 3, 11, 2}, {1, 3, 1, 6, 13, 2}, {1, 1, 1, 3, 0, 2},
    {1, 1, 1, 0, 3, 2}, {0, 1, 1, 2, 2, 1},
};

static const struct tiling {
    int Br, Bc;
} tilings[] = {{1, 1}, {2, 3}, {4, 4}, {3, 8}, {16, 16}};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* What disagreed, for the message. */
struct place {
    const char *algorithm;
    const struct mask_row *mask;
    const struct problem *problem;
    const struct simulation *simulation;
    int64_t head, row;
};

static void disagree(const struct place *at, const char *what)
{
    const struct mask_row *m = at->mask;
    const struct problem *p = at->problem;
    fail_msg("%s%s, %s of head %d row %d: Nq %d Nk %d D %d, causal %d top-left %d window %d,%d "
             "softcap %g, tile %d,%d",
             at->algorithm, at->simulation->choices.descending ? " descending" : "", what,
             (int)at->head, (int)at->row, (int)p->Nq, (int)p->Nk, (int)p->D, m->causal, m->top_left,
             (int)m->left, (int)m->right, m->softcap, at->simulation->choices.Br,
             at->simulation->choices.Bc);
}

static void check_row(const struct head *h, const struct attention *x, struct place *at)
{
    const char *what = exact_row_differs(h, at->row, x->O->data, x->L->data, true);
    if (what != NULL)
        disagree(at, what);
}

static int64_t check_run(const struct problem *p, const struct simulation *s, struct place at)
{
    struct run r;
    struct message why;
    int64_t rows = 0;
    assert_true(run_new(&r, s->arith, &s->policy, s->precision, &why));
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        struct attention x = simulate_head(&r, s, &h);
        at.head = n;
        for (at.row = 0; at.row < h.Nq; at.row++, rows++)
            check_row(&h, &x, &at);
        run_reset(&r);
    }
    run_free(&r);
    return rows;
}

/* Any way to cut the keys: groups of one tile, of several, more groups than tiles, dealt round. */
static struct grouping draw_grouping(uint64_t *state)
{
    struct grouping g = {.splits = (int)draw_below(state, 6)};
    g.round_robin = g.splits > 0 && draw_below(state, 2);
    return g;
}

/* Every algorithm, each at one of the tilings. */
static int64_t check_problem(const struct problem *p, const struct mask_row *mask, uint64_t *state)
{
    int64_t rows = 0;
    for (size_t n = 0; n < COUNT(runners); n++) {
        const struct tiling *t = &tilings[draw_below(state, COUNT(tilings))];
        struct simulation s = simulation_default();
        s.algorithm = runners[n].algorithm;
        s.policy = policy_table(POLICY_EXACT);
        s.arith = &arith_mpfr;
        s.precision = PRECISION;
        s.choices = (struct choices){.Br = t->Br, .Bc = t->Bc, .descending = runners[n].descending,
                                     .merge = runners[n].merge,
                                     .running_max = runners[n].running_max};
        if (s.algorithm == ALGORITHM_DECODE)
            s.choices.grouping = draw_grouping(state);
        if (s.algorithm == ALGORITHM_ONLINE)
            s.choices.Bc = 1;
        if (p->tiles > 0) /* the user's own key tiles */
            s.choices.Bc = 0;
        const char *name = algorithm_info(s.algorithm)->name;
        rows += check_run(p, &s, (struct place){name, mask, p, &s, 0, 0});
    }
    return rows;
}

static struct problem_options options_of(const struct mask_row *m)
{
    struct problem_options o = problem_defaults();
    o.mask = (struct mask){m->causal, m->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT, m->left,
                           m->right};
    o.softcap = m->softcap;
    return o;
}

static bool full(void)
{
    const char *level = getenv("FLASHULP_TESTS");
    return level != NULL && strcmp(level, "full") == 0;
}

static void every_mask_and_shape(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    int64_t rows = 0;
    for (int round = 0; round < (full() ? 20 : 1); round++)
        for (size_t m = 0; m < COUNT(masks); m++)
            for (size_t n = 0; n < COUNT(shapes); n++) {
                struct problem_options o = options_of(&masks[m]);
                struct problem p;
                /* now and then scores of thousands: weights far below any double's range */
                double size = draw_below(&state, 4) == 0 ? 40 : 1;
                assert_true(draw_problem(&p, FORMAT_FP32, shapes[n], size, &o, &state));
                rows += check_problem(&p, &masks[m], &state);
                problem_free(&p);
            }
    printf("# note %lld rows within 2^%d of the definition\n", (long long)rows, EXACT_ROW_AGREE);
}

/* A shift other than the maximum changes nothing, repeated maxima or not. */
static void shifted_maxima(void **unused)
{
    (void)unused;
    static const double times[] = {2, 7, 8};
    uint64_t state = 3;
    for (size_t m = 0; m < COUNT(masks); m++) {
        struct problem_options o = options_of(&masks[m]);
        struct problem p;
        assert_true(draw_problem(&p, FORMAT_FP32, shapes[5], m % 3 == 0 ? 20 : 1, &o, &state));
        repeat_keys(&p, &state);
        for (size_t n = 0; n < COUNT(times); n++) {
            struct simulation s = simulation_default();
            s.algorithm = ALGORITHM_AUTOCAST;
            s.policy = policy_table(POLICY_EXACT);
            s.arith = &arith_mpfr;
            s.precision = PRECISION;
            s.choices = (struct choices){.Br = 2, .Bc = 3, .repeated_max = times[n]};
            check_run(&p, &s, (struct place){"autocast", &masks[m], &p, &s, 0, 0});
        }
        problem_free(&p);
    }
}

/* Packed sequences, two of them empty on one side. */
static void variable_lengths(void **unused)
{
    (void)unused;
    static const int64_t cu_q[] = {0, 3, 3, 4, 9}, cu_k[] = {0, 5, 7, 7, 14};
    static const struct shape packed = {1, 4, 2, 9, 14, 2};
    uint64_t state = 2;
    for (size_t m = 0; m < COUNT(masks); m++) {
        struct problem_options o = options_of(&masks[m]);
        struct problem p;
        o.cu_q = cu_q;
        o.cu_k = cu_k;
        o.sequences = 4;
        assert_true(draw_problem(&p, FORMAT_FP32, packed, 1, &o, &state));
        check_problem(&p, &masks[m], &state);
        problem_free(&p);
    }
}

/* Key tiles as a user may write them, ragged. */
static void tiles_of_the_user(void **unused)
{
    (void)unused;
    static const int64_t ends[] = {2, 3, 7, 8};
    uint64_t state = 3;
    for (size_t m = 0; m < COUNT(masks); m++) {
        struct problem_options o = options_of(&masks[m]);
        struct problem p;
        assert_true(draw_problem(&p, FORMAT_FP32, (struct shape){1, 1, 1, 5, 8, 2}, 2, &o, &state));
        p.tiles = COUNT(ends);
        p.tile_ends = malloc(sizeof ends);
        memcpy(p.tile_ends, ends, sizeof ends);
        check_problem(&p, &masks[m], &state);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mask_and_shape),
        cmocka_unit_test(shifted_maxima),
        cmocka_unit_test(variable_lengths),
        cmocka_unit_test(tiles_of_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
