/* scenario_draft.h: a problem being put together: tensors from one source, options from several. */
#ifndef FLASHULP_SCENARIO_DRAFT_H
#define FLASHULP_SCENARIO_DRAFT_H

#include "simulator/scenario_parts.h"

struct draft {
    struct tensor q, k, v;
    struct problem_options options;
    int64_t *cu_q, *cu_k; /* owned; what options.cu_* point to */
    int64_t cu_q_count, cu_k_count;
    bool scores_given;
    int tiles;
    int64_t *tile_ends;
    int64_t launch_q, launch_kv; /* as a problem's */
    char *name, *remarks;
};

/* What 16-bit words without a type hold: --dtype fp16 or else bf16. */
bool draft_words(const struct scenario *s, enum format *words, struct message *why);
/* Q, K, V and what the metadata say, of a .safetensors or .npz file. */
bool draft_from_capture(const struct scenario *s, const char *path, struct draft *d,
                        struct message *why);
/* A folder in which FlashInfer dumped a call. */
bool draft_from_dump(const struct scenario *s, const char *path, struct draft *d,
                     struct message *why);
bool draft_from_files(const struct scenario *s, struct draft *d, struct message *why);
bool draft_from_generator(const struct scenario *s, struct draft *d, struct message *why);
/* The tensors and options of a whole problem, which is left empty. */
void draft_from_problem(struct problem *p, struct draft *d);
/* --scale --causal --window ...: over what the draft already says. */
bool draft_options(const struct scenario *s, struct draft *d, struct message *why);

/* Where packed sequences start and end, "0,3,8"; the names are for a refusal. */
bool draft_lengths(struct draft *d, const char *name_q, const char *q, const char *name_k,
                   const char *k, struct message *why);

#endif
