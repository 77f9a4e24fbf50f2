/* plan_text.c: a launch as text: the table of devices, and of one device everything. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/plan.h"
#include "simulator/exchange.h"
#include "simulator/scenario_parts.h"

enum { INDENT = 10, KB = 1024 };

static void words(struct report *r, const char *label, char *text)
{
    report_text(r, " %-*s", INDENT - 1, label);
    text_wrapped(&r->text, INDENT, INDENT, text);
    free(text);
}

static struct grouped whole(double x)
{
    return grouped((int64_t)llround(x));
}

void plan_headline(const struct plan_page *page, char **text)
{
    const struct attention_shape *a = &page->request.shape;
    text_append(text, "%s   batch %s   ", plan_kernel_name(page->request.kernel),
                grouped(a->batch).text);
    if (a->heads_q != a->heads_kv)
        text_append(text, "%s query, %" PRId64 " KV heads   ", grouped(a->heads_q).text,
                    a->heads_kv);
    else
        text_append(text, "%s head%s   ", grouped(a->heads_q).text, a->heads_q == 1 ? "" : "s");
    if (a->len_q != a->len_k)
        text_append(text, "%s quer%s   ", grouped(a->len_q).text, a->len_q == 1 ? "y" : "ies");
    text_append(text, "%s token%s   d %" PRId64 "%s", grouped(a->len_k).text,
                a->len_k == 1 ? "" : "s", a->dim, a->causal ? "   causal" : "");
}

char *plan_verdict(const struct cost *c, enum architecture a)
{
    const struct tile_needs *n = &c->occupancy.needs;
    char *text = NULL;
    switch (c->occupancy.verdict) {
    case TILE_NO_LAUNCH:
        if (n->threads > 1024)
            text_append(&text, "too big: %d threads", n->threads);
        else
            text_append(&text, "too big: %.4g of %d KB", (double)n->shared / KB,
                        architecture_info(a)->shared_per_block);
        break;
    case TILE_SPILLS:
        text_append(&text, "spills, %" PRId64 " of %d", n->accumulators, REGISTERS_PER_THREAD);
        break;
    case TILE_MAY_SPILL:
        text_append(&text, "may spill");
        break;
    default:
        text_append(&text, "fits");
    }
    if (c->shipped)
        text_append(&text, ", ships");
    return text;
}

struct plan_span plan_milliseconds(const struct cost *c)
{
    const double milli = 1e3, shortest = 0.01;
    struct plan_span s = {"-"};
    if (!c->timed || c->per_sm == 0)
        return s;
    if (milli * c->seconds_least < shortest)
        snprintf(s.text, sizeof s.text, "under %.2g", fmax(milli * c->seconds_most, shortest));
    else
        snprintf(s.text, sizeof s.text, "%.3g - %.3g", milli * c->seconds_least,
                 milli * c->seconds_most);
    return s;
}

static void table_row(struct plan_page *page, int d)
{
    const struct cost *c = &page->cost[d];
    const struct tiling *t = &c->grid.tile;
    struct report *r = page->report;
    const char *name = page->device[d].name;
    double kb = (double)c->occupancy.needs.shared / KB;
    report_text(r, " %-12.12s %4d x %-4d %4.3g", name, t->Br, t->Bc, kb);
    if (c->per_sm == 0) {
        report_text(r, "   does not launch: a block may have %d KB\n",
                    architecture_info(page->device[d].architecture)->shared_per_block);
        report_row(r, "%s\t%d\t%d\t%d\t%.6g\t\t0\t%" PRId64 "\t\t\t\t\t", name, t->Br, t->Bc,
                   t->warps, kb, c->grid.blocks);
        return;
    }
    report_text(r, " %4d %4d %7s %7.2f %5.1f %% %s\n", c->occupancy.registers, c->per_sm,
                grouped(c->grid.blocks).text, c->least.waves, 100 * c->least.full,
                plan_milliseconds(c).text);
    report_row(r, "%s\t%d\t%d\t%d\t%.6g\t%d\t%d\t%" PRId64 "\t%.4f\t%" PRId64 "\t%.4f\t%.6g\t%.6g",
               name, t->Br, t->Bc, t->warps, kb, c->occupancy.registers, c->per_sm, c->grid.blocks,
               c->least.waves, c->least.launched, c->least.full, 1e3 * c->seconds_least,
               1e3 * c->seconds_most);
}

static void print_table(struct plan_page *page)
{
    struct report *r = page->report;
    report_text(r,
                "\n device       tile          KB regs a SM  blocks   waves    full model, ms\n");
    report_row(r, "device\tBr\tBc\twarps\tKB\tregisters\tper SM\tblocks\twaves\tlaunched\tfull\t"
                  "least ms\tmost ms");
    for (int d = 0; d < page->devices; d++)
        table_row(page, d);
    report_text(r, "\n");
}

static void print_tile(struct plan_page *page, const struct cost *c)
{
    const struct occupancy *o = &c->occupancy;
    const struct architecture_info *a = architecture_info(page->device[0].architecture);
    char *text = NULL;
    text_append(&text, "%d x %d, %d warps%s: ", c->grid.tile.Br, c->grid.tile.Bc,
                c->grid.tile.warps, c->shipped ? ", the shipped kernel's" : "");
    text_append(&text, "%s bytes of shared memory (a block may have %d KB); ",
                grouped(o->needs.shared).text, a->shared_per_block);
    text_append(&text, "accumulators take %" PRId64 " of a thread's %d registers, ",
                o->needs.accumulators, REGISTERS_PER_THREAD);
    text_append(&text,
                o->verdict == TILE_SPILLS      ? "so it spills, which is not in the model."
                : o->verdict == TILE_MAY_SPILL ? "with %g others it spills (not in the model)."
                                               : "with %g others it fits.",
                page->request.assume[ASSUMPTION_REGISTERS]);
    text_append(&text, " An SM has room for %d by shared memory, %d by registers, %d by threads.",
                o->allowed[LIMIT_SHARED], o->allowed[LIMIT_REGISTERS], o->allowed[LIMIT_THREADS]);
    words(page->report, "tile", text);
}

/* "at 2 an SM 9.48 waves, 10 launched, 94.8 % full". */
/* Split-Q, as shipped, and split-K: what one more key tile makes a block's warps exchange. */
static void print_warps(struct plan_page *page, const struct cost *c)
{
    struct tile_exchange rows, keys;
    char *text = NULL;
    if (!plan_warps(page, c, &rows, &keys))
        return;
    text_append(&text,
                "share a tile by rows (split-Q): for each pair of tiles %" PRId64 " barriers and %s "
                "bytes of results through shared memory%s. ",
                rows.barriers, grouped(rows.results).text,
                rows.results > 0 ? " (P and dS, for dK and dV)" : "");
    text_append(&text,
                "By keys (split-K) %" PRId64 " barriers, %s bytes, and %s more bytes of shared "
                "memory held.",
                keys.barriers, grouped(keys.results).text, grouped(keys.shared - rows.shared).text);
    words(page->report, "warps", text);
}

