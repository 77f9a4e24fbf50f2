/* tensor_npz.c: several .npy in one zip file, as numpy.savez writes it: stored, not compressed.

   The directory at the file's end says where each entry lies; an entry is read only if its bytes
   lie before the directory, no two entries share bytes, and the CRC agrees.  Files of 4 GiB and
   more (zip64 directories) are refused.  Follows PKWARE's APPNOTE, sections 4.3.7, 4.3.12 and
   4.3.16. */
#include "reference/crc32.h"
#include "reference/tensor_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL_SIZE = 30,   /* fixed part of an entry's own header */
    CENTRAL_SIZE = 46, /* fixed part of a directory record */
    END_SIZE = 22,     /* fixed part of the end record */
    MOST_COMMENT = 65535,
    MOST_ENTRIES = 4096
};

static uint32_t word16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t word32(const unsigned char *at)
{
    return word16(at) | word16(at + 2) << 16;
}

/* The directory in memory: `count` records in bytes[0..size), at `start` in the file. */
struct directory {
    unsigned char *bytes;
    uint64_t start, size;
    uint32_t count;
};

struct entry {
    const char *name;
    size_t name_length;
    uint32_t flags, method, crc, packed, size, local;
    uint64_t data; /* offset of its bytes */
};

/* The end record lies at most MOST_COMMENT bytes before the end; the last that fits counts. */
static bool find_end(const struct source *s, unsigned char end[END_SIZE], uint64_t *at,
                     struct message *why)
{
    uint64_t length = s->size < END_SIZE + MOST_COMMENT ? s->size : END_SIZE + MOST_COMMENT;
    unsigned char *tail = malloc((size_t)length);
    if (tail == NULL)
        return refuse(why, "%s: no memory for the zip directory", s->path);
    bool found = false, ok = source_read(s, s->size - length, tail, length, why);
    for (uint64_t i = length; ok && !found && i >= END_SIZE; i--) {
        const unsigned char *record = tail + (i - END_SIZE);
        found = memcmp(record, "PK\5\6", 4) == 0 && word16(record + 20) == length - i;
        if (found) {
            memcpy(end, record, END_SIZE);
            *at = s->size - length + (i - END_SIZE);
        }
    }
    free(tail);
    return ok && !found
               ? refuse(why, "%s: cut short: a zip file (.npz) without its directory", s->path)
               : ok;
}

static bool read_directory(const struct source *s, struct directory *d, struct message *why)
{
    unsigned char end[END_SIZE] = {0};
    uint64_t end_at = 0;
    *d = (struct directory){0};
    if (!find_end(s, end, &end_at, why))
        return false;
    d->count = word16(end + 10);
    d->size = word32(end + 12);
    d->start = word32(end + 16);
    if (s->size > UINT32_MAX || d->count == 0xffff || d->start == UINT32_MAX)
        return refuse(why, "%s: a .npz file of 4 GiB or more; save it as .safetensors", s->path);
    if (d->start > end_at || d->size != end_at - d->start)
        return refuse(why, "%s: the zip directory does not lie where the file's end says", s->path);
    d->bytes = malloc((size_t)d->size + 1);
    if (d->bytes == NULL)
        return refuse(why, "%s: no memory for the zip directory", s->path);
    return source_read(s, d->start, d->bytes, d->size, why);
}

/* The record at *at, which moves behind it. */
static bool next_entry(const struct source *s, const struct directory *d, uint64_t *at,
                       struct entry *e, struct message *why)
{
    const unsigned char *record = d->bytes + *at;
    uint64_t left = d->size - *at;
    if (left < CENTRAL_SIZE || memcmp(record, "PK\1\2", 4) != 0)
        return refuse(why, "%s: a record of the zip directory is damaged", s->path);
    uint64_t length =
        (uint64_t)CENTRAL_SIZE + word16(record + 28) + word16(record + 30) + word16(record + 32);
    if (length > left)
        return refuse(why, "%s: a record of the zip directory is damaged", s->path);
    *e = (struct entry){.name = (const char *)record + CENTRAL_SIZE,
                        .name_length = word16(record + 28),
                        .flags = word16(record + 8),
                        .method = word16(record + 10),
                        .crc = word32(record + 16),
                        .packed = word32(record + 20),
                        .size = word32(record + 24),
                        .local = word32(record + 42)};
    *at += length;
    return true;
}

bool zip_is_torch(const struct source *s)
{
    struct directory d;
    struct message unused;
    struct entry e = {0};
    bool found = false;
    uint64_t at = 0;
    bool ok = read_directory(s, &d, &unused);
    for (uint32_t i = 0; ok && !found && i < d.count; i++) {
        ok = next_entry(s, &d, &at, &e, &unused);
        found = ok && e.name_length >= 8 && memcmp(e.name + e.name_length - 8, "data.pkl", 8) == 0;
    }
    free(d.bytes);
    return found;
}

