/* tensor.h: dense arrays of up to four dimensions, in files and in memory.

   Reads .npy (versions 1 to 3, C and Fortran order), .npz (stored, not compressed) and .safetensors
   (F64 F32 F16 BF16 F8_E4M3 F8_E5M2), writes .npy and .safetensors.  Nothing in a file is trusted:
   every size is checked against the file's own length before it is used.  Only regular files are
   read.  A file is written under a temporary name and renamed, so it is whole or not there. */
#ifndef FLASHULP_TENSOR_H
#define FLASHULP_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/format.h"
#include "reference/message.h"

enum { TENSOR_MAX_RANK = 4 };

/* Element [i0,i1,..] lies at data + element size * sum i_k stride_k.  Strides may be in any order
   (Fortran files, views), so a view never copies. */
struct tensor {
    enum format dtype; /* FP64 FP32 FP16 BF16 E4M3 E5M2 */
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    int64_t stride[TENSOR_MAX_RANK]; /* in elements */
    void *data;
    bool owns_data; /* tensor_free frees it; views do not own */
};

struct named_tensor {
    char name[128];
    struct tensor tensor;
    uint64_t offset; /* of its elements in the file it was read from */
    int64_t folded;  /* of a dump: the second of five dimensions, now part of the first; else 0 */
};

/* The tensors and text metadata of one file. */
struct bundle {
    int count;
    struct named_tensor *tensors;
    int meta_count;
    char **meta_keys, **meta_values;
};

/* A new tensor, zero-filled, C order; false (too large, no memory). */
bool tensor_new(struct tensor *t, enum format dtype, int rank, const int64_t *shape,
                struct message *why);
void tensor_free(struct tensor *t);
int64_t tensor_elements(const struct tensor *t);
/* "(2, 3)", for messages. */
struct shape_text {
    char text[96];
};
struct shape_text shape_text(int rank, const int64_t *shape);
/* Element i of dimension 0, j of 1, ... (unused dimensions 0), decoded exactly. */
double tensor_get(const struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t l);
/* Stores x, which must be a value of the dtype. */
void tensor_set(struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t l, double x);
/* The `count` elements [i,j,k,0..count) as doubles (rank 4). */
void tensor_row(const struct tensor *t, int64_t i, int64_t j, int64_t k, int64_t count, double *out);

/* Reads one tensor of '<f8', '<f4', '<f2' or 16-bit words ('<u2', '<i2', 'V2').  Words hold bf16
   bits unless `words` is FORMAT_FP16.  `took`, if not NULL, receives what the program took the
   words to be when the file did not say ("uint16 taken as bf16 bits"), else an empty string. */
bool tensor_read_npy(const char *path, enum format words, struct tensor *t, struct message *took,
                     struct message *why);
/* Every tensor of a .npz or .safetensors file: one in another dtype and the file is refused.  Each
   owns its data.  .npz: below 4 GiB, 4,096 entries at most; .safetensors: 65,536 tensors. */
bool bundle_read(const char *path, enum format words, struct bundle *b, struct message *took,
                 struct message *why);
void bundle_free(struct bundle *b);
const struct tensor *bundle_find(const struct bundle *b, const char *name); /* NULL: none */
const char *bundle_meta(const struct bundle *b, const char *key);           /* NULL: none */
/* Adds a view: the data stay the caller's, and must outlive the bundle. */
bool bundle_add(struct bundle *b, const char *name, const struct tensor *view, struct message *why);
bool bundle_add_meta(struct bundle *b, const char *key, const char *value, struct message *why);

/* Written whole or not at all; an existing file needs `force`.  bf16 in .npy is '<u2' words; .npy
   has no fp8.  Strides are followed: what is written is in C order. */
bool tensor_write_npy(const char *path, const struct tensor *t, bool force, struct message *why);
bool bundle_write(const char *path, const struct bundle *b, bool force, struct message *why);

/* The same guarantees for any other output: opens a temporary beside `path`; commit renames it.
   `file_commit` reports a full disk or a failed write and removes the temporary.  A device, pipe or
   folder is never replaced, not even by force. */
struct output_file {
    void *stream; /* FILE * */
    char *path, *temporary;
};
bool file_begin(struct output_file *f, const char *path, bool force, struct message *why);
bool file_commit(struct output_file *f, struct message *why);
void file_abandon(struct output_file *f);
/* Removes the temporaries of all files begun; a signal handler may call it. */
void files_unlink_unfinished(void);

/* A whole regular file in memory, with a zero byte behind it; at most `limit` bytes, and no more
   than the machine has. */
bool file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size,
               struct message *why);
/* The first bytes of a regular file, at most `room`: what it is, before all of it is read. */
bool file_read_head(const char *path, void *to, size_t room, size_t *got, struct message *why);

#endif
