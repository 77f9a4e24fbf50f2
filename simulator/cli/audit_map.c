/* audit_map.c (cli): the map as text, as JSON and as a figure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

static bool alike(const struct map *m)
{
    for (int i = 0; i < m->count; i++)
        for (int j = 0; j < i; j++)
            if (m->apart[i][j] > 0)
                return false;
    return true;
}

static void say_doubts(struct report *r, const struct audit *a, const struct audit_map *m)
{
    for (int i = 0; i < a->runs; i++)
        for (int j = i + 1; j < a->runs; j++)
            if (m->cannot_tell[i][j]) {
                char *words = NULL;
                text_append(&words, "%s and %s: model cannot tell. ", a->run[i].name,
                            a->run[j].name);
                if (audit_pair(a, i, j).differ == 0)
                    text_append(&words,
                                "Their outputs coincide here, but how the hardware computes exp, "
                                "log and reciprocals is not established.");
                else
                    text_append(&words,
                                "Under some setting of what is not established they "
                                "coincide, under others they lie up to %.4f apart.",
                                m->range[0].high[i][j]);
                text_append(&r->text, " ");
                text_wrapped(&r->text, 1, 2, words);
                free(words);
            }
}

/* "?" stands for a distance that the model cannot tell from 0. */
static void say_distances(struct report *r, const struct audit *a, const struct audit_map *m,
                          const struct map *x)
{
    enum { MOST = 6 };
    report_text(r, " %-17s", "distance");
    for (int j = 0; j < x->count && j < MOST; j++)
        report_text(r, "%8d", j + 1);
    report_text(r, "%8s%6s\n", "exact", "d/R");
    for (int i = 0; i < x->count; i++) {
        report_text(r, " %2d %-14s", i + 1, audit_label(a, i, 14).text);
        for (int j = 0; j < x->count && j < MOST; j++) {
            if (j >= i)
                report_text(r, "%8s", j == i ? "-" : "");
            else if (m->cannot_tell[i][j])
                report_text(r, "%8s", "?");
            else
                report_text(r, "%8.4f", x->apart[i][j]);
        }
        report_text(r, "%8.4f", x->to_exact[i]);
        if (x->spread > 0)
            report_text(r, "%6.2f\n", x->to_centre[i] / x->spread);
        else
            report_text(r, "%6s\n", "-");
    }
}

/* Distances that what is not established leaves open: from where to where. */
static void say_ranges(struct report *r, const struct audit *a, const struct audit_map *m, int part)
{
    const struct audit_range *x = &m->range[part];
    bool headed = false;
    for (int i = 0; i < a->runs; i++)
        for (int j = 0; j <= i; j++) {
            bool exact = j == i;
            double low = exact ? x->exact_low[i] : x->low[i][j];
            double high = exact ? x->exact_high[i] : x->high[i][j];
            if (high - low < 0.00005)
                continue; /* the four digits are the same */
            if (!headed)
                report_text(r, " ranges, over what is not established:\n");
            headed = true;
            report_text(r, " %2d to %-5s %8.4f .. %.4f%s\n", i + 1,
                        exact ? "exact" : grouped(j + 1).text, low, high,
                        !exact && m->cannot_tell[i][j] ? "   model cannot tell" : "");
        }
}

/* Which switches were set otherwise, and of which runs. */
static void say_settings(struct report *r, const struct audit *a, const struct audit_map *m)
{
    char *words = NULL;
    for (int i = 0; i < a->runs; i++)
        if (m->settings[i] > 1)
            text_append(&words, "%s%s %d settings (%s)", words == NULL ? "" : "; ", a->run[i].name,
                        m->settings[i], m->open[i]);
    if (m->not_tried)
        text_append(&words,
                    "the distances under other settings of what is not established were not "
                    "computed: too much work here");
    if (words == NULL)
        return;
    report_text(r, " open     ");
    text_wrapped(&r->text, 10, 10, words);
    free(words);
}

static void say_centre(struct report *r, const struct audit *a, const struct map *x)
{
    bool always = true;
    char *words = NULL;
    for (int i = 0; i < x->count; i++)
        always = always && (i == x->nearest || x->without[i] == x->nearest);
    text_append(&words, "spread R %.4g around the centre; shared bias, centre to exact, %.4g. ",
                x->spread, x->exact_to_centre);
    text_append(&words, "Nearest to the centre: %s, by %.2g; ", a->run[x->nearest].name, x->margin);
    if (x->count < 3)
        text_append(&words, "of two runs that says nothing.");
    else if (always)
        text_append(&words, "whichever other run is left out.");
    else {
        text_append(&words, "not so without");
        for (int i = 0, n = 0; i < x->count; i++)
            if (i != x->nearest && x->without[i] != x->nearest)
                text_append(&words, "%s %s (then %s)", n++ > 0 ? "," : "", a->run[i].name,
                            a->run[x->without[i]].name);
        text_append(&words, ".");
    }
    text_append(&words,
                " Near the centre is not near the exact result. In a plane: %.1f %% of R^2.",
                100 * x->explained);
    text_append(&r->text, " ");
    text_wrapped(&r->text, 1, 1, words);
    free(words);
}

void audit_say_map(struct report *r, const struct audit *a, const struct audit_map *m)
{
    if (a->runs < 2)
        return;
    report_text(r,
                "\n map: how far apart, in roundoffs 2^-%d sum |weight value|, root mean square\n",
                format_info(a->format[0])->precision);
    if (alike(&m->stored)) {
        report_text(r, " all stored outputs are alike%s\n",
                    m->has_before && !alike(&m->before) ? "; before the last rounding they are not:"
                                                        : "");
    } else {
        say_distances(r, a, m, &m->stored);
        say_ranges(r, a, m, 0);
        say_centre(r, a, &m->stored);
    }
    if (m->has_before && !alike(&m->before)) {
        report_text(r, " before the last rounding:\n");
        say_distances(r, a, m, &m->before);
        say_ranges(r, a, m, 1);
        say_centre(r, a, &m->before);
    }
    say_settings(r, a, m);
    say_doubts(r, a, m);
}

