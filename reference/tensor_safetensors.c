/* tensor_safetensors.c: named tensors and text metadata in the .safetensors format.

   A file is 8 bytes (the header's length), the header - a JSON object of NAME: {dtype, shape,
   data_offsets} and __metadata__: {text: text} - and the tensors' bytes, which must fill the rest
   without holes or overlaps.  The header is measured before cJSON sees it, and nothing in it is
   used before it was checked.  Follows the format's README (huggingface/safetensors). */
#include "reference/tensor_file.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_HEADER = 16 << 20,
    MOST_TENSORS = 65536,
    MOST_DEPTH = 3 /* { name: { shape: [ */
};

const struct safetensors_dtype safetensors_dtypes[] = {
    {"F64", FORMAT_FP64},     {"F32", FORMAT_FP32},     {"F16", FORMAT_FP16}, {"BF16", FORMAT_BF16},
    {"F8_E4M3", FORMAT_E4M3}, {"F8_E5M2", FORMAT_E5M2}, {NULL, FORMAT_EXACT},
};

/* What READ_DUMP takes besides: whole numbers, as fp64, and the rest, of which only the place. */
enum stored { NUMBERS, INTEGERS, OTHERS };
static const struct {
    const char *name;
    enum stored stored;
    unsigned bytes;
} dump_dtypes[] = {
    {"I32", INTEGERS, 4}, {"I64", INTEGERS, 8}, {"BOOL", OTHERS, 1}, {"U8", OTHERS, 1},
    {"I8", OTHERS, 1},    {"I16", OTHERS, 2},   {"U16", OTHERS, 2},  {"U32", OTHERS, 4},
    {"U64", OTHERS, 8},
};
enum { DUMP_DTYPES = sizeof dump_dtypes / sizeof dump_dtypes[0] };

/* One tensor's record: where its bytes are, counted from the end of the header. */
struct span {
    uint64_t begin, end;
    int index; /* in the bundle */
    enum stored stored;
    unsigned bytes; /* of an element, where it is no number of a format */
};

static struct quoted quoted_text(const char *text)
{
    return quoted(text, strlen(text));
}

/* Nesting and characters cJSON would accept though the format does not, checked on the text. */
static bool check_text(const struct source *s, const char *text, uint64_t length,
                       struct message *why)
{
    int depth = 0;
    bool inside = false;
    for (uint64_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == 0 || (c == '\\' && inside && strncmp(text + i + 1, "u0000", 5) == 0))
            return refuse(why, "%s: a zero byte in the header", s->path);
        if (c == '"')
            inside = !inside;
        else if (c == '\\' && inside)
            i++;
        else if (!inside && (c == '{' || c == '['))
            depth++;
        else if (!inside && (c == '}' || c == ']'))
            depth--;
        if (depth > MOST_DEPTH)
            return refuse(why, "%s: the header is nested deeper than any tensor's record", s->path);
    }
    return true;
}

static bool read_header(const struct source *s, char **text, uint64_t *length, struct message *why)
{
    *text = NULL;
    if (!source_read(s, 0, length, sizeof *length, why))
        return false;
    if (*length > s->size - sizeof *length)
        return refuse(why, "%s: cut short: a header of %" PRIu64 " bytes, %" PRIu64 " follow",
                      s->path, *length, s->size - sizeof *length);
    if (*length > MOST_HEADER)
        return refuse(why, "%s: a header of %" PRIu64 " bytes; at most %d are read", s->path,
                      *length, MOST_HEADER);
    *text = malloc((size_t)*length + 1);
    if (*text == NULL)
        return refuse(why, "%s: no memory for the header", s->path);
    (*text)[*length] = 0; /* also the one byte too many that cJSON before 1.7.18 may look at */
    return source_read(s, sizeof *length, *text, *length, why) &&
           check_text(s, *text, *length, why);
}

