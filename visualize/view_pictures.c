/* view_pictures.c: how what was asked for is done: pictures, frames of a film, words, the window;
   see view.h. */
#include "visualize/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/report.h"
#include "simulator/scenario_parts.h"
#include "visualize/picture.h"

static bool picture_png(const struct view *v, const struct drawing *d, const char *description,
                        const char *path, bool force, struct message *why)
{
    struct image image;
    struct glyph_cache *cache = glyph_cache_new();
    bool ok = false;
    if (cache == NULL || !image_new(&image, v->width, v->height)) {
        refuse(why, "no memory for a picture of %dx%d", v->width, v->height);
    } else {
        raster_draw(&image, d, v->theme, cache);
        ok = png_write(&image, description, path, force, why);
        image_free(&image);
    }
    glyph_cache_free(cache);
    return ok;
}

bool view_picture(const struct view *v, const struct scene *s, const struct frame_state *f,
                  const char *path, bool force, struct message *why)
{
    struct drawing d = {0};
    double wide, high;
    char *description = view_description(s, f->look.time);
    view_units(v->width, v->height, &wide, &high);
    frame_draw(s, f, wide, high, &d);
    bool ok = ends_with(path, ".svg") ? svg_write(&d, v->theme, v->width, v->height, s->title,
                                                  description, path, force, why)
                                      : picture_png(v, &d, description, path, force, why);
    drawing_free(&d);
    free(description);
    return ok;
}

/* "A:B", and every -o has one %d, %04d or so. */
static bool read_frames(const struct view *v, const struct scene *s, int *first, int *last,
                        struct message *why)
{
    const char *text = v->scenario.value[OPTION_FRAMES];
    char end;
    if (sscanf(text, "%d:%d%c", first, last, &end) != 2 || *first < 0 || *last < *first ||
        *last > s->moments)
        return refuse(why, "--frames %.40s: FIRST:LAST, times from 0 to %d, is right", text,
                      s->moments);
    return true;
}

/* The picture's name out of a pattern with one %d or %0Nd. */
static bool frame_name(const char *pattern, int n, char *name, size_t room, struct message *why)
{
    const char *at = strchr(pattern, '%');
    int width = 0, used = 0;
    if (at == NULL || (sscanf(at, "%%0%1d%n", &width, &used) < 1 && at[1] != 'd') ||
        at[used > 0 ? used : 1] != 'd' || strchr(at + 1, '%') != NULL)
        return refuse(why, "-o %.200s: with --frames a name such as f_%%04d.png is right", pattern);
    snprintf(name, room, "%.*s%0*d%s", (int)(at - pattern), pattern, width, n,
             at + (used > 0 ? used : 1) + 1);
    return true;
}

/* Each moment is eight pictures, so that steps are seen happening. */
enum { FRAMES_A_STEP = 8, FRAMES_MOST = 100000 };

static bool write_frames(const struct view *v, const struct scene *s, const char *pattern,
                         struct message *why)
{
    struct frame_state f = v->frame;
    char name[1024];
    int first, last, n = 0;
    if (!read_frames(v, s, &first, &last, why))
        return false;
    if (last - first > FRAMES_MOST / FRAMES_A_STEP)
        return refuse(why, "--frames: at most %d steps at once", FRAMES_MOST / FRAMES_A_STEP);
    for (int i = first * FRAMES_A_STEP; i <= last * FRAMES_A_STEP; i++, n++) {
        f.look.time = (double)i / FRAMES_A_STEP;
        if (!frame_name(pattern, n, name, sizeof name, why) ||
            !view_picture(v, s, &f, name, v->scenario.given[OPTION_FORCE], why))
            return false;
    }
    if (ends_with(pattern, ".svg"))
        printf("%d pictures.  A film is made of .png ones.\n", n);
    else
        printf("%d pictures.  A film of them:\n"
               "ffmpeg -framerate 12 -i %s -pix_fmt yuv420p -crf 18 film.mp4\n",
               n, pattern);
    return true;
}

static bool write_pictures(const struct view *v, const struct scene *s, double time,
                           struct message *why)
{
    struct frame_state f = v->frame;
    char *path;
    f.look.time = time;
    for (int n = 0; (path = report_output(&v->scenario, n)) != NULL; n++) {
        bool ok = v->scenario.given[OPTION_FRAMES]
                      ? write_frames(v, s, path, why)
                      : view_picture(v, s, &f, path, v->scenario.given[OPTION_FORCE], why);
        free(path);
        if (!ok)
            return false;
    }
    return true;
}

static void describe(const struct view *v, const struct scene *s, double time)
{
    char *text = view_description(s, time);
    if (v->scenario.given[OPTION_JSON]) {
        struct report r;
        report_new(&r, &v->scenario);
        json_string(r.json, "scene", scene_info(s->id)->name);
        json_real(r.json, "time", time);
        json_whole(r.json, "steps", s->moments);
        json_string(r.json, "text", text);
        char *json = json_text(r.json);
        printf("%s\n", json);
        free(json);
        report_free(&r);
    } else {
        fputs(text, stdout);
    }
    free(text);
}

/* Pictures and words, without a window. */
static bool show_without(const struct view *v, struct message *why)
{
    struct scene s;
    double time = 0;
    if (!view_open(v, v->scene, &s, why))
        return false;
    const char *at = v->scenario.value[OPTION_AT];
    bool ok = frame_at(&s, at != NULL ? at : "end", &time, why) && write_pictures(v, &s, time, why);
    if (ok && (v->scenario.given[OPTION_DESCRIBE] || v->scenario.given[OPTION_JSON]))
        describe(v, &s, time);
    s.kind->close(&s);
    return ok;
}

void view_free_name(const char *stem, char *path, size_t room)
{
    int n = 1;
    do
        snprintf(path, room, n == 1 ? "flashulp-%s.png" : "flashulp-%s-%d.png", stem, n);
    while (access(path, F_OK) == 0 && ++n < 1000);
}

/* No display: a picture, and the word that it is there. */
static bool instead_of_window(struct view *v, struct message *why)
{
    char path[64];
    struct message no_display = *why;
    view_free_name(scene_info(v->scene)->name, path, sizeof path);
    text_append(&v->scenario.value[OPTION_OUTPUT], "%s", path);
    v->scenario.given[OPTION_OUTPUT] = true;
    if (!show_without(v, why))
        return false;
    printf("%s; the picture is in %s\n", no_display.text, path);
    return true;
}

bool view_it(struct view *v, struct message *why)
{
    bool frames = v->scenario.given[OPTION_FRAMES];
    if (frames && !v->scenario.given[OPTION_OUTPUT])
        return refuse(why, "--frames goes with --render f_%%04d.png");
    if (!report_check_outputs(&v->scenario, "png svg", NULL, 0, why))
        return false;
    if (v->scenario.given[OPTION_OUTPUT] || v->scenario.given[OPTION_DESCRIBE] ||
        v->scenario.given[OPTION_JSON])
        return show_without(v, why);
    if (window_run(v, why))
        return true;
    return instead_of_window(v, why);
}
