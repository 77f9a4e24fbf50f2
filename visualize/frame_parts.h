/* frame_parts.h: what the files of the frame share. */
#ifndef FLASHULP_VISUALIZE_FRAME_PARTS_H
#define FLASHULP_VISUALIZE_FRAME_PARTS_H

#include "visualize/chart.h"
#include "visualize/frame.h"

enum { SIDE_WIDTH = 384 };

/* Equation, meaning, source, what is pointed at or pinned, parameters. */
void frame_side(const struct scene *s, const struct frame_state *f, struct box b,
                struct drawing *d);
/* Every key, over everything else. */
void frame_help(double width, double height, struct drawing *d);

#endif
