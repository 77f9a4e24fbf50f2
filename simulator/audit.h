/* audit.h: several runs of one problem, models and measured outputs, against the certified result.

   A model is named as `fa2:gpu-bf16` (listing and policy), `fa2-split@H200` (kernel and device) or
   `H200` (a device alone: decode's listing, with the groups FA2's split rule gives there), each
   with +NAME=VALUE for more; a measured output is `o.NAME` of the capture, `file:O.npy` or
   `file:FOLDER` of a call that FlashInfer dumped.  All
   runs see the same Q, K, V.  audit_new reads and runs, audit_judge judges, audit_attribute says
   which rounding moved what.  Nothing here ranks runs: it says which outputs are correct
   roundings. */
#ifndef FLASHULP_AUDIT_H
#define FLASHULP_AUDIT_H

#include "reference/bounds.h"
#include "reference/truth.h"
#include "simulator/audit_gate.h"
#include "simulator/audit_lse.h"
#include "simulator/map.h"
#include "simulator/scenario.h"

enum { AUDIT_MOST_RUNS = 16, AUDIT_FEW_ROWS = 20 };

/* Sums over the elements that were attributed, in ulps of the run's format at the true value. */
struct audit_sites {
    int64_t elements, rows; /* attributed */
    int64_t explored;       /* of them with counterfactuals */
    uint64_t met;           /* sites that made an error: bit 1 << site, OUT apart */
    double in_situ[SITE_COUNT], alone[SITE_COUNT], without[SITE_COUNT];
    double absolute[SITE_COUNT]; /* of |in situ| */
    double interaction, absolute_interaction;
    double listing; /* error of the run that never rounds: not 0 where it is no attention */
    bool stops;
    enum site stops_at;
};

/* An output that is not the correct rounding, explained. */
struct audit_flip {
    int64_t element; /* of the selection */
    double stored, before, correct;
    struct boundary boundary;
    double error_before;        /* in ulps */
    double listing;             /* of it, what the listing is off without any rounding */
    double in_situ[SITE_COUNT]; /* in ulps */
    uint64_t restores;          /* sites without which, alone, the output is correct */
    bool explored;              /* counterfactuals were run */
};
enum { AUDIT_MOST_FLIPS = 8 };

struct audit_run {
    char *name;
    bool measured;
    char *what;           /* a model: "decode" or the kernel's name; measured: where it lies */
    char *groups;         /* "54 x 512", or "" */
    char *remarks;        /* lines, or "" */
    struct tensor whole;  /* a measured output as it lies, (B, Hq, Nq, D); owns its data */
    struct gate gate;     /* of a measured output outside its bound */
    struct audit_lse lse; /* measured beside it, or none */
    struct simulation simulation;
    struct problem problem; /* what a model runs on: the audit's own, or padded */
    bool padded;
    enum format format; /* of its outputs */
    int format_place;   /* among the audit's formats */
    double *O, *before; /* [rows][dims] of the selection; before: of models only */
    bool has_digest;
    uint64_t digest;
    /* judged */
    int64_t elements, rounded, nan, infinite, of_kind; /* nan, infinite: of the outputs */
    int64_t first_of_kind;                             /* element of the selection, or -1 */
    int64_t outside, first_outside, vacuous;
    bool bounded;                       /* a bound holds for it; else: */
    const char *unbounded;              /* why none is known */
    double max_ulp, sum_ulp, max_ratio; /* max_ratio: of err / B before the last rounding's share */
    double max_bound;                   /* the largest |got - O| allowed, in ulps */
    int64_t worst;
    int64_t rows_averaged;
    double z; /* over them; with AUDIT_FEW_ROWS or more */
    double max_roundoffs;
    int64_t flips; /* models: stored is not the correct rounding */
    struct audit_sites sites;
    int flip_count;
    struct audit_flip flip[AUDIT_MOST_FLIPS];
};

/* Called of every element that is attributed, element i of the selection being `at` of x; from
   several threads, never twice of a run's element. */
struct attribution;
typedef void audit_watch(void *with, const struct audit_run *run, const struct attribution *x,
                         int64_t at, int64_t i);

