/* scene_softmax_drift.c: drift over time: of l and of O~ (or O) of every run, on the scrub bar's
   axis, with a line at every rescale. */
#include "visualize/scene_softmax.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 400 }; /* points of a curve */

/* Of l, or of the output as it stands; false where the lane has none yet. */
static bool drift_at(const struct softmax_view *v, int lane, bool output, int moment, double *drift)
{
    const struct softmax_story *s = &v->story;
    const struct lane_state *state = &s->lane[lane].state[s->moment[moment].before[lane]];
    const struct held *h = output ? &state->slot[SLOT_O_ACC] : &state->slot[SLOT_L];
    if (output && !h->is)
        h = &state->slot[SLOT_O];
    if (!h->is)
        return false;
    *drift = drift_in(v->format, h->value, h->exact);
    return isfinite(*drift);
}

static int stride(const struct softmax_view *v)
{
    return v->story.moments / SHOWN + 1;
}

static struct axis drift_scale(const struct softmax_view *v, struct box b)
{
    struct axis scale = {0, 0, b.y + b.h, b.y};
    for (int n = 0; n <= v->story.moments; n += stride(v))
        for (int lane = 0; lane < 2 * v->story.lanes; lane++) {
            double drift;
            if (drift_at(v, lane / 2, lane % 2 == 1, n, &drift)) {
                scale.low = fmin(scale.low, drift);
                scale.high = fmax(scale.high, drift);
            }
        }
    return scale;
}

static double time_x(const struct softmax_view *v, struct box b, double time)
{
    return b.x + b.w * time / v->story.moments;
}

/* Output: a thick line with the run's marker; l: a thin one. */
static void draw_curve(const struct softmax_view *v, const struct axis *scale, struct box b,
                       int lane, bool output, double until, struct drawing *d)
{
    struct run_style style = run_style(lane);
    double from_x = 0, from_y = 0;
    bool begun = false;
    for (int n = 0; n <= v->story.moments && n <= until; n += stride(v)) {
        double drift;
        if (!drift_at(v, lane, output, n, &drift)) {
            begun = false;
            continue;
        }
        double x = time_x(v, b, n), y = axis_at(scale, drift);
        if (begun) { /* a step: it holds, then jumps */
            draw_line(d, from_x, from_y, x, from_y, style.ink, output ? 2.5 : 1);
            draw_line(d, x, from_y, x, y, style.ink, output ? 2.5 : 1);
        }
        if (output && (!begun || y != from_y) && stride(v) == 1 && v->story.moments <= 80)
            draw_mark(d, style.mark, x, y, 8, style.ink);
        from_x = x, from_y = y;
        begun = true;
    }
}

static void draw_rescales(const struct scene_kind *kind, const struct scene *scene, struct box b,
                          struct drawing *d)
{
    const struct softmax_view *v = scene->story;
    for (int n = 0; n < v->story.moments && v->story.moments <= 400; n++)
        if (kind->marks(scene, n) & MOMENT_RESCALE)
            draw_line(d, time_x(v, b, n + 1), b.y, time_x(v, b, n + 1), b.y + b.h, INK_RESCALE, 1);
}

static void draw_drift_legend(const struct softmax_view *v, double x, double y, struct drawing *d)
{
    for (int lane = 0; lane < v->story.lanes; lane++) {
        struct run_style style = run_style(lane);
        draw_line(d, x, y - 4, x + 22, y - 4, style.ink, 2.5);
        draw_mark(d, style.mark, x + 11, y - 4, 8, style.ink);
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, style.ink, x + 28, y, "%c output", style.letter);
        draw_line(d, x + 92, y - 4, x + 114, y - 4, style.ink, 1);
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, style.ink, x + 120, y, "%c l", style.letter);
        x += 152;
    }
    draw_line(d, x + 4, y - 9, x + 4, y + 1, INK_RESCALE, 1.5);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_RESCALE, x + 12, y, "rescale");
}

void draw_drift(const struct softmax_view *v, const struct look *look, struct box b,
                struct drawing *d)
{
    char title[64];
    struct axis scale = drift_scale(v, b);
    double step = axis_round(&scale, 3);
    const struct scene scene = {.story = (void *)(uintptr_t)v};
    snprintf(title, sizeof title, "drift from exact (ulp of %s)", v->ulps);
    draw_axis_up(d, &scale, b.x, b.x + b.w, step, title);
    draw_drift_legend(v, b.x + 300, b.y - 9, d);
    draw_rescales(&scene_softmax, &scene, b, d);
    for (int lane = 0; lane < v->story.lanes; lane++)
        for (int output = 0; output < 2; output++)
            draw_curve(v, &scale, b, lane, output, look->time, d);
    double x = time_x(v, b, look->time);
    draw_line(d, x, b.y, x, b.y + b.h, INK_TEXT, 1);
}
