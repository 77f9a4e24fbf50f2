/* scene_warps.c: one tile shared among the warps of a thread block, by keys (split-K) and by rows
   (split-Q): who holds which part of the scores, what of each goes through shared memory, and where
   warps wait.

   The parts are those of the listings splitk and splitq; bytes and barriers are counted from their
   calls (exchange.h).  Time: the tile is loaded; scores and weights; partial results are exchanged;
   what is left at the end. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/exchange.h"
#include "simulator/scenario_parts.h"
#include "visualize/chart.h"
#include "visualize/listing.h"

enum { PANES = 2, PHASES = 4, SHOWN_WARPS = 8 };

static const enum algorithm listings[PANES] = {ALGORITHM_SPLITK, ALGORITHM_SPLITQ};
static const struct {
    const char *step, *equation, *meaning;
    enum step listed;
} phases[PHASES] = {
    {"LOAD", "Q, K, V -> shared memory",
     "All warps together bring the tiles into shared memory and "
     "wait until they are there.",
     STEP_LOAD},
    {"EXP", "S = Q K^T, P = e^(S - m)",
     "Each warp computes its own part of the scores and weights, "
     "in its registers: a slice of the keys (A) or of the rows (B).",
     STEP_EXP},
    {"PV", "O~ = O~ + P V",
     "A's warps each have a sum over a part of the keys, so maxima, sums and "
     "outputs meet through shared memory. B's rows are whole: nothing is exchanged.",
     STEP_PV},
    {"STORE", "O -> memory",
     "What the whole row of tiles took: bytes through shared memory, and "
     "barriers at which warps waited for one another.",
     STEP_STORE}};

struct warps_view {
    struct scenario scenario;
    struct scenario_input input;
    struct head head;
    struct choices choices;
    struct exchange exchange[PANES];
};

static void warps_close(struct scene *scene)
{
    struct warps_view *v = scene->story;
    if (v != NULL)
        scenario_input_free(&v->input);
    free(v);
    scene->story = NULL;
}

static bool count_pane(struct warps_view *v, int pane, struct message *why)
{
    struct scenario s = v->scenario;
    struct simulation simulation;
    s.value[OPTION_ALGORITHM] = (char *)(uintptr_t)algorithm_info(listings[pane])->name;
    s.given[OPTION_ALGORITHM] = true;
    if (!scenario_simulation(&s, &v->input, &simulation, why))
        return false;
    v->choices = simulation_choices(&simulation, &v->head);
    exchange_count(&simulation, &v->head, &v->exchange[pane]);
    return true;
}

static bool warps_open(struct scene *scene, const struct scenario *s, struct trace *t,
                       struct message *why)
{
    struct warps_view *v = calloc(1, sizeof *v);
    bool recorded = t != NULL;
    trace_free(t);
    scene->story = v;
    if (v == NULL)
        return refuse(why, "no memory");
    v->scenario = *s;
    bool ok =
        !recorded || refuse(why, "the warps scene counts a problem's calls; a problem is right");
    ok = ok && scenario_problem(s, &v->input, why);
    ok = ok && (problem_units(&v->input.problem) > 0 || refuse(why, "the problem has no head"));
    if (ok)
        v->head = problem_head(&v->input.problem, 0);
    for (int pane = 0; ok && pane < PANES; pane++)
        ok = count_pane(v, pane, why);
    if (!ok) {
        warps_close(scene);
        return false;
    }
    scene->moments = PHASES;
    snprintf(scene->title, sizeof scene->title, "One tile among %d warps: by keys, and by rows",
             v->exchange[0].warps);
    snprintf(scene->subtitle, sizeof scene->subtitle, "%.60s    tile %d x %d, d %lld",
             v->input.name, v->choices.Br, v->choices.Bc, (long long)v->head.D);
    return true;
}

static unsigned warps_marks(const struct scene *scene, int moment)
{
    (void)scene;
    return moment == 2 ? MOMENT_CHAPTER | MOMENT_PARTED : MOMENT_CHAPTER;
}

static int64_t partial(const struct exchange *e, bool reads)
{
    int64_t sum = 0;
    for (int w = 0; w < e->warps; w++)
        sum += reads ? e->warp[w].reads : e->warp[w].writes;
    return sum;
}

static int64_t waits(const struct exchange *e)
{
    int64_t most = 0;
    for (int w = 0; w < e->warps; w++)
        most = e->warp[w].waits > most ? e->warp[w].waits : most;
    return most;
}

static void warps_words(const struct scene *scene, int moment, struct moment_words *w)
{
    (void)scene;
    memset(w, 0, sizeof *w);
    snprintf(w->step, sizeof w->step, "%s", phases[moment].step);
    snprintf(w->equation, sizeof w->equation, "%s", phases[moment].equation);
    snprintf(w->meaning, sizeof w->meaning, "%s", phases[moment].meaning);
    for (int pane = 0; pane < PANES; pane++) {
        struct listing_place p =
            listing_of(algorithm_info(listings[pane])->name, phases[moment].listed, TENSOR_P);
        w->source[pane] =
            (struct source_line){p.last > 0 ? run_style(pane).letter : 0, p.file, p.first, p.last};
    }
}

static void warps_describe(const struct scene *scene, double time, char **text)
{
    const struct warps_view *v = scene->story;
    (void)time;
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    for (int pane = 0; pane < PANES; pane++) {
        const struct exchange *e = &v->exchange[pane];
        text_append(text, "%c %s: %s bytes of Q, K, V loaded, ", run_style(pane).letter,
                    algorithm_info(listings[pane])->name, grouped(e->loaded).text);
        text_append(text, "%s bytes of partial results written and ",
                    grouped(partial(e, false)).text);
        text_append(text, "%s read, ", grouped(partial(e, true)).text);
        text_append(text,
                    "%" PRId64 " barriers, at %" PRId64 " of them a warp waits for another's "
                    "result\n",
                    e->barriers, waits(e));
    }
}

/* Shades of one lane's ink are not told apart: warps differ by number and hatching. */
static void draw_fragment(struct drawing *d, struct box b, int pane, int warp, bool held)
{
    static const enum hatch hatches[4] = {HATCH_NONE, HATCH_RISING, HATCH_FALLING, HATCH_DOTS};
    draw_rect(d, b, held ? INK_CELL : INK_WAITING, run_style(pane).ink)->size = 2;
    if (held && warp % 4 > 0)
        draw_hatched(d, b, INK_NONE, INK_RULE, hatches[warp % 4]);
    struct box name = {b.x + b.w / 2 - 16, b.y + b.h / 2 - 10, 32, 18};
    draw_rect(d, name, INK_PAPER, INK_NONE);
    draw_text(d, FACE_BOLD, 12, ALIGN_CENTRE, run_style(pane).ink, b.x + b.w / 2, b.y + b.h / 2 + 4,
              "w%d", warp);
}

