/* scene_decode.c: the decode scene's data side; see scene_decode.h. */
#include "visualize/scene_decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/truth.h"
#include "simulator/devices.h"
#include "simulator/scenario_parts.h"
#include "visualize/scene_parts.h"

static const char first_device[] = "H200", usual_devices[] = "H200,B200,RTX-PRO-6000";
static const char *const sms_names[DECODE_LANES] = {"SMs of A", "SMs of B", "SMs of C"};
static const char *const backend_switches[BACKEND_COUNT] = {
#define BACKEND(id, name, ...) "backend=" name,
#include "simulator/decode.def"
#undef BACKEND
};
enum { LIVE_BACKEND, LIVE_SMS, SMS_LEAST = 8, SMS_MOST = 256 }; /* of the slider */

const struct backend_info *decode_backend(const char *switches)
{
    struct decode_form f;
    struct message why;
    return decode_form_read(&f, switches, &why) && f.backend != NULL ? f.backend
                                                                     : backend_info(BACKEND_FA2);
}

/* The scenario that runs: decode's listing, with the backend; a device only says that its rule is
   asked, our own numbers of SMs come after. */
static struct scenario running(const struct decode_view *v, const char *switches)
{
    bool asks = decode_backend(switches)->rule != SPLIT_RULE_DECODE;
    struct scenario s = scenario_with(&v->scenario, OPTION_ALGORITHM, "decode");
    s = scenario_with(&s, OPTION_DEVICE, asks ? first_device : NULL);
    return scenario_with(&s, OPTION_SWITCH, switches);
}

bool decode_policy(const struct decode_view *v, enum backend b, struct policy *p)
{
    struct message why;
    struct scenario s = running(v, backend_switches[b]);
    return scenario_policy(&s, v->story.input.input_format, p, &why);
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

/* The GPUs of --device, with the numbers of SMs that --live gives. */
static bool choose_devices(struct decode_view *v, struct message *why)
{
    struct device_record d[DECODE_LANES];
    struct decode_story *s = &v->story;
    const char *list = v->scenario.value[OPTION_DEVICE];
    char value[32];
    if (!devices_from_list(list != NULL ? list : usual_devices, d, DECODE_LANES, &s->lanes, why))
        return false;
    for (int n = 0; n < s->lanes; n++) {
        struct decode_lane *l = &s->lane[n];
        snprintf(l->name, sizeof l->name, "%.40s", d[n].name);
        l->sms = v->device_sms[n] = (int)d[n].figure[QUANTITY_SMS];
        int sms = live_value(&v->scenario, sms_names[n], value, sizeof value) ? atoi(value) : 0;
        if (sms > 0 && sms <= DECODE_MOST_SMS && sms != l->sms)
            name_lane(l, sms);
    }
    return true;
}

static void find_truth(struct decode_story *s)
{
    struct truth t;
    const int64_t dim = s->place.dim;
    s->out = s->policy.site[SITE_OUT].format;
    s->out = s->out == FORMAT_EXACT ? FORMAT_FP64 : s->out;
    truth_row(&s->head, 0, &dim, 1, &s->out, 1, &t, &s->correct);
    s->exact[0] = t.value[0];
    s->exact[1] = t.value[1];
    char *digits = truth_digits(&s->head, 0, dim, 20);
    snprintf(s->digits, sizeof s->digits, "%.46s", digits);
    free(digits);
}

/* One query, and not too many keys. */
static bool take_problem(struct decode_story *s, const struct scenario *scenario,
                         struct message *why)
{
    int64_t dim = 0;
    if (scenario->value[OPTION_DIMS] != NULL &&
        !parse_integer("--dims (one, in this scene)", scenario->value[OPTION_DIMS], 0, INT32_MAX,
                       &dim, why))
        return false;
    s->place.dim = (int)dim;
    if (!scenario_problem(scenario, &s->input, why))
        return false;
    if (s->input.problem.Nk > DECODE_MOST_TOKENS)
        return refuse(why, "%s keys; at most %s are decoded here",
                      grouped(s->input.problem.Nk).text, grouped(DECODE_MOST_TOKENS).text);
    s->head = problem_head(&s->input.problem, 0);
    if (s->head.Nq != 1 || dim >= s->head.D)
        return refuse(why,
                      "the decode scene is about one query, and a column below %lld; there "
                      "are %lld queries",
                      (long long)s->head.D, (long long)s->head.Nq);
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
    struct scenario s = running(v, v->switches);
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
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.60s    backend %.30s    policy %.40s",
             v->story.input.name, decode_backend(v->switches)->name, v->story.policy.name);
}

