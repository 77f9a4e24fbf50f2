/* ink.h: what colours mean (ink.def) and what they are in each theme. */
#ifndef FLASHULP_VISUALIZE_INK_H
#define FLASHULP_VISUALIZE_INK_H

#include <stdint.h>

#include "reference/message.h"

enum ink {
    INK_NONE, /* nothing is drawn */
#define INK(id, ...) INK_##id,
#include "visualize/ink.def"
#undef INK
    INK_COUNT
};

enum theme { THEME_LIGHT, THEME_DARK, THEME_PROJECTOR, THEME_COUNT };
const char *theme_name(enum theme theme);
bool theme_from_name(const char *name, enum theme *theme, struct message *why);

uint32_t ink_colour(enum ink ink, enum theme theme); /* 0xRRGGBB */
const char *ink_name(enum ink ink);
const char *ink_meaning(enum ink ink);
/* Level 0 (little) to HEAT_LEVELS - 1 (much): greys, and in the dark theme the other way round. */
enum { HEAT_LEVELS = 16 };
uint32_t ink_heat(int level, enum theme theme);

/* Relative luminance of a colour, 0 to 1, and the contrast of two, 1 to 21 (WCAG 2). */
double ink_luminance(uint32_t colour);
double ink_contrast(uint32_t a, uint32_t b);

#endif
