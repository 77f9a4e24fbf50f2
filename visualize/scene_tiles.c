/* scene_tiles.c: the attention matrix in tiles, and how thread blocks walk it: FA1's one block a
   head beside FA2's block for each row of tiles, in lockstep, one cell a step.

   Left: fa1, key tiles outside, query tiles inside, O read and written each time.  Right: fa2,
   every row a block of its own, all at once.  With --do: left fa2, right the backward pass, every
   column a block of its own.  Work is cost.h's, over the cells that are done. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cost.h"
#include "simulator/scenario_parts.h"
#include "visualize/scene_parts.h"
#include "visualize/scene_tiles.h"

enum { MOST_CELLS = 4096 };

/* The order in which one head's blocks reach their cells; blocks run side by side. */
static void walk_pane(struct tiles_view *v, int pane)
{
    const struct grid *g = &v->grid[pane];
    for (int64_t block = 0; block < g->per_head; block++) {
        struct block_walk w = walk_block(g, block);
        int64_t i, j;
        for (int step = 1; walk_next(&w, &i, &j); step++) {
            v->when[pane][i * v->cols + j] = step;
            v->last[pane] = step > v->last[pane] ? step : v->last[pane];
        }
    }
}

static void tiles_close(struct scene *scene)
{
    struct tiles_view *v = scene->story;
    for (int pane = 0; v != NULL && pane < TILES_PANES; pane++)
        free(v->when[pane]);
    free(v);
    scene->story = NULL;
}

static bool build(struct scene *scene, struct tiles_view *v, struct message *why)
{
    static const enum plan_kernel kernels[2][TILES_PANES] = {
        {PLAN_KERNEL_FA1, PLAN_KERNEL_FA2}, {PLAN_KERNEL_FA2, PLAN_KERNEL_BACKWARD}};
    bool backward = v->scenario.given[OPTION_DO];
    for (int pane = 0; pane < TILES_PANES; pane++) {
        v->grid[pane] = grid_of(kernels[backward][pane], &v->launch.shape, v->launch.tile, 1, 1);
        const struct grid *g = &v->grid[pane];
        if (g->row_tiles * g->key_tiles > MOST_CELLS)
            return refuse(why,
                          "%s x %s tiles are too many to draw; %d in all, or --tile of more, "
                          "is right",
                          grouped(g->row_tiles).text, grouped(g->key_tiles).text, MOST_CELLS);
        v->rows = (int)g->row_tiles;
        v->cols = (int)g->key_tiles;
        v->last[pane] = 0;
        free(v->when[pane]);
        v->when[pane] = calloc((size_t)(v->rows * v->cols) + 1, sizeof *v->when[pane]);
        if (v->when[pane] == NULL)
            return refuse(why, "no memory");
        walk_pane(v, pane);
    }
    scene->moments = v->last[0] > v->last[1] ? v->last[0] : v->last[1];
    snprintf(scene->title, sizeof scene->title, "The score matrix of one head, tile by tile");
    snprintf(scene->subtitle, sizeof scene->subtitle,
             "%s queries x %s keys, d %lld    tile %d x %d%s", grouped(v->launch.shape.len_q).text,
             grouped(v->launch.shape.len_k).text, (long long)v->launch.shape.dim, v->launch.tile.Br,
             v->launch.tile.Bc, v->launch.shape.causal ? "    causal" : "");
    return scene->moments > 0 || refuse(why, "the mask leaves no tile");
}

static bool tiles_open(struct scene *scene, const struct scenario *s, struct trace *t,
                       struct message *why)
{
    struct tiles_view *v =
        story_begin(scene, sizeof *v, t, "the tiles scene needs a shape, not a recorded run", why);
    if (v == NULL)
        return false;
    v->scenario = *s;
    if (launch_read(s, &v->launch, why) && build(scene, v, why))
        return true;
    tiles_close(scene);
    return false;
}

struct tiles_tally tiles_done(const struct tiles_view *v, int pane, double time)
{
    const struct grid *g = &v->grid[pane];
    struct tiles_tally t = {0};
    struct work plain = work_cell(g, CELL_PLAIN), masked = work_cell(g, CELL_MASKED);
    struct traffic all = grid_traffic(g);
    for (int n = 0; n < v->rows * v->cols; n++) {
        enum cell cell = grid_cell(g, n / v->cols, n % v->cols);
        bool done = v->when[pane][n] > 0 && v->when[pane][n] <= time;
        t.of += v->when[pane][n] > 0;
        t.done += done;
        t.masked += done && cell == CELL_MASKED;
        t.plain += done && cell == CELL_PLAIN;
    }
    t.matmul = t.masked * masked.matmul + t.plain * plain.matmul;
    t.special = t.masked * masked.special + t.plain * plain.special;
    t.bytes = t.of > 0 ? (all.once + all.again) / (double)g->heads * t.done / t.of : 0;
    return t;
}

static unsigned tiles_marks(const struct scene *scene, int moment)
{
    const struct tiles_view *v = scene->story;
    return moment + 1 == v->last[1] || moment == 0 ? MOMENT_CHAPTER : 0;
}