static void draw_tile(const struct warps_view *v, int pane, const struct look *look, struct box b,
                      struct drawing *d)
{
    int warps = v->exchange[pane].warps, shown = warps < SHOWN_WARPS ? warps : SHOWN_WARPS;
    bool held = look->time >= 2;
    for (int w = 0; w < shown; w++) {
        struct box part = pane == 0 ? (struct box){b.x + b.w * w / shown, b.y, b.w / shown, b.h}
                                    : (struct box){b.x, b.y + b.h * w / shown, b.w, b.h / shown};
        draw_fragment(d, part, pane, w, held);
    }
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 7,
              "keys of the tile (%d), from left", v->choices.Bc);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y + b.h + 15,
              "rows (%d), from top; w: the warp that holds the part%s", v->choices.Br,
              warps > shown ? "; more warps are not drawn" : "");
}

/* Partial results of each warp through shared memory, on one scale for both panes. */
static void draw_bars(const struct warps_view *v, int pane, const struct look *look, struct box b,
                      struct drawing *d)
{
    int64_t most = 1;
    int warps = v->exchange[pane].warps, shown = warps < SHOWN_WARPS ? warps : SHOWN_WARPS;
    for (int p = 0; p < PANES; p++)
        for (int w = 0; w < v->exchange[p].warps; w++) {
            const struct warp_exchange *e = &v->exchange[p].warp[w];
            most = e->reads > most ? e->reads : most;
            most = e->writes > most ? e->writes : most;
        }
    double share = fmin(1, fmax(0, look->time - 2)), row = b.h / shown;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, b.x, b.y - 8,
              "bytes of partial results: written (full), read (hatched)");
    for (int w = 0; w < shown; w++) {
        const struct warp_exchange *e = &v->exchange[pane].warp[w];
        double y = b.y + row * w, scale = (b.w - 130) * share / (double)most;
        double thick = fmin(9, row / 2 - 1);
        draw_text(d, FACE_BOLD, 11, ALIGN_LEFT, run_style(pane).ink, b.x, y + 11, "w%d", w);
        draw_rect(d, (struct box){b.x + 30, y, (double)e->writes * scale, thick},
                  run_style(pane).ink, INK_NONE);
        if (e->reads > 0)
            draw_hatched(d, (struct box){b.x + 30, y + thick, (double)e->reads * scale, thick},
                         INK_PANEL, run_style(pane).ink, HATCH_RISING);
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x + b.w, y + 11, "%s, %s",
                  grouped(e->writes).text, grouped(e->reads).text);
    }
}

