/* timeline.h: the warps of a block as lanes over time: what each works at, where it waits. */
#ifndef FLASHULP_VISUALIZE_TIMELINE_H
#define FLASHULP_VISUALIZE_TIMELINE_H

#include "simulator/warp_time.h"
#include "visualize/chart.h"

struct timeline {
    const struct warp_times *times;
    const struct warp_task *task;
    int warps, run; /* run: whose ink (chart.h) */
    double now;     /* in clocks: what comes later is not drawn */
    double end;     /* of the axis */
};
/* Lanes from the box's top; "w3" to their left, within it. */
void draw_timeline(const struct timeline *t, struct box b, struct drawing *d);
/* Where that time is in a timeline in that box. */
double timeline_x(const struct timeline *t, struct box b, double clocks);
/* What the looks mean, in one line (narrow: in two), its base line at y; returns the last one's. */
double draw_timeline_legend(int run, double x, double y, bool narrow, struct drawing *d);

#endif
