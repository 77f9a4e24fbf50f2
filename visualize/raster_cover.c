/* raster_cover.c: exact coverage by signed areas: each edge adds, to every row it crosses, the area
   between itself and the right border; a running sum along the row gives the share covered. */
#include "visualize/raster_cover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "visualize/raster.h"

void cover_free(struct cover *c)
{
    free(c->area);
    free(c->share);
    *c = (struct cover){0};
}

bool cover_begin(struct cover *c, int x, int y, int width, int height)
{
    int needed = (width + 2) * height;
    if (needed > c->room) {
        cover_free(c);
        c->area = malloc((size_t)needed * sizeof *c->area);
        c->share = malloc((size_t)needed);
        if (c->area == NULL || c->share == NULL) {
            cover_free(c);
            return false;
        }
        c->room = needed;
    }
    c->x = x, c->y = y, c->width = width, c->height = height;
    memset(c->area, 0, (size_t)needed * sizeof *c->area);
    return true;
}

/* The edge inside one row of pixels, from x0 to x1 (x0 <= x1), `down` of the row's height. */
static void row_edge(float *row, int width, float x0, float x1, float down)
{
    float limit = (float)width;
    x0 = x0 < 0 ? 0 : x0 > limit ? limit : x0;
    x1 = x1 < 0 ? 0 : x1 > limit ? limit : x1;
    int first = (int)x0, last = (int)ceilf(x1);
    if (last <= first + 1) {
        float middle = (x0 + x1) / 2 - (float)first;
        row[first] += down - down * middle;
        row[first + 1] += down * middle;
        return;
    }
    float slope = 1 / (x1 - x0), left = 1 - (x0 - (float)first);
    float begun = slope * left * left / 2, right = x1 - (float)last + 1;
    row[first] += down * begun;
    if (last == first + 2) {
        row[first + 1] += down * (1 - begun - slope * right * right / 2);
    } else {
        float second = slope * (1.5f - (x0 - (float)first));
        row[first + 1] += down * (second - begun);
        for (int i = first + 2; i < last - 1; i++)
            row[i] += down * slope;
        float most = second + (float)(last - first - 3) * slope;
        row[last - 1] += down * (1 - most - slope * right * right / 2);
    }
    row[last] += down * slope * right * right / 2;
}

void cover_edge(struct cover *c, float x0, float y0, float x1, float y1)
{
    float sign = 1;
    x0 -= (float)c->x, x1 -= (float)c->x, y0 -= (float)c->y, y1 -= (float)c->y;
    if (y0 == y1)
        return;
    if (y0 > y1) {
        float x = x0, y = y0;
        x0 = x1, y0 = y1, x1 = x, y1 = y;
        sign = -1;
    }
    float slope = (x1 - x0) / (y1 - y0);
    if (y0 < 0) {
        x0 -= slope * y0;
        y0 = 0;
    }
    int end = (int)ceilf(y1);
    end = end < c->height ? end : c->height;
    for (int y = (int)y0; y < end; y++) {
        float top = y0 > (float)y ? y0 : (float)y, bottom = y1 < (float)y + 1 ? y1 : (float)y + 1;
        float from = x0 + slope * (top - y0), to = x0 + slope * (bottom - y0);
        row_edge(c->area + y * (c->width + 2), c->width, from < to ? from : to,
                 from < to ? to : from, sign * (bottom - top));
    }
}

void cover_end(struct cover *c)
{
    for (int y = 0; y < c->height; y++) {
        const float *row = c->area + y * (c->width + 2);
        unsigned char *share = c->share + y * c->width;
        float sum = 0;
        for (int x = 0; x < c->width; x++) {
            sum += row[x];
            float covered = fabsf(sum) * 255 + 0.5f;
            share[x] = (unsigned char)(covered < 255 ? covered : 255);
        }
    }
}

enum { SLOTS = 8192 };
struct slot {
    unsigned key; /* 0: free */
    struct cover cover;
};
struct glyph_cache {
    int used;
    struct slot slot[SLOTS];
};

struct glyph_cache *glyph_cache_new(void)
{
    return calloc(1, sizeof(struct glyph_cache));
}

static void cache_clear(struct glyph_cache *cache)
{
    for (int n = 0; n < SLOTS; n++) {
        cover_free(&cache->slot[n].cover);
        cache->slot[n].key = 0;
    }
    cache->used = 0;
}

void glyph_cache_free(struct glyph_cache *cache)
{
    if (cache != NULL)
        cache_clear(cache);
    free(cache);
}

/* Heights at which letters end fall on whole rows: y in ems to rows above the base line. */
static float fitted(enum face face, float y, float em)
{
    float x = (float)font_x_height(face), cap = (float)font_cap_height(face);
    float x_rows = floorf(x * em + 0.5f), cap_rows = floorf(cap * em + 0.5f);
    if (y <= 0)
        return y * em;
    if (y <= x)
        return y / x * x_rows;
    if (y <= cap)
        return x_rows + (y - x) / (cap - x) * (cap_rows - x_rows);
    return cap_rows + (y - cap) * em;
}

/* The pixels a glyph can touch. */
struct reach {
    int left, top, right, bottom;
};

static struct reach reach_of(enum face face, char letter, float em, float shift)
{
    struct font_point point[FONT_MOST_POINTS];
    struct reach r = {1 << 20, 1 << 20, -(1 << 20), -(1 << 20)};
    int count;
    for (int n = 0; (count = font_contour(face, letter, n, point)) > 0; n++)
        for (int i = 0; i < count; i++) {
            float x = point[i].x * em + shift, y = -fitted(face, point[i].y, em);
            r.left = (int)floorf(x) < r.left ? (int)floorf(x) : r.left;
            r.right = (int)ceilf(x) > r.right ? (int)ceilf(x) : r.right;
            r.top = (int)floorf(y) < r.top ? (int)floorf(y) : r.top;
            r.bottom = (int)ceilf(y) > r.bottom ? (int)ceilf(y) : r.bottom;
        }
    return r;
}

static bool cover_glyph(struct cover *c, enum face face, char letter, float em, float shift)
{
    struct font_point point[FONT_MOST_POINTS];
    struct reach r = reach_of(face, letter, em, shift);
    int count;
    if (r.left > r.right ||
        !cover_begin(c, r.left, r.top, r.right - r.left + 1, r.bottom - r.top + 1))
        return false;
    for (int n = 0; (count = font_contour(face, letter, n, point)) > 0; n++) {
        for (int i = 0; i < count; i++) {
            struct font_point a = point[i], b = point[(i + 1) % count];
            cover_edge(c, a.x * em + shift, -fitted(face, a.y, em), b.x * em + shift,
                       -fitted(face, b.y, em));
        }
    }
    cover_end(c);
    return true;
}

const struct cover *glyph_cover(struct glyph_cache *cache, enum face face, char c, int quarters,
                                int phase)
{
    unsigned key = 1u + ((unsigned)quarters << 12 | (unsigned)face << 10 | (unsigned)phase << 8 |
                         (unsigned char)c);
    unsigned at = key * 2654435761u % SLOTS;
    if (c == ' ')
        return NULL;
    for (; cache->slot[at].key != 0; at = (at + 1) % SLOTS)
        if (cache->slot[at].key == key)
            return &cache->slot[at].cover;
    if (cache->used > SLOTS / 2) {
        cache_clear(cache);
        at = key * 2654435761u % SLOTS;
    }
    if (!cover_glyph(&cache->slot[at].cover, face, c, (float)quarters / 4, (float)phase / 4))
        return NULL;
    cache->slot[at].key = key;
    cache->used++;
    return &cache->slot[at].cover;
}
