/* raster.c: shapes to pixels; see raster.h. */
#include "visualize/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "visualize/raster_cover.h"

/* Pixels x .. right, y .. bottom, the latter excluded. */
struct span {
    int x, y, right, bottom;
};

struct canvas {
    struct image *image;
    const struct drawing *drawing;
    enum theme theme;
    struct glyph_cache *cache;
    double scale;
    struct span clip;
    struct cover cover; /* of the shape being drawn */
};

bool image_new(struct image *i, int width, int height)
{
    i->width = width;
    i->height = height;
    i->pixel = malloc((size_t)width * (size_t)height * sizeof *i->pixel);
    return i->pixel != NULL;
}

void image_free(struct image *i)
{
    free(i->pixel);
    i->pixel = NULL;
}

uint64_t image_digest(const struct image *i)
{
    const uint64_t prime = UINT64_C(0x100000001B3);
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = (hash ^ (uint64_t)i->width) * prime;
    hash = (hash ^ (uint64_t)i->height) * prime;
    for (size_t n = 0; n < (size_t)i->width * (size_t)i->height; n++)
        for (int shift = 0; shift < 24; shift += 8)
            hash = (hash ^ (i->pixel[n] >> shift & 255)) * prime;
    return hash;
}

double raster_scale(const struct drawing *d, const struct image *i)
{
    return fmin(i->width / d->width, i->height / d->height);
}

static int snapped(double x)
{
    return x < -1e6 ? -1000000 : x > 1e6 ? 1000000 : (int)floor(x + 0.5);
}

static struct span span_of(const struct canvas *c, double x, double y, double w, double h)
{
    return (struct span){snapped(x * c->scale), snapped(y * c->scale), snapped((x + w) * c->scale),
                         snapped((y + h) * c->scale)};
}

static struct span clipped(const struct canvas *c, struct span s)
{
    s.x = s.x > c->clip.x ? s.x : c->clip.x;
    s.y = s.y > c->clip.y ? s.y : c->clip.y;
    s.right = s.right < c->clip.right ? s.right : c->clip.right;
    s.bottom = s.bottom < c->clip.bottom ? s.bottom : c->clip.bottom;
    return s;
}

static void fill(struct canvas *c, struct span s, uint32_t colour)
{
    s = clipped(c, s);
    for (int y = s.y; y < s.bottom; y++) {
        uint32_t *row = c->image->pixel + (size_t)y * (size_t)c->image->width;
        for (int x = s.x; x < s.right; x++)
            row[x] = colour;
    }
}

/* Does the pattern, of that period in pixels, ink pixel (x, y)? */
static bool hatched(enum hatch hatch, int period, int x, int y)
{
    int thick = period / 6 > 0 ? period / 6 : 1;
    int rising = (x + y) % period, falling = ((x - y) % period + period) % period;
    switch (hatch) {
    case HATCH_RISING:
        return rising < thick;
    case HATCH_FALLING:
        return falling < thick;
    case HATCH_CROSS:
        return rising < thick || falling < thick;
    case HATCH_DOTS:
        return x % period < 2 * thick && (y + (x / period % 2) * (period / 2)) % period < 2 * thick;
    default:
        return false;
    }
}

static void hatch(struct canvas *c, struct span s, enum hatch pattern, uint32_t colour)
{
    int period = snapped(7 * c->scale);
    period = period < 4 ? 4 : period;
    s = clipped(c, s);
    for (int y = s.y; y < s.bottom; y++)
        for (int x = s.x; x < s.right; x++)
            if (hatched(pattern, period, x, y))
                c->image->pixel[(size_t)y * (size_t)c->image->width + (size_t)x] = colour;
}

static void draw_box(struct canvas *c, const struct shape *s)
{
    struct span all = span_of(c, s->x, s->y, s->w, s->h);
    if (s->fill != INK_NONE)
        fill(c, all, ink_colour(s->fill, c->theme));
    uint32_t colour = ink_colour(s->line, c->theme);
    if (s->hatch != HATCH_NONE)
        hatch(c, all, s->hatch, colour);
    if (s->line == INK_NONE)
        return;
    int edge = snapped(s->size * c->scale);
    edge = edge < 1 ? 1 : edge;
    fill(c, (struct span){all.x, all.y, all.right, all.y + edge}, colour);
    fill(c, (struct span){all.x, all.bottom - edge, all.right, all.bottom}, colour);
    fill(c, (struct span){all.x, all.y, all.x + edge, all.bottom}, colour);
    fill(c, (struct span){all.right - edge, all.y, all.right, all.bottom}, colour);
}

