/* report_page.h: what a verb says as a page: headings, paragraphs, tables and figures, in the order
   they are added, and a footer; written as HTML, as Markdown, or a table alone as CSV.

   The HTML is one file without script that fetches nothing; figures are SVG inside it.  Texts may
   hold any bytes, such as names of files: every writer escapes what it writes, in one place. */
#ifndef FLASHULP_REPORT_PAGE_H
#define FLASHULP_REPORT_PAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PAGE_FORMAT(at) __attribute__((format(printf, at, at + 1)))

struct page;
struct page_block; /* a table or a figure of a page; freed with the page */

struct page *page_new(const char *title);
void page_free(struct page *p);

/* The sentence under the title: what came out. */
void page_headline(struct page *p, const char *format, ...) PAGE_FORMAT(2);
/* Level 2 is a section, 3 a part of one. */
void page_heading(struct page *p, int level, const char *format, ...) PAGE_FORMAT(3);
void page_paragraph(struct page *p, const char *format, ...) PAGE_FORMAT(2);
/* Lines as they stand, such as a terminal shows them. */
void page_lines(struct page *p, const char *text);

/* The heads of the columns are separated by tabs; one that begins with '>' is flush right.  Cells
   may be added later, too: they fill the rows from left to right. */
struct page_block *page_table(struct page *p, const char *columns);
void page_cell(struct page_block *table, const char *format, ...) PAGE_FORMAT(2);
/* Rows of cells separated by tabs, as report_row makes them. */
void page_rows(struct page_block *table, const char *rows);

/* A figure of one bar a row; its numbers are written beside the bars. */
struct page_block *page_bars(struct page *p, const char *caption);
void page_bar(struct page_block *bars, int64_t count, const char *format, ...) PAGE_FORMAT(3);

/* A figure of strips, all of `length` of what `axis` names, each cut into pieces; where there are
   no pictures, `letters` stand for it. */
struct page_block *page_strips(struct page *p, int64_t length, const char *axis,
                               const char *letters, const char *caption);
void page_strip(struct page_block *strips, const char *format, ...) PAGE_FORMAT(2);
/* first <= x < last of the newest strip, dark or light; what it is shows when pointed at. */
void page_piece(struct page_block *strips, int64_t first, int64_t last, bool dark,
                const char *format, ...) PAGE_FORMAT(5);

/* A figure of rooflines: FLOP/s over FLOPs a byte, both logarithmic.  A device's roof is its peak
   (TFLOP/s) and its bandwidth (GB/s); a point spans from low to high TFLOP/s at an intensity. */
struct page_block *page_rooflines(struct page *p, const char *caption);
void page_roof(struct page_block *rooflines, double peak, double bandwidth, double intensity,
               double low, double high, const char *format, ...) PAGE_FORMAT(7);

/* A figure of points in a plane, on one scale; labels stand beside them, and in a list where there
   are no pictures. */
enum page_mark { PAGE_RUN, PAGE_CENTRE, PAGE_EXACT, PAGE_SETTING };
struct page_block *page_map(struct page *p, const char *caption);
void page_point(struct page_block *map, enum page_mark mark, double x, double y,
                const char *format, ...) PAGE_FORMAT(5);

/* A figure of rows over one axis, each with a label at its left and a note at its right. */
enum page_style {
    PAGE_DOT,
    PAGE_RING,
    PAGE_CROSS,
    PAGE_DIAMOND,
    PAGE_BAR_1, /* bars, from dark to light */
    PAGE_BAR_2,
    PAGE_BAR_3,
    PAGE_BAR_4
};
struct page_block *page_chart(struct page *p, const char *axis, bool logarithmic,
                              const char *caption);
void page_chart_row(struct page_block *chart, const char *note, const char *format, ...)
    PAGE_FORMAT(3);
/* In the newest row: a bar from `from` to `to`, another mark at `from`, and what it is; nothing where
   that is not finite, or on a logarithmic axis not above 0. */
void page_chart_mark(struct page_block *chart, enum page_style style, double from, double to,
                     const char *format, ...) PAGE_FORMAT(5);
/* A line across all rows. */
void page_chart_limit(struct page_block *chart, double at, const char *format, ...) PAGE_FORMAT(3);
/* What a style means: an entry of the key. */
void page_chart_key(struct page_block *chart, enum page_style style, const char *meaning);

/* The footer: "command", "version", "sha256 of got", each with its text. */
void page_footer(struct page *p, const char *name, const char *format, ...) PAGE_FORMAT(3);
/* What this report does not establish: listed at the end. */
void page_not_established(struct page *p, const char *format, ...) PAGE_FORMAT(2);

/* The n-th of these, or NULL. */
const char *page_unknown(const struct page *p, int n);

void page_write_html(FILE *out, const struct page *p);
/* The page's figures of strips, rooflines, points and rows, one below the other, as an SVG file of
   its own; there must be one. */
bool page_has_figure(const struct page *p);
void page_write_svg(FILE *out, const struct page *p);
void page_write_markdown(FILE *out, const struct page *p);
/* Rows of cells separated by tabs, as RFC 4180 wants them but with plain line ends. */
void page_write_csv(FILE *out, const char *rows);

#endif
