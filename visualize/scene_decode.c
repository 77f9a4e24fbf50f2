/* scene_decode.c: the decode scene's data side; see scene_decode.h. */
#include "visualize/scene_decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/truth.h"
#include "simulator/devices.h"
#include "simulator/scenario_parts.h"
#include "visualize/listing.h"

static char decode_name[] = "decode", first_device[] = "H200";

/* The scenario that runs: decode's listing, with the backend; a device only says that its rule is
   asked, our own numbers of SMs come after. */
static struct scenario running(const struct decode_view *v)
{
    struct scenario s = v->scenario;
    bool asks = strcmp(v->backend, "backend=trtllm") != 0;
    s.value[OPTION_ALGORITHM] = decode_name;
    s.value[OPTION_DEVICE] = asks ? first_device : NULL;
    s.value[OPTION_SWITCH] = (char *)(uintptr_t)v->backend;
    s.given[OPTION_ALGORITHM] = s.given[OPTION_SWITCH] = true;
    s.given[OPTION_DEVICE] = asks;
    return s;
}

bool decode_policy(const struct decode_view *v, enum backend b, struct policy *p)
{
    struct decode_view other = *v;
    struct message why;
    snprintf(other.backend, sizeof other.backend, "backend=%s", backend_info(b)->name);
    struct scenario s = running(&other);
    return scenario_policy(&s, v->story.input.input_format, p, &why);
}

static bool choose_devices(struct decode_view *v, struct message *why)
{
    struct device_record d[DECODE_LANES];
    struct decode_story *s = &v->story;
    const char *list = v->scenario.value[OPTION_DEVICE];
    if (!devices_from_list(list != NULL ? list : "H200,B200,RTX-PRO-6000", d, DECODE_LANES,
                           &s->lanes, why))
        return false;
    for (int n = 0; n < s->lanes; n++) {
        snprintf(s->lane[n].name, sizeof s->lane[n].name, "%.40s", d[n].name);
        s->lane[n].sms = (int)d[n].figure[QUANTITY_SMS];
    }
    return true;
}

static bool find_truth(struct decode_story *s, struct message *why)
{
    struct truth t;
    const int64_t dim = s->place.dim;
    if (s->input.problem.Nk > DECODE_MOST_TOKENS)
        return refuse(why, "%s keys; at most %s are decoded here",
                      grouped(s->input.problem.Nk).text, grouped(DECODE_MOST_TOKENS).text);
    s->head = problem_head(&s->input.problem, 0);
    if (s->head.Nq != 1 || dim >= s->head.D)
        return refuse(why,
                      "the decode scene is about one query, and a column below %lld; there "
                      "are %lld queries",
                      (long long)s->head.D, (long long)s->head.Nq);
    s->out = s->policy.site[SITE_OUT].format;
    s->out = s->out == FORMAT_EXACT ? FORMAT_FP64 : s->out;
    truth_row(&s->head, 0, &dim, 1, &s->out, 1, &t, &s->correct);
    s->exact[0] = t.value[0];
    s->exact[1] = t.value[1];
    char *digits = truth_digits(&s->head, 0, dim, 20);
    snprintf(s->digits, sizeof s->digits, "%.46s", digits);
    free(digits);
    return true;
}

static void decode_close(struct scene *scene)
{
    struct decode_view *v = scene->story;
    if (v == NULL)
        return;
    decode_free(&v->story);
    free(v);
    scene->story = NULL;
}

static void count_moments(struct scene *scene, struct decode_view *v)
{
    v->most_groups = 0;
    for (int n = 0; n < v->story.lanes; n++)
        if (v->story.lane[n].groups > v->most_groups)
            v->most_groups = v->story.lane[n].groups;
    scene->moments = v->most_groups + 2;
}

static bool run_lanes(struct decode_view *v, struct message *why)
{
    struct scenario s = running(v);
    for (int n = 0; n < v->story.lanes; n++)
        if (!decode_run(&v->story, &s, n, v->story.lane[n].sms, why))
            return false;
    return true;
}

static void name_scene(struct scene *scene, const struct decode_view *v)
{
    const struct problem *p = &v->story.input.problem;
    snprintf(scene->title, sizeof scene->title, "One query, %s tokens in groups, on %d GPUs",
             grouped(p->Nk).text, v->story.lanes);
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.60s    %.30s    policy %.40s",
             v->story.input.name, v->backend, v->story.policy.name);
}

