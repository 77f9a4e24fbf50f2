/* scene_softmax_words.c: what the softmax scene says: marks, steps, the description, what is
   under the pointer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/listing.h"
#include "visualize/scene_softmax.h"

static const struct beat *beat_of(const struct softmax_story *s, int moment, int *lane)
{
    const struct softmax_moment *m = &s->moment[moment];
    *lane = s->lanes == 2 && m->beat[1] >= 0 ? 1 : 0;
    return &s->lane[*lane].beat[m->beat[*lane]];
}

unsigned softmax_marks(const struct scene *scene, int moment)
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

void softmax_words(const struct scene *scene, int moment, struct moment_words *w)
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

void softmax_describe(const struct scene *scene, double time, char **text)
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

bool softmax_inspect(const struct scene *scene, int what, int time, struct inspection *i)
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
