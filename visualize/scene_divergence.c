/* scene_divergence.c: where a run's outputs are off, and how one of them came to be: a map of the
   errors of a head's outputs in ulps; of the worst one, or the one that is pinned, the tree of
   numbers that made it with what each is off, its neighbours, and its drift over time.

   Time is that of the element's row (softmax.h, one lane). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/report.h"
#include "simulator/scenario_parts.h"
#include "visualize/frame.h"
#include "visualize/scene_parts.h"
#include "visualize/scene_softmax.h"

enum { MOST_SIDE = 512 };

struct divergence_view {
    struct scenario scenario;
    struct trace *trace;
    uint32_t batch, head;
    int rows, cols;
    double *drift;  /* [rows][cols], in ulps of the output's format; NaN: of another kind */
    double *stored; /* likewise */
    enum format format;
    int worst, chosen;
    double largest;
    struct softmax_view element; /* of `chosen`; its lane's trace is ours */
};

/* The last output of every row: its STORE. */
static bool read_outputs(struct divergence_view *v, struct message *why)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t n = 0; n < trace_count(v->trace); n++) {
            const struct event *e = trace_event(v->trace, n);
            if (e->step != STEP_STORE || e->batch != v->batch || e->head != v->head)
                continue;
            if (trace_values(v->trace, n) == NULL || trace_exact(v->trace, n) == NULL)
                return refuse(why, "no values, or no exact ones, are kept; flashulp trace "
                                   "--snapshots all is right");
            int first = (int)(e->i * e->rows);
            v->rows = first + (int)e->rows > v->rows ? first + (int)e->rows : v->rows;
            v->cols = (int)e->cols;
            v->format = e->format < FORMAT_COUNT ? (enum format)e->format : FORMAT_FP32;
            for (uint32_t k = 0; pass == 1 && k < e->rows * e->cols; k++) {
                double value = trace_values(v->trace, n)[k];
                v->stored[(size_t)first * e->cols + k] = value;
                v->drift[(size_t)first * e->cols + k] =
                    drift_in(v->format, value, trace_exact(v->trace, n)[k]);
            }
        }
        if (v->rows == 0 || v->rows > MOST_SIDE || v->cols > MOST_SIDE)
            return refuse(why, "%d x %d outputs; 1 to %d a side can be drawn", v->rows, v->cols,
                          MOST_SIDE);
        if (pass == 0) {
            v->drift = calloc((size_t)v->rows * v->cols, sizeof *v->drift);
            v->stored = calloc((size_t)v->rows * v->cols, sizeof *v->stored);
            if (v->drift == NULL || v->stored == NULL)
                return refuse(why, "no memory");
        }
    }
    return true;
}

static void forget_element(struct divergence_view *v)
{
    for (int n = 0; n < v->element.story.lanes; n++) {
        v->element.story.lane[n].trace = NULL;
        lane_free(&v->element.story.lane[n]);
    }
    free(v->element.story.moment);
    v->element.story = (struct softmax_story){.lanes = 0};
}

static bool tell_element(struct divergence_view *v, int element, struct message *why)
{
    struct softmax_story *s = &v->element.story;
    forget_element(v);
    v->chosen = element;
    s->place = (struct row_place){v->batch, v->head, element / v->cols, element % v->cols};
    s->lanes = 1;
    v->element.format = v->format;
    snprintf(v->element.ulps, sizeof v->element.ulps, "%s", format_info(v->format)->name);
    if (!lane_tell(&s->lane[0], v->trace, &s->place, false, why))
        return false;
    softmax_pair(s);
    return true;
}

static void divergence_close(struct scene *scene)
{
    struct divergence_view *v = scene->story;
    if (v == NULL)
        return;
    forget_element(v);
    trace_free(v->trace);
    free(v->drift);
    free(v->stored);
    free(v);
    scene->story = NULL;
}

static void find_worst(struct divergence_view *v)
{
    for (int n = 0; n < v->rows * v->cols; n++) {
        double size = isnan(v->drift[n]) ? INFINITY : fabs(v->drift[n]);
        if (size > v->largest) {
            v->largest = size;
            v->worst = n;
        }
    }
}

