/* walk_step.c: one step of a walk in full; and all steps as JSON and as a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

struct step_words {
    const char *meaning, *lesson, *names;
};

static const struct step_words step_words[STEP_COUNT] = {
#define STEP(id, label, equation, meaning, lesson, names, anchored) {meaning, lesson, names},
#include "simulator/steps.def"
#undef STEP
};

enum format value_format(const struct walk *w, size_t event, double value)
{
    uint32_t site = trace_event(w->trace, event)->site;
    enum format f = site < SITE_COUNT ? w->simulation.policy.site[site].format : FORMAT_FP32;
    if (f == FORMAT_EXACT || (isfinite(value) && format_round(f, value, false) != value))
        f = isfinite(value) && format_round(FORMAT_FP32, value, false) != value ? FORMAT_FP64
                                                                                : FORMAT_FP32;
    return f;
}

/* "0x3EBC5AB2   0 01111101 01111000101101010110010" */
static void bits_of(enum format f, double value, char *text, size_t room)
{
    const struct format_info *info = format_info(f);
    unsigned long long bits = format_encode(f, value);
    int fraction = info->precision - 1;
    size_t n = (size_t)snprintf(text, room, "0x%0*llX%s", info->bits / 4, bits,
                                info->bits > 32 ? "\n          " : "   ");
    for (int b = info->bits - 1; b >= 0 && n + 2 < room; b--) {
        text[n++] = (char)('0' + (bits >> b & 1));
        if (b == info->bits - 1 || (b == fraction && fraction > 0))
            text[n++] = ' ';
    }
    text[n] = 0;
}

/* Whose the drift is: known of the tile's worst element. */
static void show_shares(struct report *r, const struct walk *w, const struct walk_group *g,
                        const struct walk_line *line)
{
    const struct event *e = trace_event(w->trace, g->event);
    if (line->kind != WALK_DRIFT || line->drift == 0)
        return;
    if (e->worst != (uint32_t)line->at)
        return;
    struct walk_line own = {.drift = e->local}, rest = {.drift = e->inherited};
    report_text(r, "          %s this step's own rounding, %s inherited",
                walk_drift_text(&own).text,
                fabs(rest.drift) < 1e-9 ? "0" : walk_drift_text(&rest).text);
    if (e->format != w->format && e->format < FORMAT_COUNT)
        report_text(r, " (in ulps of %s)", format_info((enum format)e->format)->name);
    report_text(r, "\n");
}

static void show_number(struct report *r, const struct walk *w, const struct walk_group *g,
                        const struct walk_line *line)
{
    enum format f = value_format(w, g->event, line->value);
    char bits[128], *numbers = walk_substituted(w, g->event, line), *words = NULL;
    bool names_value = strstr(g->equation, "= ") != NULL;
    const char *equal = strchr(g->equation, '=');
    text_append(&words, "%s%s%s", g->equation, names_value ? " = " : "   ", numbers);
    if (equal != NULL && strcmp(equal + 2, numbers) == 0)
        words[strlen(g->equation)] = 0;
    report_text(r, "\n");
    text_wrapped(&r->text, 0, 4, words);
    bits_of(f, line->value, bits, sizeof bits);
    report_text(r, "  value   %-22s %s\n", number_text(f, line->value).text, format_info(f)->name);
    report_text(r, "          %s\n", bits);
    report_text(r, "  exact   %.16g\n", line->exact[0] + line->exact[1]);
    report_text(r, "  drift   %s%s%s\n", walk_drift_text(line).text,
                line->kind == WALK_DRIFT      ? " ulp of "
                : line->kind == WALK_NO_DRIFT ? "none"
                                              : " ",
                line->kind == WALK_DRIFT        ? format_info(w->format)->name
                : line->kind == WALK_OTHER_KIND ? "one is finite, the other is not"
                                                : "");
    show_shares(r, w, g, line);
    if (line->figure != NULL) {
        struct number_text ours = walk_at_digits(line->value, line->figure);
        report_text(r, "  article %s%s%s\n", line->figure,
                    strcmp(ours.text, line->figure) == 0 ? ": the same printed digits" : ", here ",
                    strcmp(ours.text, line->figure) == 0 ? "" : ours.text);
    }
    free(words);
    free(numbers);
}

void show_detail(struct report *r, const struct walk *w, const struct walk_step *step)
{
    enum { MOST = 8 };
    const struct step_words *words = &step_words[step->step];
    char *about = NULL;
    report_text(r, "step %d of %d   %s   ", step->number, w->step_count, walk_label(step->step));
    if (step->tile == WALK_AFTER)
        report_text(r, "after the last tile\n");
    else if (step->tile == WALK_BEFORE)
        report_text(r, "before the tiles\n");
    else
        report_text(r, "tile %d of %d\n", step->tile + 1, key_tiles(&w->attention));
    text_append(&about, "%s%s%s", words->meaning, words->names[0] != 0 ? "; also called " : "",
                words->names);
    show_words(r, 0, about);
    for (int i = step->first; i < step->first + step->count; i++) {
        const struct walk_group *g = &w->groups[i];
        for (int n = 0; n < g->count && n < MOST; n++)
            show_number(r, w, g, &w->lines[g->first + n]);
        if (g->count > MOST)
            report_text(r, "\n%d more numbers of %s: --json or -o FILE.csv has them all.\n",
                        g->count - MOST, g->equation);
    }
    if (step->step == STEP_MASK) {
        report_text(r, "\n");
        show_step(r, w, step, false);
    }
}

