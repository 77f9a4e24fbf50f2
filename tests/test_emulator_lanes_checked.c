/* test_emulator_lanes_checked.c: what an emulated kernel leaves in a trace: the accesses, which
   lane, what, where, on which line; waits at barriers; what the detector found; the requests that
   accesses make up, against the emulator's own counts; kept through a file; a damaged chunk is
   refused in a sentence. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "simulator/requests.h"
#include "simulator/trace_data.h"
#include "simulator/trace_sync.h"
#include "tests/emulated/bug_case.h"

void run_copy_and_load(uint32_t *out, const uint16_t *in, int swizzle, int kind);

static struct trace *trace_of(const char *kernel, size_t most)
{
    struct emulator_options options = emulator_defaults();
    options.most_lane_accesses = most;
    options.detector = options.statistics = true;
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
        const uint64_t shared = trace_lane(l, 0).offset;
        const struct {
            uint32_t verb, space, line;
            uint64_t offset;
        } want[3] = {{LANE_WRITES, LANE_STATIC_SHARED, (uint32_t)other, shared + 4 * lane},
                     {LANE_READS, LANE_STATIC_SHARED, (uint32_t)line, shared + 4 * neighbour},
                     {LANE_WRITES, LANE_GLOBAL, (uint32_t)line, 4 * lane}};
        assert_int_equal(a.block + a.met + a.products, 0);
        assert_int_equal(a.thread, lane);
        assert_int_equal(a.verb, want[n % 3].verb);
        assert_int_equal(a.space, want[n % 3].space);
        assert_int_equal(a.bytes, 4);
        assert_int_equal(a.time, n);
        assert_int_equal(a.offset, want[n % 3].offset);
        assert_int_equal(a.instruction, trace_lane(l, n % 3).instruction);
        assert_int_not_equal(a.instruction, trace_lane(l, (n + 1) % 3).instruction);
        if (has_line_numbers())
            assert_int_equal(a.line, want[n % 3].line);
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

static struct trace_sync sync_of(const struct trace *t)
{
    struct trace_sync s;
    struct message why;
    if (!trace_sync(t, &s, &why))
        fail_msg("%s", why.text);
    return s;
}

/* Four warps meet once; then seven halves of the block read what others write. */
static void check_barrier_kernel(const struct trace *t)
{
    struct trace_sync s = sync_of(t);
    assert_int_equal(s.waits, 4);
    for (size_t n = 0; n < s.waits; n++) {
        struct sync_wait w = trace_wait(&s, n);
        assert_int_equal(w.warp, n);
        assert_int_equal(w.barrier, 0);
        assert_int_equal(w.lanes, UINT32_MAX);
        assert_int_equal(w.arrived, 32 * (n + 1)); /* every thread has written once */
        assert_int_equal(w.released, 128);
        assert_int_equal(w.line, line_of("missing_barrier", "") - 3);
    }
    struct trace_lanes l = lanes_of(t);
    assert_in_range(s.findings, 1, 8);
    bool found = false;
    for (size_t n = 0; n < s.findings; n++) {
        struct sync_finding f = trace_finding(&s, n);
        size_t length;
        const char *meaning = trace_sync_name(&s, f.meaning, &length);
        assert_int_equal(length, strlen(emulator_fault_meaning(FAULT_RACE)));
        assert_memory_equal(meaning, emulator_fault_meaning(FAULT_RACE), length);
        assert_int_equal(f.flags, SYNC_OTHER | SYNC_SAME_BLOCK);
        assert_int_not_equal(f.thread, f.other_thread);
        assert_true(f.verb == LANE_WRITES || f.other_verb == LANE_WRITES);
        assert_in_range(f.time, 128, l.count - 1);
        struct lane_access a = trace_lane(&l, (size_t)f.time); /* the one that was judged */
        assert_int_equal(a.thread, f.thread);
        assert_int_equal(a.verb, f.verb);
        assert_int_equal(a.offset, f.offset);
        found =
            found || (f.line == (uint32_t)line_of("missing_barrier", "") && f.other_line == f.line);
    }
    assert_true(found || !has_line_numbers());
}

static void waits_and_findings_are_kept(void **state)
{
    char path[] = "/tmp/flashulp-lanes-XXXXXX";
    struct message why;
    (void)state;
    struct trace *t = trace_of("missing_barrier", 1000);
    check_barrier_kernel(t);
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_true(trace_write(t, path, true, &why));
    trace_free(t);
    t = trace_read(path, &why);
    unlink(path);
    assert_non_null(t);
    check_barrier_kernel(t);
    trace_free(t);
}

struct cost {
    uint64_t lanes, passes, least, requests, sectors; /* requests, sectors: of global memory */
};

/* Writes of copies pass over the banks, too; the emulator does not count them. */
static struct cost cost_of(const struct trace *t, bool without_copies)
{
    struct trace_lanes l = lanes_of(t);
    struct lane_requests r;
    struct message why;
    struct cost sum = {0};
    assert_true(lane_requests_new(&r, &l, -1, &why));
    for (size_t n = 0; n < r.count; n++) {
        const struct lane_request *q = &r.request[n];
        bool global = q->first.space == LANE_GLOBAL;
        bool counted = !global && !(without_copies && q->first.verb == LANE_WRITES);
        sum.lanes += (uint64_t)__builtin_popcount(q->lanes);
        sum.requests += global;
        sum.sectors += global ? (uint64_t)q->passes : 0;
        sum.passes += counted ? (uint64_t)q->passes : 0;
        sum.least += counted ? (uint64_t)q->least : 0;
    }
    assert_int_equal(sum.lanes, l.count);
    lane_requests_free(&r);
    return sum;
}

