/* scene_decode_map.c: the number line of the last values, and where each backend rounds. */
#include "visualize/scene_decode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Low and high so that every run, the exact result and the nearest boundary are seen. */
static struct axis line_axis(const struct decode_story *s, double middle, struct box b)
{
    struct axis a = {fmin(s->exact[0], middle), fmax(s->exact[0], middle), b.x, b.x + b.w};
    for (int n = 0; n < s->lanes; n++)
        if (isfinite(s->lane[n].before)) {
            a.low = fmin(a.low, s->lane[n].before);
            a.high = fmax(a.high, s->lane[n].before);
        }
    double span = a.high - a.low;
    span = span > 0 ? span : format_ulp(s->out, s->exact[0]);
    a.low -= span * 0.12;
    a.high += span * 0.12;
    return a;
}

/* Letters of runs that stand close share a place: each one goes a line higher. */
static void draw_runs(const struct decode_view *v, const struct look *look, const struct axis *a,
                      double y, struct drawing *d)
{
    const struct decode_story *s = &v->story;
    double taken[DECODE_LANES + 1];
    int count = 0;
    for (int n = -1; n < s->lanes; n++) {
        bool there = n < 0 || look->time >= v->most_groups + 1;
        double value = n < 0 ? s->exact[0] : s->lane[n].before;
        if (!there || !isfinite(value))
            continue;
        double x = axis_at(a, value);
        int level = 0;
        for (int k = 0; k < count; k++)
            level += fabs(taken[k] - x) < 30;
        taken[count++] = x;
        struct run_style style = run_style(n);
        d->what = n < 0 ? WHAT_EXACT : WHAT_BEFORE | n;
        draw_line(d, x, y - 12 - 17 * level, x, y, style.ink, 1.5);
        draw_mark(d, style.mark, x, y, 9, style.ink);
        draw_run(d, n, x - 12, y - 14 - 17 * level, 12);
        d->what = 0;
    }
}

static void draw_halves(const struct decode_story *s, const struct axis *a, double middle,
                        double below, double above, double y, bool large, struct drawing *d)
{
    double x = axis_at(a, middle);
    const char *format = format_info(s->out)->name;
    draw_hatched(d, (struct box){a->from, y - 5, x - a->from, 10}, INK_WAITING, INK_QUIET,
                 HATCH_RISING);
    draw_rect(d, (struct box){x, y - 5, a->to - x, 10}, INK_WAITING, INK_QUIET);
    draw_line(d, x, y - (large ? 44 : 60), x, y + (large ? 8 : 22), INK_ALARM, 1.5);
    double centre = fmin(a->to - 70, fmax(a->from + 70, x));
    draw_text(d, FACE_SANS, 11, ALIGN_CENTRE, INK_ALARM, centre, y + 34, "boundary %.10g", middle);
    bool room = x - a->from > 190;
    draw_text(d, FACE_SANS, 11, room ? ALIGN_RIGHT : ALIGN_LEFT, INK_TEXT, room ? x - 8 : a->from,
              y + 20, "%s stores %s", format, number_words(below).text);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT,
              room ? fmin(x + 8, a->to - 180) : a->from + 190, y + 20, "%s stores %s", format,
              number_words(above).text);
}

