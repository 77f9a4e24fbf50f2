/* list.c: `flashulp list WHAT`: the tables, as they stand in the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/battery_gradient.h"
#include "simulator/claims.h"
#include "simulator/cli/cli.h"
#include "simulator/cli/list_kernels.h"
#include "simulator/cost.h"
#include "simulator/devices.h"
#include "simulator/examples.h"
#include "simulator/inputs.h"
#include "simulator/mma.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"
#include "simulator/splits.h"
#include "simulator/workloads.h"

void list_entry(struct report *r, struct json *list, const char *name, const char *meaning,
                const char *note)
{
    enum { NAME = 22 };
    struct json *j = json_object(list, NULL);
    report_text(r, " %-*s ", NAME - 2, name);
    text_wrapped(&r->text, NAME, NAME, meaning);
    if (note[0] != 0) {
        report_text(r, "%*s", NAME, "");
        text_wrapped(&r->text, NAME, NAME, note);
    }
    report_row(r, "%s\t%s\t%s", name, meaning, note);
    json_string(j, "name", name);
    json_string(j, "meaning", meaning);
    if (note[0] != 0)
        json_string(j, "note", note);
}

static void list_formats(struct report *r, struct json *list)
{
    for (int f = 0; f < FORMAT_COUNT; f++) {
        const struct format_info *info = format_info((enum format)f);
        char note[80] = "";
        if (info->precision > 0)
            snprintf(note, sizeof note, "%d bits, significand %d, 2^%d to %.8g", info->bits,
                     info->precision, info->emin, info->largest);
        list_entry(r, list, info->name, info->meaning, note);
    }
}

/* One column per policy. */
static void list_sites(struct report *r, struct json *list)
{
    report_text(r, "%-12s ", "");
    text_append(&r->table, "name");
    for (int p = 0; p < POLICY_COUNT; p++) {
        report_text(r, "%-8s ", policy_name((enum policy_id)p));
        text_append(&r->table, "\t%s", policy_name((enum policy_id)p));
    }
    report_text(r, "\n");
    text_append(&r->table, "\tmeaning\n");
    for (int s = 0; s < SITE_COUNT; s++) {
        struct json *j = json_object(list, NULL), *formats;
        json_string(j, "name", site_name((enum site)s));
        json_string(j, "meaning", site_meaning((enum site)s));
        formats = json_object(j, "formats");
        report_text(r, "%-12s ", site_name((enum site)s));
        text_append(&r->table, "%s", site_name((enum site)s));
        for (int p = 0; p < POLICY_COUNT; p++) {
            struct policy policy = policy_table((enum policy_id)p);
            const char *format = format_info(policy.site[s].format)->name;
            json_string(formats, policy_name((enum policy_id)p), format);
            report_text(r, p == POLICY_COUNT - 1 ? "%s\n" : "%-8s ", format);
            text_append(&r->table, "\t%s", format);
        }
        report_text(r, "   ");
        text_wrapped(&r->text, 3, 3, site_meaning((enum site)s));
        text_append(&r->table, "\t%s\n", site_meaning((enum site)s));
    }
}

static void list_steps(struct report *r, struct json *list)
{
#define STEP(id, label, equation, meaning, lesson, names, anchored)                                \
    list_entry(r, list, label, equation, meaning);
#include "simulator/steps.def"
#undef STEP
}

static void list_algorithms(struct report *r, struct json *list)
{
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        const struct algorithm_info *info = algorithm_info((enum algorithm)a);
        list_entry(r, list, info->name, info->meaning, info->source);
    }
}

static void list_policies(struct report *r, struct json *list)
{
    for (int p = 0; p < POLICY_COUNT; p++)
        list_entry(r, list, policy_name((enum policy_id)p), policy_meaning((enum policy_id)p), "");
}

static void list_orders(struct report *r, struct json *list)
{
#define ORDER(id, name, meaning) list_entry(r, list, name, meaning, "");
#include "simulator/orders.def"
#undef ORDER
}

