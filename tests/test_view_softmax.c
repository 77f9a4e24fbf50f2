/* test_view_softmax.c: the softmax scene: what is true at each moment, bit for bit against the walk
   of the same row; its pairing of two runs; and that no frame has texts that meet or are cut. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/walk.h"
#include "tests/view_case.h"
#include "visualize/picture.h"
#include "visualize/scene_softmax.h"

static void opened(struct view_case *c, const char *words)
{
    struct message why;
    if (!case_open(c, words, &why))
        fail_msg("%s: %s", words, why.text);
}

static const struct softmax_story *story_of(const struct view_case *c)
{
    return &((const struct softmax_view *)c->scene.story)->story;
}

/* What fa2-4 holds after each of FA2's steps, from the walk's own table. */
static void test_worked_example(void **state)
{
    static const struct {
        const char *at;
        int lane;
        enum slot slot;
        float value;
    } rows[] = {{"ROW_MAX:1", 1, SLOT_M, 2},
                {"ROW_SUM:1", 1, SLOT_L, 1.3678794f},
                {"PV:1", 1, SLOT_O_ACC, 23.678795f},
                {"RESCALE:1", 1, SLOT_L, 0.50321472f},
                {"RESCALE:1", 1, SLOT_O_ACC, 8.7109423f},
                {"ROW_SUM:2", 1, SLOT_L, 1.5530018f},
                {"PV:2", 1, SLOT_O_ACC, 38.710941f},
                {"end", 1, SLOT_O, 24.926527f},
                {"end", 1, SLOT_LSE, 3.4401896f},
                {"NORMALIZE:1", 0, SLOT_O, 17.310587f},
                {"end", 0, SLOT_O, 24.926527f},
                {"MERGE:2", 0, SLOT_O_ACC, 38.710941f}};
    struct view_case c;
    (void)state;
    opened(&c, "fa2-4");
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct message why;
        double time;
        assert_true(frame_at(&c.scene, rows[n].at, &time, &why));
        struct instant now = instant_at(story_of(&c), time);
        struct held h = softmax_held(story_of(&c), now.done, rows[n].lane, rows[n].slot);
        if (!h.is || (float)h.value != rows[n].value)
            fail_msg("fa2-4 at %s, lane %d: %s is %a, want %a", rows[n].at, rows[n].lane,
                     slot_symbol(rows[n].slot), h.value, rows[n].value);
    }
    assert_int_equal(story_of(&c)->lane[0].divisions, 2);
    assert_int_equal(story_of(&c)->lane[1].divisions, 1);
    case_close(&c);
}

/* Every number the walk prints is held by the lane after the beat of the same step, and the lane
   has no beat more. */
static void same_as_walk(const char *words)
{
    static const enum tensor_name tensors[] = {TENSOR_M, TENSOR_L_SUM, TENSOR_O_ACC, TENSOR_O,
                                               TENSOR_LSE};
    struct view_case c;
    struct walk w;
    struct message why;
    opened(&c, words);
    if (!walk_new(&w, &c.view.scenario, &why))
        fail_msg("%s: %s", words, why.text);
    const struct softmax_story *s = story_of(&c);
    const struct lane *l = &s->lane[s->lanes - 1];
    int beat = -1;
    for (int n = 0; n < w.step_count; n++) {
        const struct walk_step *step = &w.steps[n];
        do
            beat++;
        while (beat < l->beats && l->beat[beat].step != step->step);
        if (beat >= l->beats)
            fail_msg("%s: the scene has no step %d, %s", words, n + 1, walk_label(step->step));
        for (int g = step->first; g < step->first + step->count; g++)
            for (int k = 0; k < 5; k++) {
                const struct held *h = &l->state[beat + 1].slot[k];
                if (w.groups[g].tensor != tensors[k] || w.groups[g].count == 0)
                    continue;
                double want = w.lines[w.groups[g].first].value;
                if (!h->is || memcmp(&h->value, &want, sizeof want) != 0)
                    fail_msg("%s: step %d, %s: %a, want %a", words, n + 1,
                             slot_symbol((enum slot)k), h->value, want);
            }
    }
    walk_free(&w);
    case_close(&c);
}

static void test_same_as_walk(void **state)
{
    (void)state;
    same_as_walk("fa2-4");
    same_as_walk("fa2-4 --policy gpu-bf16");
    same_as_walk("s2-g1");
    same_as_walk("fa2-4 --algorithm unstable");
    same_as_walk("--generate gaussian --shape 1,2,1,21,40,4 --dtype bf16 --heads 1 --rows 17 "
                 "--tile 8,8 --dims 3");
    same_as_walk("--generate gaussian --shape 1,1,1,30,30,4 --rows 7 --tile 16,8 --causal");
}

