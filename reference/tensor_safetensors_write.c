/* tensor_safetensors_write.c: writes the .safetensors format; tensor_safetensors.c says what that is. */
#include "reference/tensor_file.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *numbers(const int64_t *values, int count)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)values[i]));
    return list;
}

static const char *dtype_name(enum format dtype)
{
    int i = 0;
    while (safetensors_dtypes[i].format != dtype)
        i++;
    return safetensors_dtypes[i].name;
}

/* The header's text, from cJSON's allocator.  order[i]: the tensor that comes i-th. */
static char *make_header(const struct bundle *b, const int *order)
{
    cJSON *json = cJSON_CreateObject();
    int64_t span[2] = {0, 0};
    if (b->meta_count > 0) {
        cJSON *metadata = cJSON_AddObjectToObject(json, "__metadata__");
        for (int i = 0; i < b->meta_count; i++)
            cJSON_AddStringToObject(metadata, b->meta_keys[i], b->meta_values[i]);
    }
    for (int i = 0; i < b->count; i++) {
        const struct tensor *t = &b->tensors[order[i]].tensor;
        cJSON *record = cJSON_AddObjectToObject(json, b->tensors[order[i]].name);
        span[0] = span[1];
        span[1] += tensor_elements(t) * (int64_t)dtype_bytes(t->dtype);
        cJSON_AddStringToObject(record, "dtype", dtype_name(t->dtype));
        cJSON_AddItemToObject(record, "shape", numbers(t->shape, t->rank));
        cJSON_AddItemToObject(record, "data_offsets", numbers(span, 2));
    }
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* Wider elements first, so that every tensor is aligned to its element without padding, which the
   format forbids; the bundle's order among equals. */
static int *order_by_width(const struct bundle *b)
{
    int *order = malloc(((size_t)b->count + 1) * sizeof *order), n = 0;
    for (size_t width = 8; order != NULL && width > 0; width /= 2)
        for (int i = 0; i < b->count; i++)
            if (dtype_bytes(b->tensors[i].tensor.dtype) == width)
                order[n++] = i;
    return order;
}

bool bundle_write(const char *path, const struct bundle *b, bool force, struct message *why)
{
    struct output_file f;
    int *order = order_by_width(b);
    char *text = order != NULL ? make_header(b, order) : NULL;
    bool ok = text != NULL ? file_begin(&f, path, force, why)
                           : refuse(why, "%s: no memory for the header", path);
    if (ok) {
        uint64_t length = (strlen(text) + 7) / 8 * 8;
        fwrite(&length, sizeof length, 1, f.stream);
        fprintf(f.stream, "%-*s", (int)length, text);
        for (int i = 0; i < b->count; i++)
            tensor_write_elements(f.stream, &b->tensors[order[i]].tensor);
        ok = file_commit(&f, why);
    }
    cJSON_free(text);
    free(order);
    return ok;
}
