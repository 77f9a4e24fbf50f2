/* scene_softmax.c: the softmax scene: two runs of a row are made, or a recorded one is taken; what
   a reader may change. */
#include "visualize/scene_softmax.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/examples.h"
#include "simulator/scenario_parts.h"
#include "visualize/scene_parts.h"

static bool first_row(const struct scenario *s, struct row_place *place, struct message *why)
{
    int64_t row = 0, dim = 0;
    if (s->value[OPTION_ROWS] != NULL &&
        !parse_integer("--rows (one, in this scene)", s->value[OPTION_ROWS], 0, INT32_MAX, &row,
                       why))
        return false;
    if (s->value[OPTION_DIMS] != NULL &&
        !parse_integer("--dims (one, in this scene)", s->value[OPTION_DIMS], 0, INT32_MAX, &dim,
                       why))
        return false;
    place->row = row;
    place->dim = (int)dim;
    return true;
}

/* Keeps every value: 24 bytes of each. */
static bool small_enough(const struct scenario *s, struct message *why)
{
    struct scenario_input in;
    if (!scenario_problem(s, &in, why))
        return false;
    double keys = (double)in.problem.Nk, rows = (double)in.problem.Nq;
    bool ok = keys * rows * (double)in.problem.D <= 2e8 && keys <= 4e6;
    if (!ok)
        refuse(why,
               "the softmax scene keeps every value of a head: %s queries of %s keys are too "
               "many; --scene decode, or fewer, is right",
               grouped((int64_t)rows).text, grouped((int64_t)keys).text);
    scenario_input_free(&in);
    return ok;
}

static bool tell(struct softmax_view *v, int lane, struct trace *t, struct message *why)
{
    struct softmax_story *story = &v->story;
    if (t == NULL)
        return false;
    if (lane == 0 && trace_count(t) > 0) {
        story->place.batch = trace_event(t, 0)->batch;
        story->place.head = trace_event(t, 0)->head;
    }
    story->lanes = lane + 1;
    return lane_tell(&story->lane[lane], t, &story->place, story->given, why);
}

static bool is_fa1(const struct scenario *s)
{
    return s->value[OPTION_ALGORITHM] != NULL && strcmp(s->value[OPTION_ALGORITHM], "fa1") == 0;
}

static bool run_lanes(struct softmax_view *v, struct message *why)
{
    struct scenario left = scenario_with(&v->scenario, OPTION_ALGORITHM, "fa1");
    struct scenario right =
        is_fa1(&v->scenario) ? scenario_with(&v->scenario, OPTION_ALGORITHM, "fa2") : v->scenario;
    enum example e;
    struct softmax_story *story = &v->story;
    left = scenario_with(&left, OPTION_KERNEL, NULL);
    left = scenario_with(&left, OPTION_FAULT, NULL);
    story->given = v->scenario.value[OPTION_SCORES] != NULL ||
                   (scenario_example(&v->scenario, &e) && example_info(e)->scores != NULL);
    return small_enough(&v->scenario, why) &&
           tell(v, 0, scenario_trace(&left, TRACE_VALUES, true, why), why) &&
           tell(v, 1, scenario_trace(&right, TRACE_VALUES, true, why), why);
}

static enum format drift_format(const struct softmax_story *s)
{
    const struct trace *t = s->lane[s->lanes - 1].trace;
    for (size_t n = trace_count(t); n-- > 0;)
        if (trace_event(t, n)->format < FORMAT_COUNT)
            return (enum format)trace_event(t, n)->format;
    return FORMAT_FP32;
}

static void softmax_close(struct scene *scene)
{
    struct softmax_view *v = scene->story;
    if (v == NULL)
        return;
    for (int lane = 0; lane < v->story.lanes; lane++)
        lane_free(&v->story.lane[lane]);
    free(v->story.moment);
    free(v);
    scene->story = NULL;
}

