/* plan_page.c: a launch as a page: rooflines, blocks of the first SMs over time, table, text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/plan.h"
#include "simulator/scenario_parts.h"

enum { MOST_STRIPS = 24, MOST_PIECES = 4096, LETTERS = 60 };

/* The blocks that ran in the slots that are drawn, in the order in which they began. */
struct waves {
    int slots, sms; /* slots an SM, SMs drawn */
    int pieces;
    struct wave_piece {
        int64_t block;
        int strip;
        double first, last;
    } piece[MOST_PIECES];
    int newest[MOST_STRIPS]; /* of each strip, plus one; 0: none yet */
    bool cut;
};

static void see(void *with, const struct schedule_event *e)
{
    struct waves *w = with;
    int strip = e->sm * w->slots + e->slot;
    if (e->sm >= w->sms)
        return;
    struct wave_piece *p = w->newest[strip] > 0 ? &w->piece[w->newest[strip] - 1] : NULL;
    if (p == NULL || p->block != e->block) {
        w->cut = w->cut || w->pieces == MOST_PIECES;
        if (w->pieces == MOST_PIECES)
            return;
        p = &w->piece[w->pieces++];
        *p = (struct wave_piece){e->block, strip, e->time, e->time};
        w->newest[strip] = w->pieces;
    }
    p->last = e->time + e->length;
}

static struct waves *run_waves(const struct plan_page *page)
{
    const struct cost *c = &page->cost[0];
    struct waves *w = calloc(1, sizeof *w);
    struct machine m = {(int)page->device[0].figure[QUANTITY_SMS], c->per_sm, 1, 1, 0};
    struct schedule s;
    if (w == NULL)
        abort();
    if (c->timed) {
        m.plain = least_seconds(&c->plain, &c->rates);
        m.masked = least_seconds(&c->masked, &c->rates);
    }
    w->slots = c->per_sm;
    w->sms = MOST_STRIPS / w->slots < m.sms ? MOST_STRIPS / w->slots : m.sms;
    schedule_run(&c->grid, &m, see, w, &s);
    return w;
}

/* A strip in letters: | begins a block. */
static char *letters_of(const struct waves *w, double end)
{
    char *text = NULL;
    for (int strip = 0; strip < w->slots * w->sms; strip++) {
        char line[LETTERS + 1];
        memset(line, ' ', LETTERS);
        line[LETTERS] = 0;
        for (int n = 0; n < w->pieces; n++) {
            const struct wave_piece *p = &w->piece[n];
            int first = (int)(p->first / end * LETTERS), last = (int)(p->last / end * LETTERS);
            if (p->strip != strip)
                continue;
            for (int x = first; x < last && x < LETTERS; x++)
                line[x] = x == first ? '|' : '-';
        }
        text_append(&text, "SM %-3d %s\n", strip / w->slots, line);
    }
    return text;
}

static void add_waves(const struct plan_page *page)
{
    const struct cost *c = &page->cost[0];
    struct waves *w = run_waves(page);
    double end = 0, unit = c->timed ? 1e9 : 1;
    for (int n = 0; n < w->pieces; n++)
        end = fmax(end, w->piece[n].last);
    char *letters = letters_of(w, end), *caption = NULL;
    text_append(&caption, "%s: thread blocks of the first %d SMs over time, dark and light by the "
                "block's number", page->device[0].name, w->sms);
    struct page_block *strips =
        page_strips(page->report->page, llround(end * unit),
                    c->timed ? "time, ns if everything overlaps" : "time, cells", letters,
                    caption);
    for (int strip = 0; strip < w->slots * w->sms; strip++) {
        page_strip(strips, w->slots > 1 ? "SM %d, slot %d" : "SM %d", strip / w->slots,
                   strip % w->slots);
        for (int n = 0; n < w->pieces; n++)
            if (w->piece[n].strip == strip)
                page_piece(strips, llround(w->piece[n].first * unit),
                           llround(w->piece[n].last * unit), w->piece[n].block % 2 == 0,
                           "block %" PRId64, w->piece[n].block);
    }
    if (w->cut)
        page_not_established(page->report->page, "only the first %d blocks of these SMs are drawn",
                             MOST_PIECES);
    free(letters);
    free(caption);
    free(w);
}

static void add_rooflines(const struct plan_page *page)
{
    struct page_block *figure = NULL;
    for (int d = 0; d < page->devices; d++) {
        const struct cost *c = &page->cost[d];
        const double *f = page->device[d].figure, tera = 1e12;
        if (!c->timed || c->per_sm == 0)
            continue;
        if (figure == NULL)
            figure = page_rooflines(page->report->page,
                                    "rooflines: bf16 matmul peak and device memory; the thick "
                                    "stroke is the launch, as modelled");
        page_roof(figure, f[QUANTITY_BF16], f[QUANTITY_BANDWIDTH], c->useful / c->traffic.once,
                  c->useful / c->seconds_most / tera, c->useful / c->seconds_least / tera, "%s",
                  page->device[d].name);
    }
}

static void add_unknown(const struct plan_page *page)
{
    struct page *p = page->report->page;
    page_not_established(p, "the time: no GPU was asked; it is a model with the assumptions "
                            "listed");
    for (int d = 0; d < page->devices; d++) {
        if (!page->cost[d].timed)
            page_not_established(p, "%s: its bf16, fp32 or memory figure", page->device[d].name);
        if (page->cost[d].rates.clock_derived)
            page_not_established(p, "%s: its clock; derived from the fp32 peak and assumed lanes",
                                 page->device[d].name);
    }
}

static void add_sources(const struct plan_page *page)
{
    for (int d = 0; d < page->devices; d++)
        for (int q = 0; q < QUANTITY_COUNT; q++) {
            double x = page->device[d].figure[q];
            if (x > 0)
                page_footer(page->report->page, page->device[d].name, "%s %.10g%s%s: %s",
                            quantity_name((enum quantity_id)q), x,
                            quantity_unit((enum quantity_id)q)[0] != 0 ? " " : "",
                            quantity_unit((enum quantity_id)q), page->device[d].source[q]);
        }
}

void plan_report_page(struct plan_page *page)
{
    struct report *r = page->report;
    const char *rows = strchr(r->table, '\n') + 1;
    char *columns = NULL, *headline = NULL;
    r->page = page_new("flashulp plan");
    plan_headline(page, &headline);
    page_headline(r->page, "%s", headline);
    plan_figures(page);
    if (cli_draws(r->scenario, "roofline"))
        add_rooflines(page);
    if (page->cost[0].per_sm > 0 && cli_draws(r->scenario, "waves"))
        add_waves(page);
    text_append(&columns, "%.*s", (int)(rows - r->table - 1), r->table);
    page_rows(page_table(r->page, columns), rows);
    page_heading(r->page, 2, "In words");
    page_lines(r->page, r->text);
    add_unknown(page);
    page_footer(r->page, "input", "none: the launch is in the command");
    add_sources(page);
    cli_sign(r);
    free(columns);
    free(headline);
}
