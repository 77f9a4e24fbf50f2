/* audit_sites.c: which rounding moved the outputs: a column for each model, a row for each site
   that matters, and the outputs that are not the correct rounding, in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

static const double VISIBLE = 0.001; /* ulp; what is less in every run is gathered in one row */

struct audit_label audit_label(const struct audit *a, int n, int width)
{
    struct audit_label label;
    const char *name = a->run[n].name;
    if ((int)strlen(name) <= width)
        snprintf(label.text, sizeof label.text, "%s", name);
    else
        snprintf(label.text, sizeof label.text, "%.*s~", width - 1, name);
    return label;
}

struct audit_label audit_label_groups(const struct audit_run *run)
{
    struct audit_label label;
    snprintf(label.text, sizeof label.text, "%.31s", run->groups);
    return label;
}

/* The models that were attributed, at most AUDIT_COLUMNS of them from `first` on. */
static int models(const struct audit *a, int first, int *which)
{
    int count = 0;
    for (int n = 0; n < a->runs; n++) {
        if (a->run[n].measured || a->run[n].sites.elements == 0)
            continue;
        if (first-- <= 0 && count < AUDIT_COLUMNS)
            which[count++] = n;
    }
    return count;
}

static double mean(const struct audit_sites *s, double sum)
{
    return s->elements > 0 ? sum / (double)s->elements : 0;
}

bool audit_stands_out(const struct audit *a, const int *which, int count, int site)
{
    for (int i = 0; i < count; i++) {
        const struct audit_sites *s = &a->run[which[i]].sites;
        if (mean(s, s->absolute[site]) >= VISIBLE)
            return true;
    }
    return site == SITE_PROB;
}

static void heading(char **text, const struct audit *a, const int *which, int count)
{
    text_append(text, " %-23s", "site");
    for (int i = 0; i < count; i++)
        text_append(text, " %13s", audit_label(a, which[i], 13).text);
    text_append(text, "\n");
}

static void row(char **text, const char *name, const double *x, int count)
{
    text_append(text, " %-23s", name);
    for (int i = 0; i < count; i++)
        text_append(text, " %+13.4f", x[i]);
    text_append(text, "\n");
}

/* "PROB   weights to bf16": the format of the first run. */
static void site_row(char **text, const struct audit *a, const int *which, int count, int site)
{
    double x[AUDIT_COLUMNS];
    char name[40];
    enum format f = a->run[which[0]].simulation.policy.site[site].format;
    bool same = true;
    for (int i = 0; i < count; i++) {
        const struct audit_sites *s = &a->run[which[i]].sites;
        same = same && a->run[which[i]].simulation.policy.site[site].format == f;
        x[i] = mean(s, s->in_situ[site]);
    }
    snprintf(name, sizeof name, "%-14s %s", site_name((enum site)site),
             same ? format_info(f)->name : "");
    row(text, name, x, count);
}

static void rest_rows(char **text, const struct audit *a, const int *which, int count)
{
    double rest[AUDIT_COLUMNS] = {0}, between[AUDIT_COLUMNS], out[AUDIT_COLUMNS],
           all[AUDIT_COLUMNS];
    double listing[AUDIT_COLUMNS];
    bool fp32 = true, other = false;
    for (int i = 0; i < count; i++) {
        const struct audit_run *run = &a->run[which[i]];
        const struct audit_sites *s = &run->sites;
        for (int site = 0; site < SITE_OUT; site++) {
            if ((s->met >> site & 1) == 0 || audit_stands_out(a, which, count, site))
                continue;
            rest[i] += mean(s, s->in_situ[site]);
            fp32 = fp32 && run->simulation.policy.site[site].format != FORMAT_BF16;
        }
        between[i] = mean(s, s->interaction);
        out[i] = mean(s, s->in_situ[SITE_OUT]);
        listing[i] = mean(s, s->listing);
        other = other || fabs(listing[i]) >= VISIBLE;
        all[i] = out[i] + between[i] + listing[i];
        for (int site = 0; site < SITE_OUT; site++)
            all[i] += mean(s, s->in_situ[site]);
    }
    row(text, fp32 ? "all other fp32 sites" : "all other sites", rest, count);
    row(text, "interaction", between, count);
    if (other)
        row(text, "the listing, unrounded", listing, count);
    row(text, "OUT, the last rounding", out, count);
    row(text, "total", all, count);
}

static void say_cautions(char **text, const struct audit *a)
{
    for (int n = 0; n < a->runs; n++) {
        const struct audit_sites *s = &a->run[n].sites;
        double sum = 0;
        for (int site = 0; site < SITE_OUT; site++)
            sum += s->absolute[site];
        if (s->stops)
            text_append(text, " %s: attribution stops at %s, where a value was not finite\n",
                        a->run[n].name, site_name(s->stops_at));
        if (s->absolute_interaction > 0.05 * sum)
            text_append(
                text, " %s: the sites interact: %.1f %% of the contributions is in none of them\n",
                a->run[n].name, 100 * s->absolute_interaction / sum);
    }
}

