/* splits_names.c: splits.def as data: kernels, versions, head sizes and options from texts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/splits_parts.h"

static const struct split_rule_info infos[SPLIT_RULE_COUNT] = {
#define SPLIT_RULE(id, name, function, order, device, one, most, dims, meaning, length)            \
    {name, GROUPS_##order, device, one, most, dims, meaning, length},
#include "simulator/splits.def"
#undef SPLIT_RULE
};

static const struct {
    enum split_rule rule;
    const char *since;
    int factor;
    const char *meaning;
} versions[] = {
#define SPLIT_VERSION(rule, since, factor, meaning) {SPLIT_RULE_##rule, since, factor, meaning},
#include "simulator/splits.def"
#undef SPLIT_VERSION
};
enum { VERSIONS = sizeof versions / sizeof versions[0] };

static const struct split_option_info options[SPLIT_OPTION_COUNT] = {
#define SPLIT_OPTION(id, rule, name, values, usual, meaning)                                       \
    {SPLIT_RULE_##rule, name, values, meaning, usual},
#include "simulator/splits.def"
#undef SPLIT_OPTION
};

static const struct {
    const char *name, *reason, *pin;
} unmodelled[] = {
#define UNMODELLED(name, reason, pin) {name, reason, pin},
#include "simulator/splits.def"
#undef UNMODELLED
};
enum { UNMODELLED_COUNT = sizeof unmodelled / sizeof unmodelled[0] };

static const struct {
    enum split_rule rule;
    enum split_text what;
    const char *text;
} says[] = {
#define SPLIT_SAYS(rule, what, text) {SPLIT_RULE_##rule, SPLIT_##what, text},
#include "simulator/splits.def"
#undef SPLIT_SAYS
};

const char *split_says(enum split_rule rule, enum split_text what, int n)
{
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        if (says[i].rule == rule && says[i].what == what && n-- == 0)
            return says[i].text;
    return NULL;
}

const struct split_rule_info *split_rule_info(enum split_rule rule)
{
    return &infos[rule];
}

const struct split_option_info *split_option_info(enum split_option o)
{
    return &options[o];
}

const char *unmodelled_kernel(int n, const char **reason, const char **pin)
{
    if (n >= UNMODELLED_COUNT)
        return NULL;
    *reason = unmodelled[n].reason;
    *pin = unmodelled[n].pin;
    return unmodelled[n].name;
}

bool refuse_unmodelled(const char *name, struct message *why)
{
    for (int i = 0; i < UNMODELLED_COUNT; i++)
        if (strcmp(unmodelled[i].name, name) == 0)
            return !refuse(why, "%s is not modelled (%s). To get evidence today, pin %s", name,
                           unmodelled[i].reason, unmodelled[i].pin);
    return false;
}

bool split_rule_from_name(const char *name, enum split_rule *rule, struct message *why)
{
    const char *names[SPLIT_RULE_COUNT + UNMODELLED_COUNT];
    if (refuse_unmodelled(name, why))
        return false;
    for (int i = 0; i < UNMODELLED_COUNT; i++)
        names[SPLIT_RULE_COUNT + i] = unmodelled[i].name;
    for (int i = 0; i < SPLIT_RULE_COUNT; i++) {
        names[i] = infos[i].name;
        if (strcmp(infos[i].name, name) == 0) {
            *rule = (enum split_rule)i;
            return true;
        }
    }
    const char *near = nearest_name(name, names, SPLIT_RULE_COUNT + UNMODELLED_COUNT);
    return near != NULL ? refuse(why, "no kernel is named \"%.40s\"; did you mean %s?", name, near)
                        : refuse(why, "no kernel is named \"%.40s\"; fa2-split is one", name);
}

bool split_kernel_from_text(const char *text, enum split_rule *rule, const char **version,
                            struct message *why)
{
    size_t length = strcspn(text, ":");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)smaller((int64_t)length, sizeof name - 1), text);
    *version = text[length] == ':' ? text + length + 1 : "";
    return split_rule_from_name(name, rule, why);
}

const char *split_version_name(enum split_rule rule, int n, const char **meaning)
{
    for (int i = 0; i < VERSIONS; i++)
        if (versions[i].rule == rule && n-- == 0) {
            *meaning = versions[i].meaning;
            return versions[i].since;
        }
    return NULL;
}

/* "v2.5.7" as 2 5 7; missing parts are 0. */
static bool version_numbers(const char *text, long number[3])
{
    text += text[0] == 'v';
    for (int i = 0; i < 3; i++) {
        char *end;
        number[i] = 0;
        if (i > 0 && *text == 0)
            continue;
        if (*text < '0' || *text > '9')
            return false;
        number[i] = strtol(text, &end, 10);
        text = end + (*end == '.' && end[1] != 0);
    }
    return *text == 0;
}

static bool not_before(const long a[3], const long b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return true;
}

bool version_reaches(const char *asked, const char *since, bool *reaches)
{
    long a[3], b[3];
    if (!version_numbers(asked, a) || !version_numbers(since, b))
        return false;
    *reaches = not_before(a, b);
    return true;
}

