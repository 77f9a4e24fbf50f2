/* plan_sweep.c: which tiles fit, spill or do not launch, and which one ships. */
#include <inttypes.h>
#include <stdlib.h>

#include "simulator/cli/plan.h"

enum { KB = 1024 };

bool plan_sweep_tile(int n, struct tiling *t)
{
    static const int rows[SWEEP_ROWS] = {64, 128, 256};
    static const int keys[SWEEP_COLUMNS] = {32, 64, 128, 256};
    static const int warps[SWEEP_WARPS] = {4, 8};
    if (n >= SWEEP_ROWS * SWEEP_COLUMNS * SWEEP_WARPS)
        return false;
    *t = (struct tiling){rows[n / SWEEP_WARPS / SWEEP_COLUMNS],
                         keys[n / SWEEP_WARPS % SWEEP_COLUMNS], warps[n % SWEEP_WARPS]};
    return true;
}

static void sweep_row(struct plan_page *page, int d, const struct cost *c)
{
    struct report *r = page->report;
    const struct tiling *t = &c->grid.tile;
    char *verdict = plan_verdict(c, page->device[d].architecture);
    double kb = (double)c->occupancy.needs.shared / KB;
    report_text(r, " %4d x %-4d %2d %5.4g %5" PRId64 " %4d", t->Br, t->Bc, t->warps, kb,
                c->occupancy.needs.accumulators, c->per_sm);
    if (c->per_sm > 0)
        report_text(r, " %7.2f  %-14s", c->least.waves,
                    c->occupancy.verdict == TILE_SPILLS ? "-" : plan_milliseconds(c).text);
    else
        report_text(r, " %7s  %-14s", "-", "-");
    report_text(r, " %s\n", verdict);
    report_row(r, "%s\t%d\t%d\t%d\t%.6g\t%" PRId64 "\t%d\t%.4f\t%.6g\t%.6g\t%s",
               page->device[d].name, t->Br, t->Bc, t->warps, kb, c->occupancy.needs.accumulators,
               c->per_sm, c->least.waves, 1e3 * c->seconds_least, 1e3 * c->seconds_most, verdict);
    free(verdict);
}

static void sweep_json(struct json *list, enum architecture a, const struct cost *c)
{
    struct json *j = json_object(list, NULL);
    char *verdict = plan_verdict(c, a);
    json_whole(j, "Br", c->grid.tile.Br);
    json_whole(j, "Bc", c->grid.tile.Bc);
    json_whole(j, "warps", c->grid.tile.warps);
    json_whole(j, "shared_bytes", c->occupancy.needs.shared);
    json_whole(j, "accumulators", c->occupancy.needs.accumulators);
    json_whole(j, "per_sm", c->per_sm);
    json_real(j, "waves", c->least.waves);
    json_truth(j, "shipped", c->shipped);
    json_string(j, "verdict", verdict);
    free(verdict);
}

static bool sweep_device(struct plan_page *page, int d, struct json *list, struct message *why)
{
    struct plan_request q = page->request;
    struct report *r = page->report;
    struct cost c;
    report_text(r, "\n%s\n tile     warps   KB  regs a SM   waves  model, ms      verdict\n",
                page->device[d].name);
    for (int n = 0; plan_sweep_tile(n, &q.tile); n++) {
        if (!plan_cost(&q, &page->device[d], &c, why))
            return false;
        sweep_row(page, d, &c);
        sweep_json(list, page->device[d].architecture, &c);
    }
    return true;
}

bool plan_sweep(struct plan_page *page, struct message *why)
{
    struct report *r = page->report;
    struct json *all = json_list(r->json, "sweep");
    plan_headline(page, &r->text);
    report_text(r, "\nregs: what accumulators take of a thread's %d registers; KB: shared memory\n",
                REGISTERS_PER_THREAD);
    report_row(r, "device\tBr\tBc\twarps\tKB\taccumulators\tper SM\twaves\tleast ms\tmost ms\t"
                  "verdict");
    for (int d = 0; d < page->devices; d++) {
        struct json *j = json_object(all, NULL);
        json_string(j, "device", page->device[d].name);
        if (!sweep_device(page, d, json_list(j, "tiles"), why))
            return false;
    }
    report_text(r,
                "\n A tile spills when its accumulators alone need more registers than a thread\n "
                "has; it may spill with %g others (--assume registers=N). Spills are not in\n "
                "the model.\n",
                page->request.assume[ASSUMPTION_REGISTERS]);
    return true;
}
