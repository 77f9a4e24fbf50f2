/* decode_forms.c: the names of decode.def, the presets, and a grouping in words. */
#include "simulator/decode_forms.h"

#include <stdio.h>
#include <string.h>

static const char *const merge_names[MERGE_COUNT] = {
#define MERGE(id, name, meaning) name,
#include "simulator/decode.def"
#undef MERGE
};

static const char *const merge_meanings[MERGE_COUNT] = {
#define MERGE(id, name, meaning) meaning,
#include "simulator/decode.def"
#undef MERGE
};

static const struct backend_info backends[BACKEND_COUNT] = {
#define BACKEND(id, name, merge, round_robin, tile, splits, rounded, narrow, rule, meaning)        \
    {name, MERGE_##merge, round_robin, tile, splits, rounded, narrow, SPLIT_RULE_##rule, meaning},
#include "simulator/decode.def"
#undef BACKEND
};

const char *merge_name(enum merge m)
{
    return merge_names[m];
}

const char *merge_meaning(enum merge m)
{
    return merge_meanings[m];
}

const struct backend_info *backend_info(enum backend b)
{
    return &backends[b];
}

/* The place of the word among the values, or a sentence with all of them. */
static bool find_value(const char *option, const char *word, const char *const *values, int count,
                       int *at, struct message *why)
{
    char all[160] = "";
    for (*at = 0; *at < count; ++*at) {
        size_t length = strlen(all);
        if (strcmp(values[*at], word) == 0)
            return true;
        snprintf(all + length, sizeof all - length, "%s%s",
                 *at == 0           ? ""
                 : *at == count - 1 ? " or "
                                    : ", ",
                 values[*at]);
    }
    return refuse(why, "--option %s=%.40s: %s is right", option, word, all);
}

static bool take_backend(struct decode_form *f, const char *word, struct message *why)
{
    const char *names[BACKEND_COUNT];
    int at;
    for (int b = 0; b < BACKEND_COUNT; b++)
        names[b] = backends[b].name;
    if (!find_value("backend", word, names, BACKEND_COUNT, &at, why))
        return false;
    f->backend = &backends[at];
    f->merge = backends[at].merge;
    f->sum_rounded = backends[at].sum_rounded;
    return true;
}

static bool take_switch(struct decode_form *f, const char *name, const char *word,
                        struct message *why)
{
    static const char *const maxima[] = {"group", "running"};
    static const char *const sums[] = {"unrounded", "rounded"};
    int at;
    if (strcmp(name, "merge") == 0) {
        if (!find_value(name, word, merge_names, MERGE_COUNT, &at, why))
            return false;
        f->merge = (enum merge)at;
    } else if (strcmp(name, "max") == 0) {
        if (!find_value(name, word, maxima, 2, &at, why))
            return false;
        f->running_max = at == 1;
    } else if (strcmp(name, "sum") == 0) {
        if (!find_value(name, word, sums, 2, &at, why))
            return false;
        f->sum_rounded = at == 1;
    } else {
        return refuse(why,
                      "--option %.40s: decode knows backend, merge, max and sum; flashulp list "
                      "decode",
                      name);
    }
    return true;
}

/* One "name=value" of the lines; `backends_only`: those of the first round. */
static bool take_line(struct decode_form *f, const char *line, size_t length, bool backends_only,
                      struct message *why)
{
    char text[96];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text), line);
    char *value = strchr(text, '=');
    if (value == NULL)
        return refuse(why, "--option %.60s: NAME=VALUE is right, such as merge=lse", text);
    *value++ = 0;
    bool backend = strcmp(text, "backend") == 0;
    if (backend != backends_only)
        return true;
    return backend ? take_backend(f, value, why) : take_switch(f, text, value, why);
}

bool decode_form_read(struct decode_form *f, const char *lines, struct message *why)
{
    *f = (struct decode_form){.merge = MERGE_LSE};
    for (int round = 0; round < 2; round++)
        for (const char *at = lines; at != NULL && *at != 0;) {
            size_t length = strcspn(at, "\n");
            if (!take_line(f, at, length, round == 0, why))
                return false;
            at += length + (at[length] == '\n');
        }
    return true;
}

void decode_form_policy(const struct decode_form *f, struct policy *p)
{
    char setting[48];
    struct message unused;
    if (f->backend == NULL || !f->backend->out_narrow)
        return;
    snprintf(setting, sizeof setting, "PARTIAL_OUT=%s",
             format_info(p->site[SITE_OUT].format)->name);
    policy_set(p, setting, &unused);
}
