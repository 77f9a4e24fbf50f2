/* tensor_file.h: what the readers of the three file formats share; nobody else includes it.

   A `source` is an open regular file whose length is known.  Readers ask it for bytes by offset, so
   a tensor is read once, straight into its own memory, after its size was checked against the
   length.  Numbers in files are little-endian, as the machine must be. */
#ifndef FLASHULP_TENSOR_FILE_H
#define FLASHULP_TENSOR_FILE_H

#include "reference/tensor.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the readers copy little-endian numbers from files as they are");

struct source {
    int fd;
    const char *path;
    uint64_t size;
};

bool source_open(struct source *s, const char *path, struct message *why);
/* Bytes offset .. offset + count - 1; false with a sentence if the file does not hold them. */
bool source_read(const struct source *s, uint64_t offset, void *to, uint64_t count,
                 struct message *why);
void source_close(struct source *s);

/* The kind of file, from its first bytes. */
enum file_kind { FILE_UNKNOWN, FILE_EMPTY, FILE_NPY, FILE_ZIP, FILE_PICKLE, FILE_SAFETENSORS };
bool source_kind(const struct source *s, enum file_kind *kind, struct message *why);

/* "PATH: a PyTorch file ...": how to convert it.  Returns false. */
bool refuse_torch(struct message *why, const char *path);

size_t dtype_bytes(enum format dtype);
/* Bytes of a dense tensor; false if the product, zeros taken as ones, passes 2^60. */
bool shape_bytes(enum format dtype, int rank, const int64_t *shape, uint64_t *bytes);
/* C-order strides, or Fortran order (first index fastest). */
void tensor_set_strides(struct tensor *t, bool fortran);
/* A file may be sparse and claim more than the machine has: asked before, not found out later. */
bool memory_holds(const char *label, uint64_t bytes, struct message *why);
/* tensor_new whose refusal begins with `label`: a file, and a tensor in it. */
bool tensor_new_for(const char *label, struct tensor *t, enum format dtype, int rank,
                    const int64_t *shape, struct message *why);

/* The file is `label` in messages, `size` bytes long from `offset` on.  `words`, if the numbers are
   16-bit words whose format the file does not say, receives the words' name ("uint16"). */
struct words {
    enum format format; /* what words are taken for */
    const char *name;   /* NULL: none met */
};
bool npy_read(const struct source *s, uint64_t offset, uint64_t size, const char *label,
              struct words *words, struct tensor *t, struct message *why);
/* All but the elements, which begin at *at in the file: t->data stays NULL. */
bool npy_locate(const struct source *s, uint64_t offset, uint64_t size, const char *label,
                struct words *words, struct tensor *t, uint64_t *at, struct message *why);

/* Both fill an empty bundle, with the elements or, for READ_PLACES, only with where they are; on
   failure the caller frees what is there.  READ_DUMP (.safetensors): also takes whole numbers, as
   fp64, five dimensions, the second folded into the first, and tensors of other types, whose data
   stay NULL. */
enum read_what { READ_ELEMENTS, READ_PLACES, READ_DUMP };
bool npz_read(const struct source *s, enum format words, enum read_what what, struct bundle *b,
              struct message *took, struct message *why);
bool safetensors_read(const struct source *s, enum read_what what, struct bundle *b,
                      struct message *why);
/* The formats' names; the last is NULL. */
struct safetensors_dtype {
    const char *name;
    enum format format;
};
extern const struct safetensors_dtype safetensors_dtypes[];
/* "PATH: the file is empty" and its like: what the file is instead.  Returns false. */
bool refuse_kind(struct message *why, const struct source *s, enum file_kind kind);
/* Is this zip file one written by torch.save?  Also false when it is no sound zip file. */
bool zip_is_torch(const struct source *s);

/* Writes the elements in C order. */
void tensor_write_elements(void *stream, const struct tensor *t);

#endif
