/* test_view_control.c: every key and the pointer, without a window: what each changes, that the
   card of keys names them all, that the keyboard alone leads everywhere. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/view_case.h"
#include "visualize/control.h"
#include "visualize/frame_parts.h"

static struct {
    struct view_case c;
    struct control control;
} at;

static int begin(void **state)
{
    struct message why;
    (void)state;
    if (!case_open(&at.c, "fa2-4", &why))
        return -1;
    control_start(&at.control, &at.c.view, NULL, FRAME_WIDTH, FRAME_HEIGHT);
    control_wait(&at.control);
    control_draw(&at.control);
    return 0;
}

static int end(void **state)
{
    (void)state;
    control_end(&at.control);
    case_close(&at.c);
    return 0;
}

/* A key, and everything that it set going. */
static void press(enum control_key key, bool shift)
{
    control_press_key(&at.control, key, shift);
    control_wait(&at.control);
    for (int n = 0; n < 10000 && control_busy(&at.control) && !at.control.frame.playing; n++)
        control_tick(&at.control, 0.01);
    control_draw(&at.control);
}

static double now(void)
{
    return at.control.frame.look.time;
}

static void test_time(void **state)
{
    static const struct {
        enum control_key key;
        bool shift;
        double time;
    } rows[] = {{KEY_RIGHT, false, 1},
                {KEY_RIGHT, false, 2},
                {KEY_LEFT, false, 1},
                {KEY_PAGE_DOWN, false, 11},
                {KEY_PAGE_DOWN, false, 16},
                {KEY_PAGE_UP, false, 6},
                {KEY_END, false, 16},
                {KEY_RIGHT, false, 16},
                {KEY_HOME, false, 0},
                {KEY_LEFT, false, 0},
                {KEY_R, false, 9},
                {KEY_R, false, 9},
                {KEY_HOME, false, 0},
                {KEY_D, false, 2},
                {KEY_END, false, 16},
                {KEY_R, true, 9},
                {KEY_N, true, 8}};
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        press(rows[n].key, rows[n].shift);
        if (now() != rows[n].time)
            fail_msg("row %zu leads to time %g, not %g", n, now(), rows[n].time);
    }
}

/* A step is shown happening; the same key again ends it at once. */
static void test_animation(void **state)
{
    (void)state;
    control_press_key(&at.control, KEY_RIGHT, false);
    assert_true(now() == 0 && control_busy(&at.control));
    control_tick(&at.control, 0.1);
    assert_true(now() > 0 && now() < 1);
    control_press_key(&at.control, KEY_RIGHT, false);
    assert_true(now() == 1 && at.control.goal == 2);
    control_press_key(&at.control, KEY_PAGE_DOWN, false);
    control_tick(&at.control, 0.1);
    assert_true(now() > 2 && now() < 12);
}

static void test_play(void **state)
{
    (void)state;
    press(KEY_SPACE, false);
    control_tick(&at.control, 0.5);
    assert_true(fabs(now() - 0.5) < 1e-9);
    press(KEY_PLUS, false);
    control_tick(&at.control, 0.5);
    assert_true(fabs(now() - 1.5) < 1e-9);
    press(KEY_MINUS, false);
    press(KEY_MINUS, false);
    assert_true(at.control.frame.speed == 0.5);
    control_tick(&at.control, 0.5);
    assert_true(fabs(now() - 1.75) < 1e-9);
    press(KEY_SPACE, false);
    assert_false(at.control.frame.playing);
    press(KEY_SPACE, false);
    for (int n = 0; n < 100; n++)
        control_tick(&at.control, 1);
    assert_true(now() == 16 && !at.control.frame.playing);
    press(KEY_SPACE, false); /* at the end: from the beginning */
    assert_true(now() == 0 && at.control.frame.playing);
    for (int n = 0; n < 20; n++)
        press(KEY_PLUS, false);
    assert_true(at.control.frame.speed == 64);
}

