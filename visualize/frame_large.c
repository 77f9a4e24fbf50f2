/* frame_large.c: the picture in double type, for a room: the stage as wide as the picture, one line
   above it for the step, or what is pointed at; no side panel, no list of keys.  See frame_parts.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "visualize/frame_parts.h"

enum { MARGIN = 10, STAGE_TOP = 50, BELOW = 52 };

struct box frame_large_stage(double width, double height)
{
    return (struct box){MARGIN, STAGE_TOP, width - 2 * MARGIN, height - STAGE_TOP - BELOW};
}

/* "O~ of B = 8.7109423  0x410B6003  exact 8.7109417  +0.64 ulp". */
static bool inspected(const struct scene *s, const struct frame_state *f, char *text, size_t room)
{
    struct inspection i;
    int what = f->look.hovered != 0 ? f->look.hovered : f->look.pinned;
    if (what == 0 || !s->kind->inspect(s, what, (int)floor(f->look.time), &i))
        return false;
    if (i.in_words) {
        snprintf(text, room, "%s: %s, %s", i.name, i.words[0], i.words[1]);
        return true;
    }
    int used = snprintf(text, room, "%s = %s  0x%0*" PRIX64, i.name, number_words(i.value).text,
                        format_info(i.format)->bits / 4, format_encode(i.format, i.value));
    if (i.has_exact && used >= 0 && (size_t)used < room)
        snprintf(text + used, room - (size_t)used, "  exact %s  %s ulp",
                 number_words(i.exact[0]).text,
                 drift_words(drift_in(i.ulps, i.value, i.exact)).text);
    return true;
}

static void draw_line_above(const struct scene *s, const struct frame_state *f, double width,
                            struct drawing *d)
{
    int n = (int)ceil(f->look.time) - 1;
    char text[320];
    double y = 42;
    if (f->notice[0] != 0) {
        draw_fitted(d, FACE_BOLD, 11, ALIGN_LEFT, INK_TEXT, MARGIN, y, width - 2 * MARGIN,
                    f->notice);
    } else if (inspected(s, f, text, sizeof text)) {
        draw_fitted(d, FACE_MONO, 11, ALIGN_LEFT, INK_TEXT, MARGIN, y, width - 2 * MARGIN, text);
    } else if (n < 0) {
        draw_fitted(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, MARGIN, y, width - 2 * MARGIN,
                    "before the first step");
    } else {
        struct moment_words w;
        s->kind->words(s, n, &w);
        draw_text(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, MARGIN, y, "%s", w.step);
        double left = MARGIN + font_width(FACE_BOLD, 12, w.step) + 12;
        double where = font_width(FACE_SANS, 11, w.where);
        draw_fitted(d, FACE_MONO, 12, ALIGN_LEFT, INK_TEXT, left, y,
                    width - MARGIN - 12 - where - left, w.equation);
        draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, width - MARGIN, y, "%s", w.where);
    }
}

/* The parameter that the keyboard has. */
static void draw_chosen(const struct scene *s, const struct frame_state *f, double right, double y,
                        struct drawing *d)
{
    struct parameter p[PARAMETER_MOST];
    int count = s->kind->parameters(s, p);
    if (f->parameter < count)
        draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, right, y, "%s: %s",
                  p[f->parameter].name, p[f->parameter].value);
}

void frame_large(const struct scene *s, const struct frame_state *f, double width, double height,
                 struct drawing *d)
{
    struct track track = frame_track(f, width, height);
    char step[48];
    int n = (int)ceil(f->look.time);
    if (n == 0)
        snprintf(step, sizeof step, "start of %d", s->moments);
    else
        snprintf(step, sizeof step, "step %d of %d", n, s->moments);
    frame_draw_stage(s, f, frame_large_stage(width, height), d);
    draw_fitted(d, FACE_BOLD, 14, ALIGN_LEFT, INK_TEXT, MARGIN, 18, width - 280, s->title);
    draw_text(d, FACE_BOLD, 12, ALIGN_RIGHT, INK_TEXT, width - MARGIN, 18, "%s", step);
    draw_chosen(s, f, width - MARGIN - font_width(FACE_BOLD, 12, "step 999 of 999") - 6, 18, d);
    draw_line(d, 0, 26, width, 26, INK_RULE, 1);
    draw_line_above(s, f, width, d);
    frame_draw_track(s, f, &track, d);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, MARGIN, height - 8, "steps done");
    if (f->help)
        frame_help(width, height, true, d);
}