static void name_scene(struct scene *scene, struct softmax_view *v)
{
    const struct lane *a = &v->story.lane[0], *b = &v->story.lane[v->story.lanes - 1];
    const char *problem = trace_meta(b->trace, "problem"), *policy = trace_meta(b->trace, "policy");
    if (v->story.lanes == 2)
        snprintf(scene->title, sizeof scene->title, "One row, in lockstep: %.30s, %.30s and exact",
                 a->name, b->name);
    else
        snprintf(scene->title, sizeof scene->title, "One row, step by step: %.40s and exact",
                 b->name);
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.50s    policy %.30s    row %lld",
             problem != NULL ? problem : "recorded", policy != NULL ? policy : "unknown",
             (long long)v->story.place.row);
}

static bool softmax_open(struct scene *scene, const struct scenario *s, struct trace *t,
                         struct message *why)
{
    struct softmax_view *v = story_begin(scene, sizeof *v, t, NULL, why);
    if (v == NULL)
        return false;
    v->scenario = *s;
    bool ok = first_row(s, &v->story.place, why);
    if (!ok)
        trace_free(t);
    ok = ok && (t != NULL ? tell(v, 0, t, why) : run_lanes(v, why));
    if (!ok) {
        softmax_close(scene);
        return false;
    }
    softmax_pair(&v->story);
    scene->moments = v->story.moments;
    v->format = drift_format(&v->story);
    snprintf(v->ulps, sizeof v->ulps, "%s", format_info(v->format)->name);
    name_scene(scene, v);
    return true;
}

/* Tile widths and listings that the keys step through. */
static const char *const tiles[] = {"64,1", "64,2", "64,4", "64,8", "64,16", "64,32", "64,64"};
static const char *const algorithms[] = {"fa2",         "standard", "online", "fa1-printed",
                                         "fa2-printed", "unstable", "splitk", "splitq"};
static const struct {
    const char *name;
    enum option option;
    const char *const *choice;
    int count;
} live[] = {{"policy", OPTION_POLICY, live_policies, LIVE_POLICIES},
            {"tile", OPTION_TILE, tiles, 7},
            {"run B", OPTION_ALGORITHM, algorithms, 8}};
enum { LIVE = sizeof live / sizeof live[0] };

static int softmax_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct softmax_view *v = scene->story;
    if (v->story.lanes < 2)
        return 0;
    for (int n = 0; n < LIVE; n++) {
        const char *value = v->scenario.value[live[n].option];
        p[n] = (struct parameter){.name = live[n].name};
        if (n == 0 && value == NULL)
            value = trace_meta(v->story.lane[1].trace, "policy");
        if (n == 2 && value == NULL)
            value = "fa2";
        snprintf(p[n].value, sizeof p[n].value, "%s", value != NULL ? value : "as given");
    }
    return LIVE;
}

static bool softmax_change(const struct scene *scene, int n, int direction, double place,
                           struct scene *changed, struct message *why)
{
    const struct softmax_view *v = scene->story;
    struct parameter p[PARAMETER_MOST];
    (void)place;
    if (n < 0 || n >= softmax_parameters(scene, p))
        return refuse(why, "this view has no such parameter");
    struct scenario s =
        scenario_with(&v->scenario, live[n].option,
                      choice_stepped(live[n].choice, live[n].count, p[n].value, direction));
    *changed = *scene;
    return softmax_open(changed, &s, NULL, why);
}

static void softmax_arguments(const struct scene *scene, char **text)
{
    const struct softmax_view *v = scene->story;
    command_append(&v->scenario, NULL, text);
}

const struct scene_kind scene_softmax = {.open = softmax_open,
                                         .close = softmax_close,
                                         .marks = softmax_marks,
                                         .words = softmax_words,
                                         .draw = softmax_draw,
                                         .describe = softmax_describe,
                                         .inspect = softmax_inspect,
                                         .parameters = softmax_parameters,
                                         .change = softmax_change,
                                         .arguments = softmax_arguments};
