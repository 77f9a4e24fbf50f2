/* trace_file.c: a trace in a file: writing, and reading by way of trace_parse.

   trace_data.h has the bytes.  Numbers are put together byte by byte, so any machine writes the
   same file.  A chunk is built in memory, then written with its length and CRC. */
#include "simulator/trace_data.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/crc32.h"
#include "reference/tensor.h"

struct chunk {
    unsigned char *bytes;
    size_t count, room;
    bool out_of_memory;
};

static unsigned char *more(struct chunk *c, size_t count)
{
    if (count > c->room - c->count) {
        size_t room = c->room + c->room / 2 + count + 256;
        unsigned char *bytes = c->out_of_memory ? NULL : realloc(c->bytes, room);
        if (bytes == NULL) {
            c->out_of_memory = true;
            return NULL;
        }
        c->bytes = bytes;
        c->room = room;
    }
    c->count += count;
    return c->bytes + c->count - count;
}

static void put(struct chunk *c, uint64_t x, int bytes)
{
    unsigned char *to = more(c, (size_t)bytes);
    for (int i = 0; to != NULL && i < bytes; i++)
        to[i] = (unsigned char)(x >> 8 * i);
}

static void put_u16(struct chunk *c, uint32_t x)
{
    put(c, x, 2);
}

static void put_u32(struct chunk *c, uint32_t x)
{
    put(c, x, 4);
}

static void put_u64(struct chunk *c, uint64_t x)
{
    put(c, x, 8);
}

static void put_double(struct chunk *c, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_u64(c, bits);
}

static void put_float(struct chunk *c, double x)
{
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_u32(c, bits);
}

static void put_text(struct chunk *c, const char *text, size_t bytes)
{
    unsigned char *to = more(c, bytes);
    if (to != NULL)
        memcpy(to, text, bytes);
}

/* Writes what `c` holds as a chunk and empties it. */
static void emit(FILE *out, const char *tag, struct chunk *c)
{
    struct chunk head = {0}, tail = {0};
    put_text(&head, tag, 4);
    put_u64(&head, c->count);
    put_u32(&tail, crc32_ieee(crc32_ieee(0, head.bytes, head.count), c->bytes, c->count));
    c->out_of_memory |= head.out_of_memory || tail.out_of_memory;
    if (!c->out_of_memory) {
        fwrite(head.bytes, 1, head.count, out);
        fwrite(c->bytes, 1, c->count, out);
        fwrite(tail.bytes, 1, tail.count, out);
    }
    free(head.bytes);
    free(tail.bytes);
    c->count = 0;
}

static void write_header(FILE *out, struct chunk *c)
{
    put_text(c, "ULPTRACE", 8);
    put_u16(c, TRACE_MAJOR);
    put_u16(c, TRACE_MINOR);
    put_u32(c, c->out_of_memory ? 0 : crc32_ieee(0, c->bytes, c->count));
    if (!c->out_of_memory)
        fwrite(c->bytes, 1, c->count, out);
    c->count = 0;
}

static void put_meta(struct chunk *c, const struct trace *t)
{
    for (size_t i = 0; i < t->meta_count; i += 2) {
        put_text(c, t->meta[i], strlen(t->meta[i]));
        put_text(c, " = ", 3);
        for (const char *s = t->meta[i + 1]; *s != '\0'; s++)
            if (*s == '\n')
                put_text(c, "\\n", 2);
            else
                put_text(c, *s == '\\' ? "\\\\" : s, *s == '\\' ? 2 : 1);
        put_text(c, "\n", 1);
    }
}

static void put_names(struct chunk *c, const struct trace *t)
{
    put_u32(c, TRACE_TABLES);
    for (int k = 0; k < TRACE_TABLES; k++) {
        uint32_t count = trace_names(t, (enum trace_table)k);
        put_u32(c, count);
        for (uint32_t n = 0; n < count; n++) {
            const char *name = trace_name(t, (enum trace_table)k, n);
            put_u16(c, (uint32_t)strlen(name));
            put_text(c, name, strlen(name));
        }
    }
}

static void put_event(struct chunk *c, const struct event *e)
{
    const uint32_t words[] = {e->step,  e->tensor, e->site,  e->format, e->batch, e->head,
                              e->block, e->warp,   e->sm,    e->split,  e->i,     e->j,
                              e->rows,  e->cols,   e->flags, e->worst};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        put_u32(c, words[i]);
    put_u64(c, e->time);
    put_u64(c, e->bytes);
    put_double(c, e->max_abs);
    put_double(c, e->local);
    put_double(c, e->inherited);
}

