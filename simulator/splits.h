/* splits.h: from (kernel, GPU, batch, heads, length) to the groups of tokens a decode kernel works
   on: the schedule rules of splits.def.

   A plan is made once per launch; a group's tokens depend on the plan and on the sequence's own
   length.  Groups are disjoint, cover every token and may be empty.  Windows, dropout and ALiBi are
   not part of a launch.  Nothing here knows what is computed in a group. */
#ifndef FLASHULP_SPLITS_H
#define FLASHULP_SPLITS_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/message.h"

enum group_order { GROUPS_CONTIGUOUS, GROUPS_ROUND_ROBIN };

enum split_rule {
#define SPLIT_RULE(id, ...) SPLIT_RULE_##id,
#include "simulator/splits.def"
#undef SPLIT_RULE
    SPLIT_RULE_COUNT
};

enum split_option {
#define SPLIT_OPTION(id, ...) SPLIT_OPTION_##id,
#include "simulator/splits.def"
#undef SPLIT_OPTION
    SPLIT_OPTION_COUNT
};

/* Largest of every number of a launch; products of three of them fit int64_t. */
enum { SPLIT_LARGEST = 1 << 20 };

struct launch {
    int64_t batch, heads_q, heads_kv, len_q, dim;
    int64_t longest;  /* tokens of the longest sequence; 0 is a length */
    int64_t shortest; /* of the shortest, -1: all are alike; only SGLang's rule asks */
    int64_t capacity; /* tokens the cache or page table holds; 0: longest */
    int sms;          /* of the GPU; 0 when none is given */
    int num_splits;   /* the caller's choice; 0: the rule's */
    struct {
        bool given;
        int64_t value;
    } option[SPLIT_OPTION_COUNT];
};

/* What FA2's heuristic weighed: fp32 numbers as it computes them. */
struct split_weighing {
    int64_t work, capacity;            /* blocks of work without splits; slots of the GPU */
    int most, eligible;                /* the largest count tried; how many were eligible */
    int best;                          /* count of the best efficiency, 0: none was weighed */
    float best_efficiency, efficiency; /* of `best`, of the answer */
    double needed;                     /* 0.85 of the best, in double */
    bool full;                         /* one group: work fills four fifths of the capacity */
    bool swapped;                      /* heads of a KV head became query rows */
};

struct split_plan {
    enum split_rule rule;
    const char *version; /* "v2.5.7 and later", or "" */
    enum group_order order;
    bool own_length;  /* a group's blocks follow each sequence's own length */
    bool bound;       /* splits is an upper bound, the boundaries an assumption */
    bool undecided;   /* bits that are not established might change the count */
    int64_t chunk[2]; /* SGLang: a sequence has the larger of ceil(length / chunk); 0: `splits` */
    int splits;       /* groups, empty ones included; of the longest sequence */
    int64_t block_tokens; /* boundaries are multiples of it */
    int64_t length;       /* what the rule took for the length */
    int64_t blocks;       /* ceil(length / block_tokens) */
    int64_t blocks_per_split;
    int64_t by_device; /* groups the SMs ask for, before other limits; 0: they are not asked */
    int lanes;         /* FA2's combine: lanes that add up a row's weights; 0: of other kernels */
    struct split_weighing weighing; /* FA2 only, and only where num_splits was not given */
};

struct token_range {
    int64_t first, last; /* first <= token < last */
};

/* version: NULL or "" for the newest, "2.5.6".  Refused: numbers that make no launch, a head size
   the kernel does not take, a count the caller may not choose. */
bool split_plan(enum split_rule rule, const char *version, const struct launch *l,
                struct split_plan *p, struct message *why);

/* For a sequence of `length` tokens, 0 <= length: how many groups it has, of how many blocks. */
int split_count(const struct split_plan *p, int64_t length);
int64_t split_blocks(const struct split_plan *p, int64_t length);
/* Range n of group i in ascending order: a contiguous group has at most one, a round-robin group
   one per block.  False behind the last. */
