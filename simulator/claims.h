/* claims.h: the ledger of published statements, each derived again from data.

   A claim is a row of claims.def; what it computes from are the INPUT rows, texts as published.  A
   function may compute from nothing else, so that another text gives another answer; a test changes
   every one of them. */
#ifndef FLASHULP_CLAIMS_H
#define FLASHULP_CLAIMS_H

#include <stdbool.h>

#include "reference/message.h"
#include "simulator/workloads.h"

enum verdict_word {
#define VERDICT(id, ...) VERDICT_##id,
#include "simulator/verdicts.def"
#undef VERDICT
    VERDICT_COUNT
};

enum claim_group {
#define CLAIM_GROUP(id, ...) CLAIM_GROUP_##id,
#include "simulator/claims.def"
#undef CLAIM_GROUP
    CLAIM_GROUP_COUNT
};

enum claim {
#define CLAIM(id, ...) CLAIM_##id,
#include "simulator/claims.def"
#undef CLAIM
    CLAIM_COUNT
};

enum claim_input {
#define INPUT(claim, id, ...) INPUT_##claim##_##id,
#include "simulator/claims.def"
#undef INPUT
    CLAIM_INPUT_COUNT
};

struct claim_input_info {
    enum claim claim;
    const char *name, *meaning, *text;
};

struct claim_inputs {
    const char *text[CLAIM_INPUT_COUNT];
    const struct decode_range *ranges;
    int range_count;
};

/* `explain`, malloc'ed: lines that begin with a blank are a table's, at most 73 columns; the others
   are running text.  The first line says it all in short. */
struct claim_outcome {
    char computed[64];
    enum verdict_word verdict;
    char *explain;
};
typedef void claim_function(const struct claim_inputs *in, struct claim_outcome *out);

struct claim_info {
    const char *name;
    enum claim_group group;
    const char *statement, *published;
    enum verdict_word recorded;
    claim_function *compute; /* NULL: nothing is computed */
    const char *note;
};

const char *verdict_name(enum verdict_word v);
const char *verdict_meaning(enum verdict_word v);
const char *claim_group_source(enum claim_group g);
const struct claim_info *claim_info(enum claim c);
const struct claim_input_info *claim_input_info(enum claim_input i);
/* The n-th command that shows it worked out, from 0; NULL: there are no more. */
const char *claim_command(enum claim c, int n);
/* "A8b", in any case of letters; refused with the nearest. */
bool claim_from_name(const char *name, enum claim *c, struct message *why);

/* The tables' own texts and ranges. */
struct claim_inputs claim_inputs_published(void);
/* Derives the claim.  Inputs must be well formed: numbers where numbers stand in claims.def. */
void claim_evaluate(enum claim c, const struct claim_inputs *in, struct claim_outcome *out);
void claim_outcome_free(struct claim_outcome *out);

#endif
