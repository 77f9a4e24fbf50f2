/* audit_identify.c: `flashulp audit --identify` and `--explain A,B`: which run gives a measured
   output's bits, and what turns one output into another; the answers as text and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

static bool find_run(const struct audit *a, const char *name, size_t length, int *run,
                     struct message *why)
{
    for (*run = 0; *run < a->runs; ++*run)
        if (strlen(a->run[*run].name) == length && strncmp(a->run[*run].name, name, length) == 0)
            return true;
    return refuse(why,
                  "--explain %.*s: no run of this audit has that name; o.NAME of the capture, or "
                  "a name of --runs, is right",
                  (int)(length < 60 ? length : 60), name);
}

static bool read_pair(const struct audit *a, const char *text, int pair[2], struct message *why)
{
    const char *comma = strchr(text, ',');
    if (comma == NULL || strchr(comma + 1, ',') != NULL)
        return refuse(why, "--explain %.60s: A,B is right, two runs of this audit", text);
    if (!find_run(a, text, (size_t)(comma - text), &pair[0], why) ||
        !find_run(a, comma + 1, strlen(comma + 1), &pair[1], why))
        return false;
    if (pair[0] == pair[1])
        return refuse(why, "--explain %.60s: two different runs are right", text);
    if (a->run[pair[0]].format != a->run[pair[1]].format)
        return refuse(why,
                      "--explain %.60s: one holds %s, the other %s; their bits cannot be "
                      "compared",
                      text, format_info(a->run[pair[0]].format)->name,
                      format_info(a->run[pair[1]].format)->name);
    return true;
}

bool audit_find(struct audit *a, struct findings *f, audit_progress *progress, struct message *why)
{
    const struct scenario *s = a->scenario;
    const char *text = s->value[OPTION_AUDIT_EXPLAIN];
    int pair[2] = {-1, -1}, asked = 0;
    *f = (struct findings){0};
    if (text != NULL && !read_pair(a, text, pair, why))
        return false;
    for (int n = 0; n < a->runs; n++) {
        f->asked[n] =
            (s->given[OPTION_IDENTIFY] && a->run[n].measured) || n == pair[0] || n == pair[1];
        f->measured[n] = a->run[n].measured;
        asked += f->asked[n];
    }
    if (s->given[OPTION_IDENTIFY] && asked == 0)
        return refuse(why, "--identify: no output was measured; a capture with o.NAME, or --runs "
                           "file:O.npy, is right");
    if (asked == 0)
        return true;
    f->space = identify_space_new(a, why);
    bool ok = f->space != NULL;
    for (int n = 0; ok && n < a->runs; n++)
        ok = !f->asked[n] || identify(f->space, n, &f->found[n], progress, why);
    f->explains = text != NULL;
    return ok && (text == NULL || identify_explain(f->space, &f->found[pair[0]], &f->found[pair[1]],
                                                   &f->explanation, progress, why));
}

void findings_free(struct findings *f)
{
    for (int n = 0; n < AUDIT_MOST_RUNS; n++)
        identification_free(&f->found[n]);
    explanation_free(&f->explanation);
    if (f->space != NULL)
        identify_space_free(f->space);
    *f = (struct findings){0};
}

bool findings_good(const struct findings *f)
{
    bool good = true;
    for (int n = 0; n < AUDIT_MOST_RUNS; n++)
        good = good && (!f->asked[n] || !f->measured[n] || f->found[n].verdict == AUDIT_LEGAL);
    enum audit_verdict v = f->explanation.verdict;
    return good && (!f->explains || v == AUDIT_LEGAL || v == AUDIT_SCHEDULE || v == AUDIT_KERNEL);
}

/* ---- text ---- */

static void say_identity(struct report *r, const struct identity *i)
{
    enum { NAME = 42 };
    char *also = strchr(i->devices, ',');
    bool fits = strlen(i->name) <= NAME;
    report_text(r, "  %-*s%s", NAME, i->name, fits ? "" : "\n");
    report_text(r, "%*s %-12s %9s %6.1f %%\n", fits ? 0 : NAME + 2, "", i->groups,
                grouped(i->matched).text, 100.0 * (double)i->matched / (double)i->elements);
    if (also != NULL) {
        report_text(r, "    the same on");
        text_wrapped(&r->text, 15, 4, also + 1);
    }
}

