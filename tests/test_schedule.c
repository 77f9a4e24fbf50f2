/* test_schedule.c: blocks over SMs: cells against the mask's definition, pair by pair; launches
   against a scheduler of another kind (one slot an SM) and by hand (blocks that share an SM). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "reference/problem.h"
#include "simulator/schedule.h"

static struct attention_shape shape(int64_t batch, int64_t heads, int64_t Nq, int64_t Nk,
                                    bool causal)
{
    return (struct attention_shape){batch, heads, heads, Nq, Nk, 128, causal};
}

/* By the reference: how many pairs of the cell are seen, of how many places. */
static enum cell defined_cell(const struct grid *g, int64_t i, int64_t j)
{
    struct problem p = {.B = 1, .Hq = 1, .Hkv = 1, .Nq = g->rows, .Nk = g->shape.len_k, .D = 1};
    p.mask = (struct mask){g->shape.causal && g->kernel != PLAN_KERNEL_DECODE, ALIGN_BOTTOM_RIGHT,
                           -1, -1};
    struct head h = problem_head(&p, 0);
    int64_t seen = 0, places = 0;
    for (int64_t r = i * g->tile.Br; r < (i + 1) * g->tile.Br && r < g->rows; r++)
        for (int64_t c = j * g->tile.Bc; c < (j + 1) * g->tile.Bc; c++, places++)
            seen += c < g->shape.len_k && sees(&h, r, c);
    return seen == 0 ? CELL_SKIPPED : seen < places ? CELL_MASKED : CELL_PLAIN;
}

static void check_block(const struct grid *g, int64_t n, unsigned char *walked)
{
    struct cells want = grid_block(g, n), got = {0};
    struct block_walk w = walk_block(g, n);
    int64_t i, j;
    while (walk_next(&w, &i, &j)) {
        assert_in_range(i, 0, g->row_tiles - 1);
        assert_in_range(j, 0, g->key_tiles - 1);
        enum cell c = grid_cell(g, i, j);
        assert_int_not_equal(c, CELL_SKIPPED);
        got.masked += c == CELL_MASKED;
        got.plain += c == CELL_PLAIN;
        walked[i * g->key_tiles + j]++;
    }
    if (got.masked != want.masked || got.plain != want.plain)
        fail_msg("%s block %d: walks %d + %d cells, counts %d + %d", plan_kernel_name(g->kernel),
                 (int)n, (int)got.masked, (int)got.plain, (int)want.masked, (int)want.plain);
}

static void check_grid(const struct grid *g)
{
    unsigned char walked[40 * 40] = {0};
    struct cells total = {0}, head = grid_head(g);
    for (int64_t n = 0; n < g->per_head; n++) {
        struct cells c = grid_block(g, n);
        total.skipped += c.skipped;
        total.masked += c.masked;
        total.plain += c.plain;
        check_block(g, n, walked);
    }
    assert_memory_equal(&total, &head, sizeof total);
    for (int64_t i = 0; i < g->row_tiles; i++)
        for (int64_t j = 0; j < g->key_tiles; j++) {
            enum cell want = defined_cell(g, i, j);
            if (grid_cell(g, i, j) != want ||
                walked[i * g->key_tiles + j] != (want != CELL_SKIPPED))
                fail_msg(
                    "%s Nq %d Nk %d causal %d tile %d x %d: cell %d,%d is %d, walked %d times; "
                    "want %d",
                    plan_kernel_name(g->kernel), (int)g->rows, (int)g->shape.len_k, g->shape.causal,
                    g->tile.Br, g->tile.Bc, (int)i, (int)j, grid_cell(g, i, j),
                    walked[i * g->key_tiles + j], want);
        }
}

static void cells_are_the_masks(void **unused)
{
    (void)unused;
    static const struct tiling tiles[] = {{1, 1, 4}, {2, 3, 4}, {4, 2, 4}, {4, 4, 4}, {8, 3, 4}};
    int grids = 0;
    for (int64_t Nq = 1; Nq <= 13; Nq += 3)
        for (int64_t Nk = 1; Nk <= 16; Nk += 3)
            for (int causal = 0; causal < 2; causal++)
                for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
                    for (int k = 0; k < PLAN_KERNEL_COUNT; k++, grids++) {
                        struct attention_shape s = shape(1, 1, Nq, Nk, causal);
                        int64_t key_tiles = (Nk + tiles[t].Bc - 1) / tiles[t].Bc;
                        struct grid g =
                            grid_of((enum plan_kernel)k, &s, tiles[t], 3, (key_tiles + 2) / 3);
                        check_grid(&g);
                    }
    printf("# note %d grids, every pair of query and key\n", grids);
}

