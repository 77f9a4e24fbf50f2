/* list_kernels.c: `flashulp list kernels`: what each model takes, where it leaves the contracts,
   how much is known about it; the kernels that are known by name only; switches of listings. */
#include "simulator/cli/list_kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "simulator/decode_forms.h"
#include "simulator/kernels.h"
#include "simulator/scenario_parts.h"

enum { INDENT = 16 };

/* " label    words", broken; and a row of the table. */
static void line(struct report *r, const char *kernel, const char *label, const char *words)
{
    report_text(r, "    %-*s", INDENT - 4, label);
    text_wrapped(&r->text, INDENT, INDENT, words);
    report_row(r, "%s\t%s\t%s", kernel, label, words);
}

static void list_takes(struct report *r, struct json *j, const struct kernel_info *k)
{
    char text[256];
    snprintf(text, sizeof text, "bf16 or fp16; head sizes %s%s%s%s%s%s%s", k->head_sizes,
             k->flags & GROUPED ? "; one query a sequence" : "; any number of queries",
             k->flags & TAKES_CAUSAL ? "; --causal, bottom-right" : "",
             k->flags & TAKES_TOP_LEFT ? "; --causal, top-left" : "",
             k->flags & TAKES_WINDOW ? "; --window" : "", k->flags & TAKES_SOFTCAP ? "; --softcap" : "",
             k->flags & TAKES_PACKED ? "; --cu-seqlens" : "");
    line(r, k->name, "takes", text);
    json_string(j, "takes", text);
}

static void list_versions(struct report *r, struct json *j, enum kernel id)
{
    const char *name, *meaning;
    struct json *list = json_list(j, "versions");
    for (int n = 0; (name = kernel_version(id, n, &meaning)) != NULL; n++) {
        char text[256];
        snprintf(text, sizeof text, "from %s: %s", name, meaning);
        line(r, kernel_info(id)->name, n == 0 ? "versions" : "", text);
        json_string(list, NULL, name);
    }
}

static void list_policy(struct report *r, struct json *j, enum kernel id)
{
    struct kernel_rule rule;
    struct json *list = json_list(j, "policy");
    char *text = NULL;
    bool flushes = kernel_info(id)->flags & FAST_MATH;
    text_append(&text, "gpu-bf16 or gpu-fp16, but");
    for (int n = 0; kernel_rule(id, n, &rule); n++) {
        text_append(&text, "%s %s", n > 0 ? "," : "", rule.text);
        json_string(list, NULL, rule.text);
    }
    if (flushes)
        text_append(&text, "; fp32 results below 2^-126 are flushed to zero");
    line(r, kernel_info(id)->name, "policy", text);
    free(text);
}

static void list_options(struct report *r, struct json *j, enum kernel id)
{
    struct json *list = json_list(j, "options");
    bool first = true;
    for (int o = 0; o < KERNEL_OPTION_COUNT; o++) {
        const struct kernel_option_info *info = kernel_option_info((enum kernel_option)o);
        char text[512];
        if (info->kernel != id)
            continue;
        snprintf(text, sizeof text, "%s=%s: %s", info->name, info->values, info->meaning);
        for (char *c = text; *c != ':' && *c != 0; c++)
            *c = *c == ' ' ? '|' : *c;
        line(r, kernel_info(id)->name, first ? "--option" : "", text);
        json_string(list, NULL, text);
        first = false;
    }
}

static void list_sentences(struct report *r, struct json *j, enum kernel id, const char *label,
                           const char *(*sentence)(enum kernel, int))
{
    const char *text;
    struct json *list = json_list(j, label);
    for (int n = 0; (text = sentence(id, n)) != NULL; n++) {
        line(r, kernel_info(id)->name, n == 0 ? label : "", text);
        json_string(list, NULL, text);
    }
}

static void list_unmodelled(struct report *r, struct json *list)
{
    const char *name, *why, *pin;
    report_text(r, "\nknown by name only\n");
    for (int n = 0; (name = unmodelled_kernel(n, &why, &pin)) != NULL; n++) {
        struct json *j = json_object(list, NULL);
        char text[512];
        snprintf(text, sizeof text, "%s; to get evidence today, pin %s", why, pin);
        line(r, name, name, text);
        json_string(j, "name", name);
        json_string(j, "not_modelled", text);
    }
}

void cli_list_kernels(struct report *r, struct json *list)
{
    report_row(r, "kernel\twhat\ttext");
    for (int k = 0; k < KERNEL_COUNT; k++) {
        const struct kernel_info *info = kernel_info((enum kernel)k);
        struct json *j = json_object(list, NULL);
        json_string(j, "name", info->name);
        json_string(j, "meaning", info->meaning);
        json_string(j, "source", info->source);
        report_text(r, "%s%-14s  ", k > 0 ? "\n" : "", info->name);
        text_wrapped(&r->text, INDENT, INDENT, info->meaning);
        line(r, info->name, "source", info->source);
        list_takes(r, j, info);
        list_versions(r, j, (enum kernel)k);
        list_policy(r, j, (enum kernel)k);
        list_options(r, j, (enum kernel)k);
        list_sentences(r, j, (enum kernel)k, "departs", kernel_departs);
        list_sentences(r, j, (enum kernel)k, "evidence", kernel_evidence);
    }
    list_unmodelled(r, list);
}

void cli_list_decode(struct report *r, struct json *list)
{
    for (int b = 0; b < BACKEND_COUNT; b++) {
        char name[48];
        snprintf(name, sizeof name, "backend=%s", backend_info((enum backend)b)->name);
        list_entry(r, list, name, backend_info((enum backend)b)->meaning, "");
    }
    for (int m = 0; m < MERGE_COUNT; m++) {
        char name[48];
        snprintf(name, sizeof name, "merge=%s", merge_name((enum merge)m));
        list_entry(r, list, name, merge_meaning((enum merge)m),
                   m == MERGE_LSE ? "the default" : "");
    }
    list_entry(r, list, "max=group", "weights relative to the group's maximum", "the default");
    list_entry(r, list, "max=running",
               "weights relative to a maximum that runs over the group's tiles", "");
    list_entry(r, list, "sum=unrounded", "l sums the weights before they are rounded",
               "the default");
    list_entry(r, list, "sum=rounded", "l sums the weights as the value product takes them", "");
}

void cli_list_faults(struct report *r, struct json *list)
{
    for (int f = 0; f < FAULT_COUNT; f++)
        list_entry(r, list, fault_name((enum fault)f), fault_meaning((enum fault)f), "");
}

void cli_list_alterations(struct report *r, struct json *list)
{
#define ALTERATION(id, name, class, bug_case, meaning)                                             \
    list_entry(r, list, name, meaning, bug_case[0] != 0 ? "case " bug_case : "");
#include "simulator/alter.def"
#undef ALTERATION
}
