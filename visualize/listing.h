/* listing.h: the source of the algorithms and of our kernels, as it was when this program was built, and which of its
   lines makes a step. */
#ifndef FLASHULP_VISUALIZE_LISTING_H
#define FLASHULP_VISUALIZE_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "simulator/simulate.h"

/* Line n (from 1) of that file without its end: false behind the last. */
bool listing_line(const char *file, int n, char *text, size_t room);
/* The listing whose path that file's ends in, or NULL: "gpu/kernels/fa2.cu" of "/home/.../fa2.cu". */
const char *listing_file(const char *path);
/* Where the line's note begins, or NULL. */
const char *listing_note(const char *line);
/* The lines that make the step's array: those before its note, back to the one before; last 0: not
   found. */
struct listing_place {
    const char *file;
    int first, last;
};
struct listing_place listing_of(const char *algorithm, enum step step, enum tensor_name tensor);

#endif
