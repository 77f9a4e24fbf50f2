/* test_trace.c: the trace in memory.  In files: test_trace_file.c; as text: test_trace_text.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/arith.h"
#include "simulator/trace_data.h"

static uint64_t bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static double from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static void test_names(void **state)
{
    static const struct {
        enum trace_table table;
        uint32_t number;
        const char *name;
    } rows[] = {
        {TRACE_STEPS, STEP_LOAD, "LOAD"},
        {TRACE_STEPS, STEP_PV, "PV"},
        {TRACE_STEPS, STEP_STORE, "STORE"},
        {TRACE_TENSORS, TENSOR_Q, "Q"},
        {TRACE_TENSORS, TENSOR_O_ACC, "O~"},
        {TRACE_TENSORS, TENSOR_SCRATCH, "t"},
        {TRACE_SITES, SITE_PROB, "PROB"},
        {TRACE_SITES, SITE_GROUP_SUM, "GROUP_SUM"},
        {TRACE_SITES, SITE_NONE, "none"},
        {TRACE_FORMATS, FORMAT_EXACT, "exact"},
        {TRACE_FORMATS, FORMAT_FP32_FTZ, "fp32-ftz"},
        {TRACE_FORMATS, FORMAT_E5M2, "e5m2"},
    };
    static const uint32_t counts[TRACE_TABLES] = {STEP_COUNT, TENSOR_COUNT, SITE_COUNT + 1,
                                                  FORMAT_COUNT};
    struct trace *t = trace_new(TRACE_EVENTS);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(trace_name(t, rows[i].table, rows[i].number), rows[i].name);
    for (int k = 0; k < TRACE_TABLES; k++) {
        assert_int_equal(trace_names(t, (enum trace_table)k), counts[k]);
        for (uint32_t n = 0, found; n < counts[k]; n++) { /* no name twice */
            const char *name = trace_name(t, (enum trace_table)k, n);
            assert_true(trace_number(t, (enum trace_table)k, name, &found));
            assert_int_equal(found, n);
        }
    }
    trace_free(t);
}

static const double some_values[6] = {1, -0.0, NAN, INFINITY, -INFINITY, 5e-324};
static const double some_exact[6][2] = {{1, 1e-20},    {0, 0},  {NAN, NAN},
                                        {INFINITY, 0}, {-1, 0}, {2, 3}};
static const int some_lo[2] = {0, 1}, some_hi[2] = {3, 1};

static struct event some_event(void)
{
    struct event e;
    memset(&e, 0, sizeof e);
    e.step = STEP_EXP;
    e.tensor = TENSOR_P;
    e.site = SITE_EXP;
    e.format = FORMAT_FP32;
    e.rows = 2;
    e.cols = 3;
    e.worst = 5;
    e.max_abs = 7.5;
    e.local = 0.25;
    e.inherited = -3;
    e.flags = EVENT_HAS_TWIN | EVENT_MASKED;
    return e;
}

/* What each detail keeps, and what the caller may leave out. */
static void test_detail(void **state)
{
    static const struct {
        enum trace_detail detail;
        bool values, exact, intervals; /* given */
        double max_abs;
        bool kept; /* what was given */
    } rows[] = {
        {TRACE_EVENTS, true, true, true, 0, false},
        {TRACE_STATS, true, true, true, 7.5, false},
        {TRACE_VALUES, true, true, true, 7.5, true},
        {TRACE_VALUES, true, false, false, 7.5, true},
        {TRACE_VALUES, false, true, false, 7.5, true},
        {TRACE_VALUES, false, false, true, 7.5, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trace *t = trace_new(rows[i].detail);
        struct event e = some_event();
        trace_append(t, &e, rows[i].values ? some_values : NULL, rows[i].exact ? some_exact : NULL,
                     rows[i].intervals ? some_lo : NULL, rows[i].intervals ? some_hi : NULL);
        assert_int_equal(trace_detail(t), rows[i].detail);
        assert_int_equal(trace_count(t), 1);
        const struct event *got = trace_event(t, 0);
        bool masked = rows[i].kept && rows[i].intervals;
        assert_int_equal(got->flags, EVENT_HAS_TWIN | (masked ? EVENT_MASKED : 0));
        assert_true(got->max_abs == rows[i].max_abs && got->local == 0.25 && got->inherited == -3);
        assert_int_equal(trace_values(t, 0) != NULL, rows[i].kept && rows[i].values);
        assert_int_equal(trace_exact(t, 0) != NULL, rows[i].kept && rows[i].exact);
        assert_int_equal(trace_intervals(t, 0) != NULL, masked);
        for (int k = 0; k < 6 && trace_values(t, 0) != NULL; k++)
            assert_int_equal(bits(trace_values(t, 0)[k]), bits(some_values[k]));
        for (int k = 0; k < 12 && trace_exact(t, 0) != NULL; k++)
            assert_int_equal(bits(trace_exact(t, 0)[k / 2][k % 2]), bits(some_exact[k / 2][k % 2]));
        for (int k = 0; k < 4 && masked; k++)
            assert_int_equal(trace_intervals(t, 0)[k], k < 2 ? some_lo[k] : some_hi[k - 2]);
        trace_free(t);
    }
}

static void test_nan_is_canonical(void **state)
{
    static const uint64_t nans[] = {0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001,
                                    0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFE0000000};
    (void)state;
    for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++) {
        struct trace *t = trace_new(TRACE_VALUES);
        struct event e = some_event();
        double x = from_bits(nans[i]);
        const double pair[1][2] = {{x, x}};
        e.rows = e.cols = 1;
        e.worst = 0;
        e.max_abs = e.local = e.inherited = x;
        trace_append(t, &e, &x, pair, NULL, NULL);
        const struct event *got = trace_event(t, 0);
        const double kept[] = {got->max_abs,
                               got->local,
                               got->inherited,
                               trace_values(t, 0)[0],
                               trace_exact(t, 0)[0][0],
                               trace_exact(t, 0)[0][1]};
        for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
            assert_int_equal(bits(kept[k]), 0x7FF8000000000000);
        trace_free(t);
    }
}

