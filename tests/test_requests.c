/* test_requests.c: accesses put together into requests, and their passes over the banks, by hand:
   what the emulator's own counts (test_emulator_lanes_checked.c) have no kernel for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulator/requests.h"

enum { MOST = 64 };

/* Lane n of `lanes` accesses `bytes` at n * stride, modulo `around` (0: not). */
static const struct {
    const char *what;
    uint32_t lanes, bytes, stride, around, space;
    int passes, least;
    bool conflicts;
} rows[] = {
    {"one word each, side by side", 32, 4, 4, 0, LANE_SHARED, 1, 1, false},
    {"all the same word", 32, 4, 0, 0, LANE_SHARED, 1, 1, false},
    {"two words of one bank, shared", 32, 4, 128, 256, LANE_SHARED, 2, 1, true},
    {"every second bank", 32, 4, 8, 0, LANE_SHARED, 2, 1, true},
    {"one bank", 32, 4, 128, 0, LANE_SHARED, 32, 1, true},
    {"halves of words", 32, 2, 2, 0, LANE_STATIC_SHARED, 1, 1, false},
    {"8 bytes: half warps", 32, 8, 8, 0, LANE_SHARED, 2, 2, false},
    {"16 bytes: quarter warps", 32, 16, 16, 0, LANE_SHARED, 4, 4, false},
    {"16 bytes, rows of 128", 32, 16, 128, 0, LANE_SHARED, 32, 4, true},
    {"a few lanes", 3, 16, 16, 0, LANE_SHARED, 1, 1, false},
    {"global: whole sectors", 32, 4, 4, 0, LANE_GLOBAL, 4, 4, false},
    {"global: a sector each", 32, 4, 32, 0, LANE_GLOBAL, 32, 4, false},
};

static void passes_by_hand(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct lane_access a[MOST] = {{0}};
        struct trace *t = trace_new(TRACE_EVENTS);
        struct trace_lanes l;
        struct lane_requests r;
        struct lane_turn turn[REQUEST_LANES];
        struct message why;
        bool conflicts = false;
        for (uint32_t n = 0; n < rows[i].lanes; n++) {
            uint64_t at = (uint64_t)n * rows[i].stride;
            a[n] = (struct lane_access){.thread = n,
                                        .space = rows[i].space,
                                        .bytes = rows[i].bytes,
                                        .time = n,
                                        .offset = rows[i].around > 0 ? at % rows[i].around : at,
                                        .instruction = 1};
        }
        assert_true(trace_set_lanes(t, a, rows[i].lanes, NULL, 0) && trace_lanes(t, &l, &why));
        assert_true(lane_requests_new(&r, &l, -1, &why));
        if (r.count != 1 || r.request[0].passes != rows[i].passes ||
            r.request[0].least != rows[i].least)
            fail_msg("%s: %zu requests, %d passes, %d at least; want 1, %d, %d", rows[i].what,
                     r.count, r.request[0].passes, r.request[0].least, rows[i].passes,
                     rows[i].least);
        request_passes(&l, &r.request[0], turn);
        for (uint32_t n = 0; n < REQUEST_LANES; n++) {
            conflicts = conflicts || turn[n].conflict;
            assert_true((turn[n].pass >= 0) == (n < rows[i].lanes));
        }
        if (rows[i].space != LANE_GLOBAL && conflicts != rows[i].conflicts)
            fail_msg("%s: conflicts are%s told", rows[i].what, conflicts ? "" : " not");
        lane_requests_free(&r);
        trace_free(t);
    }
}

/* Two lanes at one instruction: together, or one before the warp's lanes met and one after. */
static void requests_end_where_lanes_meet(void **unused)
{
    (void)unused;
    for (uint32_t met = 0; met < 2; met++) {
        const struct lane_access a[2] = {
            {.thread = 0, .bytes = 4, .instruction = 1},
            {.thread = 1, .bytes = 4, .time = 1, .offset = 4, .instruction = 1, .met = met}};
        struct trace *t = trace_new(TRACE_EVENTS);
        struct trace_lanes l;
        struct lane_requests r;
        struct message why;
        assert_true(trace_set_lanes(t, a, 2, NULL, 0) && trace_lanes(t, &l, &why));
        assert_true(lane_requests_new(&r, &l, 0, &why));
        assert_int_equal(r.count, met + 1);
        lane_requests_free(&r);
        assert_true(lane_requests_new(&r, &l, 1, &why)); /* another block's */
        assert_int_equal(r.count, 0);
        lane_requests_free(&r);
        trace_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_by_hand),
                                       cmocka_unit_test(requests_end_where_lanes_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
