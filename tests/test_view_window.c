/* test_view_window.c: the real window, driven by keys and pointer (window_case.h): time, pointing,
   zoom, drags, scenes, sizes, themes. Skipped, which is said, where Xvfb or xdotool is missing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/window_case.h"

static void test_time(struct expected *e)
{
    expect(e, "the start");
    key(e, "Right");
    e->frame.look.time = 1;
    expect(e, "Right");
    key(e, "Right");
    key(e, "Right");
    e->frame.look.time = 3;
    expect(e, "Right, twice");
    key(e, "Left");
    e->frame.look.time = 2;
    expect(e, "Left");
    key(e, "r");
    e->frame.look.time = 9;
    expect(e, "R, the next rescale");
    key(e, "End");
    e->frame.look.time = 16;
    expect(e, "End");
    key(e, "Next");
    key(e, "Home");
    e->frame.look.time = 0;
    expect(e, "Home");
    key(e, "plus");
    e->frame.speed = 2;
    expect(e, "+");
    for (int i = 0; i < 4; i++)
        key(e, "plus");
    key(e, "space");
    e->frame.speed = 32;
    e->frame.look.time = 16;
    expect(e, "Space, until the end");
}

static void test_pointer(struct expected *e)
{
    int what = 0;
    struct box b = {0, 0, 0, 0};
    for (int n = 0; n < e->drawing.count; n++)
        if (e->drawing.shape[n].kind == SHAPE_RECT && e->drawing.shape[n].what != 0 &&
            e->drawing.shape[n].what < FRAME_TRACK) {
            what = e->drawing.shape[n].what;
            b = drawing_box(&e->drawing, &e->drawing.shape[n]);
        }
    char words[64];
    snprintf(words, sizeof words, "mousemove %d %d", (int)(b.x + b.w / 2), (int)(b.y + b.h / 2));
    act(words);
    e->frame.look.hovered = what;
    expect(e, "pointing at a number");
    act("click 1");
    e->frame.look.pinned = what;
    expect(e, "a click on it");
    act("mousemove 640 715");
    e->frame.look.hovered = 0;
    expect(e, "leaving it, pinned");
    snprintf(words, sizeof words, "mousemove %d %d", TRACK_LEFT + (TRACK_RIGHT - TRACK_LEFT) / 2,
             FRAME_HEIGHT - 58);
    act(words);
    act("click 1");
    e->frame.look.time = 8;
    expect(e, "a click in the middle of the scrub bar");
    key(e, "Escape");
    e->frame.look.pinned = 0;
    expect(e, "Escape");
}

/* Where nothing is told of: on the line of keys. */
static void leave(struct expected *e)
{
    act("mousemove 640 715");
    e->frame.look.hovered = 0;
}

static void test_zoom(struct expected *e)
{
    act("mousemove 400 300");
    pause_ms(200);
    e->frame.look.hovered = drawing_what(&e->drawing, 400, 300);
    act("click 4");
    e->frame.pan_x = 400 - 400 * 1.25;
    e->frame.pan_y = 300 - 300 * 1.25;
    e->frame.zoom = 1.25;
    expect(e, "the wheel");
    leave(e);
    expect(e, "leaving");
    act("mousemove 700 200");
    pause_ms(200);
    e->frame.look.hovered = drawing_what(&e->drawing, 700, 200);
    act("click 5");
    e->frame.pan_x = 700 - (700 - e->frame.pan_x) * 0.8;
    e->frame.pan_y = 200 - (200 - e->frame.pan_y) * 0.8;
    e->frame.zoom = 1;
    expect(e, "the wheel back, elsewhere");
    leave(e);
    key(e, "f");
    e->frame.pan_x = e->frame.pan_y = 0;
    expect(e, "F");
    act("mousemove 400 300");
    pause_ms(200);
    act("click 4");
    e->frame.pan_x = 400 - 400 * 1.25;
    e->frame.pan_y = 300 - 300 * 1.25;
    e->frame.zoom = 1.25;
    leave(e);
    key(e, "f");
    e->frame.zoom = 1;
    e->frame.pan_x = e->frame.pan_y = 0;
    expect(e, "F");
}

static void drag(double x, double y, double to_x, double to_y)
{
    char words[128];
    snprintf(words, sizeof words, "mousemove %d %d mousedown 1 mousemove %d %d mouseup 1", (int)x,
             (int)y, (int)to_x, (int)to_y);
    act(words);
}

/* The stage, the scrub bar; a drag that ends on a number does not pin it. */
static void test_drag(struct expected *e)
{
    drag(300, 470, 341, 450);
    leave(e);
    e->frame.pan_x = 41;
    e->frame.pan_y = -20;
    expect(e, "dragging the stage");
    key(e, "f");
    e->frame.pan_x = e->frame.pan_y = 0;
    expect(e, "F");
    drag(TRACK_LEFT + 50, FRAME_HEIGHT - 58, TRACK_LEFT + (TRACK_RIGHT - TRACK_LEFT) / 4,
         FRAME_HEIGHT - 58);
    leave(e);
    e->frame.look.time = 4;
    expect(e, "dragging along the scrub bar");
}

static struct box slider_of(const struct expected *e, int parameter)
{
    for (int n = 0; n < e->drawing.count; n++)
        if (e->drawing.shape[n].what == FRAME_SLIDER + parameter)
            return drawing_box(&e->drawing, &e->drawing.shape[n]);
    fail_msg("parameter %d has no slider", parameter);
    return (struct box){0, 0, 0, 0};
}

