/* font.c: the outlines of font_data.def as polygons. */
#include "visualize/font.h"

#include <stddef.h>
#include <string.h>

enum { FIRST = 32, LAST = 126, EM = 512, CURVE_PIECES = 4 };

static const struct {
    int x_height, cap_height;
} faces[FACE_COUNT] = {
#define FACE(id, x, cap) {x, cap},
#include "visualize/font_data.def"
#undef FACE
};

static const struct glyph {
    int advance;
    const char *outline;
} glyphs[FACE_COUNT][LAST - FIRST + 1] = {
#define GLYPH(face, code, advance, outline) [FACE_##face][code - FIRST] = {advance, outline},
#include "visualize/font_data.def"
#undef GLYPH
};

static const struct glyph *glyph_of(enum face face, char c)
{
    return &glyphs[face][c >= FIRST && c <= LAST ? c - FIRST : '?' - FIRST];
}

double font_width(enum face face, double size, const char *text)
{
    int width = 0;
    for (; *text != 0; text++)
        width += glyph_of(face, *text)->advance;
    return width * size / EM;
}

double font_x_height(enum face face)
{
    return (double)faces[face].x_height / EM;
}

double font_cap_height(enum face face)
{
    return (double)faces[face].cap_height / EM;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 36;
    return c == '+' ? 62 : 63;
}

struct knot {
    float x, y;
    int on; /* the curve; else it controls it */
};

static struct knot knot_at(const char *text)
{
    int x = digit(text[0]) * 64 + digit(text[1]), y = digit(text[2]) * 64 + digit(text[3]);
    int on = x >= 2048;
    return (struct knot){(float)(x - 2048 * on - 512) / EM, (float)(y - 512) / EM, on};
}

static struct knot between(struct knot a, struct knot b)
{
    return (struct knot){(a.x + b.x) / 2, (a.y + b.y) / 2, 1};
}

/* The curve from a to b controlled by c; a itself was added before, b is not. */
static int add_curve(struct font_point *point, int count, struct knot a, struct knot c,
                     struct knot b)
{
    for (int i = 1; i < CURVE_PIECES && count < FONT_MOST_POINTS; i++) {
        float t = (float)i / CURVE_PIECES, u = 1 - t;
        point[count++] = (struct font_point){u * u * a.x + 2 * u * t * c.x + t * t * b.x,
                                             u * u * a.y + 2 * u * t * c.y + t * t * b.y};
    }
    return count;
}

static int add_knot(struct font_point *point, int count, struct knot a)
{
    if (count < FONT_MOST_POINTS)
        point[count++] = (struct font_point){a.x, a.y};
    return count;
}

int font_contour(enum face face, char c, int n, struct font_point point[FONT_MOST_POINTS])
{
    const char *text = glyph_of(face, c)->outline;
    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, ' ');
        text = text != NULL ? text + 1 : NULL;
    }
    int knots = text != NULL ? (int)strcspn(text, " ") / 4 : 0, count = 0;
    for (int i = 0; i < knots; i++) {
        struct knot here = knot_at(text + 4 * i);
        struct knot before = knot_at(text + 4 * ((i + knots - 1) % knots));
        struct knot after = knot_at(text + 4 * ((i + 1) % knots));
        if (here.on) {
            count = add_knot(point, count, here);
            continue;
        }
        struct knot from = before.on ? before : between(before, here);
        struct knot to = after.on ? after : between(here, after);
        if (!before.on)
            count = add_knot(point, count, from);
        count = add_curve(point, count, from, here, to);
    }
    return count;
}