static void draw_totals(const struct warps_view *v, int pane, double x, double y, double width,
                        struct drawing *d)
{
    const struct exchange *e = &v->exchange[pane];
    const struct {
        const char *what;
        int64_t count;
    } rows[] = {{"bytes loaded (Q, K, V)", e->loaded},
                {"bytes of partial results", partial(e, false) + partial(e, true)},
                {"barriers of the block", e->barriers},
                {"of them for another warp's result", waits(e)},
                {"bytes of shared memory", e->shared}};
    for (int n = 0; n < 5; n++) {
        draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_TEXT, x, y + 19 * n, "%s", rows[n].what);
        draw_text(d, FACE_MONO, 12, ALIGN_RIGHT, INK_TEXT, x + width, y + 19 * n, "%s",
                  grouped(rows[n].count).text);
    }
}

static void warps_draw(const struct scene *scene, const struct look *look, struct box stage,
                       struct drawing *d)
{
    static const char *const names[PANES] = {"split-K: each warp has some keys of every row",
                                             "split-Q: each warp has some rows, all keys"};
    const struct warps_view *v = scene->story;
    double wide = (stage.w - 48) / 2;
    for (int pane = 0; pane < PANES; pane++) {
        double x = stage.x + pane * (wide + 48);
        draw_run(d, pane, x, stage.y + 16, 14);
        draw_text(d, FACE_BOLD, 13, ALIGN_LEFT, INK_TEXT, x + 36, stage.y + 16, "%s", names[pane]);
        draw_tile(v, pane, look, (struct box){x, stage.y + 50, wide, 190}, d);
        draw_bars(v, pane, look, (struct box){x, stage.y + 296, wide, 160}, d);
        draw_totals(v, pane, x, stage.y + 484, wide, d);
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
    return 1;
}

static bool warps_change(const struct scene *scene, int n, int direction, double place,
                         struct scene *changed, struct message *why)
{
    static const char *const choice[] = {"1", "2", "4", "8"};
    const struct warps_view *v = scene->story;
    struct scenario s = v->scenario;
    int at = 2;
    (void)place;
    if (n != 0)
        return refuse(why, "this view has no such parameter");
    for (int k = 0; k < 4; k++)
        if (atoi(choice[k]) == v->exchange[0].warps)
            at = k;
    s.value[OPTION_WARPS] = (char *)(uintptr_t)choice[(at + direction + 4) % 4];
    s.given[OPTION_WARPS] = true;
    *changed = *scene;
    return warps_open(changed, &s, NULL, why);
}

static void warps_arguments(const struct scene *scene, char **text)
{
    const struct warps_view *v = scene->story;
    char *command = scenario_command(&v->scenario);
    text_append(text, "%s", command);
    free(command);
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
