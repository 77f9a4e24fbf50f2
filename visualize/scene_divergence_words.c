/* scene_divergence_words.c: what the divergence scene says, page by page; names of outputs and
   runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "visualize/scene_divergence.h"

const struct map_step_words map_steps[MAP_STEPS] = {
    {"RUNS",
     "Every run is a point; points lie as far apart as the runs' outputs do, as far as a plane "
     "can show it. Runs that store the same bits share a point."},
    {"CENTRE",
     "The weighted mean of the runs: each kernel weighs the same, then each of its GPUs."},
    {"EXACT", "The certified result, laid into the same plane. Near the centre is not near it."},
    {"GPUS", "One backend on several GPUs: a coloured triangle. No triangle: it is the same "
             "program with the same groups, and stores the same bits."},
    {"BACKENDS", "The backends of one GPU: a thin grey triangle."}};

struct words divergence_name(const struct divergence_view *v, int output)
{
    const struct divergence_core *c = v->core;
    struct words w;
    int row = output / c->cols, col = output % c->cols, head = row / c->per_head;
    int in_head = row % c->per_head;
    if (c->grouped)
        snprintf(w.text, sizeof w.text, "O[head %d, %d]",
                 ((int)c->first_head + head) * c->per_head + in_head, col);
    else if (c->heads > 1 && c->per_head == 1)
        snprintf(w.text, sizeof w.text, "O[head %d, %d]", (int)c->first_head + head, col);
    else if (c->heads > 1)
        snprintf(w.text, sizeof w.text, "O[head %d, %d, %d]", (int)c->first_head + head, in_head,
                 col);
    else
        snprintf(w.text, sizeof w.text, "O[%d,%d]", row, col);
    return w;
}

int64_t divergence_audited(const struct divergence_view *v, int output)
{
    const struct divergence_core *c = v->core;
    const struct selection *s = &c->audited.selection;
    int row = output / c->cols, head = row / c->per_head, in_head = row % c->per_head;
    int64_t unit = c->first_head + (uint32_t)head, query = in_head;
    if (c->grouped) {
        unit = unit * c->per_head + in_head;
        query = 0;
    }
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t k = 0; k < s->dims && s->row[r] == query; k++)
            if (s->unit[r] == unit + (int64_t)c->batch * c->heads_q &&
                s->dim[k] == output % c->cols)
                return r * s->dims + k;
    return -1;
}

const char *divergence_family(const struct audited_run *run)
{
    bool flashinfer = strcmp(run->kernel, "xqa") == 0 || strcmp(run->kernel, "trtllm-reducer") == 0;
    return flashinfer ? "flashinfer" : run->kernel;
}

/* The first run of run n's family. */
static int family_of(const struct audited *a, int n)
{
    int first = 0;
    while (strcmp(divergence_family(&a->run[first]), divergence_family(&a->run[n])) != 0)
        first++;
    return first;
}

struct run_style divergence_style(const struct audited *a, int run)
{
    int before = 0; /* families that begin before this one */
    for (int n = 0; n < family_of(a, run); n++)
        before += family_of(a, n) == n;
    struct run_style s = run_style(before % 4);
    s.letter = (char)('A' + run + (run >= 4)); /* E is the exact result */
    return s;
}

void divergence_mark(const struct audited *a, int run, double x, double y, double size,
                     struct drawing *d)
{
    struct run_style s = divergence_style(a, run);
    draw_mark(d, s.mark, x + size * 0.4, y - size * 0.36, size * 0.72, s.ink);
    draw_text(d, FACE_BOLD, size, ALIGN_LEFT, s.ink, x + size, y, "%c", s.letter);
}

const struct map *divergence_map(const struct divergence_view *v)
{
    const struct audited *a = &v->core->audited;
    return &a->map[v->before && a->before];
}

unsigned divergence_marks(const struct scene *scene, int moment)
{
    const struct divergence_view *v = scene->story;
    struct scene row = {.story = (void *)(uintptr_t)&v->element};
    if (v->page != DIVERGENCE_WHERE)
        return MOMENT_CHAPTER;
    return moment < v->element.story.moments ? softmax_marks(&row, moment) : 0;
}

