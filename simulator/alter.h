/* alter.h: any listing or kernel model, changed in one known way: alter.def as data.

   What a run does is verb calls, so most alterations rewrite calls as they are performed and hold
   for every listing and kernel alike; the others change the problem in front of the run or its
   outputs behind it.  One that changes nothing in a problem is refused with the reason. */
#ifndef FLASHULP_ALTER_H
#define FLASHULP_ALTER_H

#include "simulator/simulate.h"

enum alteration {
#define ALTERATION(id, ...) ALTERATION_##id,
#include "simulator/alter.def"
#undef ALTERATION
    ALTERATION_COUNT
};

enum change_class { CHANGE_SCHEDULE, CHANGE_ARITHMETIC, CHANGE_INPUT, CHANGE_BUG };

/* A row of alter.def: `text` is what a run's name takes: "alter=last-key", "kv=descending". */
struct change_info {
    const char *text, *meaning, *bug_case;
    enum change_class class;
};
const struct change_info *change_info(int n); /* alterations first, then CHANGE rows; NULL behind */
const struct change_info *base_info(int n);   /* BASE rows; NULL behind the last */
const char *change_class_name(enum change_class c); /* "schedule" */

const char *alteration_name(enum alteration a);
const char *alteration_meaning(enum alteration a);
bool alteration_from_name(const char *name, enum alteration *a, struct message *why);

/* The problem under s->alterations, views of p's tensors but for what they change. */
bool alter_problem(const struct problem *p, const struct simulation *s, struct problem *altered,
                   struct message *why);
void alter_problem_free(struct problem *altered);
/* simulate() where s->alterations is not 0. */
bool simulate_altered(const struct problem *p, const struct simulation *s, struct result *result,
                      struct message *why);
/* A call about to be performed in a run that has alterations: changed in place; false: it has been
   performed, or is left out. */
bool alter_call(struct run *r, struct call *c);

#endif
