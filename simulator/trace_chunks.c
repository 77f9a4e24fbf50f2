/* trace_chunks.c: see trace_chunks.h; trace_data.h has the bytes. */
#include "simulator/trace_chunks.h"

#include <assert.h>
#include <string.h>

#include "reference/crc32.h"

static const char part_tag[PARTS][5] = {"META", "STRS", "EVNT", "SNAP", "TWIN", "LANE", "AUDT", "SYNC"};

const unsigned char *take_bytes(struct reader *r, size_t bytes)
{
    if (bytes > r->left) {
        r->ran_out = true;
        r->left = 0;
        return NULL;
    }
    r->at += bytes;
    r->left -= bytes;
    return r->at - bytes;
}

uint64_t get_number(struct reader *r, int bytes)
{
    const unsigned char *from = take_bytes(r, (size_t)bytes);
    uint64_t x = 0;
    for (int i = 0; from != NULL && i < bytes; i++)
        x |= (uint64_t)from[i] << 8 * i;
    return x;
}

uint32_t get_u32(struct reader *r)
{
    return (uint32_t)get_number(r, 4);
}

uint64_t get_u64(struct reader *r)
{
    return get_number(r, 8);
}

double get_double(struct reader *r)
{
    uint64_t bits = get_u64(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return trace_canonical(x);
}

double get_float(struct reader *r)
{
    uint32_t bits = get_u32(r);
    float x;
    memcpy(&x, &bits, sizeof x);
    return trace_canonical(x);
}

unsigned char *put_number(unsigned char *to, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)(x >> 8 * i);
    return to;
}

static size_t name_bytes(const char *name)
{
    size_t length = strlen(name);
    return length < TRACE_LONGEST_NAME ? length : TRACE_LONGEST_NAME;
}

size_t names_bytes(const char *const *name, size_t count)
{
    size_t size = 4;
    for (size_t i = 0; i < count; i++)
        size += 2 + name_bytes(name[i]);
    return size;
}

unsigned char *put_names(unsigned char *to, const char *const *name, size_t count)
{
    to = put_number(to, count, 4);
    for (size_t i = 0; i < count; i++) {
        to = put_number(to, name_bytes(name[i]), 2);
        memcpy(to, name[i], name_bytes(name[i]));
        to += name_bytes(name[i]);
    }
    return to;
}

struct names take_names(struct reader *r)
{
    struct names names = {.count = get_u32(r)};
    names.at = r->at;
    for (size_t i = 0; i < names.count && !r->ran_out; i++)
        take_bytes(r, (size_t)get_number(r, 2));
    return names;
}

const char *name_at(struct names names, size_t n, size_t *length)
{
    struct reader r = {names.at, SIZE_MAX, false}; /* take_names has seen them all */
    assert(n < names.count);
    for (size_t i = 0; i < n; i++)
        take_bytes(&r, (size_t)get_number(&r, 2));
    *length = (size_t)get_number(&r, 2);
    return (const char *)take_bytes(&r, *length);
}

static bool check_header(struct reader *r, struct message *why)
{
    struct reader whole = *r;
    size_t magic = r->left < 8 ? r->left : 8;
    if (magic == 0)
        return refuse(why, "empty, not a trace");
    if (memcmp(r->at, "ULPTRACE", magic) != 0)
        return refuse(why, "not a trace: a trace begins with ULPTRACE");
    if (r->left < TRACE_HEADER_BYTES)
        return refuse(why, "cut short: the header has %d bytes, the file %zu", TRACE_HEADER_BYTES,
                      r->left);
    take_bytes(r, 8);
    unsigned major = (unsigned)get_number(r, 2), minor = (unsigned)get_number(r, 2),
             crc = get_u32(r);
    if (major > TRACE_MAJOR)
        return refuse(why,
                      "trace version %u.%u is newer than this program, which reads version %d; "
                      "use a newer flashulp",
                      major, minor, TRACE_MAJOR);
    unsigned computed = crc32_ieee(0, whole.at, 12);
    if (crc != computed)
        return refuse(why, "damaged: the header's CRC is %08x, the file says %08x", computed, crc);
    return major == TRACE_MAJOR || refuse(why, "there is no trace version %u.%u", major, minor);
}

static bool note_part(struct parts *parts, const char *tag, struct reader contents,
                      struct message *why)
{
    for (int p = 0; p < PARTS; p++) {
        if (memcmp(part_tag[p], tag, 4) != 0)
            continue;
        if (parts->of[p].at != NULL)
            return refuse(why, "two %s chunks; a trace has at most one", tag);
        parts->of[p] = contents;
    }
    return true;
}

/* One chunk, its CRC checked; `tag` receives its letters. */
static bool next_chunk(struct reader *r, size_t offset, char tag[5], struct reader *contents,
                       struct message *why)
{
    if (r->left == 0)
        return refuse(why, "cut short: the file ends at byte %zu without a TEND chunk", offset);
    if (r->left < TRACE_CHUNK_BYTES)
        return refuse(why, "cut short: %zu bytes at byte %zu, too few for a chunk", r->left,
                      offset);
    const unsigned char *start = r->at;
    for (int i = 0; i < 4; i++)
        tag[i] = start[i] >= ' ' && start[i] <= '~' ? (char)start[i] : '?';
    tag[4] = '\0';
    take_bytes(r, 4);
    uint64_t length = get_u64(r);
    if (length > r->left - 4)
        return refuse(why, "cut short: chunk %s at byte %zu has %llu bytes, the file %zu more", tag,
                      offset, (unsigned long long)length, r->left - 4);
    *contents = (struct reader){take_bytes(r, (size_t)length), (size_t)length, false};
    unsigned computed = crc32_ieee(0, start, (size_t)length + 12), crc = get_u32(r);
    if (crc != computed)
        return refuse(why, "damaged: the CRC of chunk %s at byte %zu is %08x, the file says %08x",
                      tag, offset, computed, crc);
    return true;
}

bool trace_check_header(const unsigned char *bytes, size_t size, struct message *why)
{
    struct reader r = {bytes, size, false};
    return check_header(&r, why);
}

bool trace_find_parts(const unsigned char *bytes, size_t size, struct parts *parts,
                      struct message *why)
{
    struct reader r = {bytes, size, false}, contents = {0};
    char tag[5] = "";
    if (!check_header(&r, why))
        return false;
    while (memcmp(tag, "TEND", 4) != 0)
        if (!next_chunk(&r, size - r.left, tag, &contents, why) ||
            !note_part(parts, tag, contents, why))
            return false;
    if (r.left != 0)
        return refuse(why, "%zu bytes after the TEND chunk, which is the last", r.left);
    for (int p = STRS; p <= EVNT; p++)
        if (parts->of[p].at == NULL)
            return refuse(why, "no %s chunk, which every trace has", part_tag[p]);
    return true;
}