static void sites_words(const struct divergence_view *v, int moment, struct moment_words *w)
{
    const struct audited *a = &v->core->audited;
    const struct site_rows rows = v->rows;
    int64_t i = divergence_audited(v, v->chosen);
    int row = rows.row[moment < rows.count ? moment : rows.count - 1];
    snprintf(w->step, sizeof w->step, "%s", divergence_row_name(row));
    snprintf(w->where, sizeof w->where, "%s", divergence_name(v, v->chosen).text);
    snprintf(w->equation, sizeof w->equation, "stored - exact = sum of the rows");
    snprintf(w->meaning, sizeof w->meaning, "%s",
             row == ROW_TOTAL    ? "The whole error of what is stored: the rows above, added up."
             : row == SITE_OUT   ? "The last rounding: to the nearest number that can be stored."
             : row == ROW_OTHERS ? "All sites that move this output by less."
             : row == ROW_REST
                 ? "What no site alone explains: they act on each other's results, and a listing "
                   "that is no attention is off without any rounding."
                 : "What an exact run's output changes by when this site's roundings, and no "
                   "others, are put back.");
    for (int n = 0; n < a->runs && i >= 0; n++) {
        size_t at = strlen(w->numbers);
        double moved = divergence_moved(v, &rows, n, row, i);
        if (!isnan(moved))
            snprintf(w->numbers + at, sizeof w->numbers - at, "%s%c %s", at > 0 ? "   " : "",
                     divergence_style(a, n).letter, drift_words(moved).text);
    }
}

void divergence_words(const struct scene *scene, int moment, struct moment_words *w)
{
    const struct divergence_view *v = scene->story;
    struct scene row = {.story = (void *)(uintptr_t)&v->element};
    memset(w, 0, sizeof *w);
    if (v->page == DIVERGENCE_SITES) {
        sites_words(v, moment, w);
    } else if (v->page == DIVERGENCE_MAP) {
        snprintf(w->step, sizeof w->step, "%s", map_steps[moment].step);
        snprintf(w->where, sizeof w->where, "%s values", v->before ? "unrounded" : "stored");
        snprintf(w->equation, sizeof w->equation, "d^2 = mean ((a - b) / (u A))^2");
        snprintf(w->meaning, sizeof w->meaning, "%s", map_steps[moment].meaning);
        snprintf(w->numbers, sizeof w->numbers,
                 "a, b: outputs of two runs; A = sum |weight value|; u = 2^-%d",
                 format_info(v->core->format)->precision);
    } else {
        int last = v->element.story.moments - 1;
        softmax_words(&row, moment < last ? moment : last, w);
    }
}

/* How many outputs are off by how much. */
static void counts(const struct divergence_core *c, int *correct, int *within, int *beyond)
{
    *correct = *within = *beyond = 0;
    for (int n = 0; n < c->rows * c->cols; n++) {
        double size = fabs(c->drift[n]);
        if (size <= 0.5)
            ++*correct;
        else if (size <= 1)
            ++*within;
        else
            ++*beyond;
    }
}

static void describe_where(const struct divergence_view *v, double time, char **text)
{
    const struct divergence_core *c = v->core;
    struct instant now = instant_at(&v->element.story, time);
    int correct, within, beyond;
    counts(c, &correct, &within, &beyond);
    text_append(text,
                "of %s outputs %s are off by half an ulp of %s at most, %s by one, %s by more\n",
                grouped((int64_t)c->rows * c->cols).text, grouped(correct).text,
                format_info(c->format)->name, grouped(within).text, grouped(beyond).text);
    text_append(
        text, "%s %s = %s, off by %s ulp\n",
        v->chosen == c->order[0] ? "the worst," : "chosen:", divergence_name(v, v->chosen).text,
        number_words(c->stored[v->chosen]).text, drift_words(c->drift[v->chosen]).text);
    for (int k = 0; k < SLOT_COUNT; k++) {
        struct held h = softmax_last(&v->element.story, now.done, 0, (enum slot)k);
        bool gone = h.is && !softmax_held(&v->element.story, now.done, 0, (enum slot)k).is;
        if (h.is && (!gone || k == SLOT_O_ACC))
            text_append(text, "  %s = %s (%s ulp)%s\n", slot_symbol((enum slot)k),
                        number_words(h.value).text,
                        drift_words(drift_in(c->format, h.value, h.exact)).text,
                        gone ? ", before the division" : "");
    }
}