bool split_range(const struct split_plan *p, int64_t length, int i, int64_t n,
                 struct token_range *range);
/* Tokens of group i; groups that have any. */
int64_t split_tokens(const struct split_plan *p, int64_t length, int i);
int split_live(const struct split_plan *p, int64_t length);
/* The group token t < length belongs to. */
int split_owner(const struct split_plan *p, int64_t length, int64_t t);
/* How a sequence's first tokens are cut: every `cut` tokens; with `wrap` the pieces go round among
   so many groups, else every piece is a group. */
struct split_cutting {
    int64_t cut, wrap;
};
/* Of the first `tokens` of a sequence of `length`; what only later tokens show is left out. */
struct split_cutting split_cutting(const struct split_plan *p, int64_t length, int64_t tokens);
/* Do two plans cut this length alike: the same groups in the same order? */
bool split_alike(const struct split_plan *a, const struct split_plan *b, int64_t length);
/* Are the two sure to cut alike?  Not where a bound stands for a rule, or a count is undecided. */
bool split_certain(const struct split_plan *a, const struct split_plan *b);
/* Does a row keep its bits' grouping from one launch to the other: its common tokens cut alike, and
   the groups put together alike (one or several; in FA2's combine, as many lanes a row)? */
bool split_kept(const struct split_plan *a, int64_t length_a, const struct split_plan *b,
                int64_t length_b);
/* Plans that cut contiguously share a boundary every so many tokens; 0: not within `length`, or
   some go round robin. */
int64_t split_shared(const struct split_plan *const *plans, int count, int64_t length);

/* FA2's arithmetic for one count, as the source has it: fp32. */
float split_fa2_efficiency(int64_t work, int64_t capacity, int splits);
bool split_fa2_eligible(int64_t blocks, int splits);

struct split_rule_info {
    const char *name;
    enum group_order order;
    bool needs_device, one_query;
    int most_splits; /* 0: the caller cannot choose */
    const char *head_sizes, *meaning, *length;
};
const struct split_rule_info *split_rule_info(enum split_rule rule);

enum split_text { SPLIT_WHY, SPLIT_PIN, SPLIT_EVIDENCE, SPLIT_CAUTION };
/* The n-th sentence of that kind; NULL behind the last. */
const char *split_says(enum split_rule rule, enum split_text what, int n);
/* Appends why this launch has as many groups as it has: a sentence with its numbers. */
void split_reason(const struct split_plan *p, const struct launch *l, char **text);
/* The n-th kernel known by name only, why it is not modelled and what to pin instead; NULL behind
   the last. */
const char *unmodelled_kernel(int n, const char **reason, const char **pin);
/* Is it one?  Then *why says so. */
bool refuse_unmodelled(const char *name, struct message *why);
/* "fa2-split".  Refused: a kernel known by name only, with what to pin instead; others with the
   nearest name. */
bool split_rule_from_name(const char *name, enum split_rule *rule, struct message *why);
/* "fa2-split:2.5.6": the name in front of the colon, and *version behind it ("" when none). */
bool split_kernel_from_text(const char *text, enum split_rule *rule, const char **version,
                            struct message *why);

/* Is version `asked` ("2.5.6") `since` or later?  False when it is no version. */
bool version_reaches(const char *asked, const char *since, bool *reaches);

/* The n-th version of a rule, oldest first, with what it means; NULL behind the last. */
const char *split_version_name(enum split_rule rule, int n, const char **meaning);

struct split_option_info {
    enum split_rule rule;
    const char *name, *values, *meaning;
    int64_t usual;
};
const struct split_option_info *split_option_info(enum split_option o);
/* "path=2d" for a rule. */
bool split_option_set(struct launch *l, enum split_rule rule, const char *text,
                      struct message *why);
/* Its value in this launch: a word's number from 1, or the number. */
int64_t split_option(const struct launch *l, enum split_option o);

#endif
