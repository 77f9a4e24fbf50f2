/* frame_parts.h: what the files of the frame share. */
#ifndef FLASHULP_VISUALIZE_FRAME_PARTS_H
#define FLASHULP_VISUALIZE_FRAME_PARTS_H

#include "visualize/chart.h"
#include "visualize/frame.h"

enum { SIDE_WIDTH = 384 };

/* The scrub bar, drawn from `left` to `right` at y. */
struct track {
    double left, right, y;
};
struct track frame_track(const struct frame_state *f, double width, double height);
void frame_draw_track(const struct scene *s, const struct frame_state *f, const struct track *t,
                      struct drawing *d);
void frame_draw_stage(const struct scene *s, const struct frame_state *f, struct box stage,
                      struct drawing *d);
/* frame_large.c: the picture in double type; widths and heights here are half of what is seen. */
struct box frame_large_stage(double width, double height);
void frame_large(const struct scene *s, const struct frame_state *f, double width, double height,
                 struct drawing *d);

/* Equation, meaning, source, what is pointed at or pinned, parameters. */
void frame_side(const struct scene *s, const struct frame_state *f, struct box b,
                struct drawing *d);
/* Every key, over everything else. */
void frame_help(double width, double height, bool large, struct drawing *d);

#endif
