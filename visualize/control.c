/* control.c: the scene that is shown, and the ones being made; see control.h. */
#include <stdio.h>
#include <stdlib.h>

#include "visualize/control_parts.h"
#include "visualize/job.h"

void control_say(struct control *c, const char *words)
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

/* The job's scene takes the old one's place; what is looked at stays, where it can. */
static void take_scene(struct control *c, struct scene *made, double time)
{
    bool first = !c->open, same = c->open && c->scene.id == made->id;
    if (c->open)
        c->scene.kind->close(&c->scene);
    c->scene = *made;
    c->open = true;
    if (!same) {
        struct frame_state fresh = first ? c->view->frame : frame_start();
        fresh.speed = c->frame.speed;
        c->frame = fresh;
    }
    c->frame.notice[0] = 0;
    control_go_to(c, same ? c->frame.look.time : time);
}

static void preview(struct control *c, int parameter, int direction, double place)
{
    if (c->scene.kind->preview != NULL)
        c->scene.kind->preview(&c->scene, parameter, direction, place);
}

static void begin_change(struct control *c, int parameter, int direction, double place)
{
    preview(c, parameter, direction, place);
    c->job = job_change(&c->scene, parameter, direction, place);
}

static void finish_job(struct control *c)
{
    struct scene made;
    struct message why;
    double time;
    if (job_take(c->job, &made, &time, &why))
        take_scene(c, &made, time);
    else if (c->open) {
        control_say(c, why.text);
        preview(c, -1, 0, 0);
    } else {
        fprintf(stderr, "flashulp view: %s\n", why.text);
        c->quit = true;
    }
    c->job = NULL;
    if (c->waiting.is && c->open) {
        c->waiting.is = false;
        begin_change(c, c->waiting.parameter, c->waiting.direction, c->waiting.place);
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

void control_change(struct control *c, int parameter, int direction, double place)
{
    struct parameter p[PARAMETER_MOST];
    if (parameter >= c->scene.kind->parameters(&c->scene, p))
        return;
    c->frame.parameter = parameter;
    c->dirty = true;
    if (c->job == NULL) {
        begin_change(c, parameter, direction, place);
        return;
    }
    if (!c->waiting.is || direction == 0) /* one step waits, however many are asked for */
        preview(c, parameter, direction, place);
    c->waiting.is = true;
    c->waiting.parameter = parameter;
    c->waiting.direction = direction;
    c->waiting.place = place;
}

void control_next_scene(struct control *c, int direction)
{
    int id = ((int)c->scene.id + direction + SCENE_COUNT) % SCENE_COUNT;
    if (c->job == NULL && SCENE_COUNT > 1)
        c->job = job_open(c->view, (enum scene_id)id, NULL);
}

void control_tick(struct control *c, double seconds)
{
    if (c->job != NULL && job_done(c->job))
        finish_job(c);
    if (c->job != NULL && job_seconds(c->job) > 0.3) {
        char words[80];
        snprintf(words, sizeof words, "computing: %.1f s ...", job_seconds(c->job));
        control_say(c, words);
    }
    if (c->open)
        control_run_time(c, seconds);
}

void control_resize(struct control *c, double wide, double high)
{
    c->wide = wide;
    c->high = high;
    c->dirty = true;
}

const struct drawing *control_draw(struct control *c)
{
    c->dirty = false;
    if (c->open) {
        c->frame.look.large = c->view->theme == THEME_PROJECTOR;
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
