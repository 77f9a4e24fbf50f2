/* test_trace_damage.c: a trace file cut, flipped or lying is refused in one sentence.

   Damage without a matching CRC must always be refused.  Damage with the CRCs made right again may
   be read or refused, but nothing outside memory is touched (run under the sanitizers). */
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
static struct file whole; /* three events: all; intervals; a 1 x 1 without anything */

static int set_up(void **state)
{
    static const double values[6] = {1, 2, NAN, INFINITY, -1, 0.5}, exact[6][2] = {{1, 0}};
    static const int lo[2] = {0, 2}, hi[2] = {3, 2};
    char path[] = "/tmp/flashulp-damage-XXXXXX";
    struct trace *t = trace_new(TRACE_VALUES);
    struct message why;
    struct event e;
    (void)state;
    memset(&e, 0, sizeof e);
    for (uint32_t n = 0; n < 3; n++) {
        e.step = n;
        e.rows = n < 2 ? 2 : 1;
        e.cols = n < 2 ? 3 : 1;
        e.worst = n < 2 ? 5 : 0;
        trace_append(t, &e, n == 0 ? values : NULL, n == 0 ? exact : NULL, n < 2 ? lo : NULL, hi);
    }
    trace_set_meta(t, "a", "b");
    int fd = mkstemp(path);
    bool ok = fd >= 0 && close(fd) == 0 && trace_write(t, path, true, &why) &&
              file_read(path, 1 << 20, &whole.bytes, &whole.size, &why);
    unlink(path);
    trace_free(t);
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(whole.bytes);
    return 0;
}

/* A copy of exactly `size` bytes, so that a read past the end is seen. */
static unsigned char *copy_of(size_t size)
{
    unsigned char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, whole.bytes, size < whole.size ? size : whole.size);
    return copy;
}

/* Parses; whatever comes is touched; one sentence if refused. */
static bool reads(const unsigned char *bytes, size_t size, struct message *why)
{
    memset(why, 0, sizeof *why);
    struct trace *t = trace_parse(bytes, size, why);
    volatile double sum = t != NULL ? touch(t) : 0;
    (void)sum;
    assert_true((t != NULL) == (why->text[0] == '\0'));
    assert_null(strchr(why->text, '\n'));
    trace_free(t);
    return t != NULL;
}

static void test_cut_anywhere(void **state)
{
    struct message why;
    (void)state;
    for (size_t size = 0; size < whole.size; size++) {
        unsigned char *copy = copy_of(size);
        if (reads(copy, size, &why))
            fail_msg("the first %zu of %zu bytes were read", size, whole.size);
        free(copy);
    }
    assert_true(reads(whole.bytes, whole.size, &why));
}

