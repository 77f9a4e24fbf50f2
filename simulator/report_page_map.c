/* report_page_map.c: a figure of points in a plane as SVG: one scale both ways, a ruler, a label
   beside each point, moved down where another one is in its way. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "simulator/report_page_parts.h"

enum { LEFT = 40, LABELS = 300, TOP = 24, BOTTOM = 44, TALL = 420, LINE = 16, MOST = 64 };

/* Where the plane's points go: pixels a unit, and the middle. */
struct window {
    double scale, x, y;
};

static struct window window_of(const struct page_block *b)
{
    double left = 0, right = 0, low = 0, high = 0;
    for (int64_t i = 0; i < b->cells; i++) {
        left = fmin(left, b->point[i].x);
        right = fmax(right, b->point[i].x);
        low = fmin(low, b->point[i].y);
        high = fmax(high, b->point[i].y);
    }
    double wide = PAGE_FIGURE_WIDTH - LEFT - LABELS, tall = TALL - TOP - BOTTOM;
    double across = right - left, up = high - low;
    double scale = fmin(across > 0 ? wide / across : INFINITY, up > 0 ? tall / up : INFINITY);
    return (struct window){isfinite(scale) ? scale : 1, (left + right) / 2, (low + high) / 2};
}

static double place_x(const struct window *w, double x)
{
    return LEFT + (PAGE_FIGURE_WIDTH - LEFT - LABELS) / 2.0 + (x - w->x) * w->scale;
}

static double place_y(const struct window *w, double y)
{
    return TOP + (TALL - TOP - BOTTOM) / 2.0 - (y - w->y) * w->scale;
}

static void draw_mark(FILE *out, enum page_mark mark, double x, double y)
{
    if (mark == PAGE_RUN)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#3b76c4\"/>\n", x, y);
    else if (mark == PAGE_SETTING) /* of a run, otherwise set */
        fprintf(out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" stroke=\"#3b76c4\" fill=\"none\"/>\n", x,
                y);
    else if (mark == PAGE_CENTRE)
        fprintf(out,
                "<path d=\"M%.1f %.1fh12m-6 -6v12\" stroke=\"#888\" stroke-width=\"2\" "
                "fill=\"none\"/>\n",
                x - 6, y);
    else
        fprintf(out, "<path d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\" fill=\"#c4563b\"/>\n", x, y - 6);
}

/* A round length of about a fifth of the width, with its number. */
static void draw_ruler(FILE *out, const struct window *w)
{
    double wanted = (PAGE_FIGURE_WIDTH - LEFT - LABELS) / 5.0 / w->scale;
    double length = pow(10, floor(log10(wanted)));
    length *= wanted / length >= 5 ? 5 : wanted / length >= 2 ? 2 : 1;
    fprintf(out,
            "<line x1=\"%d\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#888\" stroke-width=\"2\"/>"
            "<text x=\"%d\" y=\"%d\">%g roundoffs</text>\n",
            LEFT, TALL - 26, LEFT + length * w->scale, TALL - 26, LEFT, TALL - 10, length);
}

struct label {
    double x, y, width;
};

/* The first line at or below l on which no mark and no earlier label stands. */
static double free_line(const struct label *placed, int64_t count, struct label l)
{
    for (int64_t i = 0; i < count; i++) {
        bool beside = l.x > placed[i].x + placed[i].width || placed[i].x > l.x + l.width;
        if (!beside && fabs(placed[i].y - l.y) < LINE) {
            l.y = placed[i].y + LINE;
            i = -1;
        }
    }
    return l.y;
}

int64_t page_map_height(const struct page_block *b)
{
    int64_t labels = TOP + LINE * (b->cells + 1);
    return labels > TALL ? labels : TALL;
}

void page_draw_map(FILE *out, const struct page_block *b)
{
    struct window w = window_of(b);
    struct label label[2 * MOST]; /* the marks, then the labels */
    int64_t points = b->cells < MOST ? b->cells : MOST;
    page_figure_begin(out, b, page_map_height(b));
    draw_ruler(out, &w);
    for (int64_t i = 0; i < points; i++) {
        double x = place_x(&w, b->point[i].x), y = place_y(&w, b->point[i].y);
        label[i] = (struct label){x - 6, y + 4, 12};
        draw_mark(out, b->point[i].mark, x, y);
    }
    for (int64_t i = 0; i < points; i++) {
        struct label *l = &label[points + i];
        *l = label[i];
        if (b->cell[i][0] == 0)
            continue;
        *l = (struct label){label[i].x + 16, label[i].y, 7.5 * (double)strlen(b->cell[i])};
        l->y = free_line(label, points + i, *l);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", l->x, l->y);
        page_escaped(out, b->cell[i]);
        fputs("</text>\n", out);
    }
    fputs("</svg>\n", out);
}
