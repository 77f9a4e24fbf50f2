/* audit_text.c: the audit as text of 80 columns: one number side by side, or a table over many. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

static void say_problem(struct report *r, const struct audit *a)
{
    const struct problem *p = &a->in.problem;
    report_text(r, "%s   q %lld,%lld,%lld,%lld   k v %lld,%lld,%lld,%lld   %s\n", a->in.name,
                (long long)p->B, (long long)p->Hq, (long long)p->Nq, (long long)p->D,
                (long long)p->B, (long long)p->Hkv, (long long)p->Nk, (long long)p->D,
                format_info(a->in.input_format)->name);
    report_text(r, "%s", a->in.remarks);
    if (a->defaults[0] != 0)
        report_text(r, "%s\n", a->defaults);
    for (int n = 0; n < a->runs; n++)
        report_text(r, "%s", a->run[n].remarks);
}

/* ---- one number ---- */

enum { DIGITS = 20 };

static void say_exact(struct report *r, const struct audit *a)
{
    const struct problem *p = &a->in.problem;
    struct head h = problem_head(p, a->selection.unit[0]);
    char *digits = truth_digits(&h, a->selection.row[0], a->selection.dim[0], DIGITS + 3);
    int64_t outputs = audit_elements(a);
    bool cut = isfinite(a->truth[0].value[0]) && strchr(digits, 'e') == NULL &&
               strlen(digits) > DIGITS + 2;
    if (cut)
        digits[DIGITS + 2 + (digits[0] == '-')] = 0; /* the digits as they are, not rounded */
    if (outputs > 1)
        report_text(r, "%s outputs, all alike%s\n", grouped(outputs).text,
                    p->Nq == 1 && p->Hq == 1 ? "" : ": one is shown");
    report_text(r, "exact %s%s   its %s rounding %s   certified\n", digits, cut ? "..." : "",
                format_info(a->format[0])->name, number_text(a->format[0], a->rounded[0]).text);
    free(digits);
}

static const char *short_verdict(const struct audit *a, const struct audit_run *run, int64_t i)
{
    double correct = audit_correct(a, run, i);
    if (audit_run_verdict(run) == AUDIT_OUTSIDE)
        return "OUTSIDE";
    if (run->O[i] == correct || (isnan(run->O[i]) && isnan(correct)))
        return "correct";
    return run->bounded ? "in bound" : "no bound";
}

static void say_one(struct report *r, const struct audit *a, int n)
{
    const struct audit_run *run = &a->run[n];
    double ulps = truth_error(&a->truth[0], run->O[0]) / truth_ulp(&a->truth[0], run->format);
    char before[48] = "", error[16];
    if (run->before != NULL) {
        float narrow = (float)run->before[0];
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        if ((double)narrow == run->before[0])
            snprintf(before, sizeof before, "%.10f %08X", run->before[0], (unsigned)bits);
        else
            snprintf(before, sizeof before, "%.17g", run->before[0]);
    }
    snprintf(error, sizeof error, isnan(ulps) ? "-" : "%+.3f", ulps);
    report_text(r, " %-14s %-10s %-21s %-11s %7s  %s\n", audit_label(a, n, 14).text,
                run->measured ? "measured" : audit_label_groups(run).text, before,
                number_text(run->format, run->O[0]).text, error, short_verdict(a, run, 0));
}

static void say_single(struct report *r, const struct audit *a)
{
    char head[32];
    say_exact(r, a);
    snprintf(head, sizeof head, "output");
    if (a->formats == 1)
        snprintf(head, sizeof head, "%s output", format_info(a->format[0])->name);
    report_text(r, "\n %-14s %-10s %-21s %-11s %7s  %s\n", "run", "groups", "before last rounding",
                head, "ulps", "verdict");
    for (int n = 0; n < a->runs; n++)
        say_one(r, a, n);
    audit_say_line(&r->text, a);
}

/* ---- many ---- */

static void say_bias(char *text, size_t room, const struct audit_run *run)
{
    int64_t averaged = run->elements - run->of_kind;
    double bias = averaged > 0 ? run->sum_ulp / (double)averaged : 0;
    if (run->rows_averaged < AUDIT_FEW_ROWS)
        snprintf(text, room, "%+.4f few", bias);
    else
        snprintf(text, room, isinf(run->z) ? "%+.4f inf" : "%+.4f (%+.1f)", bias, run->z);
}