static bool parse_header(const struct source *s, cJSON **json, uint64_t *data_start,
                         struct message *why)
{
    char *text;
    const char *end = NULL;
    uint64_t length = 0;
    *json = NULL;
    bool ok = read_header(s, &text, &length, why);
    if (ok) {
        *json = cJSON_ParseWithLengthOpts(text, (size_t)length, &end, false);
        ok = cJSON_IsObject(*json) && text[0] == '{';
        for (; ok && end < text + length; end++)
            ok = *end == ' ';
        if (!ok)
            refuse(why, "%s: the header is no JSON object", s->path);
    }
    *data_start = sizeof length + length;
    free(text);
    return ok;
}

/* An integer from 0 to 2^53, beyond which JSON's numbers are no longer exact. */
static bool read_integer(const cJSON *item, uint64_t *value)
{
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > 0x1p53)
        return false;
    *value = (uint64_t)item->valuedouble;
    return (double)*value == item->valuedouble;
}

static bool read_dtype(const char *label, const cJSON *item, enum read_what what,
                       enum format *dtype, struct span *span, struct message *why)
{
    for (int i = 0; safetensors_dtypes[i].name != NULL; i++)
        if (strcmp(item->valuestring, safetensors_dtypes[i].name) == 0) {
            *dtype = safetensors_dtypes[i].format;
            return true;
        }
    for (int i = 0; i < DUMP_DTYPES && what == READ_DUMP; i++)
        if (strcmp(item->valuestring, dump_dtypes[i].name) == 0) {
            *dtype = FORMAT_FP64;
            span->stored = dump_dtypes[i].stored;
            span->bytes = dump_dtypes[i].bytes;
            return true;
        }
    return refuse(why, "%s: dtype %s is not read; F64, F32, F16, BF16, F8_E4M3 and F8_E5M2 are",
                  label, quoted_text(item->valuestring).text);
}

/* READ_DUMP: the second of five dimensions goes into the first. */
static bool fold(const char *label, int64_t size, int64_t *shape, int64_t *folded,
                 struct message *why)
{
    if (*folded != 0 || shape[1] == 0)
        return refuse(why, "%s: more than five dimensions, or none in the second", label);
    *folded = shape[1];
    if (__builtin_mul_overflow(shape[0], shape[1], &shape[0]))
        return refuse(why, "%s: larger than any file", label);
    memmove(shape + 1, shape + 2, 2 * sizeof *shape);
    shape[3] = size;
    return true;
}

static bool read_shape(const char *label, const cJSON *list, enum read_what what, int *rank,
                       int64_t *shape, int64_t *folded, struct message *why)
{
    *rank = 0;
    *folded = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        uint64_t size;
        if (!read_integer(item, &size))
            return refuse(why, "%s: a size in its shape is no integer from 0 to 2^53", label);
        if (*rank == TENSOR_MAX_RANK && what != READ_DUMP)
            return refuse(why, "%s: more than %d dimensions", label, TENSOR_MAX_RANK);
        if (*rank == TENSOR_MAX_RANK && !fold(label, (int64_t)size, shape, folded, why))
            return false;
        if (*rank < TENSOR_MAX_RANK)
            shape[(*rank)++] = (int64_t)size;
    }
    return true;
}

/* Bytes as they lie in the file. */
static bool stored_bytes(const struct tensor *t, const struct span *span, uint64_t *bytes)
{
    if (!shape_bytes(t->dtype, t->rank, t->shape, bytes))
        return false;
    if (span->stored != NUMBERS)
        *bytes = *bytes / dtype_bytes(t->dtype) * span->bytes;
    return true;
}

