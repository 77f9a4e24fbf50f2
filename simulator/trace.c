/* trace.c: the trace in memory: see trace.h.

   Names come from the tables.  Running out of memory ends a trace but not the program: a recorder
   deep in a run cannot refuse, so the trace remembers and its writers refuse. */
#include "simulator/trace_data.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const step_names[] = {
#define STEP(id, label, ...) label,
#include "simulator/steps.def"
#undef STEP
};
static const char *const tensor_names[] = {
#define TENSOR(id, symbol, meaning) symbol,
#include "simulator/tensors.def"
#undef TENSOR
};
static const char *const site_names[] = {
#define SITE(id, ...) #id,
#include "simulator/sites.def"
#undef SITE
    "none", /* SITE_NONE: a call that does not round */
};
static const char *const format_names[] = {
#define FORMAT(id, name, ...) name,
#include "reference/formats.def"
#undef FORMAT
};

#define TABLE(names)                                                                               \
    {                                                                                              \
        names, sizeof names / sizeof names[0]                                                      \
    }
static const struct {
    const char *const *names;
    uint32_t count;
} known[TRACE_TABLES] = {TABLE(step_names), TABLE(tensor_names), TABLE(site_names),
                         TABLE(format_names)};
#undef TABLE

const char *const trace_carried_tag[CARRIED_COUNT] = {"LANE", "AUDT", "SYNC"};

void *trace_allocate(uint64_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    return malloc(count == 0 ? 1 : (size_t)count * size);
}

double trace_canonical(double x)
{
    static const uint64_t canonical = UINT64_C(0x7FF8000000000000);
    if (isnan(x))
        memcpy(&x, &canonical, sizeof x);
    return x;
}