/* Where the entry's bytes are: behind its own header, whose name must be the directory's. */
static bool locate(const struct source *s, const struct directory *d, const char *label,
                   struct entry *e, struct message *why)
{
    unsigned char head[LOCAL_SIZE];
    char name[256];
    if (e->method != 0)
        return refuse(why, "%s: compressed; write the file with numpy.savez, not savez_compressed",
                      label);
    if ((e->flags & 1) != 0)
        return refuse(why, "%s: encrypted; numpy.savez writes what is read", label);
    if (e->packed != e->size)
        return refuse(why, "%s: stored in %u bytes but said to have %u", label, e->packed, e->size);
    if (d->start < LOCAL_SIZE || e->local > d->start - LOCAL_SIZE)
        return refuse(why, "%s: its offset %u lies outside the file's entries", label, e->local);
    if (!source_read(s, e->local, head, sizeof head, why))
        return false;
    if (memcmp(head, "PK\3\4", 4) != 0 || word16(head + 26) != e->name_length)
        return refuse(why, "%s: no entry of that name at its offset %u", label, e->local);
    e->data = (uint64_t)e->local + LOCAL_SIZE + e->name_length + word16(head + 28);
    if (e->data > d->start || e->size > d->start - e->data)
        return refuse(why, "%s: its %u bytes do not fit between offset %llu and the directory",
                      label, e->size, (unsigned long long)e->data);
    if (!source_read(s, (uint64_t)e->local + LOCAL_SIZE, name, e->name_length, why))
        return false;
    if (memcmp(name, e->name, e->name_length) != 0)
        return refuse(why, "%s: no entry of that name at its offset %u", label, e->local);
    return true;
}

/* The CRC of the entry's bytes, read again in pieces: the header's as well as the tensor's. */
static bool check_crc(const struct source *s, const char *label, const struct entry *e,
                      struct message *why)
{
    unsigned char piece[16384];
    uint32_t crc = 0;
    for (uint32_t done = 0; done < e->size;) {
        uint32_t count = e->size - done < sizeof piece ? e->size - done : (uint32_t)sizeof piece;
        if (!source_read(s, e->data + done, piece, count, why))
            return false;
        crc = crc32_ieee(crc, piece, count);
        done += count;
    }
    if (crc != e->crc)
        return refuse(why, "%s: damaged: its CRC is %08X, the directory says %08X", label, crc,
                      e->crc);
    return true;
}

/* "q.npy" -> q.  The name fits and is new. */
static bool name_entry(const char *label, const struct entry *e, struct bundle *b,
                       struct named_tensor *named, struct message *why)
{
    size_t length = e->name_length;
    if (length < 5 || memcmp(e->name + length - 4, ".npy", 4) != 0)
        return refuse(why, "%s: not a .npy file; numpy.savez writes what is read", label);
    if (length - 4 >= sizeof named->name || memchr(e->name, 0, length) != NULL)
        return refuse(why, "%s: a name of more than %zu characters", label, sizeof named->name - 1);
    memcpy(named->name, e->name, length - 4);
    named->name[length - 4] = 0;
    if (bundle_find(b, named->name) != NULL)
        return refuse(why, "%s: twice in the file", label);
    return true;
}

/* The tensor of one entry, and where its elements are. */
static bool read_entry(const struct source *s, const struct entry *e, const char *label,
                       enum read_what what, struct words *words, struct named_tensor *named,
                       struct message *why)
{
    if (!check_crc(s, label, e, why) ||
        !npy_locate(s, e->data, e->size, label, words, &named->tensor, &named->offset, why))
        return false;
    return what == READ_PLACES ||
           npy_read(s, e->data, e->size, label, words, &named->tensor, why);
}

static bool read_entries(const struct source *s, const struct directory *d, enum format words,
                         enum read_what what, struct bundle *b, struct message *took,
                         struct message *why)
{
    uint64_t at = 0, total = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        struct entry e = {0};
        char label[512];
        struct named_tensor *named = &b->tensors[b->count];
        struct words met = {words, NULL};
        if (!next_entry(s, d, &at, &e, why))
            return false;
        snprintf(label, sizeof label, "%.400s: %s", s->path, quoted(e.name, e.name_length).text);
        if (!name_entry(label, &e, b, named, why) || !locate(s, d, label, &e, why))
            return false;
        /* Entries that share bytes would let a small file ask for much memory. */
        if ((total += e.size) > d->start)
            return refuse(why, "%s: its bytes belong to another entry too", label);
        if (!read_entry(s, &e, label, what, &met, named, why))
            return false;
        b->count++;
        if (met.name != NULL && took->text[0] == 0)
            snprintf(took->text, sizeof took->text, "%s taken as %s bits", met.name,
                     format_info(named->tensor.dtype)->name);
    }
    return true;
}

bool npz_read(const struct source *s, enum format words, enum read_what what, struct bundle *b,
              struct message *took, struct message *why)
{
    struct directory d;
    if (zip_is_torch(s))
        return refuse_torch(why, s->path);
    bool ok = read_directory(s, &d, why);
    if (ok && d.count > MOST_ENTRIES)
        ok = refuse(why, "%s: %u entries; at most %d are read", s->path, d.count, MOST_ENTRIES);
    if (ok) {
        b->tensors = calloc(d.count > 0 ? d.count : 1, sizeof *b->tensors);
        ok = b->tensors != NULL ? read_entries(s, &d, words, what, b, took, why)
                                : refuse(why, "%s: no memory for %u entries", s->path, d.count);
    }
    free(d.bytes);
    return ok;
}
