/* picture_svg.c: a drawing as SVG.  Texts stay texts; each is told how wide it is to be, so that a
   reader's own fonts do not move anything. */
#include "visualize/picture.h"

#include <stdlib.h>

#include "reference/tensor.h"

static void put_escaped(FILE *out, const char *text)
{
    for (; *text != 0; text++) {
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc((unsigned char)*text < 32 && *text != '\n' ? '?' : *text, out);
    }
}

static void put_colour(FILE *out, const char *what, enum ink ink, enum theme theme)
{
    if (ink == INK_NONE)
        fprintf(out, " %s=\"none\"", what);
    else
        fprintf(out, " %s=\"#%06X\"", what, (unsigned)ink_colour(ink, theme));
}

static const char *const hatch_path[HATCH_COUNT] = {
    [HATCH_RISING] = "M-1 1l2 -2M0 7l7 -7M6 8l2 -2",
    [HATCH_FALLING] = "M-1 6l2 2M0 0l7 7M6 -1l2 2",
    [HATCH_CROSS] = "M-1 1l2 -2M0 7l7 -7M6 8l2 -2M-1 6l2 2M0 0l7 7M6 -1l2 2",
    [HATCH_DOTS] = "M1 1h2M4 4h2"};

/* A pattern for each hatch and ink that the drawing has. */
static void put_patterns(FILE *out, const struct drawing *d, enum theme theme)
{
    bool used[HATCH_COUNT][INK_COUNT] = {{false}};
    fputs("<defs>\n", out);
    for (int n = 0; n < d->count; n++) {
        const struct shape *s = &d->shape[n];
        if (s->kind != SHAPE_RECT || s->hatch == HATCH_NONE || used[s->hatch][s->line])
            continue;
        used[s->hatch][s->line] = true;
        fprintf(out,
                "<pattern id=\"h%d-%d\" width=\"7\" height=\"7\" "
                "patternUnits=\"userSpaceOnUse\"><path d=\"%s\"",
                s->hatch, s->line, hatch_path[s->hatch]);
        put_colour(out, "stroke", s->line, theme);
        fputs("/></pattern>\n", out);
    }
    if (d->stage.w > 0)
        fprintf(out,
                "<clipPath id=\"stage\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                "height=\"%.2f\"/></clipPath>\n",
                d->stage.x, d->stage.y, d->stage.w, d->stage.h);
    fputs("</defs>\n", out);
}

static void put_rect(FILE *out, const struct shape *s, enum theme theme)
{
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"", s->x, s->y, s->w,
            s->h);
    put_colour(out, "fill", s->fill, theme);
    put_colour(out, "stroke", s->line, theme);
    fprintf(out, " stroke-width=\"%.2f\"/>\n", s->size);
    if (s->hatch != HATCH_NONE)
        fprintf(out,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                "fill=\"url(#h%d-%d)\"/>\n",
                s->x, s->y, s->w, s->h, s->hatch, s->line);
}

static void put_mark(FILE *out, const struct shape *s, enum theme theme)
{
    double r = s->w / 2;
    switch (s->mark) {
    case MARK_CIRCLE:
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", s->x, s->y, r);
        break;
    case MARK_SQUARE:
        fprintf(out, "<path d=\"M%.2f %.2fh%.2fv%.2fh%.2fz\"", s->x - 0.9 * r, s->y - 0.9 * r,
                1.8 * r, 1.8 * r, -1.8 * r);
        break;
    case MARK_DIAMOND:
        fprintf(out, "<path d=\"M%.2f %.2fl%.2f %.2fl%.2f %.2fl%.2f %.2fz\"", s->x, s->y - 1.1 * r,
                1.1 * r, 1.1 * r, -1.1 * r, 1.1 * r, -1.1 * r, -1.1 * r);
        break;
    default: {
        double up = s->mark == MARK_DOWN ? -1 : 1;
        fprintf(out, "<path d=\"M%.2f %.2fl%.2f %.2fh%.2fz\"", s->x, s->y - up * r, r, up * 1.8 * r,
                -2 * r);
    }
    }
    put_colour(out, "fill", s->fill, theme);
    fputs("/>\n", out);
}

