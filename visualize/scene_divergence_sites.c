/* scene_divergence_sites.c: page SITES: what each rounding moved the chosen output by, a column for
   each run: bars that go on where the one above left off, from the exact value to what is stored;
   below, the same over all outputs, as means of sizes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference/truth.h"
#include "simulator/scenario_parts.h"
#include "visualize/scene_divergence.h"

/* ulp, and of the heaviest site: what is less is among the others. */
static const double LEAST = 0.0005, SHARE = 0.002;
enum {
    SITES_NAMED = 5,
    LABELS = 128,
    LABELS_LARGE = 96,
    ROW_HIGH = 25,
    ROW_LARGE = 17,
    MEAN_HIGH = 19
};

static double mean_of(const double *x, int64_t count)
{
    double sum = 0;
    int64_t known = 0;
    for (int64_t i = 0; x != NULL && i < count; i++)
        if (isfinite(x[i])) {
            sum += fabs(x[i]);
            known++;
        }
    return known > 0 ? sum / (double)known : 0;
}

/* How much a site matters: its largest mean, or what it did to the chosen output. */
static double weight_of(const struct divergence_view *v, int site)
{
    const struct audited *a = &v->core->audited;
    int64_t i = divergence_audited(v, v->chosen);
    double most = 0;
    for (int n = 0; n < a->runs; n++) {
        const double *moved = a->run[n].moved[site];
        most = fmax(most, mean_of(moved, a->outputs));
        if (moved != NULL && i >= 0 && isfinite(moved[i]))
            most = fmax(most, fabs(moved[i]));
    }
    return most;
}

static struct site_rows choose_rows(const struct divergence_view *v)
{
    struct site_rows rows = {.count = 0};
    double weight[SITE_OUT];
    double least = LEAST;
    for (int site = 0; site < SITE_OUT; site++) {
        weight[site] = weight_of(v, site);
        least = fmax(least, weight[site] * SHARE);
    }
    for (int site = 0; site < SITE_OUT; site++) {
        int heavier = 0;
        for (int other = 0; other < SITE_OUT; other++)
            heavier +=
                weight[other] > weight[site] || (weight[other] == weight[site] && other < site);
        if (heavier < SITES_NAMED && weight[site] >= least)
            rows.row[rows.count++] = site;
    }
    static const int last[] = {ROW_OTHERS, ROW_REST, SITE_OUT, ROW_TOTAL};
    for (int n = 0; n < 4; n++)
        rows.row[rows.count++] = last[n];
    return rows;
}

const char *divergence_row_name(int row)
{
    return row == ROW_OTHERS  ? "other sites"
           : row == ROW_REST  ? "interaction"
           : row == ROW_TOTAL ? "total"
                              : site_name((enum site)row);
}

static bool is_row(const struct site_rows *rows, int site)
{
    for (int n = 0; n < rows->count; n++)
        if (rows->row[n] == site)
            return true;
    return false;
}

double divergence_moved(const struct divergence_view *v, const struct site_rows *rows, int run,
                        int row, int64_t i)
{
    const struct audited_run *r = &v->core->audited.run[run];
    double sum = r->moved[SITE_OUT][i];
    if (row == SITE_OUT || isnan(sum))
        return sum;
    if (row == ROW_REST)
        return r->interaction[i] + r->listing[i];
    if (row >= 0)
        return r->moved[row] != NULL ? r->moved[row][i] : 0;
    sum = row == ROW_TOTAL ? sum + r->interaction[i] + r->listing[i] : 0;
    for (int site = 0; site < SITE_OUT; site++)
        if (r->moved[site] != NULL && (row == ROW_TOTAL || !is_row(rows, site)))
            sum += r->moved[site][i];
    return sum;
}

static double mean_row(const struct divergence_view *v, const struct site_rows *rows, int run,
                       int row)
{
    double sum = 0;
    int64_t known = 0;
    for (int64_t i = 0; i < v->core->audited.outputs; i++) {
        double moved = divergence_moved(v, rows, run, row, i);
        if (isfinite(moved)) {
            sum += fabs(moved);
            known++;
        }
    }
    return known > 0 ? sum / (double)known : NAN;
}

void divergence_tell_sites(struct divergence_view *v)
{
    v->rows = choose_rows(v);
    for (int n = 0; n < v->core->audited.runs; n++)
        for (int k = 0; k < v->rows.count; k++)
            v->mean[n][k] = mean_row(v, &v->rows, n, v->rows.row[k]);
}

/* Where the columns stand, and how far their bars reach. */
struct columns {
    double x, wide, reach, mean_reach;
    double row; /* height */
    bool large;
    double boundary; /* the rounding boundary nearest the exact value, in ulps from it */
};

