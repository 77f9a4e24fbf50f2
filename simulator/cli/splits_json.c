/* splits_json.c: one launch as JSON: the keys of a single device stand on top, too. */
#include <stdlib.h>

#include "simulator/cli/splits.h"

static const char *order_word(enum group_order order)
{
    return order == GROUPS_ROUND_ROBIN ? "round-robin" : "contiguous";
}

static void add_weighing(struct json *j, const struct split_plan *p)
{
    const struct split_weighing *w = &p->weighing;
    if (p->rule != SPLIT_RULE_FA2_SPLIT)
        return;
    json_whole(j, "work", w->work);
    json_whole(j, "capacity", w->capacity);
    json_truth(j, "swapped", w->swapped);
    if (w->best == 0)
        return;
    json_real(j, "efficiency", (double)w->efficiency);
    json_real(j, "best_efficiency", (double)w->best_efficiency);
    json_whole(j, "best_splits", w->best);
    json_real(j, "needed", w->needed);
    json_whole(j, "eligible", w->eligible);
}

static void add_plan(struct json *j, const struct split_plan *p, const struct launch *l)
{
    int live = split_live(p, l->longest);
    char *reason = NULL;
    json_whole(j, "splits", p->splits);
    json_whole(j, "live", live);
    json_whole(j, "blocks", p->blocks);
    json_whole(j, "block_tokens", p->block_tokens);
    json_whole(j, "blocks_per_split", p->blocks_per_split);
    json_whole(j, "tokens_per_split", p->blocks_per_split * p->block_tokens);
    json_whole(j, "last_split_tokens", live > 0 ? split_tokens(p, l->longest, live - 1) : 0);
    json_string(j, "order", order_word(p->order));
    json_truth(j, "established", !p->bound && !p->undecided);
    add_weighing(j, p);
    split_reason(p, l, &reason);
    json_string(j, "reason", reason);
    free(reason);
}

static void add_lens(struct json *j, const struct splits_request *q, const struct split_plan *p)
{
    if (q->lens == NULL)
        return;
    struct json *list = json_list(j, "sequences");
    for (int64_t i = 0; i < q->len_count; i++) {
        struct json *one = json_object(list, NULL);
        int live = split_live(p, q->lens[i]);
        json_whole(one, "tokens", q->lens[i]);
        json_whole(one, "live", live);
        json_whole(one, "tokens_per_split", split_blocks(p, q->lens[i]) * p->block_tokens);
        json_whole(one, "last_split_tokens", live > 0 ? split_tokens(p, q->lens[i], live - 1) : 0);
    }
}

static void add_pairs(struct splits_page *page)
{
    const struct splits_request *q = page->request;
    struct json *list = json_list(page->report->json, "pairs");
    for (int a = 0; a < q->devices; a++)
        for (int b = a + 1; b < q->devices; b++) {
            const struct split_plan *pair[] = {&page->plan[a], &page->plan[b]};
            struct json *j = json_object(list, NULL);
            json_string(j, "a", q->device[a].name);
            json_string(j, "b", q->device[b].name);
            json_truth(j, "alike", split_alike(pair[0], pair[1], q->launch.longest));
            json_truth(j, "certain", split_certain(pair[0], pair[1]));
            json_whole(j, "shared_every", split_shared(pair, 2, q->launch.longest));
        }
}

void splits_json(struct splits_page *page)
{
    const struct splits_request *q = page->request;
    struct json *top = page->report->json;
    struct launch l = q->launch;
    json_string(top, "kernel", split_rule_info(q->rule)->name);
    json_string(top, "kernel_version", page->plan[0].version);
    json_whole(top, "length", l.longest);
    json_whole(top, "batch", l.batch);
    json_whole(top, "heads_q", l.heads_q);
    json_whole(top, "heads_kv", l.heads_kv);
    json_whole(top, "dim", l.dim);
    if (q->devices == 1) {
        l.sms = device_sms(&q->device[0]);
        json_string(top, "device", q->device[0].name);
        add_plan(top, &page->plan[0], &l);
        add_lens(top, q, &page->plan[0]);
    }
    struct json *list = json_list(top, "devices");
    for (int d = 0; d < q->devices; d++) {
        struct json *j = json_object(list, NULL);
        l.sms = device_sms(&q->device[d]);
        json_string(j, "device", q->device[d].name);
        json_whole(j, "sms", l.sms);
        add_plan(j, &page->plan[d], &l);
        add_lens(j, q, &page->plan[d]);
    }
    add_pairs(page);
}
