/* claims_page.c: see claims_page.h. */
#include "simulator/cli/claims_page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/scenario_parts.h"

void claims_page_begin(struct claims_page *p, struct report *r)
{
    *p = (struct claims_page){.report = r};
    r->page = page_new("flashulp claims");
    p->figure = page_bars(r->page, "statements by verdict");
}

void claims_page_group(struct claims_page *p, enum claim_group g)
{
    page_heading(p->report->page, 2, "From %s", claim_group_source(g));
    p->table = page_table(p->report->page, "id\tclaim\tpublished\tcomputed\tverdict");
}

static bool establishes(enum verdict_word v)
{
    return v != VERDICT_NO_GPU && v != VERDICT_NO_DATA && v != VERDICT_CANNOT &&
           v != VERDICT_NOT_BUILT;
}

/* The first line of a derivation is its short form. */
static int first_line(const char *explain)
{
    return (int)strcspn(explain, "\n");
}

static bool ends_line(const char *text)
{
    size_t length = strlen(text);
    return length == 0 || text[length - 1] == '\n';
}

void claims_page_add(struct claims_page *p, const struct claim_info *info,
                     const struct claim_outcome *out)
{
    const char *explain = out->explain != NULL ? out->explain : "";
    const char *verdict = verdict_name(out->verdict);
    const char *const cells[] = {info->name, info->statement, info->published, out->computed};
    for (int i = 0; i < 4; i++)
        page_cell(p->table, "%s", cells[i]);
    page_cell(p->table, out->verdict == info->recorded ? "%s" : "%s (recorded: %s)", verdict,
              verdict_name(info->recorded));
    if (!establishes(out->verdict))
        page_not_established(p->report->page, "%s, %s: %s (%.*s)", info->name, info->statement,
                             verdict, info->compute != NULL ? first_line(explain) : INT_MAX,
                             info->compute != NULL ? explain : info->note);
    else if (out->verdict == VERDICT_FAILS || out->verdict == VERDICT_PARTLY)
        text_append(&p->reasons, "%s\t%s\t%.*s\n", info->name, verdict, first_line(explain),
                    explain);
    if (p->report->scenario->given[OPTION_EXPLAIN]) {
        text_append(&p->derivations, "%s %s\n", info->name, info->statement);
        text_append(&p->derivations, "%s%s\n", explain, ends_line(explain) ? "" : "\n");
    }
    p->count[out->verdict]++;
    p->total++;
    p->changed += out->verdict != info->recorded;
}

static void add_words(struct claims_page *p)
{
    page_heading(p->report->page, 2, "The verdicts");
    struct page_block *words = page_table(p->report->page, "verdict\tmeaning\t>statements");
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (p->count[v] == 0)
            continue;
        page_bar(p->figure, p->count[v], "%s", verdict_name((enum verdict_word)v));
        page_cell(words, "%s", verdict_name((enum verdict_word)v));
        page_cell(words, "%s", verdict_meaning((enum verdict_word)v));
        page_cell(words, "%d", p->count[v]);
    }
}

void claims_page_end(struct claims_page *p)
{
    struct page *page = p->report->page;
    add_words(p);
    if (p->reasons != NULL) {
        page_heading(page, 2, "What fails, or holds partly");
        page_rows(page_table(page, "id\tverdict\twhy"), p->reasons);
    }
    if (p->derivations != NULL) {
        page_heading(page, 2, "Derivations");
        page_lines(page, p->derivations);
    }
    free(p->reasons);
    free(p->derivations);
    if (p->changed == 0)
        page_headline(page, "%d statements; every verdict is the recorded one", p->total);
    else
        page_headline(page, "%d statements; %d verdicts CHANGED", p->total, p->changed);
    page_footer(page, "input", "none: the published figures are part of the program");
    cli_sign(p->report);
}
