/* splits.c: a launch checked and planned; which tokens a group has.  The rules themselves are in
   splits_fa2.c and splits_rules.c, names and tables in splits_names.c. */
#include "simulator/splits.h"

#include <assert.h>
#include <inttypes.h>

#include "simulator/splits_parts.h"

static split_function *const rules[SPLIT_RULE_COUNT] = {
#define SPLIT_RULE(id, name, function, ...) function,
#include "simulator/splits.def"
#undef SPLIT_RULE
};

static bool in_range(const char *what, int64_t x, int64_t least, int64_t most, struct message *why)
{
    return (least <= x && x <= most) ||
           refuse(why, "%s is %" PRId64 "; %" PRId64 " to %" PRId64 " is right", what, x, least,
                  most);
}

static bool check_sizes(const struct launch *l, struct message *why)
{
    if (!in_range("the batch", l->batch, 1, SPLIT_LARGEST, why) ||
        !in_range("the number of query heads", l->heads_q, 1, 65536, why) ||
        !in_range("the number of KV heads", l->heads_kv, 1, 65536, why) ||
        !in_range("the number of queries", l->len_q, 1, SPLIT_LARGEST, why) ||
        !in_range("the length", l->longest, 0, INT64_C(1) << 30, why) ||
        !in_range("the capacity", l->capacity, 0, INT64_C(1) << 30, why) ||
        !in_range("the head size", l->dim, 1, 65536, why) ||
        !in_range("the number of SMs", l->sms, 0, 65536, why))
        return false;
    if (l->heads_q % l->heads_kv != 0)
        return refuse(why,
                      "%" PRId64 " query heads are no multiple of %" PRId64
                      " KV heads; every KV head serves equally many",
                      l->heads_q, l->heads_kv);
    if (l->capacity > 0 && l->capacity < l->longest)
        return refuse(
            why, "a capacity of %" PRId64 " tokens is less than the longest sequence, %" PRId64,
            l->capacity, l->longest);
    return l->shortest <= l->longest ||
           refuse(why, "the shortest sequence, %" PRId64 ", is longer than the longest, %" PRId64,
                  l->shortest, l->longest);
}

static bool check_kernel(const struct split_rule_info *info, const struct launch *l,
                         struct message *why)
{
    if (info->needs_device && l->sms == 0)
        return refuse(why, "%s asks how many SMs there are: name a device", info->name);
    if (info->one_query && l->len_q != 1)
        return refuse(why, "%s is modelled for one query per sequence, not %" PRId64, info->name,
                      l->len_q);
    if (l->num_splits != 0 && info->most_splits == 0)
        return refuse(why, "%s takes no number of splits from its caller", info->name);
    return l->num_splits == 0 ||
           in_range("the number of splits", l->num_splits, 1, info->most_splits, why);
}

bool split_plan(enum split_rule rule, const char *version, const struct launch *l,
                struct split_plan *p, struct message *why)
{
    int factor;
    *p = (struct split_plan){.rule = rule, .order = split_rule_info(rule)->order};
    if (!check_sizes(l, why) || !split_version(rule, version, &factor, &p->version, why) ||
        !split_takes_dim(rule, l->dim, why) || !check_kernel(split_rule_info(rule), l, why) ||
        !rules[rule](l, factor, p, why))
        return false;
    assert(p->splits >= 1 && p->block_tokens >= 1);
    p->blocks = ceil_div(p->length, p->block_tokens);
    p->blocks_per_split = ceil_div(p->blocks, p->splits);
    return true;
}

int split_count(const struct split_plan *p, int64_t length)
{
    int64_t count = p->splits;
    if (p->chunk[0] > 0)
        count = larger(ceil_div(length, p->chunk[0]), ceil_div(length, p->chunk[1]));
    return (int)larger(count, 1);
}

int64_t split_blocks(const struct split_plan *p, int64_t length)
{
    if (!p->own_length)
        return p->blocks_per_split;
    return ceil_div(ceil_div(length, p->block_tokens), split_count(p, length));
}

bool split_range(const struct split_plan *p, int64_t length, int i, int64_t n,
                 struct token_range *range)
{
    int64_t blocks = split_blocks(p, length), first = (i * blocks + n) * p->block_tokens,
            last = (i + 1) * blocks * p->block_tokens;
    assert(0 <= i && i < split_count(p, length) && n >= 0);
    if (p->order == GROUPS_ROUND_ROBIN) {
        first = (i + n * split_count(p, length)) * p->block_tokens;
        last = first + p->block_tokens;
    } else if (n > 0) {
        return false;
    }
    *range = (struct token_range){first, smaller(last, length)};
    return range->first < range->last;
}

int64_t split_tokens(const struct split_plan *p, int64_t length, int i)
{
    int64_t tokens = 0;
    struct token_range range;
    for (int64_t n = 0; split_range(p, length, i, n, &range); n++)
        tokens += range.last - range.first;
    return tokens;
}

int split_live(const struct split_plan *p, int64_t length)
{
    struct token_range range;
    int live = 0, count = split_count(p, length);
    while (live < count && split_range(p, length, live, 0, &range))
        live++;
    return live;
}

int split_owner(const struct split_plan *p, int64_t length, int64_t t)
{
    assert(0 <= t && t < length);
    int64_t block = t / p->block_tokens;
    return (int)(p->order == GROUPS_ROUND_ROBIN ? block % split_count(p, length)
                                                : block / split_blocks(p, length));
}