static bool decode_open(struct scene *scene, const struct scenario *s, struct trace *t,
                        struct message *why)
{
    struct decode_view *v = calloc(1, sizeof *v);
    trace_free(t);
    scene->story = v;
    if (v == NULL)
        return refuse(why, "no memory");
    v->scenario = *s;
    snprintf(v->backend, sizeof v->backend, "%.38s",
             s->value[OPTION_SWITCH] != NULL ? s->value[OPTION_SWITCH] : "backend=fa2");
    int64_t dim = 0;
    bool ok = t == NULL || refuse(why, "the decode scene runs its own; a problem is right");
    ok = ok && (s->value[OPTION_DIMS] == NULL ||
                parse_integer("--dims (one, in this scene)", s->value[OPTION_DIMS], 0, INT32_MAX,
                              &dim, why));
    v->story.place.dim = (int)dim;
    ok = ok && choose_devices(v, why) && scenario_problem(s, &v->story.input, why);
    ok = ok && run_lanes(v, why) && find_truth(&v->story, why);
    if (!ok) {
        decode_close(scene);
        return false;
    }
    count_moments(scene, v);
    name_scene(scene, v);
    return true;
}

static unsigned decode_marks(const struct scene *scene, int moment)
{
    const struct decode_view *v = scene->story;
    const struct decode_story *s = &v->story;
    bool differ = false;
    for (int n = 1; n < s->lanes; n++) {
        const struct decode_lane *a = &s->lane[0], *b = &s->lane[n];
        if (moment == 0)
            differ = differ || a->groups == 0 || b->groups == 0 || a->group[0].O != b->group[0].O;
    }
    return (moment == v->most_groups ? MOMENT_CHAPTER : 0u) | (differ ? MOMENT_PARTED : 0u) |
           (moment == v->most_groups + 1 ? MOMENT_ROUNDED | MOMENT_CHAPTER : 0u);
}

