/* tensor_npy.c: one tensor in NumPy's .npy format, versions 1 to 3.

   A file is \x93NUMPY, two version bytes, the header's length (16 bits in version 1, else 32), the
   header - the Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } - and
   then exactly the elements.  Follows numpy/lib/format.py. */
#include "reference/tensor_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADER = 65536 };

/* What the dictionary says.  `text` points into the header. */
struct npy_header {
    const char *descr;
    size_t descr_length;
    bool fortran;
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
};

/* Reading position in the header, which ends with a zero byte. */
struct cursor {
    const char *at;
    const char *label;
    struct message *why;
};

static void skip_blanks(struct cursor *c)
{
    while (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')
        c->at++;
}

static bool take(struct cursor *c, char wanted)
{
    skip_blanks(c);
    if (*c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    skip_blanks(c);
    size_t length = strlen(word);
    if (strncmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A Python string without escapes. */
static bool take_string(struct cursor *c, const char **text, size_t *length)
{
    skip_blanks(c);
    char quote = *c->at;
    if (quote != '\'' && quote != '"')
        return false;
    *text = c->at + 1;
    const char *end = strchr(*text, quote);
    if (end == NULL)
        return false;
    *length = (size_t)(end - *text);
    c->at = end + 1;
    return true;
}

/* A size: decimal digits, behind which Python 2 wrote an L. */
static bool take_size(struct cursor *c, int64_t *size)
{
    skip_blanks(c);
    if (*c->at < '0' || *c->at > '9')
        return false;
    for (*size = 0; '0' <= *c->at && *c->at <= '9'; c->at++) {
        if (*size > (INT64_MAX - 9) / 10)
            return false;
        *size = 10 * *size + (*c->at - '0');
    }
    if (*c->at == 'L')
        c->at++;
    return true;
}

static bool refuse_header(const struct cursor *c)
{
    return refuse(c->why, "%s: the .npy header is no dictionary of descr, fortran_order and shape",
                  c->label);
}

static bool read_shape(struct cursor *c, struct npy_header *h)
{
    if (!take(c, '('))
        return refuse_header(c);
    for (h->rank = 0; !take(c, ')'); h->rank++) {
        int64_t size;
        if (!take_size(c, &size))
            return refuse(c->why, "%s: a size in the .npy header's shape is no number below 2^63",
                          c->label);
        if (h->rank == TENSOR_MAX_RANK)
            return refuse(c->why, "%s: more than %d dimensions", c->label, TENSOR_MAX_RANK);
        h->shape[h->rank] = size;
        skip_blanks(c);
        if (!take(c, ',') && *c->at != ')')
            return refuse_header(c);
    }
    return true;
}

static bool read_descr(struct cursor *c, struct npy_header *h)
{
    skip_blanks(c);
    if (*c->at == '[')
        return refuse(c->why, "%s: a structured dtype; one number per element is wanted", c->label);
    return take_string(c, &h->descr, &h->descr_length) ? true : refuse_header(c);
}

static bool read_order(struct cursor *c, struct npy_header *h)
{
    h->fortran = take_word(c, "True");
    return h->fortran || take_word(c, "False") ? true : refuse_header(c);
}

static bool read_dictionary(struct cursor *c, struct npy_header *h)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    int seen = 0;
    if (!take(c, '{'))
        return refuse_header(c);
    while (!take(c, '}')) {
        const char *key;
        size_t length;
        if (!take_string(c, &key, &length) || !take(c, ':'))
            return refuse_header(c);
        bool descr = length == 5 && memcmp(key, "descr", 5) == 0;
        bool order = length == 13 && memcmp(key, "fortran_order", 13) == 0;
        bool shape = length == 5 && memcmp(key, "shape", 5) == 0;
        int bit = descr ? DESCR : order ? ORDER : shape ? SHAPE : 0;
        if (bit == 0 || (seen & bit) != 0)
            return refuse_header(c);
        seen |= bit;
        if (!(descr ? read_descr(c, h) : order ? read_order(c, h) : read_shape(c, h)))
            return false;
        skip_blanks(c);
        if (!take(c, ',') && *c->at != '}')
            return refuse_header(c);
    }
    skip_blanks(c);
    return seen == (DESCR | ORDER | SHAPE) && *c->at == 0 ? true : refuse_header(c);
}

/* The spellings of a dtype that are read, without the byte order in front; `words`: the bits of
   some 16-bit format, which the file does not say. */
static const struct npy_dtype {
    const char *name;
    enum format format;
    const char *words;
} npy_dtypes[] = {
    {"f8", FORMAT_FP64, NULL},         {"f4", FORMAT_FP32, NULL}, {"f2", FORMAT_FP16, NULL},
    {"u2", FORMAT_BF16, "uint16"},     {"V2", FORMAT_BF16, "V2"}, {"i2", FORMAT_BF16, "int16"},
    {"uint16", FORMAT_BF16, "uint16"},
};

static bool read_dtype(const struct npy_header *h, const char *label, struct words *words,
                       enum format *dtype, struct message *why)
{
    const char *name = h->descr;
    size_t length = h->descr_length;
    char order = length > 0 ? name[0] : 0;
    if (order == '<' || order == '>' || order == '|' || order == '=') {
        name++;
        length--;
    }
    if (length > 0 && name[0] == 'O')
        return refuse(why, "%s: Python objects (dtype object); a file of numbers is wanted", label);
    for (size_t i = 0; i < sizeof npy_dtypes / sizeof npy_dtypes[0]; i++) {
        const struct npy_dtype *row = &npy_dtypes[i];
        if (strlen(row->name) != length || memcmp(row->name, name, length) != 0)
            continue;
        if (order == '>')
            return refuse(why, "%s: big-endian numbers ('>%s'); save a.astype('<%s')", label,
                          row->name, row->name);
        *dtype = row->words != NULL && words->format == FORMAT_FP16 ? FORMAT_FP16 : row->format;
        if (row->words != NULL)
            words->name = row->words;
        return true;
    }
    return refuse(why,
                  "%s: dtype '%s' is not read; <f8, <f4, <f2 and 16-bit words (<u2, <i2, V2) are",
                  label, quoted(h->descr, h->descr_length).text);
}

/* The header's place and length. */
static bool find_header(const struct source *s, uint64_t offset, uint64_t size, const char *label,
                        uint64_t *start, uint32_t *length, struct message *why)
{
    unsigned char head[12] = {0};
    if (size < 12)
        return refuse(why, "%s: cut short: a .npy file has at least 12 bytes, this one %llu", label,
                      (unsigned long long)size);
    if (!source_read(s, offset, head, sizeof head, why))
        return false;
    if (memcmp(head, "\x93NUMPY", 6) != 0)
        return refuse(why, "%s: not a .npy file, by its first bytes", label);
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return refuse(why, "%s: .npy version %d.%d; 1.0, 2.0 and 3.0 are read", label, head[6],
                      head[7]);
    bool narrow = head[6] == 1;
    *start = narrow ? 10 : 12;
    *length = (uint32_t)head[8] | (uint32_t)head[9] << 8;
    if (!narrow)
        *length |= (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
    if (*length > MOST_HEADER)
        return refuse(why, "%s: a .npy header of %u bytes; at most %d are read", label, *length,
                      MOST_HEADER);
    if (*length > size - *start)
        return refuse(why, "%s: cut short: the .npy header has %u bytes, %llu follow", label,
                      *length, (unsigned long long)(size - *start));
    return true;
}

static bool read_header(const struct source *s, uint64_t at, uint32_t length, const char *label,
                        struct words *words, struct npy_header *h, enum format *dtype,
                        struct message *why)
{
    char *text = malloc((size_t)length + 1);
    if (text == NULL)
        return refuse(why, "%s: no memory for the header", label);
    text[length] = 0;
    struct cursor c = {text, label, why};
    bool ok = source_read(s, at, text, length, why) && read_dictionary(&c, h) &&
              read_dtype(h, label, words, dtype, why);
    h->descr = NULL;
    free(text);
    return ok;
}

bool npy_locate(const struct source *s, uint64_t offset, uint64_t size, const char *label,
                struct words *words, struct tensor *t, uint64_t *at, struct message *why)
{
    uint64_t start = 0, wanted = 0;
    uint32_t length = 0;
    struct npy_header h = {0};
    enum format dtype = FORMAT_FP32;
    *t = (struct tensor){0};
    if (!find_header(s, offset, size, label, &start, &length, why) ||
        !read_header(s, offset + start, length, label, words, &h, &dtype, why))
        return false;
    uint64_t found = size - start - length;
    if (!shape_bytes(dtype, h.rank, h.shape, &wanted))
        return refuse(why, "%s: shape %s is larger than any file", label,
                      shape_text(h.rank, h.shape).text);
    if (wanted != found)
        return refuse(why, "%s: shape %s in %s takes %llu bytes, %llu follow the header (%s)",
                      label, shape_text(h.rank, h.shape).text, format_info(dtype)->name,
                      (unsigned long long)wanted, (unsigned long long)found,
                      found < wanted ? "cut short" : "too many");
    *t = (struct tensor){.dtype = dtype, .rank = h.rank};
    memcpy(t->shape, h.shape, sizeof t->shape);
    tensor_set_strides(t, h.fortran);
    *at = offset + start + length;
    return true;
}

bool npy_read(const struct source *s, uint64_t offset, uint64_t size, const char *label,
              struct words *words, struct tensor *t, struct message *why)
{
    struct tensor found;
    uint64_t at, bytes;
    *t = (struct tensor){0};
    if (!npy_locate(s, offset, size, label, words, &found, &at, why) ||
        !tensor_new_for(label, t, found.dtype, found.rank, found.shape, why))
        return false;
    memcpy(t->stride, found.stride, sizeof t->stride);
    if (shape_bytes(t->dtype, t->rank, t->shape, &bytes) && source_read(s, at, t->data, bytes, why))
        return true;
    tensor_free(t);
    return false;
}

static const char *descr_of(enum format dtype)
{
    switch (dtype) {
    case FORMAT_FP64:
        return "<f8";
    case FORMAT_FP32:
        return "<f4";
    case FORMAT_FP16:
        return "<f2";
    case FORMAT_BF16:
        return "<u2";
    default:
        return NULL;
    }
}

bool tensor_write_npy(const char *path, const struct tensor *t, bool force, struct message *why)
{
    char text[256];
    struct output_file f;
    const char *descr = descr_of(t->dtype);
    if (descr == NULL)
        return refuse(why, "%s: .npy has no %s; name a .safetensors file", path,
                      format_info(t->dtype)->name);
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
                 shape_text(t->rank, t->shape).text);
    /* The elements start at a multiple of 64; the header ends with a newline. */
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    const unsigned char head[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)padded, (unsigned char)(padded >> 8)};
    if (!file_begin(&f, path, force, why))
        return false;
    fwrite(head, 1, sizeof head, f.stream);
    fprintf(f.stream, "%s%*s\n", text, padded - length - 1, "");
    tensor_write_elements(f.stream, t);
    return file_commit(&f, why);
}
