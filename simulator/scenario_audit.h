/* scenario_audit.h: an audit as pictures show it: a scenario's own run and others beside it, output
   by output: what each stored, what every site's rounding moved it by, and the map of the runs.

   One run is the scenario's own: its listing or kernel with its policy.  Others are a capture's
   measured outputs, and --runs, or else the kernels and GPUs that are usual for such a problem, as far as they take it. */
#ifndef FLASHULP_SCENARIO_AUDIT_H
#define FLASHULP_SCENARIO_AUDIT_H

#include "simulator/map.h"
#include "simulator/scenario.h"

enum { AUDITED_OUTPUTS = 1 << 14 };

struct audited_run {
    char name[64];               /* "fa2:gpu-bf16", "xqa@H200" */
    char kernel[32], device[32]; /* "xqa", "H200"; a listing's device is "" */
    char groups[32];             /* "54 x 512", or "" */
    double *stored;              /* [outputs] */
    /* In ulps of the run's format at the exact value, in situ; NULL: the site made no error.  Of
       OUT: the store.  NaN: not attributed. */
    double *moved[SITE_COUNT];
    double *listing, *interaction; /* of the unrounded run; what no site alone explains */
    enum format format;
    bool stops; /* an error was not finite; from this site on nothing is known */
    enum site stops_at;
};

struct audited {
    struct selection selection; /* outputs = rows x dims */
    int64_t outputs;
    double (*exact)[2];
    int runs, own; /* own: the scenario's own run */
    struct audited_run run[MAP_MOST];
    int left_out;        /* usual runs that do not take the problem */
    char left_why[240];  /* the first of them, in a sentence */
    bool mapped, before; /* two runs or more; also of the values before OUT: */
    struct map map[2];
    bool cannot_tell[MAP_MOST][MAP_MOST];
};

/* Without --heads and --batch: the scenario of the first head and all that share its keys.  text is
   the caller's, to be kept as long. */
struct scenario_heads {
    char text[48];
};
struct scenario scenario_first_group(const struct scenario *s, const struct problem *p,
                                     struct scenario_heads *text);

/* Of the selected rows; without --heads and --batch, of the first head with all that share its keys.
   False: nothing is left to be freed. */
bool scenario_audit(const struct scenario *s, struct audited *a, struct message *why);
void audited_free(struct audited *a);

#endif
