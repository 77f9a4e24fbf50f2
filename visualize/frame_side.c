/* frame_side.c: the panel beside the stage; see frame_parts.h. */
#include "visualize/frame_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualize/listing.h"

enum { SOURCE_LINES = 7, PAD = 12 };

/* A source line without its note and within the panel's width. */
static void draw_source_line(struct drawing *d, const char *file, int n, double x, double y,
                             double width, bool here)
{
    char line[256];
    if (!listing_line(file, n, line, sizeof line))
        return;
    const char *note = listing_note(line);
    if (note != NULL)
        line[note - line] = 0;
    size_t end = strlen(line);
    while (end > 0 && line[end - 1] == ' ')
        line[--end] = 0;
    size_t most = (size_t)((width - 34) / font_width(FACE_MONO, 10, "x"));
    if (end > most)
        snprintf(line + most - 3, sizeof line - most + 3, "...");
    if (here)
        draw_rect(d, (struct box){x, y - 10.5, width, 14}, INK_CHANGED, INK_NONE);
    draw_text(d, FACE_MONO, 10, ALIGN_RIGHT, INK_QUIET, x + 26, y, "%d", n);
    draw_text(d, FACE_MONO, 10, ALIGN_LEFT, INK_TEXT, x + 32, y, "%s", line);
}

/* As many lines as the space has room for; returns where it ends. */
static double draw_source(struct drawing *d, const struct source_line *s, struct box b, double y,
                          double space)
{
    int lines = (int)((space - 12) / 14);
    lines = lines > SOURCE_LINES ? SOURCE_LINES : lines;
    if (lines < 1)
        return y;
    char name[80];
    const char *slash = strrchr(s->file, '/');
    snprintf(name, sizeof name, "%s, line %d", slash != NULL ? slash + 1 : s->file, s->last);
    draw_text(d, FACE_BOLD, 11, ALIGN_LEFT, INK_TEXT, b.x + PAD, y, "%c   %s",
              s->letter == '*' ? ' ' : s->letter, name);
    y += 17;
    int first = s->last - lines + 1 + lines / 3;
    first = first < 1 ? 1 : first;
    for (int n = first; n < first + lines; n++, y += 14)
        draw_source_line(d, s->file, n, b.x + 4, y, b.w - 8, n >= s->first && n <= s->last);
    return y + 8;
}

/* Down to `limit`, where the number under the pointer has its place. */
static void draw_step(const struct scene *s, const struct frame_state *f, struct box b,
                      double limit, struct drawing *d)
{
    struct moment_words w;
    int n = (int)ceil(f->look.time) - 1;
    double y = b.y + 24, inner = b.w - 2 * PAD;
    if (n < 0) {
        draw_text(d, FACE_BOLD, 16, ALIGN_LEFT, INK_TEXT, b.x + PAD, y, "Before the first step");
        draw_words(d, FACE_SANS, 12.5, INK_TEXT, (struct box){b.x + PAD, y + 22, inner, 0}, 17, 3,
                   scene_info(s->id)->meaning);
        return;
    }
    s->kind->words(s, n, &w);
    draw_text(d, FACE_BOLD, 16, ALIGN_LEFT, INK_TEXT, b.x + PAD, y, "%s", w.step);
    draw_text(d, FACE_SANS, 12, ALIGN_RIGHT, INK_QUIET, b.x + b.w - PAD, y, "%s", w.where);
    draw_fitted(d, FACE_MONO, 15, ALIGN_LEFT, INK_TEXT, b.x + PAD, y + 26, inner, w.equation);
    y += 48;
    y += 17 * draw_words(d, FACE_SANS, 12.5, INK_TEXT, (struct box){b.x + PAD, y, inner, 0}, 17, 3,
                         w.meaning);
    y += 15 * draw_words(d, FACE_MONO, 11, INK_QUIET, (struct box){b.x + PAD, y, inner, 0}, 15, 4,
                         w.numbers) +
         8;
    int sources = (w.source[0].last > 0) + (w.source[1].last > 0);
    for (int i = 0; i < 2; i++)
        if (w.source[i].letter != 0 && w.source[i].last > 0)
            y = draw_source(d, &w.source[i], b, y + 4, (limit - y - 4) / sources--);
}

