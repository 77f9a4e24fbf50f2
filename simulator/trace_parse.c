/* trace_parse.c: a trace from the container's bytes, none of which is believed.

   trace_data.h has the bytes.  Counts are compared with the bytes that are there before anything is
   allocated, so memory stays within a small multiple of the file. */
#include "simulator/trace_chunks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The file's numbers of a table, in this trace's. */
struct numbers {
    uint32_t count[TRACE_TABLES];
    uint32_t of[TRACE_TABLES][TRACE_MOST_NAMES];
};

static bool refuse_memory(struct message *why)
{
    return refuse(why, "no memory for the trace");
}

/* A line of META, `\n` and `\\` undone in place: "key = value" becomes two texts. */
static bool read_meta_line(struct trace *t, char *line, size_t number, struct message *why)
{
    char *equals = strstr(line, " = ");
    if (equals == NULL || equals == line || memchr(line, '=', (size_t)(equals - line)) != NULL)
        return refuse(why, "META: line %zu is not \"key = value\"", number);
    *equals = '\0';
    char *to = equals + 3;
    for (const char *from = to; *from != '\0'; from++) {
        bool escaped = from[0] == '\\';
        if (escaped && from[1] != 'n' && from[1] != '\\')
            return refuse(why, "META: line %zu has a backslash before neither n nor a backslash",
                          number);
        from += escaped;
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    *to = '\0';
    if (trace_meta(t, line) == NULL && t->meta_count / 2 == TRACE_MOST_NAMES)
        return refuse(why, "META: more than %d keys", TRACE_MOST_NAMES);
    trace_set_meta(t, line, equals + 3);
    return trace_complete(t) || refuse_memory(why);
}

static bool read_meta(struct trace *t, struct reader r, struct message *why)
{
    if (r.left == 0)
        return true;
    if (memchr(r.at, '\0', r.left) != NULL)
        return refuse(why, "META: a zero byte; it should be text");
    if (r.at[r.left - 1] != '\n')
        return refuse(why, "META: the last line does not end");
    char *text = trace_allocate(r.left, 1);
    if (text == NULL)
        return refuse_memory(why);
    memcpy(text, r.at, r.left);
    bool ok = true;
    size_t number = 1;
    for (char *line = text, *end; ok && line < text + r.left; line = end + 1, number++) {
        end = memchr(line, '\n', (size_t)(text + r.left - line));
        *end = '\0';
        ok = read_meta_line(t, line, number, why);
    }
    free(text);
    return ok;
}

static bool read_table(struct trace *t, enum trace_table k, struct reader *r, struct numbers *map,
                       struct message *why)
{
    uint32_t count = get_u32(r);
    if (count > TRACE_MOST_NAMES)
        return refuse(why, "STRS: %u names in one table; at most %d are read", count,
                      TRACE_MOST_NAMES);
    for (uint32_t n = 0; n < count && !r->ran_out; n++) {
        char name[TRACE_LONGEST_NAME + 1];
        size_t length = (size_t)get_number(r, 2);
        const unsigned char *text = take_bytes(r, length);
        if (text == NULL)
            break;
        if (length == 0 || length > TRACE_LONGEST_NAME || memchr(text, '\0', length) != NULL)
            return refuse(why, "STRS: name %u of table %d is not 1 to %d bytes of text", n, (int)k,
                          TRACE_LONGEST_NAME);
        memcpy(name, text, length);
        name[length] = '\0';
        if (!trace_number(t, k, name, &map->of[k][n]))
            return refuse_memory(why);
    }
    map->count[k] = count;
    if (trace_names(t, k) > TRACE_MOST_NAMES)
        return refuse(why, "STRS: %u names in one table, this program's included; at most %d",
                      trace_names(t, k), TRACE_MOST_NAMES);
    return !r->ran_out || refuse(why, "STRS: cut short in table %d", (int)k);
}

static bool read_names(struct trace *t, struct reader r, struct numbers *map, struct message *why)
{
    uint32_t tables = get_u32(&r);
    if (tables < TRACE_TABLES)
        return refuse(why, "STRS: %u tables of names; there should be %d", tables, TRACE_TABLES);
    for (int k = 0; k < TRACE_TABLES; k++)
        if (!read_table(t, (enum trace_table)k, &r, map, why))
            return false;
    return true; /* a later minor version may name more */
}

/* Replaces the file's number of a name by this trace's. */
static bool renumber(const struct numbers *map, enum trace_table k, const char *what, size_t n,
                     uint32_t *number, struct message *why)
{
    if (*number >= map->count[k])
        return refuse(why, "EVNT: event %zu has %s %u, but STRS names %u", n, what, *number,
                      map->count[k]);
    *number = map->of[k][*number];
    return true;
}

static bool check_event(const struct numbers *map, struct event *e, size_t n, struct message *why)
{
    if (!renumber(map, TRACE_STEPS, "step", n, &e->step, why) ||
        !renumber(map, TRACE_TENSORS, "tensor", n, &e->tensor, why) ||
        !renumber(map, TRACE_SITES, "site", n, &e->site, why) ||
        !renumber(map, TRACE_FORMATS, "format", n, &e->format, why))
        return false;
    if (e->rows > INT_MAX || e->cols > INT_MAX)
        return refuse(why, "EVNT: event %zu has %u rows and %u columns; at most %d are possible", n,
                      e->rows, e->cols, INT_MAX);
    if (e->worst != 0 && e->worst >= (uint64_t)e->rows * e->cols)
        return refuse(why, "EVNT: event %zu names element %u of %u x %u", n, e->worst, e->rows,
                      e->cols);
    return true;
}

static void read_event(struct reader *r, struct event *e)
{
    uint32_t *const words[] = {&e->step,  &e->tensor, &e->site,  &e->format, &e->batch, &e->head,
                               &e->block, &e->warp,   &e->sm,    &e->split,  &e->i,     &e->j,
                               &e->rows,  &e->cols,   &e->flags, &e->worst};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        *words[i] = get_u32(r);
    e->time = get_u64(r);
    e->bytes = get_u64(r);
    e->max_abs = get_double(r);
    e->local = get_double(r);
    e->inherited = get_double(r);
}

static bool read_events(struct trace *t, struct reader r, const struct numbers *map,
                        struct message *why)
{
    uint32_t size = get_u32(&r), detail = get_u32(&r);
    uint64_t count = get_u64(&r);
    if (r.ran_out)
        return refuse(why, "EVNT: cut short before the first event");
    if (detail > TRACE_VALUES)
        return refuse(why, "EVNT: detail %u; there are 0 to %d", detail, TRACE_VALUES);
    if (size < TRACE_EVENT_BYTES)
        return refuse(why, "EVNT: events of %u bytes; they have at least %d", size,
                      TRACE_EVENT_BYTES);
    if (count != r.left / size || r.left % size != 0)
        return refuse(why, "EVNT: %llu events of %u bytes do not fill %zu bytes",
                      (unsigned long long)count, size, r.left);
    t->detail = (enum trace_detail)detail;
    for (size_t n = 0; n < count; n++) {
        struct reader one = {take_bytes(&r, size), size, false};
        struct record *record = trace_new_record(t);
        if (record == NULL)
            return refuse_memory(why);
        read_event(&one, &record->event);
        if (!check_event(map, &record->event, n, why))
            return false;
    }
    return true;
}

/* `bytes` for each of `count` elements: are they there, and as many as the event has? */
static bool check_count(const struct reader *r, const char *tag, const struct trace *t, uint64_t n,
                        uint64_t count, size_t bytes, struct message *why)
{
    const struct event *e = &t->records[n].event;
    if (count != (uint64_t)e->rows * e->cols)
        return refuse(why, "%s: %llu values for event %llu, which is %u x %u", tag,
                      (unsigned long long)count, (unsigned long long)n, e->rows, e->cols);
    if (count > r->left / bytes)
        return refuse(why, "%s: cut short in event %llu", tag, (unsigned long long)n);
    return true;
}

static bool read_values(struct trace *t, struct reader *r, uint64_t n, bool floats, uint64_t count,
                        struct message *why)
{
    if (!check_count(r, "SNAP", t, n, count, floats ? 4 : 8, why))
        return false;
    double *values = t->records[n].values = trace_allocate(count, sizeof *values);
    if (values == NULL)
        return refuse_memory(why);
    for (uint64_t i = 0; i < count; i++)
        values[i] = floats ? get_float(r) : get_double(r);
    return true;
}

static bool read_intervals(struct trace *t, struct reader *r, uint64_t n, struct message *why)
{
    struct record *record = &t->records[n];
    uint32_t rows = record->event.rows, cols = record->event.cols;
    if (rows > r->left / 8)
        return refuse(why, "SNAP: cut short in event %llu", (unsigned long long)n);
    int *lo = record->intervals = trace_allocate((uint64_t)rows * 2, sizeof *lo);
    if (lo == NULL)
        return refuse_memory(why);
    for (size_t i = 0; i < 2 * (size_t)rows; i++) { /* lo of every row, then hi */
        uint32_t column = get_u32(r);
        if (column > cols || (i >= rows && (int)column < lo[i - rows]))
            return refuse(why, "SNAP: row %zu of event %llu has an interval outside its %u columns",
                          i % rows, (unsigned long long)n, cols);
        lo[i] = (int)column;
    }
    return true;
}

static bool read_snapshot(struct trace *t, struct reader *r, uint64_t n, struct message *why)
{
    uint32_t kind = get_u32(r);
    uint64_t count = get_u64(r);
    if (kind > (SNAP_VALUES | SNAP_FLOATS | SNAP_INTERVALS) || (kind & 3) == SNAP_FLOATS ||
        (!(kind & SNAP_VALUES) && count != 0))
        return refuse(why, "SNAP: event %llu has %llu values of unknown kind %u",
                      (unsigned long long)n, (unsigned long long)count, kind);
    if ((kind & SNAP_VALUES) && !read_values(t, r, n, (kind & SNAP_FLOATS) != 0, count, why))
        return false;
    return !(kind & SNAP_INTERVALS) || read_intervals(t, r, n, why);
}

static bool read_twin(struct trace *t, struct reader *r, uint64_t n, struct message *why)
{
    uint64_t count = get_u64(r);
    if (!check_count(r, "TWIN", t, n, count, 16, why))
        return false;
    double(*exact)[2] = t->records[n].exact = trace_allocate(count, sizeof *exact);
    if (exact == NULL)
        return refuse_memory(why);
    for (uint64_t i = 0; i < 2 * count; i++)
        exact[i / 2][i % 2] = get_double(r);
    return true;
}

typedef bool read_record(struct trace *t, struct reader *r, uint64_t n, struct message *why);

/* SNAP or TWIN: records of ascending events. */
static bool read_kept(struct trace *t, struct reader r, const char *tag, read_record *read,
                      struct message *why)
{
    uint64_t records = get_u64(&r), least = 0;
    for (uint64_t k = 0; k < records; k++, least++) {
        uint64_t n = get_u64(&r);
        if (r.ran_out)
            return refuse(why, "%s: cut short in record %llu of %llu", tag, (unsigned long long)k,
                          (unsigned long long)records);
        if (n < least || n >= t->count)
            return refuse(why, "%s: event %llu after %llu events of %zu", tag,
                          (unsigned long long)n, (unsigned long long)least, t->count);
        least = n;
        if (!read(t, &r, n, why))
            return false;
    }
    if (r.ran_out || r.left != 0)
        return refuse(why, "%s: its records do not fill it", tag);
    return true;
}

/* Does every event that says its intervals are kept have them, and no other? */
static bool check_masked(const struct trace *t, struct message *why)
{
    for (size_t n = 0; n < t->count; n++) {
        bool says = (t->records[n].event.flags & EVENT_MASKED) != 0;
        if (says != (t->records[n].intervals != NULL))
            return refuse(why, "SNAP: event %zu %s intervals, but EVNT says the opposite", n,
                          says ? "has no" : "has");
    }
    return true;
}

static bool carry(struct carried *c, struct reader r, struct message *why)
{
    if (r.at == NULL)
        return true;
    if ((c->bytes = trace_allocate(r.left, 1)) == NULL)
        return refuse_memory(why);
    memcpy(c->bytes, r.at, r.left);
    c->size = r.left;
    c->present = true;
    return true;
}

static bool read_parts(struct trace *t, const struct parts *parts, struct message *why)
{
    struct numbers map;
    memset(&map, 0, sizeof map);
    const struct reader *of = parts->of;
    return read_meta(t, of[META], why) && read_names(t, of[STRS], &map, why) &&
           read_events(t, of[EVNT], &map, why) &&
           (of[SNAP].at == NULL || read_kept(t, of[SNAP], "SNAP", read_snapshot, why)) &&
           (of[TWIN].at == NULL || read_kept(t, of[TWIN], "TWIN", read_twin, why)) &&
           check_masked(t, why) && carry(&t->carried[CARRIED_LANE], of[LANE], why) &&
           carry(&t->carried[CARRIED_AUDT], of[AUDT], why) &&
           carry(&t->carried[CARRIED_SYNC], of[SYNC], why);
}

struct trace *trace_parse(const unsigned char *bytes, size_t size, struct message *why)
{
    struct parts parts = {0};
    if (!trace_find_parts(bytes, size, &parts, why))
        return NULL;
    struct trace *t = trace_new(TRACE_EVENTS);
    if (t == NULL) {
        refuse_memory(why);
        return NULL;
    }
    if (read_parts(t, &parts, why))
        return t;
    trace_free(t);
    return NULL;
}