/* The record of one tensor: exactly dtype, shape and data_offsets. */
static bool read_record(const char *label, const cJSON *record, uint64_t room,
                        enum read_what what, struct named_tensor *named, struct span *span,
                        struct message *why)
{
    struct tensor *t = &named->tensor;
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(record, "dtype");
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(record, "shape");
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(record, "data_offsets");
    uint64_t bytes;
    if (!cJSON_IsObject(record) || cJSON_GetArraySize(record) != 3 || !cJSON_IsString(dtype) ||
        !cJSON_IsArray(shape) || !cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2)
        return refuse(why, "%s: its record is not dtype, shape and data_offsets, each once", label);
    if (!read_dtype(label, dtype, what, &t->dtype, span, why) ||
        !read_shape(label, shape, what, &t->rank, t->shape, &named->folded, why))
        return false;
    if (!read_integer(offsets->child, &span->begin) ||
        !read_integer(offsets->child->next, &span->end))
        return refuse(why, "%s: an offset is no integer from 0 to 2^53", label);
    if (!stored_bytes(t, span, &bytes))
        return refuse(why, "%s: shape %s is larger than any file", label,
                      shape_text(t->rank, t->shape).text);
    if (span->begin > span->end || span->end > room)
        return refuse(why,
                      "%s: bytes %" PRIu64 " to %" PRIu64 " are not within the %" PRIu64
                      " behind the header",
                      label, span->begin, span->end, room);
    if (span->end - span->begin != bytes)
        return refuse(why, "%s: shape %s in %s takes %" PRIu64 " bytes, its offsets hold %" PRIu64,
                      label, shape_text(t->rank, t->shape).text, dtype->valuestring, bytes,
                      span->end - span->begin);
    return true;
}

