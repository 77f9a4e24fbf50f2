/* draw.c: the list of shapes; see draw.h. */
#include "visualize/draw.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void drawing_clear(struct drawing *d, double width, double height)
{
    d->width = width;
    d->height = height;
    d->count = 0;
    d->pool_count = 0;
    d->stage = (struct box){0, 0, 0, 0};
    d->what = 0;
    d->zoomed = false;
}

void drawing_free(struct drawing *d)
{
    free(d->shape);
    free(d->pool);
    *d = (struct drawing){0};
}

static struct shape *add(struct drawing *d, enum shape_kind kind)
{
    if (d->count == d->room) {
        d->room = d->room > 0 ? 2 * d->room : 256;
        d->shape = realloc(d->shape, (size_t)d->room * sizeof *d->shape);
        if (d->shape == NULL)
            abort();
    }
    struct shape *s = &d->shape[d->count++];
    *s = (struct shape){.kind = kind, .what = d->what, .zoomed = d->zoomed};
    return s;
}

static size_t pooled(struct drawing *d, const void *bytes, size_t count)
{
    if (d->pool_room - d->pool_count < count) {
        d->pool_room = 2 * d->pool_room + count;
        d->pool = realloc(d->pool, d->pool_room);
        if (d->pool == NULL)
            abort();
    }
    memcpy(d->pool + d->pool_count, bytes, count);
    d->pool_count += count;
    return d->pool_count - count;
}

struct shape *draw_rect(struct drawing *d, struct box b, enum ink fill, enum ink line)
{
    struct shape *s = add(d, SHAPE_RECT);
    s->x = b.x, s->y = b.y, s->w = b.w, s->h = b.h;
    s->fill = fill;
    s->line = line;
    s->size = 1;
    return s;
}

void draw_hatched(struct drawing *d, struct box b, enum ink fill, enum ink line, enum hatch hatch)
{
    draw_rect(d, b, fill, line)->hatch = hatch;
}

void draw_line(struct drawing *d, double x, double y, double to_x, double to_y, enum ink ink,
               double width)
{
    struct shape *s = add(d, SHAPE_LINE);
    s->x = x, s->y = y, s->w = to_x - x, s->h = to_y - y;
    s->line = ink;
    s->size = width;
}

void draw_mark(struct drawing *d, enum mark mark, double x, double y, double width, enum ink fill)
{
    struct shape *s = add(d, SHAPE_MARK);
    s->x = x, s->y = y, s->w = s->h = width;
    s->fill = fill;
    s->mark = mark;
}

void draw_heat(struct drawing *d, struct box b, int cols, int rows, const unsigned char *levels)
{
    struct shape *s = add(d, SHAPE_HEAT);
    s->x = b.x, s->y = b.y, s->w = b.w, s->h = b.h;
    s->cols = cols, s->rows = rows;
    s->text = pooled(d, levels, (size_t)cols * (size_t)rows);
}

static void add_text(struct drawing *d, enum face face, double size, enum align align, enum ink ink,
                     double x, double y, const char *text, size_t length)
{
    struct shape *s = add(d, SHAPE_TEXT);
    s->x = x, s->y = y;
    s->face = face;
    s->size = size;
    s->align = align;
    s->fill = ink;
    s->text = pooled(d, text, length);
    pooled(d, "", 1);
}

void draw_text(struct drawing *d, enum face face, double size, enum align align, enum ink ink,
               double x, double y, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        add_text(d, face, size, align, ink, x, y, text, strlen(text));
}

/* Bytes of `words` that fit the width; at least one. */
static size_t fitting(enum face face, double size, double width, const char *words)
{
    char line[256];
    size_t end = 0, all = strcspn(words, "\n");
    for (size_t n = 1; n <= all && n < sizeof line; n++) {
        if (n < all && words[n] != ' ')
            continue;
        memcpy(line, words, n);
        line[n] = 0;
        if (font_width(face, size, line) > width && end > 0)
            break;
        end = n;
    }
    return end > 0 ? end : all < sizeof line ? all : sizeof line - 1;
}

int draw_words(struct drawing *d, enum face face, double size, enum ink ink, struct box b,
               double leading, int most, const char *words)
{
    int lines = 0;
    while (*words != 0 && lines < most) {
        size_t n = fitting(face, size, b.w, words);
        const char *rest = words + n;
        rest += *rest == '\n';
        rest += strspn(rest, " ");
        bool cut = *rest != 0 && lines + 1 == most;
        if (cut)
            n = fitting(face, size, b.w - font_width(face, size, " ..."), words);
        draw_text(d, face, size, ALIGN_LEFT, ink, b.x, b.y + leading * lines, "%.*s%s", (int)n,
                  words, cut ? " ..." : "");
        lines++;
        words = rest;
    }
    return lines;
}

void draw_arrow(struct drawing *d, double x, double y, double to_x, double to_y, enum ink ink,
                double width)
{
    double length = hypot(to_x - x, to_y - y), head = 3 * width + 3;
    if (length == 0)
        return;
    double ux = (to_x - x) / length, uy = (to_y - y) / length;
    draw_line(d, x, y, to_x, to_y, ink, width);
    draw_line(d, to_x, to_y, to_x - head * (ux + 0.6 * uy), to_y - head * (uy - 0.6 * ux), ink,
              width);
    draw_line(d, to_x, to_y, to_x - head * (ux - 0.6 * uy), to_y - head * (uy + 0.6 * ux), ink,
              width);
}

const char *drawing_text(const struct drawing *d, const struct shape *s)
{
    assert(s->kind == SHAPE_TEXT);
    return d->pool + s->text;
}

struct box drawing_box(const struct drawing *d, const struct shape *s)
{
    if (s->kind == SHAPE_MARK)
        return (struct box){s->x - s->w / 2, s->y - s->h / 2, s->w, s->h};
    if (s->kind == SHAPE_LINE)
        return (struct box){fmin(s->x, s->x + s->w), fmin(s->y, s->y + s->h), fabs(s->w),
                            fabs(s->h)};
    if (s->kind != SHAPE_TEXT)
        return (struct box){s->x, s->y, s->w, s->h};
    double width = font_width(s->face, s->size, drawing_text(d, s));
    double shift = s->align == ALIGN_LEFT ? 0 : s->align == ALIGN_CENTRE ? width / 2 : width;
    return (struct box){s->x - shift, s->y - FONT_ABOVE * s->size, width,
                        (FONT_ABOVE + FONT_BELOW) * s->size};
}

int drawing_what(const struct drawing *d, double x, double y)
{
    for (int n = d->count; n-- > 0;) {
        struct box b = drawing_box(d, &d->shape[n]);
        if (d->shape[n].what != 0 && x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h)
            return d->shape[n].what;
    }
    return 0;
}

void drawing_zoom(struct drawing *d, double zoom, double dx, double dy)
{
    for (int n = 0; n < d->count; n++) {
        struct shape *s = &d->shape[n];
        if (!s->zoomed)
            continue;
        s->x = s->x * zoom + dx;
        s->y = s->y * zoom + dy;
        s->w *= zoom;
        s->h *= zoom;
        s->size *= zoom;
    }
}

void drawing_enlarge(struct drawing *d, double times)
{
    d->width *= times, d->height *= times;
    d->stage = (struct box){d->stage.x * times, d->stage.y * times, d->stage.w * times,
                            d->stage.h * times};
    for (int n = 0; n < d->count; n++) {
        struct shape *s = &d->shape[n];
        s->x *= times, s->y *= times, s->w *= times, s->h *= times;
        s->size *= times;
    }
}