static void widen(const struct divergence_view *v, const struct site_rows *rows, int64_t i,
                  struct columns *c)
{
    for (int n = 0; n < v->core->audited.runs; n++) {
        double at = 0;
        for (int k = 0; k < rows->count; k++) {
            double moved = i >= 0 ? divergence_moved(v, rows, n, rows->row[k], i) : NAN;
            double mean = v->mean[n][k];
            at = rows->row[k] == ROW_TOTAL ? moved : at + moved;
            if (isfinite(at))
                c->reach = fmax(c->reach, fabs(at));
            if (isfinite(mean))
                c->mean_reach = fmax(c->mean_reach, mean);
        }
    }
    c->reach = c->reach > 0 ? c->reach : 1;
    c->mean_reach = c->mean_reach > 0 ? c->mean_reach : 1;
}

static struct columns columns_of(const struct divergence_view *v, const struct site_rows *rows,
                                 int64_t i, bool large, struct box stage)
{
    const struct audited *a = &v->core->audited;
    double labels = large ? LABELS_LARGE : LABELS;
    struct columns c = {.x = stage.x + labels,
                        .row = large ? ROW_LARGE : ROW_HIGH,
                        .large = large,
                        .boundary = NAN};
    c.wide = fmin(130, (stage.w - labels) / a->runs);
    widen(v, rows, i, &c);
    enum format f = a->run[a->own].format;
    if (i >= 0 && isfinite(a->exact[i][0]) && f != FORMAT_EXACT) {
        struct truth t = {{a->exact[i][0], a->exact[i][1]}};
        double correct = format_round(f, a->exact[i][0], false);
        c.boundary = -truth_boundary(&t, f, correct, correct).distance;
    }
    return c;
}

/* x of a value in column n, 0 in its middle. */
static double column_x(const struct columns *c, int n, double value)
{
    return c->x + c->wide * (n + 0.5) + value / c->reach * (c->wide / 2 - 6);
}

static void draw_heads(const struct divergence_view *v, const struct columns *c, double y,
                       struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    for (int n = 0; n < a->runs; n++) {
        double x = c->x + c->wide * n;
        char name[64];
        divergence_mark(a, n, x + c->wide / 2 - 12, y, 12, d);
        if (c->large)
            continue;
        snprintf(name, sizeof name, "%.31s", a->run[n].kernel);
        draw_fitted(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_TEXT, x + c->wide / 2, y + 15,
                    c->wide - 8, name);
        snprintf(name, sizeof name, "%.31s",
                 a->run[n].device[0] != 0              ? a->run[n].device
                 : strchr(a->run[n].name, ':') != NULL ? strchr(a->run[n].name, ':') + 1
                                                       : "");
        draw_fitted(d, FACE_SANS, 10.5, ALIGN_CENTRE, INK_QUIET, x + c->wide / 2, y + 28,
                    c->wide - 8, name);
    }
}

/* A row's bar of one run: from where the rows above left off; the total from the exact value. */
static void draw_bar(const struct columns *c, int n, int row, double from, double moved,
                     struct run_style style, double y, struct drawing *d)
{
    double left = column_x(c, n, fmin(from, from + moved));
    double right = column_x(c, n, fmax(from, from + moved));
    draw_rect(d, (struct box){left, y, fmax(1, right - left), 8},
              row == ROW_TOTAL ? INK_TEXT : style.ink, INK_NONE);
    struct words w = drift_words(moved);
    double middle = c->x + c->wide * (n + 0.5), half = font_width(FACE_MONO, 10, w.text) / 2 + 2;
    if (c->large && row != ROW_TOTAL)
        return;
    draw_rect(d, (struct box){middle - half, y + 9, 2 * half, 12}, INK_PAPER, INK_NONE);
    draw_fitted(d, FACE_MONO, 10, ALIGN_CENTRE, INK_TEXT, middle, y + 18, c->wide - 6, w.text);
}

static void draw_run_bars(const struct divergence_view *v, const struct site_rows *rows,
                          const struct columns *c, int n, int64_t i, double time, double y,
                          struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    double at = 0, middle = c->x + c->wide * (n + 0.5), high = c->row * rows->count;
    draw_line(d, middle, y - 3, middle, y + high - 8, INK_RULE, 1);
    if (fabs(c->boundary) <= c->reach)
        draw_line(d, column_x(c, n, c->boundary), y - 3, column_x(c, n, c->boundary), y + high - 8,
                  INK_ALARM, 1);
    for (int k = 0; k < rows->count && k < time; k++) {
        double moved = i >= 0 ? divergence_moved(v, rows, n, rows->row[k], i) : NAN;
        if (isnan(moved)) {
            draw_text(d, FACE_SANS, 10, ALIGN_CENTRE, INK_QUIET, middle, y + 18,
                      i >= 0 ? "not known" : "not selected");
            return;
        }
        double share = fmin(1, time - k);
        bool total = rows->row[k] == ROW_TOTAL;
        draw_bar(c, n, rows->row[k], total ? 0 : at, moved * share, divergence_style(a, n),
                 y + c->row * k, d);
        at += moved;
    }
}

