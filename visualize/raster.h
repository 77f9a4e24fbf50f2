/* raster.h: a drawing as pixels, the same ones on every machine and from every compiler.

   Areas are covered exactly (raster_cover.h) in float arithmetic that no compiler may reorder;
   edges of rectangles and of heat maps snap to whole pixels; letters stand on whole rows, their
   small and capital heights on whole rows too. */
#ifndef FLASHULP_VISUALIZE_RASTER_H
#define FLASHULP_VISUALIZE_RASTER_H

#include <stdint.h>

#include "visualize/draw.h"

struct image {
    int width, height;
    uint32_t *pixel; /* 0x00RRGGBB, row by row from the top */
};
enum { IMAGE_LARGEST = 16384 }; /* pixels a side */

/* False: no memory. */
bool image_new(struct image *i, int width, int height);
void image_free(struct image *i);
/* FNV-1a-64 of size and pixels. */
uint64_t image_digest(const struct image *i);

/* What drawing again is spared: glyphs as they were covered. */
struct glyph_cache;
struct glyph_cache *glyph_cache_new(void);
void glyph_cache_free(struct glyph_cache *cache);

/* The drawing fills the image as far as its shape allows, one unit being `raster_scale` pixels. */
double raster_scale(const struct drawing *d, const struct image *i);
void raster_draw(struct image *i, const struct drawing *d, enum theme theme,
                 struct glyph_cache *cache);

#endif
