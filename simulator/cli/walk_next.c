/* walk_next.c: where to go from a walk: commands that exist, and what they would show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

/* How many numbers of the article change under another policy: what is stored and what is divided
   are one number to it. */
static int changed_figures(const struct scenario *s)
{
    struct walk w;
    struct message ignored;
    int count = 0;
    if (!walk_new(&w, s, &ignored))
        return -1;
    for (int n = 0; n < w.step_count; n++)
        for (int g = w.steps[n].first; g < w.steps[n].first + w.steps[n].count; g++)
            for (int i = w.groups[g].first; i < w.groups[g].first + w.groups[g].count; i++) {
                const struct walk_line *line = &w.lines[i];
                count += line->figure != NULL && w.steps[n].step != STEP_STORE &&
                         strcmp(walk_at_digits(line->value, line->figure).text, line->figure) != 0;
            }
    walk_free(&w);
    return count;
}

static void add_next(struct report *r, bool *first, const char *command, const char *words)
{
    enum { COMMAND = 41, COLUMNS = 80 };
    int length = (int)strlen(command);
    if (length + 6 > COLUMNS)
        return;
    report_text(r, "%s%s", *first ? "\nnext  " : "      ", command);
    int gap = length + 2 <= COMMAND ? COMMAND - length : 2;
    if (6 + length + gap + (int)strlen(words) <= COLUMNS)
        report_text(r, "%*s%s", gap, "", words);
    report_text(r, "\n");
    *first = false;
}

/* The scenario for another verb: without the options that it does not take. */
static struct scenario as_verb(const struct scenario *s, enum command c)
{
    struct scenario other = *s;
    other.verb = command_info(c)->name;
    for (int o = 0; o < OPTION_COUNT; o++)
        other.given[o] =
            s->given[o] && option_info((enum option)o)->groups & command_info(c)->groups;
    return other;
}

static void show_backward_next(struct report *r, const struct walk *w, const struct scenario *s)
{
    static const enum option backward[] = {OPTION_DO, OPTION_ATOMIC_SEED, OPTION_DETERMINISTIC};
    struct scenario forward = *s, exact = as_verb(s, COMMAND_EXACT),
                    check = as_verb(s, COMMAND_RUN);
    struct scenario bf16 = walk_under_policy(s, policy_name(POLICY_GPU_BF16));
    bool first = true, narrow = w->simulation.policy.site[SITE_OUT].format != FORMAT_FP32;
    static const enum option rows[] = {OPTION_BATCH, OPTION_HEADS, OPTION_ROWS, OPTION_DIMS};
    for (size_t i = 0; i < sizeof backward / sizeof *backward; i++)
        forward.given[backward[i]] = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        exact.given[rows[i]] = check.given[rows[i]] = false;
    check.given[OPTION_CHECK] = true;
    const struct {
        const struct scenario *scenario;
        bool wanted;
        const char *words;
    } next[] = {{&bf16, !narrow && !w->simulation.is_kernel, "in bf16, as GPUs do"},
                {&exact, true, "the true gradients, certified"},
                {&check, true, "all of them, judged"},
                {&forward, !w->simulation.is_kernel, "the forward pass"}};
    for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
        char *command = next[i].wanted ? scenario_command(next[i].scenario) : NULL;
        if (command != NULL)
            add_next(r, &first, command, next[i].words);
        free(command);
    }
}

void show_next(struct report *r, const struct walk *w, const struct scenario *scenario)
{
    static const enum option outputs[] = {OPTION_JSON, OPTION_OUTPUT, OPTION_FORCE};
    struct scenario here = *scenario, *s = &here;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        here.given[outputs[i]] = false;
    if (w->backward) {
        show_backward_next(r, w, s);
        return;
    }
    bool first = true;
    enum example e;
    char words[64] = "in bf16, as GPUs do";
    if (w->simulation.policy.site[SITE_OUT].format == FORMAT_FP32 && !s->given[OPTION_SET]) {
        struct scenario bf16 = walk_under_policy(s, policy_name(POLICY_GPU_BF16));
        char *command = scenario_command(&bf16);
        if (w->input.figures != NULL)
            snprintf(words, sizeof words, "%s printed numbers change",
                     number_word(changed_figures(&bf16)));
        add_next(r, &first, command, words);
        free(command);
    } else {
        struct scenario changed = *s;
        changed.given[OPTION_CHANGED] = true;
        char *command = scenario_command(&changed);
        add_next(r, &first, command, "what the policy changes");
        free(command);
    }
    struct scenario other = *s;
    bool fa2 = w->simulation.algorithm == ALGORITHM_FA2;
    other.value[OPTION_BESIDE] = (char *)(fa2 ? "fa1" : "fa2");
    other.given[OPTION_BESIDE] = true;
    char *command = scenario_command(&other);
    add_next(r, &first, command, fa2 ? "the same row, normalised per tile" : "the same row by fa2");
    free(command);
    if (!scenario_example(s, &e) || example_info(e)->scores == NULL)
        return;
    command = NULL;
    text_append(&command, "flashulp walk --scores \"%s\" --values \"%s\"", example_info(e)->scores,
                example_info(e)->values);
    add_next(r, &first, command, "   your own");
    free(command);
}
