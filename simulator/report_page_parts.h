/* report_page_parts.h: what a page consists of, for its writers. */
#ifndef FLASHULP_REPORT_PAGE_PARTS_H
#define FLASHULP_REPORT_PAGE_PARTS_H

#include "simulator/report_page.h"

enum page_kind { PAGE_HEADING, PAGE_PARAGRAPH, PAGE_LINES, PAGE_TABLE, PAGE_BARS };

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
    int64_t *count; /* of a figure: [cells] */
};

struct page {
    char *title, *headline;
    struct page_block *first, *last;
    char **footer; /* name, text, name, text ... */
    int footers;
    char **unknown;
    int unknowns;
};

/* The largest count of a figure, at least 1. */
int64_t page_most(const struct page_block *bars);

#endif
