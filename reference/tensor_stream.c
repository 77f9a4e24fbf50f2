/* tensor_stream.c: see tensor_stream.h. */
#include "reference/tensor_stream.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/tensor_file.h"

/* A .npy file as a bundle of one. */
static bool locate_single(struct tensor_file *f, enum format words, struct message *why)
{
    struct words met = {words, NULL};
    struct bundle *b = &f->bundle;
    b->tensors = calloc(1, sizeof *b->tensors);
    if (b->tensors == NULL)
        return refuse(why, "%s: no memory", f->path);
    b->count = 1;
    f->single = true;
    if (!npy_locate(f->source, 0, f->source->size, f->path, &met, &b->tensors[0].tensor,
                    &b->tensors[0].offset, why))
        return false;
    if (met.name != NULL)
        snprintf(f->took.text, sizeof f->took.text, "%s taken as %s bits", met.name,
                 format_info(b->tensors[0].tensor.dtype)->name);
    return true;
}

static bool locate(struct tensor_file *f, enum format words, struct message *why)
{
    enum file_kind kind;
    if (!source_kind(f->source, &kind, why))
        return false;
    if (kind == FILE_NPY)
        return locate_single(f, words, why);
    if (kind == FILE_ZIP)
        return npz_read(f->source, words, READ_PLACES, &f->bundle, &f->took, why);
    if (kind == FILE_SAFETENSORS)
        return safetensors_read(f->source, READ_PLACES, &f->bundle, why);
    return refuse_kind(why, f->source, kind);
}

bool tensor_file_open(struct tensor_file *f, const char *path, enum format words,
                      struct message *why)
{
    *f = (struct tensor_file){.path = strdup(path), .source = malloc(sizeof *f->source)};
    if (f->path == NULL || f->source == NULL) {
        free(f->source);
        free(f->path);
        *f = (struct tensor_file){0};
        return refuse(why, "%s: no memory", path);
    }
    f->source->fd = -1;
    if (source_open(f->source, f->path, why) && locate(f, words, why))
        return true;
    tensor_file_close(f);
    return false;
}

void tensor_file_close(struct tensor_file *f)
{
    if (f->source != NULL)
        source_close(f->source);
    bundle_free(&f->bundle);
    free(f->source);
    free(f->path);
    *f = (struct tensor_file){0};
}

bool tensor_file_sha256(const struct tensor_file *f, struct sha256_text *digest,
                        struct message *why)
{
    enum { PIECE = 1 << 18 };
    const uint64_t size = f->source->size;
    unsigned char *piece = malloc(PIECE);
    struct sha256 sum;
    bool ok = piece != NULL ? true : refuse(why, "%s: no memory", f->path);
    sha256_start(&sum);
    for (uint64_t done = 0; ok && done < size; done += PIECE) {
        uint64_t count = size - done < PIECE ? size - done : PIECE;
        ok = source_read(f->source, done, piece, count, why);
        if (ok)
            sha256_add(&sum, piece, (size_t)count);
    }
    free(piece);
    *digest = sha256_end(&sum);
    return ok;
}

/* The view's elements in C order, through memory. */
static bool read_whole(struct tensor_stream *s, struct tensor *view, struct message *why)
{
    uint64_t bytes = (uint64_t)s->elements * dtype_bytes(s->dtype);
    size_t size;
    char *ordered = NULL;
    if (!memory_holds(s->file->path, 2 * bytes, why))
        return false;
    view->data = malloc((size_t)bytes + 1);
    FILE *memory = view->data != NULL ? open_memstream(&ordered, &size) : NULL;
    bool ok = memory != NULL && source_read(s->file->source, s->offset, view->data, bytes, why);
    if (memory == NULL)
        refuse(why, "%s: no memory for %llu bytes", s->file->path, (unsigned long long)bytes);
    if (ok)
        tensor_write_elements(memory, view);
    if (memory != NULL && (fclose(memory) != 0 || (ok && size != bytes)))
        ok = refuse(why, "%s: no memory for %llu bytes", s->file->path, (unsigned long long)bytes);
    s->whole = (unsigned char *)ordered;
    free(view->data);
    return ok;
}

static void exchange(int64_t *x)
{
    int64_t first = x[1];
    x[1] = x[2];
    x[2] = first;
}

bool tensor_stream_open(struct tensor_stream *s, const struct tensor_file *f, int n, bool swapped,
                        struct message *why)
{
    assert(0 <= n && n < f->bundle.count);
    struct tensor view = f->bundle.tensors[n].tensor, ordered;
    assert(!swapped || view.rank >= 3);
    if (swapped) {
        exchange(view.shape);
        exchange(view.stride);
    }
    ordered = view;
    tensor_set_strides(&ordered, false);
    *s = (struct tensor_stream){f, view.dtype, view.rank, {0}, tensor_elements(&view), 0, NULL};
    memcpy(s->shape, view.shape, sizeof s->shape);
    s->offset = f->bundle.tensors[n].offset;
    bool same = true;
    for (int i = 0; i < view.rank; i++)
        same &= view.shape[i] == 1 || view.stride[i] == ordered.stride[i];
    if (same || s->elements == 0 || read_whole(s, &view, why))
        return true;
    tensor_stream_close(s);
    return false;
}

void tensor_stream_close(struct tensor_stream *s)
{
    free(s->whole);
    *s = (struct tensor_stream){0};
}

bool tensor_stream_read(const struct tensor_stream *s, int64_t first, int64_t count, void *codes,
                        struct message *why)
{
    size_t width = dtype_bytes(s->dtype);
    assert(0 <= first && 0 <= count && count <= s->elements - first);
    if (s->whole == NULL)
        return source_read(s->file->source, s->offset + (uint64_t)first * width, codes,
                           (uint64_t)count * width, why);
    memcpy(codes, s->whole + (size_t)first * width, (size_t)count * width);
    return true;
}
