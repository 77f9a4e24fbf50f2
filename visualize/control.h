/* control.h: what the reader does, and what that does to the view: no window here, so that tests
   can press every key.

   Opening a scene, or changing a parameter, runs in a thread of its own; what was shown stays until
   it is done. */
#ifndef FLASHULP_VISUALIZE_CONTROL_H
#define FLASHULP_VISUALIZE_CONTROL_H

#include "visualize/view.h"

enum control_key {
    KEY_SPACE,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_TAB,
    KEY_ESCAPE,
    KEY_LESS /* [ */,
    KEY_MORE /* ] */,
    KEY_PLUS,
    KEY_MINUS,
    KEY_HELP,
    KEY_C,
    KEY_D,
    KEY_F,
    KEY_K,
    KEY_N,
    KEY_P,
    KEY_Q,
    KEY_R,
    KEY_T,
    KEY_Z
};

struct job; /* a scene being made */

struct control {
    struct view *view;
    struct scene scene;
    bool open;        /* there is a scene */
    bool dirty, quit; /* to be drawn anew; to be left */
    struct frame_state frame;
    double goal;            /* the time that a step under way leads to */
    double wide, high;      /* of the picture, in units */
    struct drawing drawing; /* as it was drawn last */
    char *copied;           /* for the clipboard, until the window takes it */
    struct job *job;
    struct {
        bool is;
        int parameter, direction;
        double place;
    } waiting; /* behind the job */
    enum { DRAG_NONE, DRAG_STAGE, DRAG_TRACK, DRAG_SLIDER } drag;
    int pressed; /* shape.what */
    double press_x, press_y, last_x, last_y;
    bool moved; /* since the press */
};

/* Begins to open v's scene; it shows `at` (NULL: its start) first. */
void control_start(struct control *c, struct view *v, const char *at, double wide, double high);
void control_end(struct control *c);
/* Seconds have gone by. */
void control_tick(struct control *c, double seconds);
/* Does time run, or a job? */
bool control_busy(const struct control *c);
/* Waits until no job runs. */
void control_wait(struct control *c);
void control_resize(struct control *c, double wide, double high);

void control_press_key(struct control *c, enum control_key key, bool shift);
/* In units of the picture. */
void control_move(struct control *c, double x, double y);
void control_press(struct control *c, double x, double y);
void control_release(struct control *c, double x, double y);
void control_wheel(struct control *c, double x, double y, double turns);

/* The picture as it is now; the list stays the control's. */
const struct drawing *control_draw(struct control *c);

#endif
