/* scene_warps.c: tiles shared among the warps of a thread block, by keys (split-K) and by rows
   (split-Q): who holds which part of the scores, what of each goes through shared memory, and where
   warps wait.  A trace of an emulated kernel is scene_lanes.c's.

   The parts are those of the listings splitk and splitq; bytes and barriers are counted from their
   calls (exchange.h), and these are timed on one SM (exchange_time.h).  Time: each key tile is
   loaded, scored, summed; at the end the rows are divided and stored. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/lanes.h"
#include "visualize/listing.h"
#include "visualize/scene_parts.h"
#include "visualize/warps.h"

enum { PANES = WARPS_PANES, PHASES = TILE_PHASES + 1 };

const enum algorithm warps_listings[PANES] = {ALGORITHM_SPLITK, ALGORITHM_SPLITQ};
static const struct {
    const char *step, *equation, *meaning;
    enum step listed;
} phases[PHASES] = {
    {"LOAD", "Q, K, V -> shared memory",
     "All warps together bring the tiles into shared memory and "
     "wait until they are there.",
     STEP_LOAD},
    {"QK", "S = Q K^T, m = max(m, S)",
     "Each warp computes its own part of the scores in its registers: a slice of the keys (A) or "
     "of "
     "the rows (B). A's maxima are of a slice: they meet through shared memory.",
     STEP_QK},
    {"PV", "P = e^(S - m), O~ = O~ + P V",
     "A's warps each have a sum over a part of the keys, so sums and outputs meet through shared "
     "memory, too. B's rows are whole: nothing is exchanged.",
     STEP_PV},
    {"STORE", "O -> memory",
     "What the whole row of tiles took: bytes through shared memory, and "
     "barriers at which warps waited for one another.",
     STEP_STORE}};

static void warps_close(struct scene *scene)
{
    struct warps_view *v = scene->story;
    for (int pane = 0; v != NULL && pane < PANES; pane++)
        exchange_time_free(&v->timed[pane]);
    if (v != NULL)
        scenario_input_free(&v->input);
    free(v);
    scene->story = NULL;
}

static bool count_pane(struct warps_view *v, int pane, struct message *why)
{
    struct scenario s = scenario_with(&v->scenario, OPTION_DEVICE, NULL); /* no kernel's model */
    struct simulation simulation;
    s = scenario_with(&s, OPTION_ALGORITHM, algorithm_info(warps_listings[pane])->name);
    if (!scenario_simulation(&s, &v->input, &simulation, why))
        return false;
    v->choices = simulation_choices(&simulation, &v->head);
    exchange_count(&simulation, &v->head, &v->exchange[pane]);
    if (!exchange_time_new(&v->timed[pane], &simulation, &v->head, &v->device, why))
        return false;
    v->tiles = v->timed[pane].tiles;
    return true;
}

static bool warps_open(struct scene *scene, const struct scenario *s, struct trace *t,
                       struct message *why)
{
    char shown[32];
    if (t != NULL)
        return scene_lanes.open(scene, s, t, why);
    struct scenario own = scenario_with(s, OPTION_LIVE, NULL);
    if (live_value(s, "shown", shown, sizeof shown) && strcmp(shown, "lanes") == 0)
        return lanes_open_example(scene, &own, why);
    struct warps_view *v = story_begin(scene, sizeof *v, t, NULL, why);
    const char *device = s->value[OPTION_DEVICE];
    if (v == NULL)
        return false;
    v->scenario = own;
    bool ok = device_lookup(device != NULL ? device : "A100", &v->device, why) &&
              scenario_problem(s, &v->input, why);
    ok = ok && (problem_units(&v->input.problem) > 0 || refuse(why, "the problem has no head"));
    if (ok)
        v->head = problem_head(&v->input.problem, 0);
    for (int pane = 0; ok && pane < PANES; pane++)
        ok = count_pane(v, pane, why);
    if (!ok) {
        warps_close(scene);
        return false;
    }
    scene->moments = v->tiles * TILE_PHASES + 1;
    snprintf(scene->title, sizeof scene->title, "One tile among %d warps: by keys, and by rows",
             v->exchange[0].warps);
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.60s    tile %d x %d, d %lld%s",
             v->input.name, v->choices.Br, v->choices.Bc, (long long)v->head.D,
             v->timed[0].more ? "    the first 4 key tiles" : "");
    return true;
}

static unsigned warps_marks(const struct scene *scene, int moment)
{
    (void)scene;
    return moment % TILE_PHASES == PHASE_LOAD ? MOMENT_CHAPTER : 0;
}

int64_t warps_partial(const struct exchange *e, bool reads)
{
    int64_t sum = 0;
    for (int w = 0; w < e->warps; w++)
        sum += reads ? e->warp[w].reads : e->warp[w].writes;
    return sum;
}

int64_t warps_waits(const struct exchange *e)
{
    int64_t most = 0;
    for (int w = 0; w < e->warps; w++)
        most = e->warp[w].waits > most ? e->warp[w].waits : most;
    return most;
}

double warps_clock(const struct warps_view *v, int pane, double time)
{
    const struct exchange_time *t = &v->timed[pane];
    int done = (int)floor(time), last = v->tiles * TILE_PHASES;
    double before = done > 0 ? t->phase_end[done - 1] : 0;
    return done > last ? t->phase_end[last]
                       : before + (t->phase_end[done] - before) * (time - done);
}

static int phase_of(const struct warps_view *v, int moment)
{
    return moment == v->tiles * TILE_PHASES ? PHASES - 1 : moment % TILE_PHASES;
}

