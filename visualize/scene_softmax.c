/* scene_softmax.c: the softmax scene's data side: opening, words, inspection, parameters. */
#include "visualize/scene_softmax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/examples.h"
#include "simulator/scenario_parts.h"
#include "visualize/listing.h"

struct instant instant_at(const struct softmax_story *s, double time)
{
    int n = (int)floor(time);
    n = n < 0 ? 0 : n > s->moments ? s->moments : n;
    const struct softmax_moment *m = &s->moment[n];
    struct instant i = {{m->before[0], m->before[1]}, {-1, -1}, {-1, -1}, time - n};
    for (int lane = 0; lane < 2; lane++) {
        if (i.share > 0 && n < s->moments)
            i.beat[lane] = i.last[lane] = m->beat[lane];
        else if (n > 0)
            i.last[lane] = m[-1].beat[lane];
    }
    return i;
}

int exact_lane(const struct softmax_story *s)
{
    return s->lanes - 1;
}

static struct held of_lane(const struct softmax_story *s, const int done[2], int lane,
                           enum slot slot)
{
    return s->lane[lane].state[done[lane]].slot[slot];
}

/* high + low of a / b, to about twice a double. */
static void divided(const double a[2], const double b[2], double q[2])
{
    q[0] = a[0] / b[0];
    q[1] = (fma(-q[0], b[0], a[0]) + (a[1] - q[0] * b[1])) / b[0];
    if (!isfinite(q[1]))
        q[1] = 0;
}

struct held exact_held(const struct softmax_story *s, const int done[2], enum slot slot)
{
    int lane = exact_lane(s);
    struct held h = of_lane(s, done, lane, slot);
    if (slot == SLOT_O && !h.is) { /* what it would be after a division now */
        struct held O = of_lane(s, done, lane, SLOT_O_ACC), l = of_lane(s, done, lane, SLOT_L);
        h = O;
        if (O.is && l.is && l.exact[0] != 0)
            divided(O.exact, l.exact, h.exact);
        else
            h.is = false;
    }
    h.value = h.exact[0];
    return h;
}

struct held softmax_held(const struct softmax_story *s, const int done[2], int lane, enum slot slot)
{
    return lane < s->lanes ? of_lane(s, done, lane, slot) : exact_held(s, done, slot);
}