static const char *symbol(enum tensor_name t)
{
    static const char *const symbols[TENSOR_COUNT] = {
#define TENSOR(id, text, meaning) text,
#include "simulator/tensors.def"
#undef TENSOR
    };
    return symbols[t];
}

/* Where steps go as data; either may be NULL. */
struct listing {
    const struct walk *w;
    bool changed; /* only lines that differ */
    struct json *steps;
    FILE *rows;
};

static void list_numbers(const struct listing *to, const struct walk_step *step,
                         const struct walk_group *g)
{
    int tile = step->tile < 0 ? -1 : step->tile + 1;
    for (int n = 0; n < g->count; n++) {
        const struct walk_line *line = &to->w->lines[g->first + n];
        if (to->changed && !line->changed)
            continue;
        fprintf(to->rows, "%d\t%s\t%d\t%s\t%s\t%d\t%.17g\t%.17g\t", step->number,
                walk_label(step->step), tile, symbol(g->tensor), g->equation, line->col,
                line->value, line->exact[0] + line->exact[1]);
        if (line->kind == WALK_DRIFT)
            fprintf(to->rows, "%.6g", line->drift);
        fprintf(to->rows, "\t%s", line->figure != NULL ? line->figure : "");
        if (line->key >= 0)
            fprintf(to->rows, "\t%lld", (long long)line->key);
        fputs(to->w->backward && line->key < 0 ? "\t\n" : "\n", to->rows);
    }
}

static void list_object(const struct listing *to, const struct walk_step *step,
                        const struct walk_group *g)
{
    struct json *one = json_object(to->steps, NULL);
    bool figures = g->count > 0 && to->w->lines[g->first].figure != NULL;
    json_whole(one, "n", step->number);
    json_string(one, "step", walk_label(step->step));
    json_whole(one, "tile", step->tile < 0 ? -1 : step->tile + 1);
    json_string(one, "tensor", symbol(g->tensor));
    json_string(one, "equation", g->equation);
    struct json *column = json_list(one, "column"), *value = json_list(one, "value");
    struct json *exact = json_list(one, "exact"), *drift = json_list(one, "drift");
    bool keyed = g->count > 0 && to->w->lines[g->first].key >= 0;
    struct json *key = keyed ? json_list(one, "key") : NULL;
    struct json *article = figures ? json_list(one, "article") : NULL;
    for (int n = 0; n < g->count; n++) {
        const struct walk_line *line = &to->w->lines[g->first + n];
        if (to->changed && !line->changed)
            continue;
        json_whole(column, NULL, line->col);
        json_real(value, NULL, line->value);
        json_real(exact, NULL, line->exact[0] + line->exact[1]);
        json_real(drift, NULL, line->kind == WALK_DRIFT ? line->drift : NAN);
        if (keyed)
            json_whole(key, NULL, line->key);
        if (figures)
            json_string(article, NULL, line->figure != NULL ? line->figure : "");
    }
}

static void list_all(const struct listing *to)
{
    const struct walk *w = to->w;
    for (int n = 0; n < w->step_count; n++)
        for (int g = w->steps[n].first; g < w->steps[n].first + w->steps[n].count; g++) {
            bool any = !to->changed;
            for (int i = 0; i < w->groups[g].count; i++)
                any = any || w->lines[w->groups[g].first + i].changed;
            if (any && to->steps != NULL)
                list_object(to, &w->steps[n], &w->groups[g]);
            if (any && to->rows != NULL)
                list_numbers(to, &w->steps[n], &w->groups[g]);
        }
}

void list_steps(struct report *r, const struct walk *w, bool changed)
{
    struct listing to = {.w = w, .changed = changed};
    size_t size;
    json_string(r->json, "algorithm", algorithm_info(w->simulation.algorithm)->name);
    json_string(r->json, "policy", w->simulation.policy.name);
    json_string(r->json, "drift_format", format_info(w->format)->name);
    json_whole(r->json, "row", w->row);
    json_whole(r->json, "head", w->head.head);
    if (r->scenario->given[OPTION_JSON] || report_wants(r->scenario, ".json"))
        to.steps = json_list(r->json, "steps");
    if (report_wants(r->scenario, ".csv") && (to.rows = open_memstream(&r->table, &size)) == NULL)
        abort();
    if (to.rows != NULL)
        fprintf(to.rows, "n\tstep\ttile\ttensor\tequation\tcolumn\tvalue\texact\tdrift\tarticle%s\n",
                w->backward ? "\tkey" : "");
    list_all(&to);
    if (to.rows != NULL && fclose(to.rows) != 0)
        abort(); /* no memory for the rows */
}
