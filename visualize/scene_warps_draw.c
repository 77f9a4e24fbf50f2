/* scene_warps_draw.c: the warps scene's picture: parts of the tile, partial results, totals, lanes
   over time; see warps.h. */
#include <math.h>

#include "simulator/scenario_parts.h"
#include "visualize/timeline.h"
#include "visualize/warps.h"

enum { SHOWN_WARPS = 8 };

/* Shades of one lane's ink are not told apart: warps differ by number and hatching. */
static void draw_fragment(struct drawing *d, struct box b, int pane, int warp, bool held)
{
    static const enum hatch hatches[4] = {HATCH_NONE, HATCH_RISING, HATCH_FALLING, HATCH_DOTS};
    draw_rect(d, b, held ? INK_CELL : INK_WAITING, run_style(pane).ink)->size = 2;
    if (held && warp % 4 > 0)
        draw_hatched(d, b, INK_NONE, INK_RULE, hatches[warp % 4]);
}

static void draw_name(struct drawing *d, struct box b, int pane, int warp)
{
    /* Names of flat parts stand beside one another. */
    double x = b.h < 14 ? b.x + b.w * (0.2 + 0.2 * (warp % 4)) : b.x + b.w / 2;
    double tall = fmin(18, fmax(11, b.h - 4)), y = b.y + b.h / 2;
    draw_rect(d, (struct box){x - 16, y - tall / 2, 32, tall}, INK_PAPER, INK_NONE);
    draw_text(d, FACE_BOLD, 12, ALIGN_CENTRE, run_style(pane).ink, x, y + 4, "w%d", warp);
}

static void draw_tile(const struct warps_view *v, int pane, const struct look *look, struct box b,
                      struct drawing *d)
{
    int warps = v->exchange[pane].warps, shown = warps < SHOWN_WARPS ? warps : SHOWN_WARPS;
    bool held = look->time >= 2;
    for (int w = 0; w < 2 * shown; w++) { /* the names last */
        int n = w % shown;
        struct box part = pane == 0 ? (struct box){b.x + b.w * n / shown, b.y, b.w / shown, b.h}
                                    : (struct box){b.x, b.y + b.h * n / shown, b.w, b.h / shown};
        if (w < shown)
            draw_fragment(d, part, pane, n, held);
        else
            draw_name(d, part, pane, n);
    }
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 7,
              "keys of the tile (%d), from left", v->choices.Bc);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y + b.h + 15,
              look->large ? "rows (%d), from top%s"
                          : "rows (%d), from top; w: the warp that holds the part%s",
              v->choices.Br, warps > shown ? "; more warps are not drawn" : "");
}

/* Partial results of each warp through shared memory, on one scale for both panes. */
static void draw_bars(const struct warps_view *v, int pane, const struct look *look, struct box b,
                      struct drawing *d)
{
    int64_t most = 1;
    int warps = v->exchange[pane].warps, shown = warps < SHOWN_WARPS ? warps : SHOWN_WARPS;
    for (int p = 0; p < WARPS_PANES; p++)
        for (int w = 0; w < v->exchange[p].warps; w++) {
            const struct warp_exchange *e = &v->exchange[p].warp[w];
            most = e->reads > most ? e->reads : most;
            most = e->writes > most ? e->writes : most;
        }
    double share = fmin(1, fmax(0, look->time - 2)), row = b.h / shown;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 8,
              "bytes of partial results: written (full), read (hatched)");
    for (int w = 0; w < shown; w++) {
        const struct warp_exchange *e = &v->exchange[pane].warp[w];
        double y = b.y + row * w, scale = (b.w - 130) * share / (double)most;
        double thick = fmin(9, row / 2 - 1);
        draw_text(d, FACE_BOLD, 11, ALIGN_LEFT, run_style(pane).ink, b.x, y + 11, "w%d", w);
        draw_rect(d, (struct box){b.x + 30, y, (double)e->writes * scale, thick},
                  run_style(pane).ink, INK_NONE);
        if (e->reads > 0)
            draw_hatched(d, (struct box){b.x + 30, y + thick, (double)e->reads * scale, thick},
                         INK_PANEL, run_style(pane).ink, HATCH_RISING);
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x + b.w, y + 11, "%s, %s",
                  grouped(e->writes).text, grouped(e->reads).text);
    }
}

