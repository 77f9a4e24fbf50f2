/* fuzz_trace.c: any bytes as a trace: as they are, and with their CRCs made right. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#include "reference/tensor.h"
#include "simulator/requests.h"
#include "simulator/trace_sync.h"
#include "tests/trace_bytes.h"

struct written {
    unsigned char *bytes;
    size_t size;
};

static struct written write_trace(const struct trace *t)
{
    struct written w = {0};
    struct message why;
    fuzz_require(trace_write(t, fuzz_output(), true, &why) &&
                     file_read(fuzz_output(), SIZE_MAX - 1, &w.bytes, &w.size, &why),
                 "a trace that was read can be written");
    return w;
}

/* What is written of a trace is read as the same trace: it is written in the same bytes. */
static void write_and_read(const struct trace *t)
{
    struct message why;
    struct written first = write_trace(t);
    struct trace *back = trace_parse(first.bytes, first.size, &why);
    fuzz_require(back != NULL, "a trace that was written can be read");
    struct written second = write_trace(back);
    fuzz_require(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0,
                 "a trace that was written is read as it was");
    free(first.bytes);
    free(second.bytes);
    trace_free(back);
}

/* What lanes did, in every form it is asked for: read, or refused in a sentence. */
static void read_lanes(const struct trace *t)
{
    struct trace_lanes l;
    struct trace_sync s;
    struct lane_requests r;
    struct message why = {""};
    size_t length;
    if (!trace_lanes(t, &l, &why)) {
        fuzz_require_sentence(&why);
    } else {
        for (size_t n = 0; n < l.files; n++)
            trace_lane_file(&l, n, &length);
        if (lane_requests_new(&r, &l, -1, &why))
            lane_requests_free(&r);
        else
            fuzz_require_sentence(&why);
    }
    if (!trace_sync(t, &s, &why))
        fuzz_require_sentence(&why);
    for (size_t n = 0; n < s.waits && s.wait_records != NULL; n++)
        trace_wait(&s, n);
    for (size_t n = 0; n < s.findings && s.finding_records != NULL; n++)
        trace_finding(&s, n);
}

static void try_bytes(const unsigned char *bytes, size_t size)
{
    static FILE *nowhere;
    struct message why = {""};
    struct trace *t = trace_parse(bytes, size, &why);
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    fuzz_require(nowhere != NULL, "/dev/null can be opened");
    if (t == NULL) {
        fuzz_require_sentence(&why);
        return;
    }
    trace_dump(t, nowhere);
    fprintf(nowhere, "%g\n", touch(t));
    read_lanes(t);
    write_and_read(t);
    fuzz_require(trace_write_perfetto(t, fuzz_output(), true, &why),
                 "Perfetto JSON can be written");
    trace_free(t);
}

void fuzz_trace(const uint8_t *data, size_t size)
{
    unsigned char *copy = fuzz_allocate(size);
    memcpy(copy, data, size);
    try_bytes(copy, size);
    repair(copy, size);
    try_bytes(copy, size);
    free(copy);
}
