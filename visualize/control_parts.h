/* control_parts.h: what keys and pointer share. */
#ifndef FLASHULP_VISUALIZE_CONTROL_PARTS_H
#define FLASHULP_VISUALIZE_CONTROL_PARTS_H

#include "visualize/control.h"

/* To that time at once, as far as there is time. */
void control_go_to(struct control *c, double time);
void control_pan(struct control *c, double dx, double dy);
/* The stage, the point staying where it is. */
void control_zoom_at(struct control *c, double x, double y, double factor);
/* Has the scene made with that parameter changed: now, or after the job that runs. */
void control_change(struct control *c, int parameter, int direction, double place);

#endif
