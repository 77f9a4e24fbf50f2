/* scene_machine_draw.c: how the machine scene looks: a pane for each launch, SMs down, time across;
   how dark it is tells whether an SM's slots hold a block, and of which wave. */
#include <math.h>
#include <stdio.h>

#include "visualize/frame.h"
#include "visualize/scene_machine.h"

enum { ODD = 10, EVEN = 4 }; /* shades of waves */

static void draw_machine_pane(const struct machine_view *v, int n, const struct look *look,
                              struct box b, struct drawing *d)
{
    static unsigned char levels[MACHINE_SMS * MACHINE_SLICES];
    const struct machine_pane *p = &v->pane[n];
    int sms = (int)v->launch.device.figure[QUANTITY_SMS];
    int shown = (int)(look->time * (MACHINE_SLICES / MACHINE_STEPS));
    char words[240];
    for (int i = 0; i < sms * MACHINE_SLICES; i++) {
        double share = i % MACHINE_SLICES < shown ? p->held[i] / v->per_sm : 0;
        levels[i] = (unsigned char)(share > 0 ? (p->wave[i] ? EVEN : ODD) + 2 * fmin(1, share) : 0);
    }
    machine_pane_words(v, p, words, sizeof words);
    if (look->large) {
        draw_run(d, n, b.x - 52, b.y - 21, 14);
        draw_words(d, FACE_BOLD, 12, INK_TEXT, (struct box){b.x - 16, b.y - 21, b.w + 16, 0}, 15, 2,
                   words);
    } else {
        draw_run(d, n, b.x - 84, b.y - 11, 14);
        draw_fitted(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, b.x - 48, b.y - 11, b.w + 48, words);
    }
    draw_heat(d, b, MACHINE_SLICES, sms, levels);
    for (int sm = 0; sm < sms; sm++) { /* where the pointer is */
        d->what = 1 + n * MACHINE_SMS + sm;
        draw_rect(d, (struct box){b.x, b.y + b.h * sm / sms, b.w, b.h / sms}, INK_NONE, INK_NONE);
    }
    d->what = 0;
    draw_rect(d, b, INK_NONE, INK_QUIET);
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, b.x - 6, b.y + 10, "SM 0");
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, b.x - 6, b.y + b.h, "SM %d", sms - 1);
    double end = b.x + b.w * p->schedule.span / v->span,
           now = b.x + b.w * look->time / MACHINE_STEPS;
    draw_line(d, now, b.y, now, b.y + b.h, INK_FOCUS, 1.5);
    if (shown * v->span / MACHINE_SLICES >= p->schedule.span)
        draw_line(d, end, b.y - 4, end, b.y + b.h + 4, run_style(n).ink, 2.5);
}

static void draw_shades(const struct machine_view *v, double x, double y, bool large,
                        struct drawing *d)
{
    static const unsigned char levels[3] = {0, ODD + 2, EVEN + 2};
    static const char *const names[3] = {"no block", "blocks of an odd wave",
                                         "of an even one (a shade lighter: fewer slots held)"};
    for (int n = 0; n < 3; n++) {
        struct box b = {x, y - 11, 18, 13};
        draw_heat(d, b, 1, 1, &levels[n]);
        draw_rect(d, b, INK_NONE, INK_QUIET);
        draw_text(d, FACE_SANS, 11.5, ALIGN_LEFT, INK_TEXT, x + 24, y, "%s", names[n]);
        x += 44 + font_width(FACE_SANS, 11.5, names[n]);
    }
    if (!large)
        draw_text(d, FACE_SANS, 11.5, ALIGN_LEFT, INK_QUIET, x, y, "an SM's slots: %d", v->per_sm);
}

void machine_draw(const struct scene *scene, const struct look *look, struct box stage,
                  struct drawing *d)
{
    const struct machine_view *v = scene->story;
    bool large = look->large;
    double left = large ? stage.x + 52 : TRACK_LEFT, wide = stage.x + stage.w - left - 16;
    double top = large ? 52 : 60, between = large ? 40 : 46, axis = large ? 44 : 56;
    double height = (stage.h - (large ? 128 : 150)) / 2;
    draw_shades(v, large ? stage.x : left, stage.y + (large ? 10 : 14), large, d);
    for (int n = 0; n < MACHINE_PANES; n++)
        draw_machine_pane(v, n, look,
                          (struct box){left, stage.y + top + n * (height + between), wide, height},
                          d);
    struct axis across = {0, v->span, left, left + wide};
    struct axis ticks = across;
    double step = axis_round(&ticks, 8), y = stage.y + top + 2 * height + axis;
    draw_line(d, left, y, left + wide, y, INK_QUIET, 1);
    for (double t = 0; t <= v->span; t += step) {
        double x = axis_at(&across, t);
        draw_line(d, x, y, x, y + 4, INK_QUIET, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, x, y + 16, "%.6g", t);
    }
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, left + wide, y + 32,
              "time (cells of one SM; both launches on one axis)");
}