/* Each beat of each lane is in exactly one moment, in order; paired steps have one name. */
static void test_pairing(void **state)
{
    static const char *const words[] = {
        "fa2-4", "s2-g2 --algorithm standard",
        "--generate gaussian --shape 1,1,1,30,60,4 --rows 20 --tile 16,16",
        "fa2-4 --algorithm online"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct view_case c;
        opened(&c, words[i]);
        const struct softmax_story *s = story_of(&c);
        int next[2] = {0, 0};
        for (int n = 0; n < s->moments; n++) {
            const struct softmax_moment *m = &s->moment[n];
            assert_true(m->beat[0] >= 0 || m->beat[1] >= 0);
            for (int lane = 0; lane < 2; lane++) {
                assert_int_equal(m->before[lane], next[lane]);
                if (m->beat[lane] >= 0)
                    assert_int_equal(m->beat[lane], next[lane]++);
            }
            if (m->beat[0] >= 0 && m->beat[1] >= 0)
                assert_int_equal(s->lane[0].beat[m->beat[0]].step,
                                 s->lane[1].beat[m->beat[1]].step);
        }
        assert_int_equal(next[0], s->lane[0].beats);
        assert_int_equal(next[1], s->lane[1].beats);
        case_close(&c);
    }
}

static void test_marks(void **state)
{
    struct view_case c;
    double time;
    struct message why;
    (void)state;
    opened(&c, "fa2-4");
    assert_int_equal(frame_find(&c.scene, 0, 1, MOMENT_RESCALE), 9);
    assert_int_equal(frame_find(&c.scene, 9, 1, MOMENT_RESCALE), -1);
    assert_int_equal(frame_find(&c.scene, 16, -1, MOMENT_RESCALE), 9);
    assert_int_equal(frame_find(&c.scene, 0, 1, MOMENT_PARTED), -1); /* they end in the same bits */
    assert_int_equal(frame_find(&c.scene, 0, 1, MOMENT_ROUNDED), 2);
    assert_true(frame_at(&c.scene, "8.5", &time, &why) && time == 8.5);
    static const char *const refused[][2] = {
        {"17", "--at 17: this view has times from 0 to 16"},
        {"-1", "--at -1: this view has times from 0 to 16"},
        {"nan", "--at nan: this view has times from 0 to 16"},
        {"RESCALE:2", "--at RESCALE:2: this view has no such step; --describe names the steps"},
        {"RESCALE:x", "--at RESCALE:x: a time, end, or STEP:N with N from 1 is right"},
        {"", "--at : this view has no such step; --describe names the steps"}};
    for (size_t n = 0; n < sizeof refused / sizeof refused[0]; n++) {
        assert_false(frame_at(&c.scene, refused[n][0], &time, &why));
        assert_string_equal(why.text, refused[n][1]);
    }
    case_close(&c);
    opened(&c, "s2-g1");
    assert_true(frame_find(&c.scene, 0, 1, MOMENT_PARTED) > 0); /* in bf16 they part */
    case_close(&c);
}

/* Live parameters run the row anew and can be copied as a command that gives the same view. */
static void test_parameters(void **state)
{
    struct view_case c, again;
    struct parameter p[PARAMETER_MOST];
    struct message why;
    (void)state;
    opened(&c, "fa2-4");
    assert_int_equal(c.scene.kind->parameters(&c.scene, p), 3);
    assert_string_equal(p[0].value, "fp32");
    struct scene changed;
    assert_true(c.scene.kind->change(&c.scene, 0, 1, 0, &changed, &why));
    c.scene.kind->close(&c.scene);
    c.scene = changed;
    c.scene.kind->parameters(&c.scene, p);
    assert_string_equal(p[0].value, "gpu-bf16");
    struct frame_state at = frame_start();
    at.look.time = 3;
    char *command = view_command(&c.view, &c.scene, &at);
    assert_string_equal(command, "flashulp view fa2-4 --policy gpu-bf16 --scene softmax --at 3");
    opened(&again, command + strlen("flashulp view "));
    char *a = view_description(&c.scene, 3), *b = view_description(&again.scene, 3);
    assert_string_equal(a, b);
    free(a);
    free(b);
    free(command);
    case_close(&again);
    case_close(&c);
}

static void test_inspection(void **state)
{
    struct view_case c;
    struct inspection i;
    (void)state;
    opened(&c, "fa2-4");
    assert_false(c.scene.kind->inspect(&c.scene, what_slot(1, SLOT_L), 0, &i));
    assert_true(c.scene.kind->inspect(&c.scene, what_slot(1, SLOT_L), 16, &i));
    assert_string_equal(i.name, "l, B fa2");
    assert_true((float)i.value == 1.5530018f && i.format == FORMAT_FP32);
    assert_float_equal(drift_in(i.ulps, i.value, i.exact), -0.2638, 1e-3);
    assert_true(c.scene.kind->inspect(&c.scene, what_weight(2, 3), 16, &i));
    assert_string_equal(i.name, "weight p of key 3, E");
    assert_float_equal(i.value, exp(-3), 1e-15);
    static const double exact[2] = {1, 0x1p-25};
    assert_true(drift_in(FORMAT_FP32, 1, exact) == -0.25);
    assert_true(isnan(drift_in(FORMAT_FP32, INFINITY, exact)));
    for (int what = 0; what < 200; what++) /* anything may be asked */
        c.scene.kind->inspect(&c.scene, what * 1234567, 5, &i);
    case_close(&c);
}

