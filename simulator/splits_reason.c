/* splits_reason.c: why a launch has as many groups as it has, with its numbers. */
#include <inttypes.h>

#include "simulator/scenario_parts.h"
#include "simulator/splits_parts.h"

static int eligible_before(const struct split_plan *p)
{
    int s = p->splits - 1;
    while (s > 0 && !split_fa2_eligible(p->blocks, s))
        s--;
    return s;
}

static void fa2_reason(const struct split_plan *p, char **text)
{
    const struct split_weighing *w = &p->weighing;
    int before = eligible_before(p);
    if (w->full) {
        text_append(text,
                    "work %" PRId64 " is at least 0.8 of the capacity, %" PRId64 ": one group",
                    w->work, w->capacity);
    } else if (w->best == 0) {
        text_append(text, "there is nothing to split");
    } else if (before == 0) {
        text_append(
            text,
            "best is %.3f (%d splits), so %.3f is needed; of %d eligible counts the first, 1, "
            "gives %.3f",
            (double)w->best_efficiency, w->best, w->needed, w->eligible, (double)w->efficiency);
    } else {
        text_append(
            text,
            "best is %.3f (%d splits), so %.3f is needed. Of %d eligible counts %d gives %.3f, "
            "too low; %d gives %.3f",
            (double)w->best_efficiency, w->best, w->needed, w->eligible, before,
            (double)split_fa2_efficiency(w->work, w->capacity, before), p->splits,
            (double)w->efficiency);
    }
}

static void triton_reason(const struct split_plan *p, const struct launch *l, char **text)
{
    if (p->splits == 1)
        text_append(text, "the 2D path, which does not split");
    else
        text_append(text,
                    "the 3D path; ceil(%s tiles / %d segments) = %" PRId64 " tiles of %" PRId64
                    " tokens, the batch being %" PRId64,
                    grouped(p->blocks).text, p->splits, p->blocks_per_split, p->block_tokens,
                    l->batch);
}

static void sglang_reason(const struct split_plan *p, const struct launch *l, char **text)
{
    int64_t most = split_option(l, SPLIT_OPTION_SGLANG_MOST);
    if (p->chunk[0] == 0)
        text_append(text, "there is nothing to split");
    else if (p->by_device == 0)
        text_append(text, "one split for every %s tokens of a sequence", grouped(p->chunk[0]).text);
    else
        text_append(text,
                    "%d SMs ask for %s, at most %" PRId64 " are allowed; the batch's lengths ask "
                    "for %" PRId64 "%s",
                    l->sms, grouped(p->by_device).text, most, ceil_div(l->longest, p->chunk[0]),
                    p->undecided ? "; UNDECIDED by what is established" : "");
}

static void paged_reason(const struct split_plan *p, const struct launch *l, char **text)
{
    if (p->splits == 1)
        text_append(text, "%s tokens, %s heads in the batch: v1 or a single partition",
                    grouped(p->length).text, grouped(l->batch * l->heads_q).text);
    else
        text_append(text, "v2; ceil(%s / %" PRId64 ") partitions", grouped(p->length).text,
                    p->block_tokens);
}

void split_reason(const struct split_plan *p, const struct launch *l, char **text)
{
    if (l->num_splits > 0)
        text_append(text, "the caller chose %d", l->num_splits);
    else if (p->rule == SPLIT_RULE_FA2_SPLIT)
        fa2_reason(p, text);
    else if (p->rule == SPLIT_RULE_TRITON_DECODE)
        triton_reason(p, l, text);
    else if (p->rule == SPLIT_RULE_SGLANG_DECODE)
        sglang_reason(p, l, text);
    else if (p->rule == SPLIT_RULE_PAGED_V2)
        paged_reason(p, l, text);
    else
        text_append(text,
                    "%d SMs / (batch %" PRId64 " x %" PRId64 " KV heads) allow %" PRId64
                    ", and there are %s %s of %" PRId64,
                    l->sms, l->batch, l->heads_kv, p->by_device, grouped(p->blocks).text,
                    p->bound ? "partials" : "tiles", p->block_tokens);
}
