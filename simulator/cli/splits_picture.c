/* splits_picture.c: the boundaries of the groups, drawn in letters and as SVG. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reference/tensor.h"
#include "simulator/cli/splits.h"
#include "simulator/scenario_parts.h"

enum { NAMES = 15, COLUMNS = 63, TICK = 9 };

/* Tokens of a column: a block, or more where a group has more than TICK blocks, so that several
   groups are seen. */
static int64_t column_tokens(const struct splits_page *page)
{
    int64_t most = 1;
    for (int d = 0; d < page->request->devices; d++) {
        const struct split_plan *p = &page->plan[d];
        int64_t blocks =
            p->order == GROUPS_ROUND_ROBIN ? 1 : split_blocks(p, page->request->launch.longest);
        if (blocks > most)
            most = blocks;
    }
    return page->plan[0].block_tokens * ((most + TICK - 1) / TICK);
}

/* Does a boundary, or with round robin a new round, lie in tokens [from, to)?  At the start, yes. */
static bool boundary_in(const struct split_plan *p, int64_t length, int64_t from, int64_t to)
{
    int64_t every = split_blocks(p, length) * p->block_tokens;
    if (p->order == GROUPS_ROUND_ROBIN)
        every = split_count(p, length) * p->block_tokens;
    return every > 0 && (from + every - 1) / every * every < to;
}

static void draw_axis(struct report *r, int64_t tokens, int columns)
{
    char *line = NULL;
    int used = 0;
    for (int c = 0; c < columns; c += TICK - 1) {
        struct grouped label = grouped(c * tokens);
        int length = (int)strlen(label.text);
        if ((c > 0 && c <= used) || c + length > COLUMNS)
            continue;
        text_append(&line, "%*s%s", c - used, "", label.text);
        used = c + length;
    }
    report_text(r, " %-*s%s\n", NAMES - 1, "token", line);
    free(line);
}

void splits_picture(const struct splits_page *page)
{
    const struct splits_request *q = page->request;
    struct report *r = page->report;
    int64_t length = q->launch.longest, tokens = column_tokens(page);
    int64_t whole = (length + tokens - 1) / tokens;
    int columns = whole < COLUMNS ? (int)whole : COLUMNS;
    report_text(r, "\n");
    if (length == 0) {
        report_text(r, " no tokens: every group is empty\n");
        return;
    }
    draw_axis(r, tokens, columns);
    for (int d = 0; d < q->devices; d++) {
        report_text(r, " %-*.*s", NAMES - 1, NAMES - 2, q->device[d].name);
        for (int c = 0; c < columns; c++)
            report_text(r, "%c",
                        boundary_in(&page->plan[d], length, c * tokens, (c + 1) * tokens) ? '|'
                                                                                          : '-');
        report_text(r, "%s\n", whole <= COLUMNS ? "]" : "");
    }
    if (page->plan[0].order == GROUPS_ROUND_ROBIN)
        report_text(r,
                    " a column is a tile of %" PRId64
                    "; | begins a round: tile t is of group t mod splits\n",
                    page->plan[0].block_tokens);
}

/* Fits the whole sequence on a strip a device; groups alternate between two shades. */
static void svg_strip(FILE *out, const struct split_plan *p, int64_t length, int64_t y)
{
    enum { LEFT = 130, STRIP = 780, MOST_RANGES = 4096 };
    struct token_range range;
    int drawn = 0;
    double scale = (double)STRIP / (double)(length > 0 ? length : 1);
    for (int i = 0; i < split_count(p, length); i++)
        for (int64_t n = 0; split_range(p, length, i, n, &range) && drawn < MOST_RANGES; n++) {
            fprintf(
                out,
                "<rect x=\"%.3f\" y=\"%" PRId64 "\" width=\"%.3f\" height=\"18\" "
                "fill=\"%s\"><title>group %d: tokens %" PRId64 " to %" PRId64 "</title></rect>\n",
                LEFT + (double)range.first * scale, y, (double)(range.last - range.first) * scale,
                i % 2 == 0 ? "#3b76c4" : "#a8c4e8", i, range.first, range.last - 1);
            drawn++;
        }
    if (drawn == MOST_RANGES)
        fprintf(out, "<text x=\"%d\" y=\"%" PRId64 "\">only %d pieces are drawn</text>\n", LEFT,
                y + 13, MOST_RANGES);
}

static void svg_text(FILE *out, const char *text)
{
    for (; *text != 0; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&' || c == '<' || c == '>' || c == '"')
            fprintf(out, "&#%d;", c);
        else
            fputc(c < 32 || c > 126 ? '?' : c, out);
    }
}

bool splits_svg(struct report *r, const struct splits_page *page, const char *path,
                struct message *why)
{
    enum { TOP = 46, STEP = 30, WIDE = 930 };
    const struct splits_request *q = page->request;
    struct output_file f;
    char *headline = NULL;
    if (!file_begin(&f, path, r->scenario->given[OPTION_FORCE], why))
        return false;
    report_making(r, path);
    splits_headline(q, &page->plan[0], &headline);
    fprintf(f.stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n<title>",
            WIDE, TOP + STEP * q->devices, WIDE, TOP + STEP * q->devices);
    svg_text(f.stream, "flashulp splits");
    fprintf(f.stream, "</title>\n<text x=\"10\" y=\"22\">");
    svg_text(f.stream, headline);
    fprintf(f.stream, "</text>\n");
    for (int d = 0; d < q->devices; d++) {
        fprintf(f.stream, "<text x=\"10\" y=\"%d\">", TOP + STEP * d + 13);
        svg_text(f.stream, q->device[d].name);
        fprintf(f.stream, "</text>\n");
        svg_strip(f.stream, &page->plan[d], q->launch.longest, TOP + STEP * d);
    }
    fprintf(f.stream, "</svg>\n");
    free(headline);
    return file_commit(&f, why);
}
