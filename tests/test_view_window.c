/* test_view_window.c: the real window, under Xvfb, with keys and a pointer that xdotool makes:
   after each of them the screen must show, pixel for pixel, the picture of what the reader asked
   for. Skipped, which is said, where Xvfb or xdotool is missing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/view_case.h"
#include "visualize/raster.h"

static struct {
    char folder[64], display[16];
    pid_t server, viewer;
    int output; /* the viewer's */
} run;

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static bool have(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

/* Xvfb chooses a display that is free and writes its number. */
static bool start_server(void)
{
    int number[2];
    char digits[16] = "", descriptor[16];
    if (pipe(number) != 0 || (run.server = fork()) < 0)
        return false;
    if (run.server == 0) {
        close(number[0]);
        snprintf(descriptor, sizeof descriptor, "%d", number[1]);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        execlp("Xvfb", "Xvfb", "-displayfd", descriptor, "-screen", "0", "1280x720x24", "-fbdir",
               run.folder, "-nolisten", "tcp", "-noreset", (char *)NULL);
        _exit(1);
    }
    close(number[1]);
    for (size_t at = 0; at + 1 < sizeof digits && strchr(digits, '\n') == NULL; at++)
        if (read(number[0], digits + at, 1) != 1) /* in pieces; closing early would kill it */
            return false;
    close(number[0]);
    snprintf(run.display, sizeof run.display, ":%d", atoi(digits));
    setenv("DISPLAY", run.display, 1);
    return true;
}

static bool start_viewer(void)
{
    const char *build = getenv("FLASHULP_BUILD");
    char program[256];
    int out[2];
    snprintf(program, sizeof program, "%s/flashulp-view", build != NULL ? build : "build");
    if (pipe(out) != 0 || (run.viewer = fork()) < 0)
        return false;
    if (run.viewer == 0) {
        dup2(out[1], 1);
        close(out[0]);
        setenv("SDL_VIDEODRIVER", "x11", 1);
        execl(program, program, "fa2-4", (char *)NULL);
        _exit(1);
    }
    close(out[1]);
    run.output = out[0];
    return true;
}

/* What xdotool said last. */
static const char *said(void)
{
    static char text[200];
    char path[96];
    snprintf(path, sizeof path, "%s/said", run.folder);
    FILE *in = fopen(path, "r");
    text[in != NULL ? fread(text, 1, sizeof text - 1, in) : 0] = 0;
    if (in != NULL)
        fclose(in);
    return text;
}

static void act(const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "xdotool %s >/dev/null 2>%s/said", words, run.folder);
    for (int tries = 0; system(command) != 0; tries++) { /* the server may not listen yet */
        if (tries == 60)
            fail_msg("xdotool %s fails on display %s: %s", words, run.display, said());
        pause_ms(50);
    }
}

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The screen: the server keeps it in a file, in the format of xwd. */
static bool read_screen(struct image *i)
{
    char path[128];
    static unsigned char bytes[8 << 20];
    snprintf(path, sizeof path, "%s/Xvfb_screen0", run.folder);
    FILE *in = fopen(path, "rb");
    size_t size = in != NULL ? fread(bytes, 1, sizeof bytes, in) : 0;
    if (in != NULL)
        fclose(in);
    if (size < 100)
        return false;
    size_t line = big_endian(bytes + 48), start = big_endian(bytes) + 12 * big_endian(bytes + 76);
    if (start + line * (size_t)i->height > size)
        return false;
    for (int y = 0; y < i->height; y++)
        for (int x = 0; x < i->width; x++) {
            const unsigned char *p = bytes + start + line * (size_t)y + 4 * (size_t)x;
            i->pixel[y * i->width + x] = (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
        }
    return true;
}

struct expected {
    struct view_case c;
    struct frame_state frame;
    struct drawing drawing;
    struct glyph_cache *cache;
    struct image want, got;
};

static void expect(struct expected *e, const char *what)
{
    int differ = -1;
    frame_draw(&e->c.scene, &e->frame, FRAME_WIDTH, FRAME_HEIGHT, &e->drawing);
    raster_draw(&e->want, &e->drawing, e->c.view.theme, e->cache);
    for (int tries = 0; tries < 200 && differ != 0; tries++) {
        differ = -1;
        if (read_screen(&e->got)) {
            differ = 0;
            for (int n = 0; n < FRAME_WIDTH * FRAME_HEIGHT; n++)
                differ += e->got.pixel[n] != e->want.pixel[n];
        }
        if (differ != 0)
            pause_ms(50);
    }
    if (differ != 0)
        fail_msg("after %s, %d of %d pixels differ from the picture that was to come", what, differ,
                 FRAME_WIDTH * FRAME_HEIGHT);
}

static void key(struct expected *e, const char *name)
{
    char words[64];
    (void)e;
    snprintf(words, sizeof words, "key --clearmodifiers %s", name);
    act(words);
}

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
    act("mousemove 640 715");
    e->frame.look.hovered = 0;
    key(e, "f");
    e->frame.zoom = 1;
    e->frame.pan_x = e->frame.pan_y = 0;
    expect(e, "F");
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
    assert_true(image_new(&e.want, FRAME_WIDTH, FRAME_HEIGHT));
    assert_true(image_new(&e.got, FRAME_WIDTH, FRAME_HEIGHT));
    act("mousemove 640 715");
    assert_true(start_viewer());
    act("search --sync --onlyvisible --name 'flashulp view' windowfocus --sync");
    test_time(&e);
    test_pointer(&e);
    test_zoom(&e);
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

static int set_up(void **state)
{
    (void)state;
    strcpy(run.folder, "/tmp/flashulp-window-XXXXXX");
    if (mkdtemp(run.folder) == NULL)
        return -1;
    if (have("Xvfb") && have("xdotool") && !start_server() && run.server > 0) {
        kill(run.server, SIGTERM);
        run.server = 0;
    }
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    if (run.viewer > 0)
        kill(run.viewer, SIGTERM);
    if (run.server > 0) {
        kill(run.server, SIGTERM);
        waitpid(run.server, NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf %s", run.folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_window)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