static void describe_sites(const struct divergence_view *v, double time, char **text)
{
    const struct audited *a = &v->core->audited;
    const struct site_rows rows = v->rows;
    int64_t i = divergence_audited(v, v->chosen);
    text_append(text,
                "%s: what each rounding moved it by, in ulps of %s; in brackets the mean of "
                "its size over %s outputs\n",
                divergence_name(v, v->chosen).text, format_info(v->core->format)->name,
                grouped(a->outputs).text);
    for (int n = 0; n < a->runs; n++) {
        text_append(text, "%c %s:", divergence_style(a, n).letter, a->run[n].name);
        bool any = false;
        for (int k = 0; k < rows.count && k < time; k++) {
            double moved = i >= 0 ? divergence_moved(v, &rows, n, rows.row[k], i) : NAN;
            if (isnan(moved))
                continue;
            text_append(text, "%s %s %s (%.3g)", any ? "," : "", divergence_row_name(rows.row[k]),
                        drift_words(moved).text, v->mean[n][k]);
            any = true;
        }
        text_append(text, "%s%s%s\n",
                    any        ? ""
                    : time < 1 ? " nothing yet"
                               : " not attributed",
                    a->run[n].stops ? "; an error that was not finite counts as 0, at " : "",
                    a->run[n].stops ? site_name(a->run[n].stops_at) : "");
    }
}

static void describe_map(const struct divergence_view *v, double time, char **text)
{
    const struct audited *a = &v->core->audited;
    const struct map *m = divergence_map(v);
    if (!a->mapped) {
        text_append(text, "one run alone makes no map\n");
        return;
    }
    text_append(text,
                "%s values; distances in roundoffs 2^-%d sum |weight value|, root mean square\n",
                v->before ? "unrounded" : "stored", format_info(v->core->format)->precision);
    for (int n = 0; n < a->runs && time >= 1; n++) {
        text_append(text, "%c %s at (%.4f, %.4f): %.4f from the centre, %.4f from exact",
                    divergence_style(a, n).letter, a->run[n].name, m->x[n], m->y[n],
                    m->to_centre[n], m->to_exact[n]);
        for (int k = 0; k < n; k++)
            if (m->apart[n][k] == 0) {
                text_append(text, "; as %c%s", divergence_style(a, k).letter,
                            a->cannot_tell[n][k] ? ", as far as the models can tell" : "");
                break;
            }
        text_append(text, "\n");
    }
    if (time >= MAP_CENTRE + 1)
        text_append(text,
                    "nearest to the centre: %s; spread R = %.4g; the plane shows %.1f %% of "
                    "R^2\n",
                    a->run[m->nearest].name, m->spread, 100 * m->explained);
    if (time >= MAP_EXACT + 1)
        text_append(text, "E exact: %.4g from the centre\n", m->exact_to_centre);
    if (a->left_out > 0)
        text_append(text, "%d usual runs do not take the problem; %s\n", a->left_out, a->left_why);
}

void divergence_describe(const struct scene *scene, double time, char **text)
{
    const struct divergence_view *v = scene->story;
    text_append(text, "%s\n%s\n", scene->title, scene->subtitle);
    if (v->page == DIVERGENCE_SITES)
        describe_sites(v, time, text);
    else if (v->page == DIVERGENCE_MAP)
        describe_map(v, time, text);
    else
        describe_where(v, time, text);
}

bool divergence_inspect(const struct scene *scene, int what, int time, struct inspection *i)
{
    const struct divergence_view *v = scene->story;
    const struct divergence_core *c = v->core;
    (void)time;
    if (what < 1 || what > c->rows * c->cols)
        return false;
    memset(i, 0, sizeof *i);
    snprintf(i->name, sizeof i->name, "%.30s, off by %.20s ulp", divergence_name(v, what - 1).text,
             drift_words(c->drift[what - 1]).text);
    i->value = c->stored[what - 1];
    memcpy(i->exact, c->exact[what - 1], sizeof i->exact);
    i->has_exact = true;
    i->ulps = c->format;
    i->format = format_holding(c->format, i->value);
    return true;
}
