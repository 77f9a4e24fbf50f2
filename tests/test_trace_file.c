/* test_trace_file.c: the container: its bytes, what survives a round trip, what is refused.

   trace_data.h states the bytes; here they are read and damaged by trace_bytes.h, not by the code
   under test. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "reference/tensor.h"
#include "simulator/arith.h"
#include "tests/trace_bytes.h"

struct file {
    unsigned char *bytes;
    size_t size;
};

static char path[] = "/tmp/flashulp-trace-XXXXXX";

static struct file written(const struct trace *t)
{
    struct file f = {NULL, 0};
    struct message why = {""};
    if (!trace_write(t, path, true, &why) || !file_read(path, 1 << 28, &f.bytes, &f.size, &why))
        fail_msg("%s", why.text);
    return f;
}

static struct trace *parsed(struct file f)
{
    struct message why = {""};
    struct trace *t = trace_parse(f.bytes, f.size, &why);
    if (t == NULL)
        fail_msg("refused: %s", why.text);
    return t;
}

static struct event numbered_event(uint32_t n)
{
    struct event e;
    memset(&e, 0, sizeof e);
    e.step = n % STEP_COUNT, e.tensor = n % TENSOR_COUNT, e.site = n % (SITE_COUNT + 1);
    e.format = n % FORMAT_COUNT;
    e.batch = 0x01020304 + n, e.head = 0x11121314 + n, e.block = 0x21222324 + n;
    e.warp = 0x31323334 + n, e.sm = 0x41424344 + n, e.split = 0x51525354 + n;
    e.i = 0x61626364 + n, e.j = 0xF1F2F3F4 + n;
    e.flags = EVENT_HAS_TWIN, e.time = 0x0102030405060708 + n, e.bytes = 0xF1F2F3F4F5F6F7F8 + n;
    e.max_abs = 1.5 + n, e.local = -0.1, e.inherited = 1e300;
    return e;
}

/* Events with everything (0), floats only (1), doubles (2), intervals only (3), nothing (4). */
static struct trace *full_trace(void)
{
    static const double floats[6] = {1, -0.0, NAN, INFINITY, -INFINITY, 1.401298464324817e-45};
    static const double doubles[6] = {0.1, 5e-324, NAN, INFINITY, 1.7976931348623157e308, -0.0};
    static const double exact[6][2] = {
        {1, 1e-20}, {-0.0, 0}, {NAN, NAN}, {INFINITY, 0}, {0.1, 1e-18}};
    static const int lo[2] = {0, 2}, hi[2] = {3, 2};
    struct trace *t = trace_new(TRACE_VALUES);
    for (uint32_t n = 0; n < 5; n++) {
        struct event e = numbered_event(n);
        e.rows = 2, e.cols = 3, e.worst = 5;
        trace_append(t, &e,
                     n < 2    ? floats
                     : n == 2 ? doubles
                              : NULL,
                     n == 0 || n == 2 ? exact : NULL, n == 0 || n == 3 ? lo : NULL, hi);
    }
    trace_set_meta(t, "command", "flashulp walk \\n = \"fa2-4\"\nsecond line\\");
    trace_set_meta(t, "empty", "");
    return t;
}

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, bytes) == 0);
}

static void assert_same_trace(const struct trace *a, const struct trace *b)
{
    assert_int_equal(trace_detail(a), trace_detail(b));
    assert_int_equal(trace_count(a), trace_count(b));
    for (size_t n = 0; n < trace_count(a); n++) {
        const struct event *e = trace_event(a, n);
        size_t count = (size_t)e->rows * e->cols;
        assert_memory_equal(e, trace_event(b, n), sizeof *e);
        assert_true(same_bits(trace_values(a, n), trace_values(b, n), count * sizeof(double)));
        assert_true(same_bits(trace_exact(a, n), trace_exact(b, n), count * 2 * sizeof(double)));
        assert_true(
            same_bits(trace_intervals(a, n), trace_intervals(b, n), e->rows * 2 * sizeof(int)));
    }
}