static void test_flip_anywhere(void **state)
{
    static const unsigned char flips[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
    struct message why;
    (void)state;
    for (size_t at = 0; at < whole.size; at++)
        for (size_t k = 0; k < sizeof flips; k++) {
            unsigned char *copy = copy_of(whole.size);
            copy[at] ^= flips[k];
            if (reads(copy, whole.size, &why))
                fail_msg("byte %zu xor 0x%02x was read", at, flips[k]);
            repair(copy, whole.size);
            reads(copy, whole.size, &why);
            free(copy);
        }
}

/* Pairs of bytes and wild words at every place, with right CRCs. */
static void test_wild_words(void **state)
{
    static const uint64_t words[] = {
        0,          1,          0x7FFFFFFF,         0x80000000,
        0xFFFFFFFF, 0x10000000, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
    struct message why;
    (void)state;
    for (size_t at = 0; at + 8 <= whole.size; at++)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            for (int width = 2; width <= 8; width *= 2) {
                unsigned char *copy = copy_of(whole.size);
                bytes_put(copy + at, width, words[k]);
                repair(copy, whole.size);
                reads(copy, whole.size, &why);
                free(copy);
            }
}

/* `width` bytes at `offset` of a chunk's contents (of the file when tag is "") become `value`; the
   CRCs are made right unless the row says otherwise. */
struct damage {
    const char *tag;
    size_t offset;
    int width;
    uint64_t value;
    bool repaired;
    const char *sentence;
};
enum { RECORD = 16, NEXT = 104, SHAPE = 48 }; /* in EVNT: first event, the next one's distance */
enum { INTERVALS = 8 + 20 + 24, SECOND = INTERVALS + 16 }; /* in SNAP */

static const struct damage damages[] = {
    {"", 0, 1, 'u', true, "not a trace: a trace begins with ULPTRACE"},
    {"", 8, 2, 2, true,
     "trace version 2.1 is newer than this program, which reads version 1; use a newer flashulp"},
    {"", 8, 2, 0, true, "there is no trace version 0.1"},
    {"", 10, 2, 0, false, "damaged: the header's CRC is c1e9b481, the file says d8f285c0"},
    {"META", 0, 1, 'b', false,
     "damaged: the CRC of chunk META at byte 16 is 1990918c, the file says 9f04e322"},
    {"META", 0, 1, '=', true, "META: line 1 is not \"key = value\""},
    {"META", 1, 1, '\n', true, "META: line 1 is not \"key = value\""},
    {"META", 4, 1, '\0', true, "META: a zero byte; it should be text"},
    {"META", 4, 1, '\\', true, "META: line 1 has a backslash before neither n nor a backslash"},
    {"META", 5, 1, ' ', true, "META: the last line does not end"},
    {"STRS", 0, 4, 3, true, "STRS: 3 tables of names; there should be 4"},
    {"STRS", 4, 4, 1025, true, "STRS: 1025 names in one table; at most 1024 are read"},
    {"STRS", 8, 2, 0, true, "STRS: name 0 of table 0 is not 1 to 255 bytes of text"},
    {"STRS", 8, 2, 256, true, "STRS: name 0 of table 0 is not 1 to 255 bytes of text"},
    {"STRS", 10, 1, 0, true, "STRS: name 0 of table 0 is not 1 to 255 bytes of text"},
    {"STRS", 8, 2, 65535, true, "STRS: cut short in table 0"},
    {"EVNT", 0, 4, 103, true, "EVNT: events of 103 bytes; they have at least 104"},
    {"EVNT", 0, 4, 0, true, "EVNT: events of 0 bytes; they have at least 104"},
    {"EVNT", 4, 4, 3, true, "EVNT: detail 3; there are 0 to 2"},
    {"EVNT", 8, 8, 2, true, "EVNT: 2 events of 104 bytes do not fill 312 bytes"},
    {"EVNT", 8, 8, UINT64_MAX, true,
     "EVNT: 18446744073709551615 events of 104 bytes do not fill 312 bytes"},
    {"EVNT", RECORD + SHAPE, 4, 0x80000000, true,
     "EVNT: event 0 has 2147483648 rows and 3 columns; at most 2147483647 are possible"},
    {"EVNT", RECORD + SHAPE + 4, 4, 0x80000000, true,
     "EVNT: event 0 has 2 rows and 2147483648 columns; at most 2147483647 are possible"},
    {"EVNT", RECORD + SHAPE + 12, 4, 6, true, "EVNT: event 0 names element 6 of 2 x 3"},
    {"EVNT", RECORD + SHAPE + 8, 4, 0, true,
     "SNAP: event 0 has intervals, but EVNT says the opposite"},
    {"EVNT", RECORD + 2 * NEXT + SHAPE + 8, 4, EVENT_MASKED, true,
     "SNAP: event 2 has no intervals, but EVNT says the opposite"},
    {"SNAP", 0, 8, 3, true, "SNAP: cut short in record 2 of 3"},
    {"SNAP", 0, 8, 1, true, "SNAP: its records do not fill it"},
    {"SNAP", 8, 8, 3, true, "SNAP: event 3 after 0 events of 3"},
    {"SNAP", SECOND, 8, 0, true, "SNAP: event 0 after 1 events of 3"},
    {"SNAP", 8, 8, 1, true, "SNAP: event 1 after 2 events of 3"},
    {"SNAP", 16, 4, 8, true, "SNAP: event 0 has 6 values of unknown kind 8"},
    {"SNAP", 16, 4, 2, true, "SNAP: event 0 has 6 values of unknown kind 2"},
    {"SNAP", 16, 4, 4, true, "SNAP: event 0 has 6 values of unknown kind 4"},
    {"SNAP", 16, 4, 5, true, "SNAP: row 0 of event 0 has an interval outside its 3 columns"},
    {"SNAP", 20, 8, 7, true, "SNAP: 7 values for event 0, which is 2 x 3"},
    {"SNAP", INTERVALS + 4, 4, 4, true,
     "SNAP: row 1 of event 0 has an interval outside its 3 columns"},
    {"SNAP", INTERVALS + 12, 4, 1, true,
     "SNAP: row 1 of event 0 has an interval outside its 3 columns"},
    {"SNAP", INTERVALS, 4, 0xFFFFFFFF, true,
     "SNAP: row 0 of event 0 has an interval outside its 3 columns"},
    {"TWIN", 8, 8, 3, true, "TWIN: event 3 after 0 events of 3"},
    {"TWIN", 16, 8, 5, true, "TWIN: 5 values for event 0, which is 2 x 3"},
    {"TWIN", 0, 8, 2, true, "TWIN: cut short in record 1 of 2"},
};

static void test_sentences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const struct damage *d = &damages[i];
        struct message why;
        unsigned char *copy = copy_of(whole.size);
        size_t at = d->tag[0] == '\0' ? 0 : chunk_at(copy, whole.size, d->tag) + 12;
        bytes_put(copy + at + d->offset, d->width, d->value);
        if (d->repaired)
            repair(copy, whole.size);
        assert_false(reads(copy, whole.size, &why));
        if (strcmp(why.text, d->sentence) != 0)
            fail_msg("%s + %zu = 0x%llx: \"%s\"\ninstead of \"%s\"", d->tag, d->offset,
                     (unsigned long long)d->value, why.text, d->sentence);
        free(copy);
    }
}

