/* run_groups.c: how decode cut the keys, in the report of a run. */
#include "simulator/cli/run_groups.h"

#include "simulator/scenario_parts.h"

static int64_t tokens_of(const struct attention *x, int g)
{
    int64_t tokens = 0;
    for (int n = 0; n < group_tiles(x, g); n++)
        tokens += key_count(x, group_tile(x, g, n));
    return tokens;
}

/* "54 groups of 8 key tiles of 64: 512 keys, the last 389". */
static void in_words(struct report *r, const struct attention *x, int64_t first, int64_t last)
{
    const struct choices *c = &x->choices;
    const struct grouping *g = &c->grouping;
    int tiles = group_tiles(x, 0);
    report_text(r, "%s group%s of ", grouped(g->splits).text, g->splits == 1 ? "" : "s");
    if (g->round_robin)
        report_text(r, "every %s-th key tile of %d keys", grouped(g->splits).text, c->Bc);
    else
        report_text(r, "%s key tile%s of %d", grouped(tiles).text, tiles == 1 ? "" : "s", c->Bc);
    report_text(r, ": %s key%s", grouped(first).text, first == 1 ? "" : "s");
    if (g->splits > 1 && last != first)
        report_text(r, ", the last %s", grouped(last).text);
    report_text(r, "\n");
}

/* Whose grouping it is, of which launch. */
static void whose_groups(struct report *r, const struct problem *p)
{
    const char *device = r->scenario->value[OPTION_DEVICE];
    struct launch l = problem_launch(p);
    if (device != NULL)
        report_text(r, "as for %.40s and a launch of %lld query and %lld key heads, batch %lld\n",
                    device, (long long)l.heads_q, (long long)l.heads_kv, (long long)l.batch);
}

void describe_groups(struct report *r, const struct scenario_input *in,
                     const struct simulation *s)
{
    if (s->is_kernel || s->algorithm != ALGORITHM_DECODE || problem_units(&in->problem) == 0)
        return;
    struct head h = problem_head(&in->problem, 0);
    struct attention x = {.head = &h, .choices = simulation_choices(s, &h)};
    const struct grouping *g = &x.choices.grouping;
    int64_t first = tokens_of(&x, 0), last = tokens_of(&x, g->splits - 1);
    in_words(r, &x, first, last);
    whose_groups(r, &in->problem);
    report_text(r, "merge %s   maximum %s   l sums %s weights\n", merge_name(s->choices.merge),
                s->choices.running_max ? "running" : "of the group",
                s->choices.sum_rounded ? "rounded" : "unrounded");
    struct json *j = json_object(r->json, "groups");
    json_whole(j, "splits", g->splits);
    json_whole(j, "blocks", key_tiles(&x));
    json_whole(j, "block_tokens", x.choices.Bc);
    json_whole(j, "blocks_per_split", group_tiles(&x, 0));
    json_whole(j, "tokens_per_split", first);
    json_whole(j, "last_split_tokens", last);
    json_string(j, "order", g->round_robin ? "round-robin" : "contiguous");
    json_string(j, "merge", merge_name(s->choices.merge));
}
