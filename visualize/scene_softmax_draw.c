/* scene_softmax_draw.c: how the softmax scene looks: scores as bars with the running maximum on
   top, below them a lane for each run and one for the exact recurrence, below these the drift.

   Keys stand in the same columns everywhere; what the step under way writes is filled, and dots run
   from what it reads to what it writes. */
#include "visualize/scene_softmax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualize/frame.h"

enum { NUMBERED = 8, MOST_KEYS = 192, CELLS = 5 };

/* The keys around the tile at hand. */
static struct softmax_places places_of(const struct softmax_view *v, const struct instant *now,
                                       struct box stage)
{
    const struct lane *l = &v->story.lane[exact_lane(&v->story)];
    const struct lane_tile *last = &l->tile[l->tiles - 1];
    int all = last->key + last->hi - last->lo;
    struct softmax_places p = {.keys = {stage.x + 84, stage.y + 22, 372, 104}, .count = all};
    p.cells = stage.x + 470;
    p.cell_width = (stage.x + stage.w - p.cells) / CELLS;
    p.lane_top = stage.y + 190;
    p.lane_height = v->story.lanes == 2 ? 86 : 110;
    if (all > NUMBERED && all > MOST_KEYS) {
        int tile = l->state[now->done[exact_lane(&v->story)]].tile;
        p.count = MOST_KEYS;
        p.first = l->tile[tile].key - MOST_KEYS / 2;
        p.first = p.first < 0 ? 0 : p.first > all - MOST_KEYS ? all - MOST_KEYS : p.first;
    }
    p.numbers = p.count <= NUMBERED;
    return p;
}

static void draw_legend(const struct softmax_view *v, struct box stage,
                        const struct softmax_places *p, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    double x = p->cells, y = stage.y + 14;
    for (int lane = 0; lane <= s->lanes; lane++, y += 20) {
        bool exact = lane == s->lanes;
        draw_run(d, exact ? -1 : lane, x, y, 13);
        char divisions[48] = "";
        if (!exact)
            snprintf(divisions, sizeof divisions, ", divides a row %d time%s",
                     s->lane[lane].divisions, s->lane[lane].divisions == 1 ? "" : "s");
        draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x + 32, y, "%.40s%s",
                  exact ? "the same steps in exact arithmetic" : s->lane[lane].name, divisions);
    }
    y += 4;
    draw_rect(d, (struct box){x, y - 10, 14, 12}, INK_CHANGED, INK_QUIET);
    draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x + 32, y, "what this step writes");
    y += 20;
    draw_hatched(d, (struct box){x, y - 10, 14, 12}, INK_WAITING, INK_RULE, HATCH_RISING);
    draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x + 32, y, "not read yet");
    y += 20;
    draw_line(d, x, y - 6, x + 14, y - 6, INK_RUN_A, 2);
    draw_line(d, x, y - 2, x + 14, y - 2, INK_RUN_B, 2);
    draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x + 32, y, "running maximum m of each run");
    y += 20;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, y,
              "small figures: drift from exact, in ulps of %s", v->ulps);
}

static struct box slot_box(const struct softmax_places *p, double top, enum slot slot)
{
    bool carried = (int)slot < CELLS;
    int n = carried ? (int)slot : (int)slot - CELLS;
    return (struct box){p->cells + p->cell_width * n, top + (carried ? 0 : 42), p->cell_width - 4,
                        38};
}

/* Does this lane's step under way (or the one just done) write the slot? */
static bool written(const struct lane *l, const struct instant *now, int lane, enum slot slot)
{
    return now->last[lane] >= 0 && l->beat[now->last[lane]].wrote >> slot & 1;
}

static void draw_slot(const struct softmax_view *v, const struct softmax_places *p,
                      const struct instant *now, int lane, double top, enum slot slot, bool just,
                      struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    struct held h = softmax_held(s, now->done, lane, slot);
    bool exact = lane == s->lanes;
    struct value_cell c = {.box = slot_box(p, top, slot), .symbol = slot_symbol(slot), .type = 13};
    double drift = h.is ? drift_in(v->format, h.value, h.exact) : 0;
    struct words value = number_words(h.value), note = drift_words(drift);
    bool became = !h.is && !just && slot == SLOT_O_ACC &&
                  softmax_last(s, now->done, exact ? exact_lane(s) : lane, slot).is;
    c.value = h.is ? value.text : became ? "is now O" : "";
    c.note = h.is && !exact ? note.text : "";
    c.fill = just ? INK_CHANGED : h.is ? INK_CELL : became ? INK_PANEL : INK_WAITING;
    c.line = h.is ? INK_QUIET : INK_RULE;
    d->what = what_slot(lane, slot);
    draw_cell(d, &c);
    d->what = 0;
}

