/* control_time.c: time runs, steps, is searched; see control.h. */
#include <math.h>
#include <stdio.h>

#include "visualize/control_parts.h"

void control_go_to(struct control *c, double time)
{
    double most = c->scene.moments;
    time = time < 0 ? 0 : time > most ? most : time;
    c->frame.look.time = c->goal = time;
    c->dirty = true;
}

void control_run_time(struct control *c, double seconds)
{
    double *time = &c->frame.look.time, before = *time;
    if (c->frame.playing) {
        *time += seconds * c->frame.speed;
        c->goal = *time;
        if (*time >= c->scene.moments) {
            *time = c->goal = c->scene.moments;
            c->frame.playing = false;
        }
    } else if (*time < c->goal) {
        *time = fmin(c->goal, *time + seconds * 2 * fmax(1, c->frame.speed));
    } else if (*time > c->goal) {
        *time = fmax(c->goal, *time - seconds * 4 * fmax(1, c->frame.speed));
    }
    c->dirty = c->dirty || *time != before;
}

/* A step on or back, shown happening; one that was under way is finished at once. */
static void step(struct control *c, int direction)
{
    c->frame.playing = false;
    control_go_to(c, c->goal);
    double goal = direction > 0 ? floor(c->goal) + 1 : ceil(c->goal) - 1;
    if (goal >= 0 && goal <= c->scene.moments)
        c->goal = goal;
}

static void find(struct control *c, int direction, unsigned marks, const char *none)
{
    int n = frame_find(&c->scene, c->goal, direction, marks);
    c->frame.playing = false;
    if (n < 0)
        control_say(c, none);
    else
        control_go_to(c, n);
}

static void find_divergence(struct control *c)
{
    int parted = frame_find(&c->scene, 0, 1, MOMENT_PARTED);
    int rounded = frame_find(&c->scene, 0, 1, MOMENT_ROUNDED);
    int found = frame_find(&c->scene, 0, 1, MOMENT_FOUND);
    char words[120];
    int n = found > 0 ? found : parted > 0 ? parted : rounded;
    c->frame.playing = false;
    if (n < 0) {
        control_say(c, "No run leaves the exact one.");
        return;
    }
    control_go_to(c, n);
    snprintf(words, sizeof words, "Step %d: %s", n,
             found > 0 ? "here the emulator found something wrong."
             : parted > 0
                 ? "from here on the runs hold different bits."
                 : "here a run leaves the exact one for the first time; the runs never part.");
    control_say(c, words);
}

static void change_speed(struct control *c, double factor)
{
    c->frame.speed = fmin(64, fmax(1.0 / 16, c->frame.speed * factor));
    c->dirty = true;
}

bool control_time_key(struct control *c, enum control_key key, bool shift)
{
    switch (key) {
    case KEY_SPACE:
        if (c->frame.look.time >= c->scene.moments)
            control_go_to(c, 0);
        c->frame.playing = !c->frame.playing;
        return true;
    case KEY_LEFT:
    case KEY_RIGHT:
        if (shift)
            control_pan(c, key == KEY_LEFT ? 40 : -40, 0);
        else
            step(c, key == KEY_LEFT ? -1 : 1);
        return true;
    case KEY_PAGE_UP:
    case KEY_PAGE_DOWN:
        step(c, key == KEY_PAGE_UP ? -1 : 1);
        c->goal = fmin(c->scene.moments, fmax(0, c->goal + (key == KEY_PAGE_UP ? -9 : 9)));
        return true;
    case KEY_HOME:
        control_go_to(c, 0);
        return true;
    case KEY_END:
        control_go_to(c, c->scene.moments);
        return true;
    case KEY_R:
        find(c, shift ? -1 : 1, MOMENT_RESCALE | MOMENT_CONFLICT,
             "There is none in that direction.");
        return true;
    case KEY_N:
        find(c, shift ? -1 : 1, MOMENT_CHAPTER, "There is none in that direction.");
        return true;
    case KEY_D:
        find_divergence(c);
        return true;
    case KEY_PLUS:
    case KEY_MINUS:
        change_speed(c, key == KEY_PLUS ? 2 : 0.5);
        return true;
    default:
        return false;
    }
}
