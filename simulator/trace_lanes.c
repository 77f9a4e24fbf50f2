/* trace_lanes.c: see trace_lanes.h.  The trace keeps the chunk's bytes; they are read in place. */
#include "simulator/trace_lanes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/trace_chunks.h"

enum { LEAST_BYTES = 48, RECORD_BYTES = 60, WORDS = 8 };

static unsigned char *put_access(unsigned char *to, const struct lane_access *a)
{
    const uint32_t word[WORDS] = {a->block, a->thread, a->verb, a->space,
                                  a->piece, a->bytes,  a->file, a->line};
    for (int i = 0; i < WORDS; i++)
        to = put_number(to, word[i], 4);
    to = put_number(put_number(to, a->time, 8), a->offset, 8);
    return put_number(put_number(put_number(to, a->met, 4), a->products, 4), a->instruction, 4);
}

bool trace_set_lanes(struct trace *t, const struct lane_access *access, size_t count,
                     const char *const *file, size_t files)
{
    struct carried *c = &t->carried[CARRIED_LANE];
    size_t size = 12 + names_bytes(file, files) + count * RECORD_BYTES;
    free(c->bytes);
    *c = (struct carried){false, count <= SIZE_MAX / 64 ? malloc(size) : NULL, size};
    if (c->bytes == NULL)
        return false;
    unsigned char *to = put_names(put_number(c->bytes, RECORD_BYTES, 4), file, files);
    to = put_number(to, count, 8);
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
    *l = (struct trace_lanes){NULL, NULL, 0, 0, LEAST_BYTES};
    if (!c->present)
        return true;
    l->record_size = get_u32(&r);
    struct names names = take_names(&r);
    uint64_t count = get_u64(&r);
    if (r.ran_out)
        return refuse(why, "LANE: it ends among the names of its %zu files", names.count);
    if (l->record_size < LEAST_BYTES)
        return refuse(why, "LANE: accesses of %zu bytes; they have at least %d", l->record_size,
                      LEAST_BYTES);
    if (count != r.left / l->record_size || r.left % l->record_size != 0)
        return refuse(why, "LANE: %zu bytes for %llu accesses of %zu bytes each", r.left,
                      (unsigned long long)count, l->record_size);
    l->records = r.at;
    l->names = names.at;
    l->files = names.count;
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
    struct reader r = {l->records + n * l->record_size, l->record_size, false};
    uint32_t word[WORDS];
    assert(n < l->count);
    for (int i = 0; i < WORDS; i++)
        word[i] = get_u32(&r);
    struct lane_access a = {.block = word[0],
                            .thread = word[1],
                            .verb = word[2],
                            .space = word[3],
                            .piece = word[4],
                            .bytes = word[5],
                            .file = word[6],
                            .line = word[7]};
    a.time = get_u64(&r);
    a.offset = get_u64(&r);
    if (l->record_size >= RECORD_BYTES) {
        a.met = get_u32(&r);
        a.products = get_u32(&r);
        a.instruction = get_u32(&r);
    }
    return a;
}

const char *trace_lane_file(const struct trace_lanes *l, size_t file, size_t *length)
{
    return name_at((struct names){l->names, l->files}, file, length);
}
