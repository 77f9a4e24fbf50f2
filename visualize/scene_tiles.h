/* scene_tiles.h: what the files of the tiles scene share. */
#ifndef FLASHULP_VISUALIZE_SCENE_TILES_H
#define FLASHULP_VISUALIZE_SCENE_TILES_H

#include "visualize/chart.h"
#include "visualize/launch.h"

enum { TILES_PANES = 2 };

struct tiles_view {
    struct scenario scenario;
    struct launch_words launch;
    struct grid grid[TILES_PANES];
    int rows, cols;
    int *when[TILES_PANES]; /* [rows][cols]: the step that does the cell, from 1; 0: skipped */
    int last[TILES_PANES];  /* steps of the pane */
};

/* What a pane has done by a time. */
struct tiles_tally {
    int done, of, masked, plain;
    double matmul, special, bytes;
};
struct tiles_tally tiles_done(const struct tiles_view *v, int pane, double time);
void tiles_draw(const struct scene *s, const struct look *look, struct box stage,
                struct drawing *d);

#endif
