/* scene_decode_draw.c: how the decode scene looks: the tokens of each GPU cut into groups; what
   each group leaves; the number line; where each backend rounds. */
#include "visualize/scene_decode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulator/scenario_parts.h"

enum { STRIP_LEFT = 150, STRIP_HEIGHT = 22, LANE_HEIGHT = 31 };

/* A piece of tokens that one group takes in one go. */
static void draw_piece(struct drawing *d, struct box b, int group, int done, bool current)
{
    enum ink fill = group < done ? INK_GROUPS : current ? INK_CHANGED : INK_WAITING;
    b.w -= b.w >= 2 && b.w < 5 ? 0.8 : 0; /* too narrow for borders: apart */
    enum hatch hatch = group < done && group % 2 == 1 ? HATCH_RISING : HATCH_NONE;
    struct shape *s = draw_rect(d, b, fill, b.w >= 5 ? INK_QUIET : INK_NONE);
    if (hatch != HATCH_NONE && b.w >= 4) {
        s->line = INK_PAPER;
        s->hatch = hatch;
    }
}

static void draw_strip(const struct decode_view *v, int n, const struct look *look, struct box b,
                       struct drawing *d)
{
    const struct decode_story *s = &v->story;
    const struct decode_lane *l = decode_strip(v, n);
    int64_t length = s->input.problem.Nk, from = 0;
    int64_t block = l->planned ? l->plan.block_tokens : l->tokens;
    int done = (int)floor(look->time);
    bool busy = look->time > done;
    block = block > 0 ? block : 1;
    while (from < length) {
        int owner = decode_owner(s, l, from);
        int64_t to = from + block - from % block;
        while (to < length && decode_owner(s, l, to) == owner)
            to += block;
        to = to < length ? to : length;
        double left = b.x + b.w * (double)from / (double)length;
        double right = b.x + b.w * (double)to / (double)length;
        d->what = 1 << 19 | owner << 3 | n;
        draw_piece(d, (struct box){left, b.y, right - left, b.h}, owner, done,
                   busy && owner == done);
        d->what = 0;
        from = to;
    }
}

static void groups_words(const struct decode_lane *l, char *text, size_t room)
{
    if (!l->planned)
        snprintf(text, room, "%d groups", l->groups);
    else if (l->plan.order == GROUPS_ROUND_ROBIN)
        snprintf(text, room, "%d groups, %s dealt", l->groups, grouped(l->plan.block_tokens).text);
    else
        snprintf(text, room, "%d groups of %s", l->groups,
                 grouped(l->plan.blocks_per_split * l->plan.block_tokens).text);
}

static void draw_strips(const struct decode_view *v, const struct look *look, struct box stage,
                        struct drawing *d)
{
    const struct decode_story *s = &v->story;
    struct axis tokens = {0, (double)s->input.problem.Nk, stage.x + STRIP_LEFT,
                          stage.x + stage.w - 4};
    double y = stage.y + 16;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, tokens.from, y - 6,
              "each GPU's groups of tokens; a group is done by one thread block of a head");
    for (int n = 0; n < s->lanes; n++, y += LANE_HEIGHT) {
        const struct decode_lane *l = decode_strip(v, n);
        char groups[48], name[64];
        draw_run(d, n, stage.x, y + 13, 13);
        snprintf(name, sizeof name, look->large ? "%.20s" : "%.20s, %d SMs", l->name, l->sms);
        draw_fitted(d, FACE_BOLD, 11, ALIGN_LEFT, INK_TEXT, stage.x + 30, y + 9, STRIP_LEFT - 36,
                    name);
        groups_words(l, groups, sizeof groups);
        draw_fitted(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, stage.x + 30, y + 22, STRIP_LEFT - 36,
                    groups);
        draw_strip(v, n, look, (struct box){tokens.from, y, tokens.to - tokens.from, STRIP_HEIGHT},
                   d);
    }
    struct axis ticks = tokens;
    double step = axis_round(&ticks, 6);
    for (double t = 0; t <= tokens.high; t += step) {
        double x = axis_at(&tokens, t);
        draw_line(d, x, y - 6, x, y - 2, INK_QUIET, 1);
        draw_text(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, x, y + 9, "%s",
                  grouped((int64_t)t).text);
    }
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, tokens.to, y + 24,
              "token (position in the cache)");
    draw_rect(d, (struct box){tokens.from, y + 15, 14, 11}, INK_GROUPS, INK_QUIET);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, tokens.from + 20, y + 24, "group done");
    draw_rect(d, (struct box){tokens.from + 100, y + 15, 14, 11}, INK_CHANGED, INK_QUIET);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, tokens.from + 120, y + 24, "under way");
    draw_rect(d, (struct box){tokens.from + 196, y + 15, 14, 11}, INK_WAITING, INK_QUIET);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, tokens.from + 216, y + 24, "waiting");
}

void decode_draw(const struct scene *scene, const struct look *look, struct box stage,
                 struct drawing *d)
{
    const struct decode_view *v = scene->story;
    draw_strips(v, look, stage, d);
    if (look->large) { /* where the runs end; not what each group leaves, nor the other backends */
        double top = stage.y + 16 + LANE_HEIGHT * v->story.lanes + 36;
        draw_number_line(v, look, (struct box){stage.x, top, stage.w, 118}, d);
        return;
    }
    double y = stage.y + 16 + LANE_HEIGHT * v->story.lanes + 58;
    decode_draw_records(v, look,
                        (struct box){stage.x + STRIP_LEFT, y, stage.w - STRIP_LEFT - 4, 104}, d);
    y += 150;
    draw_number_line(v, look, (struct box){stage.x + 30, y, stage.w - 60, 118}, d);
    y += 144;
    draw_rounding_map(v, (struct box){stage.x, y, stage.w, stage.y + stage.h - y}, d);
}
