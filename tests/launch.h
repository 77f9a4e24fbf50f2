/* launch.h: launches and their plans, for the tests of the split rules. */
#ifndef FLASHULP_TESTS_LAUNCH_H
#define FLASHULP_TESTS_LAUNCH_H

#include "simulator/splits.h"

/* One query a sequence, all sequences of one length. */
static inline struct launch launch_of(int64_t batch, int64_t heads_q, int64_t heads_kv,
                                      int64_t length, int64_t dim, int sms)
{
    return (struct launch){.batch = batch,
                           .heads_q = heads_q,
                           .heads_kv = heads_kv,
                           .len_q = 1,
                           .dim = dim,
                           .longest = length,
                           .shortest = -1,
                           .sms = sms};
}

/* The plan; a refusal fails the test with its sentence. */
static inline struct split_plan plan_of(enum split_rule rule, const char *version,
                                        const struct launch *l)
{
    struct split_plan p;
    struct message why;
    if (!split_plan(rule, version, l, &p, &why))
        fail_msg("%s: %s", split_rule_info(rule)->name, why.text);
    return p;
}

#endif
