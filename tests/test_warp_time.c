/* test_warp_time.c: the queue of warps at an SM's units against times by hand; and what
   exchange_time.h makes of splitk and splitq: the bytes and barriers that exchange.h counts, the
   FLOPs of the products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/exchange_time.h"
#include "tests/random_problem.h"

/* In each row tasks: unit, warps, clocks, pieces; then spans, as whoever is ready first goes on. */
enum { MOST_TASKS = 6, MOST_SPANS = 8 };
static const struct {
    const char *what;
    struct warp_task task[MOST_TASKS];
    struct {
        int warp;
        double from, to, worked;
    } span[MOST_SPANS];
} rows[] = {
    {"shared memory serves one warp at a time, the others wait at the barrier",
     {{UNIT_SHARED, 1, 4, 1, 0}, {UNIT_SHARED, 2, 4, 1, 0}, {UNIT_BARRIER, 3, 0, 1, 0}},
     {{0, 0, 4, 4}, {1, 0, 8, 4}, {0, 4, 8, 0}, {1, 8, 8, 0}}},
    {"in turn, piece by piece",
     {{UNIT_SHARED, 1, 4, 2, 0}, {UNIT_SHARED, 2, 4, 2, 0}},
     {{0, 0, 6, 4}, {1, 0, 8, 4}}},
    {"each quarter has a tensor core of its own",
     {{UNIT_TENSOR, 1, 4, 1, 0}, {UNIT_TENSOR, 2, 4, 1, 0}},
     {{0, 0, 4, 4}, {1, 0, 4, 4}}},
    {"warps 0 and 4 are of one quarter",
     {{UNIT_TENSOR, 1, 4, 1, 0}, {UNIT_TENSOR, 16, 4, 1, 0}},
     {{0, 0, 4, 4}, {4, 0, 8, 4}}},
    {"whoever comes first",
     {{UNIT_OTHER, 1, 3, 1, 0},
      {UNIT_SHARED, 1, 2, 1, 0},
      {UNIT_OTHER, 2, 1, 1, 0},
      {UNIT_SHARED, 2, 5, 1, 0}},
     {{0, 0, 3, 3}, {1, 0, 1, 1}, {1, 1, 6, 5}, {0, 3, 8, 2}}},
    {"a barrier of some of the warps",
     {{UNIT_OTHER, 1, 3, 1, 0}, {UNIT_OTHER, 2, 1, 1, 0}, {UNIT_BARRIER, 5, 0, 1, 0}},
     {{0, 0, 3, 3}, {1, 0, 1, 1}, {0, 3, 3, 0}, {2, 0, 3, 0}}},
    {"one barrier after another",
     {{UNIT_BARRIER, 1, 0, 1, 0}, {UNIT_BARRIER, 3, 0, 1, 0}, {UNIT_OTHER, 2, 1, 1, 0}},
     {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 1, 1}}},
};

static void queues_by_hand(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct warp_times t;
        size_t tasks = 0, spans = 0;
        for (; tasks < MOST_TASKS && rows[i].task[tasks].pieces > 0; tasks++)
            spans += (size_t)__builtin_popcount(rows[i].task[tasks].warps);
        assert_true(warp_times_new(&t, rows[i].task, tasks));
        assert_int_equal(t.count, spans);
        for (size_t n = 0; n < spans; n++) {
            const struct warp_span *s = &t.span[n];
            if (s->warp != rows[i].span[n].warp || s->from != rows[i].span[n].from ||
                s->to != rows[i].span[n].to || s->worked != rows[i].span[n].worked)
                fail_msg("%s: span %zu is of warp %d, from %g to %g, worked %g; want %d %g %g %g",
                         rows[i].what, n, s->warp, s->from, s->to, s->worked, rows[i].span[n].warp,
                         rows[i].span[n].from, rows[i].span[n].to, rows[i].span[n].worked);
        }
        warp_times_free(&t);
    }
}

struct totals {
    double work[UNITS];
    int64_t barriers, for_results;
};

