/* ink.c: the themes' colours and their contrast. */
#include "visualize/ink.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
    uint32_t colour[THEME_COUNT];
} inks[INK_COUNT] = {
    [INK_NONE] = {"-", "nothing", {0, 0, 0}},
#define INK(id, light, dark, projector, meaning) {#id, meaning, {light, dark, projector}},
#include "visualize/ink.def"
#undef INK
};

static const char *const themes[THEME_COUNT] = {"light", "dark", "projector"};

const char *theme_name(enum theme theme)
{
    return themes[theme];
}

bool theme_from_name(const char *name, enum theme *theme, struct message *why)
{
    for (int t = 0; t < THEME_COUNT; t++)
        if (strcmp(themes[t], name) == 0) {
            *theme = (enum theme)t;
            return true;
        }
    return refuse(why, "--theme %.40s: light, dark or projector is right", name);
}

uint32_t ink_colour(enum ink ink, enum theme theme)
{
    return inks[ink].colour[theme];
}

const char *ink_name(enum ink ink)
{
    return inks[ink].name;
}

const char *ink_meaning(enum ink ink)
{
    return inks[ink].meaning;
}

uint32_t ink_heat(int level, enum theme theme)
{
    int share = level * 230 / (HEAT_LEVELS - 1);
    uint32_t grey = (uint32_t)(theme == THEME_DARK ? 20 + share : 250 - share);
    return grey << 16 | grey << 8 | grey;
}

static double linear(uint32_t channel)
{
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

double ink_luminance(uint32_t colour)
{
    return 0.2126 * linear(colour >> 16 & 255) + 0.7152 * linear(colour >> 8 & 255) +
           0.0722 * linear(colour & 255);
}

double ink_contrast(uint32_t a, uint32_t b)
{
    double x = ink_luminance(a), y = ink_luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}
