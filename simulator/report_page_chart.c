/* report_page_chart.c: a figure of rows over one axis as SVG: marks and bars at places, limits
   across all rows, a key above them.  Colours are Okabe and Ito's; marks differ by shape, bars by what is
   written in them, too. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "simulator/report_page_parts.h"

enum { LINE = 16, ROW = 24, THICK = 16, EDGE = 12, AXIS = 44, WIDEST = 300, LETTER = 8 };

/* Where the plot lies, and what its axis runs over (powers of ten on a logarithmic one). */
struct plot {
    double left, right, top, bottom, from, to;
    bool logarithmic;
};

static double scaled(const struct page_block *b, double x)
{
    return b->logarithmic ? log10(x) : x;
}

static double place(const struct plot *p, double scaled_x)
{
    return p->left + (scaled_x - p->from) / (p->to - p->from) * (p->right - p->left);
}

static double text_width(const char *text)
{
    return LETTER * (double)strlen(text);
}

/* The widest label (which 0) or note (1) of the rows. */
static double column_width(const struct page_block *b, int which)
{
    double widest = 0;
    for (int64_t i = which; i < b->cells; i += 2)
        widest = fmax(widest, text_width(b->cell[i]));
    return fmin(widest, WIDEST);
}

/* Keys stand in lines, as many to a line as fit: where the next one goes. */
struct key_place {
    double x, y;
};

static struct key_place next_key(struct key_place at, const char *text)
{
    double width = 24 + text_width(text);
    if (at.x > EDGE && at.x + width > PAGE_FIGURE_WIDTH - EDGE)
        at = (struct key_place){EDGE, at.y + LINE + 4};
    return at;
}

static double keys_height(const struct page_block *b)
{
    struct key_place at = {EDGE, LINE};
    for (int64_t i = 0; i < b->items; i++)
        if (b->item[i].row == PAGE_KEY) {
            at = next_key(at, b->item[i].what);
            at.x += 40 + text_width(b->item[i].what);
        }
    return at.x > EDGE ? at.y + 8 : 0;
}

static int64_t limits(const struct page_block *b)
{
    int64_t count = 0;
    for (int64_t i = 0; i < b->items; i++)
        count += b->item[i].row == PAGE_LIMIT;
    return count;
}

/* What is shown, and a little more; bars begin at their own ends. */
static void find_range(struct plot *p, const struct page_block *b)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < b->items; i++) {
        const struct page_item *item = &b->item[i];
        if (item->row == PAGE_KEY)
            continue;
        low = fmin(low, scaled(b, item->from));
        high = fmax(high, scaled(b, item->to));
    }
    if (low > high)
        low = high = 0;
    double room = high > low ? 0.03 * (high - low) : 0.5;
    p->from = low - room;
    p->to = high + room;
}

static struct plot plot_of(const struct page_block *b)
{
    struct plot p = {.logarithmic = b->logarithmic};
    p.left = EDGE + column_width(b, 0) + 10;
    p.right = PAGE_FIGURE_WIDTH - EDGE - column_width(b, 1) - 10;
    p.top = keys_height(b) + (double)(limits(b) > 0 ? LINE * limits(b) + 6 : 6);
    p.bottom = p.top + ROW * (double)(b->cells / 2);
    find_range(&p, b);
    return p;
}

int64_t page_chart_height(const struct page_block *b)
{
    struct plot p = plot_of(b);
    return (int64_t)p.bottom + AXIS;
}

/* 1, 2 or 5 times a power of ten, so that about seven ticks fit; logarithmic: whole powers. */
static double tick_step(const struct plot *p)
{
    double wanted = (p->to - p->from) / 7, step = pow(10, floor(log10(wanted)));
    step *= wanted / step > 5 ? 10 : wanted / step > 2 ? 5 : wanted / step > 1 ? 2 : 1;
    return p->logarithmic ? fmax(1, step) : step;
}

static void draw_axis(FILE *out, const struct page_block *b, const struct plot *p)
{
    double step = tick_step(p);
    for (double n = ceil(p->from / step); n * step <= p->to; n++) {
        double at = place(p, n * step), value = p->logarithmic ? pow(10, n * step) : n * step + 0.0;
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#8884\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>\n",
                at, p->top, at, p->bottom + 4, at, p->bottom + 18, value);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (p->left + p->right) / 2,
            p->bottom + 36);
    page_escaped(out, b->axis);
    fputs("</text>\n", out);
}

static void draw_rows(FILE *out, const struct page_block *b, const struct plot *p)
{
    for (int64_t i = 0; i < b->cells / 2; i++) {
        double y = p->top + ROW * ((double)i + 0.5);
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#8884\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                p->left, y, p->right, y, p->left - 8, y + 4);
        page_escaped(out, b->cell[2 * i]);
        fprintf(out, "</text><text x=\"%.1f\" y=\"%.1f\">", p->right + 8, y + 4);
        page_escaped(out, b->cell[2 * i + 1]);
        fputs("</text>\n", out);
    }
}