static void say_inside(char *text, size_t room, const struct audit_run *run)
{
    int64_t outside = run->outside + run->of_kind;
    if (!run->bounded && run->of_kind == 0)
        snprintf(text, room, "no bound");
    else if (outside == 0)
        snprintf(text, room, "all");
    else
        snprintf(text, room, "%s out", grouped(outside).text);
}

static void say_row(struct report *r, const struct audit *a, int n)
{
    const struct audit_run *run = &a->run[n];
    char bias[40], inside[40], largest[24];
    say_bias(bias, sizeof bias, run);
    say_inside(inside, sizeof inside, run);
    snprintf(largest, sizeof largest, run->max_ulp < 1e5 ? "%.2f" : "%.2e", run->max_ulp);
    report_text(r, " %-20s %-12s %8s %16s %6.1f %% %8s\n", audit_label(a, n, 20).text,
                run->measured ? "measured" : audit_label_groups(run).text, largest, bias,
                100.0 * (double)run->rounded / (double)run->elements, inside);
}

static void say_pairs(struct report *r, const struct audit *a)
{
    enum { MOST = 8 };
    double all = (double)audit_elements(a);
    if (a->runs == 2) {
        struct audit_pair pair = audit_pair(a, 0, 1);
        report_text(r, " pair: %s differ (%.1f %%)", grouped(pair.differ).text,
                    100.0 * (double)pair.differ / all);
        if (pair.differ > 0 && pair.comparable)
            report_text(r, ", by %s ulp at most", grouped(pair.max_steps).text);
        report_text(r, "\n");
    }
    if (a->runs < 3)
        return;
    report_text(r, "\n %-23s", "outputs that differ, %");
    for (int x = 0; x < a->runs && x < MOST; x++)
        report_text(r, "%6d", x + 1);
    for (int y = 0; y < a->runs; y++) {
        report_text(r, "\n %2d %-20s", y + 1, audit_label(a, y, 20).text);
        for (int x = 0; x < y && x < MOST; x++)
            report_text(r, "%6.1f", 100.0 * (double)audit_pair(a, x, y).differ / all);
        if (y < MOST)
            report_text(r, "%6s", "-");
    }
    report_text(r, "\n");
}

static const double FAR = 16; /* ulp, where another measure is given too */

/* "fa2 0.52, standard 1.01": runs for which `value` is above `least`; NULL when there are none. */
static char *run_list(const struct audit *a, double (*value)(const struct audit_run *),
                      double least)
{
    char *words = NULL;
    for (int n = 0; n < a->runs; n++)
        if (value(&a->run[n]) > least)
            text_append(&words, "%s%s", words == NULL ? "" : ", ", a->run[n].name);
    return words;
}

static double largest_ulp(const struct audit_run *run)
{
    return run->max_ulp;
}

static double vacuous_bounds(const struct audit_run *run)
{
    return (double)run->vacuous;
}

static void say_measures(struct report *r, const struct audit *a)
{
    char *far = run_list(a, largest_ulp, FAR), *vacuous = run_list(a, vacuous_bounds, 0);
    char *words = NULL;
    if (far != NULL) {
        text_append(&words,
                    "where values cancel an ulp is small; the largest errors in roundoffs of "
                    "sum |weight value|:");
        for (int n = 0; n < a->runs; n++)
            text_append(&words, " %s %.2f%s", a->run[n].name, a->run[n].max_roundoffs,
                        n + 1 < a->runs ? "," : "");
        text_append(&r->text, " ");
        text_wrapped(&r->text, 1, 2, words);
    }
    if (vacuous != NULL) {
        text_append(&r->text, " bound vacuous, wider than the values: ");
        text_wrapped(&r->text, 39, 2, vacuous);
    }
    free(words);
    free(far);
    free(vacuous);
}

static void say_kinds(struct report *r, const struct audit *a)
{
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        if (run->nan + run->infinite > 0)
            report_text(r, " %s: %s NaN, %s infinite; in no mean\n", run->name,
                        grouped(run->nan).text, grouped(run->infinite).text);
        if (run->of_kind > 0)
            report_text(r, " %s: at %s outputs NaN or infinity against a number, first at %s\n",
                        run->name, grouped(run->of_kind).text,
                        audit_place(a, run->first_of_kind).text);
        if (run->outside > 0)
            report_text(r, " %s: first outside the bound: %s, %s for %.9g\n", run->name,
                        audit_place(a, run->first_outside).text,
                        number_text(run->format, run->O[run->first_outside]).text,
                        a->truth[run->first_outside].value[0]);
    }
    say_measures(r, a);
}

