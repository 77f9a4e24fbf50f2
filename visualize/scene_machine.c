/* scene_machine.c: SMs as lanes over time: the same attention launched with a block for each head
   and with a block for each row of tiles (or, to choose, column blocks of backward, groups of
   decode).

   Time is counted in cells of one SM; a pane is SMs down, time across, and how dark it is tells how
   much of an SM's slots hold a block. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/scene_machine.h"
#include "visualize/scene_parts.h"

enum { PER_SM_MOST = 4 };

static void seen(void *with, const struct schedule_event *e)
{
    struct machine_view *v = with;
    double slice = v->span / MACHINE_SLICES;
    double from = e->time / slice, to = (e->time + e->length) / slice;
    float *row = v->filling->held + (size_t)e->sm * MACHINE_SLICES;
    int64_t wave = e->block / v->filling->schedule.slots;
    for (int n = (int)from; n < MACHINE_SLICES && n < to; n++) {
        row[n] += (float)(fmin(to, n + 1) - fmax(from, n));
        v->filling->wave[(size_t)e->sm * MACHINE_SLICES + (size_t)n] = (unsigned char)(wave % 2);
    }
}

static bool run_pane(struct machine_view *v, struct machine_pane *p, struct message *why)
{
    int sms = (int)v->launch.device.figure[QUANTITY_SMS];
    struct machine m = {.sms = sms, .per_sm = v->per_sm, .plain = 1, .masked = 1, .block = 0};
    p->held = calloc((size_t)sms * MACHINE_SLICES, sizeof *p->held);
    p->wave = calloc((size_t)sms * MACHINE_SLICES, sizeof *p->wave);
    if (p->held == NULL || p->wave == NULL)
        return refuse(why, "no memory");
    v->filling = p;
    schedule_run(&p->grid, &m, seen, v, &p->schedule);
    return true;
}

static void machine_close(struct scene *scene)
{
    struct machine_view *v = scene->story;
    for (int n = 0; v != NULL && n < MACHINE_PANES; n++)
        free(v->pane[n].held), free(v->pane[n].wave);
    free(v);
    scene->story = NULL;
}

static bool build(struct scene *scene, struct machine_view *v, struct message *why)
{
    int sms = (int)v->launch.device.figure[QUANTITY_SMS];
    const struct attention_shape *a = &v->launch.shape;
    if (sms < 1 || sms > MACHINE_SMS)
        return refuse(why, "a GPU of 1 to %d SMs can be drawn", MACHINE_SMS);
    v->span = 0;
    for (int n = 0; n < MACHINE_PANES; n++) {
        struct machine_pane *p = &v->pane[n];
        struct machine m = {.sms = sms, .per_sm = v->per_sm, .plain = 1, .masked = 1};
        p->grid = grid_of(p->kernel, a, v->launch.tile, 8,
                          (a->len_k + 8 * v->launch.tile.Bc - 1) / (8 * v->launch.tile.Bc));
        if ((double)p->grid.heads * (double)p->grid.row_tiles * (double)p->grid.key_tiles > 2e7)
            return refuse(why, "%s x %s tiles of %s heads are too many; fewer tokens are right",
                          grouped(p->grid.row_tiles).text, grouped(p->grid.key_tiles).text,
                          grouped(p->grid.heads).text);
        schedule_run(&p->grid, &m, NULL, NULL, &p->schedule);
        v->span = fmax(v->span, p->schedule.span);
    }
    if (!(v->span > 0))
        return refuse(why, "the mask leaves no tile");
    for (int n = 0; n < MACHINE_PANES; n++)
        if (!run_pane(v, &v->pane[n], why))
            return false;
    scene->moments = MACHINE_STEPS;
    snprintf(scene->title, sizeof scene->title, "One attention, two launches, on %.30s",
             v->launch.device.name);
    snprintf(scene->subtitle, sizeof scene->subtitle,
             "batch %lld, %lld heads, %s tokens, d %lld, tile %d x %d, %d block%s an SM%s",
             (long long)a->batch, (long long)a->heads_q, grouped(a->len_k).text, (long long)a->dim,
             v->launch.tile.Br, v->launch.tile.Bc, v->per_sm, v->per_sm == 1 ? "" : "s",
             a->causal ? ", causal" : "");
    return true;
}

static enum plan_kernel usual_launch(const struct machine_view *v)
{
    return v->scenario.given[OPTION_DO] ? PLAN_KERNEL_BACKWARD : PLAN_KERNEL_FA2;
}

/* Launch B, and how many blocks an SM holds. */
static void read_live(struct machine_view *v)
{
    char value[32];
    struct message unlike; /* said by live_shown */
    v->per_sm = 1;
    v->pane[0].kernel = PLAN_KERNEL_FA1;
    v->pane[1].kernel = usual_launch(v);
    if (live_value(&v->scenario, "launch B", value, sizeof value))
        plan_kernel_from_name(value, &v->pane[1].kernel, &unlike);
    if (live_value(&v->scenario, "blocks an SM", value, sizeof value))
        v->per_sm = (int)fmin(PER_SM_MOST, fmax(1, atoi(value)));
}

