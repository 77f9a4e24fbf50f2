/* splits_invariant.c: `flashulp splits --invariant`: over which batch sizes, neighbours, capacities
   and lengths a row keeps its groups, and what an engine must hold fast. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

/* Which axes a row of this launch has: alone it has no neighbours. */
static bool has_axis(const struct launch *l, enum split_axis axis)
{
    return l->batch > 1 || (axis != AXIS_LONGEST && axis != AXIS_SHORTEST);
}

static const char *axis_words(enum split_axis axis)
{
    static const char *const words[SPLIT_AXES] = {
        "in a batch of", "longest neighbour", "shortest neighbour", "cache capacity", "own tokens"};
    return words[axis];
}

/* The stretches that are kept, neighbours joined: "27,525-27,648 and 3 other ranges", the one
   around `here` by name. */
static char *kept_text(const struct split_stretch *s, int count, int64_t here)
{
    char *text = NULL;
    int others = 0;
    for (int i = 0, last; i < count; i = last + 1) {
        last = i;
        if (!s[i].kept)
            continue;
        while (last + 1 < count && s[last + 1].kept)
            last++;
        if (s[i].from > here || s[last].to < here) {
            others++;
            continue;
        }
        text_append(&text, "%s", grouped(s[i].from).text);
        if (s[last].to > s[i].from)
            text_append(&text, "-%s", grouped(s[last].to).text);
    }
    if (others > 0)
        text_append(&text, "%s%d other range%s", text != NULL ? " and " : "", others,
                    others == 1 ? "" : "s");
    return text;
}

static void add_json(struct json *list, enum split_axis axis, const struct split_stretch *s,
                     int count)
{
    struct json *j = json_object(list, NULL);
    json_string(j, "axis", split_axis_name(axis));
    json_whole(j, "from", s[0].from);
    json_whole(j, "to", s[count - 1].to);
    struct json *stretches = json_list(j, "stretches");
    for (int i = 0; i < count; i++) {
        struct json *one = json_object(stretches, NULL);
        json_whole(one, "from", s[i].from);
        json_whole(one, "to", s[i].to);
        json_truth(one, "kept", s[i].kept);
        json_whole(one, "splits", s[i].groups);
        json_whole(one, "tokens_per_split", s[i].cut);
    }
}

/* The first stretch behind the one asked about that is not kept, or the last before it. */
static const struct split_stretch *other_stretch(const struct split_stretch *s, int count,
                                                 int64_t here)
{
    const struct split_stretch *before = NULL;
    for (int i = 0; i < count; i++) {
        if (!s[i].kept && s[i].from > here)
            return &s[i];
        if (!s[i].kept)
            before = &s[i];
    }
    return before;
}

static void print_axis(struct report *r, const struct launch *l, enum split_axis axis,
                       const struct split_stretch *s, int count)
{
    enum { COLUMN = 41 };
    char *text = NULL, span[72];
    int64_t here = axis == AXIS_BATCH      ? l->batch
                   : axis == AXIS_CAPACITY ? (l->capacity > 0 ? l->capacity : l->longest)
                                           : l->longest;
    char *kept = kept_text(s, count, here);
    const struct split_stretch *other = other_stretch(s, count, here);
    snprintf(span, sizeof span, "%s-%s", grouped(s[0].from).text, grouped(s[count - 1].to).text);
    if (other == NULL)
        text_append(&text, "all of them");
    else
        text_append(&text, "%s; %s%s: %d group%s of %s", kept != NULL ? kept : "none",
                    other->from > here ? "from " : "up to ",
                    grouped(other->from > here ? other->from : other->to).text, other->groups,
                    other->groups == 1 ? "" : "s", grouped(other->cut).text);
    report_text(r, "   %-19s %-17s", axis_words(axis), span);
    if (strlen(span) > 17)
        report_text(r, "\n%*s", COLUMN, "");
    else
        report_text(r, " ");
    text_wrapped(&r->text, COLUMN, COLUMN, text);
    report_row(r, "%s\t%s\t%s", split_axis_name(axis), span, text);
    free(kept);
    free(text);
}

static bool study_device(struct splits_page *page, int d, struct json *list, struct message *why)
{
    const struct splits_request *q = page->request;
    const struct split_plan *p = &page->plan[d];
    struct report *r = page->report;
    struct launch l = q->launch;
    struct json *j = json_object(list, NULL), *axes;
    l.sms = device_sms(&q->device[d]);
    json_string(j, "device", q->device[d].name);
    axes = json_list(j, "axes");
    report_text(
        r, "\n %s: %d group%s of %s%s\n", q->device[d].name, p->splits, p->splits == 1 ? "" : "s",
        grouped(p->order == GROUPS_ROUND_ROBIN ? p->block_tokens
                                               : split_blocks(p, l.longest) * p->block_tokens)
            .text,
        p->order == GROUPS_ROUND_ROBIN ? ", round robin" : " tokens");
    report_text(r, "   %-19s %-17s kept at\n", "", "looked at");
    for (int axis = 0; axis < SPLIT_AXES; axis++) {
        struct split_stretch *s;
        int64_t first, last;
        int count;
        if (!has_axis(&l, (enum split_axis)axis))
            continue;
        split_axis_span(&l, (enum split_axis)axis, &first, &last);
        if (!split_stretches(q->rule, q->version, &l, (enum split_axis)axis, first, last, &s,
                             &count, why))
            return false;
        print_axis(r, &l, (enum split_axis)axis, s, count);
        add_json(axes, (enum split_axis)axis, s, count);
        free(s);
    }
    return true;
}

bool splits_invariant_page(struct splits_page *page, struct message *why)
{
    const struct splits_request *q = page->request;
    struct report *r = page->report;
    struct json *list = json_list(r->json, "invariant");
    if (q->lens != NULL)
        return refuse(why, "--invariant asks about one row: --len and --batch are right, not "
                           "--batch-lens");
    if (q->launch.longest == 0)
        return refuse(why, "--invariant asks about a row with tokens; --len 0 has no groups");
    splits_headline(q, &page->plan[0], &r->text);
    report_text(r, "When does a row keep its groups?  Its own tokens cut at the same places, and "
                   "put\ntogether alike; everything else as above.\n");
    report_row(r, "axis\tlooked at\tkept");
    for (int d = 0; d < q->devices; d++)
        if (!study_device(page, d, list, why))
            return false;
    report_text(r, "\n");
    splits_says(r, q, SPLIT_PIN, "to pin");
    splits_says(r, q, SPLIT_EVIDENCE, "evidence");
    splits_says(r, q, SPLIT_CAUTION, "caution");
    return true;
}
