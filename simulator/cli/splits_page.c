/* splits_page.c: what `flashulp splits` says, as a page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

/* Past so many pieces a strip is a blur. */
enum { MOST_PIECES = 4096 };

static void add_strip(struct page_block *strips, const struct splits_page *page, int d)
{
    const struct split_plan *p = &page->plan[d];
    int64_t length = page->request->launch.longest;
    struct token_range range;
    int drawn = 0;
    if (p->order == GROUPS_ROUND_ROBIN)
        page_strip(strips, "%s: %d in turn", page->request->device[d].name,
                   split_count(p, length));
    else
        page_strip(strips, "%s: %d x %" PRId64, page->request->device[d].name,
                   split_count(p, length), split_blocks(p, length) * p->block_tokens);
    for (int i = 0; i < split_count(p, length) && drawn < MOST_PIECES; i++)
        for (int64_t n = 0; split_range(p, length, i, n, &range) && drawn < MOST_PIECES; n++) {
            page_piece(strips, range.first, range.last, i % 2 == 0,
                       "group %d: tokens %" PRId64 " to %" PRId64, i, range.first, range.last - 1);
            drawn++;
        }
    if (drawn == MOST_PIECES)
        page_not_established(page->report->page, "%s: only the first %d pieces are drawn",
                             page->request->device[d].name, MOST_PIECES);
}

static void add_figure(const struct splits_page *page)
{
    char *letters = NULL;
    splits_picture(page, &letters);
    struct page_block *strips =
        page_strips(page->report->page, page->request->launch.longest, "token", letters,
                    "which tokens are one group: neighbouring groups are dark and light");
    for (int d = 0; d < page->request->devices; d++)
        add_strip(strips, page, d);
    free(letters);
}

static void add_headline(const struct splits_page *page)
{
    const struct splits_request *q = page->request;
    char *text = NULL;
    text_append(&text, "%s: ", split_rule_info(q->rule)->name);
    if (q->workload != WORKLOAD_COUNT)
        text_append(&text, "%s", workload_meaning(q->workload));
    for (int d = 0; q->workload == WORKLOAD_COUNT && d < q->devices; d++)
        text_append(&text, "%s%d group%s on %s", d > 0 ? ", " : "", page->plan[d].splits,
                    page->plan[d].splits == 1 ? "" : "s", q->device[d].name);
    page_headline(page->report->page, "%s", text);
    free(text);
}

/* What the table's rows say beyond the rule. */
static void add_unknown(const struct splits_page *page)
{
    const struct splits_request *q = page->request;
    for (int d = 0; q->workload == WORKLOAD_COUNT && d < q->devices; d++) {
        if (page->plan[d].bound)
            page_not_established(page->report->page,
                                 "%s: %d is a bound; how many groups there are, and of which "
                                 "tokens, is not established",
                                 q->device[d].name, page->plan[d].splits);
        if (page->plan[d].undecided)
            page_not_established(page->report->page,
                                 "%s: bits of a logarithm that are not established may change the "
                                 "count",
                                 q->device[d].name);
    }
}

static void add_sources(const struct splits_page *page)
{
    const struct splits_request *q = page->request;
    for (int d = 0; d < q->devices; d++)
        if (device_sms(&q->device[d]) > 0)
            page_footer(page->report->page, "device", "%s, %d SMs: %s", q->device[d].name,
                        device_sms(&q->device[d]), q->device[d].source[QUANTITY_SMS]);
}

void splits_report_page(struct splits_page *page)
{
    struct report *r = page->report;
    const char *rows = strchr(r->table, '\n') + 1;
    char *columns = NULL;
    r->page = page_new("flashulp splits");
    add_headline(page);
    if (page->request->workload == WORKLOAD_COUNT)
        add_figure(page);
    text_append(&columns, "%.*s", (int)(rows - r->table - 1), r->table);
    page_rows(page_table(r->page, columns), rows);
    page_heading(r->page, 2, "In words");
    page_lines(r->page, r->text);
    add_unknown(page);
    page_footer(r->page, "input", "none: the launch is in the command");
    add_sources(page);
    cli_sign(r);
    free(columns);
}
