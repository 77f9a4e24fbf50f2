/* report_page.c: a page being put together; see report_page.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/report_page_parts.h"
#include "simulator/scenario_parts.h"

static void *more(void *old, size_t count, size_t size)
{
    void *grown = realloc(old, count * size);
    if (grown == NULL)
        abort(); /* no memory for a few bytes */
    return grown;
}

static char *text_of(const char *format, va_list arguments)
{
    char *text = NULL;
    text_append_list(&text, format, arguments);
    return text;
}

static char *copied(const char *text, size_t length)
{
    char *made = NULL;
    text_append(&made, "%.*s", (int)length, text);
    return made;
}

struct page *page_new(const char *title)
{
    struct page *p = more(NULL, 1, sizeof *p);
    *p = (struct page){.title = copied(title, strlen(title))};
    return p;
}

static void block_free(struct page_block *b)
{
    for (int i = 0; i < b->columns; i++)
        free(b->head[i]);
    for (int64_t i = 0; i < b->cells; i++)
        free(b->cell[i]);
    free(b->text);
    free(b->head);
    free(b->right);
    free(b->cell);
    free(b->count);
    for (int64_t i = 0; i < b->pieces; i++)
        free(b->piece[i].what);
    free(b->piece);
    free(b->roof);
    free(b->point);
    for (int64_t i = 0; i < b->items; i++)
        free(b->item[i].what);
    free(b->item);
    free(b->axis);
    free(b->letters);
    free(b);
}

void page_free(struct page *p)
{
    if (p == NULL)
        return;
    for (struct page_block *b = p->first, *next; b != NULL; b = next) {
        next = b->next;
        block_free(b);
    }
    for (int i = 0; i < p->footers; i++)
        free(p->footer[i]);
    for (int i = 0; i < p->unknowns; i++)
        free(p->unknown[i]);
    free(p->footer);
    free(p->unknown);
    free(p->title);
    free(p->headline);
    free(p);
}

static struct page_block *add_block(struct page *p, enum page_kind kind, char *text)
{
    struct page_block *b = more(NULL, 1, sizeof *b);
    *b = (struct page_block){.kind = kind, .text = text};
    if (p->last != NULL)
        p->last->next = b;
    else
        p->first = b;
    p->last = b;
    return b;
}

void page_headline(struct page *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    free(p->headline);
    p->headline = text_of(format, arguments);
    va_end(arguments);
}

void page_heading(struct page *p, int level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(p, PAGE_HEADING, text_of(format, arguments))->level = level;
    va_end(arguments);
}

void page_paragraph(struct page *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(p, PAGE_PARAGRAPH, text_of(format, arguments));
    va_end(arguments);
}

void page_lines(struct page *p, const char *text)
{
    add_block(p, PAGE_LINES, copied(text, strlen(text)));
}

struct page_block *page_table(struct page *p, const char *columns)
{
    struct page_block *t = add_block(p, PAGE_TABLE, NULL);
    for (const char *at = columns;; at++) {
        size_t length = strcspn(at, "\t");
        bool right = *at == '>';
        t->head = more(t->head, (size_t)t->columns + 1, sizeof *t->head);
        t->right = more(t->right, (size_t)t->columns + 1, sizeof *t->right);
        t->head[t->columns] = copied(at + right, length - right);
        t->right[t->columns++] = right;
        at += length;
        if (*at == 0)
            return t;
    }
}

/* A figure's counts grow with its labels. */
static void add_cell(struct page_block *b, char *text, int64_t count)
{
    if (b->cells == b->room) {
        b->room = b->room > 0 ? 2 * b->room : 16;
        b->cell = more(b->cell, (size_t)b->room, sizeof *b->cell);
        if (b->kind == PAGE_BARS)
            b->count = more(b->count, (size_t)b->room, sizeof *b->count);
    }
    if (b->kind == PAGE_BARS)
        b->count[b->cells] = count;
    b->cell[b->cells++] = text;
}

void page_cell(struct page_block *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_cell(table, text_of(format, arguments), 0);
    va_end(arguments);
}

void page_rows(struct page_block *table, const char *rows)
{
    while (*rows != 0) {
        size_t length = strcspn(rows, "\t\n");
        add_cell(table, copied(rows, length), 0);
        rows += length + (rows[length] != 0);
    }
}

struct page_block *page_bars(struct page *p, const char *caption)
{
    return add_block(p, PAGE_BARS, copied(caption, strlen(caption)));
}

void page_bar(struct page_block *bars, int64_t count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_cell(bars, text_of(format, arguments), count);
    va_end(arguments);
}

struct page_block *page_strips(struct page *p, int64_t length, const char *axis,
                               const char *letters, const char *caption)
{
    struct page_block *b = add_block(p, PAGE_STRIPS, copied(caption, strlen(caption)));
    b->axis = copied(axis, strlen(axis));
    b->length = length;
    b->letters = copied(letters, strlen(letters));
    return b;
}

