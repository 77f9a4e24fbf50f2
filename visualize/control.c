/* control.c: time and keys; see control.h. */
#include "visualize/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/control_parts.h"
#include "visualize/job.h"

static void say(struct control *c, const char *words)
{
    snprintf(c->frame.notice, sizeof c->frame.notice, "%.199s", words);
    c->dirty = true;
}

void control_start(struct control *c, struct view *v, const char *at, double wide, double high)
{
    *c = (struct control){
        .view = v, .frame = frame_start(), .wide = wide, .high = high, .dirty = true};
    c->job = job_open(v, v->scene, at);
}

void control_end(struct control *c)
{
    control_wait(c);
    if (c->open)
        c->scene.kind->close(&c->scene);
    drawing_free(&c->drawing);
    free(c->copied);
}

bool control_busy(const struct control *c)
{
    return c->job != NULL || c->frame.playing || c->frame.look.time != c->goal;
}

void control_go_to(struct control *c, double time)
{
    double most = c->scene.moments;
    time = time < 0 ? 0 : time > most ? most : time;
    c->frame.look.time = c->goal = time;
    c->dirty = true;
}

/* The job's scene takes the old one's place; what is looked at stays, where it can. */
static void take_scene(struct control *c, struct scene *made, double time)
{
    bool same = c->open && c->scene.id == made->id;
    if (c->open)
        c->scene.kind->close(&c->scene);
    c->scene = *made;
    c->open = true;
    if (!same) {
        struct frame_state fresh = frame_start();
        fresh.speed = c->frame.speed;
        c->frame = fresh;
    }
    c->frame.notice[0] = 0;
    control_go_to(c, same ? c->frame.look.time : time);
}

static void finish_job(struct control *c)
{
    struct scene made;
    struct message why;
    double time;
    if (job_take(c->job, &made, &time, &why))
        take_scene(c, &made, time);
    else if (c->open)
        say(c, why.text);
    else {
        fprintf(stderr, "flashulp view: %s\n", why.text);
        c->quit = true;
    }
    c->job = NULL;
    if (c->waiting.is && c->open) {
        c->waiting.is = false;
        c->job =
            job_change(&c->scene, c->waiting.parameter, c->waiting.direction, c->waiting.place);
    }
}

void control_wait(struct control *c)
{
    while (c->job != NULL)
        if (job_done(c->job))
            finish_job(c);
        else
            job_pause();
}

static void run_time(struct control *c, double seconds)
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

void control_tick(struct control *c, double seconds)
{
    if (c->job != NULL && job_done(c->job))
        finish_job(c);
    if (c->job != NULL && job_seconds(c->job) > 0.3) {
        char words[80];
        snprintf(words, sizeof words, "computing: %.1f s ...", job_seconds(c->job));
        say(c, words);
    }
    if (c->open)
        run_time(c, seconds);
}

void control_resize(struct control *c, double wide, double high)
{
    c->wide = wide;
    c->high = high;
    c->dirty = true;
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
        say(c, none);
    else
        control_go_to(c, n);
}

static void find_divergence(struct control *c)
{
    int parted = frame_find(&c->scene, 0, 1, MOMENT_PARTED);
    int rounded = frame_find(&c->scene, 0, 1, MOMENT_ROUNDED);
    char words[120];
    int n = parted > 0 ? parted : rounded;
    c->frame.playing = false;
    if (n < 0) {
        say(c, "No run leaves the exact one.");
        return;
    }
    control_go_to(c, n);
    snprintf(words, sizeof words, "Step %d: %s", n,
             parted > 0
                 ? "from here on the runs hold different bits."
                 : "here a run leaves the exact one for the first time; the runs never part.");
    say(c, words);
}

void control_zoom_at(struct control *c, double x, double y, double factor)
{
    struct frame_state *f = &c->frame;
    double zoom = f->zoom * factor;
    zoom = zoom < 0.25 ? 0.25 : zoom > 64 ? 64 : zoom;
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
    struct box b = frame_stage(c->wide, c->high);
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

void control_change(struct control *c, int parameter, int direction, double place)
{
    struct parameter p[PARAMETER_MOST];
    if (parameter >= c->scene.kind->parameters(&c->scene, p))
        return;
    c->frame.parameter = parameter;
    c->dirty = true;
    if (c->job == NULL) {
        c->job = job_change(&c->scene, parameter, direction, place);
        return;
    }
    c->waiting.is = true;
    c->waiting.parameter = parameter;
    c->waiting.direction = direction;
    c->waiting.place = place;
}

static void choose(struct control *c, int direction)
{
    struct parameter p[PARAMETER_MOST];
    int count = c->scene.kind->parameters(&c->scene, p);
    if (count > 0)
        c->frame.parameter = (c->frame.parameter + direction + count) % count;
    c->dirty = true;
}

static void next_scene(struct control *c, int direction)
{
    int id = ((int)c->scene.id + direction + SCENE_COUNT) % SCENE_COUNT;
    if (c->job == NULL && SCENE_COUNT > 1)
        c->job = job_open(c->view, (enum scene_id)id, NULL);
}

static void copy_command(struct control *c)
{
    char words[160];
    free(c->copied);
    c->copied = view_command(c->view, &c->scene, c->frame.look.time);
    snprintf(words, sizeof words, "Copied: %.140s", c->copied);
    say(c, words);
}

static void write_picture(struct control *c)
{
    char path[64], words[200];
    struct message why;
    view_free_name(scene_info(c->scene.id)->name, path, sizeof path);
    bool ok = view_picture(c->view, &c->scene, &c->frame, path, false, &why);
    snprintf(words, sizeof words, "%s%.150s", ok ? "Written: " : "", ok ? path : why.text);
    say(c, words);
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

static void change_speed(struct control *c, double factor)
{
    c->frame.speed = fmin(64, fmax(1.0 / 16, c->frame.speed * factor));
    c->dirty = true;
}

/* Keys about time; true: it was one. */
static bool time_key(struct control *c, enum control_key key, bool shift)
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
        find(c, shift ? -1 : 1, MOMENT_RESCALE, "There is no rescale in that direction.");
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
        next_scene(c, shift ? -1 : 1);
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
    if (!time_key(c, key, shift))
        look_key(c, key, shift);
}

const struct drawing *control_draw(struct control *c)
{
    c->dirty = false;
    if (c->open) {
        frame_draw(&c->scene, &c->frame, c->wide, c->high, &c->drawing);
        return &c->drawing;
    }
    drawing_clear(&c->drawing, c->wide, c->high);
    draw_text(&c->drawing, FACE_BOLD, 19, ALIGN_CENTRE, INK_TEXT, c->wide / 2, c->high / 2,
              "flashulp view");
    draw_text(&c->drawing, FACE_SANS, 13, ALIGN_CENTRE, INK_QUIET, c->wide / 2, c->high / 2 + 28,
              "%s", c->frame.notice[0] != 0 ? c->frame.notice : "opening ...");
    return &c->drawing;
}