static void draw_names(const struct site_rows *rows, const struct divergence_view *v, double x,
                       double y, double step, bool means, struct drawing *d)
{
    const struct divergence_core *c = v->core;
    for (int k = 0; k < rows->count; k++) {
        int row = rows->row[k];
        bool bold = row == ROW_TOTAL;
        draw_text(d, bold ? FACE_BOLD : FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, x, y + step * k,
                  "%s%s", divergence_row_name(row), bold && means ? ", the error" : "");
        if (row == SITE_OUT && step != ROW_LARGE)
            draw_text(d, FACE_SANS, 10, ALIGN_RIGHT, INK_QUIET, x + LABELS - 10, y + step * k, "%s",
                      format_info(c->format)->name);
    }
}

/* Ends of a column's scale, under the first one, and the unit. */
static void draw_scale(const struct divergence_view *v, const struct columns *c, double y,
                       struct drawing *d)
{
    double left = column_x(c, 0, -c->reach), right = column_x(c, 0, c->reach);
    char words[200];
    draw_line(d, left, y, right, y, INK_QUIET, 1);
    for (int k = -1; k <= 1; k++) {
        double x = column_x(c, 0, k * c->reach);
        draw_line(d, x, y - 3, x, y + 3, INK_QUIET, 1);
    }
    snprintf(words, sizeof words,
             c->large
                 ? "-%.3g to +%.3g ulp of %s, exact in the middle%s"
                 : "each column from -%.3g to +%.3g ulp of %s, the exact value in its middle%s",
             c->reach, c->reach, format_info(v->core->format)->name,
             !(fabs(c->boundary) <= c->reach) ? ""
             : c->large                       ? "; red: a rounding boundary"
                        : "; red line: where the last rounding changes to the next number");
    draw_fitted(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, right + 12, y + 4,
                v->core->audited.runs * c->wide + c->x - right - 14, words);
}

static void draw_means(const struct divergence_view *v, const struct site_rows *rows,
                       const struct columns *c, double x, double y, struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    draw_text(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, x, y,
              "over all %s outputs: mean size of what each rounding moved (ulp of %s)",
              grouped(a->outputs).text, format_info(v->core->format)->name);
    draw_names(rows, v, x, y + 22, MEAN_HIGH, true, d);
    for (int n = 0; n < a->runs; n++)
        for (int k = 0; k < rows->count; k++) {
            double mean = v->mean[n][k];
            double left = c->x + c->wide * n + 3, top = y + 22 + MEAN_HIGH * k;
            if (isnan(mean) || mean == 0)
                continue;
            draw_rect(d, (struct box){left, top - 9, (c->wide - 48) * mean / c->mean_reach, 10},
                      rows->row[k] == ROW_TOTAL ? INK_TEXT : divergence_style(a, n).ink, INK_NONE);
            draw_text(d, FACE_MONO, 9.5, ALIGN_RIGHT, INK_TEXT, left + c->wide - 6, top, "%.*f",
                      mean < 100 ? mean < 10 ? 3 : 1 : 0, mean);
        }
}

/* Families by marker, since there is no room for every run's name. */
static void draw_families(const struct divergence_view *v, double x, double y, struct drawing *d)
{
    const struct audited *a = &v->core->audited;
    for (int n = 0; n < a->runs; n++) {
        int first = 0;
        const char *name = divergence_family(&a->run[n]);
        while (strcmp(divergence_family(&a->run[first]), name) != 0)
            first++;
        if (first < n)
            continue;
        draw_mark(d, divergence_style(a, n).mark, x + 5, y - 4, 9, divergence_style(a, n).ink);
        draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_TEXT, x + 14, y, "%s", name);
        x += 30 + font_width(FACE_SANS, 10.5, name);
    }
}

void divergence_draw_sites(const struct divergence_view *v, const struct look *look,
                           struct box stage, struct drawing *d)
{
    const struct site_rows rows = v->rows;
    int64_t i = divergence_audited(v, v->chosen);
    bool large = look->large;
    struct columns c = columns_of(v, &rows, i, large, stage);
    double y = stage.y + 14;
    draw_text(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, stage.x, y,
              i < 0   ? "%s is not in the selection"
              : large ? "%s: exact to stored"
                      : "%s: from the exact value to what is stored",
              divergence_name(v, v->chosen).text);
    struct box heat = {stage.x + stage.w - 190, stage.y + 10, 186, 24};
    if (!large)
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, heat.x - 54, y,
                  "darker: off by more; click another, or K");
    divergence_draw_heat(v, heat, d);
    if (large)
        draw_families(v, stage.x, y + 17, d);
    y += large ? 34 : 38;
    draw_heads(v, &c, y, d);
    y += large ? 10 : 42;
    draw_names(&rows, v, stage.x, y + 8, c.row, false, d);
    for (int n = 0; n < v->core->audited.runs; n++)
        draw_run_bars(v, &rows, &c, n, i, look->time, y, d);
    y += c.row * rows.count + (large ? 16 : 2);
    draw_scale(v, &c, y, d);
    if (!large)
        draw_means(v, &rows, &c, stage.x, y + 26, d);
}
