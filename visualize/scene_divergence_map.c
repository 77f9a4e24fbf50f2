/* scene_divergence_map.c: page MAP: the runs in a plane, their centre and the exact result, one
   triangle for each backend over its GPUs and for each GPU over its backends; beside it the runs by
   name and their distances. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualize/scene_divergence.h"

enum { LABEL_MOST = 2 * MAP_MOST + 4 };

/* One scale both ways. */
struct plane {
    struct axis across, up;
    double step;
};

static void reach(double x, double y, struct axis *across, struct axis *up)
{
    across->low = fmin(across->low, x);
    across->high = fmax(across->high, x);
    up->low = fmin(up->low, y);
    up->high = fmax(up->high, y);
}

static struct plane plane_of(const struct map *m, struct box b)
{
    struct plane p = {{0, 0, b.x, b.x + b.w}, {0, 0, b.y + b.h, b.y}, 1};
    for (int n = 0; n < m->count; n++)
        reach(m->x[n], m->y[n], &p.across, &p.up);
    reach(m->exact_x, m->exact_y, &p.across, &p.up);
    double wide = p.across.high - p.across.low, tall = p.up.high - p.up.low;
    double unit = fmax(fmax(wide / b.w, tall / b.h) * 1.25, 1e-12); /* of the map a unit of paper */
    double x = (p.across.low + p.across.high) / 2, y = (p.up.low + p.up.high) / 2;
    p.across.low = x - unit * b.w / 2;
    p.across.high = x + unit * b.w / 2;
    p.up.low = y - unit * b.h / 2;
    p.up.high = y + unit * b.h / 2;
    struct axis round = p.across;
    p.step = axis_round(&round, 5);
    return p;
}

static void draw_axes(const struct divergence_view *v, const struct plane *p, struct box b,
                      bool large, struct drawing *d)
{
    const struct map *m = divergence_map(v);
    draw_rect(d, b, INK_NONE, INK_QUIET);
    for (double t = ceil(p->across.low / p->step) * p->step; t <= p->across.high; t += p->step) {
        double x = axis_at(&p->across, t);
        draw_line(d, x, b.y, x, b.y + b.h, INK_RULE, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, x, b.y + b.h + 15, "%.3g",
                  fabs(t) < p->step / 2 ? 0 : t);
    }
    for (double t = ceil(p->up.low / p->step) * p->step; t <= p->up.high; t += p->step) {
        double y = axis_at(&p->up, t);
        draw_line(d, b.x, y, b.x + b.w, y, INK_RULE, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x - 5, y + 4, "%.3g",
                  fabs(t) < p->step / 2 ? 0 : t);
    }
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 8,
              large ? "roundoffs 2^-%d sum |weight value|, rms, both ways"
                    : "second direction, upwards (roundoffs 2^-%d sum |weight value|, rms)",
              format_info(v->core->format)->precision);
    if (large)
        return;
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, b.x + b.w, b.y + b.h + 31,
              "first direction from the centre (the same unit)");
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y + b.h + 48,
              "this plane shows %.1f %% of the spread's square", 100 * m->explained);
}

/* Do two runs' marks stand apart on the paper? */
static bool drawn_apart(const struct map *m, const struct plane *p, int a, int b)
{
    return fabs(axis_at(&p->across, m->x[a]) - axis_at(&p->across, m->x[b])) +
               fabs(axis_at(&p->up, m->y[a]) - axis_at(&p->up, m->y[b])) >
           3;
}

/* Lines between the runs that have this backend, or this GPU, in common. */
static void draw_group(const struct divergence_view *v, const struct plane *p, int first, bool gpus,
                       double share, struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    for (int i = 0; i < a->runs; i++)
        for (int k = i + 1; k < a->runs; k++) {
            const char *one = gpus ? divergence_family(&a->run[i]) : a->run[i].device;
            const char *two = gpus ? divergence_family(&a->run[k]) : a->run[k].device;
            const char *of = gpus ? divergence_family(&a->run[first]) : a->run[first].device;
            if (strcmp(one, of) != 0 || strcmp(two, of) != 0 || a->run[i].device[0] == 0 ||
                a->run[k].device[0] == 0 || !drawn_apart(m, p, i, k))
                continue;
            double x = axis_at(&p->across, m->x[i]), y = axis_at(&p->up, m->y[i]);
            double to_x = axis_at(&p->across, m->x[k]), to_y = axis_at(&p->up, m->y[k]);
            draw_line(d, x, y, x + (to_x - x) * share, y + (to_y - y) * share,
                      gpus ? divergence_style(a, i).ink : INK_QUIET, gpus ? 2.5 : 0.8);
        }
}

static void draw_triangles(const struct divergence_view *v, const struct plane *p, double time,
                           struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    for (int pass = 0; pass < 2; pass++) {
        bool gpus = pass == 1; /* on top */
        double share = fmin(1, time - (gpus ? MAP_GPUS : MAP_BACKENDS));
        for (int n = 0; n < a->runs && share > 0; n++) {
            int before = 0;
            while (strcmp(gpus ? divergence_family(&a->run[before]) : a->run[before].device,
                          gpus ? divergence_family(&a->run[n]) : a->run[n].device) != 0)
                before++;
            if (before == n)
                draw_group(v, p, n, gpus, share, d);
        }
    }
}