/* The card of keys names each of them. */
static void test_help(void **state)
{
    static const char *const names[] = {[KEY_SPACE] = "Space",
                                        [KEY_LEFT] = "Left",
                                        [KEY_RIGHT] = "Right",
                                        [KEY_UP] = "Up",
                                        [KEY_DOWN] = "Down",
                                        [KEY_PAGE_UP] = "Page Up",
                                        [KEY_PAGE_DOWN] = "Page Down",
                                        [KEY_HOME] = "Home",
                                        [KEY_END] = "End",
                                        [KEY_TAB] = "Tab",
                                        [KEY_ESCAPE] = "Escape",
                                        [KEY_LESS] = "[",
                                        [KEY_MORE] = "]",
                                        [KEY_PLUS] = "+",
                                        [KEY_MINUS] = "-",
                                        [KEY_HELP] = "?",
                                        [KEY_C] = "C",
                                        [KEY_D] = "D",
                                        [KEY_F] = "F",
                                        [KEY_K] = "K",
                                        [KEY_N] = "N",
                                        [KEY_P] = "P",
                                        [KEY_Q] = "Q",
                                        [KEY_R] = "R",
                                        [KEY_T] = "T",
                                        [KEY_Z] = "Z"};
    struct drawing d = {0};
    (void)state;
    drawing_clear(&d, FRAME_WIDTH, FRAME_HEIGHT);
    frame_help(FRAME_WIDTH, FRAME_HEIGHT, false, &d);
    for (size_t k = 0; k <= KEY_Z; k++) {
        bool named = false;
        assert_non_null(names[k]);
        for (int n = 0; n < d.count; n++)
            if (d.shape[n].kind == SHAPE_TEXT && d.shape[n].face == FACE_MONO)
                named = named || strstr(drawing_text(&d, &d.shape[n]), names[k]) != NULL;
        if (!named)
            fail_msg("the card of keys does not name %s", names[k]);
    }
    drawing_free(&d);
    press(KEY_HELP, false);
    assert_true(at.control.frame.help);
    press(KEY_ESCAPE, false);
    assert_false(at.control.frame.help);
}

/* K goes through every number on the stage and comes round; Escape lets go. */
static void test_pinning(void **state)
{
    struct inspection i;
    (void)state;
    press(KEY_END, false);
    press(KEY_K, false);
    int first = at.control.frame.look.pinned, seen = 1, framed = 0;
    assert_true(first != 0);
    for (int n = 0; n < at.control.drawing.count; n++)
        framed += at.control.drawing.shape[n].line == INK_FOCUS &&
                  at.control.drawing.shape[n].size == 3;
    assert_int_equal(framed, 1);
    for (press(KEY_K, false); at.control.frame.look.pinned != first && seen < 200; seen++)
        press(KEY_K, false);
    assert_in_range(seen, 20, 60);
    press(KEY_K, true);
    int last = at.control.frame.look.pinned;
    assert_true(last != first);
    press(KEY_K, false);
    assert_int_equal(at.control.frame.look.pinned, first);
    assert_true(at.control.scene.kind->inspect(&at.control.scene, first, 16, &i));
    press(KEY_HOME, false);
    assert_int_equal(at.control.frame.look.pinned, first); /* through time */
    press(KEY_ESCAPE, false);
    assert_int_equal(at.control.frame.look.pinned, 0);
}

static bool shows(const char *text)
{
    const struct drawing *d = control_draw(&at.control);
    for (int n = 0; n < d->count; n++)
        if (d->shape[n].kind == SHAPE_TEXT && strstr(drawing_text(d, &d->shape[n]), text) != NULL)
            return true;
    return false;
}

/* Under the pointer: decimal, hex, bits, exact, drift; a click keeps it, and its values so far. */
static void test_inspector(void **state)
{
    static const char *const told[] = {"24.926527", "0x41C76987",
                                       "0 10000011 10001110110100110000111", "exact 24.9265",
                                       "ulp of fp32"};
    struct box b = {0, 0, 0, 0};
    (void)state;
    press(KEY_END, false);
    for (int n = 0; n < at.control.drawing.count; n++) {
        struct inspection i;
        const struct shape *s = &at.control.drawing.shape[n];
        if (s->kind == SHAPE_RECT && s->what != 0 && s->what < FRAME_TRACK &&
            at.control.scene.kind->inspect(&at.control.scene, s->what, 16, &i) && i.has_exact &&
            fabs(i.value - 24.926527) < 1e-5 && i.format == FORMAT_FP32)
            b = drawing_box(&at.control.drawing, s);
    }
    assert_true(b.w > 0);
    control_move(&at.control, b.x + 5, b.y + 5);
    for (size_t n = 0; n < sizeof told / sizeof told[0]; n++)
        if (!shows(told[n]))
            fail_msg("the inspector does not tell %s", told[n]);
    control_press(&at.control, b.x + 5, b.y + 5);
    control_release(&at.control, b.x + 5, b.y + 5);
    control_move(&at.control, 5, 5);
    assert_true(at.control.frame.look.pinned != 0 && at.control.frame.look.hovered == 0);
    assert_true(shows("0x41C76987") && shows("NORMALIZE"));
}