/* "case M1: the running maximum ..." */
static void append_bug(char **words, const struct change_info *bug)
{
    if (bug == NULL)
        return;
    text_append(words, "%s%s: %s", bug->bug_case[0] != 0 ? ", case " : "", bug->bug_case,
                bug->meaning);
}

static void say_left(char **words, const struct identity *best)
{
    if (best->left == 0)
        return;
    text_append(words, ". Left over: %s of %s", grouped(best->left).text,
                grouped(best->elements).text);
    if (best->explained > 0)
        text_append(words, ", %s of them where a GPU's ex2, lg2 and rcp may turn the last rounding",
                    grouped(best->explained).text);
}

/* Runs besides the first that give every bit. */
static int64_t others_alike(const struct identification *found)
{
    int64_t count = found->others;
    for (int n = 1; n < found->count; n++)
        count += found->best[n].left == 0;
    return count;
}

enum { MOST_SHOWN = 8, MOST_NEAREST = 3 };

/* Those with every bit; without one, the nearest. */
static int shown(const struct identification *found)
{
    int count = 0;
    while (count < found->count && count < MOST_SHOWN && found->best[count].left == 0)
        count++;
    int nearest = found->count < MOST_NEAREST ? found->count : MOST_NEAREST;
    return count > 0 ? count : nearest;
}

static char *identity_words(const struct audit *a, const struct identification *found)
{
    char *words = NULL;
    const struct identity *best = &found->best[0];
    const char *name = a->run[found->run].name;
    text_append(&words, "%s", audit_verdict_name(found->verdict));
    append_bug(&words, found->verdict == AUDIT_LEGAL ? NULL : found->bug);
    if (found->count == 0)
        text_append(&words, ". No model takes this problem");
    else if (found->found)
        text_append(&words, ". %s has %s of %s", name, best->left == 0 ? "every bit" : "the bits",
                    best->name);
    else
        text_append(&words, ". No run that was tried has the bits of %s; the nearest is %s", name,
                    best->name);
    if (best->left == 0 && others_alike(found) > 0)
        text_append(&words, ", and of %s more: these outputs cannot tell them apart",
                    grouped(others_alike(found)).text);
    if (found->count > 0)
        say_left(&words, best);
    if (found->found && best->changes == 0 && found->verdict == AUDIT_BUG && found->bug != NULL &&
        strchr(best->name, '@') != NULL)
        text_append(&words, ". It is outside the bound; with +%s it is not", found->bug->text);
    text_append(&words, ". %s runs were tried%s.", grouped(found->tried).text,
                found->stopped ? ", as many as the limit on the work allows" : "");
    return words;
}

static void say_found(struct report *r, const struct audit *a, const struct identification *found)
{
    char *words = identity_words(a, found);
    report_text(r, "\n %-42s %-12s %9s %8s\n", a->run[found->run].name, "groups", "same bits",
                "share");
    for (int n = 0; n < shown(found); n++)
        say_identity(r, &found->best[n]);
    if (others_alike(found) >= MOST_SHOWN)
        report_text(r, "  and %s more with every bit\n",
                    grouped(others_alike(found) + 1 - MOST_SHOWN).text);
    report_text(r, " identity ");
    text_wrapped(&r->text, 10, 10, words);
    free(words);
}

static void append_changes(char **words, const struct identify_space *space,
                           const struct explanation *e)
{
    bool groups = strcmp(e->from.groups, e->to.groups) != 0;
    int said = 0;
    if (e->other_base && e->groups_only)
        text_append(words, "%sgroups of keys %s and %s", said++ > 0 ? "; " : "", e->from.groups,
                    e->to.groups);
    else if (e->other_base)
        text_append(words, "%s%s and %s", said++ > 0 ? "; " : "", e->from.name, e->to.name);
    for (int n = 0; n < e->changes; n++) {
        const struct change_info *info = identify_change(space, e->change[n]);
        bool count = strncmp(info->text, "splits=", 7) == 0 && groups;
        text_append(words, "%s+%s ", said++ > 0 ? "; " : "", info->text);
        if (count)
            text_append(words, "(groups %s and %s)", e->from.groups, e->to.groups);
        else
            text_append(words, "(%s)", info->meaning);
    }
}