bool softmax_key(const struct lane *l, int key, int *tile, int *col)
{
    int low = 0, high = l->tiles; /* the last tile that begins at the key or before */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (l->tile[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    const struct lane_tile *k = &l->tile[low];
    if (l->tiles == 0 || key < k->key || key >= k->key + k->hi - k->lo)
        return false;
    *tile = low;
    *col = k->lo + key - k->key;
    return true;
}

static struct scenario with(const struct scenario *s, enum option o, char *value)
{
    struct scenario other = *s;
    other.value[o] = value;
    other.given[o] = value != NULL;
    return other;
}

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
    static char fa1[] = "fa1", fa2[] = "fa2";
    struct scenario left = with(&v->scenario, OPTION_ALGORITHM, fa1);
    struct scenario right =
        is_fa1(&v->scenario) ? with(&v->scenario, OPTION_ALGORITHM, fa2) : v->scenario;
    enum example e;
    struct softmax_story *story = &v->story;
    left = with(&left, OPTION_KERNEL, NULL);
    left.given[OPTION_FAULT] = false;
    left.value[OPTION_FAULT] = NULL;
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
    struct softmax_view *v = calloc(1, sizeof *v);
    scene->story = v;
    if (v == NULL) {
        trace_free(t);
        return refuse(why, "no memory");
    }
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

static const struct beat *beat_of(const struct softmax_story *s, int moment, int *lane)
{
    const struct softmax_moment *m = &s->moment[moment];
    *lane = s->lanes == 2 && m->beat[1] >= 0 ? 1 : 0;
    return &s->lane[*lane].beat[m->beat[*lane]];
}

static unsigned softmax_marks(const struct scene *scene, int moment)
{
    const struct softmax_story *s = &((const struct softmax_view *)scene->story)->story;
    int lane, other;
    const struct beat *b = beat_of(s, moment, &lane);
    bool chapter = moment == 0 || beat_of(s, moment - 1, &other)->tile != b->tile;
    return (b->step == STEP_RESCALE ? MOMENT_RESCALE : 0u) | (chapter ? MOMENT_CHAPTER : 0u) |
           (moment == s->parted ? MOMENT_PARTED : 0u) |
           (moment == s->rounded ? MOMENT_ROUNDED : 0u);
}

static const struct {
    const char *label, *equation, *meaning;
} steps[STEP_COUNT] = {
#define STEP(id, label, equation, meaning, ...) {label, equation, meaning},
#include "simulator/steps.def"
#undef STEP
};

static const char *equation_of(enum step step, enum tensor_name tensor)
{
#define LINE(step_id, tensor_id, text)                                                             \
    if (step == STEP_##step_id && tensor == TENSOR_##tensor_id)                                    \
        return text;
#include "simulator/steps.def"
#undef LINE
    return steps[step].equation;
}

/* "A: m -> 3, l -> 1.3678794": what the step leaves. */
static void outcome(const struct softmax_story *s, int moment, char *text, size_t room)
{
    text[0] = 0;
    for (int lane = 0; lane < s->lanes; lane++) {
        int beat = s->moment[moment].beat[lane];
        const char *before = text[0] != 0 ? "   " : "";
        if (beat < 0)
            continue;
        const struct lane_state *state = &s->lane[lane].state[beat + 1];
        size_t start = strlen(text);
        snprintf(text + start, room - start, "%s%c: ", before, run_style(lane).letter);
        for (int k = 0; k < SLOT_COUNT; k++)
            if (s->lane[lane].beat[beat].wrote >> k & 1 && state->slot[k].is)
                snprintf(text + strlen(text), room - strlen(text), "%s = %s  ",
                         slot_symbol((enum slot)k), number_words(state->slot[k].value).text);
    }
}

/* The array a step is named after: the last one it wrote that is not a mere factor. */
static enum tensor_name named_after(const struct lane *l, const struct beat *b)
{
    enum tensor_name last = b->tensor;
    for (size_t n = b->first; n < b->end; n++) {
        const struct event *e = trace_event(l->trace, n);
        if (e->step == (uint32_t)b->step && e->tensor != TENSOR_DECAY)
            last = (enum tensor_name)e->tensor;
    }
    return last;
}

static void softmax_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct softmax_story *s = &((const struct softmax_view *)scene->story)->story;
    int lane;
    const struct beat *b = beat_of(s, moment, &lane);
    memset(w, 0, sizeof *w);
    snprintf(w->step, sizeof w->step, "%s", steps[b->step].label);
    snprintf(w->equation, sizeof w->equation, "%s",
             b->step == STEP_RESCALE && lane == exact_lane(s)
                 ? "a = e^(m_old - m)   l = a l   O~ = a O~"
                 : equation_of(b->step, named_after(&s->lane[lane], b)));
    snprintf(w->meaning, sizeof w->meaning, "%s", steps[b->step].meaning);
    snprintf(w->where, sizeof w->where, "key tile %d of %d", b->tile + 1, s->lane[lane].tiles);
    outcome(s, moment, w->numbers, sizeof w->numbers);
    for (int n = 0, to = 0; n < s->lanes; n++) {
        int beat = s->moment[moment].beat[n];
        if (beat < 0)
            continue;
        const struct beat *mine = &s->lane[n].beat[beat];
        struct listing_place p =
            listing_of(s->lane[n].name, mine->step, named_after(&s->lane[n], mine));
        w->source[to].letter = p.last > 0 ? run_style(n).letter : 0;
        w->source[to].file = p.file;
        w->source[to].first = p.first;
        w->source[to++].last = p.last;
    }
}

static void describe_lane(const struct softmax_view *v, const int done[2], int lane, char **text)
{
    const struct softmax_story *s = &v->story;
    bool exact = lane == s->lanes;
    text_append(text, "%c %s:", run_style(exact ? -1 : lane).letter,
                exact ? "exact" : s->lane[lane].name);
    bool any = false;
    for (int k = 0; k < SLOT_COUNT; k++) {
        struct held h = softmax_held(s, done, lane, (enum slot)k);
        if (!h.is)
            continue;
        text_append(text, "%s %s = %s", any ? "," : "", slot_symbol((enum slot)k),
                    number_words(h.value).text);
        double drift = drift_in(v->format, h.value, h.exact);
        if (!exact && drift != 0)
            text_append(text, " (%s ulp)", drift_words(drift).text);
        any = true;
    }
    text_append(text, "%s\n", any ? "" : " nothing yet");
}

static void softmax_describe(const struct scene *scene, double time, char **text)
{
    const struct softmax_view *v = scene->story;
    const struct softmax_story *s = &v->story;
    struct instant now = instant_at(s, time);
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    int n = (int)ceil(time) - 1;
    if (n >= 0 && n < s->moments) {
        struct moment_words w;
        softmax_words(scene, n, &w);
        text_append(text, "step %d of %d, %s%s: %s   %s\n", n + 1, s->moments, w.where,
                    now.share > 0 ? ", under way" : "", w.step, w.equation);
        text_append(text, "%s\n", w.meaning);
    } else {
        text_append(text, "before the first of %d steps\n", s->moments);
    }
    for (int lane = 0; lane <= s->lanes; lane++)
        describe_lane(v, now.done, lane, text);
    text_append(text, "drift in ulps of %s\n", v->ulps);
}

static bool inspect_weight(const struct softmax_view *v, const int done[2], int lane, int key,
                           struct held *h, char *name, size_t room)
{
    const struct softmax_story *s = &v->story;
    int from = lane < s->lanes ? lane : exact_lane(s), tile, col;
    snprintf(name, room, "weight p of key %d, %c", key,
             run_style(lane < s->lanes ? lane : -1).letter);
    if (!softmax_key(&s->lane[from], key, &tile, &col) ||
        !lane_weight(&s->lane[from], s, tile, col, done[from], h))
        return false;
    if (lane == s->lanes)
        h->value = h->exact[0];
    return true;
}

static bool softmax_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct softmax_view *v = scene->story;
    const struct softmax_story *s = &v->story;
    int lane = what / WHAT_LANE - 1, part = what % WHAT_LANE;
    struct instant now = instant_at(s, time);
    struct held h = {.is = false};
    memset(i, 0, sizeof *i);
    if (lane < 0 || lane > s->lanes)
        return false;
    if (part >= WHAT_WEIGHT) {
        if (!inspect_weight(v, now.done, lane, part - WHAT_WEIGHT, &h, i->name, sizeof i->name))
            return false;
    } else {
        h = softmax_held(s, now.done, lane, (enum slot)part);
        snprintf(i->name, sizeof i->name, "%s, %c %s", slot_symbol((enum slot)part),
                 run_style(lane < s->lanes ? lane : -1).letter,
                 lane < s->lanes ? s->lane[lane].name : "exact");
    }
    if (!h.is)
        return false;
    int from = lane < s->lanes ? lane : exact_lane(s);
    enum format site = (enum format)trace_event(s->lane[from].trace, h.event)->format;
    i->value = h.value;
    i->exact[0] = h.exact[0];
    i->exact[1] = h.exact[1];
    i->has_exact = true;
    i->ulps = v->format;
    i->format = lane == s->lanes ? FORMAT_FP64 : format_holding(site, h.value);
    return true;
}

/* Policies and tile widths that the keys step through. */
static const char *const policies[] = {"fp32", "gpu-bf16", "gpu-fp16", "all-bf16"};
static const char *const tiles[] = {"64,1", "64,2", "64,4", "64,8", "64,16", "64,32", "64,64"};
static const char *const algorithms[] = {"fa2",         "standard", "online", "fa1-printed",
                                         "fa2-printed", "unstable", "splitk", "splitq"};
static const struct {
    const char *name;
    enum option option;
    const char *const *choice;
    int count;
} live[] = {{"policy", OPTION_POLICY, policies, 4},
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
    int at = -1;
    (void)place;
    if (n < 0 || n >= softmax_parameters(scene, p))
        return refuse(why, "this view has no such parameter");
    for (int i = 0; i < live[n].count; i++)
        if (strcmp(live[n].choice[i], p[n].value) == 0)
            at = i;
    at = at < 0 ? 0 : (at + direction + live[n].count) % live[n].count;
    struct scenario s = with(&v->scenario, live[n].option, (char *)(uintptr_t)live[n].choice[at]);
    *changed = *scene;
    return softmax_open(changed, &s, NULL, why);
}

static void softmax_arguments(const struct scene *scene, char **text)
{
    const struct softmax_view *v = scene->story;
    char *command = scenario_command(&v->scenario);
    text_append(text, "%s", command);
    free(command);
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
