/* plan_figures.c: charts of a plan: a cell's operations beside their time, heads that share keys,
   and what the tiles of a sweep need of a thread's registers and a block's shared memory. */
#include <stdlib.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/plan.h"
#include "simulator/scenario_parts.h"

enum { PARTS = 4, KB = 1024 };
static const char *const part_names[PARTS] = {"matrix products", "other fp32", "exponentials",
                                              "shared memory"};

/* A row of bars that fill 100 %. */
static void add_shares(struct page_block *chart, const double *part, int parts, const char *note,
                       const char *device, const char *what)
{
    double sum = 0, from = 0;
    for (int n = 0; n < parts; n++)
        sum += part[n];
    page_chart_row(chart, note, "%s: %s", device, what);
    for (int n = 0; n < parts; n++) {
        double share = 100 * part[n] / sum;
        page_chart_mark(chart, PAGE_BAR_1 + (enum page_style)n, from, from + share, "%.1f %%",
                        share);
        from += share;
    }
}

static void draw_shares(struct plan_page *page)
{
    struct page_block *chart = NULL;
    for (int d = 0; d < page->devices; d++) {
        const struct cost *c = &page->cost[d];
        const struct work *w = &c->plain;
        const struct rates *r = &c->rates;
        if (!c->timed || c->per_sm == 0)
            continue;
        const double operation[] = {w->matmul, w->other, w->special};
        const double second[] = {w->matmul / r->matmul, w->other / r->other,
                                 w->special / r->special, w->shared / r->shared};
        char note[48];
        if (chart == NULL) {
            chart = page_chart(page->report->page, "share, %", false,
                               "a pair of tiles that no mask cuts: its operations, and the time "
                               "they take an SM if nothing overlaps, as modelled");
            for (int n = 0; n < PARTS; n++)
                page_chart_key(chart, PAGE_BAR_1 + (enum page_style)n, part_names[n]);
        }
        snprintf(note, sizeof note, "%.3g operations", operation[0] + operation[1] + operation[2]);
        add_shares(chart, operation, 3, note, page->device[d].name, "operations");
        snprintf(note, sizeof note, "%.3g us",
                 1e6 * (second[0] + second[1] + second[2] + second[3]));
        add_shares(chart, second, PARTS, note, page->device[d].name, "time");
    }
}

/* The sweep of one device: a tile fits where both of its marks lie left of the limit. */
static void draw_sweep(struct plan_page *page, int d)
{
    struct plan_request q = page->request;
    struct cost c;
    struct message why;
    char *caption = NULL;
    double most = KB * (double)architecture_info(page->device[d].architecture)->shared_per_block;
    text_append(&caption,
                "%s, head size %d: what each tile needs, of what a thread and a block may have",
                page->device[d].name, (int)q.shape.dim);
    struct page_block *chart =
        page_chart(page->report->page, "share of the limit, %", false, caption);
    page_chart_key(chart, PAGE_DOT, "registers of a thread, for accumulators");
    page_chart_key(chart, PAGE_RING, "shared memory of a block");
    page_chart_limit(chart, 100, "limit");
    for (int n = 0; plan_sweep_tile(n, &q.tile); n++) {
        if (!plan_cost(&q, &page->device[d], &c, &why))
            continue;
        char *verdict = plan_verdict(&c, page->device[d].architecture);
        double registers = 100.0 * (double)c.occupancy.needs.accumulators / REGISTERS_PER_THREAD;
        double shared = 100.0 * (double)c.occupancy.needs.shared / most;
        page_chart_row(chart, verdict, "%d x %d, %d warps", q.tile.Br, q.tile.Bc, q.tile.warps);
        page_chart_mark(chart, PAGE_DOT, registers, registers, "%d registers",
                        (int)c.occupancy.needs.accumulators);
        page_chart_mark(chart, PAGE_RING, shared, shared, "%.4g KB",
                        (double)c.occupancy.needs.shared / KB);
        free(verdict);
    }
    free(caption);
}

/* Which query heads read which key head: K and V are read once for all of them. */
static void draw_heads(struct plan_page *page)
{
    enum { MOST = 64, BYTES = 2 };
    const struct attention_shape *s = &page->request.shape;
    int64_t group = s->heads_q / s->heads_kv;
    double megabytes = 2e-6 * BYTES * (double)s->len_k * (double)s->dim;
    char *caption = NULL, note[48];
    if (group == 1 || s->heads_kv > MOST)
        return;
    text_append(
        &caption,
        "which query heads share a key head: %.4g MB of K and V in place of %.4g a sequence",
        (double)s->heads_kv * megabytes, (double)s->heads_q * megabytes);
    struct page_block *chart = page_chart(page->report->page, "query head", false, caption);
    page_chart_key(chart, PAGE_BAR_1, "query heads that read this K and V");
    snprintf(note, sizeof note, "%.4g MB", megabytes);
    for (int64_t h = 0; h < s->heads_kv; h++) {
        page_chart_row(chart, note, "key head %d", (int)h);
        page_chart_mark(chart, PAGE_BAR_1, (double)(h * group) - 0.4,
                        (double)(h * group + group - 1) + 0.4, "%d to %d", (int)(h * group),
                        (int)(h * group + group - 1));
    }
    free(caption);
}

void plan_figures(struct plan_page *page)
{
    const struct scenario *s = page->report->scenario;
    for (int d = 0; page->sweep && d < page->devices && cli_draws(s, "sweep"); d++)
        draw_sweep(page, d);
    if (cli_draws(s, "shares"))
        draw_shares(page);
    if (cli_draws(s, "heads"))
        draw_heads(page);
}