/* A number that stands for a name past the last of its table. */
static void test_unknown_names(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        int event;
        const char *what;
        uint64_t value;
        int known;
    } rows[] = {
        {RECORD + NEXT, 1, "step", STEP_COUNT, STEP_COUNT},
        {RECORD + 4, 0, "tensor", 999, TENSOR_COUNT},
        {RECORD + 8, 0, "site", 999, SITE_COUNT + 1}, /* and no site */
        {RECORD + 12, 0, "format", FORMAT_COUNT, FORMAT_COUNT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct message why;
        char sentence[100];
        unsigned char *copy = copy_of(whole.size);
        bytes_put(copy + chunk_at(copy, whole.size, "EVNT") + 12 + rows[i].offset, 4,
                  rows[i].value);
        repair(copy, whole.size);
        snprintf(sentence, sizeof sentence, "EVNT: event %d has %s %d, but STRS names %d",
                 rows[i].event, rows[i].what, (int)rows[i].value, rows[i].known);
        assert_false(reads(copy, whole.size, &why));
        assert_string_equal(why.text, sentence);
        free(copy);
    }
}

/* Chunks missing, doubled, cut off, or followed by something. */
static void test_chunk_sentences(void **state)
{
    static const struct {
        const char *tag, *renamed, *sentence;
    } renamed[] = {
        {"STRS", "STRZ", "no STRS chunk, which every trace has"},
        {"EVNT", "EVNZ", "no EVNT chunk, which every trace has"},
        {"SNAP", "TWIN", "two TWIN chunks; a trace has at most one"},
        {"TWIN", "TEND", "16 bytes after the TEND chunk, which is the last"},
        {"SNAP", "SN\nP", "SNAP: event 0 has no intervals, but EVNT says the opposite"},
    };
    struct message why;
    (void)state;
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        unsigned char *copy = copy_of(whole.size);
        memcpy(copy + chunk_at(copy, whole.size, renamed[i].tag), renamed[i].renamed, 4);
        repair(copy, whole.size);
        assert_false(reads(copy, whole.size, &why));
        assert_string_equal(why.text, renamed[i].sentence);
        free(copy);
    }
}

