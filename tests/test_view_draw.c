/* test_view_draw.c: inks, glyphs, coverage, pixels, PNG and SVG: what every scene stands on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "visualize/picture.h"
#include "visualize/raster_cover.h"

static const struct {
    enum ink text, ground;
    const char *names;
} text_on[] = {
#define TEXT_ON(text, ground) {INK_##text, INK_##ground, #text " on " #ground},
#include "visualize/ink.def"
#undef TEXT_ON
};

static void test_contrast(void **state)
{
    (void)state;
    for (int t = 0; t < THEME_COUNT; t++)
        for (size_t n = 0; n < sizeof text_on / sizeof text_on[0]; n++) {
            double contrast = ink_contrast(ink_colour(text_on[n].text, (enum theme)t),
                                           ink_colour(text_on[n].ground, (enum theme)t));
            if (contrast < 4.5)
                fail_msg("%s, %s: contrast %.2f", theme_name((enum theme)t), text_on[n].names,
                         contrast);
        }
}

static const struct {
    enum ink a, b;
    const char *names;
} side_by_side[] = {
#define SIDE_BY_SIDE(a, b) {INK_##a, INK_##b, #a " beside " #b},
#include "visualize/ink.def"
#undef SIDE_BY_SIDE
};

/* A grey print keeps them apart: luminances differ by a contrast of at least 1.15. */
static void test_greys(void **state)
{
    (void)state;
    for (int t = 0; t < THEME_COUNT; t++) {
        for (size_t n = 0; n < sizeof side_by_side / sizeof side_by_side[0]; n++) {
            double contrast = ink_contrast(ink_colour(side_by_side[n].a, (enum theme)t),
                                           ink_colour(side_by_side[n].b, (enum theme)t));
            if (contrast < 1.15)
                fail_msg("%s, %s: greys are alike, %.3f", theme_name((enum theme)t),
                         side_by_side[n].names, contrast);
        }
        for (int level = 1; level < HEAT_LEVELS; level++) {
            double a = ink_luminance(ink_heat(level - 1, (enum theme)t));
            double b = ink_luminance(ink_heat(level, (enum theme)t));
            assert_true(t == THEME_DARK ? b > a : b < a);
        }
    }
    assert_float_equal(ink_contrast(0, 0xFFFFFF), 21, 1e-9);
}

static void test_widths(void **state)
{
    (void)state;
    assert_true(font_width(FACE_MONO, 10, "iiii") == font_width(FACE_MONO, 10, "WWWW"));
    assert_true(font_width(FACE_SANS, 10, "iiii") < font_width(FACE_SANS, 10, "WWWW"));
    assert_true(font_width(FACE_SANS, 20, "ulp") == 2 * font_width(FACE_SANS, 10, "ulp"));
    assert_true(font_width(FACE_SANS, 10, "\xFF") == font_width(FACE_SANS, 10, "?"));
    for (int face = 0; face < FACE_COUNT; face++)
        for (int c = 33; c < 127; c++) {
            struct font_point point[FONT_MOST_POINTS];
            assert_true(font_contour((enum face)face, (char)c, 0, point) >= 3);
        }
}

static double covered(const struct cover *c)
{
    double sum = 0;
    for (int i = 0; i < c->width * c->height; i++)
        sum += c->share[i] / 255.0;
    return sum;
}

static void polygon(struct cover *c, const float (*p)[2], int count)
{
    assert_true(cover_begin(c, 0, 0, 20, 20));
    for (int n = 0; n < count; n++)
        cover_edge(c, p[n][0], p[n][1], p[(n + 1) % count][0], p[(n + 1) % count][1]);
    cover_end(c);
}

