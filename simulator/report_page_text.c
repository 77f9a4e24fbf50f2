/* report_page_text.c: a page as Markdown (with the tables of GitHub's), and tables as CSV. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/report_page_parts.h"
#include "simulator/scenario_parts.h"

/* Any bytes as running text on one line: nothing in it is markup or HTML. */
static void escaped(FILE *out, const char *text)
{
    for (const char *at = text; *at != 0;) {
        const unsigned char c = (unsigned char)*at;
        int length = page_character(at);
        if (strchr("\\`*_[]<>|#&~", c) != NULL)
            fputc('\\', out);
        if (length == 0 || c < 32)
            fputc(c < 32 || c == 127 ? ' ' : '?', out);
        else
            fwrite(at, 1, (size_t)length, out);
        at += length > 0 ? length : 1;
    }
}

static void line(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    escaped(out, text);
    fputs(after, out);
}

/* A line that begins like an item of a list is none. */
static void paragraph(FILE *out, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    bool item = digits > 0 ? text[digits] == '.' || text[digits] == ')'
                           : text[0] != 0 && strchr("-+=", text[0]) != NULL;
    fprintf(out, "%.*s%s", (int)digits, text, item ? "\\" : "");
    line(out, "", text + digits, "\n\n");
}

static void table(FILE *out, const struct page_block *b)
{
    for (int c = 0; c < b->columns; c++)
        line(out, "| ", b->head[c], c == b->columns - 1 ? " |\n" : " ");
    for (int c = 0; c < b->columns; c++)
        fprintf(out, "|%s%s", b->right[c] ? "---:" : "---", c == b->columns - 1 ? "|\n" : "");
    for (int64_t i = 0; i < b->cells; i++)
        line(out, "| ", b->cell[i], (i + 1) % b->columns == 0 || i == b->cells - 1 ? " |\n" : " ");
    fputc('\n', out);
}

/* Lines as they stand; a fence longer than any run of backquotes in them. */
static void lines(FILE *out, const char *text)
{
    int run = 0, longest = 2;
    for (const char *at = text; *at != 0; at++) {
        run = *at == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    size_t length = strlen(text);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i <= longest; i++)
            fputc('`', out);
        fputc('\n', out);
        if (side == 0)
            fprintf(out, "%s%s", text, length > 0 && text[length - 1] != '\n' ? "\n" : "");
    }
    fputc('\n', out);
}

/* "between 2 and 3 ulp   #####   391" */
static void bars(FILE *out, const struct page_block *b)
{
    enum { LONGEST = 40 };
    const int64_t most = page_most(b);
    size_t width = 0;
    char *text = NULL;
    line(out, "", b->text, "\n\n");
    for (int64_t i = 0; i < b->cells; i++)
        width = strlen(b->cell[i]) > width ? strlen(b->cell[i]) : width;
    for (int64_t i = 0; i < b->cells; i++) {
        int length = (int)((double)b->count[i] / (double)most * LONGEST);
        length = b->count[i] > 0 && length == 0 ? 1 : length;
        text_append(&text, "%-*s  %.*s%s%s\n", (int)width, b->cell[i], length,
                    "########################################", length > 0 ? " " : "",
                    grouped(b->count[i]).text);
    }
    lines(out, text != NULL ? text : "");
    free(text);
}

static void rooflines(FILE *out, const struct page_block *b)
{
    char *text = NULL;
    line(out, "", b->text, "\n\n");
    for (int64_t i = 0; i < b->cells; i++)
        text_append(&text, "%s: at %.4g FLOPs a byte %.4g to %.4g TFLOP/s under %.4g\n",
                    b->cell[i], b->roof[i].intensity, b->roof[i].low, b->roof[i].high,
                    page_attainable(&b->roof[i], b->roof[i].intensity));
    lines(out, text != NULL ? text : "");
    free(text);
}

static void points(FILE *out, const struct page_block *b)
{
    char *text = NULL;
    line(out, "", b->text, "\n\n");
    for (int64_t i = 0; i < b->cells; i++)
        text_append(&text, "%10.4g %10.4g   %s\n", b->point[i].x, b->point[i].y, b->cell[i]);
    lines(out, text != NULL ? text : "");
    free(text);
}

/* A row's label and note, then its marks with their places. */
static void chart(FILE *out, const struct page_block *b)
{
    char *text = NULL;
    line(out, "", b->text, "\n\n");
    text_append(&text, "%s\n", b->axis);
    for (int64_t row = 0; row < b->cells / 2; row++) {
        text_append(&text, "%s: %s\n", b->cell[2 * row], b->cell[2 * row + 1]);
        for (int64_t i = 0; i < b->items; i++)
            if (b->item[i].row == row)
                text_append(&text, "  %.6g  %s\n", b->item[i].from, b->item[i].what);
    }
    lines(out, text);
    free(text);
}

static void block(FILE *out, const struct page_block *b)
{
    switch (b->kind) {
    case PAGE_HEADING:
        line(out, b->level == 2 ? "## " : "### ", b->text, "\n\n");
        break;
    case PAGE_PARAGRAPH:
        paragraph(out, b->text);
        break;
    case PAGE_LINES:
        lines(out, b->text);
        break;
    case PAGE_TABLE:
        table(out, b);
        break;
    case PAGE_BARS:
        bars(out, b);
        break;
    case PAGE_ROOFLINES:
        rooflines(out, b);
        break;
    case PAGE_MAP:
        points(out, b);
        break;
    case PAGE_CHART:
        chart(out, b);
        break;
    case PAGE_STRIPS:
        line(out, "", b->text, "\n\n");
        lines(out, b->letters);
        break;
    }
}

void page_write_markdown(FILE *out, const struct page *p)
{
    line(out, "# ", p->title, "\n\n");
    if (p->headline != NULL)
        line(out, "**", p->headline, "**\n\n");
    for (const struct page_block *b = p->first; b != NULL; b = b->next)
        block(out, b);
    fputs("---\n\n", out);
    if (p->unknowns > 0)
        fputs("Not established:\n\n", out);
    for (int i = 0; i < p->unknowns; i++)
        line(out, "- ", p->unknown[i], i == p->unknowns - 1 ? "\n\n" : "\n");
    for (int i = 0; i < p->footers; i += 2) {
        line(out, "- ", p->footer[i], ": ");
        line(out, "", p->footer[i + 1], "\n");
    }
}

/* A comma, a quote or a carriage return needs quotes; cells hold no tabs or line breaks. */
void page_write_csv(FILE *out, const char *rows)
{
    while (*rows != 0) {
        size_t length = strcspn(rows, "\t\n");
        bool quoted = memchr(rows, ',', length) != NULL || memchr(rows, '"', length) != NULL ||
                      memchr(rows, '\r', length) != NULL;
        if (quoted)
            fputc('"', out);
        for (size_t i = 0; i < length; i++) {
            if (rows[i] == '"')
                fputc('"', out);
            fputc(rows[i], out);
        }
        if (quoted)
            fputc('"', out);
        fputc(rows[length] == '\t' ? ',' : '\n', out);
        rows += length + (rows[length] != 0);
    }
}
