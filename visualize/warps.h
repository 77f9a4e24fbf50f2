/* warps.h: the story of the warps scene: one problem, its tiles shared among warps by keys and by
   rows; what is counted and what is timed of each. */
#ifndef FLASHULP_VISUALIZE_WARPS_H
#define FLASHULP_VISUALIZE_WARPS_H

#include "simulator/exchange_time.h"
#include "visualize/chart.h"

enum { WARPS_PANES = 2 };

struct warps_view {
    struct scenario scenario;
    struct scenario_input input;
    struct head head;
    struct choices choices;
    struct device_record device;
    struct exchange exchange[WARPS_PANES];
    struct exchange_time timed[WARPS_PANES];
    int tiles; /* timed */
};

extern const enum algorithm warps_listings[WARPS_PANES];

/* Of a pane's warps together. */
int64_t warps_partial(const struct exchange *e, bool reads);
int64_t warps_waits(const struct exchange *e); /* of the warp that has most */
/* The pane's clock at a time of the scene. */
double warps_clock(const struct warps_view *v, int pane, double time);

void warps_draw(const struct scene *scene, const struct look *look, struct box stage,
                struct drawing *d);

#endif