/* Tab: the next scene on its own problem; there a slider; Shift Tab leads back. */
static void test_scenes(struct expected *e)
{
    struct view_case softmax = e->c;
    struct frame_state before = e->frame;
    struct message why;
    struct scene changed;
    double from, to;
    assert_true(case_open(&e->c, "--scene decode", &why));
    key(e, "Tab");
    e->frame = frame_start();
    e->frame.speed = before.speed;
    expect(e, "Tab, the decode scene");
    frame_slider(FRAME_WIDTH, &from, &to);
    struct box s = slider_of(e, 1);
    int x = (int)(from + (to - from) * 0.8);
    drag(from + 20, s.y + s.h / 2, x, s.y + s.h / 2);
    leave(e);
    assert_true(e->c.scene.kind->change(&e->c.scene, 1, 0, (x - from) / (to - from), &changed,
                                        &why));
    e->c.scene.kind->close(&e->c.scene);
    e->c.scene = changed;
    e->frame.parameter = 1;
    expect(e, "dragging the slider of SMs");
    case_close(&e->c);
    e->c = softmax;
    key(e, "shift+Tab");
    e->frame = frame_start();
    e->frame.speed = before.speed;
    expect(e, "Shift Tab, the softmax scene");
    key(e, "Right");
    e->frame.look.time = 1;
    expect(e, "Right");
}

static void resize(struct expected *e, int width, int height)
{
    char words[96];
    snprintf(words, sizeof words, "search --onlyvisible --name 'flashulp view' windowsize %d %d",
             width, height);
    act(words);
    expect_size(e, width, height);
}

/* Another size, another shape; the pointer is where it is drawn there. */
static void test_resize(struct expected *e)
{
    char words[64];
    resize(e, 960, 540);
    expect(e, "a window of three quarters");
    resize(e, 1100, 560);
    expect(e, "a wider window");
    double scale = 560.0 / FRAME_HEIGHT;
    snprintf(words, sizeof words, "mousemove %d %d click 1", (int)((TRACK_LEFT + 2) * scale),
             (int)((FRAME_HEIGHT - 58) * scale));
    act(words);
    e->frame.look.time = 0;
    act("mousemove 500 555");
    expect(e, "a click at the beginning of the scrub bar");
    resize(e, FRAME_WIDTH, FRAME_HEIGHT);
    expect(e, "the first size again");
}

/* Light, dark, projector, light. */
static void test_themes(struct expected *e)
{
    key(e, "t");
    e->c.view.theme = THEME_DARK;
    expect(e, "T, the dark theme");
    key(e, "t");
    e->c.view.theme = THEME_PROJECTOR;
    expect(e, "T, the projector's");
    act("mousemove 700 656 click 1");
    e->frame.look.time = 8;
    leave(e);
    expect(e, "a click in the middle of its scrub bar");
    key(e, "t");
    e->c.view.theme = THEME_LIGHT;
    expect(e, "T, the light one");
}

static void test_rest(struct expected *e)
{
    struct scene changed;
    struct message why;
    key(e, "question");
    e->frame.help = true;
    expect(e, "?");
    key(e, "Escape");
    e->frame.help = false;
    expect(e, "Escape");
    key(e, "t");
    e->c.view.theme = THEME_DARK;
    expect(e, "T, the dark theme");
    key(e, "bracketright");
    assert_true(e->c.scene.kind->change(&e->c.scene, 0, 1, 0, &changed, &why));
    e->c.scene.kind->close(&e->c.scene);
    e->c.scene = changed;
    expect(e, "], another policy");
    key(e, "c");
    snprintf(e->frame.notice, sizeof e->frame.notice,
             "Copied: flashulp view fa2-4 --policy gpu-bf16 --scene softmax --at 8 --theme dark");
    expect(e, "C");
    char printed[256] = "";
    assert_true(read(run.output, printed, sizeof printed - 1) > 0);
    assert_string_equal(
        printed, "flashulp view fa2-4 --policy gpu-bf16 --scene softmax --at 8 --theme dark\n");
}

static void test_window(void **state)
{
    struct expected e = {.frame = frame_start(), .cache = glyph_cache_new()};
    struct message why;
    int status = -1;
    (void)state;
    if (run.server == 0) {
        print_message("# note the window is not tested here: Xvfb or xdotool is missing\n");
        skip();
    }
    assert_true(case_open(&e.c, "fa2-4", &why));
    expect_size(&e, FRAME_WIDTH, FRAME_HEIGHT);
    act("mousemove 640 715");
    assert_true(start_viewer());
    act("search --sync --onlyvisible --name 'flashulp view' windowfocus --sync");
    test_time(&e);
    test_pointer(&e);
    test_zoom(&e);
    test_drag(&e);
    test_scenes(&e);
    test_resize(&e);
    test_themes(&e);
    test_rest(&e);
    key(&e, "q");
    assert_int_equal(waitpid(run.viewer, &status, 0), run.viewer);
    run.viewer = 0;
    assert_int_equal(status, 0);
    image_free(&e.want);
    image_free(&e.got);
    drawing_free(&e.drawing);
    glyph_cache_free(e.cache);
    case_close(&e.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_window)};
    return cmocka_run_group_tests(tests, window_set_up, window_tear_down);
}
