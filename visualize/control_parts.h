/* control_parts.h: what time, keys and pointer share. */
#ifndef FLASHULP_VISUALIZE_CONTROL_PARTS_H
#define FLASHULP_VISUALIZE_CONTROL_PARTS_H

#include "visualize/control.h"

/* One line in place of the keys, until the next one is pressed. */
void control_say(struct control *c, const char *words);
/* To that time at once, as far as there is time. */
void control_go_to(struct control *c, double time);
/* Seconds have gone by: a play or a step under way gets on. */
void control_run_time(struct control *c, double seconds);
/* A key about time; false: it is none. */
bool control_time_key(struct control *c, enum control_key key, bool shift);
void control_pan(struct control *c, double dx, double dy);
/* The stage, the point staying where it is. */
void control_zoom_at(struct control *c, double x, double y, double factor);
/* Has the scene made with that parameter changed: now, or after the job that runs. */
void control_change(struct control *c, int parameter, int direction, double place);
void control_next_scene(struct control *c, int direction);

#endif
