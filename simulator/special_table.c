/* special_table.c: the reader of special_table.h's format.  A whole ex2 has 4 GiB: the file is
   mapped, and read once for its checksum. */
#include "simulator/special_table.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/message.h"
#include "reference/sha256.h"
#include "simulator/special.h"

struct section {
    enum table_function function;
    uint32_t layout, entry, flags;
    uint64_t first, count;
    const unsigned char *data;
};

struct special_table {
    char *path;
    char architecture[17], device[65], driver[65];
    struct sha256_text hash;
    const unsigned char *bytes;
    uint64_t size;
    int sections;
    struct section section[TABLE_SECTIONS];
    struct special_table *next; /* among those opened */
};

static const char *const function_names[TABLE_FUNCTIONS] = {"ex2", "lg2", "rcp", "tanh"};

const char *table_function_name(enum table_function fn)
{
    return function_names[fn];
}

static uint64_t little_endian(const unsigned char *at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)at[i] << 8 * i;
    return x;
}

static bool all_zero(const unsigned char *at, size_t count)
{
    while (count > 0 && at[count - 1] == 0)
        count--;
    return count == 0;
}

/* A text field of `room` bytes into text[room + 1]: printable, then zeros, at least one. */
static bool take_text(const unsigned char *at, size_t room, char *text)
{
    size_t length = 0;
    while (length < room && at[length] >= 0x20 && at[length] < 0x7F)
        length++;
    memcpy(text, at, length);
    text[length] = 0;
    return length < room && all_zero(at + length, room - length);
}

static bool take_function(const unsigned char *at, enum table_function *fn)
{
    char name[9];
    if (!take_text(at, 8, name))
        return false;
    for (int i = 0; i < TABLE_FUNCTIONS; i++)
        if (strcmp(name, function_names[i]) == 0) {
            *fn = (enum table_function)i;
            return true;
        }
    return false;
}

static bool layout_fits(const struct special_table *t, int n, const struct section *s,
                        struct message *why)
{
    bool entry = s->entry == 1 || s->entry == 2 || s->entry == 4;
    if (s->layout != TABLE_RANGE && s->layout != TABLE_FRACTION)
        return refuse(why, "%s: section %d has layout %u; 1 or 2 is right", t->path, n, s->layout);
    if (!entry)
        return refuse(why, "%s: section %d has entries of kind %u; 1, 2 or 4 is right", t->path, n,
                      s->entry);
    if (s->flags & ~(uint32_t)TABLE_FTZ)
        return refuse(why, "%s: section %d has flags %u; 0 or 1 is right", t->path, n, s->flags);
    if (s->layout == TABLE_FRACTION &&
        (s->function != TABLE_RCP || s->first != 0 || s->count != UINT64_C(1) << 23))
        return refuse(why, "%s: section %d: an entry for each of the 2^23 fractions of x is a "
                           "layout of rcp alone",
                      t->path, n);
    if (s->first >> 32 != 0 || s->count == 0 || s->count > (UINT64_C(1) << 32) - s->first)
        return refuse(why, "%s: section %d: inputs %llu and %llu after it are no range of 32 bits",
                      t->path, n, (unsigned long long)s->first, (unsigned long long)s->count);
    return true;
}