static void put_text(FILE *out, const struct drawing *d, const struct shape *s, enum theme theme)
{
    static const char *const families[FACE_COUNT] = {
        [FACE_SANS] = "DejaVu Sans,Verdana,sans-serif",
        [FACE_BOLD] = "DejaVu Sans,Verdana,sans-serif\" font-weight=\"bold",
        [FACE_MONO] = "DejaVu Sans Mono,Menlo,monospace"};
    struct box b = drawing_box(d, s);
    fprintf(out,
            "<text x=\"%.2f\" y=\"%.2f\" font-family=\"%s\" font-size=\"%.2f\" "
            "textLength=\"%.2f\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"",
            b.x, s->y, families[s->face], s->size, b.w);
    put_colour(out, "fill", s->fill, theme);
    fputc('>', out);
    put_escaped(out, drawing_text(d, s));
    fputs("</text>\n", out);
}

/* Neighbours of one level are one rectangle. */
static void put_heat(FILE *out, const struct drawing *d, const struct shape *s, enum theme theme)
{
    const unsigned char *level = (const unsigned char *)d->pool + s->text;
    double w = s->w / s->cols, h = s->h / s->rows;
    fputs("<g shape-rendering=\"crispEdges\">\n", out);
    for (int row = 0; row < s->rows; row++)
        for (int col = 0, end; col < s->cols; col = end) {
            const unsigned char *line = level + row * s->cols;
            for (end = col; end < s->cols && line[end] == line[col];)
                end++;
            fprintf(out,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                    "fill=\"#%06X\"/>\n",
                    s->x + w * col, s->y + h * row, w * (end - col), h,
                    (unsigned)ink_heat(line[col], theme));
        }
    fputs("</g>\n", out);
}

static void put_shape(FILE *out, const struct drawing *d, const struct shape *s, enum theme theme)
{
    switch (s->kind) {
    case SHAPE_RECT:
        put_rect(out, s, theme);
        break;
    case SHAPE_LINE:
        fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"", s->x, s->y,
                s->x + s->w, s->y + s->h);
        put_colour(out, "stroke", s->line, theme);
        fprintf(out, " stroke-width=\"%.2f\"/>\n", s->size);
        break;
    case SHAPE_MARK:
        put_mark(out, s, theme);
        break;
    case SHAPE_TEXT:
        put_text(out, d, s, theme);
        break;
    case SHAPE_HEAT:
        put_heat(out, d, s, theme);
        break;
    }
}

bool svg_write(const struct drawing *d, enum theme theme, int width, int height, const char *title,
               const char *description, const char *path, bool force, struct message *why)
{
    struct output_file file;
    if (!file_begin(&file, path, force, why))
        return false;
    FILE *out = file.stream;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %.2f %.2f\">\n<title>",
            width, height, d->width, d->height);
    put_escaped(out, title);
    fputs("</title>\n<desc>", out);
    put_escaped(out, description);
    fputs("</desc>\n", out);
    put_patterns(out, d, theme);
    fprintf(out, "<rect width=\"%.2f\" height=\"%.2f\"", d->width, d->height);
    put_colour(out, "fill", INK_PAPER, theme);
    fputs("/>\n", out);
    for (int n = 0; n < d->count; n++) {
        bool clip = d->shape[n].zoomed && d->stage.w > 0;
        fputs(clip ? "<g clip-path=\"url(#stage)\">" : "", out);
        put_shape(out, d, &d->shape[n], theme);
        fputs(clip ? "</g>\n" : "", out);
    }
    fputs("</svg>\n", out);
    return file_commit(&file, why);
}