static void draw_weights(const struct softmax_view *v, const struct softmax_places *p,
                         const struct instant *now, int lane, double top, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    bool exact = lane == s->lanes;
    int from = exact ? exact_lane(s) : lane;
    const struct lane *l = &s->lane[from];
    for (int n = 0; n < p->count; n++) {
        struct box b = softmax_column(p, n);
        struct held h = {.is = false};
        int tile, col, beat = now->last[from];
        if (!softmax_key(l, p->first + n, &tile, &col))
            continue;
        bool has = lane_weight(l, s, tile, col, now->done[from], &h);
        bool just = beat >= 0 && l->beat[beat].tile == tile && l->beat[beat].tensor == TENSOR_P;
        b.y = top, b.h = 38;
        double value = has ? exact ? h.exact[0] : h.value : 0;
        if (p->numbers) {
            struct words number = number_words(value);
            struct words drift = drift_words(has ? drift_in(v->format, h.value, h.exact) : 0);
            struct value_cell c = {.box = b,
                                   .symbol = "p",
                                   .value = has ? number.text : "",
                                   .note = has && !exact ? drift.text : "",
                                   .type = 12,
                                   .fill = just  ? INK_CHANGED
                                           : has ? INK_CELL
                                                 : INK_WAITING,
                                   .line = has ? INK_QUIET : INK_RULE};
            d->what = what_weight(lane, p->first + n);
            draw_cell(d, &c);
        } else {
            d->what = what_weight(lane, p->first + n);
            draw_rect(d, b, just ? INK_CHANGED : INK_WAITING, INK_NONE);
            double tall = 38 * fmin(1, fmax(0, value));
            draw_rect(d, (struct box){b.x, b.y + 38 - tall, b.w, tall},
                      exact ? INK_EXACT : run_style(lane).ink, INK_NONE);
        }
        d->what = 0;
    }
}

/* What a step reads and what it writes. */
enum { FROM_SCORES = SLOT_COUNT, FROM_WEIGHTS };
static const struct flow {
    enum step step;
    int from, to;
} flows[] = {{STEP_ROW_MAX, FROM_SCORES, SLOT_M},  {STEP_ROW_MAX, FROM_SCORES, SLOT_M_TILE},
             {STEP_RESCALE, SLOT_DECAY, SLOT_L},   {STEP_RESCALE, SLOT_DECAY, SLOT_O_ACC},
             {STEP_RESCALE, SLOT_M, SLOT_L_OLD},   {STEP_EXP, FROM_SCORES, FROM_WEIGHTS},
             {STEP_ROW_SUM, FROM_WEIGHTS, SLOT_L}, {STEP_ROW_SUM, FROM_WEIGHTS, SLOT_L_TILE},
             {STEP_PV, FROM_WEIGHTS, SLOT_O_ACC},  {STEP_PV, FROM_WEIGHTS, SLOT_Y},
             {STEP_PV, FROM_WEIGHTS, SLOT_O},      {STEP_MERGE, SLOT_L_OLD, SLOT_L},
             {STEP_MERGE, SLOT_L_TILE, SLOT_L},    {STEP_MERGE, SLOT_Y, SLOT_O_ACC},
             {STEP_NORMALIZE, SLOT_L, SLOT_O},     {STEP_NORMALIZE, SLOT_O_ACC, SLOT_O},
             {STEP_LSE, SLOT_M, SLOT_LSE},         {STEP_LSE, SLOT_L, SLOT_LSE}};
enum { FLOWS = sizeof flows / sizeof flows[0] };

static void draw_dot(struct drawing *d, double x, double y, double to_x, double to_y, double share,
                     enum ink ink)
{
    double at_x = x + (to_x - x) * share, at_y = y + (to_y - y) * share;
    draw_line(d, x, y, at_x, at_y, ink, 1.5);
    draw_mark(d, MARK_CIRCLE, at_x, at_y, 8, ink);
}

static void draw_flow(const struct softmax_places *p, const struct lane *l, const struct flow *f,
                      int tile, double top, double share, enum ink ink, struct drawing *d)
{
    const struct lane_tile *k = &l->tile[tile];
    bool keys = f->from >= FROM_SCORES;
    int from = keys ? k->key - p->first : 0, to = keys ? from + k->hi - k->lo : 1;
    from = from < 0 ? 0 : from;
    to = keys && to > p->count ? p->count : to;
    for (int n = from; n < to && n < from + 24; n++) {
        struct box b = keys ? softmax_column(p, n) : slot_box(p, top, (enum slot)f->from);
        double x = b.x + b.w / 2;
        double y = f->from == FROM_SCORES    ? p->keys.y + p->keys.h
                   : f->from == FROM_WEIGHTS ? top + 19
                                             : b.y + b.h / 2;
        struct box target = f->to == FROM_WEIGHTS ? (struct box){b.x, top, b.w, 38}
                                                  : slot_box(p, top, (enum slot)f->to);
        draw_dot(d, x, y, target.x + target.w / 2, target.y + target.h / 2, share, ink);
    }
}

