/* tensor.c: tensors in memory, and bundles of named ones.

   Elements are decoded exactly: a bf16 is the upper half of a float and a float is a double, which
   tensor_row uses; the other formats go through format.c, and a test compares the two. */
#include "reference/tensor_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t dtype_bytes(enum format dtype)
{
    return (size_t)format_info(dtype)->bits / 8;
}

bool shape_bytes(enum format dtype, int rank, const int64_t *shape, uint64_t *bytes)
{
    const uint64_t most = UINT64_C(1) << 60;
    uint64_t product = dtype_bytes(dtype);
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        empty |= shape[i] == 0;
        uint64_t size = shape[i] == 0 ? 1 : (uint64_t)shape[i];
        if (shape[i] < 0 || size > most / product)
            return false;
        product *= size;
    }
    *bytes = empty ? 0 : product;
    return true;
}

struct shape_text shape_text(int rank, const int64_t *shape)
{
    struct shape_text s = {"("};
    size_t used = 1;
    for (int i = 0; i < rank; i++)
        used += (size_t)snprintf(s.text + used, sizeof s.text - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)shape[i]);
    snprintf(s.text + used, sizeof s.text - used, rank == 1 ? ",)" : ")");
    return s;
}

void tensor_set_strides(struct tensor *t, bool fortran)
{
    int64_t stride = 1;
    for (int i = 0; i < t->rank; i++) {
        int dimension = fortran ? i : t->rank - 1 - i;
        t->stride[dimension] = stride;
        stride *= t->shape[dimension] == 0 ? 1 : t->shape[dimension];
    }
}

static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : UINT64_C(1) << 40;
}

bool memory_holds(const char *label, uint64_t bytes, struct message *why)
{
    const double GiB = 1024.0 * 1024.0 * 1024.0;
    if (bytes > machine_memory())
        return refuse(why, "%s: takes %.1f GiB; this machine has %.1f GiB of memory", label,
                      (double)bytes / GiB, (double)machine_memory() / GiB);
    return true;
}

bool tensor_new_for(const char *label, struct tensor *t, enum format dtype, int rank,
                    const int64_t *shape, struct message *why)
{
    uint64_t bytes;
    assert(0 <= rank && rank <= TENSOR_MAX_RANK && dtype_bytes(dtype) > 0);
    *t = (struct tensor){.dtype = dtype, .rank = rank};
    if (!shape_bytes(dtype, rank, shape, &bytes))
        return refuse(why, "%s: shape %s is larger than any memory", label,
                      shape_text(rank, shape).text);
    if (!memory_holds(label, bytes, why))
        return false;
    t->data = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (t->data == NULL)
        return refuse(why, "%s: no memory for its %llu bytes", label, (unsigned long long)bytes);
    t->owns_data = true;
    for (int i = 0; i < rank; i++)
        t->shape[i] = shape[i];
    tensor_set_strides(t, false);
    return true;
}

bool tensor_new(struct tensor *t, enum format dtype, int rank, const int64_t *shape,
                struct message *why)
{
    return tensor_new_for("a new tensor", t, dtype, rank, shape, why);
}

void tensor_free(struct tensor *t)
{
    if (t->owns_data)
        free(t->data);
    *t = (struct tensor){0};
}

int64_t tensor_elements(const struct tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->shape[i];
    return n;
}

static unsigned char *element(const struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t l)
{
    const int64_t index[TENSOR_MAX_RANK] = {i, j, k, l};
    int64_t at = 0;
    for (int n = 0; n < TENSOR_MAX_RANK; n++) {
        assert(n < t->rank ? 0 <= index[n] && index[n] < t->shape[n] : index[n] == 0);
        at += index[n] * t->stride[n];
    }
    return (unsigned char *)t->data + at * (int64_t)dtype_bytes(t->dtype);
}

static double bf16_value(const unsigned char *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double fp32_value(const unsigned char *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

static double fp64_value(const unsigned char *at)
{
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

static double other_value(enum format dtype, const unsigned char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, dtype_bytes(dtype));
    return format_decode(dtype, bits);
}

double tensor_get(const struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t l)
{
    const unsigned char *at = element(t, i, j, k, l);
    switch (t->dtype) {
    case FORMAT_BF16:
        return bf16_value(at);
    case FORMAT_FP32:
        return fp32_value(at);
    case FORMAT_FP64:
        return fp64_value(at);
    default:
        return other_value(t->dtype, at);
    }
}

void tensor_set(struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t l, double x)
{
    uint64_t bits = format_encode(t->dtype, x);
    memcpy(element(t, i, j, k, l), &bits, dtype_bytes(t->dtype));
}

void tensor_row(const struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t count, double *out)
{
    assert(t->rank == TENSOR_MAX_RANK && count <= t->shape[3]);
    if (count == 0)
        return;
    const unsigned char *at = element(t, i, j, k, 0);
    const int64_t step = t->stride[3] * (int64_t)dtype_bytes(t->dtype);
    switch (t->dtype) {
    case FORMAT_BF16:
        for (int64_t l = 0; l < count; l++)
            out[l] = bf16_value(at + l * step);
        break;
    case FORMAT_FP32:
        for (int64_t l = 0; l < count; l++)
            out[l] = fp32_value(at + l * step);
        break;
    case FORMAT_FP64:
        for (int64_t l = 0; l < count; l++)
            out[l] = fp64_value(at + l * step);
        break;
    default:
        for (int64_t l = 0; l < count; l++)
            out[l] = other_value(t->dtype, at + l * step);
    }
}

/* One innermost row, at index[] of the dimensions before it. */
static void write_row(FILE *stream, const struct tensor *t, const int64_t *index)
{
    const int last = t->rank - 1;
    const size_t size = dtype_bytes(t->dtype);
    int64_t at = 0;
    for (int n = 0; n < last; n++)
        at += index[n] * t->stride[n];
    const unsigned char *row = (const unsigned char *)t->data + at * (int64_t)size;
    if (t->stride[last] == 1)
        fwrite(row, size, (size_t)t->shape[last], stream);
    else
        for (int64_t i = 0; i < t->shape[last]; i++)
            fwrite(row + i * t->stride[last] * (int64_t)size, size, 1, stream);
}

void tensor_write_elements(void *stream, const struct tensor *t)
{
    int64_t index[TENSOR_MAX_RANK] = {0};
    if (t->rank == 0)
        fwrite(t->data, dtype_bytes(t->dtype), 1, stream);
    if (t->rank == 0 || tensor_elements(t) == 0)
        return;
    for (;;) {
        write_row(stream, t, index);
        int n = t->rank - 2;
        while (n >= 0 && ++index[n] == t->shape[n])
            index[n--] = 0;
        if (n < 0)
            return;
    }
}