/* Labels beside their marks, none on another, none outside. */
struct labels {
    int count;
    struct box within;
    struct box taken[LABEL_MOST];
};

static bool is_free(const struct labels *l, struct box b)
{
    const struct box *all = &l->within;
    if (b.x < all->x || b.x + b.w > all->x + all->w || b.y < all->y || b.y + b.h > all->y + all->h)
        return false;
    for (int n = 0; n < l->count; n++) {
        const struct box *t = &l->taken[n];
        if (b.x < t->x + t->w && t->x < b.x + b.w && b.y < t->y + t->h && t->y < b.y + b.h)
            return false;
    }
    return true;
}

static void take(struct labels *l, struct box b)
{
    if (l->count < LABEL_MOST)
        l->taken[l->count++] = b;
}

static void draw_label(struct labels *l, double x, double y, enum ink ink, const char *text,
                       struct drawing *d)
{
    double wide = font_width(FACE_BOLD, 12, text);
    const double places[][2] = {{9, 4},   {-9 - wide, 4}, {-wide / 2, -9},  {-wide / 2, 18},
                                {9, -10}, {9, 18},        {-9 - wide, -10}, {-9 - wide, 18},
                                {9, 32},  {9, -24},       {-9 - wide, 32},  {-9 - wide, -24}};
    struct box b = {x + places[0][0], y + places[0][1] - 12, wide, 15};
    for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) {
        struct box at = {x + places[n][0], y + places[n][1] - 12, wide, 15};
        if (is_free(l, at)) {
            b = at;
            break;
        }
    }
    take(l, b);
    draw_text(d, FACE_BOLD, 12, ALIGN_LEFT, ink, b.x, b.y + 12, "%s", text);
}

static void draw_marks(const struct divergence_view *v, const struct plane *p, double time,
                       struct labels *l, struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    double x = axis_at(&p->across, 0), y = axis_at(&p->up, 0);
    if (time >= MAP_CENTRE + 1) {
        draw_line(d, x - 7, y, x + 7, y, INK_TEXT, 2);
        draw_line(d, x, y - 7, x, y + 7, INK_TEXT, 2);
        take(l, (struct box){x - 7, y - 7, 14, 14});
    }
    for (int n = 0; n < a->runs && time >= 1; n++) {
        x = axis_at(&p->across, m->x[n]), y = axis_at(&p->up, m->y[n]);
        draw_mark(d, divergence_style(a, n).mark, x, y, 11, divergence_style(a, n).ink);
        take(l, (struct box){x - 6, y - 6, 12, 12});
    }
    if (time >= MAP_EXACT + 1) {
        x = axis_at(&p->across, m->exact_x), y = axis_at(&p->up, m->exact_y);
        draw_mark(d, MARK_DIAMOND, x, y, 13, INK_EXACT);
        take(l, (struct box){x - 7, y - 7, 14, 14});
    }
}

/* Runs on one spot share a label: "B C D". */
static void draw_points(const struct divergence_view *v, const struct plane *p, struct box within,
                        double time, struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    struct labels l = {.within = within};
    draw_marks(v, p, time, &l, d);
    for (int n = 0; n < a->runs && time >= 1; n++) {
        char text[3 * MAP_MOST] = "";
        bool told = false;
        for (int k = 0; k < a->runs; k++) {
            if (drawn_apart(m, p, n, k))
                continue;
            told = told || k < n;
            size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%c", at > 0 ? " " : "",
                     divergence_style(a, k).letter);
        }
        if (!told)
            draw_label(&l, axis_at(&p->across, m->x[n]), axis_at(&p->up, m->y[n]),
                       divergence_style(a, n).ink, text, d);
    }
    if (time >= MAP_CENTRE + 1)
        draw_label(&l, axis_at(&p->across, 0), axis_at(&p->up, 0), INK_TEXT, "centre", d);
    if (time >= MAP_EXACT + 1)
        draw_label(&l, axis_at(&p->across, m->exact_x), axis_at(&p->up, m->exact_y), INK_EXACT,
                   "E exact", d);
}

/* A distance in few characters. */
static struct words short_words(double x)
{
    struct words w;
    snprintf(w.text, sizeof w.text, x == 0 ? "0" : x < 9.9995 ? "%.4f" : "%.3g", x);
    return w;
}

static double draw_runs(const struct divergence_view *v, double x, double right, double y,
                        struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y, "run");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, right - 76, y, "from the centre");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, right, y, "from exact");
    for (int n = 0; n < a->runs; n++) {
        y += 17;
        divergence_mark(a, n, x, y, 11.5, d);
        draw_fitted(d, n == m->nearest ? FACE_BOLD : FACE_SANS, 11.5, ALIGN_LEFT, INK_TEXT, x + 28,
                    y, right - x - 200, a->run[n].name);
        draw_text(d, FACE_MONO, 11, ALIGN_RIGHT, INK_TEXT, right - 76, y, "%s",
                  short_words(m->to_centre[n]).text);
        draw_text(d, FACE_MONO, 11, ALIGN_RIGHT, INK_TEXT, right, y, "%s",
                  short_words(m->to_exact[n]).text);
    }
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + 17,
              "bold: nearest to the centre; near it is not near exact");
    return y + 17;
}