/* Areas of polygons, to a 255th of a pixel each. */
static void test_coverage(void **state)
{
    static const struct {
        int count;
        float p[6][2];
        double area;
        const char *what;
    } rows[] = {{4, {{2, 3}, {7, 3}, {7, 9}, {2, 9}}, 30, "whole pixels"},
                {4, {{2.5f, 3.25f}, {7.5f, 3.25f}, {7.5f, 9.75f}, {2.5f, 9.75f}}, 32.5, "parts"},
                {3, {{1, 1}, {17, 1}, {1, 13}}, 96, "a triangle"},
                {3, {{1, 13}, {17, 1}, {1, 1}}, 96, "the other way round"},
                {4, {{10, 1}, {19, 10}, {10, 19}, {1, 10}}, 162, "a diamond"},
                {3, {{0.5f, 2.5f}, {19.5f, 2.75f}, {0.5f, 3}}, 4.75, "a splinter"}};
    struct cover c = {0};
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        polygon(&c, rows[n].p, rows[n].count);
        if (fabs(covered(&c) - rows[n].area) > 0.3)
            fail_msg("%s: %.3f pixels covered, %.3f wanted", rows[n].what, covered(&c),
                     rows[n].area);
    }
    cover_free(&c);
}

/* Ink of a square mark and its place; a hole stays open. */
static void test_glyphs(void **state)
{
    struct glyph_cache *cache = glyph_cache_new();
    (void)state;
    assert_non_null(cache);
    assert_null(glyph_cover(cache, FACE_SANS, ' ', 80, 0));
    const struct cover *o = glyph_cover(cache, FACE_SANS, 'o', 160, 0);
    assert_non_null(o);
    int middle = -(int)(font_x_height(FACE_SANS) * 40 / 2) - o->y;
    double width = font_width(FACE_SANS, 40, "o");
    assert_int_equal(o->share[middle * o->width + (int)(width / 2) - o->x], 0);
    double dense = covered(o);
    assert_true(dense > 100 && dense < 500);
    assert_ptr_equal(o, glyph_cover(cache, FACE_SANS, 'o', 160, 0));
    for (int q = 20; q < 2000; q++) /* more than the cache keeps */
        for (char c = 'a'; c < 'a' + 5; c++)
            assert_non_null(glyph_cover(cache, FACE_MONO, c, q, 0));
    glyph_cache_free(cache);
}

static void draw_all_kinds(struct drawing *d)
{
    static const unsigned char levels[6] = {0, 3, 6, 9, 12, 15};
    drawing_clear(d, 160, 90);
    draw_rect(d, (struct box){10, 10, 30, 20}, INK_CELL, INK_QUIET);
    for (int h = 1; h < HATCH_COUNT; h++)
        draw_hatched(d, (struct box){10.0 + 20 * h, 34, 18, 18}, INK_WAITING, INK_TEXT,
                     (enum hatch)h);
    for (int m = 0; m < MARK_COUNT; m++)
        draw_mark(d, (enum mark)m, 60 + 12 * m, 16, 9, INK_RUN_A);
    draw_line(d, 50, 28, 150, 31, INK_RUN_B, 2);
    draw_line(d, 5, 5, 5, 85, INK_RULE, 1);
    draw_heat(d, (struct box){10, 60, 60, 20}, 3, 2, levels);
    draw_text(d, FACE_SANS, 9, ALIGN_LEFT, INK_TEXT, 80, 70, "e^(s - m) <&\">");
    draw_text(d, FACE_MONO, 9, ALIGN_RIGHT, INK_ALARM, 150, 84, "%.4f", 1.5);
}

static void test_list_as_text(void **state)
{
    static const char want[] = "drawing 160 90\n"
                               "rect 10.0 10.0 30.0 20.0 CELL QUIET\n"
                               "rect 30.0 34.0 18.0 18.0 WAITING TEXT rising\n"
                               "rect 50.0 34.0 18.0 18.0 WAITING TEXT falling\n"
                               "rect 70.0 34.0 18.0 18.0 WAITING TEXT cross\n"
                               "rect 90.0 34.0 18.0 18.0 WAITING TEXT dots\n"
                               "mark circle 60.0 16.0 9.0 RUN_A\n"
                               "mark square 72.0 16.0 9.0 RUN_A\n"
                               "mark triangle 84.0 16.0 9.0 RUN_A\n"
                               "mark diamond 96.0 16.0 9.0 RUN_A\n"
                               "mark down 108.0 16.0 9.0 RUN_A\n"
                               "line 50.0 28.0 150.0 31.0 RUN_B 2.0\n"
                               "line 5.0 5.0 5.0 85.0 RULE 1.0\n"
                               "heat 10.0 60.0 60.0 20.0 3x2\n"
                               "text SANS 9.0 left TEXT 80.0 70.0 \"e^(s - m) <&\">\"\n"
                               "text MONO 9.0 right ALARM 150.0 84.0 \"1.5000\"\n";
    struct drawing d = {0};
    char *got;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    (void)state;
    draw_all_kinds(&d);
    drawing_print(&d, out);
    fclose(out);
    assert_string_equal(got, want);
    free(got);
    drawing_free(&d);
}