void draw_number_line(const struct decode_view *v, const struct look *look, struct box b,
                      struct drawing *d)
{
    const struct decode_story *s = &v->story;
    double near = format_round(s->out, s->exact[0], false);
    double other = format_next(s->out, near, s->exact[0] >= near ? 1 : -1);
    double below = fmin(near, other), above = fmax(near, other), middle = (below + above) / 2;
    struct axis a = line_axis(s, middle, b);
    double y = b.y + (look->large ? 56 : 72);
    char title[120];
    snprintf(title, sizeof title,
             "number line of the output before the last rounding; E exact = %s", s->digits);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y + 4, "%s", decode_title(v, title));
    draw_halves(s, &a, middle, below, above, y, look->large, d);
    draw_runs(v, look, &a, y, d);
    double x = axis_at(&a, middle); /* its own label comes first */
    if (x - a.from > 150)
        draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, a.from, y + 34, "%.8g", a.low);
    if (a.to - x > 150)
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, a.to, y + 34, "%.8g", a.high);
    if (look->time < v->most_groups + 2)
        return;
    char text[160] = "stored:";
    for (int n = 0; n < s->lanes; n++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "   %c %s (%s ulp)",
                 run_style(n).letter, number_words(s->lane[n].stored).text,
                 drift_words(drift_in(s->out, s->lane[n].stored, s->exact)).text);
    draw_fitted(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, b.x, y + (look->large ? 51 : 54), b.w,
                text);
}

static const struct {
    enum site site;
    const char *label;
} columns[] = {{SITE_PROB, "weights p"},
               {SITE_ROW_SUM, "sum of p"},
               {SITE_OUT_ACC, "sum of p v"},
               {SITE_PARTIAL_OUT, "group's O"},
               {SITE_PARTIAL_STAT, "group's m, l"},
               {SITE_COMBINE_ACC, "merge"},
               {SITE_OUT, "output"}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void draw_chip(struct drawing *d, struct box b, enum format f, const char *note)
{
    bool narrow = format_info(f)->bits > 0 && format_info(f)->bits <= 16;
    draw_rect(d, b, narrow ? INK_NARROW : INK_WIDE, INK_NONE);
    draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, narrow ? INK_ON_NARROW : INK_ON_WIDE, b.x + b.w / 2,
              b.y + 12, "%s%s", format_info(f)->name, note);
}

static void groups_of(const struct backend_info *b, char *text, size_t room)
{
    snprintf(text, room, "%s, %s",
             b->rule == SPLIT_RULE_DECODE ? "every tile"
             : b->splits > 0              ? "16 segments"
                                          : "by SMs",
             b->round_robin ? "round robin" : "contiguous");
}

void draw_rounding_map(const struct decode_view *v, struct box b, struct drawing *d)
{
    double left = b.x + 84, groups = 160, width = (b.w - 84 - groups - 4) / COLUMNS;
    double row = fmin(19, (b.h - 34) / BACKEND_COUNT);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y + 2, "backend");
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, left, b.y + 2, "how tokens are grouped");
    for (int c = 0; c < COLUMNS; c++)
        draw_text(d, FACE_SANS, 11, ALIGN_CENTRE, INK_QUIET, left + groups + width * (c + 0.5),
                  b.y + 2, "%s", columns[c].label);
    for (int n = 0; n < BACKEND_COUNT; n++) {
        const struct backend_info *info = backend_info((enum backend)n);
        struct policy p;
        double y = b.y + 9 + row * n;
        char text[64];
        bool chosen = strcmp(decode_backend(v->switches)->name, info->name) == 0;
        draw_text(d, chosen ? FACE_BOLD : FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, b.x, y + 12, "%s%s",
                  info->name, chosen ? " *" : "");
        groups_of(info, text, sizeof text);
        draw_rect(d, (struct box){left, y, groups - 4, row - 3}, INK_GROUPS, INK_NONE);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_ON_GROUPS, left + groups / 2 - 2, y + 12,
                  "%s", text);
        if (!decode_policy(v, (enum backend)n, &p))
            continue;
        for (int c = 0; c < COLUMNS; c++)
            draw_chip(d, (struct box){left + groups + width * c, y, width - 3, row - 3},
                      p.site[columns[c].site].format,
                      info->sum_rounded && columns[c].site == SITE_ROW_SUM ? " of those" : "");
    }
    double y = b.y + 9 + row * BACKEND_COUNT + 13;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, left, y,
              "orange: rounded to 16 bits    blue: stays fp32    purple: groups    * shown above");
}