static void tiles_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct tiles_view *v = scene->story;
    struct tiles_tally a = tiles_done(v, 0, moment + 1), b = tiles_done(v, 1, moment + 1);
    memset(w, 0, sizeof *w);
    snprintf(w->step, sizeof w->step, "CELL");
    snprintf(w->where, sizeof w->where, "one cell of every thread block");
    bool backward = v->scenario.given[OPTION_DO];
    snprintf(w->equation, sizeof w->equation, "%s",
             backward ? "P, dP, dS; dV_j, dK_j, dQ_i += ..." : "S = Q_i K_j^T, P, O~_i += P V_j");
    snprintf(w->meaning, sizeof w->meaning, "%s",
             backward
                 ? "A, forward, has one thread block for each query tile. B, backward, has one "
                   "for each key tile: it keeps dK and dV; dQ is added up across blocks."
                 : "A has one thread block for the head: it takes a key tile and goes through "
                   "all query tiles. B has one for each query tile: all work at once, keys "
                   "last to first.");
    snprintf(w->numbers, sizeof w->numbers, "A: %d of %d cells\nB: %d of %d cells%s", a.done, a.of,
             b.done, b.of, b.done == b.of ? ", done" : "");
}

static void tiles_describe(const struct scene *scene, double time, char **text)
{
    const struct tiles_view *v = scene->story;
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    for (int pane = 0; pane < TILES_PANES; pane++) {
        struct tiles_tally t = tiles_done(v, pane, time);
        struct cells all = grid_head(&v->grid[pane]);
        text_append(text, "%c %s: %s of %d cells, step %d of %d\n", run_style(pane).letter,
                    plan_kernel_name(v->grid[pane].kernel), grouped(t.done).text, t.of,
                    (int)fmin(floor(time), v->last[pane]), v->last[pane]);
        text_append(text,
                    "  %.4g FLOPs of matrix products, %.4g exponentials, %.4g bytes asked of "
                    "memory\n",
                    t.matmul, t.special, t.bytes);
        if (pane == 0)
            text_append(text, "  the mask skips %s cells, cuts %s, leaves %s whole\n",
                        grouped(all.skipped).text, grouped(all.masked).text,
                        grouped(all.plain).text);
    }
}

static bool tiles_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct tiles_view *v = scene->story;
    int n = what - 1, cells = v->rows * v->cols;
    memset(i, 0, sizeof *i);
    if (n < 0 || n >= TILES_PANES * cells)
        return false;
    int pane = n / cells;
    int when = v->when[pane][n % cells], row = n % cells / v->cols, col = n % v->cols;
    enum cell cell = grid_cell(&v->grid[pane], row, col);
    i->in_words = true;
    snprintf(i->name, sizeof i->name, "%c: query tile %d, key tile %d", run_style(pane).letter, row,
             col);
    snprintf(i->words[0], sizeof i->words[0], "%s",
             cell == CELL_SKIPPED  ? "skipped: the mask leaves no pair"
             : cell == CELL_MASKED ? "masked: some pairs are seen"
                                   : "plain: every pair is seen");
    if (when > 0)
        snprintf(i->words[1], sizeof i->words[1], "step %d of %d%s", when, v->last[pane],
                 when <= time ? ", done" : "");
    return true;
}

static const int heights[] = {16, 32, 64, 128, 256};
static const int lengths[] = {256, 512, 1024, 2048, 4096};
enum { LIVE_CAUSAL, LIVE_ROWS, LIVE_KEYS, LIVE_LENGTH, LIVE_COUNT };

static int tiles_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct tiles_view *v = scene->story;
    static const char *const names[LIVE_COUNT] = {"causal", "tile rows", "tile keys", "tokens"};
    const long long values[LIVE_COUNT] = {0, v->launch.tile.Br, v->launch.tile.Bc,
                                          v->launch.shape.len_k};
    for (int n = 0; n < LIVE_COUNT; n++) {
        p[n] = (struct parameter){.name = names[n]};
        if (n == LIVE_CAUSAL)
            snprintf(p[n].value, sizeof p[n].value, "%s", v->launch.shape.causal ? "yes" : "no");
        else
            snprintf(p[n].value, sizeof p[n].value, "%lld", values[n]);
    }
    return LIVE_COUNT;
}

static bool tiles_change(const struct scene *scene, int n, int direction, double place,
                         struct scene *changed, struct message *why)
{
    const struct tiles_view *old = scene->story;
    struct tiles_view *v = calloc(1, sizeof *v);
    (void)place;
    if (v == NULL)
        return refuse(why, "no memory");
    v->scenario = old->scenario;
    v->launch = old->launch;
    if (n == LIVE_CAUSAL)
        v->launch.shape.causal = !v->launch.shape.causal;
    else if (n == LIVE_ROWS)
        v->launch.tile.Br = (int)number_stepped(heights, 5, v->launch.tile.Br, direction);
    else if (n == LIVE_KEYS)
        v->launch.tile.Bc = (int)number_stepped(heights, 5, v->launch.tile.Bc, direction);
    else
        v->launch.shape.len_q = v->launch.shape.len_k =
            number_stepped(lengths, 5, v->launch.shape.len_k, direction);
    *changed = *scene;
    changed->story = v;
    if (build(changed, v, why))
        return true;
    tiles_close(changed);
    return false;
}

static void tiles_arguments(const struct scene *scene, char **text)
{
    const struct tiles_view *v = scene->story;
    launch_command(&v->scenario, &v->launch, NULL, text);
}

const struct scene_kind scene_tiles = {.open = tiles_open,
                                       .close = tiles_close,
                                       .marks = tiles_marks,
                                       .words = tiles_words,
                                       .draw = tiles_draw,
                                       .describe = tiles_describe,
                                       .inspect = tiles_inspect,
                                       .parameters = tiles_parameters,
                                       .change = tiles_change,
                                       .arguments = tiles_arguments};
