/* test_emulator_lanes_checked.c: the accesses that an emulated kernel leaves in a trace: which
   lane, what, where, on which line; kept through a file; a damaged chunk is refused in a
   sentence. */
#include <stdlib.h>
#include <unistd.h>

#include "simulator/trace_data.h"
#include "simulator/trace_lanes.h"
#include "tests/emulated/bug_case.h"

static struct trace *trace_of(const char *kernel, size_t most)
{
    struct emulator_options options = emulator_defaults();
    options.most_lane_accesses = most;
    emulator_configure(&options);
    launch_bug(kernel);
    struct trace *t = trace_new(TRACE_EVENTS);
    assert_non_null(t);
    assert_true(emulator_lanes(t));
    return t;
}

static struct trace_lanes lanes_of(const struct trace *t)
{
    struct trace_lanes l;
    struct message why;
    if (!trace_lanes(t, &l, &why))
        fail_msg("%s", why.text);
    return l;
}

/* Every lane writes 4 bytes of shared memory, then reads its neighbour's and writes global ones. */
static void check_syncwarp_kernel(const struct trace_lanes *l)
{
    int line = line_of("missing_syncwarp", ""), other = line_of("missing_syncwarp", "_OTHER");
    assert_int_equal(l->count, 96);
    for (size_t n = 0; n < l->count; n++) {
        struct lane_access a = trace_lane(l, n);
        const uint32_t lane = (uint32_t)(n / 3), neighbour = lane ^ 1;
        const struct lane_access want[3] = {
            {0, lane, LANE_WRITES, LANE_STATIC_SHARED, 0, 4, a.file, (uint32_t)other, n, 0},
            {0, lane, LANE_READS, LANE_STATIC_SHARED, 0, 4, a.file, (uint32_t)line, n, 0},
            {0, lane, LANE_WRITES, LANE_GLOBAL, a.piece, 4, a.file, (uint32_t)line, n, 4 * lane}};
        struct lane_access first = trace_lane(l, 0), expected = want[n % 3];
        if (n % 3 < 2)
            expected.offset = first.offset + 4 * (n % 3 == 0 ? lane : neighbour);
        if (!has_line_numbers())
            expected.line = a.line;
        assert_memory_equal(&a, &expected, sizeof a);
    }
    size_t length;
    if (has_line_numbers()) {
        const char *name = trace_lane_file(l, 0, &length);
        assert_int_equal(length, strlen(BUGS_FILE));
        assert_memory_equal(name, BUGS_FILE, length);
    }
}

static void accesses_are_kept_with_their_lines(void **state)
{
    char path[] = "/tmp/flashulp-lanes-XXXXXX";
    struct message why;
    (void)state;
    struct trace *t = trace_of("missing_syncwarp", 1000);
    struct trace_lanes l = lanes_of(t);
    check_syncwarp_kernel(&l);
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_true(trace_write(t, path, true, &why));
    trace_free(t);
    t = trace_read(path, &why);
    unlink(path);
    assert_non_null(t);
    l = lanes_of(t);
    check_syncwarp_kernel(&l);
    trace_free(t);
}

static void no_more_than_asked_are_kept(void **state)
{
    (void)state;
    struct trace *t = trace_of("missing_syncwarp", 10);
    assert_int_equal(lanes_of(t).count, 10);
    assert_int_equal(emulator_counters()->lane_accesses, 96);
    trace_free(t);
    t = trace_of("missing_syncwarp", 0);
    assert_int_equal(lanes_of(t).count, 0);
    trace_free(t);
}

/* Each byte of the head changed, and the chunk cut at each length: read or refused, never more. */
static void damage_is_refused(void **state)
{
    struct trace_lanes l;
    struct message why;
    (void)state;
    struct trace *t = trace_of("missing_syncwarp", 3);
    struct carried *c = &t->carried[CARRIED_LANE];
    size_t whole = c->size;
    for (c->size = 0; c->size < whole; c->size++) {
        unsigned char *bytes = c->bytes, *tight = malloc(c->size + !c->size);
        memcpy(tight, bytes, c->size);
        c->bytes = tight;
        assert_false(trace_lanes(t, &l, &why));
        assert_ptr_equal(strstr(why.text, "LANE: "), why.text);
        c->bytes = bytes;
        free(tight);
    }
    for (size_t i = 0; i < whole; i++)
        for (int bit = 0; bit < 8; bit++) {
            c->bytes[i] ^= (unsigned char)(1 << bit);
            if (trace_lanes(t, &l, &why))
                for (size_t n = 0; n < l.count; n++)
                    assert_true(trace_lane(&l, n).verb < LANE_VERBS);
            c->bytes[i] ^= (unsigned char)(1 << bit);
        }
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accesses_are_kept_with_their_lines),
                                       cmocka_unit_test(no_more_than_asked_are_kept),
                                       cmocka_unit_test(damage_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
