/* splits_workload.c: a workload's decode steps, each planned on every device. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/splits_study.h"

/* One message: how many of its steps were alike. */
struct message_tally {
    int64_t pair[STUDY_DEVICES][STUDY_DEVICES], all, changes[STUDY_DEVICES];
};

static void count_step(struct message_tally *m, const struct split_plan *plan, int devices,
                       int64_t length)
{
    bool all = true;
    for (int a = 0; a < devices; a++)
        for (int b = a + 1; b < devices; b++) {
            bool alike = split_alike(&plan[a], &plan[b], length);
            m->pair[a][b] += alike;
            all = all && alike;
        }
    m->all += all;
}

static void add_message(struct alike_count *c, int64_t steps, const struct decode_range *range)
{
    c->steps += steps;
    c->messages += steps > 0;
    c->whole += steps == range->tokens;
    if (steps > 0)
        c->only = c->messages == 1 ? range : NULL;
}

struct steps {
    enum split_rule rule;
    const char *version;
    struct launch launch;
    const int *sms;
    int devices;
};

static void note_change(struct workload_tally *t, const struct grouping_change *c)
{
    bool doubles = (t->change_count & (t->change_count - 1)) == 0;
    if (doubles) {
        size_t room = t->change_count > 0 ? 2 * (size_t)t->change_count : 1;
        t->change = realloc(t->change, room * sizeof *t->change);
        if (t->change == NULL)
            abort();
    }
    t->change[t->change_count++] = *c;
}

/* The device's groups at this step of the message differ from those of the step before. */
static void changed(struct workload_tally *t, struct message_tally *m,
                    const struct grouping_change *now, int64_t blocks_before)
{
    struct grouping_change first = *now;
    first.length = now->range->depth;
    first.blocks = blocks_before;
    if (m->changes[now->device]++ == 0)
        note_change(t, &first);
    note_change(t, now);
    t->changes[now->device]++;
}

static bool tally_message(const struct steps *s, const struct decode_range *range,
                          struct workload_tally *t, struct message_tally *m, struct message *why)
{
    struct split_plan now[STUDY_DEVICES], before[STUDY_DEVICES];
    struct launch l = s->launch;
    memset(m, 0, sizeof *m);
    for (int64_t step = 0; step < range->tokens; step++) {
        bool undecided = false;
        l.longest = range->depth + step;
        for (int d = 0; d < s->devices; d++) {
            l.sms = s->sms[d];
            if (!split_plan(s->rule, s->version, &l, &now[d], why))
                return false;
            undecided = undecided || now[d].undecided;
            struct grouping_change change = {range, d, l.longest, split_blocks(&now[d], l.longest)};
            if (step > 0 && !split_kept(&before[d], l.longest - 1, &now[d], l.longest))
                changed(t, m, &change, split_blocks(&before[d], l.longest - 1));
        }
        t->undecided += undecided;
        count_step(m, now, s->devices, l.longest);
        memcpy(before, now, sizeof before);
    }
    return true;
}

bool split_workload(enum workload w, enum split_rule rule, const char *version,
                    const struct launch *l, const int *sms, int devices,
                    struct workload_tally *tally, struct message *why)
{
    struct steps s = {rule, version, *l, sms, devices};
    assert(0 < devices && devices <= STUDY_DEVICES);
    *tally = (struct workload_tally){0};
    for (int i = 0; i < decode_range_count; i++) {
        const struct decode_range *range = &decode_ranges[i];
        struct message_tally m;
        if (range->workload != w)
            continue;
        if (!tally_message(&s, range, tally, &m, why))
            return false;
        tally->messages++;
        tally->steps += range->tokens;
        for (int a = 0; a < devices; a++)
            for (int b = a + 1; b < devices; b++)
                add_message(&tally->pair[a][b], m.pair[a][b], range);
        add_message(&tally->all, m.all, range);
    }
    return true;
}

void workload_tally_free(struct workload_tally *tally)
{
    free(tally->change);
    *tally = (struct workload_tally){0};
}