static void add_interval(struct json *to, const char *key, double low, double high)
{
    struct json *j = json_list(to, key);
    json_real(j, NULL, low);
    json_real(j, NULL, high);
}

/* [low, high] over what is not established, beside each distance. */
static void add_ranges(struct json *to, const struct audit *a, const struct audit_range *x)
{
    struct json *list = json_list(to, "ranges");
    for (int i = 0; i < a->runs; i++)
        for (int k = i + 1; k < a->runs; k++) {
            struct json *j = json_object(list, NULL);
            json_string(j, "a", a->run[i].name);
            json_string(j, "b", a->run[k].name);
            add_interval(j, "distance", x->low[i][k], x->high[i][k]);
        }
    for (int i = 0; i < a->runs; i++) {
        struct json *j = json_object(list, NULL);
        json_string(j, "a", a->run[i].name);
        json_string(j, "b", "exact");
        add_interval(j, "distance", x->exact_low[i], x->exact_high[i]);
    }
}

static void add_settings(struct json *to, const struct audit *a, const struct audit_map *m)
{
    struct json *list = json_list(to, "not_established");
    for (int i = 0; i < a->runs; i++) {
        if (m->open[i][0] == 0)
            continue;
        struct json *j = json_object(list, NULL);
        json_string(j, "name", a->run[i].name);
        json_string(j, "switches", m->open[i]);
        json_whole(j, "settings", m->settings[i]);
    }
    json_truth(to, "ranges_computed", !m->not_tried);
}

static struct json *add_map(struct json *to, const char *key, const struct audit *a,
                            const struct map *m)
{
    struct json *j = json_object(to, key), *points = json_list(j, "points"), *apart;
    json_whole(j, "elements", m->elements);
    json_whole(j, "left_out", m->left_out);
    json_real(j, "spread", m->spread);
    json_real(j, "shared_bias", m->exact_to_centre);
    json_string(j, "nearest_to_centre", a->run[m->nearest].name);
    json_real(j, "margin", m->margin);
    json_real(j, "explained", m->explained);
    json_whole(j, "axes", m->axes);
    json_real(j, "exact_x", m->exact_x);
    json_real(j, "exact_y", m->exact_y);
    for (int i = 0; i < m->count; i++) {
        struct json *p = json_object(points, NULL);
        json_string(p, "name", a->run[i].name);
        json_real(p, "weight", m->weight[i]);
        json_real(p, "x", m->x[i]);
        json_real(p, "y", m->y[i]);
        json_real(p, "quality", m->quality[i]);
        json_real(p, "to_centre", m->to_centre[i]);
        json_real(p, "to_exact", m->to_exact[i]);
        if (m->without[i] >= 0)
            json_string(p, "nearest_without_it", a->run[m->without[i]].name);
    }
    apart = json_list(j, "distances");
    for (int i = 0; i < m->count; i++) {
        struct json *row = json_list(apart, NULL);
        for (int k = 0; k < m->count; k++)
            json_real(row, NULL, m->apart[i][k]);
    }
    return j;
}

void audit_map_json(struct report *r, const struct audit *a, const struct audit_map *m)
{
    struct json *map, *doubts;
    if (a->runs < 2)
        return;
    map = json_object(r->json, "map");
    add_ranges(add_map(map, "stored", a, &m->stored), a, &m->range[0]);
    if (m->has_before)
        add_ranges(add_map(map, "before_out", a, &m->before), a, &m->range[1]);
    add_settings(map, a, m);
    doubts = json_list(map, "model_cannot_tell");
    for (int i = 0; i < a->runs; i++)
        for (int k = i + 1; k < a->runs; k++)
            if (m->cannot_tell[i][k]) {
                struct json *pair = json_list(doubts, NULL);
                json_string(pair, NULL, a->run[i].name);
                json_string(pair, NULL, a->run[k].name);
            }
}

static void add_figure(struct page *page, const struct audit *a, const struct audit_map *all,
                       int part, const char *what)
{
    const struct map *m = part == 0 ? &all->stored : &all->before;
    char caption[240];
    if (m->axes == 0)
        return;
    snprintf(caption, sizeof caption,
             "%s: runs lie as far apart as they differ; %.1f %% of the spread R = %.4g is in this "
             "plane%s",
             what, 100 * m->explained, m->spread,
             all->points > 0 ? "; rings: a run under other settings of what is not established" : "");
    struct page_block *map = page_map(page, caption);
    for (int i = 0; i < m->count; i++)
        page_point(map, PAGE_RUN, m->x[i], m->y[i], "%s", a->run[i].name);
    for (int i = 0; i < all->points; i++)
        page_point(map, PAGE_SETTING, all->point[part][i][0], all->point[part][i][1], "%s", "");
    page_point(map, PAGE_CENTRE, 0, 0, "centre");
    page_point(map, PAGE_EXACT, m->exact_x, m->exact_y, "exact (%.3g from the centre)",
               m->exact_to_centre);
}

/* False: nothing to draw. */
bool audit_map_page(struct page *page, const struct audit *a, const struct audit_map *m)
{
    if (a->runs < 2)
        return false;
    add_figure(page, a, m, 0, "stored outputs");
    if (m->has_before)
        add_figure(page, a, m, 1, "values before the last rounding");
    return m->stored.axes > 0 || (m->has_before && m->before.axes > 0);
}
