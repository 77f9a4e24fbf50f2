/* scene_lanes.c: what the lanes of an emulated kernel did to memory, request by request: lanes and
   banks, waits at barriers by source line, a race at its two source lines.  The warps scene, shown
   a trace; the story is lanes.h's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/lanes.h"
#include "visualize/scene_parts.h"
#include "visualize/view.h"

enum { PARAMETER_BLOCK, PARAMETER_SHOWN };

static void lanes_close(struct scene *scene)
{
    struct lanes_view *v = scene->story;
    if (v != NULL)
        lanes_free(v);
    free(v);
    scene->story = NULL;
}

/* block: -1: what --live says, or the first. */
static bool open_view(struct scene *scene, const struct scenario *s, const struct scenario *from,
                      int64_t block, struct trace *t, struct message *why)
{
    const char *device = s->value[OPTION_DEVICE];
    char asked[32] = "0";
    scene->kind = &scene_lanes;
    struct lanes_view *v = story_begin(scene, sizeof *v, t, NULL, why);
    if (v == NULL)
        return false;
    v->trace = t;
    v->scenario = scenario_with(s, OPTION_LIVE, NULL);
    snprintf(v->path, sizeof v->path, "%s", s->problem);
    v->scenario.problem = v->path;
    v->block = block;
    if (from != NULL)
        v->tiles = *from;
    if (block < 0)
        live_value(s, "block", asked, sizeof asked);
    if (!device_lookup(device != NULL ? device : "A100", &v->device, why) ||
        (block < 0 && !parse_integer("--live block", asked, 0, UINT32_MAX, &v->block, why)) ||
        !lanes_tell(v, why)) {
        lanes_close(scene);
        return false;
    }
    const char *kernel = trace_meta(t, "kernel"), *problem = trace_meta(t, "problem");
    scene->moments = v->steps;
    snprintf(scene->title, sizeof scene->title, "Lanes and banks: %.60s, emulated",
             kernel != NULL ? kernel : "a kernel");
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.80s    block %lld of %lld, %d warps",
             problem != NULL ? problem : "", (long long)v->block, (long long)v->blocks, v->warps);
    return true;
}

static bool lanes_open(struct scene *scene, const struct scenario *s, struct trace *t,
                       struct message *why)
{
    return open_view(scene, s, NULL, -1, t, why);
}

bool lanes_open_example(struct scene *changed, const struct scenario *from, struct message *why)
{
    static char name[] = "lanes.trace";
    struct scenario s = {.verb = from->verb, .problem = name};
    struct trace *t = view_trace(name, why);
    return t != NULL && open_view(changed, &s, from, 0, t, why);
}

static unsigned lanes_marks(const struct scene *scene, int moment)
{
    const struct lanes_view *v = scene->story;
    const struct lanes_step *s = &v->step[moment];
    if (s->barrier)
        return MOMENT_CHAPTER;
    const struct lane_request *r = &v->requests.request[s->index];
    bool conflict = r->first.space != LANE_GLOBAL && r->passes > r->least;
    return (s->finding >= 0 ? MOMENT_FOUND : 0) | (conflict ? MOMENT_CONFLICT : 0);
}

static void set_source(const struct lanes_view *v, bool of_sync, uint32_t file, uint32_t line,
                       struct source_line *to)
{
    const char *listing = line != 0 ? lanes_listing(v, of_sync, file) : NULL;
    if (listing != NULL)
        *to = (struct source_line){'*', listing, (int)line, (int)line};
}

static void barrier_words(const struct lanes_view *v, const struct lanes_step *s,
                          struct moment_words *w)
{
    const struct lanes_barrier *b = &v->barrier[s->index];
    size_t used = 0;
    snprintf(w->step, sizeof w->step, "BARRIER");
    if (b->first.barrier == 0)
        snprintf(w->equation, sizeof w->equation, "__syncthreads()");
    else
        snprintf(w->equation, sizeof w->equation, "named barrier %u", b->first.barrier);
    snprintf(w->where, sizeof w->where, "%d warps", __builtin_popcount(b->warps));
    snprintf(w->meaning, sizeof w->meaning,
             "Each warp waits until all of them are here: %.0f clocks of waiting in all.",
             s->waited);
    for (int n = 0; n < TIMED_WARPS && used + 24 < sizeof w->numbers; n++)
        if (b->warps >> n & 1)
            used += (size_t)snprintf(w->numbers + used, sizeof w->numbers - used, "w%d: %.0f  ", n,
                                     b->waited[n]);
    set_source(v, true, b->first.file, b->first.line, &w->source[0]);
}

