/* scene_decode_records.c: what each group leaves, as its own output, over the middle of its tokens;
   then the merge: lines that follow the outputs added up so far, in the order of the groups. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualize/scene_decode.h"

/* What stands in a chart's title while its numbers are of other groups than the strips'. */
const char *decode_title(const struct decode_view *v, const char *title)
{
    return v->ahead.is ? "being recomputed; these are still the numbers of the groups before"
                       : title;
}

static enum merge merge_of(const struct decode_view *v)
{
    struct decode_form f;
    struct message why;
    return decode_form_read(&f, v->switches, &why) ? f.merge : MERGE_LSE;
}

/* A group's record as output and weight: O_g, and the logarithm of what it weighs. */
struct record {
    double O, log_weight;
};

static struct record record_of(enum merge merge, const struct decode_group *g)
{
    if (merge == MERGE_LSE || merge == MERGE_LSE_SUM)
        return (struct record){g->O, g->L};
    bool divided = merge == MERGE_NORMALISED_MAX_SUM;
    return (struct record){divided ? g->O : g->O / g->l, g->m + log(g->l)};
}

/* In plain doubles: a guide to the eye, not the run's own bits. */
struct running {
    double most, sum, weighted;
};

static double add_record(struct running *r, struct record x)
{
    if (!isfinite(x.O) || !isfinite(x.log_weight))
        return r->sum > 0 ? r->weighted / r->sum : NAN;
    double most = fmax(r->most, x.log_weight);
    double before = r->sum > 0 ? exp(r->most - most) : 0, weight = exp(x.log_weight - most);
    r->sum = r->sum * before + weight;
    r->weighted = r->weighted * before + weight * x.O;
    r->most = most;
    return r->weighted / r->sum;
}

double decode_merged(const struct decode_view *v, int n, int groups)
{
    struct running r = {-INFINITY, 0, 0};
    double value = NAN;
    for (int g = 0; g < groups; g++)
        value = add_record(&r, record_of(merge_of(v), &v->story.lane[n].group[g]));
    return value;
}

static struct axis scale_of(const struct decode_view *v, struct box b)
{
    const struct decode_story *s = &v->story;
    struct axis up = {INFINITY, -INFINITY, b.y + b.h, b.y};
    for (int n = 0; n < s->lanes; n++)
        for (int g = 0; g < s->lane[n].groups - 1; g++) { /* the last may have few tokens */
            double O = record_of(merge_of(v), &s->lane[n].group[g]).O;
            if (isfinite(O)) {
                up.low = fmin(up.low, O);
                up.high = fmax(up.high, O);
            }
        }
    return up;
}

/* The middle of a contiguous group's tokens; a dealt group's place among the groups. */
static double group_x(const struct decode_view *v, const struct decode_lane *l, int g, struct box b)
{
    int64_t length = v->story.input.problem.Nk;
    struct token_range range;
    if (l->planned && l->plan.order != GROUPS_ROUND_ROBIN &&
        split_range(&l->plan, length, g, 0, &range))
        return b.x + b.w * (double)(range.first + range.last) / 2 / (double)length;
    return b.x + b.w * (g + 0.5) / l->groups;
}

static void draw_lane_records(const struct decode_view *v, int n, const struct look *look,
                              const struct axis *up, struct box b, struct drawing *d)
{
    const struct decode_lane *l = &v->story.lane[n];
    struct run_style style = run_style(n);
    for (int g = 0; g < l->groups && g + 1 <= look->time; g++) {
        double O = record_of(merge_of(v), &l->group[g]).O;
        d->what = 1 << 19 | g << 3 | n;
        if (isfinite(O))
            draw_mark(d, style.mark, group_x(v, l, g, b),
                      fmin(b.y + b.h, fmax(b.y, axis_at(up, O))), l->groups > 120 ? 4 : 7,
                      style.ink);
    }
    d->what = 0;
}

/* The merge under way has come so far. */
static void draw_merge(const struct decode_view *v, int n, const struct look *look,
                       const struct axis *up, struct box b, struct drawing *d)
{
    const struct decode_lane *l = &v->story.lane[n];
    struct running r = {-INFINITY, 0, 0};
    double share = fmin(1, look->time - v->most_groups), from_x = 0, from_y = 0;
    for (int g = 0; g < l->groups && g < share * l->groups; g++) {
        double value = add_record(&r, record_of(merge_of(v), &l->group[g]));
        double x = group_x(v, l, g, b), y = fmin(b.y + b.h, fmax(b.y, axis_at(up, value)));
        if (g > 0 && !isnan(value))
            draw_line(d, from_x, from_y, x, y, run_style(n).ink, 2);
        from_x = x, from_y = y;
    }
}

static void draw_records_title(const struct decode_view *v, const struct look *look, struct box b,
                               struct drawing *d)
{
    char title[160];
    enum merge merge = merge_of(v);
    bool divided = merge != MERGE_MAX_SUM && merge != MERGE_RUNNING;
    bool merging = look->time > v->most_groups;
    bool ascending = v->story.policy.site[SITE_COMBINE_ACC].order.kind == ORDER_SEQ;
    snprintf(title, sizeof title, "%s, column %d (one at the edge lies outside)%s",
             !divided  ? "O~ / l of what each group leaves"
             : merging ? "each group's own output"
                       : "output that each group leaves, over its tokens",
             v->story.place.dim,
             !merging    ? ""
             : ascending ? "; lines: merged so far, from group 1 up"
                         : "; lines: merged so far, by group");
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 9, "%s", decode_title(v, title));
    draw_line(d, b.x + b.w - 86, b.y - 13, b.x + b.w - 66, b.y - 13, INK_EXACT, 1);
    draw_run(d, -1, b.x + b.w - 60, b.y - 9, 11);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, b.x + b.w - 36, b.y - 9, "exact");
}

void decode_draw_records(const struct decode_view *v, const struct look *look, struct box b,
                         struct drawing *d)
{
    const struct decode_story *s = &v->story;
    struct axis up = scale_of(v, b);
    double step = axis_round(&up, 3);
    bool dealt = s->lane[0].planned && s->lane[0].plan.order == GROUPS_ROUND_ROBIN;
    draw_axis_up(d, &up, b.x, b.x + b.w, step, "");
    draw_records_title(v, look, b, d);
    if (s->exact[0] >= up.low && s->exact[0] <= up.high)
        draw_line(d, b.x, axis_at(&up, s->exact[0]), b.x + b.w, axis_at(&up, s->exact[0]),
                  INK_EXACT, 1);
    for (int n = 0; n < s->lanes; n++)
        draw_lane_records(v, n, look, &up, b, d);
    for (int n = 0; n < s->lanes && look->time > v->most_groups; n++)
        draw_merge(v, n, look, &up, b, d);
    draw_text(d, FACE_SANS, 11, ALIGN_RIGHT, INK_QUIET, b.x + b.w, b.y + b.h + 15, "%s",
              dealt ? "group, the first at the left (its tiles are dealt round)"
                    : "token (middle of the group; the axis above)");
}
