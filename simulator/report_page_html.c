/* report_page_html.c: a page as one HTML file that is well-formed XML too.

   Its policy forbids scripts and every request, so that nothing a file name says can run. */
#include <inttypes.h>
#include <string.h>

#include "simulator/report_page_parts.h"
#include "simulator/scenario_parts.h"

static const char head[] =
    "<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\"/>\n"
    "<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; "
    "padding: 0 1em; }\n"
    "h1 { margin-bottom: 0; } h2 { margin-top: 2em; border-bottom: 1px solid #8888; }\n"
    ".headline { font-size: 1.2em; margin-top: 0.3em; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { text-align: left; vertical-align: top; padding: 0.15em 1em 0.15em 0; "
    "border-bottom: 1px solid #8884; overflow-wrap: break-word; }\n"
    ".right { text-align: right; }\n"
    "pre { overflow-x: auto; font: 14px/1.4 ui-monospace, monospace; }\n"
    "figure { margin: 1em 0; } figcaption { margin-bottom: 0.3em; }\n"
    "svg { max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }\n"
    "svg text { fill: currentColor; } svg rect { fill: #3b76c4; }\n"
    "footer { margin-top: 3em; border-top: 1px solid #8888; font-size: 0.9em; }\n"
    "dt { font-weight: bold; } dd { margin: 0 0 0.4em 1.5em; overflow-wrap: anywhere; }\n"
    "</style>\n";

void page_escaped(FILE *out, const char *text)
{
    for (const char *at = text; *at != 0;) {
        static const char special[] = "&<>\"'";
        static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        const char *found = strchr(special, *at);
        int length = page_character(at);
        if (found != NULL)
            fputs(entity[found - special], out);
        else if (length == 0)
            fputc('?', out);
        else
            fwrite(at, 1, (size_t)length, out);
        at += length > 0 ? length : 1;
    }
}

static void element(FILE *out, const char *open, const char *text, const char *close)
{
    fputs(open, out);
    page_escaped(out, text);
    fputs(close, out);
}

static void table(FILE *out, const struct page_block *b)
{
    fputs("<div class=\"wide\"><table>\n<tr>", out);
    for (int c = 0; c < b->columns; c++)
        element(out, b->right[c] ? "<th scope=\"col\" class=\"right\">" : "<th scope=\"col\">",
                b->head[c], "</th>");
    fputs("</tr>\n", out);
    for (int64_t i = 0; i < b->cells; i += b->columns) {
        fputs("<tr>", out);
        for (int c = 0; c < b->columns && i + c < b->cells; c++)
            element(out, b->right[c] ? "<td class=\"right\">" : "<td>", b->cell[i + c], "</td>");
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

/* Labels end at LABELS, bars begin there; the longest one leaves room for its number. */
static void bars(FILE *out, const struct page_block *b)
{
    enum { WIDTH = 640, ROW = 20, LABELS = 200, LONGEST = 340 };
    const int64_t most = page_most(b);
    element(out, "<figure><figcaption>", b->text, "</figcaption>\n");
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%" PRId64
            "\" viewBox=\"0 0 %d %" PRId64 "\">\n",
            WIDTH, b->cells * ROW, WIDTH, b->cells * ROW);
    element(out, "<title>", b->text, "</title>\n");
    for (int64_t i = 0; i < b->cells; i++) {
        double length = LONGEST * ((double)b->count[i] / (double)most);
        length = b->count[i] > 0 && length < 1 ? 1 : length;
        fprintf(out, "<text x=\"%d\" y=\"%" PRId64 "\" text-anchor=\"end\">", LABELS - 8,
                i * ROW + 15);
        page_escaped(out, b->cell[i]);
        fprintf(out,
                "</text><rect x=\"%d\" y=\"%" PRId64 "\" width=\"%.1f\" height=\"%d\"/>"
                "<text x=\"%.1f\" y=\"%" PRId64 "\">%s</text>\n",
                LABELS, i * ROW + 3, length, ROW - 5, LABELS + length + 6, i * ROW + 15,
                grouped(b->count[i]).text);
    }
    fputs("</svg></figure>\n", out);
}

static void block(FILE *out, const struct page_block *b)
{
    switch (b->kind) {
    case PAGE_HEADING:
        element(out, b->level == 2 ? "<h2>" : "<h3>", b->text,
                b->level == 2 ? "</h2>\n" : "</h3>\n");
        break;
    case PAGE_PARAGRAPH:
        element(out, "<p>", b->text, "</p>\n");
        break;
    case PAGE_LINES:
        element(out, "<pre>", b->text, "</pre>\n");
        break;
    case PAGE_TABLE:
        table(out, b);
        break;
    case PAGE_BARS:
        bars(out, b);
        break;
    case PAGE_STRIPS:
    case PAGE_ROOFLINES:
    case PAGE_MAP:
    case PAGE_CHART:
        element(out, "<figure><figcaption>", b->text, "</figcaption>\n");
        page_draw_figure(out, b);
        fputs("</figure>\n", out);
        break;
    }
}

static void footer(FILE *out, const struct page *p)
{
    fputs("<footer>\n", out);
    if (p->unknowns > 0)
        fputs("<h2>Not established</h2>\n<ul>\n", out);
    for (int i = 0; i < p->unknowns; i++)
        element(out, "<li>", p->unknown[i], "</li>\n");
    fputs(p->unknowns > 0 ? "</ul>\n<dl>\n" : "<dl>\n", out);
    for (int i = 0; i < p->footers; i += 2) {
        element(out, "<dt>", p->footer[i], "</dt>");
        element(out, "<dd>", p->footer[i + 1], "</dd>\n");
    }
    fputs("</dl>\n</footer>\n", out);
}

void page_write_html(FILE *out, const struct page *p)
{
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n",
          out);
    fputs(head, out);
    element(out, "<title>", p->title, "</title>\n</head>\n<body>\n");
    element(out, "<h1>", p->title, "</h1>\n");
    if (p->headline != NULL)
        element(out, "<p class=\"headline\">", p->headline, "</p>\n");
    for (const struct page_block *b = p->first; b != NULL; b = b->next)
        block(out, b);
    footer(out, p);
    fputs("</body>\n</html>\n", out);
}
