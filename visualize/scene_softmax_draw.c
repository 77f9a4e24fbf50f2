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

/* Where things are, in units. */
struct places {
    struct box keys;  /* columns of the keys */
    int first, count; /* keys shown */
    double cells, cell_width;
    double lane_top, lane_height;
    bool numbers; /* keys are wide enough for numbers */
};

/* The keys around the tile at hand. */
static struct places places_of(const struct softmax_view *v, const struct instant *now,
                               struct box stage)
{
    const struct lane *l = &v->story.lane[exact_lane(&v->story)];
    const struct lane_tile *last = &l->tile[l->tiles - 1];
    int all = last->key + last->hi - last->lo;
    struct places p = {.keys = {stage.x + 84, stage.y + 22, 372, 104}, .count = all};
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

static struct box column(const struct places *p, int n)
{
    double w = p->keys.w / p->count, gap = p->numbers ? 3 : w > 4 ? 0.5 : 0;
    return (struct box){p->keys.x + w * n + gap, 0, w - 2 * gap, 0};
}

/* The tile that lane l works on, or is about to. */
static int tile_at_hand(const struct lane *l, const struct instant *now, int lane)
{
    if (now->beat[lane] >= 0)
        return l->beat[now->beat[lane]].tile;
    return l->state[now->done[lane]].tile;
}

static struct axis score_scale(const struct softmax_view *v, const struct places *p)
{
    const struct softmax_story *s = &v->story;
    const struct lane *l = &s->lane[exact_lane(s)];
    struct axis scale = {INFINITY, -INFINITY, p->keys.y + p->keys.h, p->keys.y};
    for (int n = 0; n < p->count; n++) {
        int tile, col;
        double x;
        if (softmax_key(l, p->first + n, &tile, &col) && lane_score(l, s, tile, col, &x) &&
            isfinite(x)) {
            scale.low = fmin(scale.low, x);
            scale.high = fmax(scale.high, x);
        }
    }
    if (scale.low > scale.high)
        scale.low = scale.high = 0;
    scale.low = fmin(scale.low, 0);
    scale.high = fmax(scale.high, 0);
    if (p->numbers) { /* room for the numbers above and below the bars */
        double span = scale.high - scale.low;
        scale.high += scale.high > 0 ? span / 8 : 0;
        scale.low -= scale.low < 0 ? span / 8 : 0;
    }
    return scale;
}

static void draw_tile_names(const struct softmax_view *v, const struct places *p, int at_hand,
                            struct drawing *d)
{
    const struct lane *l = &v->story.lane[exact_lane(&v->story)];
    double y = p->keys.y + p->keys.h + 40, reached = 0;
    for (int t = 0; t < l->tiles; t++) {
        const struct lane_tile *k = &l->tile[t];
        int from = k->key - p->first, to = from + k->hi - k->lo;
        if (to <= 0 || from >= p->count || k->hi == k->lo)
            continue;
        from = from < 0 ? 0 : from;
        to = to > p->count ? p->count : to;
        struct box a = column(p, from), b = column(p, to - 1);
        double middle = (a.x + b.x + b.w) / 2;
        draw_rect(d, (struct box){a.x, y - 16, b.x + b.w - a.x, 3},
                  t == at_hand ? INK_TEXT : INK_RULE, INK_NONE);
        char name[32];
        snprintf(name, sizeof name, p->numbers || t == at_hand ? "tile %d" : "%d", t + 1);
        double half = font_width(FACE_SANS, 10.5, name) / 2;
        if (middle - half < reached + 6 && t != at_hand)
            continue;
        if (middle - half < reached + 6)
            middle = reached + 6 + half;
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, t == at_hand ? INK_TEXT : INK_QUIET, middle, y,
                  "%s", name);
        reached = middle + half;
    }
}

