/* test_trace_text.c: a trace's dump, compared whole; its Perfetto export, read back by cJSON. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference/tensor.h"
#include "simulator/arith.h"
#include "simulator/trace.h"

/* Two heads, two splits, times, every kind of drift: what the dump and Perfetto must show. */
static struct trace *small_trace(enum trace_detail detail, bool timed)
{
    static const struct {
        uint32_t step, tensor, head, split, block, j, rows, cols, flags, time;
        double max_abs, local, inherited;
    } rows[] = {
        {STEP_QK, TENSOR_S, 0, 0, 0, 0, 64, 128, EVENT_HAS_TWIN, 0, 12.25, 0.4567, -0.5},
        {STEP_SCORE_STORE, TENSOR_S, 0, 0, 0, 1, 64, 128, EVENT_HAS_TWIN | EVENT_UNCHANGED, 3,
         1e-38, 0, 123456},
        {STEP_PV, TENSOR_O_ACC, 1, 0, 2, 1, 64, 8, EVENT_HAS_TWIN | EVENT_DIFFERENT_KIND, 5,
         INFINITY, NAN, INFINITY},
        {STEP_LSE, TENSOR_LSE, 0, 0, 0, 1, 64, 1, 0, 10, NAN, 0, 0},
        {STEP_COMBINE, TENSOR_O, 0, 3, 0, 1, 1, 8, EVENT_HAS_TWIN, 12, 3.4401896, -1e-5, -INFINITY},
    };
    struct trace *t = trace_new(detail);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct event e;
        memset(&e, 0, sizeof e);
        e.step = rows[i].step, e.tensor = rows[i].tensor, e.head = rows[i].head;
        e.split = rows[i].split, e.block = rows[i].block, e.j = rows[i].j, e.i = 7;
        e.rows = rows[i].rows, e.cols = rows[i].cols, e.flags = rows[i].flags;
        e.time = timed ? rows[i].time : 0;
        e.max_abs = rows[i].max_abs, e.local = rows[i].local, e.inherited = rows[i].inherited;
        trace_append(t, &e, NULL, NULL, NULL, NULL);
    }
    trace_set_meta(t, "command", "walk \"x\"\n\x1b[1m");
    return t;
}

static const char dump_stats[] =
    "# command = walk \"x\"??[1m\n"
    "#  n step        arr           shape      max |x|     local inherited\n"
    "   0 QK          S   h0 s0 j0 64x128        12.25    +0.457      -0.5\n"
    "   1 SCORE_STORE S   h0 s0 j1 64x128        1e-38         0 +1.23e+05 =\n"
    "   2 PV          O~  h1 s0 j1   64x8          inf       nan      +inf !\n"
    "   3 LSE         L   h0 s0 j1   64x1          nan         -         -\n"
    "   4 COMBINE     O   h0 s3 j1    1x8      3.44019    -1e-05      -inf\n";
static const char dump_events[] =
    "# command = walk \"x\"??[1m\n"
    "#  n step        arr           shape      max |x|     local inherited\n"
    "   0 QK          S   h0 s0 j0 64x128            -    +0.457      -0.5\n"
    "   1 SCORE_STORE S   h0 s0 j1 64x128            -         0 +1.23e+05 =\n"
    "   2 PV          O~  h1 s0 j1   64x8            -       nan      +inf !\n"
    "   3 LSE         L   h0 s0 j1   64x1            -         -         -\n"
    "   4 COMBINE     O   h0 s3 j1    1x8            -    -1e-05      -inf\n";
static const char dump_empty[] = "#  n step        arr shape      max |x|     local inherited\n";

static void check_dump(const struct trace *t, const char *expected)
{
    char got[4096];
    FILE *f = tmpfile();
    assert_non_null(f);
    trace_dump(t, f);
    rewind(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, expected);
}

static void test_dump(void **state)
{
    (void)state;
    struct trace *stats = small_trace(TRACE_STATS, true), *events = small_trace(TRACE_EVENTS, true);
    struct trace *empty = trace_new(TRACE_STATS);
    check_dump(stats, dump_stats);
    check_dump(events, dump_events);
    check_dump(empty, dump_empty);
    trace_free(stats);
    trace_free(events);
    trace_free(empty);
}

static cJSON *perfetto(const struct trace *t)
{
    char path[] = "/tmp/flashulp-perfetto-XXXXXX";
    struct message why = {""};
    unsigned char *bytes;
    size_t size;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_false(trace_write_perfetto(t, path, false, &why)); /* exists */
    assert_true(trace_write_perfetto(t, path, true, &why));
    assert_true(file_read(path, 1 << 20, &bytes, &size, &why));
    cJSON *json = cJSON_ParseWithLengthOpts((const char *)bytes, size + 1, NULL, true);
    assert_non_null(json);
    free(bytes);
    unlink(path);
    return json;
}

static const cJSON *item(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (found == NULL)
        fail_msg("no %s in the JSON", key);
    return found;
}

