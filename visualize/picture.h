/* picture.h: a drawing in a file.  PNG: the pixels of raster.h, losslessly, and the description as
   text beside them; SVG: shapes and texts, the description as title and desc. */
#ifndef FLASHULP_VISUALIZE_PICTURE_H
#define FLASHULP_VISUALIZE_PICTURE_H

#include "visualize/raster.h"

/* Both write all or nothing; an existing file needs `force`. */
bool png_write(const struct image *i, const char *description, const char *path, bool force,
               struct message *why);
bool svg_write(const struct drawing *d, enum theme theme, int width, int height, const char *title,
               const char *description, const char *path, bool force, struct message *why);
/* The pixels of a PNG file as png_write leaves them: 8 bits, no alpha. */
bool png_read(const char *path, struct image *i, struct message *why);

#endif
