/* report_page_parts.h: what a page consists of, for its writers. */
#ifndef FLASHULP_REPORT_PAGE_PARTS_H
#define FLASHULP_REPORT_PAGE_PARTS_H

#include "simulator/report_page.h"

enum page_kind {
    PAGE_HEADING,
    PAGE_PARAGRAPH,
    PAGE_LINES,
    PAGE_TABLE,
    PAGE_BARS,
    PAGE_STRIPS,
    PAGE_ROOFLINES,
    PAGE_MAP,
    PAGE_CHART
};

struct page_piece {
    int64_t strip, first, last;
    bool dark;
    char *what;
};

struct page_roof {
    double peak, bandwidth, intensity, low, high;
};

struct page_point {
    enum page_mark mark;
    double x, y;
};

/* A mark of row `row`; or a limit, or an entry of the key. */
enum { PAGE_LIMIT = -1, PAGE_KEY = -2 };
struct page_item {
    int64_t row;
    enum page_style style;
    double from, to;
    char *what;
};

struct page_block {
    enum page_kind kind;
    struct page_block *next;
    int level;   /* of a heading */
    char *text;  /* of a heading, paragraph, lines; of a figure its caption */
    int columns; /* of a table; a figure has one, its labels */
    char **head; /* [columns], without '>' */
    bool *right; /* [columns] */
    char **cell; /* [cells], row by row */
    int64_t cells, room;
    int64_t *count; /* of a figure of bars: [cells] */
    int64_t length; /* of a figure of strips; the strips' labels are cells */
    char *letters;
    struct page_piece *piece;
    int64_t pieces, piece_room;
    struct page_roof *roof; /* of a figure of rooflines: [cells] */
    struct page_point *point; /* of a figure of points: [cells] */
    char *axis; /* of a chart, whose rows are two cells each (label, note), and of strips */
    bool logarithmic;
    struct page_item *item;
    int64_t items;
};

struct page {
    char *title, *headline;
    struct page_block *first, *last;
    char **footer; /* name, text, name, text ... */
    int footers;
    char **unknown;
    int unknowns;
};

/* A figure as an element of HTML or of a file of its own. */
void page_draw_figure(FILE *out, const struct page_block *figure);
void page_draw_strips(FILE *out, const struct page_block *strips);
void page_draw_rooflines(FILE *out, const struct page_block *rooflines);
void page_draw_map(FILE *out, const struct page_block *map);
void page_draw_chart(FILE *out, const struct page_block *chart);
/* Height of such a figure, of whose width all are. */
int64_t page_strips_height(const struct page_block *strips);
int64_t page_rooflines_height(const struct page_block *rooflines);
int64_t page_map_height(const struct page_block *map);
int64_t page_chart_height(const struct page_block *chart);
/* <svg> and its <title>, the caption. */
void page_figure_begin(FILE *out, const struct page_block *figure, int64_t height);
enum { PAGE_FIGURE_WIDTH = 930 };
/* Any bytes as text of an element or of a quoted attribute; what is no character becomes '?'. */
void page_escaped(FILE *out, const char *text);

/* What the roof lets pass at so many FLOPs a byte, in TFLOP/s. */
double page_attainable(const struct page_roof *roof, double intensity);

/* The largest count of a figure, at least 1. */
int64_t page_most(const struct page_block *bars);
/* Bytes of the UTF-8 character at `at`; 0: none begins there, or a control, or what XML excludes. */
int page_character(const char *at);

#endif