static void say_many(struct report *r, const struct audit *a)
{
    const struct selection *s = &a->selection;
    report_text(r, "%s outputs (%s of %s rows) against the certified result\n\n",
                grouped(audit_elements(a)).text, grouped(s->rows).text,
                grouped(s->rows_total).text);
    report_text(r, " %-20s %-12s %8s %16s %8s %8s\n", "run", "groups", "max ulp", "bias ulp (z)",
                "rounded", "inside");
    report_text(r, " %-20s %-12s %8s %16s %8s %8s\n", "", "", "", "", "right", "bound");
    for (int n = 0; n < a->runs; n++)
        say_row(r, a, n);
    if (a->selection.rows < AUDIT_FEW_ROWS)
        report_text(r, " z: %s rows are too few (%d are enough)\n", grouped(s->rows).text,
                    AUDIT_FEW_ROWS);
    say_pairs(r, a);
}

void audit_say_divergence(struct report *r, const struct audit *a)
{
    struct json *list = NULL;
    int first = 0;
    while (first < a->runs && a->run[first].measured)
        first++;
    for (int n = first + 1; n < a->runs; n++) {
        char *words = audit_divergence(a, first, n);
        if (words == NULL)
            continue;
        if (list == NULL) {
            list = json_list(r->json, "first_difference");
            report_text(r, "\n where models part, in the head of the first row\n");
        }
        json_string(list, NULL, words);
        report_text(r, " ");
        text_wrapped(&r->text, 1, 2, words);
        free(words);
    }
}

/* ---- the verdict ---- */

static void count_verdicts(const struct audit *a, int *correct, double *bound, double *used)
{
    *correct = 0;
    *bound = *used = 0;
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        *correct += run->rounded == run->elements;
        *bound = run->bounded && run->max_bound > *bound ? run->max_bound : *bound;
        *used = run->bounded && run->max_ratio > *used ? run->max_ratio : *used;
    }
}

void audit_verdict_words(char **text, const struct audit *a)
{
    enum audit_verdict v = audit_verdict(a);
    int correct;
    double bound, used;
    count_verdicts(a, &correct, &bound, &used);
    bool in_ulps = audit_single(a) && a->formats == 1;
    text_append(text, "%s", audit_verdict_name(v));
    if (v == AUDIT_LEGAL)
        text_append(text,
                    in_ulps ? "%s: every error is inside the a-priori bound, %.2f ulp."
                            : "%s: every error is inside the a-priori bound and at most "
                              "%.2f of it.",
                    a->runs > 1 ? ", all runs" : "", in_ulps ? bound : used);
    if (v == AUDIT_OUTSIDE)
        text_append(text,
                    ": no rounding of attention in these formats explains such errors; a bug, or "
                    "not attention of these Q, K, V. Outside:");
    if (v == AUDIT_UNKNOWN)
        text_append(text, ", for no bound is known:");
    for (int n = 0, named = 0; n < a->runs && v != AUDIT_LEGAL; n++)
        if (audit_run_verdict(&a->run[n]) == v)
            text_append(text, "%s %s%s%s%s", named++ > 0 ? "," : "", a->run[n].name,
                        v == AUDIT_UNKNOWN ? " (" : "",
                        v == AUDIT_UNKNOWN          ? a->run[n].unbounded
                        : audit_only_lse(&a->run[n]) ? " (its LSE)"
                                                    : "",
                        v == AUDIT_UNKNOWN ? ")" : "");
    text_append(text, v == AUDIT_LEGAL ? "" : ".");
    if (audit_single(a) && v != AUDIT_OUTSIDE)
        text_append(text, " %d of %d %s the correct rounding of the exact result on this input%s",
                    correct, a->runs, correct == 1 ? "is" : "are",
                    a->in_example ? ", which was chosen to show the effect." : ".");
    text_append(text,
                " Inside is no evidence of correctness, and no run is ranked: another input may "
                "favour another split count.");
}

