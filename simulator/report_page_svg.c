/* report_page_svg.c: a page's figures as SVG: inside a page, or all of them in a file of its own,
   on white, each below its caption. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "simulator/report_page_parts.h"

enum { GAP = 16, LINE = 17, CAPTION = 8, LETTERS = 125 };

void page_figure_begin(FILE *out, const struct page_block *b, int64_t height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%" PRId64
            "\" viewBox=\"0 0 %d %" PRId64
            "\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
            PAGE_FIGURE_WIDTH, height, PAGE_FIGURE_WIDTH, height);
    page_escaped(out, b->text);
    fputs("</title>\n", out);
}

/* A chart without rows is none. */
static bool is_figure(const struct page_block *b)
{
    return b->kind == PAGE_STRIPS || b->kind == PAGE_ROOFLINES || b->kind == PAGE_MAP ||
           (b->kind == PAGE_CHART && b->cells > 0);
}

bool page_has_figure(const struct page *p)
{
    for (const struct page_block *b = p->first; b != NULL; b = b->next)
        if (is_figure(b))
            return true;
    return false;
}

static int64_t height_of(const struct page_block *b)
{
    switch (b->kind) {
    case PAGE_STRIPS:
        return page_strips_height(b);
    case PAGE_ROOFLINES:
        return page_rooflines_height(b);
    case PAGE_MAP:
        return page_map_height(b);
    default:
        return page_chart_height(b);
    }
}

void page_draw_figure(FILE *out, const struct page_block *b)
{
    if (b->kind == PAGE_STRIPS)
        page_draw_strips(out, b);
    else if (b->kind == PAGE_ROOFLINES)
        page_draw_rooflines(out, b);
    else if (b->kind == PAGE_MAP)
        page_draw_map(out, b);
    else
        page_draw_chart(out, b);
}

/* The next line of a caption: as many of its words as fit. */
static int line_length(const char *text)
{
    int length = (int)strlen(text);
    if (length <= LETTERS)
        return length;
    for (int i = LETTERS; i > 0; i--)
        if (text[i] == ' ')
            return i;
    return LETTERS;
}

/* Writes the caption at y, unless out is NULL; how high it is. */
static int64_t caption(FILE *out, const struct page_block *b, int64_t y)
{
    int64_t height = CAPTION;
    for (const char *at = b->text; *at != 0; height += LINE) {
        char line[LETTERS + 1];
        int length = line_length(at);
        snprintf(line, sizeof line, "%.*s", length, at);
        at += length + (at[length] == ' ');
        if (out == NULL)
            continue;
        fprintf(out, "<text x=\"8\" y=\"%" PRId64 "\" font-weight=\"bold\">", y + height + 7);
        page_escaped(out, line);
        fputs("</text>\n", out);
    }
    return height;
}

void page_write_svg(FILE *out, const struct page *p)
{
    int64_t height = 0, y = 0;
    for (const struct page_block *b = p->first; b != NULL; b = b->next)
        if (is_figure(b))
            height += caption(NULL, b, 0) + height_of(b) + GAP;
    assert(height > 0);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%" PRId64
            "\" viewBox=\"0 0 %d %" PRId64 "\" font-family=\"sans-serif\" font-size=\"13\">\n"
            "<path d=\"M0 0h%dv%" PRId64 "H0z\" fill=\"#fff\"/>\n",
            PAGE_FIGURE_WIDTH, height, PAGE_FIGURE_WIDTH, height, PAGE_FIGURE_WIDTH, height);
    for (const struct page_block *b = p->first; b != NULL; b = b->next)
        if (is_figure(b)) {
            y += caption(out, b, y);
            fprintf(out, "<g transform=\"translate(0 %" PRId64 ")\">\n", y);
            page_draw_figure(out, b);
            y += height_of(b) + GAP;
            fputs("</g>\n", out);
        }
    fputs("</svg>\n", out);
}