static void draw_key(const struct softmax_view *v, const struct places *p, const struct axis *scale,
                     int n, bool known, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    const struct lane *l = &s->lane[exact_lane(s)];
    struct box b = column(p, n);
    int tile, col;
    double x, value;
    if (!softmax_key(l, p->first + n, &tile, &col) || !lane_score(l, s, tile, col, &x))
        return;
    double zero = axis_at(scale, 0), top = axis_at(scale, isfinite(x) ? x : 0);
    b.y = fmin(zero, top);
    b.h = fmax(fabs(zero - top), 1.5);
    if (p->numbers)
        draw_text(d, FACE_MONO, 12, ALIGN_CENTRE, INK_TEXT, b.x + b.w / 2,
                  (x >= 0 ? b.y - 5 : b.y + b.h + 13), "%s",
                  known || s->given ? number_words(x).text : "");
    if (known)
        draw_rect(d, b, INK_RULE, INK_QUIET);
    else if (s->given)
        draw_hatched(d, b, INK_WAITING, INK_RULE, HATCH_RISING);
    if (p->numbers && lane_value(l, s, tile, col, &value))
        draw_fitted(d, FACE_MONO, 11, ALIGN_CENTRE, INK_QUIET, b.x + b.w / 2,
                    p->keys.y + p->keys.h + 16, b.w - 2, number_words(value).text);
}

/* The running maximum of each lane, from its first key to where it stands. */
static void draw_maximum(const struct softmax_view *v, const struct places *p,
                         const struct axis *scale, const struct instant *now, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    double y[2] = {0};
    int shown = 0;
    for (int lane = 0; lane < s->lanes; lane++) {
        struct held m = softmax_held(s, now->done, lane, SLOT_M);
        if (!m.is || !isfinite(m.value))
            continue;
        const struct lane_tile *k = &s->lane[lane].tile[s->lane[lane].state[now->done[lane]].tile];
        int reach = k->key + k->hi - k->lo - p->first;
        reach = reach < 1 ? 1 : reach > p->count ? p->count : reach;
        struct box b = column(p, reach - 1);
        y[lane] = axis_at(scale, m.value) - 2.5 * shown;
        draw_line(d, p->keys.x, y[lane], b.x + b.w, y[lane], run_style(lane).ink, 2);
        shown++;
    }
}

static void draw_scores(const struct softmax_view *v, const struct places *p,
                        const struct instant *now, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    int last = exact_lane(s), at_hand = tile_at_hand(&s->lane[last], now, last);
    struct axis scale = score_scale(v, p);
    double step = axis_round(&scale, 4);
    draw_axis_up(d, &scale, p->keys.x, p->keys.x + p->keys.w, step,
                 s->given ? "score x of each key (its weight is e^x / sum e^x)"
                          : "score s = c q.k of each key (its weight is e^s / sum e^s)");
    for (int n = 0; n < p->count; n++) {
        int tile, col;
        if (!softmax_key(&s->lane[last], p->first + n, &tile, &col))
            continue;
        bool known =
            s->lane[last].tile[tile].scores_beat <= now->done[last] &&
            (tile < at_hand || (tile == at_hand && (now->done[last] > 0 || now->share > 0)));
        draw_key(v, p, &scale, n, known, d);
    }
    draw_maximum(v, p, &scale, now, d);
    if (p->numbers)
        draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, p->keys.x - 8,
                  p->keys.y + p->keys.h + 16, "value v");
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, p->keys.x - 8, p->keys.y + p->keys.h + 40,
              "keys of");
    draw_tile_names(v, p, at_hand, d);
}

static void draw_legend(const struct softmax_view *v, struct box stage, const struct places *p,
                        struct drawing *d)
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

static struct box slot_box(const struct places *p, double top, enum slot slot)
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

static void draw_slot(const struct softmax_view *v, const struct places *p,
                      const struct instant *now, int lane, double top, enum slot slot, bool just,
                      struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    struct held h = softmax_held(s, now->done, lane, slot);
    bool exact = lane == s->lanes;
    struct value_cell c = {.box = slot_box(p, top, slot), .symbol = slot_symbol(slot), .type = 13};
    double drift = h.is ? drift_in(v->format, h.value, h.exact) : 0;
    struct words value = number_words(h.value), note = drift_words(drift);
    c.value = h.is ? value.text : "";
    c.note = h.is && !exact ? note.text : "";
    c.fill = just ? INK_CHANGED : h.is ? INK_CELL : INK_WAITING;
    c.line = h.is ? INK_QUIET : INK_RULE;
    d->what = what_slot(lane, slot);
    draw_cell(d, &c);
    d->what = 0;
}

