/* scene_divergence.c: the divergence scene: its pages and other parameters; see
   scene_divergence.h. */
#include "visualize/scene_divergence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "visualize/frame.h"
#include "visualize/scene_parts.h"

static void divergence_close(struct scene *scene)
{
    struct divergence_view *v = scene->story;
    if (v == NULL)
        return;
    divergence_forget(v);
    divergence_core_leave(v->core);
    free(v);
    scene->story = NULL;
}

/* The other pages need the runs beside; they are made once. */
static bool begin_page(struct divergence_view *v, struct message *why)
{
    struct divergence_core *c = v->core;
    if (v->page != DIVERGENCE_WHERE && !c->audited_is) {
        if (c->recorded)
            return refuse(why, "a recorded run has no sites and no others beside it");
        if (!scenario_audit(&c->scenario, &c->audited, why))
            return false;
        c->audited_is = true;
    }
    return true;
}

static int moments_of(const struct divergence_view *v)
{
    return v->page == DIVERGENCE_SITES ? v->rows.count
           : v->page == DIVERGENCE_MAP ? MAP_STEPS
                                       : v->element.story.moments;
}

static void name_scene(struct scene *scene, const struct divergence_view *v)
{
    const struct divergence_core *c = v->core;
    const char *name = trace_meta(c->trace, "problem"), *policy = trace_meta(c->trace, "policy");
    const char *run = v->element.story.lane[0].name;
    scene->moments = moments_of(v);
    if (v->page == DIVERGENCE_WHERE)
        snprintf(scene->title, sizeof scene->title, "Where %.30s is off, and how it came to be",
                 run);
    else
        snprintf(scene->title, sizeof scene->title, "%s",
                 v->page == DIVERGENCE_SITES ? "Which rounding moved it?"
                                             : "How far the runs lie apart");
    int heads = c->grouped ? c->per_head : c->heads;
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.50s    policy %.30s    %s",
             name != NULL ? name : "recorded", policy != NULL ? policy : "unknown",
             heads > 1 ? "heads that share their keys" : "one head");
}

/* A scene of the core on a page; takes one use of the core over. */
static bool open_page(struct scene *scene, struct divergence_core *core, enum divergence_page page,
                      bool before, struct message *why)
{
    struct divergence_view *v = story_begin(scene, sizeof *v, NULL, NULL, why);
    if (v == NULL) {
        divergence_core_leave(core);
        return false;
    }
    v->core = core;
    v->page = page;
    v->before = before;
    if (begin_page(v, why) && divergence_tell(v, core->order[0], why)) {
        name_scene(scene, v);
        return true;
    }
    divergence_close(scene);
    return false;
}

static const char *const page_names[DIVERGENCE_PAGES] = {"where", "sites", "map"};
static const char *const value_names[2] = {"stored", "unrounded"};
enum { LIVE_PAGE, LIVE_POLICY, LIVE_VALUES, LIVE_COUNT };

static bool divergence_open(struct scene *scene, const struct scenario *s, struct trace *t,
                            struct message *why)
{
    char value[32];
    enum divergence_page page = DIVERGENCE_WHERE;
    bool before =
        live_value(s, "values", value, sizeof value) && strcmp(value, value_names[1]) == 0;
    if (live_value(s, "page", value, sizeof value))
        for (int n = 0; n < DIVERGENCE_PAGES; n++)
            if (strcmp(value, page_names[n]) == 0)
                page = (enum divergence_page)n;
    struct divergence_core *core = divergence_core_new(s, t, why);
    return core != NULL && open_page(scene, core, page, before, why);
}

static int divergence_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct divergence_view *v = scene->story;
    const char *policy = trace_meta(v->core->trace, "policy");
    if (v->core->recorded)
        return 0;
    p[LIVE_PAGE] = (struct parameter){.name = "page"};
    snprintf(p[LIVE_PAGE].value, sizeof p[LIVE_PAGE].value, "%s", page_names[v->page]);
    p[LIVE_POLICY] = (struct parameter){.name = "policy"};
    snprintf(p[LIVE_POLICY].value, sizeof p[LIVE_POLICY].value, "%.30s",
             policy != NULL ? policy : "unknown");
    p[LIVE_VALUES] = (struct parameter){.name = "values"};
    snprintf(p[LIVE_VALUES].value, sizeof p[LIVE_VALUES].value, "%s", value_names[v->before]);
    return v->page == DIVERGENCE_MAP ? LIVE_COUNT : LIVE_VALUES;
}