static bool read_metadata(const struct source *s, const cJSON *object, struct bundle *b,
                          struct message *why)
{
    enum { MOST = 4096 };
    if (!cJSON_IsObject(object) || cJSON_GetArraySize(object) > MOST)
        return refuse(why, "%s: __metadata__ is no object of at most %d texts", s->path, MOST);
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        if (!cJSON_IsString(item))
            return refuse(why, "%s: __metadata__: %s is no text", s->path,
                          quoted_text(item->string).text);
        struct message cause;
        if (!bundle_add_meta(b, item->string, item->valuestring, &cause))
            return refuse(why, "%s: __metadata__: %s", s->path, cause.text);
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The header's names, __metadata__ included, differ from each other. */
static bool check_names(const struct source *s, const cJSON *json, int count, struct message *why)
{
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    int n = 0;
    bool ok = names != NULL ? true : refuse(why, "%s: no memory for the header", s->path);
    for (const cJSON *item = json->child; ok && item != NULL; item = item->next)
        names[n++] = item->string;
    if (ok)
        qsort(names, (size_t)n, sizeof *names, compare_names);
    for (int i = 1; ok && i < n; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            ok = refuse(why, "%s: '%s' twice in the header", s->path, quoted_text(names[i]).text);
    free(names);
    return ok;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Sorted by place, each tensor begins where the one before ended, and the last ends the file. */
static bool check_spans(const struct source *s, const struct bundle *b, struct span *spans,
                        uint64_t room, struct message *why)
{
    uint64_t end = 0;
    qsort(spans, (size_t)b->count, sizeof *spans, compare_spans);
    for (int i = 0; i < b->count; i++) {
        const char *name = b->tensors[spans[i].index].name;
        if (spans[i].begin < end)
            return refuse(why, "%s: %s: begins at %" PRIu64 ", inside the tensor before it",
                          s->path, quoted_text(name).text, spans[i].begin);
        if (spans[i].begin > end)
            return refuse(why,
                          "%s: %s: begins at %" PRIu64 ", the tensor before it ends at %" PRIu64,
                          s->path, quoted_text(name).text, spans[i].begin, end);
        end = spans[i].end;
    }
    if (end != room)
        return refuse(why, "%s: %" PRIu64 " bytes behind the last tensor belong to none", s->path,
                      room - end);
    return true;
}

/* Fills names, dtypes and shapes; the data pointers stay NULL until all records are sound. */
static bool read_records(const struct source *s, const cJSON *json, uint64_t room,
                         enum read_what what, struct bundle *b, struct span *spans,
                         struct message *why)
{
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        char label[512];
        struct named_tensor *named = &b->tensors[b->count];
        if (strcmp(item->string, "__metadata__") == 0) {
            if (!read_metadata(s, item, b, why))
                return false;
            continue;
        }
        snprintf(label, sizeof label, "%.400s: %s", s->path, quoted_text(item->string).text);
        if (item->string[0] == 0 || strlen(item->string) >= sizeof named->name)
            return refuse(why, "%s: a name wants 1 to %zu characters", label,
                          sizeof named->name - 1);
        if (!read_record(label, item, room, what, named, &spans[b->count], why))
            return false;
        strcpy(named->name, item->string);
        spans[b->count].index = b->count;
        b->count++;
    }
    return true;
}

/* Whole numbers of `bytes` each, at the start of the room for as many doubles, become doubles: from
   the last on, which lies at or behind its own. */
static bool widen(const char *label, struct tensor *t, unsigned bytes, struct message *why)
{
    char *at = t->data;
    for (int64_t i = tensor_elements(t) - 1; i >= 0; i--) {
        int64_t whole;
        int32_t half;
        memcpy(&half, at + (size_t)i * bytes, sizeof half);
        if (bytes == sizeof whole)
            memcpy(&whole, at + (size_t)i * bytes, sizeof whole);
        else
            whole = half;
        if (whole > (int64_t)1 << 53 || whole < -((int64_t)1 << 53))
            return refuse(why, "%s: element %" PRIi64 " is beyond 2^53", label, i);
        double x = (double)whole;
        memcpy(at + (size_t)i * sizeof x, &x, sizeof x);
    }
    return true;
}

/* What of each tensor is not known yet: where it is, and its elements. */
static bool read_data(const struct source *s, uint64_t data_start, enum read_what what,
                      struct bundle *b, const struct span *spans, struct message *why)
{
    for (int i = 0; i < b->count; i++) {
        char label[512];
        struct named_tensor *named = &b->tensors[spans[i].index];
        struct tensor shape = named->tensor;
        named->offset = data_start + spans[i].begin;
        tensor_set_strides(&named->tensor, false);
        if (what == READ_PLACES)
            continue;
        snprintf(label, sizeof label, "%.400s: %s", s->path, quoted_text(named->name).text);
        if (spans[i].stored == OTHERS)
            continue;
        if (!tensor_new_for(label, &named->tensor, shape.dtype, shape.rank, shape.shape, why) ||
            !source_read(s, named->offset, named->tensor.data, spans[i].end - spans[i].begin, why))
            return false;
        if (spans[i].stored == INTEGERS && !widen(label, &named->tensor, spans[i].bytes, why))
            return false;
    }
    return true;
}

bool safetensors_read(const struct source *s, enum read_what what, struct bundle *b,
                      struct message *why)
{
    cJSON *json;
    uint64_t data_start;
    struct span *spans = NULL;
    bool ok = parse_header(s, &json, &data_start, why);
    ok = ok && (what == READ_PLACES || memory_holds(s->path, s->size - data_start, why));
    int count = ok ? cJSON_GetArraySize(json) : 0;
    if (ok && count > MOST_TENSORS)
        ok = refuse(why, "%s: %d tensors; at most %d are read", s->path, count, MOST_TENSORS);
    if (ok) {
        b->tensors = calloc((size_t)count + 1, sizeof *b->tensors);
        spans = calloc((size_t)count + 1, sizeof *spans);
        ok = b->tensors != NULL && spans != NULL
                 ? check_names(s, json, count, why)
                 : refuse(why, "%s: no memory for %d tensors", s->path, count);
    }
    ok = ok && read_records(s, json, s->size - data_start, what, b, spans, why) &&
         check_spans(s, b, spans, s->size - data_start, why) &&
         read_data(s, data_start, what, b, spans, why);
    cJSON_Delete(json);
    free(spans);
    return ok;
}
