/* kernels.c: the tables of kernels.def, and a kernel named by words. */
#include "simulator/kernels.h"

#include <stdio.h>
#include <string.h>

#include "simulator/simulate.h"

static const struct kernel_info kernels[KERNEL_COUNT] = {
#define KERNEL(id, name, body, tiles, adjust, flags, head_sizes, meaning, source)                  \
    {name, body, tiles, adjust, flags, head_sizes, meaning, source},
#include "simulator/kernels.def"
#undef KERNEL
};

static const struct kernel_option_info options[KERNEL_OPTION_COUNT] = {
#define KERNEL_OPTION(kernel, id, name, values, meaning) {KERNEL_##kernel, name, values, meaning},
#include "simulator/kernels.def"
#undef KERNEL_OPTION
};

/* A row that belongs to a kernel. */
struct line {
    enum kernel kernel;
    const char *text, *meaning;
};

static const struct line versions[] = {
#define KERNEL_VERSION(kernel, name, meaning) {KERNEL_##kernel, name, meaning},
#include "simulator/kernels.def"
#undef KERNEL_VERSION
};

static const struct line departures[] = {
#define KERNEL_DEPARTS(kernel, sentence) {KERNEL_##kernel, sentence, NULL},
#include "simulator/kernels.def"
#undef KERNEL_DEPARTS
};

static const struct line evidence[] = {
#define KERNEL_EVIDENCE(kernel, sentence) {KERNEL_##kernel, sentence, NULL},
#include "simulator/kernels.def"
#undef KERNEL_EVIDENCE
};

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

const struct kernel_info *kernel_info(enum kernel k)
{
    return &kernels[k];
}

bool kernel_option_open(const struct kernel_choice *c, enum kernel_option o)
{
    static const char *const open[KERNEL_OPTION_COUNT] = {
#define KERNEL_OPEN(kernel, id, version) [KERNEL_OPTION_##kernel##_##id] = version,
#include "simulator/kernels.def"
#undef KERNEL_OPEN
    };
    const char *meaning, *version = kernel_version(c->kernel, c->version, &meaning);
    return options[o].kernel == c->kernel && open[o] != NULL &&
           (open[o][0] == 0 || (version != NULL && strcmp(version, open[o]) == 0));
}

const struct kernel_option_info *kernel_option_info(enum kernel_option o)
{
    return &options[o];
}

static const struct line *nth(const struct line *table, int count, enum kernel k, int n)
{
    for (int i = 0; i < count; i++)
        if (table[i].kernel == k && n-- == 0)
            return &table[i];
    return NULL;
}

const char *kernel_version(enum kernel k, int n, const char **meaning)
{
    const struct line *l = nth(versions, COUNT(versions), k, n);
    if (l != NULL && meaning != NULL)
        *meaning = l->meaning;
    return l != NULL ? l->text : NULL;
}

const char *kernel_departs(enum kernel k, int n)
{
    const struct line *l = nth(departures, COUNT(departures), k, n);
    return l != NULL ? l->text : NULL;
}

const char *kernel_evidence(enum kernel k, int n)
{
    const struct line *l = nth(evidence, COUNT(evidence), k, n);
    return l != NULL ? l->text : NULL;
}

bool kernel_from_name(const char *name, enum kernel *k, struct message *why)
{
    const char *names[KERNEL_COUNT];
    for (int i = 0; i < KERNEL_COUNT; i++) {
        names[i] = kernels[i].name;
        if (strcmp(name, names[i]) == 0) {
            *k = (enum kernel)i;
            return true;
        }
    }
    if (refuse_unmodelled(name, why))
        return false;
    const char *near = nearest_name(name, names, KERNEL_COUNT);
    return near != NULL ? refuse(why, "unknown kernel \"%.40s\"; did you mean %s?", name, near)
                        : refuse(why, "unknown kernel \"%.40s\"; flashulp list kernels", name);
}

bool kernel_on_device(struct kernel_choice *c, const char *device, struct message *why)
{
    struct device_record d;
    if (!device_lookup(device, &d, why))
        return false;
    snprintf(c->device, sizeof c->device, "%s", d.name);
    c->unit = architecture_info(d.architecture)->name;
    c->sms = (int)d.figure[QUANTITY_SMS];
    return c->sms > 0 || refuse(why, "device %s: how many SMs it has is not established", d.name);
}