static bool decode_open(struct scene *scene, const struct scenario *s, struct trace *t,
                        struct message *why)
{
    struct decode_view *v =
        story_begin(scene, sizeof *v, t, "the decode scene runs its own; a problem is right", why);
    if (v == NULL)
        return false;
    v->scenario = *s;
    v->switches =
        s->value[OPTION_SWITCH] != NULL ? s->value[OPTION_SWITCH] : backend_switches[BACKEND_FA2];
    char backend[32];
    if (live_value(s, "backend", backend, sizeof backend))
        for (int b = 0; b < BACKEND_COUNT; b++)
            if (strcmp(backend, backend_info((enum backend)b)->name) == 0)
                v->switches = backend_switches[b];
    bool ok = choose_devices(v, why) && take_problem(&v->story, s, why) && run_lanes(v, why);
    v->scenario.value[OPTION_LIVE] = NULL; /* read; the text is not ours to keep */
    if (!ok) {
        decode_close(scene);
        return false;
    }
    find_truth(&v->story);
    count_moments(scene, v);
    name_scene(scene, v);
    return true;
}

static int decode_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct decode_view *v = scene->story;
    const char *switches = v->ahead.is ? v->ahead.switches : v->switches;
    p[LIVE_BACKEND] = (struct parameter){.name = "backend"};
    snprintf(p[LIVE_BACKEND].value, sizeof p[LIVE_BACKEND].value, "%.30s",
             decode_backend(switches)->name);
    for (int n = 0; n < v->story.lanes; n++) {
        struct parameter *own = &p[LIVE_SMS + n];
        int sms = decode_strip(v, n)->sms;
        *own = (struct parameter){.name = sms_names[n],
                                  .slider = true,
                                  .place = (double)(sms - SMS_LEAST) / (SMS_MOST - SMS_LEAST)};
        own->place = fmin(1, fmax(0, own->place));
        snprintf(own->value, sizeof own->value, "%d", sms);
    }
    return v->story.lanes + LIVE_SMS;
}

static const char *next_switches(const char *switches, int direction)
{
    int at = 0;
    for (int b = 0; b < BACKEND_COUNT; b++)
        if (decode_backend(switches) == backend_info((enum backend)b))
            at = b;
    return backend_switches[(at + direction + BACKEND_COUNT) % BACKEND_COUNT];
}

static int next_sms(int sms, int direction, double place)
{
    int next = direction != 0 ? sms + direction
                              : SMS_LEAST + (int)floor(place * (SMS_MOST - SMS_LEAST) + 0.5);
    return next < 1 ? 1 : next > DECODE_MOST_SMS ? DECODE_MOST_SMS : next;
}

/* Lines of --live: SMs that are not the device's own; lane `changed` has `sms`. */
static char *live_sms(const struct decode_view *v, int changed, int sms)
{
    char *live = NULL, value[16];
    for (int n = 0; n < v->story.lanes; n++) {
        int own = n == changed ? sms : v->story.lane[n].sms;
        snprintf(value, sizeof value, "%d", own);
        if (own != v->device_sms[n])
            live_append(&live, sms_names[n], value);
    }
    return live;
}

static bool decode_change(const struct scene *scene, int n, int direction, double place,
                          struct scene *changed, struct message *why)
{
    const struct decode_view *v = scene->story;
    struct scenario s = scenario_with(&v->scenario, OPTION_SWITCH, v->switches);
    int lane = n - LIVE_SMS;
    if (n == LIVE_BACKEND)
        s = scenario_with(&s, OPTION_SWITCH, next_switches(v->switches, direction));
    char *live = live_sms(
        v, lane, n == LIVE_BACKEND ? 0 : next_sms(v->story.lane[lane].sms, direction, place));
    s = scenario_with(&s, OPTION_LIVE, live);
    *changed = *scene;
    bool ok = decode_open(changed, &s, NULL, why);
    free(live);
    return ok;
}

/* The plans are cheap: the strips show them while the runs are made. */
static void decode_preview(struct scene *scene, int n, int direction, double place)
{
    struct decode_view *v = scene->story;
    struct decode_ahead next = {.is = true, .switches = v->switches};
    struct message why;
    if (n < 0) {
        v->ahead.is = false;
        return;
    }
    if (v->ahead.is)
        next.switches = v->ahead.switches;
    if (n == LIVE_BACKEND)
        next.switches = next_switches(next.switches, direction);
    struct scenario s = running(v, next.switches);
    for (int lane = 0; lane < v->story.lanes; lane++) {
        struct decode_lane *l = &next.lane[lane];
        const struct decode_lane *old = decode_strip(v, lane);
        snprintf(l->name, sizeof l->name, "%s", old->name);
        l->sms = old->sms;
        if (lane == n - LIVE_SMS)
            name_lane(l, next_sms(old->sms, direction, place));
        if (!decode_plan(&v->story, &s, l, &why))
            return;
    }
    v->ahead = next;
}

static void decode_arguments(const struct scene *scene, char **text)
{
    const struct decode_view *v = scene->story;
    struct scenario s = scenario_with(&v->scenario, OPTION_SWITCH, v->switches);
    char *live = live_sms(v, -1, 0);
    command_append(&s, live, text);
    free(live);
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
                                        .preview = decode_preview,
                                        .arguments = decode_arguments};
