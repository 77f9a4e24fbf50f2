/* control_keys.c: the keys that are not about time: where one looks, what is kept, what is written;
   see control.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "visualize/control_parts.h"

void control_zoom_at(struct control *c, double x, double y, double factor)
{
    struct frame_state *f = &c->frame;
    double zoom = f->zoom * factor;
    zoom = fmin(FRAME_ZOOM_MOST, fmax(FRAME_ZOOM_LEAST, zoom));
    f->pan_x = x - (x - f->pan_x) * zoom / f->zoom;
    f->pan_y = y - (y - f->pan_y) * zoom / f->zoom;
    f->zoom = zoom;
    c->dirty = true;
}

void control_pan(struct control *c, double dx, double dy)
{
    c->frame.pan_x += dx;
    c->frame.pan_y += dy;
    c->dirty = true;
}

static void zoom_in_middle(struct control *c, double factor)
{
    struct box b = frame_stage(&c->frame, c->wide, c->high);
    control_zoom_at(c, b.x + b.w / 2, b.y + b.h / 2, factor);
}

/* The next number on the stage, in the order of drawing. */
static void pin_next(struct control *c, bool back)
{
    int first = 0, last = 0, before = 0, next = 0;
    bool seen = false;
    for (int n = 0; n < c->drawing.count; n++) {
        int what = c->drawing.shape[n].what;
        if (what == 0 || what >= FRAME_TRACK || what == last)
            continue;
        first = first == 0 ? what : first;
        if (what == c->frame.look.pinned) {
            seen = true;
            before = last;
        } else if (seen && next == 0)
            next = what;
        last = what;
    }
    c->frame.look.pinned =
        back ? (seen && before != 0 ? before : last) : (next != 0 ? next : first);
    c->frame.look.hovered = 0;
    c->dirty = true;
}

static void choose(struct control *c, int direction)
{
    struct parameter p[PARAMETER_MOST];
    int count = c->scene.kind->parameters(&c->scene, p);
    if (count > 0)
        c->frame.parameter = (c->frame.parameter + direction + count) % count;
    c->dirty = true;
}

static void copy_command(struct control *c)
{
    char words[160];
    free(c->copied);
    c->copied = view_command(c->view, &c->scene, &c->frame);
    snprintf(words, sizeof words, "Copied: %.140s", c->copied);
    control_say(c, words);
}

static void write_picture(struct control *c)
{
    char path[64], words[200];
    struct message why;
    view_free_name(scene_info(c->scene.id)->name, path, sizeof path);
    bool ok = view_picture(c->view, &c->scene, &c->frame, path, false, &why);
    snprintf(words, sizeof words, "%s%.150s", ok ? "Written: " : "", ok ? path : why.text);
    control_say(c, words);
}

static void change_theme(struct control *c)
{
    c->view->theme = (enum theme)((c->view->theme + 1) % THEME_COUNT);
    c->dirty = true;
}

static void escape(struct control *c)
{
    if (c->frame.help)
        c->frame.help = false;
    else
        c->frame.look.pinned = 0;
    c->dirty = true;
}

static void look_key(struct control *c, enum control_key key, bool shift)
{
    switch (key) {
    case KEY_UP:
    case KEY_DOWN:
        if (shift)
            control_pan(c, 0, key == KEY_UP ? 40 : -40);
        else
            choose(c, key == KEY_UP ? -1 : 1);
        break;
    case KEY_LESS:
    case KEY_MORE:
        control_change(c, c->frame.parameter, key == KEY_LESS ? -1 : 1, 0);
        break;
    case KEY_Z:
        zoom_in_middle(c, shift ? 0.8 : 1.25);
        break;
    case KEY_F:
        c->frame.zoom = 1;
        c->frame.pan_x = c->frame.pan_y = 0;
        break;
    case KEY_K:
        pin_next(c, shift);
        break;
    case KEY_ESCAPE:
        escape(c);
        break;
    case KEY_C:
        copy_command(c);
        break;
    case KEY_P:
        write_picture(c);
        break;
    case KEY_T:
        change_theme(c);
        break;
    case KEY_TAB:
        control_next_scene(c, shift ? -1 : 1);
        break;
    case KEY_HELP:
        c->frame.help = !c->frame.help;
        break;
    default:
        break;
    }
}

void control_press_key(struct control *c, enum control_key key, bool shift)
{
    if (key == KEY_Q)
        c->quit = true;
    if (!c->open || c->quit)
        return;
    c->frame.notice[0] = 0;
    c->dirty = true;
    if (!control_time_key(c, key, shift))
        look_key(c, key, shift);
}