static bool overlaps(const struct section *a, const struct section *b)
{
    if (a->function != b->function)
        return false;
    if (a->layout == TABLE_FRACTION || b->layout == TABLE_FRACTION)
        return true;
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

static bool take_section(struct special_table *t, int n, struct message *why)
{
    const unsigned char *at = t->bytes + TABLE_HEADER_BYTES + TABLE_SECTION_BYTES * (size_t)n;
    struct section *s = &t->section[n];
    uint64_t offset = little_endian(at + 40, 8);
    uint64_t sections_end = TABLE_HEADER_BYTES + TABLE_SECTION_BYTES * (uint64_t)t->sections;
    s->layout = (uint32_t)little_endian(at + 8, 4);
    s->entry = (uint32_t)little_endian(at + 12, 4);
    s->flags = (uint32_t)little_endian(at + 16, 4);
    s->first = little_endian(at + 24, 8);
    s->count = little_endian(at + 32, 8);
    if (!take_function(at, &s->function))
        return refuse(why, "%s: section %d is of no function known here: ex2, lg2, rcp or tanh",
                      t->path, n);
    if (!layout_fits(t, n, s, why))
        return false;
    if (offset < sections_end || offset % 8 != 0 || offset > t->size ||
        s->count * s->entry > t->size - offset)
        return refuse(why, "%s: section %d (%s) does not lie inside the file", t->path, n,
                      function_names[s->function]);
    for (int i = 0; i < n; i++)
        if (overlaps(s, &t->section[i]))
            return refuse(why, "%s: sections %d and %d give %s twice for the same inputs", t->path,
                          i, n, function_names[s->function]);
    s->data = t->bytes + offset;
    return true;
}

static bool checksum_holds(struct special_table *t, struct message *why)
{
    struct sha256 hash;
    char wanted[65];
    sha256_start(&hash);
    sha256_add(&hash, t->bytes + TABLE_HASHED_FROM, t->size - TABLE_HASHED_FROM);
    t->hash = sha256_end(&hash);
    for (int i = 0; i < 32; i++)
        snprintf(wanted + 2 * i, 3, "%02x", t->bytes[16 + i]);
    return strcmp(wanted, t->hash.text) == 0 ||
           refuse(why, "%s: its checksum is %.16s..., its header says %.16s...: it was changed or "
                       "damaged; probe again, or copy it again",
                  t->path, t->hash.text, wanted);
}

static bool take_header(struct special_table *t, struct message *why)
{
    const unsigned char *h = t->bytes;
    uint64_t version = little_endian(h + 8, 4), sections = little_endian(h + 12, 4);
    if (version != TABLE_VERSION)
        return refuse(why, "%s: version %llu of the table format; version %d is read here", t->path,
                      (unsigned long long)version, TABLE_VERSION);
    if (little_endian(h + 48, 8) != t->size)
        return refuse(why, "%s has %llu bytes and says it has %llu: it was cut off, or something "
                           "was added",
                      t->path, (unsigned long long)t->size,
                      (unsigned long long)little_endian(h + 48, 8));
    if (sections < 1 || sections > TABLE_SECTIONS ||
        TABLE_HEADER_BYTES + TABLE_SECTION_BYTES * sections > t->size)
        return refuse(why, "%s says it has %llu sections; 1 to %d that it has room for are right",
                      t->path, (unsigned long long)sections, TABLE_SECTIONS);
    t->sections = (int)sections;
    if (!take_text(h + 64, 16, t->architecture) || !take_text(h + 80, 64, t->device) ||
        !take_text(h + 144, 64, t->driver))
        return refuse(why, "%s: architecture, device and driver are to be printable ASCII with "
                           "zeros behind",
                      t->path);
    for (int n = 0; n < t->sections; n++)
        if (!take_section(t, n, why))
            return false;
    return checksum_holds(t, why);
}

/* The file's bytes, mapped; they stay when it is closed. */
static bool map_file(struct special_table *t, struct message *why)
{
    struct stat info;
    int file = open(t->path, O_RDONLY);
    if (file < 0)
        return refuse(why, "%s: %s", t->path, strerror(errno));
    bool known = fstat(file, &info) == 0;
    void *bytes = MAP_FAILED;
    bool regular = known && S_ISREG(info.st_mode);
    bool long_enough = regular && info.st_size >= TABLE_HEADER_BYTES;
    if (long_enough && (uint64_t)info.st_size <= SIZE_MAX)
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (!regular)
        return refuse(why, "%s is no file that can be mapped", t->path);
    if (!long_enough)
        return refuse(why, "%s has %lld bytes; a table of special functions has %d and more",
                      t->path, (long long)info.st_size, TABLE_HEADER_BYTES);
    if (bytes == MAP_FAILED)
        return refuse(why, "%s: no room to map %lld bytes", t->path, (long long)info.st_size);
    t->bytes = bytes;
    t->size = (uint64_t)info.st_size;
    if (memcmp(t->bytes, TABLE_MAGIC, 8) != 0)
        return refuse(why, "%s is no table of special functions: it does not begin with %s",
                      t->path, TABLE_MAGIC);
    return true;
}

static struct special_table *opened;

const struct special_table *special_table_open(const char *path, struct message *why)
{
    for (struct special_table *t = opened; t != NULL; t = t->next)
        if (strcmp(t->path, path) == 0)
            return t;
    struct special_table *t = calloc(1, sizeof *t);
    if (t == NULL || (t->path = malloc(strlen(path) + 1)) == NULL) {
        free(t);
        refuse(why, "no memory");
        return NULL;
    }
    strcpy(t->path, path);
    if (map_file(t, why) && take_header(t, why)) {
        t->next = opened;
        opened = t;
        return t;
    }
    if (t->bytes != NULL)
        munmap((void *)t->bytes, (size_t)t->size);
    free(t->path);
    free(t);
    return NULL;
}

bool special_table_has(const struct special_table *t, enum table_function fn)
{
    for (int n = 0; n < t->sections; n++)
        if (t->section[n].function == fn)
            return true;
    return false;
}

struct special_table_info special_table_info(const struct special_table *t)
{
    const char *slash = strrchr(t->path, '/');
    return (struct special_table_info){t->path, slash != NULL ? slash + 1 : t->path,
                                       t->architecture, t->device, t->driver, t->hash.text};
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The float `steps` places above y. */
static float stepped(float y, int32_t steps)
{
    const int32_t infinity = 0x7F800000;
    uint32_t bits = bits_of(y);
    int32_t place = (int32_t)(bits & 0x7FFFFFFF);
    if (steps == 0 || isnan(y))
        return y;
    place = bits >> 31 ? -place : place;
    int64_t moved = (int64_t)place + steps;
    moved = moved > infinity ? infinity : moved < -infinity ? -infinity : moved;
    return float_of(moved < 0 ? 0x80000000u | (uint32_t)-moved : (uint32_t)moved);
}

/* y, correctly rounded, as entry n has it. */
static float entered(const struct section *s, uint64_t n, float y)
{
    const unsigned char *at = s->data + n * s->entry;
    if (s->entry == 1)
        return stepped(y, (int8_t)at[0]);
    uint32_t word = (uint32_t)little_endian(at, (int)s->entry);
    return s->entry == 2 ? stepped(y, (int16_t)(uint16_t)word) : float_of(word);
}

static float flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* 1/x from the entry of x's fraction. */
static float reciprocal(const struct section *s, float x)
{
    int exponent;
    if (x == 0 || isinf(x))
        return 1 / x;
    float m = 2 * frexpf(fabsf(x), &exponent); /* [1, 2), |x| = m 2^(exponent - 1) */
    float y = entered(s, bits_of(m) & 0x7FFFFF, 1 / m);
    return copysignf((float)ldexp(y, 1 - exponent), x);
}

/* The section that has an entry for x, or NULL. */
static const struct section *section_for(const struct special_table *t, enum table_function fn,
                                         float x)
{
    uint32_t bits = bits_of(x);
    for (int n = 0; n < t->sections; n++) {
        const struct section *s = &t->section[n];
        if (s->function != fn)
            continue;
        uint64_t input = s->flags & TABLE_FTZ ? bits_of(flushed(x)) : bits;
        if (s->layout == TABLE_FRACTION || (input >= s->first && input - s->first < s->count))
            return s;
    }
    return NULL;
}

/* y[i] = fn(x[i]), correctly rounded to fp32. */
static void correctly_rounded(enum table_function fn, float *y, const float *x, size_t n)
{
    static const enum function functions[TABLE_FUNCTIONS] = {
        [TABLE_EX2] = FUNCTION_EXP2, [TABLE_LG2] = FUNCTION_LOG2, [TABLE_TANH] = FUNCTION_TANH};
    if (fn != TABLE_RCP)
        special_cr(functions[fn], FORMAT_FP32, false, y, x, n);
    for (size_t i = 0; i < n && fn == TABLE_RCP; i++)
        y[i] = 1 / x[i];
}

/* fn(x), whose correctly rounded value is y. */
static float looked_up(const struct section *s, float x, float y)
{
    if (s != NULL && s->layout == TABLE_FRACTION)
        y = reciprocal(s, x);
    else if (s != NULL)
        y = entered(s, bits_of(x) - s->first, y);
    y = s != NULL && s->flags & TABLE_FTZ ? flushed(y) : y;
    return isnan(y) ? float_of(0x7FC00000) : y;
}

void special_table_apply(const struct special_table *t, enum table_function fn, float *y,
                         const float *x, size_t n)
{
    enum { BLOCK = 256 };
    const struct section *section[BLOCK];
    float input[BLOCK], rounded[BLOCK];
    assert(special_table_has(t, fn));
    for (size_t start = 0; start < n; start += BLOCK) {
        size_t count = n - start < BLOCK ? n - start : BLOCK;
        for (size_t i = 0; i < count; i++) {
            section[i] = section_for(t, fn, x[start + i]);
            bool flushes = section[i] != NULL && section[i]->flags & TABLE_FTZ;
            input[i] = flushes ? flushed(x[start + i]) : x[start + i];
        }
        correctly_rounded(fn, rounded, input, count);
        for (size_t i = 0; i < count; i++)
            y[start + i] = isnan(input[i]) ? float_of(0x7FC00000)
                                           : looked_up(section[i], input[i], rounded[i]);
    }
}
