/* report_page_roofline.c: a figure of rooflines as SVG. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "simulator/report_page_parts.h"

enum { LEFT = 70, RIGHT = 180, TOP = 20, BOTTOM = 50, TALL = 380 };

struct scales {
    double x0, x1, y0, y1; /* powers of ten */
};

double page_attainable(const struct page_roof *roof, double intensity)
{
    return fmin(roof->peak, roof->bandwidth * intensity / 1e3);
}

static double place_x(const struct scales *s, double x)
{
    return LEFT + (log10(x) - s->x0) / (s->x1 - s->x0) * (PAGE_FIGURE_WIDTH - LEFT - RIGHT);
}

static double place_y(const struct scales *s, double y)
{
    double span = TALL - TOP - BOTTOM, up = (log10(y) - s->y0) / (s->y1 - s->y0);
    return TOP + span * (1 - fmax(0, up));
}

/* Whole decades around every point, roof and corner. */
static struct scales scales_of(const struct page_block *b)
{
    struct scales s = {0, 3, 0, 1};
    for (int64_t i = 0; i < b->cells; i++) {
        const struct page_roof *r = &b->roof[i];
        double corner = r->peak / r->bandwidth * 1e3;
        s.x0 = fmin(s.x0, floor(log10(r->intensity)));
        s.x1 = fmax(s.x1, ceil(log10(2 * fmax(corner, r->intensity))));
        s.y0 = fmin(s.y0, floor(log10(r->low)));
        s.y1 = fmax(s.y1, ceil(log10(1.2 * r->peak)));
    }
    return s;
}

static void draw_axes(FILE *out, const struct scales *s)
{
    double right = PAGE_FIGURE_WIDTH - RIGHT, bottom = TALL - BOTTOM;
    for (double x = s->x0; x <= s->x1; x++) {
        double at = place_x(s, pow(10, x));
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#8884\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
                at, TOP, at, bottom, at, bottom + 16, pow(10, x));
    }
    for (double y = s->y0; y <= s->y1; y++) {
        double at = place_y(s, pow(10, y));
        fprintf(out,
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#8884\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                LEFT, at, right, at, LEFT - 6, at + 4, pow(10, y));
    }
    fprintf(out,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">FLOPs a byte of device memory"
            "</text><text x=\"%d\" y=\"14\">TFLOP/s</text>\n",
            (LEFT + right) / 2, bottom + 38, LEFT);
}

/* Where roof i's stroke stands: beside those of the same intensity before it, which it would hide. */
static double stroke_x(const struct scales *s, const struct page_block *b, int64_t i)
{
    double x = place_x(s, b->roof[i].intensity);
    for (int64_t earlier = 0; earlier < i; earlier++)
        x += fabs(place_x(s, b->roof[earlier].intensity) - place_x(s, b->roof[i].intensity)) < 6 ? 6 : 0;
    return x;
}

/* A roof's name stands on it, too: colour alone tells nothing apart.  Names of equal roofs stand side
   by side. */
static void write_name(FILE *out, const struct scales *s, const struct page_block *b, int64_t i)
{
    double right = PAGE_FIGURE_WIDTH - RIGHT - 6;
    for (int64_t earlier = 0; earlier < i; earlier++)
        if (fabs(place_y(s, b->roof[earlier].peak) - place_y(s, b->roof[i].peak)) < 14)
            right -= 8 * (double)strlen(b->cell[earlier]) + 12;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", right,
            place_y(s, b->roof[i].peak) - 5);
    page_escaped(out, b->cell[i]);
    fputs("</text>\n", out);
}

/* A roof, its name in the key at the right, and the modelled span as a thick stroke. */
static void draw_roof(FILE *out, const struct scales *s, const struct page_block *b, int64_t i)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};
    const struct page_roof *r = &b->roof[i];
    const char *colour = colours[i % 5];
    double corner = r->peak / r->bandwidth * 1e3, x = stroke_x(s, b, i);
    double left = fmax(pow(10, s->x0), pow(10, s->y0) / r->bandwidth * 1e3);
    fprintf(out,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"%.1f,%.1f "
            "%.1f,%.1f %.1f,%.1f\"/>\n",
            colour, place_x(s, left), place_y(s, page_attainable(r, left)), place_x(s, corner),
            place_y(s, r->peak), place_x(s, pow(10, s->x1)), place_y(s, r->peak));
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"5\"><title>",
            x, place_y(s, r->low), x, place_y(s, r->high), colour);
    page_escaped(out, b->cell[i]);
    fprintf(out, ": %.4g to %.4g TFLOP/s</title></line>\n", r->low, r->high);
    fprintf(out,
            "<rect x=\"%d\" y=\"%" PRId64 "\" width=\"12\" height=\"12\" fill=\"%s\" "
            "style=\"fill:%s\"/><text x=\"%d\" y=\"%" PRId64 "\">",
            PAGE_FIGURE_WIDTH - RIGHT + 12, TOP + 20 * i, colour, colour,
            PAGE_FIGURE_WIDTH - RIGHT + 30, TOP + 20 * i + 11);
    page_escaped(out, b->cell[i]);
    fputs("</text>\n", out);
    write_name(out, s, b, i);
}

int64_t page_rooflines_height(const struct page_block *b)
{
    int64_t names = TOP + 20 * b->cells;
    return names > TALL ? names : TALL;
}

void page_draw_rooflines(FILE *out, const struct page_block *b)
{
    struct scales s = scales_of(b);
    page_figure_begin(out, b, page_rooflines_height(b));
    draw_axes(out, &s);
    for (int64_t i = 0; i < b->cells; i++)
        draw_roof(out, &s, b, i);
    fputs("</svg>\n", out);
}