/* Pixels of every shape, in every theme: the same from gcc and clang, at any optimisation. */
static void test_pixels(void **state)
{
    static const uint64_t want[THEME_COUNT] = {
        UINT64_C(0x636954F7E356833A), UINT64_C(0x9AE9BFCF2E861583), UINT64_C(0x80D82A9E93F86860)};
    struct drawing d = {0};
    struct image i;
    struct glyph_cache *cache = glyph_cache_new();
    (void)state;
    draw_all_kinds(&d);
    assert_true(image_new(&i, 320, 180));
    for (int t = 0; t < THEME_COUNT; t++) {
        raster_draw(&i, &d, (enum theme)t, cache);
        assert_int_equal(i.pixel[0], ink_colour(INK_PAPER, (enum theme)t));
        assert_int_equal(i.pixel[40 * 320 + 50], ink_colour(INK_CELL, (enum theme)t));
        assert_int_equal(i.pixel[130 * 320 + 40], ink_heat(0, (enum theme)t));
        assert_int_equal(i.pixel[155 * 320 + 130], ink_heat(15, (enum theme)t));
        if (image_digest(&i) != want[t])
            fail_msg("theme %s: pixels 0x%016" PRIX64 ", want 0x%016" PRIX64,
                     theme_name((enum theme)t), image_digest(&i), want[t]);
    }
    image_free(&i);
    glyph_cache_free(cache);
    drawing_free(&d);
}

/* Hatches differ from one another where colour is gone. */
static void test_hatches_differ(void **state)
{
    struct drawing d = {0};
    struct image i[HATCH_COUNT];
    struct glyph_cache *cache = glyph_cache_new();
    (void)state;
    for (int h = 0; h < HATCH_COUNT; h++) {
        drawing_clear(&d, 40, 40);
        draw_hatched(&d, (struct box){0, 0, 40, 40}, INK_PAPER, INK_TEXT, (enum hatch)h);
        assert_true(image_new(&i[h], 40, 40));
        raster_draw(&i[h], &d, THEME_LIGHT, cache);
        for (int other = 0; other < h; other++) {
            int differ = 0;
            for (int n = 0; n < 1600; n++)
                differ += i[h].pixel[n] != i[other].pixel[n];
            assert_true(differ > 80);
        }
    }
    for (int h = 0; h < HATCH_COUNT; h++)
        image_free(&i[h]);
    glyph_cache_free(cache);
    drawing_free(&d);
}

static void test_faults(void **state)
{
    struct drawing d = {0};
    struct message which;
    (void)state;
    drawing_clear(&d, 100, 50);
    draw_text(&d, FACE_SANS, 10, ALIGN_LEFT, INK_TEXT, 5, 20, "one");
    draw_text(&d, FACE_SANS, 10, ALIGN_LEFT, INK_TEXT, 5, 40, "two");
    assert_false(drawing_fault(&d, &which));
    draw_text(&d, FACE_SANS, 10, ALIGN_LEFT, INK_TEXT, 15, 22, "three");
    assert_true(drawing_fault(&d, &which));
    assert_string_equal(which.text, "\"three\" at 15, 22 meets \"one\"");
    drawing_clear(&d, 100, 50);
    draw_text(&d, FACE_SANS, 10, ALIGN_LEFT, INK_TEXT, 85, 20, "outside");
    assert_true(drawing_fault(&d, &which));
    assert_string_equal(which.text, "\"outside\" at 85, 20 leaves the picture");
    drawing_free(&d);
}

