/* raster_cover.h: how much of each pixel a polygon covers, and glyphs kept as such coverages. */
#ifndef FLASHULP_VISUALIZE_RASTER_COVER_H
#define FLASHULP_VISUALIZE_RASTER_COVER_H

#include <stdbool.h>

#include "visualize/font.h"

/* Pixels x .. x + width, y .. y + height of some image, and how far each is covered, 0 to 255. */
struct cover {
    int x, y, width, height;
    float *area; /* signed, per pixel: what begins to its right; width + 2 a row */
    unsigned char *share;
    int room;
};

void cover_free(struct cover *c);
/* Empties it for that box; false: no memory. */
bool cover_begin(struct cover *c, int x, int y, int width, int height);
/* One edge of a closed polygon inside the box, in pixels, y downwards; the directions of contours
   tell holes. */
void cover_edge(struct cover *c, float x0, float y0, float x1, float y1);
void cover_end(struct cover *c);

/* A glyph of `quarters` quarter pixels to the em whose pen stands `phase` quarters right of a whole
   pixel: its box is relative to that pixel on the base line.  NULL: blank, or no memory. */
struct glyph_cache;
const struct cover *glyph_cover(struct glyph_cache *cache, enum face face, char c, int quarters,
                                int phase);

#endif