static void test_growth(void **state)
{
    enum { COUNT = 100000 };
    struct trace *t = trace_new(TRACE_VALUES);
    struct event e = some_event();
    (void)state;
    e.rows = e.cols = 1;
    e.worst = 0;
    for (uint32_t n = 0; n < COUNT; n++) {
        double x = n;
        e.j = n;
        trace_append(t, &e, n % 3 == 0 ? &x : NULL, NULL, NULL, NULL);
    }
    assert_int_equal(trace_count(t), COUNT);
    for (uint32_t n = 0; n < COUNT; n++) {
        assert_int_equal(trace_event(t, n)->j, n);
        assert_true(n % 3 == 0 ? trace_values(t, n)[0] == n : trace_values(t, n) == NULL);
    }
    trace_free(t);
}

/* A snapshot that no memory holds: the trace ends before it, says so, and is not written. */
static void test_memory_runs_out(void **state)
{
    struct trace *t = trace_new(TRACE_VALUES);
    struct event small = some_event(), huge = some_event();
    struct message why;
    (void)state;
    huge.rows = huge.cols = INT_MAX;
    trace_append(t, &small, some_values, NULL, NULL, NULL);
    assert_true(trace_complete(t));
    trace_append(t, &huge, some_values, NULL, NULL, NULL);
    trace_append(t, &small, some_values, NULL, NULL, NULL);
    assert_false(trace_complete(t));
    assert_int_equal(trace_count(t), 1);
    static const char sentence[] = "lost.trace: not written: memory ran out after event 1 of the "
                                   "trace; keep less with --snapshots none, or trace a smaller "
                                   "problem";
    assert_false(trace_write(t, "lost.trace", true, &why));
    assert_string_equal(why.text, sentence);
    assert_false(trace_write_perfetto(t, "lost.trace", true, &why));
    assert_string_equal(why.text, sentence);
    assert_int_not_equal(access("lost.trace", F_OK), 0);
    trace_free(t);
}

static void test_meta(void **state)
{
    struct trace *t = trace_new(TRACE_EVENTS);
    (void)state;
    assert_null(trace_meta(t, "command"));
    trace_set_meta(t, "command", "flashulp walk");
    trace_set_meta(t, "policy", "fp32");
    trace_set_meta(t, "command", "flashulp trace");
    assert_string_equal(trace_meta(t, "command"), "flashulp trace");
    assert_string_equal(trace_meta(t, "policy"), "fp32");
    assert_null(trace_meta(t, "comm"));
    trace_free(t);
}

/* Values of the named steps alone; the events of all. */
static void test_keep(void **state)
{
    struct trace *t = trace_new(TRACE_VALUES);
    struct event e = some_event();
    (void)state;
    trace_keep(t, UINT64_C(1) << STEP_EXP);
    trace_append(t, &e, some_values, some_exact, NULL, NULL);
    e.step = STEP_PV;
    trace_append(t, &e, some_values, some_exact, some_lo, some_hi);
    assert_int_equal(trace_count(t), 2);
    assert_non_null(trace_values(t, 0));
    assert_non_null(trace_exact(t, 0));
    assert_null(trace_values(t, 1));
    assert_null(trace_exact(t, 1));
    assert_null(trace_intervals(t, 1));
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),  cmocka_unit_test(test_detail),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_nan_is_canonical),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_meta),   cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