bool split_version(enum split_rule rule, const char *text, int *factor, const char **meaning,
                   struct message *why)
{
    bool newest = text == NULL || text[0] == 0, found = false, any = false;
    long asked[3], since[3];
    *factor = 0;
    *meaning = "";
    if (!newest && !version_numbers(text, asked))
        return refuse(why, "\"%s\" is no version; three numbers such as 2.5.6 are right",
                      quoted(text, strlen(text)).text);
    for (int i = 0; i < VERSIONS; i++) {
        if (versions[i].rule != rule)
            continue;
        any = true;
        version_numbers(versions[i].since, since);
        if (!newest && (!not_before(asked, since) || asked[0] != since[0]))
            continue;
        found = true;
        *factor = versions[i].factor;
        *meaning = versions[i].meaning;
    }
    if (newest || found)
        return true;
    return any ? refuse(why, "%s has versions 2.0 and later of FlashAttention-2; %s is none",
                        infos[rule].name, quoted(text, strlen(text)).text)
               : refuse(why, "the rule of %s has one version only: leave out \":%s\"",
                        infos[rule].name, quoted(text, strlen(text)).text);
}

/* "64 128" lists; "16-256/16" is a range and a step; "32-" has no end. */
bool split_takes_dim(enum split_rule rule, int64_t dim, struct message *why)
{
    const char *sizes = infos[rule].head_sizes, *dash = strchr(sizes, '-');
    int64_t least = strtol(sizes, NULL, 10), most = dash != NULL ? strtol(dash + 1, NULL, 10) : 0;
    const char *slash = strchr(sizes, '/');
    int64_t step = slash != NULL ? strtol(slash + 1, NULL, 10) : 1;
    if (dash != NULL) {
        if (least <= dim && (most == 0 || dim <= most) && dim % step == 0)
            return true;
        char upper[32] = " and more";
        if (most > 0)
            snprintf(upper, sizeof upper, " to %" PRId64, most);
        return refuse(why, "%s takes no head size %" PRId64 "; it takes %s%" PRId64 "%s",
                      infos[rule].name, dim, step == 16 ? "multiples of 16 from " : "", least,
                      upper);
    }
    for (const char *at = sizes; *at != 0;) {
        char *end;
        if (strtol(at, &end, 10) == dim)
            return true;
        at = end;
    }
    return refuse(why, "%s takes no head size %" PRId64 "; it takes %s", infos[rule].name, dim,
                  sizes);
}

int64_t split_option(const struct launch *l, enum split_option o)
{
    return l->option[o].given ? l->option[o].value : options[o].usual;
}

/* The number of `value` among "auto|2d|3d" from 1; 0 when it is not there. */
static int word_number(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (int n = 1; *words != 0; n++) {
        size_t word = strcspn(words, "|");
        if (word == length && strncmp(words, value, word) == 0)
            return n;
        words += word + (words[word] == '|');
    }
    return 0;
}

static bool option_value(const struct split_option_info *info, const char *text, int64_t *value,
                         struct message *why)
{
    if (strchr(info->values, '|') != NULL) {
        *value = word_number(info->values, text);
        return *value > 0 ||
               refuse(why, "option %s of %s is %s, not \"%s\"", info->name, infos[info->rule].name,
                      info->values, quoted(text, strlen(text)).text);
    }
    char *end, *dash;
    long least = strtol(info->values, &dash, 10), most = strtol(dash + 1, NULL, 10);
    *value = strtol(text, &end, 10);
    bool number = text[0] >= '0' && text[0] <= '9' && *end == 0 && strlen(text) < 12;
    return (number && least <= *value && *value <= most) ||
           refuse(why, "option %s of %s is a number from %ld to %ld, not \"%s\"", info->name,
                  infos[info->rule].name, least, most, quoted(text, strlen(text)).text);
}

/* "segments, tile": the rule's options. */
static void list_options(enum split_rule rule, char *text, size_t room)
{
    text[0] = 0;
    for (int o = 0; o < SPLIT_OPTION_COUNT; o++) {
        size_t length = strlen(text);
        if (options[o].rule == rule)
            snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "", options[o].name);
    }
}

bool split_option_set(struct launch *l, enum split_rule rule, const char *text, struct message *why)
{
    size_t length = strcspn(text, "=");
    char list[160];
    if (text[length] == 0)
        return refuse(why, "\"%s\" is no option; NAME=VALUE is right", quoted(text, length).text);
    for (int o = 0; o < SPLIT_OPTION_COUNT; o++) {
        if (options[o].rule != rule || strlen(options[o].name) != length ||
            strncmp(options[o].name, text, length) != 0)
            continue;
        l->option[o].given = true;
        return option_value(&options[o], text + length + 1, &l->option[o].value, why);
    }
    list_options(rule, list, sizeof list);
    return list[0] == 0 ? refuse(why, "%s has no options", infos[rule].name)
                        : refuse(why, "%s has no option \"%s\"; its options are %s",
                                 infos[rule].name, quoted(text, length).text, list);
}
