/* frame.c: the picture around a scene; see frame.h. */
#include "visualize/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "visualize/frame_parts.h"

struct frame_state frame_start(void)
{
    return (struct frame_state){.speed = 1, .zoom = 1};
}

struct box frame_stage(const struct frame_state *f, double width, double height)
{
    if (!f->look.large)
        return (struct box){16, 56, width - SIDE_WIDTH - 44, height - 56 - 84};
    struct box b = frame_large_stage(width / 2, height / 2);
    return (struct box){2 * b.x, 2 * b.y, 2 * b.w, 2 * b.h};
}

struct track frame_track(const struct frame_state *f, double width, double height)
{
    if (f->look.large)
        return (struct track){84, width - 24, height - 32};
    return (struct track){TRACK_LEFT, TRACK_RIGHT + width - FRAME_WIDTH, height - 58};
}

double frame_time(const struct scene *s, const struct frame_state *f, double width, double x)
{
    double scale = f->look.large ? 2 : 1;
    struct track t = frame_track(f, width / scale, 0);
    double share = (x / scale - t.left) / (t.right - t.left);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return floor(share * s->moments + 0.5);
}

void frame_slider(double width, double *from, double *to)
{
    *from = width - 16 - SIDE_WIDTH + 110;
    *to = *from + 110;
}

static void draw_header(const struct scene *s, const struct frame_state *f, double width,
                        struct drawing *d)
{
    int n = (int)ceil(f->look.time);
    draw_text(d, FACE_BOLD, 19, ALIGN_LEFT, INK_TEXT, 16, 30, "%s", s->title);
    double after = 16 + font_width(FACE_BOLD, 19, s->title) + 20;
    draw_fitted(d, FACE_SANS, 13, ALIGN_LEFT, INK_QUIET, after, 30, width - after - 180,
                s->subtitle);
    if (n == 0)
        draw_text(d, FACE_BOLD, 15, ALIGN_RIGHT, INK_TEXT, width - 16, 30, "start of %d steps",
                  s->moments);
    else
        draw_text(d, FACE_BOLD, 15, ALIGN_RIGHT, INK_TEXT, width - 16, 30, "step %d of %d", n,
                  s->moments);
    draw_line(d, 0, 44, width, 44, INK_RULE, 1);
}

static double moment_x(const struct scene *s, const struct track *t, double time)
{
    return t->left + (t->right - t->left) * (s->moments > 0 ? time / s->moments : 0);
}

enum { MARKED = 1 << 18 }; /* moments that are asked for their marks */

/* Where marks would stand closer than two units, the first of them. */
static void draw_marks(const struct scene *s, const struct track *t, struct drawing *d)
{
    double last = -10, y = t->y;
    for (int n = 0; n < s->moments; n += s->moments / MARKED + 1) {
        unsigned marks = s->kind->marks(s, n);
        double x = moment_x(s, t, n + 1);
        if (marks & (MOMENT_PARTED | MOMENT_ROUNDED | MOMENT_FOUND))
            draw_mark(d, MARK_DIAMOND, x, y - 9, 9,
                      marks & (MOMENT_PARTED | MOMENT_FOUND) ? INK_ALARM : INK_FOCUS);
        else if (marks & (MOMENT_RESCALE | MOMENT_CONFLICT) && x - last > 2) {
            draw_mark(d, MARK_DOWN, x, y - 9, 8, INK_RESCALE);
            last = x;
        }
    }
}

static void draw_ticks(const struct scene *s, const struct track *t, struct drawing *d)
{
    struct axis scale = {0, s->moments, t->left, t->right};
    double y = t->y + 6;
    double step = s->moments <= 20 ? 1 : s->moments;
    if (s->moments > 20) {
        struct axis round = scale;
        step = axis_round(&round, 10);
    }
    for (double n = 0; n <= s->moments; n += step) {
        draw_line(d, axis_at(&scale, n), y, axis_at(&scale, n), y + 5, INK_QUIET, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, axis_at(&scale, n), y + 17, "%.0f",
                  n);
    }
}

void frame_draw_track(const struct scene *s, const struct frame_state *f, const struct track *t,
                      struct drawing *d)
{
    double y = t->y, x = moment_x(s, t, f->look.time), left = f->look.large ? 10 : 20;
    d->what = FRAME_PLAY;
    struct box play = {left, y - 12, 28, 24};
    draw_rect(d, play, INK_PANEL, INK_QUIET);
    if (f->playing) {
        draw_rect(d, (struct box){play.x + 8, play.y + 6, 4, 12}, INK_TEXT, INK_NONE);
        draw_rect(d, (struct box){play.x + 16, play.y + 6, 4, 12}, INK_TEXT, INK_NONE);
    } else {
        for (int i = 0; i < 6; i++)
            draw_rect(d, (struct box){play.x + 9 + 2 * i, play.y + 6 + i, 2, 12 - 2 * i}, INK_TEXT,
                      INK_NONE);
    }
    d->what = 0;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, left + 36, y + 4, "x %.3g", f->speed);
    d->what = FRAME_TRACK;
    draw_rect(d, (struct box){t->left - 6, y - 14, t->right - t->left + 12, 28}, INK_PAPER,
              INK_NONE);
    draw_rect(d, (struct box){t->left, y - 2, t->right - t->left, 4}, INK_RULE, INK_NONE);
    draw_rect(d, (struct box){t->left, y - 2, x - t->left, 4}, INK_TEXT, INK_NONE);
    draw_marks(s, t, d);
    draw_mark(d, MARK_CIRCLE, x, y, 13, INK_TEXT);
    d->what = 0;
    draw_ticks(s, t, d);
}

