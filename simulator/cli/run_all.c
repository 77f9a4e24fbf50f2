/* run_all.c: `flashulp run PROBLEM --algorithm all`: every listing on one input, against the truth.

   Two questions, two answers.  How far is the algorithm in this policy from the certified result?
   And is it attention at all?  For the second every site is made exact (double arithmetic), so that
   what is left is not rounding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/judge.h"
#include "simulator/cli/cli.h"
#include "simulator/cli/run_all.h"
#include "simulator/scenario_parts.h"

struct contest {
    struct scenario_input input;
    struct selection selection;
    struct simulation simulation[ALGORITHM_COUNT];
    struct result rounded[ALGORITHM_COUNT], exact[ALGORITHM_COUNT];
    struct verdict verdict[ALGORITHM_COUNT], exact_verdict[ALGORITHM_COUNT];
};

static enum format out_format(const struct contest *x)
{
    enum format f = x->simulation[0].policy.site[SITE_OUT].format;
    return f == FORMAT_EXACT ? FORMAT_FP64 : f;
}

/* The scenario with one algorithm named instead of "all"; decode takes a tile's rows one by one. */
static bool simulation_of(const struct scenario *s, const struct scenario_input *in,
                          enum algorithm a, struct simulation *simulation, struct message *why)
{
    struct scenario one = *s;
    char name[32], tile[32], *keys;
    snprintf(name, sizeof name, "%s", algorithm_info(a)->name);
    one.value[OPTION_ALGORITHM] = name;
    keys = one.value[OPTION_TILE] != NULL ? strchr(one.value[OPTION_TILE], ',') : NULL;
    if (a == ALGORITHM_DECODE && keys != NULL && strlen(keys) < 16) {
        snprintf(tile, sizeof tile, "1%s", keys);
        one.value[OPTION_TILE] = tile;
    }
    return scenario_simulation(&one, in, simulation, why);
}

/* One algorithm's fault that a mask rules out must not keep the others from being run. */
static bool left_out(const struct contest *x, enum algorithm a)
{
    return faults_meet_mask(&x->input.problem, algorithm_faults(a));
}

static bool run_both(struct contest *x, const struct scenario *s, enum algorithm a,
                     struct message *why)
{
    struct simulation *rounded = &x->simulation[a];
    if (!simulation_of(s, &x->input, a, rounded, why))
        return false;
    if (left_out(x, a))
        rounded->choices.faults &= ~(1u << FAULT_NO_TAIL_MASK);
    if (!simulate(&x->input.problem, rounded, &x->rounded[a], why))
        return false;
    struct simulation exact = *rounded;
    exact.policy = policy_all_exact(&rounded->policy);
    exact.arith = &arith_double;
    return simulate(&x->input.problem, &exact, &x->exact[a], why);
}

/* Row `row` of every run, the selected columns, one run after the other. */
static void gather(const struct contest *x, const struct result *results, int64_t row, double *got)
{
    const struct selection *s = &x->selection;
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        for (int64_t k = 0; k < s->dims; k++)
            got[a * s->dims + k] = results[a].O[row * results[a].D + s->dim[k]];
}

static bool judge(struct contest *x, struct message *why)
{
    const struct selection *s = &x->selection;
    const struct problem *p = &x->input.problem;
    int64_t *start = run_row_starts(p), n = 0;
    double *got = malloc(ALGORITHM_COUNT * (size_t)(s->dims + 1) * sizeof *got);
    bool ok = (start != NULL && got != NULL) || refuse(why, "no memory");
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        verdict_start(&x->verdict[a]);
        verdict_start(&x->exact_verdict[a]);
    }
    for (; ok && n < s->rows; n++) {
        struct head h = problem_head(p, s->unit[n]);
        int64_t row = start[s->unit[n]] + s->row[n];
        cli_progress("run", n, s->rows);
        gather(x, x->rounded, row, got);
        judge_row(x->verdict, ALGORITHM_COUNT, &h, s->row[n], s->dim, s->dims, out_format(x), got);
        gather(x, x->exact, row, got);
        judge_row(x->exact_verdict, ALGORITHM_COUNT, &h, s->row[n], s->dim, s->dims, FORMAT_FP64,
                  got);
    }
    cli_progress("run", n, n);
    free(start);
    free(got);
    return ok;
}

/* Without rounding an algorithm that is attention is within double's noise of it. */
static bool is_attention(const struct verdict *exact)
{
    return exact->ulps.different_kind == 0 && exact->max_roundoffs < 0x1p20;
}