/* "process/thread" of the track, by the metadata's names. */
static void track_name(const cJSON *events, const cJSON *slice, char text[80])
{
    const cJSON *e;
    char process[40] = "", thread[40] = "";
    cJSON_ArrayForEach(e, events)
    {
        if (item(e, "ph")->valuestring[0] != 'M' ||
            item(e, "pid")->valueint != item(slice, "pid")->valueint)
            continue;
        const char *name = item(item(e, "args"), "name")->valuestring;
        if (strcmp(item(e, "name")->valuestring, "process_name") == 0)
            snprintf(process, sizeof process, "%s", name);
        else if (item(e, "tid")->valueint == item(slice, "tid")->valueint)
            snprintf(thread, sizeof thread, "%s", name);
    }
    snprintf(text, 80, "%s/%s", process, thread);
}

struct slice {
    const char *name, *tensor, *track, *local, *inherited, *max_abs;
    int ts, dur, i, j;
};
static const struct slice timed_slices[] = {
    {"QK", "S", "batch 0 head 0/split 0 block 0", "0.45669999999999999", "-0.5", "12.25", 0, 3, 7,
     0},
    {"SCORE_STORE", "S", "batch 0 head 0/split 0 block 0", "0", "123456", "9.9999999999999996e-39",
     3, 7, 7, 1},
    {"PV", "O~", "batch 0 head 1/split 0 block 2", "\"nan\"", "\"inf\"", "\"inf\"", 5, 1, 7, 1},
    {"LSE", "L", "batch 0 head 0/split 0 block 0", NULL, NULL, "\"nan\"", 10, 1, 7, 1},
    {"COMBINE", "O", "batch 0 head 0/split 3 block 0", "-1.0000000000000001e-05", "\"-inf\"",
     "3.4401896", 12, 1, 7, 1},
};

static void check_number(const cJSON *args, const char *key, const char *expected)
{
    const cJSON *got = cJSON_GetObjectItemCaseSensitive(args, key);
    if (expected == NULL) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    if (expected[0] == '"')
        assert_memory_equal(got->valuestring, expected + 1, strlen(expected) - 2);
    else
        assert_true(cJSON_IsNumber(got) && got->valuedouble == strtod(expected, NULL));
}

static void check_slice(const cJSON *events, const cJSON *e, bool timed)
{
    char track[80];
    const cJSON *args = item(e, "args");
    int n = item(args, "event")->valueint;
    const struct slice *s = &timed_slices[n];
    track_name(events, e, track);
    assert_string_equal(item(e, "name")->valuestring, s->name);
    assert_string_equal(item(args, "tensor")->valuestring, s->tensor);
    assert_string_equal(track, s->track);
    assert_int_equal(item(e, "ts")->valueint, timed ? s->ts : n);
    assert_int_equal(item(e, "dur")->valueint, timed ? s->dur : 1);
    assert_int_equal(item(args, "i")->valueint, s->i);
    assert_int_equal(item(args, "j")->valueint, s->j);
    check_number(args, "local", s->local);
    check_number(args, "inherited", s->inherited);
    check_number(args, "max_abs", s->max_abs);
}

static void test_perfetto(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct trace *t = small_trace(TRACE_STATS, timed != 0);
        cJSON *json = perfetto(t);
        const cJSON *events = item(json, "traceEvents"), *e;
        int slices = 0, names = 0;
        cJSON_ArrayForEach(e, events)
        {
            bool slice = item(e, "ph")->valuestring[0] == 'X';
            slices += slice;
            names += !slice;
            if (slice)
                check_slice(events, e, timed != 0);
        }
        assert_int_equal(slices, 5);
        assert_int_equal(names, 2 + 3); /* heads, tracks */
        assert_string_equal(item(item(json, "otherData"), "command")->valuestring,
                            trace_meta(t, "command"));
        cJSON_Delete(json);
        trace_free(t);
    }
}

/* What was not kept is not shown as 0. */
static void test_perfetto_without_values(void **state)
{
    struct trace *t = small_trace(TRACE_EVENTS, true);
    cJSON *json = perfetto(t);
    const cJSON *e;
    (void)state;
    cJSON_ArrayForEach(e, item(json, "traceEvents"))
    {
        assert_null(cJSON_GetObjectItemCaseSensitive(item(e, "args"), "max_abs"));
    }
    cJSON_Delete(json);
    trace_free(t);
}

/* Text that is not UTF-8 becomes the replacement character, one per byte; the rest is kept. */
static void test_perfetto_text(void **state)
{
    static const char *const rows[][2] = {
        {"\xe2\x88\x9e \xf0\x9f\x8e\x89 \xc3\xa9", "\xe2\x88\x9e \xf0\x9f\x8e\x89 \xc3\xa9"},
        {"a\xff", "a\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x80\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe2\x88", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\\ \" / \t", "\\ \" / \t"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trace *t = trace_new(TRACE_STATS);
        trace_set_meta(t, "text", rows[i][0]);
        cJSON *json = perfetto(t);
        assert_string_equal(item(item(json, "otherData"), "text")->valuestring, rows[i][1]);
        assert_int_equal(cJSON_GetArraySize(item(json, "traceEvents")), 0);
        cJSON_Delete(json);
        trace_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_perfetto),
        cmocka_unit_test(test_perfetto_without_values),
        cmocka_unit_test(test_perfetto_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