static void draw_keys(const struct frame_state *f, double width, double height, struct drawing *d)
{
    static const char keys[] = "Space play   Left, Right step   R next rescale   D divergence   +, "
                               "- speed   C copy command   "
                               "Tab scene   ? all keys";
    if (f->notice[0] != 0)
        draw_fitted(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, 16, height - 12, width - 32, f->notice);
    else
        draw_text(d, FACE_SANS, 11.5, ALIGN_LEFT, INK_QUIET, 16, height - 12, "%s", keys);
}

/* A frame round what is pinned, a thinner one round what is under the pointer. */
static void draw_chosen(const struct look *look, int first, struct drawing *d)
{
    int last = d->count;
    for (int n = first; n < last; n++) {
        const struct shape *s = &d->shape[n];
        bool pinned = s->what == look->pinned;
        if (s->what == 0 || s->kind == SHAPE_TEXT || (!pinned && s->what != look->hovered))
            continue;
        struct box b = drawing_box(d, s);
        draw_rect(d, (struct box){b.x - 2, b.y - 2, b.w + 4, b.h + 4}, INK_NONE, INK_FOCUS)->size =
            pinned ? 3 : 1.5;
    }
}

/* Fits, or as the reader zoomed and moved it. */
void frame_draw_stage(const struct scene *s, const struct frame_state *f, struct box stage,
                      struct drawing *d)
{
    bool moved = f->zoom != 1 || f->pan_x != 0 || f->pan_y != 0;
    d->stage = moved ? stage : (struct box){0, 0, 0, 0};
    d->zoomed = moved;
    int first = d->count;
    s->kind->draw(s, &f->look, stage, d);
    d->what = 0;
    draw_chosen(&f->look, first, d);
    d->zoomed = false;
    if (moved)
        drawing_zoom(d, f->zoom, f->look.large ? f->pan_x / 2 : f->pan_x,
                     f->look.large ? f->pan_y / 2 : f->pan_y);
}

void frame_draw(const struct scene *s, const struct frame_state *f, double width, double height,
                struct drawing *d)
{
    if (f->look.large) {
        drawing_clear(d, width / 2, height / 2);
        frame_large(s, f, width / 2, height / 2, d);
        drawing_enlarge(d, 2);
        return;
    }
    struct track track = frame_track(f, width, height);
    drawing_clear(d, width, height);
    frame_draw_stage(s, f, frame_stage(f, width, height), d);
    draw_header(s, f, width, d);
    frame_side(s, f, (struct box){width - SIDE_WIDTH - 16, 56, SIDE_WIDTH, height - 56 - 84}, d);
    frame_draw_track(s, f, &track, d);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, track.right + 22, track.y + 4,
              "time (steps done)");
    draw_keys(f, width, height, d);
    if (f->help)
        frame_help(width, height, false, d);
}

int frame_find(const struct scene *s, double time, int direction, unsigned marks)
{
    for (int n = direction > 0 ? (int)floor(time) : (int)ceil(time) - 2; n >= 0 && n < s->moments;
         n += direction)
        if (s->kind->marks(s, n) & marks)
            return n + 1;
    return -1;
}

static bool nth_step(const struct scene *s, const char *name, long nth, double *time)
{
    for (int n = 0; n < s->moments; n++) {
        struct moment_words w;
        s->kind->words(s, n, &w);
        if (strcmp(w.step, name) == 0 && --nth == 0) {
            *time = n + 1;
            return true;
        }
    }
    return false;
}

bool frame_at(const struct scene *s, const char *text, double *time, struct message *why)
{
    char name[32], *end;
    const char *colon = strchr(text, ':');
    *time = strtod(text, &end);
    if (strcmp(text, "end") == 0) {
        *time = s->moments;
        return true;
    }
    if (end != text && *end == 0) {
        if (*time >= 0 && *time <= s->moments)
            return true;
        return refuse(why, "--at %.40s: this view has times from 0 to %d", text, s->moments);
    }
    snprintf(name, sizeof name, "%.*s", (int)(colon != NULL ? colon - text : 31), text);
    long nth = colon != NULL ? strtol(colon + 1, &end, 10) : 1;
    if (colon != NULL && (end == colon + 1 || *end != 0 || nth < 1))
        return refuse(why, "--at %.40s: a time, end, or STEP:N with N from 1 is right", text);
    if (nth_step(s, name, nth, time))
        return true;
    return refuse(why, "--at %.40s: this view has no such step; --describe names the steps", text);
}