/* A line for each unit and type, what is lacking, and the switches for what is disputed. */
static void list_units(struct report *r, struct json *list)
{
    for (int u = 0; u < MMA_UNITS; u++)
        for (int t = 0; t < MMA_TYPES; t++) {
            char name[32], meaning[400];
            const char *reason = "", *type = mma_type_name((enum mma_type)t);
            const struct mma_info *info = mma_info((enum mma_unit)u, (enum mma_type)t, &reason);
            snprintf(name, sizeof name, "%s/%s", mma_unit_name((enum mma_unit)u), type);
            if (info != NULL)
                snprintf(meaning, sizeof meaning, "%s; steps of L = %d, F = %d, %s, e_zero %d",
                         mma_unit_meaning((enum mma_unit)u), info->L, info->F,
                         info->fraction == 23 ? "fp32 cut toward zero" : "cut to 13 bits (E8M13)",
                         info->e_zero);
            list_entry(r, list, name, info == NULL ? reason : meaning,
                       info == NULL ? "" : info->evidence);
        }
#define MMA_TYPE(id, name, operands) list_entry(r, list, "/" name, "takes " operands, "");
#define MMA_SWITCH(id, name, values, meaning)                                                      \
    list_entry(r, list, "," name "=", values ": " meaning, "");
#include "simulator/mma.def"
#undef MMA_TYPE
#undef MMA_SWITCH
}

static void list_special(struct report *r, struct json *list)
{
#define SPECIAL(id, name, meaning) list_entry(r, list, name, meaning, "");
#include "simulator/special.def"
#undef SPECIAL
}

static void list_functions(struct report *r, struct json *list)
{
#define FUNCTION(id, name, meaning) list_entry(r, list, name, meaning, "");
#include "simulator/special.def"
#undef FUNCTION
}

static void list_examples(struct report *r, struct json *list)
{
    for (int e = 0; e < EXAMPLE_COUNT; e++) {
        const struct example_info *info = example_info((enum example)e);
        list_entry(r, list, info->name, info->meaning, info->source);
    }
}

static void list_families(struct report *r, struct json *list)
{
    for (int n = 0; input_family(n) != NULL; n++)
        list_entry(r, list, input_family(n)->name, input_family(n)->meaning, "");
}

static void list_verbs(struct report *r, struct json *list)
{
#define VERB(id, name, meaning) list_entry(r, list, name, meaning, "");
#include "simulator/verbs.def"
#undef VERB
}

static void list_tensors(struct report *r, struct json *list)
{
#define TENSOR(id, symbol, meaning) list_entry(r, list, symbol, meaning, "");
#include "simulator/tensors.def"
#undef TENSOR
}

/* Every figure of a device with its source; what has none is said. */
static void list_figures(struct report *r, struct json *j, enum device d)
{
    struct json *figures = json_object(j, "figures");
    char missing[160] = "";
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        const char *source, *name = quantity_name((enum quantity_id)q);
        const char *unit = quantity_unit((enum quantity_id)q);
        double x = device_figure(d, (enum quantity_id)q, &source);
        if (source == NULL) {
            size_t length = strlen(missing);
            snprintf(missing + length, sizeof missing - length, "%s%s", length > 0 ? ", " : "",
                     name);
            continue;
        }
        struct json *figure = json_object(figures, name);
        json_real(figure, "value", x);
        json_string(figure, "unit", unit);
        json_string(figure, "source", source);
        report_text(r, "    %-27s %6g %-8s", name, x, unit);
        text_wrapped(&r->text, 47, 47, source);
        text_append(&r->table, "%s\t%s\t%g\t%s\t%s\n", device_info(d)->name, name, x, unit, source);
    }
    if (missing[0] != 0)
        report_text(r, "    not established: %s\n", missing);
}