static char *explanation_words(const struct audit *a, const struct findings *f)
{
    const struct explanation *e = &f->explanation;
    const char *x = a->run[e->a].name, *y = a->run[e->b].name;
    char *words = NULL;
    text_append(&words, "%s. ", audit_verdict_name(e->verdict));
    if (e->differ == 0)
        text_append(&words, "%s and %s have the same bits here", x, y);
    else if (e->found) {
        text_append(&words,
                    "%s output%s. %s has the bits of %s, %s those of %s. Between "
                    "them: ",
                    grouped(e->differ).text, e->differ == 1 ? " differs" : "s differ", x,
                    e->from.name, y, e->to.name);
        append_changes(&words, f->space, e);
    } else if (e->verdict == AUDIT_UNEXPLAINED)
        text_append(&words, "No known set of changes turns %s into %s", x, y);
    else
        text_append(&words, "They are different runs: %s has the bits of %s, %s those of %s", x,
                    f->found[e->a].best[0].name, y, f->found[e->b].best[0].name);
    text_append(&words, ". %s runs were tried%s.", grouped(e->tried).text,
                e->stopped ? ", as many as the limit on the work allows" : "");
    return words;
}

void audit_say_findings(struct report *r, const struct audit *a, const struct findings *f)
{
    int said = 0;
    for (int n = 0; n < a->runs; n++) {
        if (!f->asked[n] || !a->run[n].measured)
            continue;
        if (said++ == 0)
            report_text(r, "\n which run gives these bits?  (--runs takes these names)\n");
        say_found(r, a, &f->found[n]);
    }
    if (!f->explains)
        return;
    char *words = explanation_words(a, f);
    report_text(r, "\n explain  ");
    text_wrapped(&r->text, 10, 10, words);
    free(words);
}

/* ---- JSON ---- */

static void add_bug(struct json *j, const struct change_info *bug)
{
    if (bug == NULL)
        return;
    json_string(j, "bug", bug->meaning);
    json_string(j, "change", bug->text);
    if (bug->bug_case[0] != 0)
        json_string(j, "case", bug->bug_case);
}

void audit_json_identified(struct json *run, const struct identification *found)
{
    struct json *list = json_list(run, "identified");
    for (int n = 0; n < shown(found); n++) {
        const struct identity *i = &found->best[n];
        struct json *j = json_object(list, NULL);
        json_string(j, "kernel", i->what);
        json_string(j, "name", i->name);
        if (i->devices[0] != 0)
            json_string(j, "device", i->devices);
        if (i->groups[0] != 0) {
            json_whole(j, "splits", i->splits);
            json_string(j, "groups", i->groups);
        }
        json_whole(j, "matched", i->matched);
        json_whole(j, "elements", i->elements);
        json_whole(j, "left_over", i->left);
        json_whole(j, "explained_by_special_functions", i->explained);
    }
    struct json *identity = json_object(run, "identity");
    json_string(identity, "verdict", audit_verdict_name(found->verdict));
    add_bug(identity, found->bug);
    json_whole(identity, "others_with_every_bit", others_alike(found));
    json_whole(identity, "tried", found->tried);
    json_truth(identity, "stopped", found->stopped);
}

void audit_json_explained(struct report *r, const struct audit *a, const struct findings *f)
{
    const struct explanation *e = &f->explanation;
    if (!f->explains)
        return;
    struct json *j = json_object(r->json, "explanation"), *list;
    json_string(j, "a", a->run[e->a].name);
    json_string(j, "b", a->run[e->b].name);
    json_whole(j, "differ", e->differ);
    json_string(j, "verdict", audit_verdict_name(e->verdict));
    json_truth(j, "found", e->found);
    json_whole(j, "tried", e->tried);
    if (!e->found)
        return;
    json_string(j, "from", e->from.name);
    json_string(j, "to", e->to.name);
    json_truth(j, "groups_only", e->groups_only);
    list = json_list(j, "changes");
    for (int n = 0; n < e->changes; n++) {
        const struct change_info *info = identify_change(f->space, e->change[n]);
        struct json *one = json_object(list, NULL);
        json_string(one, "change", info->text);
        json_string(one, "class", change_class_name(info->class));
        json_string(one, "meaning", info->meaning);
    }
}
