/* lanes_draw.c: the picture of a request: its lanes at the banks; of the kernel: its lines, its
   warps over time; see lanes.h. */
#include <math.h>
#include <stdio.h>

#include "simulator/scenario_parts.h"
#include "visualize/lanes.h"
#include "visualize/timeline.h"

enum { SHOWN_LINES = 8, SHOWN_FINDINGS = 3 };

/* Which pass serves a lane: full, or hatched in three ways; crossed where it is a conflict. */
static void draw_access(struct drawing *d, struct box b, struct lane_turn turn)
{
    static const enum hatch hatches[] = {HATCH_NONE, HATCH_RISING, HATCH_FALLING, HATCH_DOTS};
    if (turn.conflict)
        draw_hatched(d, b, INK_CELL, INK_ALARM, HATCH_CROSS);
    else if (turn.pass == 0)
        draw_rect(d, b, INK_WIDE, INK_WIDE);
    else
        draw_hatched(d, b, INK_CELL, INK_WIDE, hatches[turn.pass < 3 ? turn.pass : 3]);
}

static void draw_grid(struct drawing *d, struct box b, const char *columns)
{
    double cell = b.w / 32;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 18, "%s", columns);
    draw_rect(d, b, INK_CELL, INK_QUIET);
    for (int n = 0; n <= 31; n += n == 24 ? 7 : 8) {
        double middle = (n + 0.5) * cell;
        if (n == 31 && cell < 8)
            continue;
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x - 5, b.y + middle + 4, "%d", n);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, b.x + middle, b.y - 4, "%d", n);
        if (n > 0 && n < 31) {
            draw_line(d, b.x, b.y + n * cell, b.x + b.w, b.y + n * cell, INK_RULE, 1);
            draw_line(d, b.x + n * cell, b.y, b.x + n * cell, b.y + b.h, INK_RULE, 1);
        }
    }
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y + b.h + 16, "lane, from top");
}

/* The lane's row lights up under the pointer. */
static void draw_row(struct drawing *d, const struct look *look, struct box b, int lane)
{
    double cell = b.w / 32;
    int what = LANES_CELL + lane;
    struct box row = {b.x, b.y + lane * cell, b.w, cell};
    d->what = what;
    draw_rect(d, row, look->hovered == what || look->pinned == what ? INK_CHANGED : INK_NONE,
              INK_NONE);
}

static void draw_shared(const struct lanes_view *v, const struct lane_request *r,
                        const struct look *look, struct box b, struct drawing *d)
{
    double cell = b.w / 32;
    struct lane_turn turn[REQUEST_LANES];
    request_passes(&v->lanes, r, turn);
    for (int lane = 0; lane < REQUEST_LANES; lane++) {
        draw_row(d, look, b, lane);
        if ((r->lanes >> lane & 1) == 0)
            continue;
        struct lane_access a = trace_lane(&v->lanes, r->access[lane]);
        int words = a.bytes <= 4 ? 1 : a.bytes <= 16 ? (int)a.bytes / 4 : 4;
        for (int i = 0; i < words; i++) {
            int bank = (int)((a.offset / 4 + (uint64_t)i) % BANKS);
            draw_access(
                d, (struct box){b.x + bank * cell + 1, b.y + lane * cell + 1, cell - 2, cell - 2},
                turn[lane]);
        }
    }
    d->what = 0;
}

/* Sectors from the first one touched on; what lies further stands at the edge. */
static void draw_global(const struct lanes_view *v, const struct lane_request *r,
                        const struct look *look, struct box b, struct drawing *d)
{
    double cell = b.w / 32;
    uint64_t first = UINT64_MAX;
    for (int lane = 0; lane < REQUEST_LANES; lane++)
        if (r->lanes >> lane & 1) {
            uint64_t sector = trace_lane(&v->lanes, r->access[lane]).offset / SECTOR_BYTES;
            first = sector < first ? sector : first;
        }
    for (int lane = 0; lane < REQUEST_LANES; lane++) {
        draw_row(d, look, b, lane);
        if ((r->lanes >> lane & 1) == 0)
            continue;
        uint64_t at = trace_lane(&v->lanes, r->access[lane]).offset / SECTOR_BYTES - first;
        draw_access(d,
                    (struct box){b.x + (at < 31 ? (double)at : 31) * cell + 1,
                                 b.y + lane * cell + 1, cell - 2, cell - 2},
                    (struct lane_turn){0, false});
    }
    d->what = 0;
}

static void draw_request(const struct lanes_view *v, const struct lanes_step *s,
                         const struct look *look, struct box b, struct drawing *d)
{
    const struct lane_request *r = &v->requests.request[s->index];
    bool global = r->first.space == LANE_GLOBAL;
    draw_grid(d, b,
              !global       ? "bank of shared memory, from left"
              : look->large ? "sector of 32 bytes, from the first"
                            : "sector of 32 bytes, from the first touched (31: or further)");
    if (global)
        draw_global(v, r, look, b, d);
    else
        draw_shared(v, r, look, b, d);
}

