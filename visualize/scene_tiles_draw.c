/* scene_tiles_draw.c: how the tiles scene looks: a pane for each walk, a box for each cell, below
   it what was done so far. */
#include <math.h>
#include <stdio.h>

#include "simulator/scenario_parts.h"
#include "visualize/scene_tiles.h"

enum { NUMBERED_WIDE = 22, NUMBERED_HIGH = 16 }; /* cells that have room for a number */

static bool numbered(const struct look *look, double wide, double tall)
{
    return wide >= NUMBERED_WIDE && tall >= NUMBERED_HIGH && !look->large;
}

/* Which step does the cell: the order of a walk, in a still picture too. */
static void draw_step(int when, struct box b, struct drawing *d)
{
    char text[16];
    snprintf(text, sizeof text, "%d", when);
    double half = font_width(FACE_SANS, 9.5, text) / 2 + 2;
    draw_rect(d, (struct box){b.x + b.w / 2 - half, b.y + b.h / 2 - 6, 2 * half, 12}, INK_PAPER,
              INK_NONE);
    draw_text(d, FACE_SANS, 9.5, ALIGN_CENTRE, INK_TEXT, b.x + b.w / 2, b.y + b.h / 2 + 3.5, "%s",
              text);
}

static void draw_cell_box(const struct tiles_view *v, int pane, int i, int j,
                          const struct look *look, struct box b, struct drawing *d)
{
    int when = v->when[pane][i * v->cols + j];
    enum cell cell = grid_cell(&v->grid[pane], i, j);
    bool now = when == (int)floor(look->time) + 1 && look->time > floor(look->time);
    bool done = when > 0 && when <= look->time;
    enum ink fill = cell == CELL_SKIPPED ? INK_PANEL
                    : now                ? INK_CHANGED
                    : done               ? run_style(pane).ink
                                         : INK_CELL;
    d->what = 1 + (pane * v->rows + i) * v->cols + j;
    struct shape *s = draw_rect(d, b, fill, INK_QUIET);
    if (cell == CELL_SKIPPED)
        s->hatch = HATCH_CROSS, s->line = INK_RULE;
    else if (cell == CELL_MASKED)
        s->hatch = HATCH_RISING;
    if (done && cell == CELL_MASKED)
        s->line = INK_PAPER;
    if (when > 0 && numbered(look, b.w, b.h))
        draw_step(when, b, d);
    d->what = 0;
}

static void draw_pane(const struct tiles_view *v, int pane, const struct look *look, struct box b,
                      struct drawing *d)
{
    double tall = b.h / v->rows, wide = b.w / v->cols;
    struct tiles_tally t = tiles_done(v, pane, look->time);
    double title = b.y - (look->large ? 24 : 32);
    draw_run(d, pane, b.x, title, 14);
    char owns[80];
    snprintf(owns, sizeof owns, "%s: a block owns %s", plan_kernel_name(v->grid[pane].kernel),
             plan_kernel_owns(v->grid[pane].kernel));
    draw_fitted(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, b.x + 36, title, b.w - 36, owns);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - (look->large ? 7 : 8),
              "key tile (%s keys each), from left%s", grouped(v->launch.tile.Bc).text,
              numbered(look, wide, tall) ? "; in a cell: the step that does it" : "");
    for (int i = 0; i < v->rows; i++)
        for (int j = 0; j < v->cols; j++)
            draw_cell_box(v, pane, i, j, look,
                          (struct box){b.x + wide * j, b.y + tall * i, wide, tall}, d);
    double y = b.y + b.h + (look->large ? 15 : 18);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, y,
              "query tile (%s queries each), from top", grouped(v->launch.tile.Br).text);
    static const char *const names[] = {"cells done", "FLOPs of matrix products", "exponentials",
                                        "bytes asked of memory"};
    const double values[] = {t.done, t.matmul, t.special, t.bytes};
    for (int n = 0; n < (look->large ? 1 : 4); n++) {
        y += look->large ? 17 : 20;
        draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, b.x, y, "%s", names[n]);
        draw_text(d, FACE_MONO, 12, ALIGN_RIGHT, INK_TEXT, b.x + fmin(300, b.w), y, "%s",
                  grouped((int64_t)(values[n] + 0.5)).text);
    }
}

static void draw_tiles_legend(struct box stage, double y, bool large, struct drawing *d)
{
    static const struct {
        enum hatch hatch;
        enum ink fill, line;
        const char *text;
    } rows[] = {{HATCH_NONE, INK_CELL, INK_QUIET, "plain: every pair seen"},
                {HATCH_RISING, INK_CELL, INK_QUIET, "masked: some pairs"},
                {HATCH_CROSS, INK_PANEL, INK_RULE, "skipped: none"},
                {HATCH_NONE, INK_CHANGED, INK_QUIET, "being computed"},
                {HATCH_NONE, INK_RUN_A, INK_QUIET, "done by A"},
                {HATCH_NONE, INK_RUN_B, INK_QUIET, "done by B"}};
    double x = stage.x;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        if (large && n == 3) {
            x = stage.x;
            y += 17;
        }
        draw_hatched(d, (struct box){x, y - 11, 18, 13}, rows[n].fill, rows[n].line, rows[n].hatch);
        draw_text(d, FACE_SANS, 11.5, ALIGN_LEFT, INK_TEXT, x + 24, y, "%s", rows[n].text);
        x += 44 + font_width(FACE_SANS, 11.5, rows[n].text);
    }
}

void tiles_draw(const struct scene *scene, const struct look *look, struct box stage,
                struct drawing *d)
{
    const struct tiles_view *v = scene->story;
    double gap = look->large ? 20 : 40, wide = (stage.w - gap) / 2;
    double above = look->large ? 78 : 74, below = look->large ? 36 : 110;
    draw_tiles_legend(stage, stage.y + (look->large ? 10 : 14), look->large, d);
    for (int pane = 0; pane < TILES_PANES; pane++)
        draw_pane(v, pane, look,
                  (struct box){stage.x + pane * (wide + gap), stage.y + above, wide,
                               stage.h - above - below},
                  d);
}