/* Lies that agree with one another. */
static void test_two_lies(void **state)
{
    static const struct damage rows[][2] = {
        {{"EVNT", 0, 4, 105, true, ""},
         {"EVNT", 8, 8, 2, true, "EVNT: 2 events of 105 bytes do not fill 312 bytes"}},
        {{"EVNT", RECORD + SHAPE, 4, 0x7FFFFFFF, true, ""},
         {"SNAP", 20, 8, UINT64_C(3) * 0x7FFFFFFF, true, "SNAP: cut short in event 0"}},
        {{"EVNT", RECORD + NEXT + SHAPE, 4, 0x7FFFFFFF, true, ""},
         {"EVNT", 4, 4, 0, true, "SNAP: cut short in event 1"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct message why;
        unsigned char *copy = copy_of(whole.size);
        for (int k = 0; k < 2; k++)
            bytes_put(copy + chunk_at(copy, whole.size, rows[i][k].tag) + 12 + rows[i][k].offset,
                      rows[i][k].width, rows[i][k].value);
        repair(copy, whole.size);
        assert_false(reads(copy, whole.size, &why));
        assert_string_equal(why.text, rows[i][1].sentence);
        free(copy);
    }
}

/* A chunk of `count` items "N" (META lines N = 0, or STRS names N) in a file of its own with what
   else must be there; how it is received. */
static void check_many(const char *tag, unsigned count, unsigned distinct, const char *sentence)
{
    static const char line[2][8] = {"%u = 0\n", "%u"};
    bool names = strcmp(tag, "STRS") == 0;
    size_t room = whole.size + 16 + 16 * (size_t)count, at = 16, start = 28;
    unsigned char *bytes = malloc(room);
    struct message why;
    memcpy(bytes, whole.bytes, 16);
    memcpy(bytes + at, tag, 4);
    at = start + (names ? 8 : 0);
    bytes_put(bytes + start, 8, names ? 4 | (uint64_t)count << 32 : 0);
    for (unsigned n = 0; n < count; n++) {
        char text[16];
        int length = snprintf(text, sizeof text, line[names], n % distinct);
        bytes_put(bytes + at, 2, (uint64_t)length);
        memcpy(bytes + at + 2 * names, text, (size_t)length);
        at += 2 * names + (size_t)length;
    }
    bytes_put(bytes + 20, 8, at - start);
    at += 4;
    size_t rest = chunk_at(whole.bytes, whole.size, names ? "EVNT" : "STRS");
    memcpy(bytes + at, whole.bytes + rest, whole.size - rest);
    at += whole.size - rest;
    repair(bytes, at);
    assert_true(reads(bytes, at, &why) == (sentence[0] == '\0'));
    assert_string_equal(why.text, sentence);
    free(bytes);
}

static void test_many(void **state)
{
    (void)state;
    check_many("META", 1024, 1024, "");
    check_many("META", 2000, 1024, ""); /* the last value of a key counts */
    check_many("META", 1025, 1025, "META: more than 1024 keys");
    char sentence[100];
    snprintf(sentence, sizeof sentence,
             "STRS: %d names in one table, this program's included; at most 1024",
             1024 + STEP_COUNT);
    check_many("STRS", 1024, 1024, sentence);
    check_many("STRS", 1024 - STEP_COUNT, 1024 - STEP_COUNT, "STRS: cut short in table 1");
}

static void test_long_names(void **state)
{
    struct message why;
    (void)state;
    for (size_t length = 255; length < 258; length++) {
        unsigned char *copy = copy_of(whole.size);
        size_t at = chunk_at(copy, whole.size, "STRS") + 12 + 8;
        bytes_put(copy + at, 2, length);
        memset(copy + at + 2, 'x', length);
        repair(copy, whole.size);
        assert_false(reads(copy, whole.size, &why));
        bool refused =
            strcmp(why.text, "STRS: name 0 of table 0 is not 1 to 255 bytes of text") == 0;
        assert_int_equal(refused, length > 255);
        free(copy);
    }
}

/* The last name of STRS, "e5m2", is said to be one byte longer than the chunk. */
static void test_name_past_its_chunk(void **state)
{
    struct message why;
    unsigned char *copy = copy_of(whole.size);
    size_t end = chunk_at(copy, whole.size, "EVNT") - 4;
    (void)state;
    bytes_put(copy + end - 6, 2, 5);
    repair(copy, whole.size);
    assert_false(reads(copy, whole.size, &why));
    assert_string_equal(why.text, "STRS: cut short in table 3");
    free(copy);
}

static void test_cut_sentences(void **state)
{
    static const struct {
        const char *tag; /* cut `more` bytes into this chunk; "" is the file's beginning */
        size_t more;
        const char *sentence;
    } rows[] = {
        {"", 0, "empty, not a trace"},
        {"", 8, "cut short: the header has 16 bytes, the file 8"},
        {"", 16, "cut short: the file ends at byte 16 without a TEND chunk"},
        {"META", 15, "cut short: 15 bytes at byte 16, too few for a chunk"},
        {"META", 21, "cut short: chunk META at byte 16 has 6 bytes, the file 5 more"},
        {"STRS", 0, "cut short: the file ends at byte 38 without a TEND chunk"},
    };
    struct message why;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t at = rows[i].tag[0] != '\0' ? chunk_at(whole.bytes, whole.size, rows[i].tag) : 0;
        unsigned char *copy = copy_of(at + rows[i].more);
        assert_false(reads(copy, at + rows[i].more, &why));
        assert_string_equal(why.text, rows[i].sentence);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_flip_anywhere),
        cmocka_unit_test(test_wild_words),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_chunk_sentences),
        cmocka_unit_test(test_cut_sentences),
        cmocka_unit_test(test_name_past_its_chunk),
        cmocka_unit_test(test_two_lies),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_long_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
