/* report_page_strips.c: a figure of strips as SVG, inside a page or as a file. */
#include <inttypes.h>

#include "simulator/report_page_parts.h"
#include "simulator/scenario_parts.h"

enum { WIDTH = PAGE_FIGURE_WIDTH, LABELS = 125, STRIP = 790, ROW = 26, THICK = 18, AXIS = 24 };

static void draw_piece(FILE *out, const struct page_block *b, const struct page_piece *piece)
{
    double scale = (double)STRIP / (double)(b->length > 0 ? b->length : 1);
    fprintf(out,
            "<rect x=\"%.3f\" y=\"%" PRId64 "\" width=\"%.3f\" height=\"%d\" fill=\"#3b76c4\" "
            "fill-opacity=\"%s\"><title>",
            LABELS + (double)piece->first * scale, piece->strip * ROW + AXIS,
            (double)(piece->last - piece->first) * scale, THICK, piece->dark ? "1" : "0.4");
    page_escaped(out, piece->what);
    fputs("</title></rect>\n", out);
}

int64_t page_strips_height(const struct page_block *b)
{
    return b->cells * ROW + AXIS;
}

void page_draw_strips(FILE *out, const struct page_block *b)
{
    int64_t height = page_strips_height(b);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%" PRId64
            "\" viewBox=\"0 0 %d %" PRId64
            "\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
            WIDTH, height, WIDTH, height);
    page_escaped(out, b->text);
    fprintf(out,
            "</title>\n<text x=\"%d\" y=\"16\">0</text>"
            "<text x=\"%d\" y=\"16\" text-anchor=\"end\">%s</text>\n",
            LABELS, LABELS + STRIP, grouped(b->length).text);
    for (int64_t i = 0; i < b->cells; i++) {
        fprintf(out, "<text x=\"%d\" y=\"%" PRId64 "\" text-anchor=\"end\">", LABELS - 8,
                i * ROW + AXIS + 14);
        page_escaped(out, b->cell[i]);
        fputs("</text>\n", out);
    }
    for (int64_t i = 0; i < b->pieces; i++)
        draw_piece(out, b, &b->piece[i]);
    fputs("</svg>\n", out);
}