static void draw_totals(const struct warps_view *v, int pane, double x, double y, double width,
                        struct drawing *d)
{
    const struct exchange *e = &v->exchange[pane];
    const struct {
        const char *what;
        int64_t count;
    } rows[] = {{"bytes loaded (Q, K, V)", e->loaded},
                {"bytes of partial results", warps_partial(e, false) + warps_partial(e, true)},
                {"barriers of the block", e->barriers},
                {"of them for another warp's result", warps_waits(e)},
                {"bytes of shared memory", e->shared}};
    for (int n = 0; n < 5; n++) {
        draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x, y + 19 * n, "%s", rows[n].what);
        draw_text(d, FACE_MONO, 12, ALIGN_RIGHT, INK_TEXT, x + width, y + 19 * n, "%s",
                  grouped(rows[n].count).text);
    }
}

static void draw_lanes(const struct warps_view *v, int pane, const struct look *look, struct box b,
                       double end, struct drawing *d)
{
    const struct exchange_time *e = &v->timed[pane];
    struct timeline t = {.times = &e->times,
                         .task = e->task,
                         .warps = e->warps,
                         .run = pane,
                         .now = warps_clock(v, pane, look->time),
                         .end = end};
    struct axis scale = {0, end, timeline_x(&t, b, 0), b.x + b.w};
    struct axis round = scale;
    double step = axis_round(&round, 4), x = timeline_x(&t, b, t.now);
    draw_timeline(&t, b, d);
    scale.high = floor(end / step) * step; /* the last round tick within the lanes */
    scale.to = timeline_x(&t, b, scale.high);
    draw_axis_across(d, &scale, b.y + b.h + 3, step, "");
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, b.x + b.w, b.y + b.h + 34,
              "time (clocks of one SM of %s, modelled)", v->device.name);
    draw_line(d, x, b.y - 4, x, b.y + b.h + 3, INK_TEXT, 2);
}

/* In double type: who holds what, and the lanes. */
static void draw_large(const struct warps_view *v, const struct look *look, struct box stage,
                       double end, struct drawing *d)
{
    static const char *const names[WARPS_PANES] = {"split-K: by keys", "split-Q: by rows"};
    double wide = (stage.w - 20) / 2;
    for (int pane = 0; pane < WARPS_PANES; pane++) {
        double x = stage.x + pane * (wide + 20), y = stage.y;
        draw_run(d, pane, x, y + 12, 14);
        draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, x + 36, y + 12, "%s", names[pane]);
        draw_tile(v, pane, look, (struct box){x, y + 36, wide, 60}, d);
        draw_lanes(v, pane, look, (struct box){x, y + 156, wide, stage.h - 194}, end, d);
    }
    draw_timeline_legend(0, stage.x, stage.y + 128, true, d);
}

void warps_draw(const struct scene *scene, const struct look *look, struct box stage,
                struct drawing *d)
{
    static const char *const names[WARPS_PANES] = {"split-K: each warp has some keys of every row",
                                                   "split-Q: each warp has some rows, all keys"};
    const struct warps_view *v = scene->story;
    double wide = (stage.w - 48) / 2, lanes = stage.h - 480;
    double end = fmax(v->timed[0].times.end, v->timed[1].times.end);
    if (look->large) {
        draw_large(v, look, stage, end, d);
        return;
    }
    for (int pane = 0; pane < WARPS_PANES; pane++) {
        double x = stage.x + pane * (wide + 48), y = stage.y;
        draw_run(d, pane, x, y + 16, 14);
        draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, x + 36, y + 16, "%s", names[pane]);
        draw_tile(v, pane, look, (struct box){x, y + 46, wide, 104}, d);
        draw_bars(v, pane, look, (struct box){x, y + 202, wide, 92}, d);
        draw_totals(v, pane, x, y + 318, wide, d);
        draw_lanes(v, pane, look, (struct box){x, y + 440, wide, lanes}, end, d);
    }
    draw_timeline_legend(0, stage.x, stage.y + 422, false, d);
}