static void warps_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct warps_view *v = scene->story;
    int phase = phase_of(v, moment);
    memset(w, 0, sizeof *w);
    snprintf(w->step, sizeof w->step, "%s", phases[phase].step);
    snprintf(w->equation, sizeof w->equation, "%s", phases[phase].equation);
    snprintf(w->meaning, sizeof w->meaning, "%s", phases[phase].meaning);
    if (phase < PHASES - 1)
        snprintf(w->where, sizeof w->where, "key tile %d of %d", moment / TILE_PHASES + 1,
                 v->tiles);
    snprintf(w->numbers, sizeof w->numbers, "A: until clock %.0f  B: until clock %.0f",
             warps_clock(v, 0, moment + 1), warps_clock(v, 1, moment + 1));
    for (int pane = 0; pane < PANES; pane++) {
        struct listing_place p =
            listing_of(algorithm_info(warps_listings[pane])->name, phases[phase].listed, TENSOR_P);
        w->source[pane] =
            (struct source_line){p.last > 0 ? run_style(pane).letter : 0, p.file, p.first, p.last};
    }
}

static void describe_time(const struct warps_view *v, int pane, char **text)
{
    const struct exchange_time *t = &v->timed[pane];
    double all = t->times.end * t->warps, barrier = 0, unit = 0, shared = 0, work = 0;
    for (int w = 0; w < t->warps; w++) {
        struct warp_sum sum = warp_sum(&t->times, t->task, w);
        barrier += sum.wait[UNIT_BARRIER];
        shared += sum.work[UNIT_SHARED];
        for (int u = 0; u < UNIT_BARRIER; u++) {
            unit += sum.wait[u];
            work += sum.work[u];
        }
    }
    text_append(text,
                "  %s clocks of one SM of %s, modelled; of the warps' time %.0f %% computing, ",
                grouped((int64_t)floor(t->times.end + 0.5)).text, v->device.name,
                100 * (work - shared) / all);
    text_append(text, "%.0f %% at shared memory, %.0f %% waiting for a unit, %.0f %% at barriers\n",
                100 * shared / all, 100 * unit / all, 100 * barrier / all);
}

static void warps_describe(const struct scene *scene, double time, char **text)
{
    const struct warps_view *v = scene->story;
    (void)time;
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    for (int pane = 0; pane < PANES; pane++) {
        const struct exchange *e = &v->exchange[pane];
        text_append(text, "%c %s: %s bytes of Q, K, V loaded, ", run_style(pane).letter,
                    algorithm_info(warps_listings[pane])->name, grouped(e->loaded).text);
        text_append(text, "%s bytes of partial results written and ",
                    grouped(warps_partial(e, false)).text);
        text_append(text, "%s read, ", grouped(warps_partial(e, true)).text);
        text_append(text,
                    "%" PRId64 " barriers, at %" PRId64 " of them a warp waits for another's "
                    "result\n",
                    e->barriers, warps_waits(e));
        describe_time(v, pane, text);
    }
}

static bool warps_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    (void)scene, (void)what, (void)time, (void)i;
    return false;
}

static int warps_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct warps_view *v = scene->story;
    p[0] = (struct parameter){.name = "warps"};
    snprintf(p[0].value, sizeof p[0].value, "%d", v->exchange[0].warps);
    p[1] = (struct parameter){.name = "device"};
    snprintf(p[1].value, sizeof p[1].value, "%.31s", v->device.name);
    p[2] = (struct parameter){.name = "shown", .value = "tiles"};
    return 3;
}

static bool has_rates(enum device d)
{
    struct device_record record;
    struct message why;
    double clocks[UNITS];
    return device_lookup(device_info(d)->name, &record, &why) && unit_clocks(clocks, &record, &why);
}

/* The next device that has rates. */
static const char *device_stepped(const struct warps_view *v, int direction)
{
    int device = 0;
    for (int k = 0; k < DEVICE_COUNT; k++)
        if (strcmp(device_info((enum device)k)->name, v->device.name) == 0)
            device = k;
    do
        device = (device + direction + DEVICE_COUNT) % DEVICE_COUNT;
    while (!has_rates((enum device)device));
    return device_info((enum device)device)->name;
}

static bool warps_change(const struct scene *scene, int n, int direction, double place,
                         struct scene *changed, struct message *why)
{
    static const char *const choice[] = {"1", "2", "4", "8"};
    const struct warps_view *v = scene->story;
    char warps[16];
    (void)place;
    *changed = *scene;
    if (n == 2)
        return lanes_open_example(changed, &v->scenario, why);
    snprintf(warps, sizeof warps, "%d", v->exchange[0].warps);
    struct scenario s =
        n == 0 ? scenario_with(&v->scenario, OPTION_WARPS,
                               choice_stepped(choice, 4, warps, direction))
               : scenario_with(&v->scenario, OPTION_DEVICE, device_stepped(v, direction));
    return warps_open(changed, &s, NULL, why);
}

static void warps_arguments(const struct scene *scene, char **text)
{
    const struct warps_view *v = scene->story;
    command_append(&v->scenario, NULL, text);
}

const struct scene_kind scene_warps = {.open = warps_open,
                                       .close = warps_close,
                                       .marks = warps_marks,
                                       .words = warps_words,
                                       .draw = warps_draw,
                                       .describe = warps_describe,
                                       .inspect = warps_inspect,
                                       .parameters = warps_parameters,
                                       .change = warps_change,
                                       .arguments = warps_arguments};