static uint32_t mixed(uint32_t under, uint32_t over, unsigned share)
{
    uint32_t red_blue = under & 0xFF00FF, green = under & 0x00FF00, part = share + (share >> 7);
    red_blue += ((over & 0xFF00FF) - red_blue) * part >> 8;
    green += ((over & 0x00FF00) - green) * part >> 8;
    return (red_blue & 0xFF00FF) | (green & 0x00FF00);
}

static void blend(struct canvas *c, const struct cover *cover, int x, int y, uint32_t colour)
{
    struct span all = {cover->x + x, cover->y + y, cover->x + x + cover->width,
                       cover->y + y + cover->height};
    struct span s = clipped(c, all);
    for (int row = s.y; row < s.bottom; row++) {
        const unsigned char *share = cover->share + (row - all.y) * cover->width - all.x;
        uint32_t *pixel = c->image->pixel + (size_t)row * (size_t)c->image->width;
        for (int at = s.x; at < s.right; at++)
            if (share[at] == 255)
                pixel[at] = colour;
            else if (share[at] != 0)
                pixel[at] = mixed(pixel[at], colour, share[at]);
    }
}

struct corner {
    double x, y;
};

/* A polygon in pixels. */
static void draw_polygon(struct canvas *c, const struct corner *corner, int count, uint32_t colour)
{
    struct span s = {1000000, 1000000, -1000000, -1000000};
    for (int n = 0; n < count; n++) {
        int x = snapped(floor(corner[n].x)), y = snapped(floor(corner[n].y));
        s.x = x < s.x ? x : s.x;
        s.y = y < s.y ? y : s.y;
        s.right = x + 2 > s.right ? x + 2 : s.right;
        s.bottom = y + 2 > s.bottom ? y + 2 : s.bottom;
    }
    s = clipped(c, s);
    if (s.x >= s.right || s.y >= s.bottom ||
        !cover_begin(&c->cover, s.x, s.y, s.right - s.x, s.bottom - s.y))
        return;
    for (int n = 0; n < count; n++) {
        const struct corner *a = &corner[n], *b = &corner[(n + 1) % count];
        cover_edge(&c->cover, (float)a->x, (float)a->y, (float)b->x, (float)b->y);
    }
    cover_end(&c->cover);
    blend(c, &c->cover, 0, 0, colour);
}

static void draw_stroke(struct canvas *c, const struct shape *s)
{
    double width = fmax(1, s->size * c->scale), x = s->x * c->scale, y = s->y * c->scale;
    double to_x = x + s->w * c->scale, to_y = y + s->h * c->scale;
    uint32_t colour = ink_colour(s->line, c->theme);
    int thick = snapped(width);
    if (s->w == 0 || s->h == 0) {
        int left = snapped(fmin(x, to_x) - (s->w == 0 ? thick / 2.0 : 0));
        int top = snapped(fmin(y, to_y) - (s->h == 0 ? thick / 2.0 : 0));
        fill(c,
             (struct span){left, top, s->w == 0 ? left + thick : snapped(fmax(x, to_x)),
                           s->h == 0 ? top + thick : snapped(fmax(y, to_y))},
             colour);
        return;
    }
    double length = sqrt((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y));
    double nx = (y - to_y) / length * width / 2, ny = (to_x - x) / length * width / 2;
    struct corner corner[4] = {
        {x + nx, y + ny}, {to_x + nx, to_y + ny}, {to_x - nx, to_y - ny}, {x - nx, y - ny}};
    draw_polygon(c, corner, 4, colour);
}

static void draw_symbol(struct canvas *c, const struct shape *s)
{
    /* cosines of multiples of 18 degrees: a circle has 20 corners */
    static const double cosine[6] = {
        1, 0.95105651629515, 0.80901699437495, 0.58778525229247, 0.30901699437495, 0};
    static const struct corner forms[MARK_COUNT][4] = {
        [MARK_SQUARE] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
        [MARK_TRIANGLE] = {{0, -1}, {1, 0.8}, {-1, 0.8}, {-1, 0.8}},
        [MARK_DIAMOND] = {{0, -1.1}, {1.1, 0}, {0, 1.1}, {-1.1, 0}},
        [MARK_DOWN] = {{0, 1}, {-1, -0.8}, {1, -0.8}, {1, -0.8}}};
    double x = s->x * c->scale, y = s->y * c->scale, r = s->w / 2 * c->scale;
    struct corner corner[20];
    int count = s->mark == MARK_CIRCLE ? 20 : 4;
    for (int n = 0; n < count; n++) {
        int turn = n % 20;
        double cx = turn <= 5    ? cosine[turn]
                    : turn <= 10 ? -cosine[10 - turn]
                    : turn <= 15 ? -cosine[turn - 10]
                                 : cosine[20 - turn];
        double cy = turn <= 5    ? cosine[5 - turn]
                    : turn <= 10 ? cosine[turn - 5]
                    : turn <= 15 ? -cosine[15 - turn]
                                 : -cosine[turn - 15];
        corner[n] = s->mark == MARK_CIRCLE
                        ? (struct corner){x + r * cx, y + r * cy}
                        : (struct corner){x + r * forms[s->mark][n].x, y + r * forms[s->mark][n].y};
    }
    draw_polygon(c, corner, count, ink_colour(s->fill, c->theme));
}

