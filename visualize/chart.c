/* chart.c: see chart.h. */
#include "visualize/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct run_style run_style(int run)
{
    static const struct run_style styles[] = {{'A', INK_RUN_A, MARK_CIRCLE},
                                              {'B', INK_RUN_B, MARK_SQUARE},
                                              {'C', INK_RUN_C, MARK_TRIANGLE},
                                              {'D', INK_RUN_D, MARK_DOWN}};
    if (run < 0)
        return (struct run_style){'E', INK_EXACT, MARK_DIAMOND};
    return styles[run % 4];
}

void draw_run(struct drawing *d, int run, double x, double y, double size)
{
    struct run_style s = run_style(run);
    draw_mark(d, s.mark, x + size * 0.4, y - size * 0.36, size * 0.72, s.ink);
    draw_text(d, FACE_BOLD, size, ALIGN_LEFT, s.ink, x + size, y, "%c", s.letter);
}

double axis_at(const struct axis *s, double value)
{
    if (s->high == s->low)
        return s->from;
    double share = (value - s->low) / (s->high - s->low);
    share = share < -1 ? -1 : share > 2 ? 2 : share;
    return s->from + (s->to - s->from) * share;
}

double axis_round(struct axis *s, int count)
{
    double span = s->high - s->low;
    if (!(span > 0) || !isfinite(span)) {
        s->low = isfinite(s->low) ? floor(s->low) : 0;
        s->high = s->low + 1;
        span = 1;
    }
    double step = pow(10, floor(log10(span / count)));
    double wanted = span / count / step;
    step *= wanted > 5 ? 10 : wanted > 2 ? 5 : wanted > 1 ? 2 : 1;
    s->low = floor(s->low / step) * step;
    s->high = ceil(s->high / step) * step;
    return step;
}

/* Ticks as multiples of the step, so that 0 is 0. */
static void tick_words(char *text, size_t room, double value, double step)
{
    double x = floor(value / step + 0.5) * step;
    snprintf(text, room, "%.6g", fabs(x) < step / 1e6 ? 0 : x);
}

void draw_axis_up(struct drawing *d, const struct axis *s, double x, double right, double step,
                  const char *title)
{
    int ticks = (int)floor((s->high - s->low) / step + 0.5);
    for (int i = 0; i <= ticks; i++) {
        char text[32];
        double value = s->low + step * i, y = axis_at(s, value);
        tick_words(text, sizeof text, value, step);
        draw_line(d, x, y, right, y, INK_RULE, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, x - 6, y + 4, "%s", text);
    }
    draw_line(d, x, s->from, x, s->to, INK_QUIET, 1);
    if (title[0] != 0)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, s->to - 9, "%s", title);
}

void draw_axis_across(struct drawing *d, const struct axis *s, double y, double step,
                      const char *title)
{
    int ticks = (int)floor((s->high - s->low) / step + 0.5);
    draw_line(d, s->from, y, s->to, y, INK_QUIET, 1);
    for (int i = 0; i <= ticks; i++) {
        char text[32];
        double value = s->low + step * i, x = axis_at(s, value);
        tick_words(text, sizeof text, value, step);
        draw_line(d, x, y, x, y + 4, INK_QUIET, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, x, y + 16, "%s", text);
    }
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, s->to, y + 31, "%s", title);
}

void draw_fitted(struct drawing *d, enum face face, double size, enum align align, enum ink ink,
                 double x, double y, double width, const char *text)
{
    double wide = font_width(face, size, text);
    draw_text(d, face, wide > width ? size * width / wide : size, align, ink, x, y, "%s", text);
}

void draw_cell(struct drawing *d, const struct value_cell *c)
{
    const struct box *b = &c->box;
    bool tall = b->h >= 30;
    draw_rect(d, *b, c->fill, c->line);
    if (tall) {
        draw_text(d, FACE_BOLD, 11, ALIGN_LEFT, INK_TEXT, b->x + 5, b->y + 13, "%s", c->symbol);
        draw_fitted(d, FACE_SANS, 10, ALIGN_RIGHT, INK_QUIET, b->x + b->w - 5, b->y + 13,
                    b->w - 14 - font_width(FACE_BOLD, 11, c->symbol), c->note);
    }
    draw_fitted(d, FACE_MONO, c->type, ALIGN_CENTRE, INK_TEXT, b->x + b->w / 2,
                b->y + (tall ? b->h - 8 : b->h / 2 + c->type * 0.36), b->w - 8, c->value);
}