static void draw_headline(const struct lanes_view *v, const struct lanes_step *s, double x,
                          double y, struct drawing *d)
{
    static const char *const verbs[LANE_VERBS] = {"reads", "writes", "changes atomically"};
    const struct lane_request *r = &v->requests.request[s->index];
    bool global = r->first.space == LANE_GLOBAL;
    draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, x, y, "warp %u %s %u bytes a lane, %d lanes",
              r->first.thread / REQUEST_LANES, verbs[r->first.verb], r->first.bytes,
              __builtin_popcount(r->lanes));
    draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, r->passes > r->least ? INK_ALARM : INK_TEXT, x, y + 20,
              global ? "%d sectors of device memory; at best %d"
                     : "%d passes over the banks; at best %d",
              r->passes, r->least);
}

static void draw_pass_legend(double x, double y, bool large, struct drawing *d)
{
    static const char *const names[] = {"first pass", "second", "third", "later", "conflict"};
    for (int pass = 0; pass < 5; pass++) {
        draw_access(d, (struct box){x, y - 9, 11, 11}, (struct lane_turn){pass, pass == 4});
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, x + 17, y, "%s", names[pass]);
        x += 17 + font_width(FACE_SANS, 11, names[pass]) + 14;
    }
    if (large)
        return;
    draw_mark(d, MARK_DOWN, x + 5, y - 4, 8, INK_RESCALE);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, x + 15, y, "on the time bar");
}

/* 1234, 123k, 12.3M: what has room in a column. */
static struct grouped short_count(int64_t n)
{
    struct grouped text;
    if (n < 10000)
        snprintf(text.text, sizeof text.text, "%lld", (long long)n);
    else if (n < 999500)
        snprintf(text.text, sizeof text.text, "%.0fk", 1e-3 * (double)n);
    else
        snprintf(text.text, sizeof text.text, "%.3gM", 1e-6 * (double)n);
    return text;
}

/* A count that ends at x, and what it could have been. */
static void draw_count(struct drawing *d, double x, double y, int64_t count, int64_t best)
{
    if (count > best)
        draw_text(d, FACE_MONO, 11, ALIGN_RIGHT, INK_ALARM, x, y, "%s (%s)",
                  short_count(count).text, short_count(best).text);
    else
        draw_text(d, FACE_MONO, 11, ALIGN_RIGHT, INK_TEXT, x, y, "%s", short_count(count).text);
}

static void draw_lines(const struct lanes_view *v, const struct lanes_step *now, double x, double y,
                       double width, struct drawing *d)
{
    static const char *const heads[] = {"times", "passes", "sectors", "waited"};
    const double end[] = {x + width - 228, x + width - 146, x + width - 60, x + width};
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, y, "source line (in brackets: at best)");
    for (int c = 0; c < 4; c++)
        draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, end[c], y, "%s", heads[c]);
    for (int n = 0; n < v->lines && n < SHOWN_LINES; n++) {
        const struct lanes_line *l = &v->line[n];
        double row = y + 17 * (n + 1);
        const struct lane_access *a =
            now != NULL && !now->barrier ? &v->requests.request[now->index].first : NULL;
        bool here = now != NULL && now->barrier == l->barrier &&
                    (now->barrier ? v->barrier[now->index].first.line == l->line
                                  : a->line == l->line && a->file == l->file);
        if (here)
            draw_rect(d, (struct box){x - 4, row - 12, width + 8, 16}, INK_CHANGED, INK_NONE);
        draw_text(d, FACE_MONO, 11, ALIGN_LEFT, INK_TEXT, x, row, "%.24s%s",
                  lanes_place(v, l->barrier, l->file, l->line).text, l->barrier ? " barrier" : "");
        draw_count(d, end[0], row, l->times, l->times);
        if (l->passes > 0)
            draw_count(d, end[1], row, l->passes, l->least);
        if (l->sectors > 0)
            draw_count(d, end[2], row, l->sectors, l->fewest);
        draw_count(d, end[3], row, (int64_t)l->waited, (int64_t)l->waited);
    }
    if (v->lines > SHOWN_LINES)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, y + 17 * (SHOWN_LINES + 1),
                  "and %d lines more: --describe", v->lines - SHOWN_LINES);
}