static void say_waves(char **text, int64_t blocks, int sms, int per_sm)
{
    int64_t slots = (int64_t)sms * per_sm, launched = (blocks + slots - 1) / slots;
    double waves = (double)blocks / (double)slots;
    text_append(text, "at %d an SM %.2f wave%s, %s launched, %.1f %% full", per_sm, waves,
                waves == 1 ? "" : "s", grouped(launched).text, 100 * waves / (double)launched);
}

static void print_blocks(struct plan_page *page, const struct cost *c)
{
    const struct grid *g = &c->grid;
    int sms = (int)page->device[0].figure[QUANTITY_SMS];
    char *text = NULL;
    text_append(&text, "%s, %s each: %s a head, %s head%s. On %d SMs ", grouped(g->blocks).text,
                plan_kernel_owns(g->kernel), grouped(g->per_head).text, grouped(g->heads).text,
                g->heads == 1 ? "" : "s", sms);
    say_waves(&text, g->blocks, sms, 1);
    if (c->per_sm > 1) {
        text_append(&text, "; ");
        say_waves(&text, g->blocks, sms, c->per_sm);
    }
    text_append(&text, ".");
    if (c->least.busy_sms < sms)
        text_append(&text, " %d SMs stay idle.", sms - c->least.busy_sms);
    text_append(&text, " The SMs are busy %.1f %% of the time until the last block ends.",
                100 * c->least.busy);
    words(page->report, "blocks", text);
}

static void print_cells(struct plan_page *page, const struct cost *c)
{
    double all = (double)(c->cells.skipped + c->cells.masked + c->cells.plain);
    char *text = NULL;
    text_append(&text,
                "of %s pair%s of a query tile and a key tile %s %s skipped (%.1f %%), %s "
                "masked, %s plain.",
                whole(all).text, all == 1 ? "" : "s", grouped(c->cells.skipped).text,
                c->cells.skipped == 1 ? "is" : "are", 100 * (double)c->cells.skipped / all,
                grouped(c->cells.masked).text, grouped(c->cells.plain).text);
    words(page->report, "cells", text);
}