static void draw_weights(const struct softmax_view *v, const struct places *p,
                         const struct instant *now, int lane, double top, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    bool exact = lane == s->lanes;
    int from = exact ? exact_lane(s) : lane;
    const struct lane *l = &s->lane[from];
    for (int n = 0; n < p->count; n++) {
        struct box b = column(p, n);
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

static void draw_flow(const struct places *p, const struct lane *l, const struct flow *f, int tile,
                      double top, double share, enum ink ink, struct drawing *d)
{
    const struct lane_tile *k = &l->tile[tile];
    bool keys = f->from >= FROM_SCORES;
    int from = keys ? k->key - p->first : 0, to = keys ? from + k->hi - k->lo : 1;
    from = from < 0 ? 0 : from;
    to = keys && to > p->count ? p->count : to;
    for (int n = from; n < to && n < from + 24; n++) {
        struct box b = keys ? column(p, n) : slot_box(p, top, (enum slot)f->from);
        double x = b.x + b.w / 2;
        double y = f->from == FROM_SCORES    ? p->keys.y + p->keys.h
                   : f->from == FROM_WEIGHTS ? top + 19
                                             : b.y + b.h / 2;
        struct box target = f->to == FROM_WEIGHTS ? (struct box){b.x, top, b.w, 38}
                                                  : slot_box(p, top, (enum slot)f->to);
        draw_dot(d, x, y, target.x + target.w / 2, target.y + target.h / 2, share, ink);
    }
}

static void draw_flows(const struct softmax_view *v, const struct places *p,
                       const struct instant *now, int lane, double top, struct drawing *d)
{
    const struct lane *l = &v->story.lane[lane];
    if (now->beat[lane] < 0)
        return;
    const struct beat *b = &l->beat[now->beat[lane]];
    for (int n = 0; n < FLOWS; n++)
        if (flows[n].step == b->step &&
            (flows[n].to == FROM_WEIGHTS || b->wrote >> flows[n].to & 1))
            draw_flow(p, l, &flows[n], b->tile, top, now->share, run_style(lane).ink, d);
}

static void draw_lane(const struct softmax_view *v, const struct places *p,
                      const struct instant *now, int lane, double left, double width,
                      struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    bool exact = lane == s->lanes;
    int from = exact ? exact_lane(s) : lane;
    double top = p->lane_top + p->lane_height * lane;
    draw_line(d, left, top - 4, left + width, top - 4, INK_RULE, 1);
    draw_run(d, exact ? -1 : lane, left, top + 15, 15);
    draw_fitted(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, left, top + 35, 78,
                exact ? "exact" : s->lane[lane].name);
    bool waits = !exact && now->last[lane] < 0 && now->done[0] + now->done[1] > 0;
    if (waits || lane == 0)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, p->keys.x, top + 56,
                  waits ? "has no such step here, and waits"
                        : "p: weight of each key, relative to the maximum it was taken from");
    draw_weights(v, p, now, lane, top, d);
    for (int k = 0; k < SLOT_COUNT; k++) {
        bool just = written(&s->lane[from], now, from, (enum slot)k);
        struct held h = softmax_held(s, now->done, lane, (enum slot)k);
        if (k < CELLS || (!exact && (h.is || just)))
            draw_slot(v, p, now, lane, top, (enum slot)k, just, d);
    }
    if (exact)
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, p->cells, top + 56,
                  "O here is O~ / l, as if it were divided now");
}

void softmax_draw(const struct scene *scene, const struct look *look, struct box stage,
                  struct drawing *d)
{
    const struct softmax_view *v = scene->story;
    struct instant now = instant_at(&v->story, look->time);
    struct places p = places_of(v, &now, stage);
    draw_scores(v, &p, &now, d);
    draw_legend(v, stage, &p, d);
    for (int lane = 0; lane <= v->story.lanes; lane++)
        draw_lane(v, &p, &now, lane, stage.x, stage.w, d);
    for (int lane = 0; lane < v->story.lanes; lane++)
        draw_flows(v, &p, &now, lane, p.lane_top + p.lane_height * lane, d);
    double top = p.lane_top + p.lane_height * (v->story.lanes + 1) + 8;
    draw_drift(
        v, look,
        (struct box){TRACK_LEFT, top + 14, TRACK_RIGHT - TRACK_LEFT, stage.y + stage.h - top - 20},
        d);
}