static bool divergence_change(const struct scene *scene, int n, int direction, double place,
                              struct scene *changed, struct message *why)
{
    const struct divergence_view *v = scene->story;
    struct parameter p[PARAMETER_MOST];
    (void)place;
    *changed = *scene;
    if (n < 0 || n >= divergence_parameters(scene, p))
        return refuse(why, "this view has no such parameter");
    if (n == LIVE_POLICY) {
        struct scenario s = scenario_with(
            &v->core->scenario, OPTION_POLICY,
            choice_stepped(live_policies, LIVE_POLICIES, p[LIVE_POLICY].value, direction));
        struct divergence_core *core = divergence_core_new(&s, NULL, why);
        return core != NULL && open_page(changed, core, v->page, v->before, why);
    }
    int page = n == LIVE_PAGE ? ((int)v->page + direction + DIVERGENCE_PAGES) % DIVERGENCE_PAGES
                              : (int)v->page;
    v->core->users++;
    return open_page(changed, v->core, (enum divergence_page)page,
                     n == LIVE_VALUES ? !v->before : v->before, why);
}

/* The tabs on top: with three pages, the one before and the next are the keys' steps. */
static void draw_tabs(const struct divergence_view *v, struct box stage, bool large,
                      struct drawing *d)
{
    static const char *const names[DIVERGENCE_PAGES] = {
        "1 where it is off", "2 which rounding moved it", "3 the map of the runs"};
    double x = stage.x;
    for (int n = 0; n < DIVERGENCE_PAGES; n++) {
        bool here = n == (int)v->page, next = n == ((int)v->page + 1) % DIVERGENCE_PAGES;
        double wide = font_width(FACE_BOLD, 12, names[n]) + 24;
        d->what = here ? 0 : (next ? FRAME_MORE : FRAME_LESS) + LIVE_PAGE;
        draw_rect(d, (struct box){x, stage.y, wide, 22}, here ? INK_PANEL : INK_CELL, INK_RULE);
        draw_text(d, here ? FACE_BOLD : FACE_SANS, 12, ALIGN_CENTRE, INK_TEXT, x + wide / 2,
                  stage.y + 16, "%s", names[n]);
        d->what = 0;
        if (here)
            draw_rect(d, (struct box){x, stage.y + 20, wide, 3}, INK_FOCUS, INK_NONE);
        x += wide + 4;
    }
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x + 10, stage.y + 16,
              large ? "keys [ and ]" : "keys [ and ] turn the page");
}

static void divergence_draw(const struct scene *scene, const struct look *look, struct box stage,
                            struct drawing *d)
{
    struct divergence_view *v = scene->story;
    divergence_choose(v, look->pinned);
    if (!v->core->recorded) {
        draw_tabs(v, stage, look->large, d);
        stage.y += 30;
        stage.h -= 30;
    }
    if (v->page == DIVERGENCE_SITES)
        divergence_draw_sites(v, look, stage, d);
    else if (v->page == DIVERGENCE_MAP)
        divergence_draw_map(v, look, stage, d);
    else
        divergence_draw_where(v, look, stage, d);
}

static void divergence_arguments(const struct scene *scene, char **text)
{
    const struct divergence_view *v = scene->story;
    char *live = NULL;
    if (v->page != DIVERGENCE_WHERE)
        live_append(&live, "page", page_names[v->page]);
    if (v->before && v->page == DIVERGENCE_MAP)
        live_append(&live, "values", value_names[1]);
    command_append(&v->core->scenario, live, text);
    free(live);
}

const struct scene_kind scene_divergence = {.open = divergence_open,
                                            .close = divergence_close,
                                            .marks = divergence_marks,
                                            .words = divergence_words,
                                            .draw = divergence_draw,
                                            .describe = divergence_describe,
                                            .inspect = divergence_inspect,
                                            .parameters = divergence_parameters,
                                            .change = divergence_change,
                                            .arguments = divergence_arguments};