static void put_events(struct chunk *c, const struct trace *t)
{
    put_u32(c, TRACE_EVENT_BYTES);
    put_u32(c, t->detail);
    put_u64(c, t->count);
    for (size_t n = 0; n < t->count; n++)
        put_event(c, &t->records[n].event);
}

static bool all_floats(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]) && (double)(float)values[i] != values[i])
            return false;
    return true;
}

static size_t elements(const struct record *r)
{
    return (size_t)r->event.rows * r->event.cols;
}

static void put_snapshot(struct chunk *c, const struct record *r)
{
    size_t count = r->values != NULL ? elements(r) : 0;
    bool floats = r->values != NULL && all_floats(r->values, count);
    put_u32(c, (r->values != NULL ? SNAP_VALUES : 0u) | (floats ? SNAP_FLOATS : 0u) |
                   (r->intervals != NULL ? SNAP_INTERVALS : 0u));
    put_u64(c, count);
    for (size_t i = 0; i < count; i++)
        if (floats)
            put_float(c, r->values[i]);
        else
            put_double(c, r->values[i]);
    for (size_t i = 0; r->intervals != NULL && i < 2 * (size_t)r->event.rows; i++)
        put_u32(c, (uint32_t)r->intervals[i]);
}

static void put_twin(struct chunk *c, const struct record *r)
{
    put_u64(c, elements(r));
    for (size_t i = 0; i < elements(r); i++) {
        put_double(c, r->exact[i][0]);
        put_double(c, r->exact[i][1]);
    }
}

/* SNAP (twin false) or TWIN, if any event has something for it. */
static void write_kept(FILE *out, struct chunk *c, const struct trace *t, bool twin)
{
    uint64_t kept = 0;
    for (size_t n = 0; n < t->count; n++) {
        const struct record *r = &t->records[n];
        kept += twin ? r->exact != NULL : r->values != NULL || r->intervals != NULL;
    }
    if (kept == 0)
        return;
    put_u64(c, kept);
    for (size_t n = 0; n < t->count; n++) {
        const struct record *r = &t->records[n];
        if (twin ? r->exact == NULL : r->values == NULL && r->intervals == NULL)
            continue;
        put_u64(c, n);
        if (twin)
            put_twin(c, r);
        else
            put_snapshot(c, r);
    }
    emit(out, twin ? "TWIN" : "SNAP", c);
}

static void write_chunks(FILE *out, struct chunk *c, const struct trace *t)
{
    write_header(out, c);
    put_meta(c, t);
    emit(out, "META", c);
    put_names(c, t);
    emit(out, "STRS", c);
    put_events(c, t);
    emit(out, "EVNT", c);
    write_kept(out, c, t, false);
    write_kept(out, c, t, true);
    for (int k = 0; k < CARRIED_COUNT; k++)
        if (t->carried[k].present) {
            put_text(c, (const char *)t->carried[k].bytes, t->carried[k].size);
            emit(out, trace_carried_tag[k], c);
        }
    emit(out, "TEND", c);
}

bool trace_refuse_incomplete(const struct trace *t, const char *path, struct message *why)
{
    return refuse(why,
                  "%s: not written: memory ran out after event %zu of the trace; "
                  "keep less with --snapshots none, or trace a smaller problem",
                  path, t->count);
}

bool trace_write(const struct trace *t, const char *path, bool force, struct message *why)
{
    struct output_file file;
    if (t->out_of_memory)
        return trace_refuse_incomplete(t, path, why);
    if (!file_begin(&file, path, force, why))
        return false;
    struct chunk c = {0};
    write_chunks(file.stream, &c, t);
    free(c.bytes);
    if (!c.out_of_memory)
        return file_commit(&file, why);
    file_abandon(&file);
    return refuse(why, "%s: not written: no memory for a chunk of the trace", path);
}

/* Puts the file's name before the reason. */
static struct trace *refuse_file(const char *path, struct message *why)
{
    const struct message reason = *why;
    refuse(why, "%s: %s", path, reason.text);
    return NULL;
}

struct trace *trace_read(const char *path, struct message *why)
{
    unsigned char head[TRACE_HEADER_BYTES], *bytes;
    size_t size;
    if (!file_read_head(path, head, sizeof head, &size, why))
        return NULL;
    /* A file of another kind may be huge: it is refused before it is read. */
    if (!trace_check_header(head, size, why))
        return refuse_file(path, why);
    if (!file_read(path, SIZE_MAX - 1, &bytes, &size, why))
        return NULL;
    struct trace *t = trace_parse(bytes, size, why);
    free(bytes);
    return t != NULL ? t : refuse_file(path, why);
}
