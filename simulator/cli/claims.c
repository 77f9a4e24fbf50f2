/* claims.c: `flashulp claims [ID]`: the ledger of published statements, derived again.  Exit 1:
   some verdict is not the recorded one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/claims.h"
#include "simulator/cli/claims_page.h"
#include "simulator/cli/cli.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

/* The table's columns: where each begins, how wide it is, whether its cells end at the right. */
enum { COLUMNS = 5 };
static const struct {
    int at, width;
    bool right;
} columns[COLUMNS] = {
    {1, 4, false}, {6, 30, false}, {37, 15, true}, {53, 14, true}, {69, 10, false}};

/* Takes from *words what fits a line of `width`, at least one word (cut where it is longer). */
static int take_words(const char **words, int width, const char **begin)
{
    *words += strspn(*words, " ");
    *begin = *words;
    int taken = 0;
    for (;;) {
        int blank = (int)strspn(*words + taken, " ");
        int length = (int)strcspn(*words + taken + blank, " ");
        if (length == 0 || (taken > 0 && taken + blank + length > width))
            break;
        taken += blank + length;
    }
    taken = taken > width ? width : taken;
    *words += taken;
    return taken;
}

/* One row of the table, over as many lines as its longest cell needs. */
static void print_row(struct report *r, const char *const cell[COLUMNS])
{
    const char *left[COLUMNS], *begin;
    memcpy(left, cell, sizeof left);
    for (bool more = true; more;) {
        int column = 0;
        more = false;
        for (int c = 0; c < COLUMNS; c++) {
            int length = take_words(&left[c], columns[c].width, &begin);
            int at = columns[c].at + (columns[c].right ? columns[c].width - length : 0);
            if (length > 0)
                report_text(r, "%*s%.*s", at - column, "", length, begin);
            column = length > 0 ? at + length : column;
            more = more || left[c][strspn(left[c], " ")] != 0;
        }
        report_text(r, "\n");
    }
}

struct ledger_page {
    struct report *report;
    struct claims_page page;
    struct json *list;
    bool explain, whole; /* derivations; every claim, not one */
    bool used[VERDICT_COUNT];
    int changed, shown;
    char *notes; /* what to say of the rows that fail or hold partly */
};

/* Running text is filled, a table's lines (they begin with a blank) stay as they are. */
static void print_explained(struct report *r, const char *text)
{
    enum { INDENT = 6 };
    char *words = NULL;
    for (const char *at = text; at != NULL && *at != 0;) {
        int length = (int)strcspn(at, "\n");
        if (*at != ' ')
            text_append(&words, "%s%.*s", words != NULL ? " " : "", length, at);
        else
            report_text(r, "%*s%.*s\n", INDENT, "", length, at);
        at += length + (at[length] == '\n');
        if (words != NULL && (*at == 0 || *at == ' ')) {
            report_text(r, "%*s", INDENT, "");
            text_wrapped(&r->text, INDENT, INDENT, words);
            free(words);
            words = NULL;
        }
    }
    report_text(r, "\n");
}

static void add_json(struct ledger_page *page, enum claim c, const struct claim_outcome *out)
{
    const struct claim_info *info = claim_info(c);
    struct json *j = json_object(page->list, NULL);
    json_string(j, "id", info->name);
    json_string(j, "claim", info->statement);
    json_string(j, "source", claim_group_source(info->group));
    json_string(j, "published", info->published);
    json_string(j, "computed", out->computed);
    json_string(j, "verdict", verdict_name(out->verdict));
    json_string(j, "recorded", verdict_name(info->recorded));
    if (page->explain)
        json_string(j, "explanation", out->explain != NULL ? out->explain : "");
    struct json *see = json_list(j, "see");
    for (int n = 0; claim_command(c, n) != NULL; n++)
        json_string(see, NULL, claim_command(c, n));
}

/* The first line of the derivation says why a claim fails or holds partly. */
static void add_note(struct ledger_page *page, const struct claim_info *info,
                     const struct claim_outcome *out)
{
    if (out->verdict != info->recorded)
        text_append(&page->notes, " %-4s verdict CHANGED: %s; recorded: %s\n", info->name,
                    verdict_name(out->verdict), verdict_name(info->recorded));
    bool told = out->verdict == VERDICT_FAILS || out->verdict == VERDICT_PARTLY;
    if (told && page->whole && out->explain != NULL)
        text_append(&page->notes, " %-4s %.*s\n", info->name, (int)strcspn(out->explain, "\n"),
                    out->explain);
}

static void add_claim(struct ledger_page *page, enum claim c)
{
    const struct claim_info *info = claim_info(c);
    struct claim_inputs in = claim_inputs_published();
    struct claim_outcome out;
    claim_evaluate(c, &in, &out);
    const char *cell[COLUMNS] = {info->name, info->statement, info->published, out.computed,
                                 verdict_name(out.verdict)};
    print_row(page->report, cell);
    report_row(page->report, "%s\t%s\t%s\t%s\t%s", cell[0], cell[1], cell[2], cell[3], cell[4]);
    add_json(page, c, &out);
    claims_page_add(&page->page, info, &out);
    add_note(page, info, &out);
    if (page->explain)
        print_explained(page->report, out.explain);
    page->used[out.verdict] = true;
    page->changed += out.verdict != info->recorded;
    page->shown++;
    claim_outcome_free(&out);
}

static void print_ending(struct ledger_page *page)
{
    struct report *r = page->report;
    report_text(r, "\n");
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (page->used[v])
            report_text(r, " %-23s %s\n", verdict_name((enum verdict_word)v),
                        verdict_meaning((enum verdict_word)v));
    if (page->notes != NULL)
        report_text(r, "\n%s", page->notes);
    if (!page->explain)
        report_text(r, "\n The derivation of one: flashulp claims A11 --explain\n");
}

static bool answer(struct report *r, const struct scenario *s, int *status, struct message *why)
{
    struct ledger_page page = {
        .report = r, .explain = s->given[OPTION_EXPLAIN], .whole = s->problem == NULL};
    enum claim one = CLAIM_COUNT;
    if (s->problem != NULL && !claim_from_name(s->problem, &one, why))
        return false;
    claims_page_begin(&page.page, r);
    const char *heading[COLUMNS] = {"id", "claim", "published", "computed", "verdict"};
    print_row(r, heading);
    report_row(r, "id\tclaim\tpublished\tcomputed\tverdict");
    page.list = json_list(r->json, "claims");
    for (int c = 0; c < CLAIM_COUNT; c++) {
        enum claim_group group = claim_info((enum claim)c)->group;
        bool first = c == 0 || claim_info((enum claim)(c - 1))->group != group;
        if (!page.whole && c != (int)one)
            continue;
        if (first || !page.whole) {
            report_text(r, " from %s\n", claim_group_source(group));
            claims_page_group(&page.page, group);
        }
        cli_progress("claims", c, CLAIM_COUNT);
        add_claim(&page, (enum claim)c);
    }
    cli_progress("claims", CLAIM_COUNT, CLAIM_COUNT);
    print_ending(&page);
    claims_page_end(&page.page);
    free(page.notes);
    *status = page.changed > 0;
    return true;
}

int cli_claims(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_CLAIMS, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!report_check_outputs(&s, "html md json csv", NULL, 0, &why) ||
        !answer(&r, &s, &status, &why) || !report_finish(&r, &why))
        status = cli_refused("claims", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
