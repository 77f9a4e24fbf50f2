/* scene_machine.h: what the files of the machine scene share. */
#ifndef FLASHULP_VISUALIZE_SCENE_MACHINE_H
#define FLASHULP_VISUALIZE_SCENE_MACHINE_H

#include "visualize/chart.h"
#include "visualize/launch.h"

enum { MACHINE_PANES = 2, MACHINE_SLICES = 240, MACHINE_STEPS = 60, MACHINE_SMS = 512 };

struct machine_pane {
    enum plan_kernel kernel;
    struct grid grid;
    struct schedule schedule;
    /* [sms][MACHINE_SLICES]: share of the slice in which cells are computed, summed over slots; the
       wave of the block seen last, odd or even. */
    float *held;
    unsigned char *wave;
};

struct machine_view {
    struct scenario scenario;
    struct launch_words launch;
    int per_sm;
    double span; /* of the slower pane */
    struct machine_pane pane[MACHINE_PANES];
    struct machine_pane *filling;
};

/* Share of the SMs that work in a slice of time. */
double machine_busy(const struct machine_pane *p, int sms, int slice);
/* "fa2: 2,048 blocks, ...": the launch and what it comes to. */
void machine_pane_words(const struct machine_view *v, const struct machine_pane *p, char *text,
                        size_t room);
void machine_draw(const struct scene *s, const struct look *look, struct box stage,
                  struct drawing *d);

#endif