/* "?": the models are alike, but what is not established might tell them apart. */
static double draw_distances(const struct divergence_view *v, double x, double right, double y,
                             struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    double wide = (right - x - 18) / (a->runs > 1 ? a->runs - 1 : 1);
    wide = fmin(wide, 60);
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y,
              "from run to run; ?: alike here, as far as models can tell");
    y += 16;
    for (int k = 0; k + 1 < a->runs; k++)
        draw_text(d, FACE_BOLD, 11, ALIGN_RIGHT, divergence_style(a, k).ink,
                  x + 18 + wide * (k + 1), y, "%c", divergence_style(a, k).letter);
    for (int n = 1; n < a->runs; n++) {
        y += 15;
        draw_text(d, FACE_BOLD, 11, ALIGN_LEFT, divergence_style(a, n).ink, x, y, "%c",
                  divergence_style(a, n).letter);
        for (int k = 0; k < n; k++) {
            struct words apart = short_words(m->apart[n][k]);
            const char *text = a->cannot_tell[n][k] ? "?" : apart.text + (apart.text[1] == '.');
            double size = fmin(10.5, 10.5 * (wide - 3) / font_width(FACE_MONO, 10.5, ".00000"));
            draw_text(d, FACE_MONO, size, ALIGN_RIGHT, INK_TEXT, x + 18 + wide * (k + 1), y, "%s",
                      text);
        }
    }
    return y;
}

/* Double type: the plane, and the runs by name. */
static void draw_large(const struct divergence_view *v, const struct look *look, struct box stage,
                       struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    struct box b = {stage.x + 40, stage.y + 20, 300, stage.h - 20 - 22};
    struct plane p = plane_of(m, b);
    double x = stage.x + 356, right = stage.x + stage.w, y = stage.y + 12;
    draw_axes(v, &p, b, true, d);
    draw_triangles(v, &p, look->time, d);
    draw_points(v, &p, b, look->time, d);
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, right, y, "from exact");
    for (int n = 0; n < a->runs && n < 11; n++) {
        y += 15.5;
        divergence_mark(a, n, x, y, 11.5, d);
        draw_fitted(d, FACE_SANS, 11.5, ALIGN_LEFT, INK_TEXT, x + 28, y, right - x - 76,
                    a->run[n].name);
        draw_text(d, FACE_MONO, 11, ALIGN_RIGHT, INK_TEXT, right, y, "%s",
                  short_words(m->to_exact[n]).text);
    }
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + 20,
              "coloured: one backend over the GPUs");
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + 36,
              "grey: one GPU over the backends");
}

static void draw_map_legend(const struct divergence_view *v, double x, double right, double y,
                            struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    draw_line(d, x, y - 4, x + 20, y - 4, INK_RUN_D, 2.5);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, x + 28, y,
              "coloured triangle: one backend over the GPUs");
    draw_line(d, x, y + 13, x + 20, y + 13, INK_QUIET, 0.8);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, x + 28, y + 17,
              "grey triangle: one GPU over the backends");
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, y + 34,
              "colour and marker: the backend; letter: the run");
    if (a->left_out > 0) {
        char words[300];
        snprintf(words, sizeof words, "%d left out; %s", a->left_out, a->left_why);
        draw_words(d, FACE_SANS, 10.5, INK_QUIET, (struct box){x, y + 51, right - x, 0}, 14, 3,
                   words);
    }
}

void divergence_draw_map(const struct divergence_view *v, const struct look *look, struct box stage,
                         struct drawing *d)
{
    const struct map *m = divergence_map(v);
    if (!v->core->audited.mapped || m->axes == 0) {
        draw_words(d, FACE_SANS, 13, INK_TEXT, (struct box){stage.x, stage.y + 40, stage.w, 0}, 18,
                   4,
                   v->core->audited.mapped ? "All runs store the same bits: one point."
                                           : "One run alone makes no map; --runs names others.");
        return;
    }
    if (look->large) {
        draw_large(v, look, stage, d);
        return;
    }
    struct box b = {stage.x + 50, stage.y + 24, stage.w - 50 - 392, stage.h - 24 - 60};
    struct plane p = plane_of(m, b);
    double x = stage.x + stage.w - 372, right = stage.x + stage.w;
    draw_axes(v, &p, b, false, d);
    draw_triangles(v, &p, look->time, d);
    draw_points(v, &p, b, look->time, d);
    double y = draw_runs(v, x, right, stage.y + 14, d);
    y = draw_distances(v, x, right, y + 22, d);
    draw_map_legend(v, x, right, y + 24, d);
}