/* fa2, decode: keys last to first; backward: queries last to first; fa1: both ascending. */
static void orders(void **unused)
{
    (void)unused;
    static const struct {
        enum plan_kernel kernel;
        int64_t block, step[6][2];
        int steps;
    } rows[] = {
        {PLAN_KERNEL_FA2, 2, {{2, 2}, {2, 1}, {2, 0}}, 3},
        {PLAN_KERNEL_BACKWARD, 1, {{2, 1}, {1, 1}}, 2},
        {PLAN_KERNEL_FA1, 0, {{0, 0}, {1, 0}, {2, 0}, {1, 1}, {2, 1}, {2, 2}}, 6},
        {PLAN_KERNEL_DECODE, 3, {{0, 2}}, 1}, /* row tile 0, group 1 of two tiles */
    };
    struct attention_shape s = shape(1, 1, 12, 12, true);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct grid g = grid_of(rows[r].kernel, &s, (struct tiling){4, 4, 4}, 2, 2);
        struct block_walk w = walk_block(&g, rows[r].block);
        int64_t i, j;
        int n = 0;
        for (; walk_next(&w, &i, &j); n++)
            if (n >= rows[r].steps || i != rows[r].step[n][0] || j != rows[r].step[n][1])
                fail_msg("%s step %d: %d,%d", plan_kernel_name(rows[r].kernel), n, (int)i, (int)j);
        assert_int_equal(n, rows[r].steps);
    }
}

static void right_values(void **unused)
{
    (void)unused;
    struct attention_shape s = shape(2, 16, 8192, 8192, false);
    struct tiling tile = {128, 128, 4};
    struct machine a100 = {.sms = 108, .per_sm = 1, .plain = 1, .masked = 1};
    struct schedule run;
    struct grid g = grid_of(PLAN_KERNEL_FA1, &s, tile, 0, 0);
    schedule_run(&g, &a100, NULL, NULL, &run);
    assert_int_equal(g.blocks, 32);
    assert_int_equal(run.busy_sms, 32);
    assert_true(fabs(100 * run.full - 29.6) < 0.05);
    g = grid_of(PLAN_KERNEL_FA2, &s, tile, 0, 0);
    schedule_run(&g, &a100, NULL, NULL, &run);
    assert_int_equal(g.per_head, 64);
    assert_int_equal(g.blocks, 2048);
    assert_true(fabs(run.waves - 18.96) < 0.005);
    assert_int_equal(run.launched, 19);
    assert_true(fabs(100 * run.full - 99.8) < 0.05);
    assert_true(run.span == 19 * 64);   /* equal blocks: every launched wave takes a block's time */
    for (int64_t n = 1; n <= 64; n++) { /* square tiles: (1 - 1/n)/2 skipped, one masked a row */
        s = shape(1, 1, n * 128, n * 128, true);
        g = grid_of(PLAN_KERNEL_FA2, &s, tile, 0, 0);
        struct cells c = grid_head(&g);
        assert_int_equal(2 * c.skipped, n * (n - 1));
        assert_int_equal(c.masked, n);
        g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 64, 4}, 0, 0);
        c = grid_head(&g);
        assert_int_equal(c.masked, 2 * n);
    }
}

/* One slot an SM: the next block goes to whoever is free first, lowest number first. */
static double plain_span(const struct grid *g, const struct machine *m)
{
    double *free_at = calloc((size_t)m->sms, sizeof *free_at), span = 0;
    for (int64_t n = 0; n < g->blocks; n++) {
        struct cells c = grid_block(g, n);
        int at = 0;
        for (int k = 1; k < m->sms; k++)
            if (free_at[k] < free_at[at])
                at = k;
        free_at[at] += m->block + (double)c.masked * m->masked + (double)c.plain * m->plain;
        span = free_at[at] > span ? free_at[at] : span;
    }
    free(free_at);
    return span;
}

struct seen {
    const struct grid *grid;
    int64_t count;
    double last[64], end; /* of each SM: when its last cell ends */
    bool contiguous;
};

