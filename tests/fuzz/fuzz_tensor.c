/* fuzz_tensor.c: any bytes as a file of tensors: .npy, .npz and .safetensors.

   The readers with and without the elements must take the same files and find the same bits; what
   they take must come back from the writers with the same bits.  The second try of a .npz has its
   CRCs made right, that of a .safetensors its header's length. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/crc32.h"
#include "reference/tensor_file.h"
#include "reference/tensor_stream.h"

/* The elements in C order. */
static unsigned char *elements_of(const struct tensor *t, size_t *size)
{
    char *bytes = NULL;
    FILE *memory = open_memstream(&bytes, size);
    fuzz_require(memory != NULL, "there is memory for the test itself");
    tensor_write_elements(memory, t);
    fuzz_require(fclose(memory) == 0, "there is memory for the test itself");
    return (unsigned char *)bytes;
}

static void require_equal(const struct tensor *a, const struct tensor *b)
{
    size_t size_a, size_b;
    unsigned char *bytes_a = elements_of(a, &size_a), *bytes_b = elements_of(b, &size_b);
    fuzz_require(a->dtype == b->dtype && a->rank == b->rank &&
                     memcmp(a->shape, b->shape, sizeof a->shape) == 0,
                 "a tensor that was written is read with the same dtype and shape");
    fuzz_require(size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0,
                 "a tensor that was written is read with the same bits");
    free(bytes_a);
    free(bytes_b);
}

/* Tensor n of the file, read in pieces of 7 elements. */
static void require_streamed(const struct tensor_file *f, int n, const struct tensor *t)
{
    struct tensor_stream s;
    struct message why;
    size_t size, width = dtype_bytes(t->dtype);
    unsigned char *bytes = elements_of(t, &size), piece[7 * 8];
    fuzz_require(tensor_stream_open(&s, f, n, false, &why), "a tensor that was read is streamed");
    fuzz_require(s.dtype == t->dtype && s.rank == t->rank && s.elements == tensor_elements(t) &&
                     memcmp(s.shape, t->shape, sizeof s.shape) == 0 &&
                     size == (size_t)s.elements * width,
                 "a tensor has the same dtype and shape in both readers");
    for (int64_t first = 0; first < s.elements; first += 7) {
        int64_t count = s.elements - first < 7 ? s.elements - first : 7;
        fuzz_require(tensor_stream_read(&s, first, count, piece, &why) &&
                         memcmp(piece, bytes + (size_t)first * width, (size_t)count * width) == 0,
                     "a tensor has the same bits in both readers");
    }
    tensor_stream_close(&s);
    free(bytes);
}

static void write_npy(const struct tensor *t)
{
    struct tensor back;
    struct message why;
    if (t->dtype == FORMAT_E4M3 || t->dtype == FORMAT_E5M2)
        return;
    fuzz_require(tensor_write_npy(fuzz_output(), t, true, &why) &&
                     tensor_read_npy(fuzz_output(), FORMAT_BF16, &back, NULL, &why),
                 "a .npy that was written can be read");
    require_equal(t, &back);
    tensor_free(&back);
}

static void write_bundle(const struct bundle *b)
{
    struct bundle back;
    struct message why;
    fuzz_require(bundle_write(fuzz_output(), b, true, &why) &&
                     bundle_read(fuzz_output(), FORMAT_BF16, &back, NULL, &why),
                 "a .safetensors that was written can be read");
    fuzz_require(back.count == b->count && back.meta_count == b->meta_count,
                 "a .safetensors that was written has as many tensors and texts");
    for (int i = 0; i < b->count; i++) {
        const struct tensor *t = bundle_find(&back, b->tensors[i].name);
        fuzz_require(t != NULL, "a tensor that was written is there");
        require_equal(&b->tensors[i].tensor, t);
    }
    for (int i = 0; i < b->meta_count; i++) {
        const char *value = bundle_meta(&back, b->meta_keys[i]);
        fuzz_require(value != NULL && strcmp(value, b->meta_values[i]) == 0,
                     "metadata that were written are there");
    }
    bundle_free(&back);
}