static void list_devices(struct report *r, struct json *list)
{
    text_append(&r->table, "device\tquantity\tvalue\tunit\tsource\n");
    for (int d = 0; d < DEVICE_COUNT; d++) {
        const struct device_info *info = device_info((enum device)d);
        const struct architecture_info *a = architecture_info(info->architecture);
        struct json *j = json_object(list, NULL);
        json_string(j, "name", info->name);
        json_string(j, "meaning", info->meaning);
        json_string(j, "architecture", a->name);
        report_text(r, " %s   %s, %s\n", info->name, info->meaning, a->name);
        list_figures(r, j, (enum device)d);
    }
    report_text(r, " Another one is a .json file: one of these objects, as --json prints them,\n"
                   " or as short as {\"name\": \"X\", \"architecture\": \"sm90\", \"figures\": "
                   "{\"SMs\": 99}}.\n");
}

static void list_architectures(struct report *r, struct json *list)
{
    for (int i = 0; i < ARCHITECTURE_COUNT; i++) {
        const struct architecture_info *a = architecture_info((enum architecture)i);
        char note[96];
        snprintf(note, sizeof note, "SM: %d KB shared (%d a block), %d threads, %d blocks",
                 a->shared_per_sm, a->shared_per_block, a->threads_per_sm, a->blocks_per_sm);
        list_entry(r, list, a->name, a->meaning, note);
    }
}

static void list_verdicts(struct report *r, struct json *list)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        list_entry(r, list, verdict_name((enum verdict_word)v),
                   verdict_meaning((enum verdict_word)v), "");
#define AUDIT_VERDICT(id, name, meaning) list_entry(r, list, name, meaning, "audit");
#include "simulator/verdicts.def"
#undef AUDIT_VERDICT
}

static void list_workloads(struct report *r, struct json *list)
{
    for (int w = 0; w < WORKLOAD_COUNT; w++)
        list_entry(r, list, workload_name((enum workload)w), workload_meaning((enum workload)w),
                   "");
}

/* The kernels whose schedule rule is known, with the switches of each. */
static void list_splits(struct report *r, struct json *list)
{
    for (int k = 0; k < SPLIT_RULE_COUNT; k++) {
        const struct split_rule_info *info = split_rule_info((enum split_rule)k);
        char *note = NULL;
        text_append(&note, "head sizes %s", info->head_sizes);
        const char *version, *meaning;
        for (int n = 0; (version = split_version_name((enum split_rule)k, n, &meaning)) != NULL;
             n++)
            text_append(&note, "; :%s: %s", version, meaning);
        for (int o = 0; o < SPLIT_OPTION_COUNT; o++) {
            const struct split_option_info *option = split_option_info((enum split_option)o);
            if (option->rule == (enum split_rule)k)
                text_append(&note, "; --option %s=%s: %s", option->name, option->values,
                            option->meaning);
        }
        list_entry(r, list, info->name, info->meaning, note);
        free(note);
    }
}

static void list_assumptions(struct report *r, struct json *list)
{
    for (int a = 0; a < ASSUMPTION_COUNT; a++) {
        const struct assumption_info *info = assumption_info((enum assumption)a);
        char note[48];
        snprintf(note, sizeof note, "%.10g%s%s", info->value, info->unit[0] != 0 ? " " : "",
                 info->unit);
        list_entry(r, list, info->name, info->meaning, note);
    }
}

