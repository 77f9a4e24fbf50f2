/* identify.h: which run gives a measured output's bits, and what turns one output into another.

   A candidate is a run's name: a base (a listing, or a kernel on a device) and a set of changes
   (alter.h; the kernel's own switches; how many groups).  The search goes from bases to one change
   to two, looks at a few heads first and at the whole selection only where those are met; it stops
   at the first stage that gives every bit.  Devices on which a kernel does the same are one base.
   What is left over counts as explained where the model's value before OUT lies within the special
   functions' bound of the boundary between the two numbers. */
#ifndef FLASHULP_IDENTIFY_H
#define FLASHULP_IDENTIFY_H

#include "simulator/alter.h"
#include "simulator/audit.h"

enum { IDENTIFY_MOST = 64, IDENTIFY_CHANGES = 3 };

struct identity {
    char *name;    /* as --runs takes it */
    char *what;    /* the kernel's or the listing's name */
    char *devices; /* all that give this run: "H100-SXM, H200"; "" for listings */
    char *groups;  /* "54 x 512", or "" */
    int splits;    /* 0: none */
    int64_t matched, elements;
    int64_t left, explained; /* elements that do not match; of them, by the special functions */
    int base, changes, change[IDENTIFY_CHANGES]; /* places in the space, ascending */
};

struct identification {
    int run;    /* of the audit */
    int count;  /* the nearest first; those that give every bit come first of all */
    int others; /* more that give every bit */
    struct identity best[IDENTIFY_MOST];
    bool found; /* best[0] gives every bit, or what is left is explained */
    int64_t tried;
    bool stopped; /* the work allowed was used up */
    enum audit_verdict verdict;
    /* The bug: a change of best[0], or its base; or, where a kernel as it is gives an output outside
       the bound, the change that brings it inside. */
    const struct change_info *bug;
};

struct explanation {
    int a, b; /* runs of the audit */
    int64_t differ;
    bool found;
    struct identity from, to; /* of a and of b, where found: what differs between the two turns one
                                 into the other */
    bool other_base;          /* the kernel's device or version differs, or the kernel */
    bool groups_only;         /* ... and that in nothing but the groups of keys */
    int changes, change[2 * IDENTIFY_CHANGES]; /* that only one of them has */
    int64_t tried;
    bool stopped;
    enum audit_verdict verdict;
};

struct identify_space;
struct identify_space *identify_space_new(struct audit *a, struct message *why);
void identify_space_free(struct identify_space *space);
const struct change_info *identify_change(const struct identify_space *space, int change);

/* Of a judged audit.  The work is limited by a number of products, not by time: the result is the
   same on every machine. */
bool identify(struct identify_space *space, int run, struct identification *found,
              audit_progress *progress, struct message *why);
void identification_free(struct identification *found);
/* The smallest set of changes that turns the bits of x's run into those of y's. */
bool identify_explain(struct identify_space *space, const struct identification *x,
                      const struct identification *y, struct explanation *e,
                      audit_progress *progress, struct message *why);
void explanation_free(struct explanation *e);

#endif
