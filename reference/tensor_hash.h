/* tensor_hash.h: SHA-256 of two files that are read block by block for another purpose, such as a
   comparison: a thread hashes the blocks that were read, so that a file is read once.

   While both files hold the same bytes they are hashed once; from the first difference on each has
   its own thread.  Bytes nobody offers, such as headers, are read by the hashing itself. */
#ifndef FLASHULP_TENSOR_HASH_H
#define FLASHULP_TENSOR_HASH_H

#include "reference/tensor_stream.h"

/* Blocks that may be offered before the first must be given back. */
enum { HASHING_BLOCKS = 4 };

struct hashing;
/* NULL with a sentence when there is no memory.  The files stay open until hashing_end. */
struct hashing *hashing_start(const struct tensor_file *a, const struct tensor_file *b,
                              struct message *why);
/* Elements first .. first + count - 1 as tensor_stream_read gave them, of both files.  The bytes must
   stay as they are until hashing_await(returned number). */
uint64_t hashing_offer(struct hashing *h, const struct tensor_stream *const s[2],
                       const void *const codes[2], int64_t first, int64_t count);
void hashing_await(struct hashing *h, uint64_t offer);
/* Hashes what is left and frees h. */
bool hashing_end(struct hashing *h, struct sha256_text digest[2], struct message *why);
/* Frees h without that. */
void hashing_abandon(struct hashing *h);

#endif