/* The limit that follows `last` from left to right; of equal ones in the order in which they were
   added. */
static const struct page_item *next_limit(const struct page_block *b, const struct page_item *last)
{
    const struct page_item *next = NULL;
    for (int64_t i = 0; i < b->items; i++) {
        const struct page_item *item = &b->item[i];
        bool behind =
            last == NULL || item->from > last->from || (item->from == last->from && item > last);
        if (item->row == PAGE_LIMIT && behind && (next == NULL || item->from < next->from))
            next = item;
    }
    return next;
}

/* Each label stands on a line of its own, right of its limit, which begins there: those before it,
   which begin higher, lie to its left. */
static void draw_limits(FILE *out, const struct page_block *b, const struct plot *p)
{
    double y = keys_height(b) + LINE - 4;
    for (const struct page_item *item = NULL; (item = next_limit(b, item)) != NULL; y += LINE) {
        double x = place(p, scaled(b, item->from));
        bool before = x + 6 + text_width(item->what) > PAGE_FIGURE_WIDTH - EDGE;
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d55e00\" "
                "stroke-width=\"1.5\" stroke-dasharray=\"5 3\"/><text x=\"%.1f\" y=\"%.1f\"%s>",
                x, y - 10, x, p->bottom, before ? x - 5 : x + 5, y,
                before ? " text-anchor=\"end\"" : "");
        page_escaped(out, item->what);
        fputs("</text>\n", out);
    }
}

static const char *bar_colour(enum page_style s)
{
    static const char *const colour[] = {"#0072b2", "#e69f00", "#f0e442", "#cccccc"};
    return colour[s - PAGE_BAR_1];
}

static void draw_style(FILE *out, enum page_style s, double x, double y, double width)
{
    switch (s) {
    case PAGE_DOT:
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#0072b2\"/>", x, y);
        break;
    case PAGE_RING:
        fprintf(out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"none\" stroke=\"#0072b2\" "
                "stroke-width=\"2\"/>",
                x, y);
        break;
    case PAGE_CROSS:
        fprintf(out,
                "<path d=\"M%.1f %.1fl10 10m-10 0l10 -10\" stroke=\"#d55e00\" stroke-width=\"2.5\" "
                "fill=\"none\"/>",
                x - 5, y - 5);
        break;
    case PAGE_DIAMOND:
        fprintf(out, "<path d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\" fill=\"currentColor\"/>", x, y - 6);
        break;
    default: /* the page's style sheet colours rectangles: style wins over it */
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" style=\"fill:%s\" "
                "stroke=\"#444\"/>",
                x, y - THICK / 2, fmax(1, width), THICK, bar_colour(s));
    }
}

static void draw_marks(FILE *out, const struct page_block *b, const struct plot *p)
{
    for (int64_t i = 0; i < b->items; i++) {
        const struct page_item *item = &b->item[i];
        if (item->row < 0)
            continue;
        double x = place(p, scaled(b, item->from)), width = place(p, scaled(b, item->to)) - x;
        double y = p->top + ROW * ((double)item->row + 0.5);
        fputs("<g><title>", out);
        page_escaped(out, item->what);
        fputs("</title>", out);
        draw_style(out, item->style, x, y, width);
        if (item->style >= PAGE_BAR_1 && text_width(item->what) + 6 < width) {
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"fill:%s\">",
                    x + width / 2, y + 4, item->style == PAGE_BAR_1 ? "#fff" : "#000");
            page_escaped(out, item->what);
            fputs("</text>", out);
        }
        fputs("</g>\n", out);
    }
}

static void draw_keys(FILE *out, const struct page_block *b)
{
    struct key_place at = {EDGE, LINE};
    for (int64_t i = 0; i < b->items; i++) {
        const struct page_item *item = &b->item[i];
        if (item->row != PAGE_KEY)
            continue;
        at = next_key(at, item->what);
        bool bar = item->style >= PAGE_BAR_1;
        draw_style(out, item->style, at.x + (bar ? 0 : 7), at.y - 4, 14);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", at.x + 20, at.y);
        page_escaped(out, item->what);
        fputs("</text>\n", out);
        at.x += 40 + text_width(item->what);
    }
}

/* What the rows say, for whoever cannot see them. */
static void describe(FILE *out, const struct page_block *b)
{
    fputs("<desc>", out);
    page_escaped(out, b->axis);
    for (int64_t i = 0; i < b->cells; i += 2) {
        fputs("\n", out);
        page_escaped(out, b->cell[i]);
        fputs(": ", out);
        page_escaped(out, b->cell[i + 1]);
    }
    fputs("</desc>\n", out);
}

void page_draw_chart(FILE *out, const struct page_block *b)
{
    struct plot p = plot_of(b);
    page_figure_begin(out, b, page_chart_height(b));
    describe(out, b);
    draw_axis(out, b, &p);
    draw_rows(out, b, &p);
    draw_limits(out, b, &p);
    draw_marks(out, b, &p);
    draw_keys(out, b);
    fputs("</svg>\n", out);
}