void page_strip(struct page_block *strips, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_cell(strips, text_of(format, arguments), 0);
    va_end(arguments);
}

void page_piece(struct page_block *strips, int64_t first, int64_t last, bool dark,
                const char *format, ...)
{
    va_list arguments;
    if (strips->pieces == strips->piece_room) {
        strips->piece_room = strips->piece_room > 0 ? 2 * strips->piece_room : 64;
        strips->piece = more(strips->piece, (size_t)strips->piece_room, sizeof *strips->piece);
    }
    va_start(arguments, format);
    strips->piece[strips->pieces++] =
        (struct page_piece){strips->cells - 1, first, last, dark, text_of(format, arguments)};
    va_end(arguments);
}

int64_t page_most(const struct page_block *bars)
{
    int64_t most = 1;
    for (int64_t i = 0; i < bars->cells; i++)
        most = bars->count[i] > most ? bars->count[i] : most;
    return most;
}

void page_footer(struct page *p, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    p->footer = more(p->footer, (size_t)p->footers + 2, sizeof *p->footer);
    p->footer[p->footers++] = copied(name, strlen(name));
    p->footer[p->footers++] = text_of(format, arguments);
    va_end(arguments);
}

struct page_block *page_rooflines(struct page *p, const char *caption)
{
    return add_block(p, PAGE_ROOFLINES, copied(caption, strlen(caption)));
}

void page_roof(struct page_block *b, double peak, double bandwidth, double intensity, double low,
               double high, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    b->roof = more(b->roof, (size_t)b->cells + 1, sizeof *b->roof);
    b->roof[b->cells] = (struct page_roof){peak, bandwidth, intensity, low, high};
    add_cell(b, text_of(format, arguments), 0);
    va_end(arguments);
}

struct page_block *page_map(struct page *p, const char *caption)
{
    return add_block(p, PAGE_MAP, copied(caption, strlen(caption)));
}

void page_point(struct page_block *b, enum page_mark mark, double x, double y, const char *format,
                ...)
{
    va_list arguments;
    va_start(arguments, format);
    b->point = more(b->point, (size_t)b->cells + 1, sizeof *b->point);
    b->point[b->cells] = (struct page_point){mark, x, y};
    add_cell(b, text_of(format, arguments), 0);
    va_end(arguments);
}

struct page_block *page_chart(struct page *p, const char *axis, bool logarithmic,
                              const char *caption)
{
    struct page_block *b = add_block(p, PAGE_CHART, copied(caption, strlen(caption)));
    b->axis = copied(axis, strlen(axis));
    b->logarithmic = logarithmic;
    return b;
}

void page_chart_row(struct page_block *b, const char *note, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_cell(b, text_of(format, arguments), 0);
    add_cell(b, copied(note, strlen(note)), 0);
    va_end(arguments);
}

/* What has no place on the axis is left out. */
static void add_item(struct page_block *b, int64_t row, enum page_style style, double from,
                     double to, char *what)
{
    if (!isfinite(from) || !isfinite(to) || (b->logarithmic && row != PAGE_KEY && from <= 0)) {
        free(what);
        return;
    }
    b->item = more(b->item, (size_t)b->items + 1, sizeof *b->item);
    b->item[b->items++] = (struct page_item){row, style, from, to, what};
}

void page_chart_mark(struct page_block *b, enum page_style style, double from, double to,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_item(b, b->cells / 2 - 1, style, from, to, text_of(format, arguments));
    va_end(arguments);
}

void page_chart_limit(struct page_block *b, double at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_item(b, PAGE_LIMIT, PAGE_DOT, at, at, text_of(format, arguments));
    va_end(arguments);
}

void page_chart_key(struct page_block *b, enum page_style style, const char *meaning)
{
    add_item(b, PAGE_KEY, style, 0, 0, copied(meaning, strlen(meaning)));
}

void page_not_established(struct page *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    p->unknown = more(p->unknown, (size_t)p->unknowns + 1, sizeof *p->unknown);
    p->unknown[p->unknowns++] = text_of(format, arguments);
    va_end(arguments);
}

const char *page_unknown(const struct page *p, int n)
{
    return n < p->unknowns ? p->unknown[n] : NULL;
}

int page_character(const char *at)
{
    const int length = utf8_length(at);
    const unsigned char *c = (const unsigned char *)at;
    bool control = length == 1 && ((c[0] < 32 && c[0] != '\n' && c[0] != '\t') || c[0] == 127);
    bool high_control = length == 2 && c[0] == 0xc2 && c[1] < 0xa0;
    bool none = length == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] > 0xbd;
    return control || high_control || none ? 0 : length;
}
