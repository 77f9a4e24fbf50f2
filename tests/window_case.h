/* window_case.h: the real window under Xvfb, with keys and a pointer that xdotool makes: after each
   of them the screen must show, pixel for pixel, the picture of what the reader asked for. */
#ifndef FLASHULP_TESTS_WINDOW_CASE_H
#define FLASHULP_TESTS_WINDOW_CASE_H

#include <stdint.h>
#include <time.h>

#include "tests/view_case.h"
#include "tests/xvfb.h"
#include "visualize/raster.h"

static struct {
    char folder[64];
    pid_t server, viewer;
    int output; /* the viewer's */
} run;

static inline void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static inline bool start_viewer(void)
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
static inline const char *said(void)
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

static inline void act(const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "xdotool %s >/dev/null 2>%s/said", words, run.folder);
    for (int tries = 0; system(command) != 0; tries++) { /* the server may not listen yet */
        if (tries == 60)
            fail_msg("xdotool %s fails on display %s: %s", words, getenv("DISPLAY"), said());
        pause_ms(50);
    }
}

static inline uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The screen: the server keeps it in a file, in the format of xwd. */
static inline bool read_screen(struct image *i)
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

/* What the reader should see: a scene, how it is looked at, in a window of that size. */
struct expected {
    struct view_case c;
    struct frame_state frame;
    struct drawing drawing;
    struct glyph_cache *cache;
    struct image want, got; /* as large as the window, which stands in the screen's corner */
};

static inline void expect_size(struct expected *e, int width, int height)
{
    image_free(&e->want);
    image_free(&e->got);
    assert_true(image_new(&e->want, width, height) && image_new(&e->got, width, height));
}

static inline void expect(struct expected *e, const char *what)
{
    int differ = -1;
    double wide, high;
    int pixels = e->want.width * e->want.height;
    view_units(e->want.width, e->want.height, &wide, &high);
    e->frame.look.large = e->c.view.theme == THEME_PROJECTOR;
    frame_draw(&e->c.scene, &e->frame, wide, high, &e->drawing);
    raster_draw(&e->want, &e->drawing, e->c.view.theme, e->cache);
    for (int tries = 0; tries < 200 && differ != 0; tries++) {
        differ = -1;
        if (read_screen(&e->got)) {
            differ = 0;
            for (int n = 0; n < pixels; n++)
                differ += e->got.pixel[n] != e->want.pixel[n];
        }
        if (differ != 0)
            pause_ms(50);
    }
    if (differ != 0)
        fail_msg("after %s, %d of %d pixels differ from the picture that was to come", what, differ,
                 pixels);
}

static inline void key(struct expected *e, const char *name)
{
    char words[64];
    (void)e;
    snprintf(words, sizeof words, "key --clearmodifiers %s", name);
    act(words);
}

static inline int window_set_up(void **state)
{
    (void)state;
    strcpy(run.folder, "/tmp/flashulp-window-XXXXXX");
    if (mkdtemp(run.folder) == NULL)
        return -1;
    if (have_program("xdotool"))
        run.server = xvfb_start(run.folder, "1280x720x24");
    return 0;
}

static inline int window_tear_down(void **state)
{
    char command[128];
    (void)state;
    if (run.viewer > 0)
        kill(run.viewer, SIGTERM);
    if (run.server > 0)
        xvfb_stop(run.server);
    snprintf(command, sizeof command, "rm -rf %s", run.folder);
    return system(command);
}

#endif
