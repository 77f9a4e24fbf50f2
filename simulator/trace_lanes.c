/* trace_lanes.c: see trace_lanes.h.  The trace keeps the chunk's bytes; they are read in place. */
#include "simulator/trace_lanes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/trace_chunks.h"

enum { RECORD_BYTES = 48, WORDS = 8 };

static unsigned char *put(unsigned char *to, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)(x >> 8 * i);
    return to;
}

static unsigned char *put_access(unsigned char *to, const struct lane_access *a)
{
    const uint32_t word[WORDS] = {a->block, a->thread, a->verb, a->space,
                                  a->piece, a->bytes,  a->file, a->line};
    for (int i = 0; i < WORDS; i++)
        to = put(to, word[i], 4);
    to = put(to, a->time, 8);
    return put(to, a->offset, 8);
}

static size_t name_bytes(const char *name)
{
    size_t length = strlen(name);
    return length < TRACE_LONGEST_NAME ? length : TRACE_LONGEST_NAME;
}

bool trace_set_lanes(struct trace *t, const struct lane_access *access, size_t count,
                     const char *const *file, size_t files)
{
    struct carried *c = &t->carried[CARRIED_LANE];
    size_t size = 16 + count * RECORD_BYTES;
    for (size_t i = 0; i < files; i++)
        size += 2 + name_bytes(file[i]);
    free(c->bytes);
    *c = (struct carried){false, count <= SIZE_MAX / 64 ? malloc(size) : NULL, size};
    if (c->bytes == NULL)
        return false;
    unsigned char *to = put(put(c->bytes, RECORD_BYTES, 4), files, 4);
    for (size_t i = 0; i < files; i++) {
        to = put(to, name_bytes(file[i]), 2);
        memcpy(to, file[i], name_bytes(file[i]));
        to += name_bytes(file[i]);
    }
    to = put(to, count, 8);
    for (size_t i = 0; i < count; i++) {
        assert(access[i].verb < LANE_VERBS && access[i].space < LANE_SPACES);
        assert(access[i].file < files || (access[i].file == 0 && access[i].line == 0));
        to = put_access(to, &access[i]);
    }
    c->present = true;
    return true;
}

static bool check_access(const struct lane_access *a, const struct trace_lanes *l, size_t n,
                         struct message *why)
{
    if (a->verb >= LANE_VERBS || a->space >= LANE_SPACES)
        return refuse(why, "LANE: access %zu is of an unknown kind (%u, %u)", n, a->verb, a->space);
    if (a->line != 0 && a->file >= l->files)
        return refuse(why, "LANE: access %zu names file %u of %zu", n, a->file, l->files);
    return true;
}

bool trace_lanes(const struct trace *t, struct trace_lanes *l, struct message *why)
{
    const struct carried *c = &t->carried[CARRIED_LANE];
    struct reader r = {c->bytes, c->size, false};
    *l = (struct trace_lanes){NULL, NULL, 0, 0, RECORD_BYTES};
    if (!c->present)
        return true;
    l->record_size = get_u32(&r);
    uint32_t files = get_u32(&r);
    l->names = r.at;
    for (uint32_t i = 0; i < files && !r.ran_out; i++)
        take_bytes(&r, (size_t)get_number(&r, 2));
    uint64_t count = get_u64(&r);
    if (r.ran_out)
        return refuse(why, "LANE: it ends among the names of its %u files", files);
    if (l->record_size < RECORD_BYTES)
        return refuse(why, "LANE: accesses of %zu bytes; they have at least %d", l->record_size,
                      RECORD_BYTES);
    if (count != r.left / l->record_size || r.left % l->record_size != 0)
        return refuse(why, "LANE: %zu bytes for %llu accesses of %zu bytes each", r.left,
                      (unsigned long long)count, l->record_size);
    l->records = r.at;
    l->files = files;
    l->count = (size_t)count;
    for (size_t n = 0; n < l->count; n++) {
        struct lane_access a = trace_lane(l, n);
        if (!check_access(&a, l, n, why))
            return false;
    }
    return true;
}

struct lane_access trace_lane(const struct trace_lanes *l, size_t n)
{
    struct reader r = {l->records + n * l->record_size, RECORD_BYTES, false};
    uint32_t word[WORDS];
    assert(n < l->count);
    for (int i = 0; i < WORDS; i++)
        word[i] = get_u32(&r);
    struct lane_access a = {word[0], word[1], word[2], word[3], word[4],
                            word[5], word[6], word[7], 0,       0};
    a.time = get_u64(&r);
    a.offset = get_u64(&r);
    return a;
}

const char *trace_lane_file(const struct trace_lanes *l, size_t file, size_t *length)
{
    struct reader r = {l->names, (size_t)(l->records - l->names), false};
    assert(file < l->files);
    for (size_t i = 0; i < file; i++)
        take_bytes(&r, (size_t)get_number(&r, 2));
    *length = (size_t)get_number(&r, 2);
    return (const char *)take_bytes(&r, *length);
}