static bool divergence_open(struct scene *scene, const struct scenario *s, struct trace *t,
                            struct message *why)
{
    struct divergence_view *v = calloc(1, sizeof *v);
    scene->story = v;
    if (v == NULL) {
        trace_free(t);
        return refuse(why, "no memory");
    }
    v->scenario = *s;
    v->trace = t != NULL ? t : scenario_trace(s, TRACE_VALUES, true, why);
    if (v->trace != NULL && trace_count(v->trace) > 0) {
        v->batch = trace_event(v->trace, 0)->batch;
        v->head = trace_event(v->trace, 0)->head;
    }
    if (v->trace == NULL || !read_outputs(v, why)) {
        divergence_close(scene);
        return false;
    }
    find_worst(v);
    if (!tell_element(v, v->worst, why)) {
        divergence_close(scene);
        return false;
    }
    const char *name = trace_meta(v->trace, "problem"), *policy = trace_meta(v->trace, "policy");
    scene->moments = v->element.story.moments;
    snprintf(scene->title, sizeof scene->title, "Where %.30s is off, and how it came to be",
             v->element.story.lane[0].name);
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.50s    policy %.30s    head %u",
             name != NULL ? name : "recorded", policy != NULL ? policy : "unknown", v->head);
    return true;
}

/* The softmax scene's way with the element's row. */
static struct scene row_scene(const struct divergence_view *v)
{
    return (struct scene){.kind = &scene_softmax,
                          .moments = v->element.story.moments,
                          .story = (void *)(uintptr_t)&v->element};
}

static unsigned divergence_marks(const struct scene *scene, int moment)
{
    const struct divergence_view *v = scene->story;
    struct scene row = row_scene(v);
    return moment < row.moments ? scene_softmax.marks(&row, moment) : 0;
}

static void divergence_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct divergence_view *v = scene->story;
    struct scene row = row_scene(v);
    scene_softmax.words(&row, moment < row.moments ? moment : row.moments - 1, w);
}

/* How many outputs are off by how much. */
static void counts(const struct divergence_view *v, int *correct, int *within, int *beyond)
{
    *correct = *within = *beyond = 0;
    for (int n = 0; n < v->rows * v->cols; n++) {
        double size = fabs(v->drift[n]);
        if (size <= 0.5)
            ++*correct;
        else if (size <= 1)
            ++*within;
        else
            ++*beyond;
    }
}

static void divergence_describe(const struct scene *scene, double time, char **text)
{
    const struct divergence_view *v = scene->story;
    int correct, within, beyond, row = v->chosen / v->cols, col = v->chosen % v->cols;
    counts(v, &correct, &within, &beyond);
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    text_append(text,
                "of %s outputs %s are off by half an ulp of %s at most, %s by one, %s by more\n",
                grouped((int64_t)v->rows * v->cols).text, grouped(correct).text,
                format_info(v->format)->name, grouped(within).text, grouped(beyond).text);
    text_append(text, "%s O[%d,%d] = %s, off by %s ulp\n",
                v->chosen == v->worst ? "the worst," : "chosen:", row, col,
                number_words(v->stored[v->chosen]).text, drift_words(v->drift[v->chosen]).text);
    struct instant now = instant_at(&v->element.story, time);
    for (int k = 0; k < SLOT_COUNT; k++) {
        struct held h = softmax_held(&v->element.story, now.done, 0, (enum slot)k);
        if (h.is)
            text_append(text, "  %s = %s (%s ulp)\n", slot_symbol((enum slot)k),
                        number_words(h.value).text,
                        drift_words(drift_in(v->format, h.value, h.exact)).text);
    }
}

static unsigned char level_of(const struct divergence_view *v, int n)
{
    double top = isfinite(v->largest) && v->largest > 0 ? v->largest : 1;
    double share = isnan(v->drift[n]) ? 1 : fabs(v->drift[n]) / top;
    return (unsigned char)fmin(HEAT_LEVELS - 1, floor(share * HEAT_LEVELS));
}