static const char *merge_equation(enum merge merge)
{
#define MERGE_LINE(merge_id, tensor_id, text)                                                      \
    if (merge == MERGE_##merge_id &&                                                               \
        (TENSOR_##tensor_id == TENSOR_O || TENSOR_##tensor_id == TENSOR_O_ACC))                    \
        return text;
#include "simulator/decode.def"
#undef MERGE_LINE
    return "";
}

static enum merge merge_of(const struct decode_view *v)
{
    struct decode_form f;
    struct message why;
    return decode_form_read(&f, v->backend, &why) ? f.merge : MERGE_LSE;
}

static void add_numbers(const struct decode_view *v, int moment, char *text, size_t room)
{
    const struct decode_story *s = &v->story;
    text[0] = 0;
    for (int n = 0; n < s->lanes; n++) {
        const struct decode_lane *l = &s->lane[n];
        double x = moment < v->most_groups    ? moment < l->groups ? l->group[moment].O : NAN
                   : moment == v->most_groups ? l->before
                                              : l->stored;
        size_t at = strlen(text);
        if (!isnan(x))
            snprintf(text + at, room - at, "%s%c: %s", at > 0 ? "\n" : "", run_style(n).letter,
                     number_words(x).text);
    }
}

static void add_source(enum step step, enum tensor_name tensor, struct moment_words *w)
{
    struct listing_place p = listing_of("decode", step, tensor);
    w->source[0] = (struct source_line){p.last > 0 ? '*' : 0, p.file, p.first, p.last};
}

static void decode_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct decode_view *v = scene->story;
    memset(w, 0, sizeof *w);
    add_numbers(v, moment, w->numbers, sizeof w->numbers);
    if (moment < v->most_groups) {
        bool divided = merge_of(v) == MERGE_LSE || merge_of(v) == MERGE_LSE_SUM ||
                       merge_of(v) == MERGE_NORMALISED_MAX_SUM;
        snprintf(w->step, sizeof w->step, "GROUP");
        snprintf(w->where, sizeof w->where, "group %d of each GPU", moment + 1);
        snprintf(w->equation, sizeof w->equation, "%s",
                 divided ? "O_g = O~ / l, L_g = m + ln l" : "O~_g, m_g, l_g");
        snprintf(w->meaning, sizeof w->meaning,
                 "Each GPU's group %d has gone through its own tokens, with a maximum of its own, "
                 "and leaves a record: output and logarithm (or maximum and sum).",
                 moment + 1);
        add_source(STEP_GROUP, TENSOR_GROUP_O, w);
    } else if (moment == v->most_groups) {
        snprintf(w->step, sizeof w->step, "COMBINE");
        snprintf(w->where, sizeof w->where, "groups 1 to last, in order");
        snprintf(w->equation, sizeof w->equation, "%s", merge_equation(merge_of(v)));
        snprintf(w->meaning, sizeof w->meaning,
                 "The records are put together in ascending order: the values before the last "
                 "rounding, on the number line.");
        add_source(STEP_COMBINE, TENSOR_O_ACC, w);
    } else {
        snprintf(w->step, sizeof w->step, "STORE");
        snprintf(w->where, sizeof w->where, "the last rounding");
        snprintf(w->equation, sizeof w->equation, "O -> %s", format_info(v->story.out)->name);
        snprintf(w->meaning, sizeof w->meaning,
                 "Left of a rounding boundary one number is stored, right of it the next: values "
                 "that differ little may be stored an ulp apart.");
        add_source(STEP_STORE, TENSOR_O, w);
    }
}

static void decode_describe(const struct scene *scene, double time, char **text)
{
    const struct decode_view *v = scene->story;
    const struct decode_story *s = &v->story;
    int done = (int)floor(time);
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    for (int n = 0; n < s->lanes; n++) {
        const struct decode_lane *l = &s->lane[n];
        int groups = done < l->groups ? done : l->groups;
        text_append(text, "%c %s, %d SMs: %d groups", run_style(n).letter, l->name, l->sms,
                    l->groups);
        if (l->planned && l->plan.order == GROUPS_ROUND_ROBIN)
            text_append(text, ", tiles of %s tokens dealt round",
                        grouped(l->plan.block_tokens).text);
        else if (l->planned)
            text_append(text, " of %s tokens",
                        grouped(l->plan.blocks_per_split * l->plan.block_tokens).text);
        text_append(text, "; %d done", groups);
        if (groups > 0)
            text_append(text, ", the last left O_g = %s",
                        number_words(l->group[groups - 1].O).text);
        if (done > v->most_groups)
            text_append(text, "; before the last rounding %s", number_words(l->before).text);
        if (done > v->most_groups + 1)
            text_append(text, ", stored %s (%s ulp)", number_words(l->stored).text,
                        drift_words(drift_in(s->out, l->stored, s->exact)).text);
        text_append(text, "\n");
    }
    text_append(text, "E exact %s, its %s rounding %s\n", s->digits, format_info(s->out)->name,
                number_words(s->correct).text);
}

static bool decode_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct decode_view *v = scene->story;
    const struct decode_story *s = &v->story;
    int n = what & 7;
    memset(i, 0, sizeof *i);
    if (what & WHAT_EXACT) {
        snprintf(i->name, sizeof i->name, "the exact result, certified");
        i->value = s->exact[0];
    } else {
        if (n >= s->lanes)
            return false;
        const struct decode_lane *l = &s->lane[n];
        int g = what >> 3 & 0xFFFF;
        bool before = what & WHAT_BEFORE, stored = what & WHAT_STORED;
        if (before || stored ? time <= v->most_groups + stored : time <= g || g >= l->groups)
            return false;
        i->value = before ? l->before : stored ? l->stored : l->group[g].O;
        if (before || stored)
            snprintf(i->name, sizeof i->name, "%c %.40s, %s", run_style(n).letter, l->name,
                     before ? "before the last rounding" : "stored");
        else
            snprintf(i->name, sizeof i->name, "%c %.40s, O of group %d", run_style(n).letter,
                     l->name, g + 1);
        i->has_exact = before || stored;
        memcpy(i->exact, s->exact, sizeof i->exact);
    }
    i->ulps = s->out;
    i->format = format_holding(what & WHAT_STORED ? s->out : FORMAT_FP32, i->value);
    return true;
}