/* The newest row that is not newer than what was asked for. */
static bool choose_version(struct kernel_choice *c, const char *asked, struct message *why)
{
    const char *since, *name = kernels[c->kernel].name, *oldest = NULL;
    snprintf(c->asked, sizeof c->asked, "%s", asked);
    for (c->version = 0; (since = kernel_version(c->kernel, c->version, NULL)) != NULL; c->version++) {
        bool reaches;
        if (!version_reaches(asked, since, &reaches))
            return refuse(why, "%s: \"%.30s\" is no version; three numbers such as 2.5.6 are right",
                          name, asked);
        if (reaches)
            return true;
        oldest = since;
    }
    if (oldest == NULL)
        return refuse(why, "%s has one version only: leave out \":%.30s\"", name, asked);
    return refuse(why, "%s is modelled from version %s on; %.30s is older", name, oldest, asked);
}

bool kernel_choose(struct kernel_choice *c, const char *text, struct message *why)
{
    char name[64], version[32], device[256];
    size_t at = strcspn(text, "@"), colon = strcspn(text, ":@");
    memset(c, 0, sizeof *c);
    if (colon >= sizeof name || at - colon >= sizeof version || strlen(text + at) >= sizeof device)
        return refuse(why, "\"%.60s...\" is too long; KERNEL[:VERSION][@DEVICE] is right", text);
    snprintf(name, sizeof name, "%.*s", (int)colon, text);
    snprintf(version, sizeof version, "%.*s", colon < at ? (int)(at - colon - 1) : 0,
             text + colon + 1);
    snprintf(device, sizeof device, "%s", text[at] == '@' ? text + at + 1 : "H200");
    return kernel_from_name(name, &c->kernel, why) &&
           (colon == at || choose_version(c, version, why)) && kernel_on_device(c, device, why);
}

struct kernel_name kernel_name(const struct kernel_choice *c)
{
    struct kernel_name n;
    snprintf(n.text, sizeof n.text, "%s%s%s@%s", kernels[c->kernel].name, c->asked[0] != 0 ? ":" : "",
             c->asked, c->device);
    return n;
}

/* Place of the value among "first second", or -1. */
static int value_place(const char *values, const char *value)
{
    size_t length = strlen(value);
    for (int n = 0; *values != 0; n++) {
        size_t width = strcspn(values, " ");
        if (width == length && strncmp(values, value, length) == 0)
            return n;
        values += width + (values[width] == ' ');
    }
    return -1;
}

static bool has_split_option(enum split_rule rule, const char *text, size_t length)
{
    for (int o = 0; o < SPLIT_OPTION_COUNT; o++) {
        const struct split_option_info *info = split_option_info((enum split_option)o);
        if (info->rule == rule && strlen(info->name) == length &&
            strncmp(info->name, text, length) == 0)
            return true;
    }
    return false;
}

bool kernel_set_option(struct kernel_choice *c, const char *text, struct message *why)
{
    char all[256] = "";
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    for (int o = 0; o < KERNEL_OPTION_COUNT; o++) {
        const struct kernel_option_info *info = &options[o];
        if (info->kernel != c->kernel)
            continue;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", info->name);
        if (strlen(info->name) != length || strncmp(info->name, text, length) != 0)
            continue;
        c->option[o] = equals != NULL ? value_place(info->values, equals + 1) : -1;
        return c->option[o] >= 0 || refuse(why, "--option %s: one of \"%s\" is right, as in %s=%.*s",
                                           info->name, info->values, info->name,
                                           (int)strcspn(info->values, " "), info->values);
    }
    const char *name = kernels[c->kernel].name;
    enum split_rule rule;
    struct message unknown;
    if (kernels[c->kernel].flags & GROUPED && split_rule_from_name(name, &rule, &unknown)) {
        if (all[0] == 0 || has_split_option(rule, text, length))
            return split_option_set(&c->launch, rule, text, why);
    }
    return all[0] == 0 ? refuse(why, "--option %.60s: %s has no switches", text, name)
                       : refuse(why, "--option %.60s: %s has no such switch; it has %s", text, name,
                                all);
}
