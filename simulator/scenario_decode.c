/* scenario_decode.c: groups of keys and decode's switches, as the command line says them. */
#include <string.h>

#include "simulator/decode_forms.h"
#include "simulator/scenario_parts.h"

static bool runs(const struct scenario *s, enum algorithm wanted)
{
    enum algorithm a;
    struct message unused;
    return scenario_algorithm(s, &a, &unused) && a == wanted;
}

static bool decodes(const struct scenario *s)
{
    return runs(s, ALGORITHM_DECODE);
}

enum site scenario_summed(const struct scenario *s)
{
    struct decode_form f;
    struct message unused;
    bool rounded = decodes(s) && decode_form_read(&f, s->value[OPTION_SWITCH], &unused) &&
                   f.sum_rounded;
    return rounded ? SITE_PROB : SITE_EXP;
}

bool scenario_decode_policy(const struct scenario *s, struct policy *p, struct message *why)
{
    struct decode_form f;
    if (!decodes(s))
        return true;
    if (!decode_form_read(&f, s->value[OPTION_SWITCH], why))
        return false;
    decode_form_policy(&f, p);
    return true;
}

/* The key tile of decode: --tile's; else the preset's or the listing's, or the whole group where
   that does not divide it. */
static bool choose_group_tile(const struct scenario *s, const struct decode_form *f,
                              struct choices *c, bool user_tiles, struct message *why)
{
    int usual = f->backend != NULL ? f->backend->tile : algorithm_info(ALGORITHM_DECODE)->Bc;
    int64_t tokens = c->grouping.tokens;
    enum { MOST = 1 << 16 };
    if (c->Br > 1)
        return refuse(why, "--tile %s: decode takes query rows one by one; --tile 1,%d is right",
                      scenario_tile(s), c->Bc);
    if (c->Bc > 0 && tokens % c->Bc != 0)
        return refuse(why, "--group-tokens %lld: a multiple of the key tile, %d, is right",
                      (long long)tokens, c->Bc);
    if (c->Bc == 0 && tokens > 0) {
        if (tokens % usual != 0 && tokens > MOST)
            return refuse(why, "--group-tokens %lld: a multiple of the key tile, %d, is right",
                          (long long)tokens, usual);
        c->Bc = tokens % usual == 0 ? usual : (int)tokens;
    }
    if (c->Bc == 0 && f->backend != NULL && !user_tiles)
        c->Bc = usual;
    return true;
}

static bool read_count(const struct scenario *s, enum option o, int64_t *x, struct message *why)
{
    *x = 0;
    return s->value[o] == NULL ||
           parse_integer(option_info(o)->name, s->value[o], 1, 1 << 20, x, why);
}

static bool choose_order(const struct scenario *s, const struct decode_form *f,
                         struct grouping *g, struct message *why)
{
    const char *order = s->value[OPTION_GROUPING];
    g->round_robin = f->backend != NULL && f->backend->round_robin;
    if (order != NULL) {
        g->round_robin = strcmp(order, "round-robin") == 0;
        if (!g->round_robin && strcmp(order, "contiguous") != 0)
            return refuse(why, "--grouping %.40s: contiguous or round-robin is right", order);
    }
    if (g->round_robin && g->splits == 0)
        return refuse(why, "round-robin groups take every n-th key tile: --splits N is right%s",
                      g->tokens > 0 ? ", not --group-tokens" : "");
    return true;
}

/* --device: the groups its kernel would make of the whole launch. */
static bool plan_groups(const struct scenario *s, const struct decode_form *f,
                        const struct problem *p, struct choices *c, struct message *why)
{
    static const enum option others[] = {OPTION_SPLITS, OPTION_GROUP_TOKENS, OPTION_GROUPING,
                                         OPTION_TILE};
    enum split_rule rule = f->backend != NULL ? f->backend->rule : SPLIT_RULE_FA2_SPLIT;
    struct launch l = problem_launch(p);
    struct device_record d;
    struct split_plan plan;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (s->given[others[i]])
            return refuse(why, "--device and %s each say how the keys are cut; one is right",
                          option_info(others[i])->name);
    if (rule == SPLIT_RULE_DECODE)
        return refuse(why, "--device: backend %s makes the same groups on every device",
                      f->backend->name);
    if (p->tiles > 0)
        return refuse(why, "--device: a kernel has its own tiles; leave out the | of --scores");
    if (!device_lookup(s->value[OPTION_DEVICE], &d, why))
        return false;
    l.sms = (int)d.figure[QUANTITY_SMS];
    if (s->value[OPTION_CAPACITY] != NULL &&
        !parse_integer("--capacity", s->value[OPTION_CAPACITY], 1, (int64_t)1 << 30, &l.capacity, why))
        return false;
    if (!split_plan(rule, NULL, &l, &plan, why))
        return false;
    c->Bc = (int)plan.block_tokens;
    c->grouping = (struct grouping){.round_robin = plan.order == GROUPS_ROUND_ROBIN,
                                    .splits = plan.splits};
    if (!c->grouping.round_robin && !plan.own_length) /* all sequences are cut like the longest */
        c->grouping = (struct grouping){.tokens = plan.blocks_per_split * plan.block_tokens};
    return true;
}

/* What the options ask for, not planned by a device. */
static bool read_groups(const struct scenario *s, const struct decode_form *f,
                        const struct problem *p, struct choices *c, struct message *why)
{
    int64_t splits;
    if (!read_count(s, OPTION_SPLITS, &splits, why) ||
        !read_count(s, OPTION_GROUP_TOKENS, &c->grouping.tokens, why))
        return false;
    if (splits > 0 && c->grouping.tokens > 0)
        return refuse(why, "--splits and --group-tokens each say how the keys are cut; one is "
                           "right");
    if (splits == 0 && c->grouping.tokens == 0 && f->backend != NULL)
        splits = f->backend->splits;
    if (splits * p->D >= (int64_t)1 << 30)
        return refuse(why, "--splits %lld: groups times D below 2^30 is simulated",
                      (long long)splits);
    c->grouping.splits = (int)splits;
    return choose_order(s, f, &c->grouping, why) && choose_group_tile(s, f, c, p->tiles > 0, why);
}

bool scenario_decode(const struct scenario *s, const struct problem *p, struct choices *c,
                     struct message *why)
{
    static const enum option own[] = {OPTION_SPLITS, OPTION_GROUP_TOKENS, OPTION_GROUPING};
    static const enum option shared[] = {OPTION_DEVICE, OPTION_SWITCH, OPTION_CAPACITY};
    struct decode_form f;
    if (!decodes(s)) {
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            if (s->given[own[i]])
                return refuse(why, "%s goes with --algorithm decode", option_info(own[i])->name);
        for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
            if (s->given[shared[i]] && !(shared[i] == OPTION_SWITCH && runs(s, ALGORITHM_AUTOCAST)))
                return refuse(why, "%s is for kernel models and decode; --kernel names one",
                              option_info(shared[i])->name);
        return true;
    }
    if (s->given[OPTION_CAPACITY] && !s->given[OPTION_DEVICE])
        return refuse(why, "--capacity is what a device's rule counts; --device names one");
    if (!decode_form_read(&f, s->value[OPTION_SWITCH], why))
        return false;
    c->merge = f.merge;
    c->running_max = f.running_max;
    c->sum_rounded = f.sum_rounded;
    return s->given[OPTION_DEVICE] ? plan_groups(s, &f, p, c, why) : read_groups(s, &f, p, c, why);
}