static void draw_letters(struct canvas *c, const struct shape *s)
{
    const char *text = drawing_text(c->drawing, s);
    struct box b = drawing_box(c->drawing, s);
    int quarters = snapped(s->size * c->scale * 4), base = snapped(s->y * c->scale);
    struct span all = span_of(c, b.x, b.y, b.w, b.h);
    uint32_t colour = ink_colour(s->fill, c->theme);
    char letter[2] = {0, 0};
    double pen = b.x * c->scale;
    if (all.bottom < c->clip.y || all.y > c->clip.bottom || quarters < 4 || quarters > 4000)
        return;
    for (; *text != 0; text++) {
        int place = snapped(pen * 4), whole = place >= 0 ? place / 4 : -((3 - place) / 4);
        const struct cover *glyph =
            glyph_cover(c->cache, s->face, *text, quarters, place - 4 * whole);
        if (glyph != NULL)
            blend(c, glyph, whole, base, colour);
        letter[0] = *text;
        pen += font_width(s->face, s->size * c->scale, letter);
    }
}

enum { HEAT_COLS = 4096 }; /* of which the edges are worked out once */

static void draw_levels(struct canvas *c, const struct shape *s)
{
    static _Thread_local int edge[HEAT_COLS + 1];
    const unsigned char *level = (const unsigned char *)c->drawing->pool + s->text;
    int cols = s->cols < HEAT_COLS ? s->cols : HEAT_COLS;
    uint32_t colour[HEAT_LEVELS];
    for (int n = 0; n < HEAT_LEVELS; n++)
        colour[n] = ink_heat(n, c->theme);
    for (int col = 0; col <= cols; col++) {
        int x = snapped((s->x + s->w * col / s->cols) * c->scale);
        edge[col] = x < c->clip.x ? c->clip.x : x > c->clip.right ? c->clip.right : x;
    }
    for (int row = 0; row < s->rows; row++) {
        struct span line = {edge[0], snapped((s->y + s->h * row / s->rows) * c->scale), edge[cols],
                            snapped((s->y + s->h * (row + 1) / s->rows) * c->scale)};
        line = clipped(c, line);
        if (line.y >= line.bottom || line.x >= line.right)
            continue;
        uint32_t *pixel = c->image->pixel + (size_t)line.y * (size_t)c->image->width;
        for (int col = 0; col < cols; col++) {
            uint32_t fill_with = colour[level[row * s->cols + col]];
            for (int x = edge[col]; x < edge[col + 1]; x++)
                pixel[x] = fill_with;
        }
        for (int y = line.y + 1; y < line.bottom; y++)
            memcpy(pixel + (size_t)(y - line.y) * (size_t)c->image->width + line.x, pixel + line.x,
                   (size_t)(line.right - line.x) * sizeof *pixel);
    }
}

static void draw_shape(struct canvas *c, const struct shape *s)
{
    switch (s->kind) {
    case SHAPE_RECT:
        draw_box(c, s);
        break;
    case SHAPE_LINE:
        draw_stroke(c, s);
        break;
    case SHAPE_MARK:
        draw_symbol(c, s);
        break;
    case SHAPE_TEXT:
        draw_letters(c, s);
        break;
    case SHAPE_HEAT:
        draw_levels(c, s);
        break;
    }
}

void raster_draw(struct image *i, const struct drawing *d, enum theme theme,
                 struct glyph_cache *cache)
{
    struct canvas c = {
        .image = i, .drawing = d, .theme = theme, .cache = cache, .scale = raster_scale(d, i)};
    struct span whole = {0, 0, i->width, i->height}, stage;
    c.clip = whole;
    stage = clipped(&c, span_of(&c, d->stage.x, d->stage.y, d->stage.w, d->stage.h));
    fill(&c, whole, ink_colour(INK_PAPER, theme));
    for (int n = 0; n < d->count; n++) {
        c.clip = d->shape[n].zoomed && d->stage.w > 0 ? stage : whole;
        draw_shape(&c, &d->shape[n]);
    }
    cover_free(&c.cover);
}
