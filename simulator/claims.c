/* claims.c: the ledger as data: claims.def, verdicts.def, names, evaluation. */
#include "simulator/claims.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/claims_parts.h"
#include "simulator/scenario_parts.h"

static const struct {
    const char *name, *meaning;
} verdicts[VERDICT_COUNT] = {
#define VERDICT(id, name, meaning) {name, meaning},
#include "simulator/verdicts.def"
#undef VERDICT
};

static const char *const sources[CLAIM_GROUP_COUNT] = {
#define CLAIM_GROUP(id, source) source,
#include "simulator/claims.def"
#undef CLAIM_GROUP
};

static const struct claim_info claims[CLAIM_COUNT] = {
#define CLAIM(id, group, statement, published, recorded, function, note)                           \
    {#id, CLAIM_GROUP_##group, statement, published, VERDICT_##recorded, function, note},
#include "simulator/claims.def"
#undef CLAIM
};

static const struct claim_input_info inputs[CLAIM_INPUT_COUNT] = {
#define INPUT(claim, id, meaning, text) {CLAIM_##claim, #id, meaning, text},
#include "simulator/claims.def"
#undef INPUT
};

static const struct {
    enum claim claim;
    const char *command;
} commands[] = {
#define SEE(claim, command) {CLAIM_##claim, command},
#include "simulator/claims.def"
#undef SEE
};

const char *claim_command(enum claim c, int n)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].claim == c && n-- == 0)
            return commands[i].command;
    return NULL;
}

const char *verdict_name(enum verdict_word v)
{
    return verdicts[v].name;
}

const char *verdict_meaning(enum verdict_word v)
{
    return verdicts[v].meaning;
}

const char *claim_group_source(enum claim_group g)
{
    return sources[g];
}

const struct claim_info *claim_info(enum claim c)
{
    return &claims[c];
}

const struct claim_input_info *claim_input_info(enum claim_input i)
{
    return &inputs[i];
}

static bool same_name(const char *a, const char *b)
{
    while (*a != 0 && tolower((unsigned char)*a) == tolower((unsigned char)*b))
        a++, b++;
    return *a == *b;
}

bool claim_from_name(const char *name, enum claim *c, struct message *why)
{
    const char *names[CLAIM_COUNT];
    for (int i = 0; i < CLAIM_COUNT; i++) {
        names[i] = claims[i].name;
        if (same_name(name, names[i])) {
            *c = (enum claim)i;
            return true;
        }
    }
    const char *near = nearest_name(name, names, CLAIM_COUNT);
    return near != NULL
               ? refuse(why, "no claim is called \"%.40s\"; did you mean %s?", name, near)
               : refuse(why, "no claim is called \"%.40s\"; flashulp claims lists them", name);
}

struct claim_inputs claim_inputs_published(void)
{
    struct claim_inputs in = {.ranges = decode_ranges, .range_count = decode_range_count};
    for (int i = 0; i < CLAIM_INPUT_COUNT; i++)
        in.text[i] = inputs[i].text;
    return in;
}

void claim_evaluate(enum claim c, const struct claim_inputs *in, struct claim_outcome *out)
{
    const struct claim_info *info = &claims[c];
    *out = (struct claim_outcome){"-", info->recorded, NULL};
    if (info->compute != NULL)
        info->compute(in, out);
    if (info->note[0] != 0)
        text_wrapped(&out->explain, 0, 0, info->note);
    for (int n = 0; claim_command(c, n) != NULL; n++)
        text_append(&out->explain, "  see  %s\n", claim_command(c, n));
}

void claim_outcome_free(struct claim_outcome *out)
{
    free(out->explain);
    *out = (struct claim_outcome){0};
}