static void draw_findings(const struct lanes_view *v, size_t most, double x, double y, double width,
                          struct drawing *d)
{
    if (v->sync.findings == 0) {
        draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x, y,
                  "The emulator found nothing wrong.");
        return;
    }
    size_t shown = 0;
    for (size_t f = 0; f < v->sync.findings && shown < most; f++) {
        char words[400];
        if (lanes_told(v, (int)f))
            continue;
        shown++;
        lanes_finding_words(v, (int)f, words, sizeof words);
        draw_mark(d, MARK_DIAMOND, x + 5, y - 4, 10, INK_ALARM);
        y += 15 * draw_words(d, FACE_SANS, 11.5, INK_ALARM, (struct box){x + 16, y, width - 16, 0},
                             15, 3, words) +
             6;
    }
    if (v->sync.findings > shown && most > 1)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x + 16, y, "and %zu more: --describe",
                  v->sync.findings - shown);
}

/* Clocks at a time of the scene. */
static double clock_at(const struct lanes_view *v, double time)
{
    int done = (int)floor(time);
    double before = done > 0 ? v->step[done - 1].to : 0;
    return done >= v->steps ? v->times.end : before + (v->step[done].to - before) * (time - done);
}

static void draw_time(const struct lanes_view *v, const struct look *look, struct box b,
                      struct drawing *d)
{
    struct timeline t = {.times = &v->times,
                         .task = v->task,
                         .warps = v->warps,
                         .run = 0,
                         .now = clock_at(v, look->time),
                         .end = v->times.end};
    struct axis scale = {0, t.end, timeline_x(&t, b, 0), b.x + b.w};
    struct axis round = scale;
    double step = axis_round(&round, 8), x = timeline_x(&t, b, t.now);
    draw_timeline(&t, b, d);
    for (size_t f = 0; f < v->sync.findings; f++) {
        int at = v->found_at[f];
        if (at >= 0)
            draw_mark(d, MARK_DIAMOND, timeline_x(&t, b, v->step[at].to), b.y - 6, 9, INK_ALARM);
    }
    scale.high = floor(t.end / step) * step;
    scale.to = timeline_x(&t, b, scale.high);
    draw_axis_across(d, &scale, b.y + b.h + 3, step, "");
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, b.x + b.w, b.y + b.h + 34,
              look->large
                  ? "time (clocks of one SM of %s, modelled)"
                  : "time (clocks of one SM of %s, modelled: memory and matrix products alone)",
              v->device.name);
    draw_line(d, x, b.y - 4, x, b.y + b.h + 3, INK_TEXT, 2);
}

/* In double type: a request's lanes and banks; else the warps over time. */
static void draw_large(const struct lanes_view *v, const struct lanes_step *now,
                       const struct look *look, struct box stage, struct drawing *d)
{
    struct box grid = {stage.x + 20, stage.y + 30, 208, 208};
    double x = grid.x + grid.w + 20;
    if (now != NULL && !now->barrier) {
        draw_request(v, now, look, grid, d);
        draw_headline(v, now, x, stage.y + 12, d);
        draw_pass_legend(x, stage.y + 58, true, d);
        draw_findings(v, 2, x, stage.y + 90, stage.x + stage.w - x, d);
        return;
    }
    draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, stage.x, stage.y + 12, "%s",
              now != NULL ? "the warps meet at a barrier" : "no request yet");
    draw_timeline_legend(0, stage.x, stage.y + 36, true, d);
    draw_time(v, look, (struct box){stage.x, stage.y + 78, stage.w, stage.h - 78 - 90}, d);
    draw_findings(v, 1, stage.x, stage.y + stage.h - 24, stage.w, d);
}

void lanes_draw(const struct scene *scene, const struct look *look, struct box stage,
                struct drawing *d)
{
    const struct lanes_view *v = scene->story;
    int n = (int)ceil(look->time) - 1;
    const struct lanes_step *now = n >= 0 && n < v->steps ? &v->step[n] : NULL;
    if (look->large) {
        draw_large(v, now, look, stage, d);
        return;
    }
    struct box grid = {stage.x + 24, stage.y + 34, 336, 336};
    double x = grid.x + grid.w + 40, width = stage.x + stage.w - x;
    if (now != NULL && !now->barrier) {
        draw_request(v, now, look, grid, d);
        draw_headline(v, now, x, stage.y + 16, d);
    } else {
        draw_grid(d, grid, "bank of shared memory, from left");
        draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, x, stage.y + 16, "%s",
                  now != NULL ? "the warps meet at a barrier" : "no request yet");
    }
    draw_pass_legend(x, stage.y + 60, false, d);
    draw_lines(v, now, x, stage.y + 90, width, d);
    draw_findings(v, SHOWN_FINDINGS, x, stage.y + 268, width, d);
    draw_timeline_legend(0, stage.x, stage.y + 416, false, d);
    draw_time(v, look, (struct box){stage.x, stage.y + 440, stage.w, stage.h - 480}, d);
}
