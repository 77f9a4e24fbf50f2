/* tensor_dump.h: one call of FlashInfer as its logger dumps it (FLASHINFER_LOGLEVEL=10 with
   FLASHINFER_DUMP_SAFETENSORS=1): a folder with inputs.safetensors, outputs.safetensors and
   metadata.jsonl, whose last line is the state of the call.  Nothing in them is trusted. */
#ifndef FLASHULP_TENSOR_DUMP_H
#define FLASHULP_TENSOR_DUMP_H

#include "reference/tensor.h"

/* Inputs go by their parameters' names, a pair's by "NAME.0" and "NAME.1"; plain arguments are
   metadata, as texts.  Outputs are "result", or "result_0", "result_1". */
struct dump {
    char *function; /* "single_decode_with_kv_cache", "BatchDecodeWithPagedKVCacheWrapper.run" */
    char *owner;    /* which object's method it is, or "" */
    char *status;   /* "completed" */
    bool graph;     /* recorded while a CUDA graph was captured */
    struct bundle inputs, outputs;
};

/* Is there a metadata.jsonl in the folder? */
bool dump_folder(const char *folder);
/* function, owner, status, graph and the plain arguments; no tensors. */
bool dump_read_head(const char *folder, struct dump *d, struct message *why);
/* All; outputs only of a call that completed and returned tensors. */
bool dump_read(const char *folder, struct dump *d, struct message *why);
void dump_free(struct dump *d);

#endif
