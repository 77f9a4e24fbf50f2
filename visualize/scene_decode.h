/* scene_decode.h: what the files of the decode scene share. */
#ifndef FLASHULP_VISUALIZE_SCENE_DECODE_H
#define FLASHULP_VISUALIZE_SCENE_DECODE_H

#include "visualize/chart.h"
#include "visualize/decode.h"

/* Time: step g is the g-th group of every GPU, all at once; then the merge, then the last rounding.
   */
struct decode_view {
    struct decode_story story;
    struct scenario scenario;
    char backend[40]; /* "backend=fa2": the scenario's --option */
    int most_groups;
};
enum { WHAT_BEFORE = 1 << 22, WHAT_STORED = 1 << 21, WHAT_EXACT = 1 << 20 };

/* The scenario of a backend that a row of the rounding map shows: its policy. */
bool decode_policy(const struct decode_view *v, enum backend b, struct policy *p);
void decode_draw(const struct scene *s, const struct look *look, struct box stage,
                 struct drawing *d);
void draw_number_line(const struct decode_view *v, const struct look *look, struct box b,
                      struct drawing *d);
void draw_rounding_map(const struct decode_view *v, struct box b, struct drawing *d);

#endif