static void draw_flows(const struct softmax_view *v, const struct softmax_places *p,
                       const struct instant *now, int lane, double top, struct drawing *d)
{
    const struct lane *l = &v->story.lane[lane];
    if (now->beat[lane] < 0)
        return;
    const struct beat *b = &l->beat[now->beat[lane]];
    for (int n = 0; n < FLOWS; n++) {
        const struct flow *f = &flows[n];
        bool there = f->from >= FROM_SCORES || b->wrote >> f->from & 1 ||
                     l->state[now->done[lane]].slot[f->from].is;
        bool writes = f->to == FROM_WEIGHTS || b->wrote >> f->to & 1;
        if (f->step == b->step && there && writes)
            draw_flow(p, l, f, b->tile, top, now->share, run_style(lane).ink, d);
    }
}

static void draw_lane(const struct softmax_view *v, const struct softmax_places *p,
                      const struct instant *now, int lane, double left, double width, bool large,
                      struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    bool exact = lane == s->lanes;
    int from = exact ? exact_lane(s) : lane;
    double top = p->lane_top + p->lane_height * lane;
    draw_line(d, left, top - 4, left + width, top - 4, INK_RULE, 1);
    draw_run(d, exact ? -1 : lane, left, top + 15, 15);
    draw_fitted(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, left, top + 35, large ? 56 : 78,
                exact ? "exact" : s->lane[lane].name);
    bool waits = !exact && now->last[lane] < 0 && now->done[0] + now->done[1] > 0;
    if ((waits || lane == 0) && !large)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, p->keys.x, top + 56,
                  waits ? "has no such step here, and waits"
                        : "p: weight of each key, relative to the maximum it was taken from");
    if (!large)
        draw_weights(v, p, now, lane, top, d);
    for (int k = 0; k < SLOT_COUNT; k++) {
        bool just = written(&s->lane[from], now, from, (enum slot)k);
        struct held h = softmax_held(s, now->done, lane, (enum slot)k);
        if (k < CELLS || (!exact && (h.is || just)))
            draw_slot(v, p, now, lane, top, (enum slot)k, just, d);
    }
    if (exact && !large)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, p->cells, top + 56,
                  "O here is O~ / l, as if it were divided now");
}

/* In double type: the numbers that are carried from key to key alone. */
static void draw_large(const struct softmax_view *v, const struct instant *now, struct box stage,
                       struct drawing *d)
{
    struct softmax_places p = {.keys = {stage.x + 62, stage.y, 0, 0},
                               .cells = stage.x + 62,
                               .cell_width = (stage.w - 62) / CELLS,
                               .lane_top = stage.y + 4,
                               .lane_height = v->story.lanes == 2 ? 86 : 110};
    double y = stage.y + stage.h - 2;
    for (int lane = 0; lane <= v->story.lanes; lane++)
        draw_lane(v, &p, now, lane, stage.x, stage.w, true, d);
    for (int lane = 0; lane < v->story.lanes; lane++)
        draw_flows(v, &p, now, lane, p.lane_top + p.lane_height * lane, d);
    draw_rect(d, (struct box){stage.x, y - 9, 12, 11}, INK_CHANGED, INK_QUIET);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, stage.x + 17, y, "written by this step");
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, stage.x + stage.w, y,
              "small figures: drift from exact, in ulps of %s", v->ulps);
}

void softmax_draw(const struct scene *scene, const struct look *look, struct box stage,
                  struct drawing *d)
{
    const struct softmax_view *v = scene->story;
    struct instant now = instant_at(&v->story, look->time);
    if (look->large) {
        draw_large(v, &now, stage, d);
        return;
    }
    struct softmax_places p = places_of(v, &now, stage);
    softmax_draw_scores(v, &p, &now, d);
    draw_legend(v, stage, &p, d);
    for (int lane = 0; lane <= v->story.lanes; lane++)
        draw_lane(v, &p, &now, lane, stage.x, stage.w, false, d);
    for (int lane = 0; lane < v->story.lanes; lane++)
        draw_flows(v, &p, &now, lane, p.lane_top + p.lane_height * lane, d);
    double top = p.lane_top + p.lane_height * (v->story.lanes + 1) + 8;
    draw_drift(
        v, look,
        (struct box){TRACK_LEFT, top + 14, TRACK_RIGHT - TRACK_LEFT, stage.y + stage.h - top - 20},
        d);
}
