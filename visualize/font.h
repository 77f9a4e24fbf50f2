/* font.h: three faces of printable ASCII, as outlines: the widths of texts and the shapes of
   glyphs.

   The outlines are font_data.def, so that every machine draws the same pixels at any size.  A
   character that is not printable ASCII is drawn as '?'. */
#ifndef FLASHULP_VISUALIZE_FONT_H
#define FLASHULP_VISUALIZE_FONT_H

enum face {
#define FACE(id, ...) FACE_##id,
#include "visualize/font_data.def"
#undef FACE
    FACE_COUNT
};

/* Of a text set at `size` units to the em. */
double font_width(enum face face, double size, const char *text);
/* Above the base line, in ems: of small letters, of capitals; what any letter needs. */
double font_x_height(enum face face);
double font_cap_height(enum face face);
#define FONT_ABOVE 0.76
#define FONT_BELOW 0.24

/* A closed polygon in ems, y upwards; curves are cut into straight pieces. */
struct font_point {
    float x, y;
};
enum { FONT_MOST_POINTS = 512 };
/* The glyph's n-th contour: how many points, 0 behind the last. */
int font_contour(enum face face, char c, int n, struct font_point point[FONT_MOST_POINTS]);

#endif
