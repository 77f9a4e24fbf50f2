/* draw.h: a picture as a list of shapes, in units of its own: nothing here knows a pixel or a
   window.

   Scenes add shapes, later ones on top; raster.h, svg.h and the window turn the list into what is
   seen.  Colours are inks (ink.h), so one list serves every theme.  drawing_print gives the list as
   text, which tests compare; drawing_fault looks for texts that meet or leave the picture. */
#ifndef FLASHULP_VISUALIZE_DRAW_H
#define FLASHULP_VISUALIZE_DRAW_H

#include <stdio.h>

#include "visualize/font.h"
#include "visualize/ink.h"

enum hatch { HATCH_NONE, HATCH_RISING, HATCH_FALLING, HATCH_CROSS, HATCH_DOTS, HATCH_COUNT };
enum mark { MARK_CIRCLE, MARK_SQUARE, MARK_TRIANGLE, MARK_DIAMOND, MARK_DOWN, MARK_COUNT };
enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };
enum shape_kind { SHAPE_RECT, SHAPE_LINE, SHAPE_MARK, SHAPE_TEXT, SHAPE_HEAT };

struct shape {
    enum shape_kind kind;
    double x, y, w, h;   /* rect, heat: corner and size; line: w, h to its end; mark: centre, w
                             its width; text: (x, y) on its base line */
    enum ink fill, line; /* line: of the border; of a line, a mark's edge */
    double size;         /* text: units to the em; others: width of the line */
    enum hatch hatch;    /* of a rect, in `line` */
    enum mark mark;
    enum face face;
    enum align align;
    size_t text;    /* in the drawing's pool; heat: its levels, row by row */
    int cols, rows; /* heat */
    int what;       /* what the pointer is told about here (scene's number), 0: nothing */
    bool zoomed;    /* moves with the stage */
};

struct box {
    double x, y, w, h;
};

struct drawing {
    double width, height;
    struct shape *shape;
    int count, room;
    char *pool;
    size_t pool_count, pool_room;
    struct box stage; /* what zoom and pan move; w = 0: nothing */
    int what;         /* given to the shapes that are added */
    bool zoomed;
};

void drawing_clear(struct drawing *d, double width, double height);
void drawing_free(struct drawing *d);

struct shape *draw_rect(struct drawing *d, struct box b, enum ink fill, enum ink line);
void draw_hatched(struct drawing *d, struct box b, enum ink fill, enum ink line, enum hatch hatch);
void draw_line(struct drawing *d, double x, double y, double to_x, double to_y, enum ink ink,
               double width);
void draw_mark(struct drawing *d, enum mark mark, double x, double y, double width, enum ink fill);
/* levels[rows][cols], each below HEAT_LEVELS; copied. */
void draw_heat(struct drawing *d, struct box b, int cols, int rows, const unsigned char *levels);
void draw_text(struct drawing *d, enum face face, double size, enum align align, enum ink ink,
               double x, double y, const char *format, ...) __attribute__((format(printf, 8, 9)));
/* Words broken into lines of at most `width`, each `leading` below the last; at most `most` lines,
   the last one ending in "..." where words are left.  Returns the lines drawn. */
int draw_words(struct drawing *d, enum face face, double size, enum ink ink, struct box b,
               double leading, int most, const char *words);
/* An arrow's head at the end. */
void draw_arrow(struct drawing *d, double x, double y, double to_x, double to_y, enum ink ink,
                double width);

const char *drawing_text(const struct drawing *d, const struct shape *s);
/* The box a shape covers; a text's from its line's top to its bottom. */
struct box drawing_box(const struct drawing *d, const struct shape *s);
/* What lies under the point, of the topmost shape that says so; 0: nothing. */
int drawing_what(const struct drawing *d, double x, double y);
/* Moves the stage's shapes: (x, y) to (x * zoom + dx, y * zoom + dy). */
void drawing_zoom(struct drawing *d, double zoom, double dx, double dy);

/* Everything, type and lines too, so many times as large. */
void drawing_enlarge(struct drawing *d, double times);

/* One line a shape. */
void drawing_print(const struct drawing *d, FILE *out);
/* The first text that leaves the picture or meets another, in a sentence; false: there is none. */
bool drawing_fault(const struct drawing *d, struct message *which);

#endif
