/* bench_view.c: the viewer: a frame in software at 1080p; the first frame of a window without a
   screen (SDL's dummy driver; elapsed time), and under X11, where Xvfb is; a recorded run of 10^6
   events opened and scrubbed. */
#define _DEFAULT_SOURCE /* mkstemps */
#include "tests/bench/bench.h"

#include <math.h>
#include <unistd.h>

#include "tests/xvfb.h"
#include "visualize/raster.h"
#include "visualize/scene_softmax.h"
#include "visualize/view.h"

enum { SIDE = 256, LINES = 40, EVENTS = 1000000 };

static struct frame_work {
    struct drawing drawing;
    struct image image;
    struct glyph_cache *cache;
} heat, rects;

static void draw_frame(void *with)
{
    struct frame_work *w = with;
    raster_draw(&w->image, &w->drawing, THEME_LIGHT, w->cache);
}

static void prepare(struct frame_work *w, bool as_rects)
{
    static unsigned char levels[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        levels[i] = (unsigned char)((i * 7 + i / SIDE * 5) % HEAT_LEVELS);
    drawing_clear(&w->drawing, 1920, 1080);
    if (!as_rects)
        draw_heat(&w->drawing, (struct box){20, 20, 1024, 1024}, SIDE, SIDE, levels);
    for (int i = 0; as_rects && i < SIDE * SIDE; i++)
        draw_rect(&w->drawing, (struct box){20 + 4 * (i % SIDE), 20 + 4 * (i / SIDE), 4, 4},
                  (enum ink)(1 + levels[i]), INK_NONE);
    for (int n = 0; n < LINES; n++)
        draw_text(&w->drawing, FACE_MONO, 16, ALIGN_LEFT, INK_TEXT, 1060, 40 + 25 * n,
                  "%2d  RESCALE  O~ = a O~  8.7109423 8.7109417 +0.64", n);
    w->cache = glyph_cache_new();
    if (w->cache == NULL || !image_new(&w->image, 1920, 1080))
        exit(1);
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char problem[] = "fa2-4";

static double first_frame(void *with)
{
    struct view v = {.scenario = {.verb = "view", .problem = problem},
                     .most_frames = 1,
                     .width = 1920,
                     .height = 1080};
    struct message why;
    double start = wall();
    (void)with;
    if (!window_run(&v, &why)) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    return wall() - start;
}

/* FA2's steps over tiles of two keys, ten events each, none of them true. */
static struct trace *long_trace(void)
{
    static const struct {
        enum step step;
        enum tensor_name tensor;
        int cols;
    } steps[] = {{STEP_QK, TENSOR_S, 2},          {STEP_MASK, TENSOR_S, 2},
                 {STEP_ROW_MAX, TENSOR_M, 1},     {STEP_RESCALE, TENSOR_DECAY, 1},
                 {STEP_RESCALE, TENSOR_L_SUM, 1}, {STEP_RESCALE, TENSOR_O_ACC, 1},
                 {STEP_EXP, TENSOR_P, 2},         {STEP_ROW_SUM, TENSOR_L_SUM, 1},
                 {STEP_ROUND_P, TENSOR_P, 2},     {STEP_PV, TENSOR_O_ACC, 1}};
    struct trace *t = trace_new(TRACE_VALUES);
    for (int n = 0; t != NULL && n < EVENTS; n++) {
        double values[2] = {1 + n * 1e-6, 2 + n * 1e-6};
        double exact[2][2] = {{1 + n * 1e-6, 1e-9}, {2 + n * 1e-6, 1e-9}};
        struct event e = {.step = steps[n % 10].step,
                          .tensor = steps[n % 10].tensor,
                          .format = FORMAT_FP32,
                          .rows = 1,
                          .cols = (uint32_t)steps[n % 10].cols,
                          .j = (uint32_t)(n / 10),
                          .flags = EVENT_HAS_TWIN,
                          .time = (uint64_t)n};
        trace_append(t, &e, values, (const double(*)[2])exact, NULL, NULL);
    }
    return t;
}

static char recorded[] = "/tmp/flashulp-bench-XXXXXX.trace";
static struct scene scene;

static double open_trace(void *with)
{
    struct view v = {.scenario = {.verb = "view", .problem = recorded}};
    struct message why;
    (void)with;
    if (scene.kind != NULL)
        scene.kind->close(&scene);
    double start = bench_seconds();
    if (!view_read(&v, &why) || !view_open(&v, v.scene, &scene, &why)) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    return bench_seconds() - start;
}

static void scrub(void *with)
{
    static int n;
    struct frame_work *w = with;
    struct frame_state f = frame_start();
    f.look.time = fmod(++n * 0.618, 1) * scene.moments;
    frame_draw(&scene, &f, FRAME_WIDTH, FRAME_HEIGHT, &w->drawing);
    raster_draw(&w->image, &w->drawing, THEME_LIGHT, w->cache);
}

static void bench_trace_file(void)
{
    struct peer open = {.name = "open", .seconds = open_trace};
    struct peer frame = {.name = "scrub", .work = scrub, .with = &heat};
    struct message why;
    struct trace *t = long_trace();
    int file = mkstemps(recorded, 6);
    if (file < 0 || t == NULL || !trace_write(t, recorded, true, &why))
        exit(1);
    close(file);
    trace_free(t);
    bench_rounds(&open, 1, 5);
    bench_row("view 10^6 events, open", open.median, "s", "a second", 1, 1);
    bench_rounds(&frame, 1, 9);
    bench_row("view 10^6 events, scrub", frame.median, "s", "a frame at 30 a second", 1.0 / 30, 1);
    scene.kind->close(&scene);
    unlink(recorded);
}

/* A server that has been up for some time, and has shown a window before. */
static void bench_x11(void)
{
    char folder[] = "/tmp/flashulp-bench-XXXXXX", command[64];
    struct peer first = {.name = "first", .seconds = first_frame};
    pid_t server = mkdtemp(folder) != NULL ? xvfb_start(folder, "1920x1080x24") : 0;
    if (server == 0) {
        bench_note("the first frame under X11 is not timed: Xvfb is missing");
    } else {
        setenv("SDL_VIDEODRIVER", "x11", 1);
        bench_rounds(&first, 1, 7);
        bench_row("view, first frame, X11", first.median, "s", "a budget of 150 ms", 150e-3, 1);
        xvfb_stop(server);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        exit(1);
}

int main(void)
{
    struct peer frames[2] = {{.name = "heat", .work = draw_frame, .with = &heat},
                             {.name = "a rectangle a tile", .work = draw_frame, .with = &rects}};
    struct peer first = {.name = "first", .seconds = first_frame};
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    prepare(&heat, false);
    prepare(&rects, true);
    bench_rounds(frames, 2, 31);
    bench_row("view 1080p, 256^2 tiles", frames[0].median, "s", "a budget of 2.5 ms", 2.5e-3, 1);
    bench_times_row("view 1080p, 256^2 tiles", &frames[0], &frames[1], 0);
    bench_rounds(&first, 1, 7);
    bench_row("view, first frame", first.median, "s", "a budget of 50 ms", 50e-3, 1);
    bench_x11();
    bench_trace_file();
    bench_note("the first frame is elapsed time, of SDL's dummy driver; 40 lines of text each");
    return 0;
}
