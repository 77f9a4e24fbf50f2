/* frame.h: what stands around every scene: title, side panel with equation, source line and what is
   under the pointer, scrub bar, keys; and which of it the pointer is on. */
#ifndef FLASHULP_VISUALIZE_FRAME_H
#define FLASHULP_VISUALIZE_FRAME_H

#include "visualize/scene.h"

/* The smallest picture that everything fits, in units; a wider or taller window has more room. */
enum { FRAME_WIDTH = 1280, FRAME_HEIGHT = 720 };
/* Where time runs from left to right, for charts that share the scrub bar's axis. */
enum { TRACK_LEFT = 100, TRACK_RIGHT = 848 };
#define FRAME_ZOOM_LEAST 0.25
#define FRAME_ZOOM_MOST 64.0

/* shape.what of the frame's own parts, above any scene's. */
enum frame_part {
    FRAME_TRACK = 1 << 29,
    FRAME_LESS, /* + parameter */
    FRAME_MORE = FRAME_LESS + 16,
    FRAME_SLIDER = FRAME_MORE + 16,
    FRAME_PLAY = FRAME_SLIDER + 16,
    FRAME_HELP
};

struct frame_state {
    struct look look;
    double speed; /* steps a second */
    bool playing, help;
    int parameter;             /* that the keyboard has */
    double zoom, pan_x, pan_y; /* of the stage; zoom 1: fits */
    char notice[200];          /* one line in place of the keys, or "" */
};
struct frame_state frame_start(void);

/* The whole picture; width and height in units, at least the smallest.  f->look.large: in double
   type, without the side panel: what it says in one line above the stage. */
void frame_draw(const struct scene *s, const struct frame_state *f, double width, double height,
                struct drawing *d);
/* The scene's stage in such a picture. */
struct box frame_stage(const struct frame_state *f, double width, double height);
/* Time at an x of the scrub bar. */
double frame_time(const struct scene *s, const struct frame_state *f, double width, double x);
/* Where a parameter's slider has its ends. */
void frame_slider(double width, double *from, double *to);

/* The next moment after (direction 1) or before time that has one of the marks, or -1. */
int frame_find(const struct scene *s, double time, int direction, unsigned marks);
/* The time of "12.5", "RESCALE:2" (its second one, done) or "end". */
bool frame_at(const struct scene *s, const char *text, double *time, struct message *why);

#endif
