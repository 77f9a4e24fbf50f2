/* walk.c: `flashulp walk PROBLEM`: one row, one operation at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

/* Two ways to show cannot both be wanted. */
static bool one_view(const struct scenario *s, struct message *why)
{
    static const enum option views[] = {OPTION_STEP, OPTION_INTERACTIVE, OPTION_CHANGED,
                                        OPTION_BESIDE, OPTION_QUIZ};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        const char *name = option_info(views[i])->name;
        if (!s->given[views[i]])
            continue;
        if (first != NULL)
            return refuse(why, "%s and %s: one is right", first, name);
        first = name;
    }
    if (s->given[OPTION_BESIDE] && s->given[OPTION_DO])
        return refuse(why, "--beside and --do: one is right; two forward passes stand side by side");
    bool plays = s->given[OPTION_INTERACTIVE] || s->given[OPTION_QUIZ];
    if (plays && (s->given[OPTION_JSON] || s->given[OPTION_OUTPUT]))
        return refuse(why, "%s is for a terminal; without it %s is right", first,
                      s->given[OPTION_JSON] ? "--json" : "-o FILE");
    return true;
}

static bool chosen_step(const struct scenario *s, const struct walk *w, int64_t *n,
                        struct message *why)
{
    const char *text = s->value[OPTION_STEP];
    if (!parse_integer("--step", text, 1, INT32_MAX, n, why))
        return false;
    if (*n > w->step_count)
        return refuse(why, "--step %s: this walk has steps 1 to %d", text, w->step_count);
    return true;
}

static bool changed_steps(struct report *r, struct walk *w, const struct scenario *s,
                          struct message *why)
{
    struct scenario plain = walk_under_policy(s, policy_name(POLICY_FP32));
    struct walk base;
    if (!walk_new(&base, &plain, why))
        return false;
    int changed = walk_compare(w, &base);
    walk_free(&base);
    if (changed == 0) {
        report_text(r, "No step prints otherwise than under policy fp32.\n");
    } else {
        show_changed_steps(r, w);
        show_changed_answer(r, w);
    }
    list_steps(r, w, true);
    return true;
}

static bool beside(struct report *r, const struct walk *w, const struct scenario *s,
                   struct message *why)
{
    struct scenario other = walk_by_algorithm(s, s->value[OPTION_BESIDE]);
    struct walk right;
    struct message inner;
    if (!walk_new(&right, &other, &inner))
        return refuse(why, "--beside: %s", inner.text);
    show_header(r, w);
    show_beside(r, w, &right);
    walk_free(&right);
    return true;
}

static bool show(struct report *r, struct walk *w, const struct scenario *s, struct message *why)
{
    int64_t n;
    if (s->given[OPTION_CHANGED])
        return changed_steps(r, w, s, why);
    if (s->given[OPTION_STEP]) {
        if (!chosen_step(s, w, &n, why))
            return false;
        show_detail(r, w, &w->steps[n - 1]);
        if (report_wants(s, ".svg") && !draw_step(r, w, &w->steps[n - 1], why))
            return false;
    } else if (s->given[OPTION_BESIDE]) {
        if (!beside(r, w, s, why))
            return false;
    } else {
        show_header(r, w);
        show_steps(r, w);
        report_text(r, "\n");
        show_answer(r, w);
        show_meaning(r, w, s);
        show_next(r, w, s);
    }
    list_steps(r, w, false);
    return true;
}

static bool walk_it(struct report *r, const struct scenario *s, struct message *why)
{
    struct walk w;
    enum algorithm other;
    bool ok;
    const char *endings = s->given[OPTION_STEP] ? "json md csv svg" : "json md csv";
    if (!one_view(s, why) || !report_check_outputs(s, endings, NULL, 0, why))
        return false;
    if (s->value[OPTION_BESIDE] != NULL &&
        !algorithm_from_name(s->value[OPTION_BESIDE], &other, why)) {
        struct message inner = *why;
        return refuse(why, "--beside: %s", inner.text);
    }
    if (!walk_new(&w, s, why))
        return false;
    if (s->given[OPTION_INTERACTIVE])
        ok = play_steps(&w, s, why);
    else if (s->given[OPTION_QUIZ])
        ok = play_quiz(&w, s, why);
    else
        ok = show(r, &w, s, why) && report_finish(r, why);
    walk_free(&w);
    return ok;
}

int cli_walk(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_WALK, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!walk_it(&r, &s, &why))
        status = cli_refused("walk", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