struct trace *trace_new(enum trace_detail detail)
{
    struct trace *t = calloc(1, sizeof *t);
    if (t != NULL)
        t->detail = detail;
    return t;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void trace_free(struct trace *t)
{
    if (t == NULL)
        return;
    for (size_t n = 0; n < t->count; n++) {
        free(t->records[n].values);
        free(t->records[n].exact);
        free(t->records[n].intervals);
    }
    free(t->records);
    for (int k = 0; k < TRACE_TABLES; k++)
        free_texts(t->extra[k], t->extra_count[k]);
    free_texts(t->meta, t->meta_count);
    for (int c = 0; c < CARRIED_COUNT; c++)
        free(t->carried[c].bytes);
    free(t);
}

enum trace_detail trace_detail(const struct trace *t)
{
    return t->detail;
}

void trace_keep(struct trace *t, uint64_t steps)
{
    t->left_out = ~steps;
}

bool trace_complete(const struct trace *t)
{
    return !t->out_of_memory;
}

size_t trace_count(const struct trace *t)
{
    return t->count;
}

const struct event *trace_event(const struct trace *t, size_t n)
{
    assert(n < t->count);
    return &t->records[n].event;
}

const double *trace_values(const struct trace *t, size_t n)
{
    assert(n < t->count);
    return t->records[n].values;
}

const double (*trace_exact(const struct trace *t, size_t n))[2]
{
    assert(n < t->count);
    return (const double(*)[2])t->records[n].exact;
}

const int *trace_intervals(const struct trace *t, size_t n)
{
    assert(n < t->count);
    return t->records[n].intervals;
}

struct record *trace_new_record(struct trace *t)
{
    if (t->count == t->room) {
        size_t room = t->room == 0 ? 16 : t->room + t->room / 2;
        if (room > SIZE_MAX / 2 / sizeof *t->records)
            return NULL;
        struct record *records = realloc(t->records, room * sizeof *records);
        if (records == NULL)
            return NULL;
        t->records = records;
        t->room = room;
    }
    struct record *r = &t->records[t->count++];
    memset(r, 0, sizeof *r);
    return r;
}

static bool keep_values(struct record *r, const double *values)
{
    uint64_t count = (uint64_t)r->event.rows * r->event.cols;
    if ((r->values = trace_allocate(count, sizeof *r->values)) == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++)
        r->values[i] = trace_canonical(values[i]);
    return true;
}

static bool keep_exact(struct record *r, const double (*exact)[2])
{
    uint64_t count = (uint64_t)r->event.rows * r->event.cols;
    if ((r->exact = trace_allocate(count, sizeof *r->exact)) == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        r->exact[i][0] = trace_canonical(exact[i][0]);
        r->exact[i][1] = trace_canonical(exact[i][1]);
    }
    return true;
}

static bool keep_intervals(struct record *r, const int *lo, const int *hi)
{
    uint32_t rows = r->event.rows;
    for (uint32_t i = 0; i < rows; i++)
        assert(0 <= lo[i] && lo[i] <= hi[i] && hi[i] <= (int)r->event.cols);
    if ((r->intervals = trace_allocate((uint64_t)rows * 2, sizeof *r->intervals)) == NULL)
        return false;
    memcpy(r->intervals, lo, rows * sizeof *lo);
    memcpy(r->intervals + rows, hi, rows * sizeof *hi);
    r->event.flags |= EVENT_MASKED;
    return true;
}

static void check_event(const struct trace *t, const struct event *e)
{
    assert(e->step < trace_names(t, TRACE_STEPS) && e->tensor < trace_names(t, TRACE_TENSORS));
    assert(e->site < trace_names(t, TRACE_SITES) && e->format < trace_names(t, TRACE_FORMATS));
    assert(e->rows <= INT_MAX && e->cols <= INT_MAX);
    assert(e->worst == 0 || e->worst < (uint64_t)e->rows * e->cols);
    (void)t, (void)e;
}

void trace_append(struct trace *t, const struct event *e, const double *values,
                  const double (*exact)[2], const int *lo, const int *hi)
{
    check_event(t, e);
    struct record *r = t->out_of_memory ? NULL : trace_new_record(t);
    if (r == NULL) {
        t->out_of_memory = true;
        return;
    }
    r->event = *e;
    r->event.flags &= ~(uint32_t)EVENT_MASKED;
    r->event.max_abs = t->detail == TRACE_EVENTS ? 0 : trace_canonical(e->max_abs);
    r->event.local = trace_canonical(e->local);
    r->event.inherited = trace_canonical(e->inherited);
    if (t->detail != TRACE_VALUES || (e->step < 64 && t->left_out >> e->step & 1))
        return;
    if ((values == NULL || keep_values(r, values)) && (exact == NULL || keep_exact(r, exact)) &&
        (lo == NULL || keep_intervals(r, lo, hi)))
        return;
    t->out_of_memory = true;
    free(r->values);
    free(r->exact);
    free(r->intervals);
    t->count--;
}

uint32_t trace_names(const struct trace *t, enum trace_table table)
{
    return known[table].count + (uint32_t)t->extra_count[table];
}

const char *trace_name(const struct trace *t, enum trace_table table, uint32_t number)
{
    assert(number < trace_names(t, table));
    uint32_t count = known[table].count;
    return number < count ? known[table].names[number] : t->extra[table][number - count];
}

static char *copied(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

bool trace_number(struct trace *t, enum trace_table table, const char *name, uint32_t *number)
{
    uint32_t count = trace_names(t, table);
    for (*number = 0; *number < count; ++*number)
        if (strcmp(trace_name(t, table, *number), name) == 0)
            return true;
    size_t extra = t->extra_count[table];
    char **names = realloc(t->extra[table], (extra + 1) * sizeof *names);
    if (names == NULL)
        return false;
    t->extra[table] = names;
    if ((names[extra] = copied(name)) == NULL)
        return false;
    t->extra_count[table]++;
    return true;
}

static char **find_meta(const struct trace *t, const char *key)
{
    for (size_t i = 0; i < t->meta_count; i += 2)
        if (strcmp(t->meta[i], key) == 0)
            return &t->meta[i];
    return NULL;
}

const char *trace_meta(const struct trace *t, const char *key)
{
    char **found = find_meta(t, key);
    return found != NULL ? found[1] : NULL;
}

/* Takes the two texts over, also on failure. */
static bool add_meta(struct trace *t, char *key, char *value)
{
    char **meta = NULL;
    if (key != NULL && value != NULL)
        meta = realloc(t->meta, (t->meta_count + 2) * sizeof *meta);
    if (meta == NULL) {
        free(key);
        free(value);
        return false;
    }
    meta[t->meta_count++] = key;
    meta[t->meta_count++] = value;
    t->meta = meta;
    return true;
}

void trace_set_meta(struct trace *t, const char *key, const char *value)
{
    assert(key[0] != '\0' && strpbrk(key, "=\n") == NULL);
    char **found = find_meta(t, key);
    assert(found != NULL || t->meta_count / 2 < TRACE_MOST_NAMES);
    char *copy = copied(value);
    if (found == NULL) {
        t->out_of_memory |= !add_meta(t, copied(key), copy);
        return;
    }
    t->out_of_memory |= copy == NULL;
    if (copy != NULL) {
        free(found[1]);
        found[1] = copy;
    }
}