static void request_words(const struct lanes_view *v, const struct lanes_step *s,
                          struct moment_words *w)
{
    static const char *const steps[LANE_VERBS] = {"READ", "WRITE", "ATOMIC"};
    const struct lane_request *r = &v->requests.request[s->index];
    bool global = r->first.space == LANE_GLOBAL;
    size_t used = 0;
    int shown = 0;
    snprintf(w->step, sizeof w->step, "%s", steps[r->first.verb]);
    snprintf(w->where, sizeof w->where, "warp %u, %s memory", r->first.thread / REQUEST_LANES,
             global ? "device" : "shared");
    snprintf(w->equation, sizeof w->equation,
             global ? "%d sectors, at best %d" : "%d passes, at best %d", r->passes, r->least);
    snprintf(w->meaning, sizeof w->meaning, "%s",
             global
                 ? "Device memory is reached in sectors of 32 bytes; lanes in one sector share it."
             : r->passes > r->least
                 ? "A bank conflict: a bank serves one word in a pass, and words of several lanes "
                   "lie in one bank."
                 : "No two lanes want different words of one bank: as few passes as can be.");
    for (int lane = 0; lane < REQUEST_LANES && shown < 5; lane++)
        if (r->lanes >> lane & 1) {
            uint64_t offset = trace_lane(&v->lanes, r->access[lane]).offset;
            used += (size_t)snprintf(w->numbers + used, sizeof w->numbers - used,
                                     "lane %d +0x%llx  ", lane, (unsigned long long)offset);
            shown++;
        }
    set_source(v, false, r->first.file, r->first.line, &w->source[0]);
    if (s->finding >= 0) {
        struct sync_finding f = trace_finding(&v->sync, (size_t)s->finding);
        lanes_finding_words(v, s->finding, w->meaning, sizeof w->meaning);
        set_source(v, true, f.other_file, f.other_line, &w->source[1]);
    }
}

static void lanes_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct lanes_view *v = scene->story;
    const struct lanes_step *s = &v->step[moment];
    memset(w, 0, sizeof *w);
    if (s->barrier)
        barrier_words(v, s, w);
    else
        request_words(v, s, w);
}

static void describe_line(const struct lanes_view *v, const struct lanes_line *l, char **text)
{
    text_append(text, "  %s  ", lanes_place(v, l->barrier, l->file, l->line).text);
    if (l->barrier)
        text_append(text, "a barrier: %s warps stood there, ", grouped(l->times).text);
    else
        text_append(text, "%s requests, ", grouped(l->times).text);
    if (l->passes > 0)
        text_append(text, "%s passes (%s at best), ", grouped(l->passes).text,
                    grouped(l->least).text);
    if (l->sectors > 0)
        text_append(text, "%s sectors (%s at best), ", grouped(l->sectors).text,
                    grouped(l->fewest).text);
    text_append(text, "%.0f clocks waited\n", l->waited);
}

static void lanes_describe(const struct scene *scene, double time, char **text)
{
    const struct lanes_view *v = scene->story;
    int n = (int)ceil(time) - 1;
    text_append(text, "%s\n%s\n%s clocks of one SM of %s, modelled\n", scene->title,
                scene->subtitle, grouped((int64_t)floor(v->times.end + 0.5)).text, v->device.name);
    for (int k = 0; k < v->lines; k++)
        describe_line(v, &v->line[k], text);
    text_append(text, v->sync.findings > 0 ? "found:\n" : "nothing was found wrong\n");
    for (size_t f = 0; f < v->sync.findings; f++) {
        char words[400];
        int step = v->found_at[f];
        lanes_finding_words(v, (int)f, words, sizeof words);
        text_append(text, "  %s", words);
        if (step >= 0)
            text_append(text, " (step %d)", step + 1);
        text_append(text, "\n");
    }
    if (n < 0)
        return;
    struct moment_words w;
    lanes_words(scene, n, &w);
    text_append(text, "step %d of %d: %s %s, %s\n", n + 1, v->steps, w.step, w.where, w.equation);
}

