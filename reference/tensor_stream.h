/* tensor_stream.h: tensors of files too large for memory, read in pieces.

   A tensor_file is an open .npy, .npz or .safetensors file of which only the headers were read; a
   tensor_stream gives the elements of one of its tensors in C order, as many at a time as asked
   for.  What tensor.h promises about files that cannot be trusted holds here too. */
#ifndef FLASHULP_TENSOR_STREAM_H
#define FLASHULP_TENSOR_STREAM_H

#include "reference/sha256.h"
#include "reference/tensor.h"

struct tensor_file {
    char *path;
    struct source *source;
    bool single;          /* .npy: one tensor, whose name is "" */
    struct bundle bundle; /* names, dtypes, shapes, strides, offsets; no data */
    struct message took;  /* "uint16 taken as bf16 bits", or "" */
};

bool tensor_file_open(struct tensor_file *f, const char *path, enum format words,
                      struct message *why);
void tensor_file_close(struct tensor_file *f);
/* Of the file's bytes; another thread may read the file meanwhile. */
bool tensor_file_sha256(const struct tensor_file *f, struct sha256_text *digest,
                        struct message *why);

struct tensor_stream {
    const struct tensor_file *file;
    enum format dtype;
    int rank;
    int64_t shape[TENSOR_MAX_RANK], elements;
    uint64_t offset;
    unsigned char *whole; /* the elements in C order where the file has another, else NULL */
};

/* Tensor n of the file; `swapped`: seen with dimensions 1 and 2 exchanged (rank 3 or 4).  What the
   file does not hold in C order is read whole, here. */
bool tensor_stream_open(struct tensor_stream *s, const struct tensor_file *f, int n, bool swapped,
                        struct message *why);
void tensor_stream_close(struct tensor_stream *s);
/* Elements first .. first + count - 1 as they are stored. */
bool tensor_stream_read(const struct tensor_stream *s, int64_t first, int64_t count, void *codes,
                        struct message *why);

#endif