/* At most one of the two has taken the file. */
static void require_same(const struct tensor_file *f, const struct tensor *t,
                         const struct bundle *b)
{
    if (f->single) {
        require_streamed(f, 0, t);
        write_npy(t);
        return;
    }
    fuzz_require(f->bundle.count == b->count, "both readers find as many tensors");
    for (int i = 0; i < b->count; i++) {
        fuzz_require(strcmp(f->bundle.tensors[i].name, b->tensors[i].name) == 0,
                     "both readers find the same names");
        require_streamed(f, i, &b->tensors[i].tensor);
    }
    write_bundle(b);
}

void fuzz_tensor_file(const uint8_t *data, size_t size)
{
    struct tensor t;
    struct bundle b;
    struct tensor_file f;
    struct message why[3] = {{""}, {""}, {""}};
    const char *path = fuzz_file(data, size);
    enum format words = size % 2 == 0 ? FORMAT_BF16 : FORMAT_FP16;
    bool single = tensor_read_npy(path, words, &t, NULL, &why[0]);
    bool several = bundle_read(path, words, &b, NULL, &why[1]);
    bool placed = tensor_file_open(&f, path, words, &why[2]);
    fuzz_require(!(single && several), "a file is one tensor or several");
    fuzz_require(placed == (single || several), "both readers take the same files");
    if (!single)
        fuzz_require_sentence(&why[0]);
    if (!several)
        fuzz_require_sentence(&why[1]);
    if (!placed)
        fuzz_require_sentence(&why[2]);
    if (placed) {
        require_same(&f, &t, &b);
        tensor_file_close(&f);
    }
    tensor_free(&t);
    bundle_free(&b);
}

void fuzz_npy(const uint8_t *data, size_t size)
{
    fuzz_tensor_file(data, size);
}

static uint32_t get_word(const uint8_t *at, int bytes)
{
    uint32_t x = 0;
    for (int i = bytes; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

/* Writes the CRC of every entry that can be followed into its record of the directory. */
static void repair_zip(uint8_t *zip, size_t size)
{
    size_t at = 0, end = size;
    for (size_t i = 0; i + 46 <= size && end == size; i++)
        if (memcmp(zip + i, "PK\1\2", 4) == 0)
            end = at = i;
    while (at + 46 <= size && memcmp(zip + at, "PK\1\2", 4) == 0) {
        size_t bytes = get_word(zip + at + 20, 4), local = get_word(zip + at + 42, 4);
        if (local + 30 <= size) {
            size_t data =
                local + 30 + get_word(zip + local + 26, 2) + get_word(zip + local + 28, 2);
            if (data <= size && bytes <= size - data) {
                uint32_t crc = crc32_ieee(0, zip + data, bytes);
                for (int i = 0; i < 4; i++)
                    zip[at + 16 + i] = (uint8_t)(crc >> 8 * i);
            }
        }
        at += 46 + get_word(zip + at + 28, 2) + get_word(zip + at + 30, 2) +
              get_word(zip + at + 32, 2);
    }
}

void fuzz_npz(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_allocate(size);
    memcpy(copy, data, size);
    fuzz_tensor_file(copy, size);
    repair_zip(copy, size);
    fuzz_tensor_file(copy, size);
    free(copy);
}

void fuzz_safetensors(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_allocate(size);
    memcpy(copy, data, size);
    fuzz_tensor_file(copy, size);
    size_t end = size;
    while (end > 0 && copy[end - 1] != '}')
        end--;
    if (end > 8) {
        uint64_t length = end - 8;
        for (int i = 0; i < 8; i++)
            copy[i] = (uint8_t)(length >> 8 * i);
        fuzz_tensor_file(copy, size);
    }
    free(copy);
}
