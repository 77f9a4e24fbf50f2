/* control_pointer.c: the pointer: what it is on, what it drags, what it clicks; see control.h. */
#include <math.h>

#include "visualize/control_parts.h"

static double slider_place(const struct control *c, double x)
{
    double from, to;
    frame_slider(c->wide, &from, &to);
    return fmin(1, fmax(0, (x - from) / (to - from)));
}

static void drag(struct control *c, double x, double y)
{
    switch (c->drag) {
    case DRAG_TRACK:
        c->frame.playing = false;
        control_go_to(c, frame_time(&c->scene, &c->frame, c->wide, x));
        break;
    case DRAG_SLIDER:
        control_change(c, c->pressed - FRAME_SLIDER, 0, slider_place(c, x));
        break;
    case DRAG_STAGE:
        if (c->moved)
            control_pan(c, x - c->last_x, y - c->last_y);
        break;
    default:
        break;
    }
}

void control_move(struct control *c, double x, double y)
{
    int what = drawing_what(&c->drawing, x, y);
    if (!c->open)
        return;
    what = what < FRAME_TRACK ? what : 0;
    c->moved = c->moved || fabs(x - c->press_x) + fabs(y - c->press_y) > 4;
    if (c->drag != DRAG_NONE)
        drag(c, x, y);
    else if (what != c->frame.look.hovered) {
        c->frame.look.hovered = what;
        c->dirty = true;
    }
    c->last_x = x;
    c->last_y = y;
}

void control_press(struct control *c, double x, double y)
{
    struct box b = frame_stage(&c->frame, c->wide, c->high);
    int what = drawing_what(&c->drawing, x, y);
    if (!c->open)
        return;
    c->frame.notice[0] = 0;
    c->dirty = true;
    c->pressed = what;
    c->moved = false;
    c->press_x = c->last_x = x;
    c->press_y = c->last_y = y;
    if (what == FRAME_TRACK)
        c->drag = DRAG_TRACK;
    else if (what >= FRAME_SLIDER && what < FRAME_PLAY)
        c->drag = DRAG_SLIDER;
    else if (x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h && !c->frame.help)
        c->drag = DRAG_STAGE;
    if (c->drag != DRAG_STAGE)
        drag(c, x, y);
}

void control_release(struct control *c, double x, double y)
{
    int what = c->pressed;
    bool clicked = !c->moved && c->open && what == drawing_what(&c->drawing, x, y);
    c->drag = DRAG_NONE;
    c->pressed = 0;
    if (!clicked)
        return;
    c->dirty = true;
    if (what == FRAME_HELP)
        c->frame.help = false;
    else if (what == FRAME_PLAY)
        control_press_key(c, KEY_SPACE, false);
    else if (what >= FRAME_LESS && what < FRAME_MORE)
        control_change(c, what - FRAME_LESS, -1, 0);
    else if (what >= FRAME_MORE && what < FRAME_SLIDER)
        control_change(c, what - FRAME_MORE, 1, 0);
    else if (what < FRAME_TRACK)
        c->frame.look.pinned = what == c->frame.look.pinned ? 0 : what;
}

void control_wheel(struct control *c, double x, double y, double turns)
{
    struct box b = frame_stage(&c->frame, c->wide, c->high);
    if (c->open && x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h)
        control_zoom_at(c, x, y, pow(1.25, turns));
}