static bool machine_open(struct scene *scene, const struct scenario *s, struct trace *t,
                         struct message *why)
{
    struct machine_view *v = story_begin(
        scene, sizeof *v, t, "the machine scene needs a shape, not a recorded run", why);
    if (v == NULL)
        return false;
    v->scenario = *s;
    read_live(v);
    if (launch_read(s, &v->launch, why) && build(scene, v, why))
        return true;
    machine_close(scene);
    return false;
}

static unsigned machine_marks(const struct scene *scene, int moment)
{
    const struct machine_view *v = scene->story;
    for (int n = 0; n < MACHINE_PANES; n++)
        if ((int)ceil(v->pane[n].schedule.span / v->span * MACHINE_STEPS) == moment + 1)
            return MOMENT_CHAPTER;
    return 0;
}

double machine_busy(const struct machine_pane *p, int sms, int slice)
{
    double busy = 0;
    for (int sm = 0; sm < sms; sm++)
        busy += p->held[(size_t)sm * MACHINE_SLICES + slice] > 0;
    return busy / sms;
}

void machine_pane_words(const struct machine_view *v, const struct machine_pane *p, char *text,
                        size_t room)
{
    int sms = (int)v->launch.device.figure[QUANTITY_SMS];
    snprintf(text, room,
             "%s: %s blocks, %s each; %.4g waves of %s; %d of %d SMs get one; they work %.1f %% of "
             "%.0f cells",
             plan_kernel_name(p->kernel), grouped(p->grid.blocks).text, plan_kernel_owns(p->kernel),
             p->schedule.waves, grouped(p->schedule.slots).text, p->schedule.busy_sms, sms,
             100 * p->schedule.busy, p->schedule.span);
}

static void machine_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct machine_view *v = scene->story;
    int sms = (int)v->launch.device.figure[QUANTITY_SMS];
    int slice = moment * (MACHINE_SLICES / MACHINE_STEPS) + MACHINE_SLICES / MACHINE_STEPS / 2;
    memset(w, 0, sizeof *w);
    snprintf(w->step, sizeof w->step, "TIME");
    snprintf(w->where, sizeof w->where, "%.0f of %.0f cells",
             v->span * (moment + 1) / MACHINE_STEPS, v->span);
    snprintf(w->equation, sizeof w->equation, "waves = blocks / slots");
    snprintf(
        w->meaning, sizeof w->meaning,
        "A block waits for a free slot of an SM, then walks its own cells. Too few blocks leave "
        "SMs idle; a last wave that is not full leaves them idle at the end.");
    for (int n = 0; n < MACHINE_PANES; n++)
        snprintf(w->numbers + strlen(w->numbers), sizeof w->numbers - strlen(w->numbers),
                 "%s%c: %.0f %% of the SMs work", n > 0 ? "\n" : "", run_style(n).letter,
                 100 * machine_busy(&v->pane[n], sms, slice));
}

static void machine_describe(const struct scene *scene, double time, char **text)
{
    const struct machine_view *v = scene->story;
    int sms = (int)v->launch.device.figure[QUANTITY_SMS];
    int slice =
        (int)fmin(MACHINE_SLICES - 1, fmax(0, floor(time * (MACHINE_SLICES / MACHINE_STEPS)) - 1));
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    for (int n = 0; n < MACHINE_PANES; n++) {
        char words[240];
        machine_pane_words(v, &v->pane[n], words, sizeof words);
        text_append(text, "%c %s\n  %.0f %% of the SMs work at %.0f\n", run_style(n).letter, words,
                    100 * machine_busy(&v->pane[n], sms, slice), v->span * time / MACHINE_STEPS);
    }
}

