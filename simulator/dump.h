/* dump.h: a dumped call of FlashInfer (tensor_dump.h) as a problem with its measured output.

   Read are single decoding and prefill, and the batched ones over pages, over packed keys and over a
   block table; pages are gathered, which rounds nothing.  A batched wrapper's page table was dumped
   with its `plan`, which lies in a folder beside.  What cannot be mapped is refused in a sentence. */
#ifndef FLASHULP_DUMP_H
#define FLASHULP_DUMP_H

#include "reference/problem.h"
#include "reference/tensor_dump.h"

struct dumped {
    struct tensor q, k, v;          /* (B, H, N, D); sequences of different lengths packed, B = 1 */
    struct tensor o, lse;           /* (B, Hq, Nq, D), (B, Hq, Nq); no data: the call has none */
    struct problem_options options; /* scale, mask, softcap; where packed cu_q, cu_k */
    int64_t *cu_q, *cu_k;           /* owned; what options.cu_* point to, or NULL */
    char *name;                     /* the folder's own, without time and process */
    char *remarks;                  /* lines */
};

/* Is the path a folder? */
bool is_folder(const char *path);
bool dumped_read(const char *folder, struct dumped *d, struct message *why);
void dumped_free(struct dumped *d);

/* simulator/dump_find.c: the call's folder: `folder` itself, or the only one in it; malloc'ed. */
char *dump_find_call(const char *folder, struct message *why);
/* The latest call of the same object before this one whose method is one of `methods` ("plan
   begin_forward"), with its tensors or only their heads; false, and *why empty: there is none. */
bool dump_find_earlier(const char *folder, const struct dump *call, const char *methods,
                       bool tensors, struct dump *earlier, struct message *why);

#endif