/* The runs' panes are locked: both are at the step, which names the line of each. */
static void test_panes(void **state)
{
    struct moment_words w;
    (void)state;
    press(KEY_END, false);
    at.control.scene.kind->words(&at.control.scene, 15, &w);
    assert_string_equal(w.equation, "L = m + ln l");
    assert_int_equal(w.source[0].letter, 'A');
    assert_int_equal(w.source[1].letter, 'B');
    assert_true(w.source[0].last > 0 && w.source[1].last > 0);
    assert_true(shows("L = m + ln l") && shows("state.c, line "));
}

static void test_zoom(void **state)
{
    (void)state;
    press(KEY_Z, false);
    assert_true(at.control.frame.zoom == 1.25);
    press(KEY_Z, true);
    assert_true(at.control.frame.zoom == 1);
    for (int n = 0; n < 40; n++)
        control_wheel(&at.control, 300, 300, 1);
    assert_true(at.control.frame.zoom == 64);
    press(KEY_F, false);
    assert_true(at.control.frame.zoom == 1 && at.control.frame.pan_x == 0);
    press(KEY_LEFT, true);
    press(KEY_UP, true);
    assert_true(at.control.frame.pan_x == 40 && at.control.frame.pan_y == 40 && now() == 0);
    control_wheel(&at.control, 1000, 300, 1); /* over the panel */
    assert_true(at.control.frame.zoom == 1);
}

static void test_parameters(void **state)
{
    struct parameter p[PARAMETER_MOST];
    (void)state;
    at.control.scene.kind->parameters(&at.control.scene, p);
    assert_string_equal(p[0].value, "fp32");
    press(KEY_MORE, false);
    at.control.scene.kind->parameters(&at.control.scene, p);
    assert_string_equal(p[0].value, "gpu-bf16");
    press(KEY_LESS, false);
    press(KEY_DOWN, false);
    assert_int_equal(at.control.frame.parameter, 1);
    press(KEY_UP, false);
    press(KEY_UP, false);
    assert_int_equal(at.control.frame.parameter, 2);
    press(KEY_R, false);
    press(KEY_MORE, false); /* another scene of the same kind: time stays */
    assert_true(now() == 9);
}

static void test_files(void **state)
{
    char folder[] = "/tmp/flashulp-control-XXXXXX", before[1024];
    (void)state;
    press(KEY_RIGHT, false);
    press(KEY_C, false);
    assert_string_equal(at.control.copied, "flashulp view fa2-4 --scene softmax --at 1");
    assert_non_null(strstr(at.control.frame.notice, "Copied: flashulp view fa2-4"));
    assert_true(getcwd(before, sizeof before) != NULL && mkdtemp(folder) != NULL &&
                chdir(folder) == 0);
    press(KEY_P, false);
    assert_string_equal(at.control.frame.notice, "Written: flashulp-softmax.png");
    press(KEY_P, false);
    assert_string_equal(at.control.frame.notice, "Written: flashulp-softmax-2.png");
    assert_true(unlink("flashulp-softmax.png") == 0 && unlink("flashulp-softmax-2.png") == 0);
    assert_true(chdir(before) == 0 && rmdir(folder) == 0);
    press(KEY_RIGHT, false); /* the next key takes the notice away */
    assert_string_equal(at.control.frame.notice, "");
}

/* Once round all scenes, both ways, each on its own problem; then out. */
static void test_scenes(void **state)
{
    (void)state;
    for (int n = 1; n <= SCENE_COUNT; n++) {
        press(KEY_TAB, false);
        assert_int_equal(at.control.scene.id, n % SCENE_COUNT);
        press(KEY_END, false);
        press(KEY_MORE, false);
    }
    assert_non_null(strstr(at.control.scene.subtitle, "fa2-4"));
    press(KEY_TAB, true);
    assert_int_equal(at.control.scene.id, SCENE_COUNT - 1);
    for (int n = 0; n < THEME_COUNT; n++)
        press(KEY_T, false);
    assert_int_equal(at.c.view.theme, THEME_LIGHT);
    assert_false(at.control.quit);
    press(KEY_Q, false);
    assert_true(at.control.quit);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_time),       TEST(test_animation), TEST(test_play),  TEST(test_help),
        TEST(test_pinning),    TEST(test_inspector), TEST(test_panes), TEST(test_zoom),
        TEST(test_parameters), TEST(test_files),     TEST(test_scenes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