static void bits_words(char *text, size_t room, enum format f, double x)
{
    uint64_t bits = format_encode(f, x);
    int all = format_info(f)->bits, fraction = format_info(f)->precision - 1;
    size_t at = 0;
    for (int i = all - 1; i >= 0 && at + 3 < room; i--) {
        text[at++] = (char)('0' + (bits >> i & 1));
        if (i == all - 1 || i == fraction)
            text[at++] = ' ';
    }
    text[at] = 0;
}

static double draw_number(const struct inspection *i, struct box b, double y, struct drawing *d)
{
    char bits[96];
    double inner = b.w - 2 * PAD, x = b.x + PAD;
    draw_text(d, FACE_BOLD, 12.5, ALIGN_LEFT, INK_TEXT, x, y, "%s", i->name);
    bits_words(bits, sizeof bits, i->format, i->value);
    char line[160];
    snprintf(line, sizeof line, "%.17g", i->value);
    draw_fitted(d, FACE_MONO, 11.5, ALIGN_LEFT, INK_TEXT, x, y + 18, inner, line);
    snprintf(line, sizeof line, "0x%0*" PRIX64 "  %s", format_info(i->format)->bits / 4,
             format_encode(i->format, i->value), format_info(i->format)->name);
    draw_fitted(d, FACE_MONO, 11.5, ALIGN_LEFT, INK_TEXT, x, y + 34, inner, line);
    draw_fitted(d, FACE_MONO, 11, ALIGN_LEFT, INK_QUIET, x, y + 50, inner, bits);
    if (!i->has_exact)
        return y + 66;
    snprintf(line, sizeof line, "exact %.17g", i->exact[0]);
    draw_fitted(d, FACE_MONO, 11.5, ALIGN_LEFT, INK_TEXT, x, y + 66, inner, line);
    snprintf(line, sizeof line, "drift %s ulp of %s",
             drift_words(drift_in(i->ulps, i->value, i->exact)).text, format_info(i->ulps)->name);
    draw_fitted(d, FACE_MONO, 11.5, ALIGN_LEFT, INK_TEXT, x, y + 82, inner, line);
    return y + 98;
}

/* A pinned number's last values, newest first. */
static void draw_history(const struct scene *s, const struct frame_state *f, struct box b, double y,
                         struct drawing *d)
{
    int lines = 0;
    struct inspection i;
    for (int n = (int)floor(f->look.time); n >= 1 && lines < 4 && y < b.y + b.h - 16; n--) {
        struct inspection before = {.value = NAN};
        struct moment_words w;
        if (!s->kind->inspect(s, f->look.pinned, n, &i))
            return;
        bool had = s->kind->inspect(s, f->look.pinned, n - 1, &before);
        if (had && memcmp(&before.value, &i.value, sizeof i.value) == 0)
            continue;
        s->kind->words(s, n - 1, &w);
        draw_text(d, FACE_MONO, 10.5, ALIGN_LEFT, INK_QUIET, b.x + PAD, y, "%4d %-10s %s", n,
                  w.step, number_words(i.value).text);
        y += 14;
        lines++;
    }
}