static void print_work(struct plan_page *page, const struct cost *c)
{
    char *text = NULL;
    text_append(&text,
                "%.4g FLOPs of matrix products in the visible pairs (%d d a pair), %.4g in whole "
                "cells; %.4g other fp32 operations, %.4g exponentials and the like.",
                c->useful, c->grid.kernel == PLAN_KERNEL_BACKWARD ? 10 : 4, c->total.matmul,
                c->total.other, c->total.special);
    words(page->report, "work", text);
    text = NULL;
    text_append(&text,
                "device memory %.4g bytes with every tensor once; blocks ask for %.4g more, which "
                "caches serve or not; shared memory %.4g bytes.",
                c->traffic.once, c->traffic.again, c->total.shared);
    words(page->report, "bytes", text);
}

/* A cell's parts, and what an SM needs for each. */
static void print_cell_times(struct plan_page *page, const struct cost *c)
{
    const struct work *w = &c->plain;
    const struct rates *k = &c->rates;
    const double micro = 1e6;
    struct report *r = page->report;
    report_text(r, "\n a plain cell     matmul FLOPs   other ops  exponentials  shared bytes\n");
    report_text(r, "               %14s %11s %13s %13s\n", whole(w->matmul).text,
                whole(w->other).text, whole(w->special).text, whole(w->shared).text);
    if (!c->timed)
        return;
    report_text(r, " us of an SM   %14.3f %11.3f %13.3f %13.3f\n", micro * w->matmul / k->matmul,
                micro * w->other / k->other, micro * w->special / k->special,
                micro * w->shared / k->shared);
}

static void print_time(struct plan_page *page, const struct cost *c)
{
    char *text = NULL;
    if (!c->timed) {
        text_append(&text,
                    "not modelled: %s has no established figure of bf16 matmul, fp32 or memory.",
                    page->device[0].name);
        words(page->report, "time", text);
        return;
    }
    text_append(&text,
                "%.4g ms if everything overlaps, %.4g ms if nothing does: %.1f to %.1f %% of %.4g "
                "TFLOP/s. Device memory alone takes %.3g ms.",
                1e3 * c->seconds_least, 1e3 * c->seconds_most, 100 * c->share_most,
                100 * c->share_least, page->device[0].figure[QUANTITY_BF16],
                1e3 * c->traffic.once / c->rates.memory);
    words(page->report, "time", text);
}

static bool asked(const struct plan_page *page, enum assumption a)
{
    bool derived = false;
    for (int d = 0; d < page->devices; d++)
        derived = derived || page->cost[d].rates.clock_derived;
    if (a == ASSUMPTION_PER_SM)
        return page->request.assume[a] > 0;
    return a != ASSUMPTION_LANES || derived;
}

static void print_assumptions(struct plan_page *page)
{
    char *text;
    bool first = true;
    for (int n = 0; n < ASSUMPTION_COUNT; n++) {
        const struct assumption_info *a = assumption_info((enum assumption)n);
        double x = page->request.assume[n];
        if (!asked(page, (enum assumption)n))
            continue;
        text = NULL;
        text_append(&text, "%s %.10g%s%s: %s%s", a->name, x, a->unit[0] != 0 ? " " : "", a->unit,
                    a->meaning, x != a->value ? " (given)" : "");
        words(page->report, first ? "assumed" : "", text);
        first = false;
    }
    text = NULL;
    text_append(&text, "blocks start in the order of their numbers, row blocks first; those of an "
                       "SM share its speed; 16-bit elements; rates are the device table's peaks. "
                       "No GPU was asked: a modelled time is not a measured one.");
    words(page->report, "", text);
}

void plan_text(struct plan_page *page)
{
    struct report *r = page->report;
    const struct cost *c = &page->cost[0];
    plan_headline(page, &r->text);
    report_text(r, "\n%s\n", plan_kernel_meaning(page->request.kernel));
    print_table(page);
    if (page->devices == 1) {
        print_tile(page, c);
        print_warps(page, c);
        print_blocks(page, c);
        print_cells(page, c);
        print_work(page, c);
        print_cell_times(page, c);
        report_text(r, "\n");
        print_time(page, c);
    }
    print_assumptions(page);
}