static struct totals totals_of(const struct exchange_time *t)
{
    struct totals sum = {{0}, 0, 0};
    for (int w = 0; w < t->warps; w++) {
        struct warp_sum one = warp_sum(&t->times, t->task, w);
        for (int u = 0; u < UNITS; u++)
            sum.work[u] += one.work[u];
    }
    for (size_t n = 0; n < t->tasks; n++) {
        sum.barriers += t->task[n].unit == UNIT_BARRIER;
        sum.for_results += t->for_results[n];
    }
    return sum;
}

/* A unit is never asked for more than there is of it, and a warp does one thing after another. */
static void check_spans(const struct exchange_time *t, const struct totals *sum)
{
    double end[TIMED_WARPS] = {0}, span = t->times.end * (1 + 1e-9);
    for (size_t n = 0; n < t->times.count; n++) {
        const struct warp_span *s = &t->times.span[n];
        assert_true(s->from == end[s->warp] && s->to >= s->from);
        assert_true(s->worked <= (s->to - s->from) * (1 + 1e-9) + 1e-9);
        end[s->warp] = s->to;
    }
    assert_true(sum->work[UNIT_SHARED] <= span && sum->work[UNIT_MEMORY] <= span);
    assert_true(sum->work[UNIT_TENSOR] <= QUARTERS * span);
    for (int p = 1; p <= t->tiles * TILE_PHASES; p++)
        assert_true(t->phase_end[p] >= t->phase_end[p - 1]);
    assert_true(t->phase_end[t->tiles * TILE_PHASES] == t->times.end);
}

static bool near(double a, double b)
{
    return a > b * (1 - 1e-9) && a < b * (1 + 1e-9);
}

/* 64 queries, T tiles of 64 keys, head size 64, on an A100: 128 bytes a clock, 312 TFLOP/s. */
static void times_are_of_what_is_counted(void **unused)
{
    struct message why;
    struct device_record d;
    (void)unused;
    assert_true(device_lookup("A100", &d, &why));
    struct plan_request usual = plan_request_default();
    struct rates r = device_rates(&d, usual.assume);
    for (int row = 0; row < 24; row++) {
        int T = 1 + row % 3, warps = 1 << row / 3 % 4;
        bool by_rows = row >= 12;
        struct simulation s = simulation_default();
        struct problem_options o = problem_defaults();
        uint64_t seed = 1;
        struct problem p;
        struct exchange e;
        struct exchange_time t;
        s.algorithm = by_rows ? ALGORITHM_SPLITQ : ALGORITHM_SPLITK;
        s.policy = policy_table(POLICY_GPU_BF16);
        s.choices = (struct choices){.Br = 64, .Bc = 64, .warps = warps};
        assert_true(
            draw_problem(&p, FORMAT_BF16, (struct shape){1, 1, 1, 64, 64 * T, 64}, 1, &o, &seed));
        struct head h = problem_head(&p, 0);
        exchange_count(&s, &h, &e);
        assert_true(exchange_time_new(&t, &s, &h, &d, &why));
        struct totals sum = totals_of(&t);
        double bytes = (double)e.loaded;
        for (int w = 0; w < warps; w++)
            bytes += (double)(e.warp[w].inputs + e.warp[w].reads + e.warp[w].writes);
        assert_int_equal(t.tiles, T);
        assert_false(t.more);
        assert_int_equal(sum.barriers, e.barriers);
        assert_int_equal(sum.for_results, e.warp[0].waits);
        assert_true(near(sum.work[UNIT_SHARED], bytes / 128));
        assert_true(
            near(sum.work[UNIT_TENSOR], 4.0 * 64 * 64 * 64 * T * QUARTERS * r.clock / r.matmul));
        /* weights, O / l; of split-K every warp has every row's rescale and logarithm */
        double rows_of = by_rows ? 64 : 64.0 * warps;
        assert_true(near(sum.work[UNIT_SPECIAL], (64 * 64 * T + rows_of * T + 64 * 64 + rows_of) *
                                                     QUARTERS * r.clock / r.special));
        check_spans(&t, &sum);
        exchange_time_free(&t);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queues_by_hand),
                                       cmocka_unit_test(times_are_of_what_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