static void draw_inspector(const struct scene *s, const struct frame_state *f, struct box b,
                           double y, struct drawing *d)
{
    struct inspection i;
    int what = f->look.hovered != 0 ? f->look.hovered : f->look.pinned;
    draw_line(d, b.x, y, b.x + b.w, y, INK_RULE, 1);
    y += 20;
    if (what == 0 || !s->kind->inspect(s, what, (int)floor(f->look.time), &i)) {
        draw_text(d, FACE_SANS, 11.5, ALIGN_LEFT, INK_QUIET, b.x + PAD, y,
                  what == 0 ? "Point at a number for its bits; click keeps it."
                            : "This number is not there yet.");
        return;
    }
    if (i.in_words) {
        draw_text(d, FACE_BOLD, 12.5, ALIGN_LEFT, INK_TEXT, b.x + PAD, y, "%s", i.name);
        for (int n = 0; n < 3; n++)
            draw_fitted(d, FACE_MONO, 11.5, ALIGN_LEFT, INK_TEXT, b.x + PAD, y + 18 + 16 * n,
                        b.w - 2 * PAD, i.words[n]);
        return;
    }
    y = draw_number(&i, b, y, d) + 4;
    if (f->look.pinned != 0 && what == f->look.pinned)
        draw_history(s, f, b, y, d);
}

static void draw_parameter(const struct parameter *p, int n, bool chosen, struct box b, double y,
                           double width, struct drawing *d)
{
    double from, to;
    frame_slider(width, &from, &to);
    if (chosen)
        draw_rect(d, (struct box){b.x + 3, y - 13, 3, 17}, INK_FOCUS, INK_NONE);
    draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, b.x + PAD, y, "%s", p->name);
    struct box less = {b.x + b.w - 58, y - 13, 20, 18}, more = {b.x + b.w - 32, y - 13, 20, 18};
    d->what = FRAME_LESS + n;
    draw_rect(d, less, INK_CELL, INK_QUIET);
    draw_text(d, FACE_BOLD, 12, ALIGN_CENTRE, INK_TEXT, less.x + 10, y, "-");
    d->what = FRAME_MORE + n;
    draw_rect(d, more, INK_CELL, INK_QUIET);
    draw_text(d, FACE_BOLD, 12, ALIGN_CENTRE, INK_TEXT, more.x + 10, y, "+");
    d->what = 0;
    if (!p->slider) {
        draw_fitted(d, FACE_MONO, 12, ALIGN_LEFT, INK_TEXT, from, y, less.x - from - 8, p->value);
        return;
    }
    d->what = FRAME_SLIDER + n;
    draw_rect(d, (struct box){from - 6, y - 13, to - from + 12, 18}, INK_PANEL, INK_NONE);
    draw_rect(d, (struct box){from, y - 6, to - from, 4}, INK_RULE, INK_NONE);
    draw_mark(d, MARK_CIRCLE, from + (to - from) * p->place, y - 4, 12, INK_FOCUS);
    d->what = 0;
    draw_fitted(d, FACE_MONO, 12, ALIGN_LEFT, INK_TEXT, to + 14, y, less.x - to - 20, p->value);
}

static int draw_parameters(const struct scene *s, const struct frame_state *f, struct box b,
                           double width, struct drawing *d)
{
    struct parameter p[PARAMETER_MOST];
    int count = s->kind->parameters(s, p);
    double y = b.y + b.h - 24 * count + 8;
    for (int n = 0; n < count; n++, y += 24)
        draw_parameter(&p[n], n, n == f->parameter, b, y, width, d);
    return count;
}

void frame_side(const struct scene *s, const struct frame_state *f, struct box b, struct drawing *d)
{
    double width = b.x + b.w + 16;
    draw_rect(d, b, INK_PANEL, INK_NONE);
    int parameters = draw_parameters(s, f, b, width, d);
    struct box inner = b;
    inner.h -= 24 * parameters + (parameters > 0 ? 14 : 0);
    if (parameters > 0)
        draw_line(d, b.x, b.y + inner.h, b.x + b.w, b.y + inner.h, INK_RULE, 1);
    double told = f->look.pinned != 0 ? 184 : 126; /* a pinned number's last values, too */
    draw_step(s, f, b, b.y + inner.h - told - 4, d);
    draw_inspector(s, f, inner, b.y + inner.h - told, d);
}