struct audit {
    const struct scenario *scenario;
    struct scenario_input in;
    bool in_example; /* the problem is a named example made for the purpose */
    char *defaults;  /* of a capture without metadata: what was taken instead, or "" */
    struct selection selection;
    int64_t columns; /* = selection.dims */
    int runs;
    struct audit_run *run;
    int formats;
    enum format format[AUDIT_MOST_RUNS];
    struct truth *truth; /* [rows][dims] */
    double *rounded;     /* [format][rows][dims] */
    double *A;           /* [rows][dims]: sum pi |v| */
    int threads;
    audit_watch *watch; /* or NULL */
    void *watching;
};

enum audit_verdict {
#define AUDIT_VERDICT(id, name, meaning) AUDIT_##id,
#include "simulator/verdicts.def"
#undef AUDIT_VERDICT
    AUDIT_VERDICTS
};

/* done of total: called now and then from the calling thread; may be NULL. */
typedef void audit_progress(int64_t done, int64_t total);

bool audit_new(struct audit *a, const struct scenario *s, struct message *why);
bool audit_judge(struct audit *a, audit_progress *progress, struct message *why);
/* Models only.  `groups`: of how many KV heads (with all their query heads), spread evenly over the
   selected ones; -1: as many as `seconds` of one core allow.  Counterfactuals where an output is
   not the correct rounding, while they fit in as much time again. */
bool audit_attribute(struct audit *a, int64_t groups, double seconds, audit_progress *progress,
                     struct message *why);
void audit_free(struct audit *a);

enum audit_verdict audit_run_verdict(const struct audit_run *run);
/* Its outputs are inside, its LSE is not. */
bool audit_only_lse(const struct audit_run *run);
enum audit_verdict audit_verdict(const struct audit *a);
const char *audit_verdict_name(enum audit_verdict v); /* "LEGAL" */
const char *audit_verdict_meaning(enum audit_verdict v);

static inline int64_t audit_elements(const struct audit *a)
{
    return a->selection.rows * a->selection.dims;
}
static inline double audit_correct(const struct audit *a, const struct audit_run *run, int64_t i)
{
    return a->rounded[run->format_place * audit_elements(a) + i];
}
/* Where two models part: a sentence without its full stop, malloc'ed; NULL: one is no model, or
   memory ran out. */
char *audit_divergence(const struct audit *a, int x, int y);

/* The map of all runs' outputs; and, where all are models, of their values before OUT, since
   outputs less than an ulp apart look farther apart once they are rounded. */
struct audit_range {
    double low[MAP_MOST][MAP_MOST], high[MAP_MOST][MAP_MOST];
    double exact_low[MAP_MOST], exact_high[MAP_MOST];
};
/* Kernels have switches whose value on a GPU is not established, and how a GPU computes exp is not
   either: each run is made under every setting of its own, at most AUDIT_MOST_SETTINGS in all, or
   under each switch's values alone.  Two runs of one kernel have the same setting. */
enum { AUDIT_MOST_SETTINGS = 40 };
struct audit_map {
    struct map stored, before;
    bool has_before;
    struct audit_range range[2]; /* of the stored values; of those before OUT */
    int settings[MAP_MOST];      /* of a run, its own included; 1: nothing is open, or not tried */
    char open[MAP_MOST][96];     /* "sum-update, division, exp" */
    int points;                  /* the other settings in the planes */
    int point_run[AUDIT_MOST_SETTINGS];
    double point[2][AUDIT_MOST_SETTINGS][2];
    bool not_tried; /* too much work */
    /* Two runs are alike, but only as far as the models go: what is not established might tell them
       apart. */
    bool cannot_tell[MAP_MOST][MAP_MOST];
};
/* --centre is read here.  There are at least two runs.  audit_points leaves out the other settings:
   it runs nothing. */
bool audit_points(struct audit *a, struct audit_map *m, struct message *why);
bool audit_map(struct audit *a, struct audit_map *m, struct message *why);

/* "[0,3,0,17]": where element i of the selection lies in O. */
struct audit_place {
    char text[96];
};
struct audit_place audit_place(const struct audit *a, int64_t i);

/* Two runs, element by element; any NaN equals any NaN. */
struct audit_pair {
    int64_t differ;
    bool comparable; /* in one format, and none differs in kind: */
    int64_t max_steps;
};
struct audit_pair audit_pair(const struct audit *a, int x, int y);

/* The model among the runs whose selected outputs are all those of measured run n, or -1. */
int audit_reproduced(const struct audit *a, int n);

/* Is the whole selection one number: every run's outputs alike, and the true values too? */
bool audit_single(const struct audit *a);

#endif
