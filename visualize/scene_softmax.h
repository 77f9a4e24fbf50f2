/* scene_softmax.h: what the files of the softmax scene share. */
#ifndef FLASHULP_VISUALIZE_SCENE_SOFTMAX_H
#define FLASHULP_VISUALIZE_SCENE_SOFTMAX_H

#include "visualize/chart.h"
#include "visualize/softmax.h"

struct softmax_view {
    struct softmax_story story;
    char ulps[16]; /* the format drift is counted in */
    enum format format;
    struct scenario scenario; /* a view of the program's, some values ours */
};

/* What a number on the stage is, as shape.what: lane 0, 1, or 2 for the exact one. */
enum { WHAT_LANE = 1 << 24, WHAT_WEIGHT = 1 << 12, WHAT_SCORE = 1 << 23 };
static inline int what_slot(int lane, enum slot s)
{
    return (lane + 1) * WHAT_LANE + (int)s;
}
static inline int what_weight(int lane, int key)
{
    return (lane + 1) * WHAT_LANE + WHAT_WEIGHT + key;
}

/* Where the lanes stand at a time: beats done, the beat under way or, at a whole time, just done
   (-1: the lane waits), and how far it is. */
struct instant {
    int done[2], beat[2], last[2];
    double share;
};
struct instant instant_at(const struct softmax_story *s, double time);
/* The lane whose exact twin is shown as E: the last one. */
int exact_lane(const struct softmax_story *s);
/* What the exact recurrence holds where the lane stands; O~ and O, whichever the lane has. */
struct held exact_held(const struct softmax_story *s, const int done[2], enum slot slot);
struct held softmax_held(const struct softmax_story *s, const int done[2], int lane,
                         enum slot slot);
/* What a run's slot holds, or held last: O~ becomes O by its division. */
struct held softmax_last(const struct softmax_story *s, const int done[2], int lane,
                         enum slot slot);
/* Tile and column of a key; false: the row has not so many. */
bool softmax_key(const struct lane *l, int key, int *tile, int *col);

/* Where things are, in units. */
struct softmax_places {
    struct box keys;  /* columns of the keys */
    int first, count; /* keys shown */
    double cells, cell_width;
    double lane_top, lane_height;
    bool numbers; /* keys are wide enough for numbers */
};
/* x and width of key `first + n`. */
struct box softmax_column(const struct softmax_places *p, int n);
/* The tile that lane l works on, or is about to. */
int softmax_tile_at_hand(const struct lane *l, const struct instant *now, int lane);
void softmax_draw_scores(const struct softmax_view *v, const struct softmax_places *p,
                         const struct instant *now, struct drawing *d);

unsigned softmax_marks(const struct scene *s, int moment);
void softmax_words(const struct scene *s, int moment, struct moment_words *w);
void softmax_describe(const struct scene *s, double time, char **text);
bool softmax_inspect(const struct scene *s, int what, int time, struct inspection *i);
void softmax_draw(const struct scene *s, const struct look *look, struct box stage,
                  struct drawing *d);
void draw_drift(const struct softmax_view *v, const struct look *look, struct box b,
                struct drawing *d);

#endif
