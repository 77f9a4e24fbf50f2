/* splits_parts.h: what the files of the schedule rules share.  Internal to splits*.c. */
#ifndef FLASHULP_SPLITS_PARTS_H
#define FLASHULP_SPLITS_PARTS_H

#include "simulator/splits.h"

/* Fills order, splits, block_tokens, length; blocks and blocks_per_split follow.  factor: of the
   version's row, 0 where there is none. */
typedef bool split_function(const struct launch *l, int factor, struct split_plan *p,
                            struct message *why);
split_function split_fa2, split_triton, split_sglang, split_paged, split_xqa, split_trtllm,
    split_decode;

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the cache holds, or the longest sequence where nothing is said. */
static inline int64_t launch_capacity(const struct launch *l)
{
    return l->capacity > 0 ? l->capacity : l->longest;
}

/* The rule's table row's version: "2.5.6" against its SPLIT_VERSION rows. */
bool split_version(enum split_rule rule, const char *text, int *factor, const char **meaning,
                   struct message *why);
/* Is dim one of the rule's head sizes? */
bool split_takes_dim(enum split_rule rule, int64_t dim, struct message *why);

#endif
