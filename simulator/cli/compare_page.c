/* compare_page.c: a comparison as a page: how far apart, by head, the differences, what is not
   known. */
#include <inttypes.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/compare.h"
#include "simulator/scenario_parts.h"

/* "-3 .. -2", "+1", "+2^20 to 2^21": the n-th class of steps of one sign. */
static void add_class(struct page_block *bars, const struct comparison *c, bool above, int n)
{
    enum { SHORT = 10 };
    const int64_t low = (int64_t)1 << (n - 1), high = 2 * (low - 1) + 1;
    const int64_t count = c->spread[above][n];
    const char *sign = above ? "+" : "-";
    if (n == 1)
        page_bar(bars, count, "%s1", sign);
    else if (n > SHORT)
        page_bar(bars, count, "%s2^%d to %s2^%d", sign, n - 1, sign, n);
    else if (above)
        page_bar(bars, count, "+%" PRId64 " to +%" PRId64, low, high);
    else
        page_bar(bars, count, "-%" PRId64 " to -%" PRId64, high, low);
}

/* The largest class of one sign that has an element, or 0. */
static int largest(const struct comparison *c, bool above)
{
    int n = 63;
    while (n > 0 && c->spread[above][n] == 0)
        n--;
    return n;
}

/* Neighbouring classes without an element are one row. */
static void add_histogram(struct page *page, const struct comparison *c)
{
    char caption[160];
    snprintf(caption, sizeof caption, "elements by got - want, in ulps of %s; %s are equal",
             format_info(c->format)->name, grouped(c->elements - c->differ).text);
    struct page_block *bars = page_bars(page, caption);
    bool empty = false; /* the class before */
    for (int at = -largest(c, false); at <= largest(c, true); at++) {
        const bool above = at > 0;
        const int n = above ? at : -at;
        if (n == 0)
            continue;
        if (c->spread[above][n] > 0)
            add_class(bars, c, above, n);
        else if (!empty)
            page_bar(bars, 0, "...");
        empty = c->spread[above][n] == 0;
    }
    if (c->of_kind > 0)
        page_bar(bars, c->of_kind, "another kind");
}

/* Many heads share a bar with their neighbours. */
static void add_heads(struct page *page, const struct comparison *c)
{
    enum { MOST = 64 };
    struct page_block *bars = page_bars(page, "elements that differ, by head");
    int64_t together = (c->heads + MOST - 1) / MOST;
    for (int64_t h = 0; h < c->heads; h += together) {
        int64_t last = h + together < c->heads ? h + together : c->heads, count = 0;
        for (int64_t i = h; i < last; i++)
            count += c->head_differ[i];
        if (together == 1)
            page_bar(bars, count, "head %" PRId64, h);
        else
            page_bar(bars, count, "heads %" PRId64 " to %" PRId64, h, last - 1);
    }
}

void compare_page_pair(const struct compare_pair *p, const char *lines)
{
    struct page *page = p->job->report->page;
    const struct comparison *c = &p->c;
    const char *name = p->name[0] != 0 ? p->name : p->got.file->path;
    double unused;
    page_heading(page, 3, "%s%s%s", p->name, p->name[0] != 0 ? "   " : "",
                 shape_and_dtype(&p->got).text);
    page_lines(page, lines[0] != 0 ? lines : "equal");
    if (c->differ > 0)
        add_histogram(page, c);
    if (c->differ > 0 && c->heads > 1)
        add_heads(page, c);
    if (c->differ > 0 && !compare_z(c, &unused))
        page_not_established(page, "%s: whether the mean is biased; %s rows are too few", name,
                             grouped(c->rows).text);
    if (p->logits && p->l.undefined > 0)
        page_not_established(page,
                             "%s: the next token of %s rows with NaN or +inf, or nothing "
                             "but -inf",
                             name, grouped(p->l.undefined).text);
    int64_t shown = c->differ < c->options.keep ? c->differ : c->options.keep;
    if (c->differ > shown)
        page_not_established(page, "%s: %s more differing elements are counted, not listed", name,
                             grouped(c->differ - shown).text);
}

void compare_page_end(struct compare_job *job, const char *verdict, const char *table)
{
    struct page *page = job->report->page;
    const char *rows = strchr(table, '\n') + 1;
    page_headline(page, "%s", verdict);
    if (*rows != 0) {
        page_heading(page, 2, "Differences, in C order");
        page_rows(
            page_table(page, "tensor\tindex\t>got\t>want\tgot bits\twant bits\t>ulps\t>exact"),
            rows);
    }
    if (job->failed > 0 && !job->all)
        page_not_established(page,
                             "what comes after the first tensor that differs (--all goes on)");
    cli_sign(job->report);
}
