/* walk.h: one row of one run as a story: numbered steps, each with the numbers it made, the exact
   ones and the drift.

   Made from a trace with values and an exact twin.  Consecutive events of one step are one numbered
   step; each array in it is a group of lines.  What changes no bit of the row is left out: an array
   updated in place that stayed as it was, the factors a and b alone, scores that were given.

   With --do the story is the backward pass of that query: its D, then what it and each key tile
   give one another, its dQ; of dK and dV the rows of the keys that it sees, to which other queries
   add. */
#ifndef FLASHULP_WALK_H
#define FLASHULP_WALK_H

#include "simulator/report.h"
#include "simulator/scenario_gradient.h"

enum walk_drift { WALK_DRIFT, WALK_NO_DRIFT /* exact is not finite */, WALK_OTHER_KIND };

struct walk_line {
    int col;                       /* key of the tile, or column of the output */
    int64_t key;                   /* of dK and dV: whose row it is; else -1 */
    size_t at;                     /* the number's place in its event */
    double value, exact[2], drift; /* drift: (value - exact) in ulps of w->format */
    enum walk_drift kind;
    const char *figure; /* what the article printed, or NULL */
    bool changed;       /* prints otherwise under policy fp32; false until walk_compare */
};

/* One array of a step: lines[first .. first + count). */
struct walk_group {
    size_t event;
    enum tensor_name tensor;
    int first, count;
    char equation[40];
};

struct walk_step {
    int number; /* from 1 */
    enum step step;
    int tile;         /* key tile, WALK_BEFORE or WALK_AFTER */
    int first, count; /* groups */
};
enum { WALK_AFTER = -1, WALK_BEFORE = -2 };

struct walk {
    struct scenario_input input;
    struct simulation simulation;
    struct selection selection;
    struct trace *trace;
    struct head head;
    struct attention attention; /* tiles only */
    int64_t row;                /* of the head */
    int query_tile, tile_row;
    bool backward;
    struct output_gradient given; /* backward: dO */
    const char *given_as;         /* --do's word, the scenario's */
    size_t first, ends; /* backward: events are told from there; what comes after the tiles */
    enum format format; /* of drift: OUT's, backward GRADIENT's */
    struct walk_line *lines;
    struct walk_group *groups;
    struct walk_step *steps;
    int line_count, group_count, step_count;
    int line_room, group_room, step_room;
    int divisions; /* how often the row was divided by a sum of weights */
};

/* Runs the scenario's first selected row (row 0 of head 0 when none is) and tells its story. */
bool walk_new(struct walk *w, const struct scenario *s, struct message *why);
void walk_free(struct walk *w);
/* The same scenario with other values of some options: a view of s, not to be freed. */
struct scenario walk_under_policy(const struct scenario *s, const char *policy);
struct scenario walk_by_algorithm(const struct scenario *s, const char *algorithm);

/* Marks the lines that print otherwise in `base`, the same walk under another policy; how many
   steps have one. */
int walk_compare(struct walk *w, const struct walk *base);

/* The row's values in the array's last event before `event` (O and O~ are one array), and how many
   are there; NULL when there is none. */
const double *walk_before(const struct walk *w, size_t event, enum tensor_name t, int *cols);
/* The walk is about this event: its rows first .. first + count - 1 are, one but for dK and dV. */
bool walk_concerns(const struct walk *w, size_t event, int *first, int *count);
/* One number of them, or what the array starts with; for w = a l that of l. */
double walk_earlier(const struct walk *w, size_t event, enum tensor_name t, int col);
/* The row's last values of an array; and the exact ones. */
const double *walk_last(const struct walk *w, enum tensor_name t, const double (**exact)[2]);
/* Which columns of an event's row hold something: [lo, hi). */
void walk_seen(const struct walk *w, size_t event, int *lo, int *hi);
/* The same of the array's last event before `event`; [0, *hi) where there is none. */
void walk_operand_seen(const struct walk *w, size_t event, enum tensor_name t, int *lo, int *hi);
const char *walk_label(enum step step);

/* At most 8 significant digits, as many as fit the width; fewer where they say it all. */
struct number_text walk_number(double high, double low, int width);
/* "+0.31", "0", "!" for another kind, "" where there is none. */
struct number_text walk_drift_text(const struct walk_line *line);
/* The value at as many decimals as the figure has, or one more where that one shows a tie. */
struct number_text walk_at_digits(double value, const char *figure);
/* The step's equation in the letters of one row: x or s for a score, p for its weight. */
void walk_equation(const struct walk *w, size_t event, char *text, size_t room);
/* The right-hand side of the equation with the numbers that went in; malloc'ed. */
char *walk_substituted(const struct walk *w, size_t event, const struct walk_line *line);
char *walk_substituted_backward(const struct walk *w, size_t event, const struct walk_line *line);
/* steps.def's equation of the event. */
const char *walk_tile_equation(const struct walk *w, const struct event *e);

#endif