static void draw_map(const struct divergence_view *v, struct box b, struct drawing *d)
{
    static _Thread_local unsigned char levels[MOST_SIDE * MOST_SIDE];
    double w = b.w / v->cols, h = b.h / v->rows;
    for (int n = 0; n < v->rows * v->cols; n++)
        levels[n] = level_of(v, n);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 22,
              "size of each output's error (shades below); click one");
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, b.x, b.y - 6, "column 0");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x + b.w, b.y - 6, "%d", v->cols - 1);
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x - 6, b.y + 10, "query 0");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x - 6, b.y + b.h, "%d", v->rows - 1);
    draw_heat(d, b, v->cols, v->rows, levels);
    for (int n = 0; n < v->rows * v->cols && v->rows * v->cols <= 1 << 14; n++) {
        d->what = n + 1; /* where the pointer is; nothing to be seen */
        draw_rect(d, (struct box){b.x + w * (n % v->cols), b.y + h * (n / v->cols), w, h}, INK_NONE,
                  INK_NONE);
    }
    d->what = 0;
    struct box at = {b.x + w * (v->chosen % v->cols) - 2, b.y + h * (v->chosen / v->cols) - 2,
                     w + 4, h + 4};
    draw_rect(d, at, INK_NONE, INK_ALARM)->size = 2;
}

static void draw_map_shades(const struct divergence_view *v, double x, double y, struct drawing *d)
{
    unsigned char levels[HEAT_LEVELS];
    double top = isfinite(v->largest) && v->largest > 0 ? v->largest : 1;
    for (int n = 0; n < HEAT_LEVELS; n++)
        levels[n] = (unsigned char)n;
    draw_heat(d, (struct box){x, y, 200, 12}, HEAT_LEVELS, 1, levels);
    draw_rect(d, (struct box){x, y, 200, 12}, INK_NONE, INK_QUIET);
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + 25, "0");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, x + 200, y + 25, "%.3g ulp of %s", top,
              format_info(v->format)->name);
    draw_rect(d, (struct box){x + 226, y - 1, 13, 13}, INK_NONE, INK_ALARM)->size = 2;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, x + 246, y + 10, "the element told");
}

/* A number of the tree: cell, and a line to the one it goes into. */
static void draw_node(const struct divergence_view *v, const struct instant *now, enum slot slot,
                      const char *made, double x, double y, double to_x, double to_y,
                      struct drawing *d)
{
    struct held h = softmax_held(&v->element.story, now->done, 0, slot);
    struct words value = number_words(h.value);
    struct words drift = drift_words(h.is ? drift_in(v->format, h.value, h.exact) : 0);
    struct value_cell c = {.box = {x, y, 112, 40},
                           .symbol = slot_symbol(slot),
                           .value = h.is ? value.text : "",
                           .note = h.is ? drift.text : "",
                           .fill = h.is ? INK_CELL : INK_WAITING,
                           .line = h.is ? INK_QUIET : INK_RULE,
                           .type = 13};
    if (to_y < y)
        draw_arrow(d, x + 56, y, to_x + 56, to_y + 60, INK_QUIET, 1);
    draw_cell(d, &c);
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + 54, "%s", made);
}

static void draw_neighbours(const struct divergence_view *v, struct box b, struct drawing *d)
{
    double value = v->stored[v->chosen];
    bool known = isfinite(value) && format_round(v->format, value, false) == value;
    draw_text(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, b.x, b.y,
              "O[%d,%d] as stored, and its neighbours", v->chosen / v->cols, v->chosen % v->cols);
    for (int n = 1; n >= -1 && known; n--) {
        double x = n == 0 ? value : format_next(v->format, value, n);
        double y = b.y + 20 + 18 * (1 - n);
        if (n == 0)
            draw_rect(d, (struct box){b.x - 4, y - 13, b.w, 17}, INK_CHANGED, INK_NONE);
        if (isfinite(x))
            draw_text(d, FACE_MONO, 12, ALIGN_LEFT, INK_TEXT, b.x, y, "%-14s 0x%0*" PRIX64,
                      number_words(x).text, format_info(v->format)->bits / 4,
                      format_encode(v->format, x));
    }
    draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_ALARM, b.x, b.y + 78, "off by %s ulp of %s",
              drift_words(v->drift[v->chosen]).text, format_info(v->format)->name);
}