static void say_verdict(struct report *r, const struct audit *a)
{
    char *words = NULL;
    audit_verdict_words(&words, a);
    report_text(r, "\n verdict  ");
    text_wrapped(&r->text, 10, 10, words);
    free(words);
}

/* A measured output's sites are those of a model with the same bits. */
static void say_measured(struct report *r, const struct audit *a, const struct findings *f)
{
    for (int n = 0; n < a->runs; n++) {
        char *words = NULL;
        int model = audit_reproduced(a, n);
        if (!a->run[n].measured)
            continue;
        if (model >= 0)
            text_append(&words, "%s has the bits of %s here: its sites are that run's",
                        a->run[n].name, a->run[model].name);
        else if (f->asked[n] && f->found[n].found && f->found[n].best[0].left == 0)
            text_append(&words, "%s: those of %s, which --runs shows", a->run[n].name,
                        f->found[n].best[0].name);
        else
            text_append(&words,
                        "%s: which rounding moved it is not established; no model among these "
                        "runs has its bits",
                        a->run[n].name);
        report_text(r, " sites    ");
        text_wrapped(&r->text, 10, 10, words);
        free(words);
    }
}

/* What else an output outside the bound could be. */
static void say_gate(struct report *r, const struct audit *a)
{
    for (int n = 0; n < a->runs; n++) {
        const struct gate *g = &a->run[n].gate;
        char *words = NULL, *found = NULL;
        int tried = 0;
        for (int k = 0; k < READINGS; k++) {
            tried += g->tried[k];
            if (g->fits[k] && (k == READ_AS_GIVEN || !g->fits[READ_AS_GIVEN]))
                text_append(&found, "%s%s", found == NULL ? "" : ", or ",
                            reading_words((enum reading)k));
        }
        if (tried == 0)
            continue;
        text_append(&words, "%s %s%s", a->run[n].name,
                    found != NULL ? "is attention of these Q, K, V " : "is none of these either: ",
                    found != NULL ? found : "");
        for (int k = READ_AS_GIVEN + 1, said = 0; k < READINGS && found == NULL; k++)
            if (g->tried[k])
                text_append(&words, "%s%s", said++ == 0 ? "" : "; ",
                            reading_words((enum reading)k));
        if (g->fits[READ_AS_GIVEN])
            text_append(&words, " in the rows looked at: what is outside is local");
        report_text(r, " sanity   ");
        text_wrapped(&r->text, 10, 10, words);
        free(words);
        free(found);
    }
}

/* Once for models in a row that have the same. */
static void say_special(struct report *r, const struct audit *a)
{
    struct special_text said = {""};
    for (int n = 0; n < a->runs; n++) {
        struct special_choice c = a->run[n].simulation.policy.special;
        struct special_text words = special_words(c);
        if (a->run[n].measured || strcmp(words.text, said.text) == 0)
            continue;
        said = words;
        if (c.how == SPECIAL_CR)
            report_text(r, " exp      correctly rounded in the models; a GPU's ex2 may differ\n");
        else
            report_text(r, " special  %s: from %.30s on\n", words.text, a->run[n].name);
    }
}

/* How to get the page and the picture. */
static void say_more(struct report *r, const struct audit *a)
{
    char *command = scenario_command(a->scenario), *words = NULL;
    text_append(&words, "%s -o report.html%s", command, a->runs > 1 ? " -o map.svg" : "");
    report_text(r, " report   ");
    text_wrapped(&r->text, 10, 10, words);
    free(words);
    free(command);
}

void audit_say(struct report *r, const struct audit *a, const struct audit_map *m,
               const struct findings *f)
{
    say_problem(r, a);
    if (audit_single(a))
        say_single(r, a);
    else
        say_many(r, a);
    say_kinds(r, a);
    audit_say_lse(r, a);
    audit_say_sites(&r->text, a);
    audit_say_flips(&r->text, a);
    audit_say_divergence(r, a);
    if (!audit_single(a))
        audit_say_map(r, a, m);
    audit_say_findings(r, a, f);
    say_verdict(r, a);
    say_gate(r, a);
    say_measured(r, a, f);
    say_special(r, a);
    if (!a->scenario->given[OPTION_OUTPUT])
        say_more(r, a);
    report_text(r, "exit %d\n", audit_verdict(a) == AUDIT_LEGAL && findings_good(f) ? 0 : 1);
}