static void test_words(void **state)
{
    struct drawing d = {0};
    (void)state;
    drawing_clear(&d, 400, 100);
    int lines = draw_words(&d, FACE_MONO, 10, INK_TEXT, (struct box){0, 10, 62, 0}, 12, 3,
                           "aaa bbb ccc ddd eee fff ggg hhh");
    assert_int_equal(lines, 3);
    assert_string_equal(drawing_text(&d, &d.shape[0]), "aaa bbb");
    assert_string_equal(drawing_text(&d, &d.shape[1]), "ccc ddd");
    assert_string_equal(drawing_text(&d, &d.shape[2]), "eee ...");
    drawing_free(&d);
}

static void test_what(void **state)
{
    struct drawing d = {0};
    (void)state;
    drawing_clear(&d, 100, 100);
    d.what = 7;
    draw_rect(&d, (struct box){10, 10, 50, 50}, INK_CELL, INK_NONE);
    d.what = 8;
    draw_rect(&d, (struct box){30, 30, 50, 50}, INK_CELL, INK_NONE);
    d.what = 0;
    draw_rect(&d, (struct box){0, 0, 100, 100}, INK_NONE, INK_RULE);
    assert_int_equal(drawing_what(&d, 15, 15), 7);
    assert_int_equal(drawing_what(&d, 40, 40), 8);
    assert_int_equal(drawing_what(&d, 5, 5), 0);
    drawing_free(&d);
}

static void test_png_round_trip(void **state)
{
    char path[] = "/tmp/flashulp-view-XXXXXX", name[64];
    struct drawing d = {0};
    struct image i, back;
    struct message why;
    struct glyph_cache *cache = glyph_cache_new();
    (void)state;
    assert_non_null(mkdtemp(path));
    snprintf(name, sizeof name, "%s/a.png", path);
    draw_all_kinds(&d);
    assert_true(image_new(&i, 333, 187));
    raster_draw(&i, &d, THEME_DARK, cache);
    assert_true(png_write(&i, "words", name, false, &why));
    assert_true(png_read(name, &back, &why));
    assert_true(image_digest(&i) == image_digest(&back));
    image_free(&back);
    assert_false(png_write(&i, "words", name, false, &why));
    assert_true(png_write(&i, "words", name, true, &why));
    FILE *cut = fopen(name, "r+b");
    assert_int_equal(ftruncate(fileno(cut), 400), 0);
    fclose(cut);
    assert_false(png_read(name, &back, &why));
    unlink(name);
    rmdir(path);
    image_free(&i);
    glyph_cache_free(cache);
    drawing_free(&d);
}

static char *whole_file(const char *name)
{
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(name, "rb");
    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    return text;
}

static void test_svg(void **state)
{
    static const char *const wanted[] = {"<title>t &lt;1&gt;</title>",
                                         "<desc>d &amp; e</desc>",
                                         "viewBox=\"0 0 160.00 90.00\"",
                                         ">e^(s - m) &lt;&amp;&quot;&gt;</text>",
                                         "fill=\"url(#h1-",
                                         "<circle ",
                                         "</svg>\n"};
    char path[] = "/tmp/flashulp-view-XXXXXX", name[64];
    struct drawing d = {0};
    struct message why;
    (void)state;
    assert_non_null(mkdtemp(path));
    snprintf(name, sizeof name, "%s/a.svg", path);
    draw_all_kinds(&d);
    assert_true(svg_write(&d, THEME_LIGHT, 320, 180, "t <1>", "d & e", name, false, &why));
    char *text = whole_file(name);
    for (size_t n = 0; n < sizeof wanted / sizeof wanted[0]; n++)
        if (strstr(text, wanted[n]) == NULL)
            fail_msg("the SVG has no %s", wanted[n]);
    free(text);
    unlink(name);
    rmdir(path);
    drawing_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrast), cmocka_unit_test(test_greys),
        cmocka_unit_test(test_widths),   cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_glyphs),   cmocka_unit_test(test_list_as_text),
        cmocka_unit_test(test_pixels),   cmocka_unit_test(test_hatches_differ),
        cmocka_unit_test(test_faults),   cmocka_unit_test(test_words),
        cmocka_unit_test(test_what),     cmocka_unit_test(test_png_round_trip),
        cmocka_unit_test(test_svg)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
