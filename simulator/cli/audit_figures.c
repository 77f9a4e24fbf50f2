/* audit_figures.c: charts of an audit: how far each run is from the true values, and from which
   site to which its outputs were moved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of |error| in roundoffs of sum |weight value|; NaN where no error is finite. */
static double median_error(const struct audit *a, const struct audit_run *run)
{
    int64_t all = audit_elements(a), count = 0;
    double u = ldexp(1.0, -format_info(run->format)->precision), middle = NAN;
    double *error = malloc((size_t)(all + 1) * sizeof *error);
    if (error == NULL)
        abort(); /* the outputs themselves are as large */
    for (int64_t i = 0; i < all; i++) {
        double x = fabs(truth_error(&a->truth[i], run->O[i])) / (u * a->A[i]);
        if (isfinite(x))
            error[count++] = x;
    }
    if (count > 0) {
        qsort(error, (size_t)count, sizeof *error, by_size);
        middle = error[count / 2];
    }
    free(error);
    return middle;
}

void audit_draw_errors(struct page *page, const struct audit *a)
{
    struct page_block *chart =
        page_chart(page, "error of an output, in roundoffs 2^-p sum |weight value| of its format",
                   false, "how far each run is from the true values");
    page_chart_key(chart, PAGE_RING, "half of the outputs are nearer");
    page_chart_key(chart, PAGE_DOT, "the largest error");
    page_chart_limit(chart, 1, "a correct rounding, where nothing cancels");
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        double median = median_error(a, run);
        char note[64];
        int used = snprintf(note, sizeof note, "%.1f %% right",
                            100.0 * (double)run->rounded / (double)run->elements);
        if (run->bounded && run->vacuous == 0)
            snprintf(note + used, sizeof note - (size_t)used, "; %.2f of the bound",
                     run->max_ratio);
        page_chart_row(chart, note, "%s", run->name);
        page_chart_mark(chart, PAGE_RING, median, median, "median %.4g", median);
        page_chart_mark(chart, PAGE_DOT, run->max_roundoffs, run->max_roundoffs, "largest %.4g",
                        run->max_roundoffs);
    }
}

/* A step of the way from the true value to what is stored. */
static double draw_step(struct page_block *chart, const char *run, const char *what, double from,
                        double step)
{
    char note[32];
    snprintf(note, sizeof note, "%+.4f", step);
    page_chart_row(chart, note, "%s: %s", run, what);
    page_chart_mark(chart, step < 0 ? PAGE_BAR_1 : PAGE_BAR_2, fmin(from, from + step),
                    fmax(from, from + step), "%+.3f", step);
    return from + step;
}

static void draw_run(struct page_block *chart, const struct audit *a, int n)
{
    const struct audit_sites *s = &a->run[n].sites;
    double at = 0, rest = (s->interaction + s->listing) / (double)s->elements;
    for (int site = 0; site < SITE_OUT; site++) {
        double step = s->in_situ[site] / (double)s->elements;
        if (audit_stands_out(a, &n, 1, site))
            at = draw_step(chart, a->run[n].name, site_name((enum site)site), at, step);
        else
            rest += step;
    }
    at = draw_step(chart, a->run[n].name, "all else", at, rest);
    draw_step(chart, a->run[n].name, "OUT", at, s->in_situ[SITE_OUT] / (double)s->elements);
}

/* Where one output is looked at, the boundary that decides what is stored. */
static void draw_boundary(struct page_block *chart, const struct audit *a)
{
    struct boundary b = audit_boundary(a);
    if (!audit_single(a) || isnan(b.at))
        return;
    page_chart_limit(chart, -b.distance, "midpoint %.9g", b.at);
}

void audit_draw_sites(struct page *page, const struct audit *a)
{
    struct page_block *chart = NULL;
    for (int n = 0; n < a->runs; n++) {
        if (a->run[n].measured || a->run[n].sites.elements == 0)
            continue;
        if (chart == NULL) {
            chart =
                page_chart(page,
                           audit_single(a) ? "distance from the true value, in ulps"
                                           : "signed mean distance from the true value, in ulps",
                           false,
                           "which rounding moved it: from the true value, site after site, "
                           "to what is stored");
            page_chart_key(chart, PAGE_BAR_1, "moved down");
            page_chart_key(chart, PAGE_BAR_2, "moved up");
            page_chart_limit(chart, 0, "the true value");
            draw_boundary(chart, a);
        }
        draw_run(chart, a, n);
    }
}