static void test_crc(void **state)
{
    (void)state;
    assert_int_equal(crc32_ieee(0, "123456789", 9), 0xCBF43926);
    static unsigned char many[10007]; /* eight bytes at a time is the same as few */
    uint32_t crc = 0;
    for (size_t i = 0; i < sizeof many; i++)
        many[i] = (unsigned char)(i * i / 7);
    for (size_t i = 0; i < sizeof many; i += 1001)
        crc = crc32_ieee(crc, many + i, sizeof many - i < 1001 ? sizeof many - i : 1001);
    assert_int_equal(crc32_ieee(0, many, sizeof many), crc);
}

/* The bytes as trace_data.h states them, on any machine. */
static void test_bytes(void **state)
{
    static const unsigned char header[] = {'U', 'L', 'P', 'T', 'R', 'A', 'C', 'E', 1, 0, 1, 0};
    static const unsigned char event[] = {
        1,    0,    0,    0,    1,    0,    0,    0,    1,    0,    0,    0,    1,    0,    0,
        0,    5,    3,    2,    1,    0x15, 0x13, 0x12, 0x11, 0x25, 0x23, 0x22, 0x21, 0x35, 0x33,
        0x32, 0x31, 0x45, 0x43, 0x42, 0x41, 0x55, 0x53, 0x52, 0x51, 0x65, 0x63, 0x62, 0x61, 0xF5,
        0xF3, 0xF2, 0xF1, 2,    0,    0,    0,    3,    0,    0,    0,    8,    0,    0,    0,
        5,    0,    0,    0,    9,    7,    6,    5,    4,    3,    2,    1,    0xF9, 0xF7, 0xF6,
        0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0,    0,    0,    0,    0,    0,    4,    0x40, 0x9A, 0x99,
        0x99, 0x99, 0x99, 0x99, 0xB9, 0xBF, 0x9C, 0x75, 0,    0x88, 0x3C, 0xE4, 0x37, 0x7E};
    static const unsigned char floats[] = {1,    0,    0,    0, 0, 0,    0,    0, 3,    0,    0,
                                           0,    6,    0,    0, 0, 0,    0,    0, 0,    0,    0,
                                           0x80, 0x3F, 0,    0, 0, 0x80, 0,    0, 0xC0, 0x7F, 0,
                                           0,    0x80, 0x7F, 0, 0, 0x80, 0xFF, 1, 0,    0,    0};
    static const char meta[] =
        "command = flashulp walk \\\\n = \"fa2-4\"\\nsecond line\\\\\nempty = \n";
    struct trace *t = full_trace();
    struct file f = written(t);
    (void)state;
    assert_memory_equal(f.bytes, header, sizeof header);
    size_t at = chunk_at(f.bytes, f.size, "META");
    assert_int_equal(at, 16);
    assert_int_equal(bytes_get(f.bytes + at + 4, 8), sizeof meta - 1);
    assert_memory_equal(f.bytes + at + 12, meta, sizeof meta - 1);
    at = chunk_at(f.bytes, f.size, "EVNT") + 12;
    assert_int_equal(bytes_get(f.bytes + at, 4), sizeof event);
    assert_int_equal(bytes_get(f.bytes + at + 4, 4), TRACE_VALUES);
    assert_int_equal(bytes_get(f.bytes + at + 8, 8), 5);
    assert_memory_equal(f.bytes + at + 16 + sizeof event, event, sizeof event);
    /* behind record 0: 20 bytes of head, 6 floats, 4 interval ends */
    at = chunk_at(f.bytes, f.size, "SNAP") + 12 + 8 + 20 + 24 + 16;
    assert_memory_equal(f.bytes + at, floats, sizeof floats);
    free(f.bytes);
    trace_free(t);
}

