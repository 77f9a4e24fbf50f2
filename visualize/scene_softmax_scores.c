/* scene_softmax_scores.c: a row's scores as bars over its keys, the running maximum of each run on
   top, the key tiles' names below; not read yet is hatched. */
#include <math.h>
#include <stdio.h>

#include "visualize/scene_softmax.h"

struct box softmax_column(const struct softmax_places *p, int n)
{
    double w = p->keys.w / p->count, gap = p->numbers ? 3 : w > 4 ? 0.5 : 0;
    return (struct box){p->keys.x + w * n + gap, 0, w - 2 * gap, 0};
}

/* The tile that lane l works on, or is about to. */
int softmax_tile_at_hand(const struct lane *l, const struct instant *now, int lane)
{
    if (now->beat[lane] >= 0)
        return l->beat[now->beat[lane]].tile;
    return l->state[now->done[lane]].tile;
}

static struct axis score_scale(const struct softmax_view *v, const struct softmax_places *p)
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

static void draw_tile_names(const struct softmax_view *v, const struct softmax_places *p,
                            int at_hand, struct drawing *d)
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
        struct box a = softmax_column(p, from), b = softmax_column(p, to - 1);
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

static void draw_key(const struct softmax_view *v, const struct softmax_places *p,
                     const struct axis *scale, int n, bool known, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    const struct lane *l = &s->lane[exact_lane(s)];
    struct box b = softmax_column(p, n);
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
static void draw_maximum(const struct softmax_view *v, const struct softmax_places *p,
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
        struct box b = softmax_column(p, reach - 1);
        y[lane] = axis_at(scale, m.value) - 2.5 * shown;
        draw_line(d, p->keys.x, y[lane], b.x + b.w, y[lane], run_style(lane).ink, 2);
        shown++;
    }
}

void softmax_draw_scores(const struct softmax_view *v, const struct softmax_places *p,
                         const struct instant *now, struct drawing *d)
{
    const struct softmax_story *s = &v->story;
    int last = exact_lane(s), at_hand = softmax_tile_at_hand(&s->lane[last], now, last);
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