/* A lane of the request under way. */
static bool lanes_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct lanes_view *v = scene->story;
    struct lane_turn turn[REQUEST_LANES];
    int lane = what - LANES_CELL, n = time > 0 ? time - 1 : 0;
    if (lane < 0 || lane >= REQUEST_LANES || n >= v->steps || v->step[n].barrier)
        return false;
    const struct lane_request *r = &v->requests.request[v->step[n].index];
    if ((r->lanes >> lane & 1) == 0)
        return false;
    struct lane_access a = trace_lane(&v->lanes, r->access[lane]);
    *i = (struct inspection){.in_words = true};
    snprintf(i->name, sizeof i->name, "lane %d of warp %u (thread %u)", lane,
             a.thread / REQUEST_LANES, a.thread);
    snprintf(i->words[0], sizeof i->words[0], "%s +0x%llx = %llu, %u bytes",
             a.space == LANE_GLOBAL ? "device memory" : "shared", (unsigned long long)a.offset,
             (unsigned long long)a.offset, a.bytes);
    if (a.space == LANE_GLOBAL) {
        snprintf(i->words[1], sizeof i->words[1], "sector %llu",
                 (unsigned long long)(a.offset / SECTOR_BYTES));
    } else {
        int passes = request_passes(&v->lanes, r, turn);
        snprintf(i->words[1], sizeof i->words[1], "bank %d, pass %d of %d%s",
                 (int)(a.offset / 4 % BANKS), turn[lane].pass + 1, passes,
                 turn[lane].conflict ? ", a conflict" : "");
    }
    snprintf(i->words[2], sizeof i->words[2], "%s", lanes_place(v, false, a.file, a.line).text);
    return true;
}

static int lanes_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct lanes_view *v = scene->story;
    p[PARAMETER_BLOCK] = (struct parameter){.name = "block"};
    snprintf(p[PARAMETER_BLOCK].value, sizeof p->value, "%lld", (long long)v->block);
    p[PARAMETER_SHOWN] = (struct parameter){.name = "shown", .value = "lanes"};
    return v->tiles.verb != NULL ? 2 : 1;
}

static bool lanes_change(const struct scene *scene, int n, int direction, double place,
                         struct scene *changed, struct message *why)
{
    const struct lanes_view *v = scene->story;
    (void)place;
    *changed = *scene;
    if (n == PARAMETER_SHOWN) {
        changed->kind = &scene_warps;
        return scene_warps.open(changed, &v->tiles, NULL, why);
    }
    struct trace *t = view_trace(v->path, why);
    return t != NULL && open_view(changed, &v->scenario, v->tiles.verb != NULL ? &v->tiles : NULL,
                                  (v->block + direction + v->blocks) % v->blocks, t, why);
}

static void lanes_arguments(const struct scene *scene, char **text)
{
    const struct lanes_view *v = scene->story;
    char block[32], *live = NULL;
    snprintf(block, sizeof block, "%lld", (long long)v->block);
    if (v->block > 0)
        live_append(&live, "block", block);
    command_append(&v->scenario, live, text);
    free(live);
}

const struct scene_kind scene_lanes = {.open = lanes_open,
                                       .close = lanes_close,
                                       .marks = lanes_marks,
                                       .words = lanes_words,
                                       .draw = lanes_draw,
                                       .describe = lanes_describe,
                                       .inspect = lanes_inspect,
                                       .parameters = lanes_parameters,
                                       .change = lanes_change,
                                       .arguments = lanes_arguments};
