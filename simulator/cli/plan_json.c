/* plan_json.c: a launch as JSON: an object a device, and what was assumed. */
#include <stdlib.h>

#include "simulator/cli/plan.h"
#include "simulator/exchange.h"

static void add_shape(struct json *j, const struct plan_page *page)
{
    const struct attention_shape *a = &page->request.shape;
    json_string(j, "kernel", plan_kernel_name(page->request.kernel));
    json_whole(j, "batch", a->batch);
    json_whole(j, "heads_q", a->heads_q);
    json_whole(j, "heads_kv", a->heads_kv);
    json_whole(j, "len_q", a->len_q);
    json_whole(j, "len", a->len_k);
    json_whole(j, "dim", a->dim);
    json_truth(j, "causal", a->causal);
}

static void add_tile(struct json *j, const struct cost *c, enum architecture a)
{
    const struct occupancy *o = &c->occupancy;
    char *verdict = plan_verdict(c, a);
    json_whole(j, "Br", c->grid.tile.Br);
    json_whole(j, "Bc", c->grid.tile.Bc);
    json_whole(j, "warps", c->grid.tile.warps);
    json_truth(j, "shipped", c->shipped);
    json_string(j, "verdict", verdict);
    json_whole(j, "shared_bytes", o->needs.shared);
    json_whole(j, "accumulators", o->needs.accumulators);
    json_whole(j, "registers", o->registers);
    json_whole(j, "per_sm", c->per_sm);
    free(verdict);
}

static void add_waves(struct json *j, const struct cost *c, int sms)
{
    json_whole(j, "blocks", c->grid.blocks);
    json_whole(j, "splits", c->grid.splits);
    json_real(j, "waves_one_per_sm", (double)c->grid.blocks / sms);
    json_real(j, "waves", c->least.waves);
    json_whole(j, "launched", c->least.launched);
    json_real(j, "full", c->least.full);
    json_whole(j, "busy_sms", c->least.busy_sms);
    json_real(j, "busy", c->least.busy);
    json_whole(j, "skipped", c->cells.skipped);
    json_whole(j, "masked", c->cells.masked);
    json_whole(j, "plain", c->cells.plain);
}

static void add_cost(struct json *j, const struct cost *c)
{
    json_real(j, "flops_visible", c->useful);
    json_real(j, "flops_cells", c->total.matmul);
    json_real(j, "other_operations", c->total.other);
    json_real(j, "exponentials", c->total.special);
    json_real(j, "shared_bytes_moved", c->total.shared);
    json_real(j, "memory_bytes", c->traffic.once);
    json_real(j, "memory_bytes_again", c->traffic.again);
    json_truth(j, "timed", c->timed && c->per_sm > 0);
    json_real(j, "seconds_least", c->seconds_least);
    json_real(j, "seconds_most", c->seconds_most);
    json_real(j, "share_least", c->share_least);
    json_real(j, "share_most", c->share_most);
    json_real(j, "clock", c->rates.clock);
    json_truth(j, "clock_derived", c->rates.clock_derived);
}

static void add_assumptions(struct json *top, const struct plan_page *page)
{
    struct json *list = json_list(top, "assumptions");
    for (int a = 0; a < ASSUMPTION_COUNT; a++) {
        const struct assumption_info *info = assumption_info((enum assumption)a);
        struct json *j = json_object(list, NULL);
        json_string(j, "name", info->name);
        json_real(j, "value", page->request.assume[a]);
        json_string(j, "unit", info->unit);
        json_string(j, "meaning", info->meaning);
        json_truth(j, "given", page->request.assume[a] != info->value);
    }
}

bool plan_warps(const struct plan_page *page, const struct cost *c, struct tile_exchange *rows,
                struct tile_exchange *keys)
{
    enum { LARGEST = 1024 };
    const struct tiling *t = &c->grid.tile;
    int64_t dim = page->request.shape.dim;
    bool backward = page->request.kernel == PLAN_KERNEL_BACKWARD;
    if ((!backward && page->request.kernel != PLAN_KERNEL_FA2) || t->warps > EXCHANGE_WARPS ||
        t->Br > LARGEST || t->Bc > LARGEST || dim > LARGEST)
        return false;
    *rows = exchange_of_tile(true, backward, t->Br, t->Bc, (int)dim, t->warps);
    *keys = exchange_of_tile(false, backward, t->Br, t->Bc, (int)dim, t->warps);
    return true;
}

static void add_way(struct json *j, const char *name, const struct tile_exchange *t)
{
    struct json *way = json_object(j, name);
    json_whole(way, "barriers", t->barriers);
    json_whole(way, "result_bytes", t->results);
    json_whole(way, "shared_bytes", t->shared);
}

static void add_warps(struct json *j, const struct plan_page *page, const struct cost *c)
{
    struct tile_exchange rows, keys;
    if (!plan_warps(page, c, &rows, &keys))
        return;
    struct json *list = json_object(j, "key_tile_exchange");
    add_way(list, "split_q", &rows);
    add_way(list, "split_k", &keys);
}

void plan_json(struct plan_page *page)
{
    struct json *top = page->report->json, *list;
    add_shape(top, page);
    list = json_list(top, "devices");
    for (int d = 0; d < page->devices; d++) {
        struct json *j = json_object(list, NULL);
        int sms = (int)page->device[d].figure[QUANTITY_SMS];
        json_string(j, "device", page->device[d].name);
        json_whole(j, "sms", sms);
        add_tile(j, &page->cost[d], page->device[d].architecture);
        add_warps(j, page, &page->cost[d]);
        add_waves(j, &page->cost[d], sms);
        add_cost(j, &page->cost[d]);
    }
    add_assumptions(top, page);
}