static void requests_cost_what_was_counted(void **state)
{
    static const char *const kernels[] = {"missing_syncwarp", "missing_barrier", "uninitialised",
                                          "blocks_add", "copy_in_flight"};
    (void)state;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        struct trace *t = trace_of(kernels[k], 100000);
        struct cost sum = cost_of(t, k == 4);
        const struct emulator_counters *c = emulator_counters();
        if (sum.passes != c->shared_passes || sum.least != c->shared_ideal ||
            (k < 4 && (sum.requests != c->global_requests || sum.sectors != c->global_sectors)))
            fail_msg("%s: %" PRIu64 " passes (%" PRIu64 " at least), %" PRIu64
                     " global requests of %" PRIu64 " sectors; counted %" PRIu64 ", %" PRIu64
                     ", %" PRIu64 ", %" PRIu64,
                     kernels[k], sum.passes, sum.least, sum.requests, sum.sectors, c->shared_passes,
                     c->shared_ideal, c->global_requests, c->global_sectors);
        trace_free(t);
    }
}

/* Rows of a tile, swizzled and not: no conflict, and eight rows in the same banks. */
static void matrices_cost_what_was_counted(void **state)
{
    static const uint16_t tile[32 * 64];
    uint16_t *in = dev_alloc(sizeof tile);
    uint32_t *out = dev_alloc(32 * 16);
    (void)state;
    dev_copy_in(in, tile, sizeof tile);
    for (int kind = 0; kind < 4; kind++)
        for (int swizzle = 0; swizzle < 2; swizzle++) {
            struct emulator_options options = emulator_defaults();
            options.most_lane_accesses = 10000;
            options.statistics = true;
            emulator_configure(&options);
            emulator_reset();
            run_copy_and_load(out, in, swizzle, kind);
            struct trace *t = trace_new(TRACE_EVENTS);
            assert_true(emulator_lanes(t));
            struct cost sum = cost_of(t, true);
            assert_int_equal(emulator_counters()->ldmatrix_passes,
                             (kind < 2 ? 4 : 2) * (swizzle ? 1 : 8));
            assert_int_equal(sum.passes, emulator_counters()->ldmatrix_passes);
            assert_int_equal(sum.least, emulator_counters()->ldmatrix_ideal);
            trace_free(t);
        }
    dev_free(in);
    dev_free(out);
}

static bool reads(const struct trace *t, enum trace_carried which, struct message *why)
{
    struct trace_lanes l;
    struct trace_sync s;
    if (which == CARRIED_LANE) {
        bool ok = trace_lanes(t, &l, why);
        for (size_t n = 0; ok && n < l.count; n++)
            assert_true(trace_lane(&l, n).verb < LANE_VERBS);
        return ok;
    }
    bool ok = trace_sync(t, &s, why);
    for (size_t n = 0; ok && n < s.waits; n++) {
        struct sync_wait w = trace_wait(&s, n);
        assert_true(w.warp < 32 && (w.line == 0 || w.file < s.names));
    }
    for (size_t n = 0; ok && n < s.findings; n++) {
        struct sync_finding f = trace_finding(&s, n);
        assert_true(f.meaning < s.names && f.verb < LANE_VERBS && f.other_verb < LANE_VERBS);
        assert_true((f.line == 0 || f.file < s.names) &&
                    (f.other_line == 0 || f.other_file < s.names));
    }
    return ok;
}

/* Each byte of the chunk changed, and it cut at each length: read or refused, never more. */
static void check_damage(const char *kernel, size_t most, enum trace_carried which, const char *tag)
{
    struct message why;
    struct trace *t = trace_of(kernel, most);
    struct carried *c = &t->carried[which];
    size_t whole = c->size;
    for (c->size = 0; c->size < whole; c->size++) {
        unsigned char *bytes = c->bytes, *tight = malloc(c->size + !c->size);
        memcpy(tight, bytes, c->size);
        c->bytes = tight;
        assert_false(reads(t, which, &why));
        assert_ptr_equal(strstr(why.text, tag), why.text);
        c->bytes = bytes;
        free(tight);
    }
    for (size_t i = 0; i < whole; i++)
        for (int bit = 0; bit < 8; bit++) {
            c->bytes[i] ^= (unsigned char)(1 << bit);
            reads(t, which, &why);
            c->bytes[i] ^= (unsigned char)(1 << bit);
        }
    trace_free(t);
}

static void damage_is_refused(void **state)
{
    (void)state;
    check_damage("missing_syncwarp", 3, CARRIED_LANE, "LANE: ");
    check_damage("missing_barrier", 5, CARRIED_SYNC, "SYNC: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accesses_are_kept_with_their_lines),
                                       cmocka_unit_test(no_more_than_asked_are_kept),
                                       cmocka_unit_test(waits_and_findings_are_kept),
                                       cmocka_unit_test(requests_cost_what_was_counted),
                                       cmocka_unit_test(matrices_cost_what_was_counted),
                                       cmocka_unit_test(damage_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
