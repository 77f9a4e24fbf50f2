/* report_page_strips.c: a figure of strips as SVG, over an axis. */
#include <inttypes.h>

#include "simulator/report_page_parts.h"
#include "simulator/scenario_parts.h"

enum { LABELS = 200, STRIP = 710, ROW = 26, THICK = 18, TOP = 4, AXIS = 44 };

static void draw_piece(FILE *out, const struct page_block *b, const struct page_piece *piece)
{
    double scale = (double)STRIP / (double)(b->length > 0 ? b->length : 1);
    fprintf(out,
            "<rect x=\"%.3f\" y=\"%" PRId64 "\" width=\"%.3f\" height=\"%d\" fill=\"#3b76c4\" "
            "fill-opacity=\"%s\"><title>",
            LABELS + (double)piece->first * scale, piece->strip * ROW + TOP,
            (double)(piece->last - piece->first) * scale, THICK, piece->dark ? "1" : "0.4");
    page_escaped(out, piece->what);
    fputs("</title></rect>\n", out);
}

int64_t page_strips_height(const struct page_block *b)
{
    return TOP + b->cells * ROW + AXIS;
}

/* 1, 2 or 5 times a power of ten, so that at most eight ticks fit. */
static int64_t tick_step(int64_t length)
{
    int64_t step = 1;
    for (int n = 0; length / step > 8; n++)
        step = step / (n % 3 == 1 ? 2 : 1) * (n % 3 == 1 ? 5 : 2);
    return step;
}

static void draw_axis(FILE *out, const struct page_block *b)
{
    int64_t bottom = TOP + b->cells * ROW, step = tick_step(b->length);
    for (int64_t x = 0; x <= b->length; x += step) {
        double at = LABELS + (double)STRIP * (double)x / (double)(b->length > 0 ? b->length : 1);
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%" PRId64 "\" x2=\"%.1f\" y2=\"%" PRId64
                "\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%" PRId64
                "\" text-anchor=\"middle\">%s</text>\n",
                at, bottom - 4, at, bottom + 2, at, bottom + 16, grouped(x).text);
    }
    fprintf(out, "<text x=\"%d\" y=\"%" PRId64 "\" text-anchor=\"middle\">", LABELS + STRIP / 2,
            bottom + 34);
    page_escaped(out, b->axis);
    fputs("</text>\n", out);
}

void page_draw_strips(FILE *out, const struct page_block *b)
{
    page_figure_begin(out, b, page_strips_height(b));
    draw_axis(out, b);
    for (int64_t i = 0; i < b->cells; i++) {
        fprintf(out, "<text x=\"%d\" y=\"%" PRId64 "\" text-anchor=\"end\">", LABELS - 8,
                i * ROW + TOP + 14);
        page_escaped(out, b->cell[i]);
        fputs("</text>\n", out);
    }
    for (int64_t i = 0; i < b->pieces; i++)
        draw_piece(out, b, &b->piece[i]);
    fputs("</svg>\n", out);
}