/* Kernels, then the launches that have names. */
static void list_launches(struct report *r, struct json *list)
{
    for (int k = 0; k < PLAN_KERNEL_COUNT; k++)
        list_entry(r, list, plan_kernel_name((enum plan_kernel)k),
                   plan_kernel_meaning((enum plan_kernel)k), "");
#define PLAN_EXAMPLE(name, kernel, batch, heads_q, heads_kv, tokens, dim, causal, meaning)         \
    list_entry(r, list, name, meaning,                                                             \
               #kernel " batch " #batch ", heads " #heads_q "/" #heads_kv ", " #tokens             \
                       " tokens, d " #dim);
#include "simulator/plan.def"
#undef PLAN_EXAMPLE
}

static void list_battery(struct report *r, struct json *list)
{
    for (int n = 0; battery_case(n) != NULL; n++)
        list_entry(r, list, battery_case(n)->name, battery_case(n)->meaning, "");
}

static void list_mistakes(struct report *r, struct json *list)
{
    for (int n = 0; mistake_info(n) != NULL; n++)
        list_entry(r, list, mistake_info(n)->name, mistake_text(mistake_info(n), "N").text, "");
    for (int n = 0; gradient_mistake_info(n) != NULL; n++)
        list_entry(r, list, gradient_mistake_info(n)->name,
                   gradient_mistake_text(gradient_mistake_info(n), "N").text, "");
}

static const struct {
    const char *name, *meaning;
    void (*fill)(struct report *r, struct json *list);
} tables[] = {
    {"formats", "number formats", list_formats},
    {"sites", "the places where a value is rounded", list_sites},
    {"steps", "what a walk shows", list_steps},
    {"algorithms", "the listings of the literature", list_algorithms},
    {"kernels", "models of shipped kernels", cli_list_kernels},
    {"policies", "where to round and to what", list_policies},
    {"orders", "how sums are taken", list_orders},
    {"units", "tensor cores, for orders mma@UNIT", list_units},
    {"special", "how exp, log and tanh are computed", list_special},
    {"functions", "the transcendental functions", list_functions},
    {"examples", "problems that have names", list_examples},
    {"faults", "the switches of fa2-printed", cli_list_faults},
    {"alterations", "known changes and bugs, of any listing or kernel", cli_list_alterations},
    {"decode", "the switches of algorithm decode", cli_list_decode},
    {"families", "generated inputs", list_families},
    {"verbs", "the operations algorithms are written in", list_verbs},
    {"tensors", "the arrays algorithms name", list_tensors},
    {"devices", "GPUs and their figures, with sources", list_devices},
    {"architectures", "what an SM of each generation holds", list_architectures},
    {"verdicts", "words a report may use", list_verdicts},
    {"splits", "kernels whose grouping is known", list_splits},
    {"launches", "what plan plans: kernels, and launches that have names", list_launches},
    {"assumptions", "what plan takes for granted", list_assumptions},
    {"battery", "edge cases for a program of your own", list_battery},
    {"mistakes", "wrong answers that battery knows", list_mistakes},
    {"workloads", "decode workloads that have names", list_workloads},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *cli_list_table(int n)
{
    return n < TABLES ? tables[n].name : NULL;
}

static bool find_table(const char *word, int *table, struct message *why)
{
    const char *names[TABLES];
    for (*table = 0; *table < TABLES; ++*table) {
        names[*table] = tables[*table].name;
        if (strcmp(tables[*table].name, word) == 0)
            return true;
    }
    const char *near = nearest_name(word, names, TABLES);
    return refuse(why, "no table is named %.40s; %s%s%s", word,
                  near != NULL ? "did you mean " : "flashulp list names them",
                  near != NULL ? near : "", near != NULL ? "?" : "");
}

static bool answer(struct report *r, const struct scenario *s, struct message *why)
{
    int table;
    if (s->problem == NULL) {
        report_row(r, "name\tmeaning\tnote");
        struct json *list = json_list(r->json, "tables");
        for (int i = 0; i < TABLES; i++)
            list_entry(r, list, tables[i].name, tables[i].meaning, "");
        return true;
    }
    if (!find_table(s->problem, &table, why))
        return false;
    if (tables[table].fill != list_sites && tables[table].fill != list_devices &&
        tables[table].fill != cli_list_kernels)
        report_row(r, "name\tmeaning\tnote");
    tables[table].fill(r, json_list(r->json, tables[table].name));
    return true;
}

int cli_list(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_LIST, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!report_check_outputs(&s, "json md csv", NULL, 0, &why) || !answer(&r, &s, &why) ||
        !report_finish(&r, &why))
        status = cli_refused("list", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