static void say_one(struct report *r, const struct contest *x, struct json *list, enum algorithm a)
{
    const struct error_summary *e = &x->verdict[a].ulps;
    double share = e->elements ? 100.0 * (double)e->correctly_rounded / (double)e->elements : 100;
    bool attention = is_attention(&x->exact_verdict[a]);
    char worst[24], digest[24];
    snprintf(worst, sizeof worst, x->verdict[a].max_roundoffs < 1e5 ? "%.2f" : "%.1e",
             x->verdict[a].max_roundoffs);
    if (e->different_kind == e->elements) /* no error was finite */
        snprintf(worst, sizeof worst, "-");
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)x->rounded[a].digest);
    report_text(r, " %-12s %6.1f %% %12s   %-12s %s%s\n", algorithm_info(a)->name, share, worst,
                attention ? "yes" : "NO", digest, e->different_kind ? "  NaN or Inf" : "");
    report_row(r, "%s\t%.4f\t%.17g\t%s\t%s", algorithm_info(a)->name, share,
               x->verdict[a].max_roundoffs, attention ? "yes" : "no", digest);
    struct json *j = json_object(list, NULL);
    json_string(j, "algorithm", algorithm_info(a)->name);
    json_string(j, "digest", digest);
    json_whole(j, "elements", e->elements);
    json_whole(j, "correctly_rounded", e->correctly_rounded);
    json_whole(j, "different_kind", e->different_kind);
    json_real(j, "max_ulp", e->max_ulp);
    json_real(j, "max_roundoffs", x->verdict[a].max_roundoffs);
    json_truth(j, "attention_in_exact_arithmetic", attention);
    if (left_out(x, a))
        json_string(j, "fault_left_out", fault_name(FAULT_NO_TAIL_MASK));
}

static void say(struct report *r, const struct contest *x)
{
    const struct selection *s = &x->selection;
    const char *format = format_info(out_format(x))->name;
    run_headline(r, &x->input);
    report_text(r, "policy %s   %s outputs (%s of %s rows) against the certified result\n\n",
                x->simulation[0].policy.name, grouped(s->rows * s->dims).text,
                grouped(s->rows).text, grouped(s->rows_total).text);
    report_text(r, " %-12s %8s %12s   %-12s %s\n", "algorithm", "rounded", "worst", "attention", "digest");
    report_text(r, " %-12s %8s %12s   %-12s %s\n", "", "right", "error", "if exact?", "of the bits");
    report_row(r, "algorithm\tcorrectly_rounded_percent\tmax_roundoffs\tattention\tdigest");
    struct json *list = json_list(r->json, "runs");
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        say_one(r, x, list, (enum algorithm)a);
    report_text(r, "\n error in roundoffs of %s, 2^-%d sum |weight value|; a correct rounding errs\n"
                   " by at most 1 where nothing cancels.  \"if exact?\": with no rounding at all.\n",
                format, format_info(out_format(x))->precision);
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        if (left_out(x, (enum algorithm)a))
            report_text(r, " %s without fault %s, which does not go with a mask.\n",
                        algorithm_info((enum algorithm)a)->name, fault_name(FAULT_NO_TAIL_MASK));
}

/* The worst errors, a row for each listing; one whose error is not finite has no mark. */
static void add_figure(struct report *r, const struct contest *x)
{
    const char *format = format_info(out_format(x))->name;
    char *axis = NULL, *caption = NULL;
    text_append(&axis, "largest error of an output, in roundoffs of %s", format);
    text_append(&caption, "%s, policy %s: how far each listing is from the certified result",
                x->input.name, x->simulation[0].policy.name);
    struct page_block *chart = page_chart(report_picture(r), axis, true, caption);
    page_chart_key(chart, PAGE_DOT, "attention, if nothing were rounded");
    page_chart_key(chart, PAGE_CROSS, "another function, even in exact arithmetic");
    page_chart_limit(chart, 1, "a correct rounding, where nothing cancels");
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        const struct error_summary *e = &x->verdict[a].ulps;
        double worst = x->verdict[a].max_roundoffs;
        char note[64];
        snprintf(note, sizeof note, "%.1f %% rounded right",
                 e->elements ? 100.0 * (double)e->correctly_rounded / (double)e->elements : 100);
        page_chart_row(chart, note, "%s", algorithm_info((enum algorithm)a)->name);
        page_chart_mark(chart, is_attention(&x->exact_verdict[a]) ? PAGE_DOT : PAGE_CROSS, worst,
                        worst, "%.4g roundoffs", worst);
    }
    free(axis);
    free(caption);
}

bool run_all(const struct scenario *s, struct report *r, struct message *why)
{
    struct contest *x = calloc(1, sizeof *x);
    if (x == NULL)
        return refuse(why, "no memory");
    bool ok = scenario_problem(s, &x->input, why) &&
              scenario_select(s, &x->input.problem, &x->selection, why);
    for (int a = 0; ok && a < ALGORITHM_COUNT; a++)
        ok = run_both(x, s, (enum algorithm)a, why);
    ok = ok && judge(x, why);
    if (ok) {
        say(r, x);
        add_figure(r, x);
    }
    for (int a = 0; a < ALGORITHM_COUNT; a++) {
        result_free(&x->rounded[a]);
        result_free(&x->exact[a]);
    }
    selection_free(&x->selection);
    scenario_input_free(&x->input);
    free(x);
    return ok && report_finish(r, why);
}
