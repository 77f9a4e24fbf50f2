/* trace_sync.c: see trace_sync.h.  The trace keeps the chunk's bytes; they are read in place. */
#include "simulator/trace_sync.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/trace_chunks.h"

enum { WAIT_WORDS = 8, FINDING_WORDS = 12, WAIT_BYTES = 48, FINDING_BYTES = 64 };
enum { MOST = 1 << 28 }; /* of either: their bytes fit size_t */

static unsigned char *put_record(unsigned char *to, const uint32_t *word, int words, uint64_t a,
                                 uint64_t b)
{
    for (int i = 0; i < words; i++)
        to = put_number(to, word[i], 4);
    return put_number(put_number(to, a, 8), b, 8);
}

static unsigned char *put_wait(unsigned char *to, const struct sync_wait *w)
{
    const uint32_t word[WAIT_WORDS] = {w->block, w->warp,     w->barrier, w->lanes,
                                       w->met,   w->products, w->file,    w->line};
    return put_record(to, word, WAIT_WORDS, w->arrived, w->released);
}

static unsigned char *put_finding(unsigned char *to, const struct sync_finding *f)
{
    const uint32_t word[FINDING_WORDS] = {
        f->meaning, f->block, f->thread,       f->verb,       f->space,      f->file,
        f->line,    f->flags, f->other_thread, f->other_verb, f->other_file, f->other_line};
    return put_record(to, word, FINDING_WORDS, f->time, f->offset);
}

bool trace_set_sync(struct trace *t, const struct sync_wait *wait, size_t waits,
                    const struct sync_finding *finding, size_t findings, const char *const *name,
                    size_t names)
{
    struct carried *c = &t->carried[CARRIED_SYNC];
    bool fits = waits <= MOST && findings <= MOST;
    size_t size = 24 + names_bytes(name, names) + waits * WAIT_BYTES + findings * FINDING_BYTES;
    free(c->bytes);
    *c = (struct carried){false, fits ? malloc(size) : NULL, size};
    if (c->bytes == NULL)
        return false;
    unsigned char *to = put_number(put_number(c->bytes, WAIT_BYTES, 4), FINDING_BYTES, 4);
    to = put_number(put_number(put_names(to, name, names), waits, 8), findings, 8);
    for (size_t n = 0; n < waits; n++)
        to = put_wait(to, &wait[n]);
    for (size_t n = 0; n < findings; n++)
        to = put_finding(to, &finding[n]);
    c->present = true;
    return true;
}

static bool check_wait(const struct trace_sync *s, size_t n, struct message *why)
{
    struct sync_wait w = trace_wait(s, n);
    if (w.line != 0 && w.file >= s->names)
        return refuse(why, "SYNC: wait %zu names file %u of %zu", n, w.file, s->names);
    if (w.warp >= 32 || w.barrier >= 16 || w.arrived > w.released)
        return refuse(why, "SYNC: wait %zu is of warp %u at barrier %u, from %llu to %llu", n,
                      w.warp, w.barrier, (unsigned long long)w.arrived,
                      (unsigned long long)w.released);
    return true;
}

static bool check_finding(const struct trace_sync *s, size_t n, struct message *why)
{
    struct sync_finding f = trace_finding(s, n);
    bool named = f.meaning < s->names && (f.line == 0 || f.file < s->names) &&
                 (f.other_line == 0 || f.other_file < s->names);
    if (!named)
        return refuse(why, "SYNC: finding %zu names more than there is: %zu names", n, s->names);
    if (f.verb >= LANE_VERBS || f.other_verb >= LANE_VERBS || f.space >= LANE_SPACES ||
        f.thread >= 1024 || f.other_thread >= 1024 || f.flags > SYNC_FLAGS)
        return refuse(why, "SYNC: finding %zu is of an unknown kind", n);
    return true;
}

/* Sizes and counts, against the bytes that are there; r then stands before the records. */
static bool read_head(struct reader *r, struct trace_sync *s, struct message *why)
{
    s->wait_size = get_u32(r);
    s->finding_size = get_u32(r);
    struct names names = take_names(r);
    uint64_t waits = get_u64(r), findings = get_u64(r);
    if (r->ran_out)
        return refuse(why, "SYNC: it ends among its %zu names", names.count);
    if (s->wait_size < WAIT_BYTES || s->finding_size < FINDING_BYTES)
        return refuse(why,
                      "SYNC: waits of %zu bytes and findings of %zu; they have at least %d, %d",
                      s->wait_size, s->finding_size, WAIT_BYTES, FINDING_BYTES);
    uint64_t left = r->left;
    if (waits > left / s->wait_size ||
        findings != (left - waits * s->wait_size) / s->finding_size ||
        (left - waits * s->wait_size) % s->finding_size != 0)
        return refuse(why, "SYNC: %zu bytes for %llu waits and %llu findings", r->left,
                      (unsigned long long)waits, (unsigned long long)findings);
    s->name_text = names.at;
    s->names = names.count;
    s->waits = (size_t)waits;
    s->findings = (size_t)findings;
    return true;
}

bool trace_sync(const struct trace *t, struct trace_sync *s, struct message *why)
{
    const struct carried *c = &t->carried[CARRIED_SYNC];
    struct reader r = {c->bytes, c->size, false};
    *s = (struct trace_sync){.wait_size = WAIT_BYTES, .finding_size = FINDING_BYTES};
    if (!c->present)
        return true;
    if (!read_head(&r, s, why))
        return false;
    s->wait_records = r.at;
    s->finding_records = r.at + s->waits * s->wait_size;
    for (size_t n = 0; n < s->waits; n++)
        if (!check_wait(s, n, why))
            return false;
    for (size_t n = 0; n < s->findings; n++)
        if (!check_finding(s, n, why))
            return false;
    return true;
}

struct sync_wait trace_wait(const struct trace_sync *s, size_t n)
{
    struct reader r = {s->wait_records + n * s->wait_size, WAIT_BYTES, false};
    uint32_t word[WAIT_WORDS];
    assert(n < s->waits);
    for (int i = 0; i < WAIT_WORDS; i++)
        word[i] = get_u32(&r);
    struct sync_wait w = {.block = word[0],
                          .warp = word[1],
                          .barrier = word[2],
                          .lanes = word[3],
                          .met = word[4],
                          .products = word[5],
                          .file = word[6],
                          .line = word[7]};
    w.arrived = get_u64(&r);
    w.released = get_u64(&r);
    return w;
}

struct sync_finding trace_finding(const struct trace_sync *s, size_t n)
{
    struct reader r = {s->finding_records + n * s->finding_size, FINDING_BYTES, false};
    uint32_t word[FINDING_WORDS];
    assert(n < s->findings);
    for (int i = 0; i < FINDING_WORDS; i++)
        word[i] = get_u32(&r);
    struct sync_finding f = {.meaning = word[0],
                             .block = word[1],
                             .thread = word[2],
                             .verb = word[3],
                             .space = word[4],
                             .file = word[5],
                             .line = word[6],
                             .flags = word[7],
                             .other_thread = word[8],
                             .other_verb = word[9],
                             .other_file = word[10],
                             .other_line = word[11]};
    f.time = get_u64(&r);
    f.offset = get_u64(&r);
    return f;
}

const char *trace_sync_name(const struct trace_sync *s, size_t name, size_t *length)
{
    return name_at((struct names){s->name_text, s->names}, name, length);
}