static void test_round_trip(void **state)
{
    struct trace *t = full_trace();
    struct file f = written(t);
    struct trace *back = parsed(f);
    struct file again = written(back);
    (void)state;
    assert_same_trace(t, back);
    assert_string_equal(trace_meta(back, "command"), trace_meta(t, "command"));
    assert_string_equal(trace_meta(back, "empty"), "");
    assert_int_equal(again.size, f.size);
    assert_memory_equal(again.bytes, f.bytes, f.size);
    free(f.bytes);
    free(again.bytes);
    trace_free(t);
    trace_free(back);
}

static size_t size_of(size_t events, enum trace_detail detail, double value)
{
    struct trace *t = trace_new(detail);
    for (size_t n = 0; n < events; n++) {
        double values[64];
        struct event e = numbered_event((uint32_t)n);
        e.rows = e.cols = 8;
        for (int i = 0; i < 64; i++)
            values[i] = value;
        trace_append(t, &e, values, NULL, NULL, NULL);
    }
    struct file f = written(t);
    struct trace *back = parsed(f);
    assert_same_trace(t, back);
    trace_free(back);
    trace_free(t);
    free(f.bytes);
    return f.size;
}

/* Bytes per event: linear, and what trace_data.h says. */
static void test_size(void **state)
{
    static const struct {
        enum trace_detail detail;
        double value;
        size_t per_event;
    } rows[] = {
        {TRACE_EVENTS, 1, 104},
        {TRACE_STATS, 1, 104},
        {TRACE_VALUES, 1, 104 + 20 + 64 * 4},
        {TRACE_VALUES, 0.1, 104 + 20 + 64 * 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t one = size_of(1, rows[i].detail, rows[i].value);
        assert_int_equal(size_of(1001, rows[i].detail, rows[i].value) - one,
                         1000 * rows[i].per_event);
    }
}

static void replace_text(struct file f, const char *from, const char *to)
{
    size_t n = strlen(from);
    for (size_t i = chunk_at(f.bytes, f.size, "STRS"); i + n <= f.size; i++)
        if (memcmp(f.bytes + i, from, n) == 0) {
            memcpy(f.bytes + i, to, n);
            return;
        }
    fail_msg("no %s in the file", from);
}

/* A file of a build whose tables differ: names decide, and an unknown one is kept. */
static void test_other_tables(void **state)
{
    struct trace *t = trace_new(TRACE_EVENTS);
    static const uint32_t steps[] = {STEP_ROW_MAX, STEP_ROW_SUM, STEP_RESCALE, STEP_STORE};
    (void)state;
    for (size_t n = 0; n < 4; n++) {
        struct event e = numbered_event(0);
        e.step = steps[n];
        trace_append(t, &e, NULL, NULL, NULL, NULL);
    }
    struct file f = written(t);
    replace_text(f, "ROW_MAX", "x------"); /* ROW_MAX and ROW_SUM swap numbers */
    replace_text(f, "ROW_SUM", "ROW_MAX");
    replace_text(f, "x------", "ROW_SUM");
    replace_text(f, "RESCALE", "NEWNAME");
    repair(f.bytes, f.size);
    struct trace *back = parsed(f);
    struct file again = written(back);
    struct trace *twice = parsed(again);
    static const uint32_t expected[] = {STEP_ROW_SUM, STEP_ROW_MAX, STEP_COUNT, STEP_STORE};
    static const char *const names[] = {"ROW_SUM", "ROW_MAX", "NEWNAME", "STORE"};
    for (size_t n = 0; n < 4; n++) {
        assert_int_equal(trace_event(back, n)->step, expected[n]);
        assert_int_equal(trace_event(twice, n)->step, expected[n]);
        assert_string_equal(trace_name(twice, TRACE_STEPS, expected[n]), names[n]);
    }
    free(f.bytes);
    free(again.bytes);
    trace_free(t);
    trace_free(back);
    trace_free(twice);
}

/* The file with a chunk (already repaired by the caller's repair()) put before chunk `before`. */
static struct file with_chunk(struct file f, const char *before, const char *tag, const void *bytes,
                              size_t count)
{
    size_t at = chunk_at(f.bytes, f.size, before);
    struct file g = {malloc(f.size + count + 16), f.size + count + 16};
    memcpy(g.bytes, f.bytes, at);
    memcpy(g.bytes + at, tag, 4);
    bytes_put(g.bytes + at + 4, 8, count);
    memcpy(g.bytes + at + 12, bytes, count);
    memcpy(g.bytes + at + 16 + count, f.bytes + at, f.size - at);
    repair(g.bytes, g.size);
    return g;
}

/* Chunks of others: unknown ones are skipped, LANE and AUDT are written back as they were. */
static void test_foreign_chunks(void **state)
{
    struct trace *t = full_trace();
    struct file plain = written(t);
    struct file a = with_chunk(plain, "TEND", "LANE", "\0lane\xff", 6);
    struct file b = with_chunk(a, "TEND", "AUDT", "", 0);
    struct file c = with_chunk(b, "EVNT", "WHAT", "future", 6);
    struct trace *back = parsed(c);
    struct file again = written(back);
    (void)state;
    assert_same_trace(t, back);
    assert_int_equal(again.size, b.size);
    assert_memory_equal(again.bytes, b.bytes, b.size);
    free(plain.bytes), free(a.bytes), free(b.bytes), free(c.bytes), free(again.bytes);
    trace_free(t);
    trace_free(back);
}

/* A later minor version: longer event records, a fifth table of names. */
static void test_later_minor(void **state)
{
    struct trace *t = trace_new(TRACE_EVENTS);
    struct event e = numbered_event(3);
    unsigned char events[16 + 2 * 112] = {0};
    (void)state;
    trace_append(t, &e, NULL, NULL, NULL, NULL);
    trace_append(t, &e, NULL, NULL, NULL, NULL);
    struct file f = written(t);
    size_t at = chunk_at(f.bytes, f.size, "EVNT");
    memcpy(events, f.bytes + at + 12, 16);
    bytes_put(events, 4, 112);
    for (size_t n = 0; n < 2; n++)
        memcpy(events + 16 + n * 112, f.bytes + at + 28 + n * 104, 104);
    memcpy(f.bytes + at, "OLDE", 4);
    struct file g = with_chunk(f, "TEND", "EVNT", events, sizeof events);
    bytes_put(g.bytes + 10, 2, 7);
    bytes_put(g.bytes + chunk_at(g.bytes, g.size, "STRS") + 12, 4, 5);
    repair(g.bytes, g.size);
    struct trace *back = parsed(g);
    assert_same_trace(t, back);
    free(f.bytes), free(g.bytes);
    trace_free(t);
    trace_free(back);
}

static void test_paths(void **state)
{
    struct trace *t = full_trace();
    struct file f = written(t);
    struct message why;
    char expected[256];
    (void)state;
    assert_false(trace_write(t, path, false, &why));
    snprintf(expected, sizeof expected, "%s exists; give --force to replace it", path);
    assert_string_equal(why.text, expected);
    assert_null(trace_read("/tmp/flashulp-no-such.trace", &why));
    assert_string_equal(why.text, "/tmp/flashulp-no-such.trace: no such file");
    struct trace *back = trace_read(path, &why);
    assert_non_null(back);
    assert_same_trace(t, back);
    trace_free(back);
    assert_int_equal(truncate(path, 3), 0);
    assert_null(trace_read(path, &why));
    snprintf(expected, sizeof expected, "%s: cut short: the header has 16 bytes, the file 3", path);
    assert_string_equal(why.text, expected);
    free(f.bytes);
    trace_free(t);
}

static int set_up(void **state)
{
    int fd = mkstemp(path);
    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),         cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_size),
        cmocka_unit_test(test_paths),       cmocka_unit_test(test_other_tables),
        cmocka_unit_test(test_later_minor), cmocka_unit_test(test_foreign_chunks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