void audit_say_sites(char **text, const struct audit *a)
{
    int which[AUDIT_COLUMNS], count;
    for (int first = 0; (count = models(a, first, which)) > 0; first += AUDIT_COLUMNS) {
        const struct audit_sites *s = &a->run[which[0]].sites;
        const char *format =
            a->formats > 1 ? "each run's own" : format_info(a->run[which[0]].format)->name;
        if (first == 0) {
            text_append(text,
                        "\n which rounding moved it?  (in situ, in %s ulps%s; then the store)\n",
                        format, s->elements > 1 ? ", signed means" : "");
            if (s->rows < a->selection.rows)
                text_append(text, " looked at: %s of %s rows\n", grouped(s->rows).text,
                            grouped(a->selection.rows).text);
        }
        heading(text, a, which, count);
        for (int site = 0; site < SITE_OUT; site++)
            if (audit_stands_out(a, which, count, site))
                site_row(text, a, which, count, site);
        rest_rows(text, a, which, count);
    }
    say_cautions(text, a);
}

static void list_sites(char **words, uint64_t sites, const char *between)
{
    int count = 0;
    for (int site = 0; site < SITE_COUNT; site++) {
        if ((sites >> site & 1) == 0)
            continue;
        text_append(words, "%s%s", count++ == 0 ? "" : between, site_name((enum site)site));
    }
}

static int strongest(const struct audit_flip *f)
{
    int site = SITE_OUT;
    for (int s = 0; s < SITE_OUT; s++)
        if (site == SITE_OUT || fabs(f->in_situ[s]) > fabs(f->in_situ[site]))
            site = s;
    return site;
}

/* "+0.109", "-2.1e-05" */
static struct audit_label signed_ulps(double x)
{
    struct audit_label label;
    snprintf(label.text, sizeof label.text, x == 0 || fabs(x) >= 0.0005 ? "%+.3f" : "%+.1e", x);
    return label;
}

/* Does run m flip the same output to the same bits, moved by the same sites as far as one sees? */
static bool same_flip(const struct audit_flip *f, const struct audit_run *other, int i)
{
    return i < other->flip_count && other->flip[i].element == f->element &&
           other->flip[i].before == f->before && other->flip[i].stored == f->stored;
}

/* "H200 and B200": run n and those after it with the same flip; "" when an earlier one told it. */
static void name_runs(char **words, const struct audit *a, int n, int i)
{
    const struct audit_flip *f = &a->run[n].flip[i];
    int alike = 0, last = n;
    for (int m = 0; m < a->runs; m++)
        if (same_flip(f, &a->run[m], i)) {
            if (m < n)
                return;
            last = m;
        }
    for (int m = n; m <= last; m++)
        if (same_flip(f, &a->run[m], i))
            text_append(words, "%s%s",
                        alike++ == 0 ? ""
                        : m == last  ? " and "
                                     : ", ",
                        a->run[m].name);
}

/* Where exact lies, what moved it, what was crossed, and what would have kept it. */
static void say_flip(char **text, const struct audit *a, const struct audit_run *run,
                     const struct audit_flip *f, const char *names, bool single)
{
    const enum format format = run->format;
    const struct boundary *b = &f->boundary;
    int site = strongest(f);
    char *words = NULL;
    text_append(&words, "%s%s%s: the exact value lies %.3f ulp %s the boundary %.9g. ", names,
                single ? "" : " ", single ? "" : audit_place(a, f->element).text, fabs(b->distance),
                b->distance >= 0 ? "above" : "below", b->at);
    if (fabs(f->listing) >= VISIBLE)
        text_append(&words, "The listing, without any rounding, is off by %s ulp. ",
                    signed_ulps(f->listing).text);
    text_append(&words,
                "%s moved it by %s ulp, all sites together by %s: past it. So %s is stored, "
                "not %s.",
                site_name((enum site)site), signed_ulps(f->in_situ[site]).text,
                signed_ulps(f->error_before - f->listing).text, number_text(format, f->stored).text,
                number_text(format, f->correct).text);
    if (f->restores != 0) {
        text_append(&words, " Without ");
        list_sites(&words, f->restores, ", or without ");
        text_append(&words, ", it would be the correct rounding.");
    } else if (f->explored) {
        text_append(&words, " No one site, taken away, gives the correct rounding.");
    }
    text_append(text, " ");
    text_wrapped(text, 1, 1, words);
    free(words);
}

/* One output, of runs that store its correct rounding: how far they were moved and stayed. */
static void say_kept(char **text, const struct audit *a)
{
    char *words = NULL;
    int kept = 0;
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        if (run->measured || run->flips > 0)
            continue;
        double moved =
            truth_error(&a->truth[0], run->before[0]) / truth_ulp(&a->truth[0], run->format);
        text_append(&words, "%s%s %s", kept++ == 0 ? "Moved and not past it: " : ", ", run->name,
                    signed_ulps(moved).text);
    }
    if (kept == 0)
        return;
    text_append(&words, " ulp.");
    text_append(text, " ");
    text_wrapped(text, 1, 1, words);
    free(words);
}

void audit_say_flips(char **text, const struct audit *a)
{
    enum { MOST = 3 };
    bool single = audit_single(a), any = false;
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        int most = single || a->runs > 2 ? 1 : MOST;
        for (int i = 0; i < run->flip_count && i < most; i++) {
            char *names = NULL;
            name_runs(&names, a, n, i);
            if (names == NULL)
                continue;
            text_append(text, any ? "" : "\n In words\n");
            say_flip(text, a, run, &run->flip[i], names, single);
            free(names);
            any = true;
        }
        if (!single && run->flips > most && run->flip_count > 0)
            text_append(text, " ... %s: %s outputs in all are not the correct rounding\n",
                        run->name, grouped(run->flips).text);
    }
    if (single && any)
        say_kept(text, a);
}