/* Texts neither meet nor leave the picture, in any frame, in any size of window. */
static void test_no_faults(void **state)
{
    static const char *const words[] = {
        "fa2-4",
        "fa2-4 --policy gpu-bf16",
        "s2-g1 --algorithm standard",
        "--generate gaussian --shape 1,1,1,30,60,4 --rows 20 --tile 16,16",
        "--generate gaussian --shape 1,1,1,1,172,8 --tile 8,8",
        "unstable-2 --algorithm unstable",
        "m9",
        "--generate gaussian --shape 1,1,1,1,4000,8 --seed 3"};
    static const int sizes[][2] = {{1280, 720}, {1000, 700}, {2560, 720}};
    struct drawing d = {0};
    (void)state;
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++) {
        struct view_case c;
        opened(&c, words[n]);
        double step = c.scene.moments > 20 ? c.scene.moments / 11.0 : 0.5;
        for (double time = 0; time <= c.scene.moments; time += step)
            for (size_t size = 0; size < 3; size++) {
                struct frame_state f = frame_start();
                struct message which;
                double wide, high;
                f.look.time = time;
                view_units(sizes[size][0], sizes[size][1], &wide, &high);
                frame_draw(&c.scene, &f, wide, high, &d);
                if (drawing_fault(&d, &which))
                    fail_msg("flashulp view %s --at %g, %dx%d: %s", words[n], time, sizes[size][0],
                             sizes[size][1], which.text);
            }
        case_close(&c);
    }
    drawing_free(&d);
}

/* Whole frames, pixel for pixel. */
static void test_pixels(void **state)
{
    static const struct {
        const char *words;
        double time;
        int width, height;
        enum theme theme;
        uint64_t want;
    } rows[] = {
        {"fa2-4", 8.5, 1280, 720, THEME_LIGHT, UINT64_C(0x422A503A4F909012)},
        {"fa2-4", 16, 1920, 1080, THEME_DARK, UINT64_C(0xAFD53385914842E8)},
        {"fa2-4 --policy gpu-bf16", 9, 640, 400, THEME_PROJECTOR, UINT64_C(0xDF7DAEBF533A2E94)}};
    struct glyph_cache *cache = glyph_cache_new();
    struct drawing d = {0};
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct view_case c;
        struct image i;
        double wide, high;
        struct frame_state f = frame_start();
        opened(&c, rows[n].words);
        f.look.time = rows[n].time;
        view_units(rows[n].width, rows[n].height, &wide, &high);
        frame_draw(&c.scene, &f, wide, high, &d);
        assert_true(image_new(&i, rows[n].width, rows[n].height));
        raster_draw(&i, &d, rows[n].theme, cache);
        if (image_digest(&i) != rows[n].want)
            fail_msg("flashulp view %s --at %g --size %dx%d: pixels 0x%016" PRIX64
                     ", want 0x%016" PRIX64,
                     rows[n].words, rows[n].time, rows[n].width, rows[n].height, image_digest(&i),
                     rows[n].want);
        image_free(&i);
        case_close(&c);
    }
    drawing_free(&d);
    glyph_cache_free(cache);
}

/* The pictures in README and beside it are what the commands give now. */
static void test_committed_pictures(void **state)
{
    static const struct {
        const char *words, *file;
        double time; /* -1: the end */
    } rows[] = {{"fa2-4", "softmax", 8.5},
                {"--scene decode", "decode", -1},
                {"--scene tiles", "tiles", 8.5},
                {"--scene machine", "machine", -1},
                {"--scene divergence", "divergence", -1},
                {"--scene warps", "warps", -1}};
    struct drawing d = {0};
    struct glyph_cache *cache = glyph_cache_new();
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        char path[64];
        struct view_case c;
        struct image i, committed;
        struct message why;
        snprintf(path, sizeof path, "visualize/pictures/%s.png", rows[n].file);
        if (!png_read(path, &committed, &why))
            fail_msg("%s", why.text);
        opened(&c, rows[n].words);
        case_draw(&c, rows[n].time < 0 ? c.scene.moments : rows[n].time, &d);
        assert_true(image_new(&i, FRAME_WIDTH, FRAME_HEIGHT));
        raster_draw(&i, &d, THEME_LIGHT, cache);
        if (image_digest(&i) != image_digest(&committed))
            fail_msg("flashulp view %s --at %s -o %s --force is right", rows[n].words,
                     rows[n].time < 0 ? "end" : "8.5", path);
        image_free(&i);
        image_free(&committed);
        case_close(&c);
    }
    drawing_free(&d);
    glyph_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example),    cmocka_unit_test(test_same_as_walk),
        cmocka_unit_test(test_pairing),           cmocka_unit_test(test_marks),
        cmocka_unit_test(test_parameters),        cmocka_unit_test(test_inspection),
        cmocka_unit_test(test_no_faults),         cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_committed_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