/* What an SM has done, all its slots together. */
static bool machine_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct machine_view *v = scene->story;
    int sms = (int)v->launch.device.figure[QUANTITY_SMS], n = (what - 1) / MACHINE_SMS;
    int sm = (what - 1) % MACHINE_SMS, slices = time * (MACHINE_SLICES / MACHINE_STEPS);
    memset(i, 0, sizeof *i);
    if (what < 1 || n >= MACHINE_PANES || sm >= sms)
        return false;
    double busy = 0, all = 0;
    for (int k = 0; k < MACHINE_SLICES; k++) {
        double here = fmin(1, (double)v->pane[n].held[(size_t)sm * MACHINE_SLICES + (size_t)k]);
        all += here;
        busy += k < slices ? here : 0;
    }
    i->in_words = true;
    snprintf(i->name, sizeof i->name, "%c, SM %d", run_style(n).letter, sm);
    snprintf(i->words[0], sizeof i->words[0], "works %.0f %% of the time so far, %.0f %% in all",
             slices > 0 ? 100 * busy / slices : 0,
             100 * all / (v->pane[n].schedule.span / v->span * MACHINE_SLICES));
    snprintf(i->words[1], sizeof i->words[1], "%d block%s at a time; now %s", v->per_sm,
             v->per_sm == 1 ? "" : "s",
             slices > 0 && v->pane[n].held[(size_t)sm * MACHINE_SLICES + (size_t)slices - 1] > 0
                 ? "works"
                 : "idle");
    return true;
}

static const char *const gpus[] = {"A100", "H100-SXM", "H200", "B200", "RTX-PRO-6000", "T4"};
static const int batches[] = {1, 2, 3, 4, 5, 8};
enum { LIVE_KERNEL, LIVE_DEVICE, LIVE_BATCH, LIVE_CAUSAL, LIVE_PER_SM, LIVE_COUNT };

static int machine_parameters(const struct scene *scene, struct parameter p[PARAMETER_MOST])
{
    const struct machine_view *v = scene->story;
    static const char *const names[LIVE_COUNT] = {"launch B", "device", "batch", "causal",
                                                  "blocks an SM"};
    for (int n = 0; n < LIVE_COUNT; n++)
        p[n] = (struct parameter){.name = names[n]};
    snprintf(p[0].value, sizeof p[0].value, "%s", plan_kernel_name(v->pane[1].kernel));
    snprintf(p[1].value, sizeof p[1].value, "%.30s", v->launch.device.name);
    snprintf(p[2].value, sizeof p[2].value, "%lld", (long long)v->launch.shape.batch);
    snprintf(p[3].value, sizeof p[3].value, "%s", v->launch.shape.causal ? "yes" : "no");
    snprintf(p[4].value, sizeof p[4].value, "%d", v->per_sm);
    return LIVE_COUNT;
}

static bool turn(struct machine_view *v, int n, int direction, struct message *why)
{
    switch (n) {
    case LIVE_KERNEL:
        v->pane[1].kernel = (enum plan_kernel)(
            ((int)v->pane[1].kernel + direction + PLAN_KERNEL_COUNT) % PLAN_KERNEL_COUNT);
        return true;
    case LIVE_DEVICE:
        v->launch.said = choice_stepped(gpus, 6, v->launch.device.name, direction);
        return device_lookup(v->launch.said, &v->launch.device, why);
    case LIVE_BATCH:
        v->launch.shape.batch = number_stepped(batches, 6, v->launch.shape.batch, direction);
        return true;
    case LIVE_CAUSAL:
        v->launch.shape.causal = !v->launch.shape.causal;
        return true;
    default:
        v->per_sm = (v->per_sm - 1 + direction + PER_SM_MOST) % PER_SM_MOST + 1;
        return true;
    }
}

static bool machine_change(const struct scene *scene, int n, int direction, double place,
                           struct scene *changed, struct message *why)
{
    const struct machine_view *old = scene->story;
    struct machine_view *v = calloc(1, sizeof *v);
    (void)place;
    if (v == NULL)
        return refuse(why, "no memory");
    *v = *old;
    for (int k = 0; k < MACHINE_PANES; k++)
        v->pane[k].held = NULL, v->pane[k].wave = NULL;
    *changed = *scene;
    changed->story = v;
    if (turn(v, n, direction, why) && build(changed, v, why))
        return true;
    machine_close(changed);
    return false;
}

static void machine_arguments(const struct scene *scene, char **text)
{
    const struct machine_view *v = scene->story;
    struct parameter p[PARAMETER_MOST];
    char *live = NULL;
    machine_parameters(scene, p);
    if (v->pane[1].kernel != usual_launch(v))
        live_append(&live, p[LIVE_KERNEL].name, p[LIVE_KERNEL].value);
    if (v->per_sm != 1)
        live_append(&live, p[LIVE_PER_SM].name, p[LIVE_PER_SM].value);
    launch_command(&v->scenario, &v->launch, live, text);
    free(live);
}

const struct scene_kind scene_machine = {.open = machine_open,
                                         .close = machine_close,
                                         .marks = machine_marks,
                                         .words = machine_words,
                                         .draw = machine_draw,
                                         .describe = machine_describe,
                                         .inspect = machine_inspect,
                                         .parameters = machine_parameters,
                                         .change = machine_change,
                                         .arguments = machine_arguments};
