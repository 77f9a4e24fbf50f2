/* identify_parts.h: what the files of the search share. */
#ifndef FLASHULP_IDENTIFY_PARTS_H
#define FLASHULP_IDENTIFY_PARTS_H

#include "simulator/audit_parts.h"
#include "simulator/identify.h"

struct base {
    char *name;                    /* "fa2-split@H200", "fa2-printed+fault=tile-max" */
    char *devices;                 /* "H200, H100-SXM" */
    enum kernel kernel;            /* KERNEL_COUNT: a listing */
    const struct change_info *bug; /* a listing that is a bug, or NULL */
};

struct change {
    struct change_info info;
    char *own;          /* the text, where it is no row of alter.def */
    enum kernel kernel; /* KERNEL_COUNT: for any base */
    bool groups;        /* of keys: how many */
};

struct identify_space {
    struct audit *audit;
    int bases, changes;
    struct base *base;
    struct change *change;
};

/* A point of the space, and how near it comes. */
struct candidate {
    int base, changes, change[IDENTIFY_CHANGES];
    bool refused;              /* no such run */
    int64_t matched, elements; /* elements -1: not tried */
    double distance; /* mean over the elements of numbers apart, at most 64; not of a kind: 64 */
};

/* Which part of the outputs is looked at: units first .. first + count - 1, from a row on. */
struct look {
    int64_t first, count, row0;
};

struct search {
    struct identify_space *space;
    int run;         /* whose outputs are looked for */
    const double *O; /* the run's outputs, over the selection */
    enum format format;
    struct look look[2];
    int looks;
    struct candidate *list; /* every one that was tried */
    int count, room;
    double work, allowed; /* products */
    bool stopped;
    audit_progress *progress;
};

/* Are two runs of a kernel alike but for the groups of keys: version, tiles, formats, orders? */
bool same_but_groups(const struct audit_run *x, const struct audit_run *y);

/* The candidate as a run of the audit, ready to simulate; false: there is no such run. */
bool candidate_run(const struct identify_space *space, const struct candidate *c, enum format out,
                   struct audit_run *run);
void candidate_run_free(struct audit_run *run);
char *candidate_name(const struct identify_space *space, const struct candidate *c);

void search_new(struct search *s, struct identify_space *space, int run);
void search_free(struct search *s);
/* Adds a point unless it is there; runs all new ones and returns the place of the first. */
void search_add(struct search *s, const struct candidate *c);
int search_run(struct search *s);
/* Adds c with one more change: every one that its base may have, of the classes 1 << CHANGE_x. */
void search_extend(struct search *s, const struct candidate *c, unsigned classes);
/* The places in the list of the `count` nearest candidates that were tried and have a number of
   changes whose bit is in `sizes`; behind the last: -1. */
enum { UNCHANGED = 1, CHANGED = ~1, ANY_SIZE = ~0 };
void search_nearest(const struct search *s, int count, unsigned sizes, int *place);
bool search_exact(const struct candidate *c);

/* The candidate's outputs over the whole selection, compared; what is left over, explained. */
bool identity_of(const struct search *s, const struct candidate *c, struct identity *to,
                 struct message *why);
void identity_free(struct identity *i);
/* Every bit, or what is left is explained. */
bool identity_whole(const struct identity *i);

/* Outputs of a run where the look says, at their places in the selection; `open`: before OUT. */
bool look_outputs(const struct audit *a, const struct audit_run *run, struct look look, bool open,
                  double *O, struct message *why);
struct look look_whole(const struct audit *a);

#endif