static void see(void *with, const struct schedule_event *e)
{
    struct seen *seen = with;
    assert_int_equal(e->cell, grid_cell(seen->grid, e->i, e->j));
    seen->contiguous = seen->contiguous && e->time >= seen->last[e->sm];
    seen->last[e->sm] = e->time + e->length;
    seen->end = seen->last[e->sm] > seen->end ? seen->last[e->sm] : seen->end;
    seen->count++;
}

static void against_the_plain_scheduler(void **unused)
{
    (void)unused;
    int launches = 0;
    for (int sms = 1; sms <= 13; sms += 3)
        for (int64_t heads = 1; heads <= 9; heads += 4)
            for (int k = 0; k < PLAN_KERNEL_COUNT; k++, launches++) {
                struct attention_shape s = shape(1, heads, 70, 90, true);
                struct grid g = grid_of((enum plan_kernel)k, &s, (struct tiling){8, 4, 4}, 4, 6);
                struct machine m = {.sms = sms, .per_sm = 1, .plain = 2, .masked = 3, .block = 1};
                struct seen seen = {.grid = &g, .contiguous = true};
                struct schedule run;
                schedule_run(&g, &m, see, &seen, &run);
                assert_true(run.span == plain_span(&g, &m));
                assert_true(seen.contiguous && seen.count == run.steps && seen.end == run.span);
                assert_true(run.busy <= 1 && run.busy > 0);
            }
    printf("# note %d launches end when a plain scheduler's do\n", launches);
}

/* By hand: blocks of work 1 to 6 (one key more a row). */
static void shared_sms(void **unused)
{
    (void)unused;
    struct attention_shape s = shape(1, 1, 6, 6, true);
    struct grid g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){1, 1, 4}, 0, 0);
    static const struct {
        int sms, per_sm;
        double span;
    } rows[] = {
        {1, 1, 21},
        {1, 2, 21},
        {1, 4, 21},
        {6, 1, 6},
        {6, 2, 6},
        {3, 2, 9},
        /* SM 0 has 1 and 3, SM 1 has 2 and 4; 1 ends at 2 and 5 takes its place, 2 ends at 4 and 6
           does; 3 ends at 6, 4 at 8, 5 at 1 + 3 + 5 = 9, 6 at 2 + 4 + 6 = 12 */
        {2, 2, 12},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct machine m = {.sms = rows[r].sms, .per_sm = rows[r].per_sm, .plain = 1, .masked = 1};
        struct schedule run;
        schedule_run(&g, &m, NULL, NULL, &run);
        if (run.span != rows[r].span)
            fail_msg("%d SMs of %d: span %g, want %g", m.sms, m.per_sm, run.span, rows[r].span);
        assert_true(run.work == 21 && run.steps == 21);
    }
}

static void count(void *with, const struct schedule_event *e)
{
    (void)e;
    ++*(int64_t *)with;
}

static void quick_enough(void **unused)
{
    (void)unused;
    struct attention_shape s = shape(2, 16, 8192, 8192, false);
    struct grid g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 128, 4}, 0, 0);
    struct machine m = {.sms = 108, .per_sm = 2, .plain = 1, .masked = 1};
    struct schedule run;
    double best = 1;
    for (int round = 0; round < 5; round++) {
        int64_t events = 0;
        clock_t start = clock();
        schedule_run(&g, &m, count, &events, &run);
        double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = taken < best ? taken : best;
        assert_int_equal(events, 2048 * 64);
        assert_int_equal(run.steps, events);
    }
    printf("# note 2,048 blocks x 64 key tiles: %.1f ms of processor time\n", 1e3 * best);
#ifdef __OPTIMIZE__
    assert_true(best < 0.050);
#endif
}

static void names(void **unused)
{
    (void)unused;
    enum plan_kernel k;
    struct message why;
    for (int n = 0; n < PLAN_KERNEL_COUNT; n++)
        assert_true(plan_kernel_from_name(plan_kernel_name((enum plan_kernel)n), &k, &why) &&
                    (int)k == n);
    assert_false(plan_kernel_from_name("fa3", &k, &why));
    assert_string_equal(why.text, "--kernel fa3: plan knows no such launch; did you mean fa1?");
    assert_false(plan_kernel_from_name("triton", &k, &why));
    assert_string_equal(why.text, "--kernel triton: plan knows fa1, fa2, backward and decode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_the_masks),
        cmocka_unit_test(orders),
        cmocka_unit_test(right_values),
        cmocka_unit_test(against_the_plain_scheduler),
        cmocka_unit_test(shared_sms),
        cmocka_unit_test(quick_enough),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
