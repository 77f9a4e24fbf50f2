/* walk_groups.c: a decode walk over many tiles: what each group leaves, then the merge. */
#include <stdio.h>
#include <stdlib.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

static void show_group(struct report *r, const struct walk *w, int g)
{
    const struct attention *x = &w->attention;
    const struct grouping *o = &x->choices.grouping;
    int count = group_tiles(x, g), first = o->round_robin ? g : g * o->tiles;
    int last = o->round_robin ? g + (count - 1) * o->splits : first + count - 1;
    char *words = NULL;
    text_append(&words, "group %d of %d    ", g + 1, o->splits);
    if (o->round_robin)
        text_append(&words, "%d of the %d tiles: tile %d, then every %d-th", count, key_tiles(x),
                    first + 1, o->splits);
    else
        text_append(&words, "keys %lld to %lld, %d tile%s", (long long)key_first(x, first),
                    (long long)key_first(x, last) + key_count(x, last) - 1, count,
                    count == 1 ? "" : "s");
    show_rule(r, words);
    free(words);
}

enum { FIRST = 3, LAST = 2 };

static int count_steps(const struct walk *w, enum step step)
{
    int count = 0;
    for (int n = 0; n < w->step_count; n++)
        count += w->steps[n].step == step;
    return count;
}

/* Is the at-th of many steps of a kind one of those left out?  Where they begin it is said. */
static bool left_out(struct report *r, const struct walk_step *step, const char *what, int at,
                     int count)
{
    char words[96];
    if (count <= FIRST + LAST + 1 || at < FIRST || at >= count - LAST)
        return false;
    snprintf(words, sizeof words, "%d %s left out, from step %d", count - FIRST - LAST, what,
             step->number);
    if (at == FIRST)
        show_rule(r, words);
    return true;
}

void show_groups(struct report *r, const struct walk *w)
{
    int groups = count_steps(w, STEP_GROUP), merges = count_steps(w, STEP_COMBINE);
    int group = 0, merge = 0;
    bool after = false;
    show_rule(r, "the steps inside groups are left out: --step N, -o FILE.csv");
    for (int n = 0; n < w->step_count; n++) {
        const struct walk_step *step = &w->steps[n];
        if (step->step == STEP_GROUP && !left_out(r, step, "groups", group++, groups)) {
            show_group(r, w, group_of(&w->attention, step->tile));
            show_step(r, w, step, false);
        }
        if (step->tile != WALK_AFTER)
            continue;
        if (!after)
            show_tile(r, w, WALK_AFTER);
        after = true;
        if (step->step != STEP_COMBINE || !left_out(r, step, "merges", merge++, merges))
            show_step(r, w, step, false);
    }
}
