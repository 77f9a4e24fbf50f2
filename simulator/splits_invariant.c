/* splits_invariant.c: along one axis of launches, the stretches over which a row is grouped alike;
   see splits_study.h. */
#include <stdlib.h>

#include "simulator/splits_parts.h"
#include "simulator/splits_study.h"

enum { LARGEST_BATCH = 256, TIMES = 8, LEAST_SPAN = 4096, MOST_SPAN = 1 << 20 };

const char *split_axis_name(enum split_axis axis)
{
    static const char *const names[SPLIT_AXES] = {"batch", "longest", "shortest", "capacity",
                                                  "length"};
    return names[axis];
}

void split_axis_span(const struct launch *l, enum split_axis axis, int64_t *first, int64_t *last)
{
    int64_t far = smaller(larger(TIMES * l->longest, LEAST_SPAN), l->longest + MOST_SPAN);
    bool above = axis == AXIS_LONGEST || axis == AXIS_CAPACITY;
    *first = axis == AXIS_BATCH ? 1 : larger(above ? l->longest : l->longest - MOST_SPAN, 1);
    *last = axis == AXIS_BATCH ? LARGEST_BATCH : axis == AXIS_SHORTEST ? l->longest : far;
    *last = smaller(*last, INT64_C(1) << 30);
}

/* The launch at place x of the axis, and the row's length in it.  A row beside a longer one is the
   batch's shortest. */
static struct launch launch_at(const struct launch *l, enum split_axis axis, int64_t x,
                               int64_t *length)
{
    struct launch other = *l;
    *length = l->longest;
    if (axis == AXIS_BATCH) {
        other.batch = x;
    } else if (axis == AXIS_LONGEST) {
        other.longest = x;
        other.shortest = *length;
    } else if (axis == AXIS_SHORTEST) {
        other.shortest = x;
    } else if (axis == AXIS_CAPACITY) {
        other.capacity = x;
    } else {
        other.longest = *length = x;
    }
    if (other.capacity > 0)
        other.capacity = larger(other.capacity, other.longest);
    return other;
}

struct study {
    enum split_rule rule;
    const char *version;
    struct split_plan asked;
    int64_t length; /* of the row, as asked */
};

static bool stretch_at(const struct study *s, const struct launch *l, enum split_axis axis,
                       int64_t x, struct split_stretch *stretch, struct message *why)
{
    struct split_plan p;
    int64_t length;
    struct launch other = launch_at(l, axis, x, &length);
    if (!split_plan(s->rule, s->version, &other, &p, why))
        return false;
    *stretch =
        (struct split_stretch){x, x, split_kept(&s->asked, s->length, &p, length),
                               split_count(&p, length), split_blocks(&p, length) * p.block_tokens};
    if (p.order == GROUPS_ROUND_ROBIN)
        stretch->cut = p.block_tokens;
    return true;
}

/* Rules look at a length through ceil(length / block) only, except SGLang's. */
static int64_t step_of(const struct study *s, enum split_axis axis)
{
    bool tokens = axis != AXIS_BATCH && s->rule != SPLIT_RULE_SGLANG_DECODE;
    return tokens && s->rule != SPLIT_RULE_PAGED_V2 ? s->asked.block_tokens : 1;
}

bool split_stretches(enum split_rule rule, const char *version, const struct launch *l,
                     enum split_axis axis, int64_t first, int64_t last,
                     struct split_stretch **stretches, int *count, struct message *why)
{
    struct study s = {.rule = rule, .version = version, .length = l->longest};
    struct split_stretch next, *list = NULL;
    int used = 0, room = 0;
    *stretches = NULL;
    *count = 0;
    if (!split_plan(rule, version, l, &s.asked, why))
        return false;
    int64_t step = step_of(&s, axis);
    for (int64_t x = first, to; x <= last; x = to + 1) {
        to = smaller(ceil_div(x, step) * step, last);
        if (!stretch_at(&s, l, axis, x, &next, why)) {
            free(list);
            return false;
        }
        next.to = to;
        struct split_stretch *end = used > 0 ? &list[used - 1] : NULL;
        if (end != NULL && end->kept == next.kept && end->cut == next.cut &&
            end->groups == next.groups) {
            end->to = to;
            continue;
        }
        if (used == room) {
            room = room > 0 ? 2 * room : 64;
            list = realloc(list, (size_t)room * sizeof *list);
            if (list == NULL)
                abort();
        }
        list[used++] = next;
    }
    *stretches = list;
    *count = used;
    return true;
}
