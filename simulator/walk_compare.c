/* walk_compare.c: the same walk under another policy or by another algorithm. */
#include <string.h>

#include "simulator/walk.h"

static void set_option(struct scenario *s, enum option o, const char *value)
{
    s->value[o] = (char *)value; /* a view: read, never freed */
    s->given[o] = value != NULL;
}

struct scenario walk_under_policy(const struct scenario *s, const char *policy)
{
    struct scenario other = *s;
    set_option(&other, OPTION_POLICY, policy);
    set_option(&other, OPTION_SET, NULL);
    set_option(&other, OPTION_ORDER, NULL);
    set_option(&other, OPTION_SPECIAL, NULL);
    set_option(&other, OPTION_ARITH, NULL);
    return other;
}

struct scenario walk_by_algorithm(const struct scenario *s, const char *algorithm)
{
    struct scenario other = *s;
    set_option(&other, OPTION_ALGORITHM, algorithm);
    set_option(&other, OPTION_FAULT, NULL);
    for (enum option o = OPTION_SPLITS; o <= OPTION_GROUPING; o++)
        set_option(&other, o, NULL); /* decode's */
    set_option(&other, OPTION_SWITCH, NULL);
    set_option(&other, OPTION_DEVICE, NULL);
    if (strcmp(algorithm, algorithm_info(ALGORITHM_FA2)->name) != 0)
        set_option(&other, OPTION_KV, NULL);
    return other;
}

int walk_compare(struct walk *w, const struct walk *base)
{
    int steps = 0;
    for (int n = 0; n < w->step_count; n++) {
        bool any = false;
        for (int g = w->steps[n].first; g < w->steps[n].first + w->steps[n].count; g++) {
            const struct walk_group *group = &w->groups[g];
            bool known = group->event < trace_count(base->trace);
            const double *other = known ? trace_values(base->trace, group->event) : NULL;
            for (int i = group->first; i < group->first + group->count; i++) {
                struct walk_line *line = &w->lines[i];
                line->changed =
                    other == NULL || strcmp(walk_number(line->value, 0, 16).text,
                                            walk_number(other[line->at], 0, 16).text) != 0;
                any = any || line->changed;
            }
        }
        steps += any;
    }
    return steps;
}
