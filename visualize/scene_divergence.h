/* scene_divergence.h: what the files of the divergence scene share.

   Three pages about one problem: WHERE the scene's own run is off, and how one of its outputs came
   to be; which SITES moved that output, in every run; the MAP of the runs.  Time is that of the
   output's row on WHERE (softmax.h, one lane); on the others it brings up part after part. */
#ifndef FLASHULP_VISUALIZE_SCENE_DIVERGENCE_H
#define FLASHULP_VISUALIZE_SCENE_DIVERGENCE_H

#include "simulator/scenario_audit.h"
#include "visualize/scene_softmax.h"

enum divergence_page { DIVERGENCE_WHERE, DIVERGENCE_SITES, DIVERGENCE_MAP, DIVERGENCE_PAGES };
enum { DIVERGENCE_SIDE = 512 }; /* outputs a side */

/* What a change of page leaves as it is: the scenes that are made of each other share it. */
struct divergence_core {
    int users;
    struct scenario scenario;
    struct trace *trace;
    bool recorded; /* nothing can be run beside it */
    uint32_t batch, first_head;
    int heads, per_head; /* of the trace; rows = heads x per_head */
    int64_t heads_q;     /* of the problem */
    bool grouped;        /* a head's rows are the query heads that share its keys */
    int rows, cols;
    double *stored, *drift; /* [rows][cols]; drift in ulps, NaN: of another kind */
    double (*exact)[2];
    int *order; /* outputs, the largest drift first */
    enum format format;
    double largest;
    bool audited_is;
    struct audited audited;
};

/* Rows of page SITES, in the order of computing. */
enum { SITE_ROWS_MOST = 12, ROW_OTHERS = -1, ROW_REST = -2, ROW_TOTAL = -3 };
struct site_rows {
    int count, row[SITE_ROWS_MOST]; /* a site, or ROW_... */
};

struct divergence_view {
    struct divergence_core *core;
    enum divergence_page page;
    bool before; /* the map is of the values before OUT */
    /* The output that is told, and of it: */
    int chosen;
    struct softmax_view element; /* its row; the lane's trace is the core's */
    struct site_rows rows;
    double mean[MAP_MOST][SITE_ROWS_MOST]; /* size of what a row moved, over all outputs */
};

/* From a scenario, or a recorded run, which it takes over; one user.  NULL with a sentence. */
struct divergence_core *divergence_core_new(const struct scenario *s, struct trace *t,
                                            struct message *why);
/* One user less; without any it is gone.  NULL: nothing. */
void divergence_core_leave(struct divergence_core *c);
/* The row of an output becomes v->element. */
bool divergence_tell(struct divergence_view *v, int output, struct message *why);
void divergence_forget(struct divergence_view *v);
/* The output that is told: the pinned one, or the worst. */
void divergence_choose(struct divergence_view *v, int pinned);
/* "O[3,17]", or "O[head 3, query 0, 17]". */
struct words divergence_name(const struct divergence_view *v, int output);
/* Where the audit has the output, or -1. */
int64_t divergence_audited(const struct divergence_view *v, int output);

/* A run on pages SITES and MAP: letters leave out E; ink and marker tell families of kernels. */
struct run_style divergence_style(const struct audited *a, int run);
void divergence_mark(const struct audited *a, int run, double x, double y, double size,
                     struct drawing *d);
/* FlashInfer's name stands for two kernels. */
const char *divergence_family(const struct audited_run *run);

const char *divergence_row_name(int row);
/* What a row moved output i by, in ulps; NaN: not known. */
double divergence_moved(const struct divergence_view *v, const struct site_rows *rows, int run,
                        int row, int64_t i);
/* Fills v->rows and v->mean, from the audit. */
void divergence_tell_sites(struct divergence_view *v);

/* Steps of page MAP. */
enum map_step { MAP_RUNS, MAP_CENTRE, MAP_EXACT, MAP_GPUS, MAP_BACKENDS, MAP_STEPS };
extern const struct map_step_words {
    const char *step, *meaning;
} map_steps[MAP_STEPS];
const struct map *divergence_map(const struct divergence_view *v);

unsigned divergence_marks(const struct scene *s, int moment);
void divergence_words(const struct scene *s, int moment, struct moment_words *w);
void divergence_describe(const struct scene *s, double time, char **text);
bool divergence_inspect(const struct scene *s, int what, int time, struct inspection *i);

void divergence_draw_heat(const struct divergence_view *v, struct box b, struct drawing *d);
void divergence_draw_where(const struct divergence_view *v, const struct look *look,
                           struct box stage, struct drawing *d);
void divergence_draw_sites(const struct divergence_view *v, const struct look *look,
                           struct box stage, struct drawing *d);
void divergence_draw_map(const struct divergence_view *v, const struct look *look, struct box stage,
                         struct drawing *d);

#endif