static void draw_tree(const struct divergence_view *v, const struct instant *now, double x,
                      double y, struct drawing *d)
{
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, y - 22,
              "the numbers that make it, now; small figures: off by so many ulps");
    draw_node(v, now, SLOT_M, "largest score", x + 260, y + 160, x + 130, y + 80, d);
    draw_node(v, now, SLOT_L, "sum of p", x + 130, y + 80, x + 65, y, d);
    draw_node(v, now, SLOT_O_ACC, "sum of p v", x, y + 80, x + 65, y, d);
    draw_node(v, now, SLOT_DECAY, "e^(m_old - m)", x + 130, y + 160, x + 65, y + 80, d);
    draw_node(v, now, SLOT_O, "O~ / l, rounded", x + 65, y, x + 65, y, d);
}

static void divergence_draw(const struct scene *scene, const struct look *look, struct box stage,
                            struct drawing *d)
{
    struct divergence_view *v = scene->story;
    struct message why;
    int wanted =
        look->pinned > 0 && look->pinned <= v->rows * v->cols ? look->pinned - 1 : v->worst;
    if (wanted != v->chosen && !tell_element(v, wanted, &why))
        tell_element(v, v->worst, &why);
    struct instant now = instant_at(&v->element.story, look->time);
    struct box map = {stage.x + 84, stage.y + 34, 330, 280};
    draw_map(v, map, d);
    draw_map_shades(v, map.x, map.y + map.h + 14, d);
    draw_tree(v, &now, stage.x + 460, stage.y + 34, d);
    draw_neighbours(v, (struct box){stage.x + 460, stage.y + 292, 330, 0}, d);
    draw_drift(&v->element, look,
               (struct box){TRACK_LEFT, stage.y + 420, TRACK_RIGHT - TRACK_LEFT, stage.h - 426}, d);
}

static bool divergence_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct divergence_view *v = scene->story;
    (void)time;
    if (what < 1 || what > v->rows * v->cols)
        return false;
    memset(i, 0, sizeof *i);
    snprintf(i->name, sizeof i->name, "O[%d,%d], off by %s ulp", (what - 1) / v->cols,
             (what - 1) % v->cols, drift_words(v->drift[what - 1]).text);
    i->value = v->stored[what - 1];
    i->ulps = v->format;
    i->format = format_holding(v->format, i->value);
    return true;
}

static int divergence_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct divergence_view *v = scene->story;
    const char *policy = trace_meta(v->trace, "policy");
    p[0] = (struct parameter){.name = "policy"};
    snprintf(p[0].value, sizeof p[0].value, "%.30s", policy != NULL ? policy : "unknown");
    return v->scenario.problem != NULL && ends_with(v->scenario.problem, ".trace") ? 0 : 1;
}

static bool divergence_change(const struct scene *scene, int n, int direction, double place,
                              struct scene *changed, struct message *why)
{
    static const char *const policies[] = {"fp32", "gpu-bf16", "gpu-fp16", "all-bf16"};
    const struct divergence_view *v = scene->story;
    struct parameter p[PARAMETER_MOST];
    struct scenario s = v->scenario;
    int at = 1;
    (void)place;
    if (n >= divergence_parameters(scene, p))
        return refuse(why, "this view has no such parameter");
    for (int k = 0; k < 4; k++)
        if (strcmp(policies[k], p[0].value) == 0)
            at = k;
    s.value[OPTION_POLICY] = (char *)(uintptr_t)policies[(at + direction + 4) % 4];
    s.given[OPTION_POLICY] = true;
    *changed = *scene;
    return divergence_open(changed, &s, NULL, why);
}

static void divergence_arguments(const struct scene *scene, char **text)
{
    const struct divergence_view *v = scene->story;
    command_append(&v->scenario, NULL, text);
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