enum { LIVE_BACKEND, LIVE_SMS };
static int decode_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct decode_view *v = scene->story;
    static const char *const names[DECODE_LANES] = {"SMs of A", "SMs of B", "SMs of C"};
    p[0] = (struct parameter){.name = "backend"};
    snprintf(p[0].value, sizeof p[0].value, "%.30s",
             strncmp(v->backend, "backend=", 8) == 0 ? v->backend + 8 : v->backend);
    for (int n = 0; n < v->story.lanes; n++) {
        p[n + 1] = (struct parameter){
            .name = names[n], .slider = true, .place = (v->story.lane[n].sms - 8) / 248.0};
        snprintf(p[n + 1].value, sizeof p[n + 1].value, "%d", v->story.lane[n].sms);
    }
    return v->story.lanes + 1;
}

/* The same scene again, nothing run yet. */
static struct decode_view *copied(const struct decode_view *v, struct message *why)
{
    struct decode_view *c = calloc(1, sizeof *c);
    if (c == NULL || !scenario_problem(&v->scenario, &c->story.input, why)) {
        free(c);
        return NULL;
    }
    c->scenario = v->scenario;
    memcpy(c->backend, v->backend, sizeof c->backend);
    c->story.place = v->story.place;
    c->story.lanes = v->story.lanes;
    for (int n = 0; n < v->story.lanes; n++) {
        memcpy(c->story.lane[n].name, v->story.lane[n].name, sizeof c->story.lane[n].name);
        c->story.lane[n].sms = v->story.lane[n].sms;
    }
    return c;
}

static void name_lane(struct decode_lane *l, int sms)
{
    l->sms = sms;
    snprintf(l->name, sizeof l->name, "a GPU");
    for (int d = 0; d < DEVICE_COUNT; d++)
        if ((int)device_figure((enum device)d, QUANTITY_SMS, NULL) == sms) {
            snprintf(l->name, sizeof l->name, "%.40s", device_info((enum device)d)->name);
            return;
        }
}

static bool decode_change(const struct scene *scene, int n, int direction, double place,
                          struct scene *changed, struct message *why)
{
    const struct decode_view *v = scene->story;
    struct decode_view *c = copied(v, why);
    *changed = *scene;
    changed->story = c;
    if (c == NULL)
        return false;
    if (n == LIVE_BACKEND) {
        int at = 0;
        for (int b = 0; b < BACKEND_COUNT; b++)
            if (strcmp(v->backend + 8, backend_info((enum backend)b)->name) == 0)
                at = b;
        at = (at + direction + BACKEND_COUNT) % BACKEND_COUNT;
        snprintf(c->backend, sizeof c->backend, "backend=%s", backend_info((enum backend)at)->name);
    } else {
        int old = v->story.lane[n - LIVE_SMS].sms;
        int sms = direction != 0 ? old + direction : 8 + (int)floor(place * 248 + 0.5);
        name_lane(&c->story.lane[n - LIVE_SMS], sms < 1 ? 1 : sms > 4096 ? 4096 : sms);
    }
    if (!run_lanes(c, why) || !find_truth(&c->story, why)) {
        decode_close(changed);
        return false;
    }
    count_moments(changed, c);
    name_scene(changed, c);
    return true;
}

/* Devices by name; a number of SMs that no device has is not a command's. */
static void decode_arguments(const struct scene *scene, char **text)
{
    const struct decode_view *v = scene->story;
    struct scenario s = v->scenario;
    char *devices = NULL;
    for (int n = 0; n < v->story.lanes; n++)
        text_append(&devices, "%s%s", n > 0 ? "," : "",
                    strcmp(v->story.lane[n].name, "a GPU") != 0 ? v->story.lane[n].name : "H200");
    s.value[OPTION_DEVICE] = devices;
    s.value[OPTION_SWITCH] = (char *)(uintptr_t)v->backend;
    s.given[OPTION_DEVICE] = s.given[OPTION_SWITCH] = true;
    char *command = scenario_command(&s);
    text_append(text, "%s", command);
    free(command);
    free(devices);
}

const struct scene_kind scene_decode = {.open = decode_open,
                                        .close = decode_close,
                                        .marks = decode_marks,
                                        .words = decode_words,
                                        .draw = decode_draw,
                                        .describe = decode_describe,
                                        .inspect = decode_inspect,
                                        .parameters = decode_parameters,
                                        .change = decode_change,
                                        .arguments = decode_arguments};
