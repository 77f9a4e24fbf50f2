/* run.c: `flashulp run PROBLEM`: one algorithm; its output and a digest of the bits.

   The text shows eight numbers, --json 64, --out and --lse everything.  -o FILE.safetensors writes
   a capture: q, k, v, o.NAME, lse.NAME with NAME = algorithm:policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reference/judge.h"
#include "simulator/cli/cli.h"
#include "simulator/cli/run_all.h"
#include "simulator/cli/run_files.h"
#include "simulator/cli/run_gradient.h"
#include "simulator/cli/run_groups.h"
#include "simulator/cli/run_special.h"
#include "simulator/report.h"
#include "simulator/scenario_gradient.h"
#include "simulator/scenario_parts.h"

/* Seconds by measurement on one core: each score costs `score`, and `column` for each of D. */
static double expected_seconds(const struct finished *x)
{
    const struct problem *p = &x->input.problem;
    const struct arithmetic *arith = x->simulation.arith;
    double scores = (double)problem_units(p) * (double)p->Nq * (double)p->Nk;
    double score = arith == &arith_mpfr ? 2e-6 : arith == &arith_double ? 7e-7 : 7e-9;
    double column = arith == &arith_mpfr ? 4e-7 : arith == &arith_double ? 3e-8 : 2e-10;
    double judged = (double)x->selection.rows * (double)p->Nk;
    double check = judged * (5e-6 + 3e-7 * (double)x->selection.dims);
    return scores * (score + column * (double)p->D) / (double)x->simulation.threads +
           (x->scenario->given[OPTION_CHECK] ? check : 0);
}

static double output(const struct finished *x, int64_t i, int64_t d)
{
    int64_t row = x->row_start[x->selection.unit[i]] + x->selection.row[i];
    return x->result.O[row * x->result.D + d];
}

static double logarithm(const struct finished *x, int64_t i)
{
    return x->result.lse[x->row_start[x->selection.unit[i]] + x->selection.row[i]];
}

int64_t *run_row_starts(const struct problem *p)
{
    int64_t units = problem_units(p), start = 0;
    int64_t *starts = malloc(((size_t)units + 1) * sizeof *starts);
    for (int64_t n = 0; n < units && starts != NULL; n++) {
        starts[n] = start;
        start += problem_head(p, n).Nq;
    }
    return starts;
}

static void describe_faults(struct report *r, const struct simulation *s)
{
    if (algorithm_faults(s->algorithm) == 0 && s->choices.faults == 0)
        return;
    struct json *list = json_list(r->json, "faults");
    report_text(r, "faults");
    for (int f = 0; f < FAULT_COUNT; f++) {
        if ((s->choices.faults >> f & 1) == 0)
            continue;
        report_text(r, " %s", fault_name((enum fault)f));
        json_string(list, NULL, fault_name((enum fault)f));
    }
    report_text(r, s->choices.faults == 0 ? " none: the corrected loop\n" : "\n");
}

/* Where the kernel leaves the contracts on this problem. */
static void describe_kernel(struct report *r, const struct finished *x)
{
    const struct kernel_choice *c = &x->simulation.kernel;
    char *warnings = kernel_warnings(c, &x->input.problem);
    report_text(r, "modelled on %s (%s, %d SMs); evidence: flashulp list kernels\n", c->device,
                c->unit, c->sms);
    report_text(r, "%s", warnings != NULL ? warnings : "");
    if (warnings != NULL)
        json_string(r->json, "caution", warnings);
    free(warnings);
}

void run_headline(struct report *r, const struct scenario_input *in)
{
    const struct problem *p = &in->problem;
    report_text(r, "%s   q %lld,%lld,%lld,%lld   k v %lld,%lld,%lld,%lld   %s\n", in->name,
                (long long)p->B, (long long)p->Hq, (long long)p->Nq, (long long)p->D,
                (long long)p->B, (long long)p->Hkv, (long long)p->Nk, (long long)p->D,
                format_info(in->input_format)->name);
    report_text(r, "%s", in->remarks);
}

static void describe(struct report *r, const struct finished *x)
{
    const struct simulation *s = &x->simulation;
    struct special_text special = special_words(s->policy.special);
    run_headline(r, &x->input);
    report_text(r, "%s   policy %s   %s   arithmetic %s\n", simulation_name(s).text, s->policy.name,
                special.text, s->arith->name);
    describe_faults(r, s);
    describe_groups(r, &x->input, s);
    if (s->is_kernel)
        describe_kernel(r, x);
    json_string(r->json, s->is_kernel ? "kernel" : "algorithm", simulation_name(s).text);
    json_string(r->json, "policy", s->policy.name);
    json_string(r->json, "special", special_name(s->policy.special.how));
    describe_table(r, s);
    json_string(r->json, "arith", s->arith->name);
}

static void add_shape(struct report *r, const struct problem *p)
{
    struct json *shape = json_list(r->json, "shape");
    json_whole(shape, NULL, p->B);
    json_whole(shape, NULL, p->Hq);
    json_whole(shape, NULL, p->Nq);
    json_whole(shape, NULL, p->D);
}

/* The first row's, as a sample of them. */
static void add_logarithm(struct report *r, const struct finished *x, const struct head *h,
                          int64_t n)
{
    char where[64];
    snprintf(where, sizeof where, "L[%lld,%lld,%lld]", (long long)h->batch, (long long)h->head,
             (long long)n);
    report_text(r, " %-16s %s\n", where, number_text(run_lse_format(x), logarithm(x, 0)).text);
}

/* O[b,h,n,d] and its bits; the whole selection goes to the table and 64 numbers to JSON. */
static void add_numbers(struct report *r, const struct finished *x)
{
    enum { IN_TEXT = 8, IN_JSON = 64 };
    enum format f = run_out_format(x);
    struct json *list = json_list(r->json, "output"), *lse = json_list(r->json, "lse");
    int64_t shown = 0;
    report_row(r, "batch\thead\trow\tdim\tvalue\tbits");
    for (int64_t i = 0; i < x->selection.rows; i++) {
        struct head h = problem_head(&x->input.problem, x->selection.unit[i]);
        int64_t n = h.q0 + x->selection.row[i];
        for (int64_t k = 0; k < x->selection.dims; k++, shown++) {
            int64_t d = x->selection.dim[k];
            double value = output(x, i, d);
            unsigned long long bits = format_encode(f, value);
            int digits = format_info(f)->bits / 4;
            char where[64];
            snprintf(where, sizeof where, "O[%lld,%lld,%lld,%lld]", (long long)h.batch,
                     (long long)h.head, (long long)n, (long long)d);
            if (shown < IN_TEXT)
                report_text(r, " %-16s %-22s 0x%0*llX\n", where, number_text(f, value).text, digits,
                            bits);
            if (shown < IN_JSON)
                json_real(list, NULL, value);
            report_row(r, "%lld\t%lld\t%lld\t%lld\t%s\t0x%0*llX", (long long)h.batch,
                       (long long)h.head, (long long)n, (long long)d, number_text(f, value).text,
                       digits, bits);
        }
        if (i < IN_JSON)
            json_real(lse, NULL, logarithm(x, i));
        if (i == 0)
            add_logarithm(r, x, &h, n);
    }
    if (shown > IN_TEXT)
        report_text(r, " ... %s more numbers: --out FILE.npy, -o FILE.csv\n",
                    grouped(shown - IN_TEXT).text);
}

/* The chosen rows against the certified result. */
static bool check(struct report *r, const struct finished *x, struct message *why)
{
    struct verdict verdict;
    const struct selection *s = &x->selection;
    double *got = malloc((size_t)(s->dims > 0 ? s->dims : 1) * sizeof *got);
    if (got == NULL)
        return refuse(why, "no memory");
    verdict_start(&verdict);
    for (int64_t i = 0; i < s->rows; i++) {
        struct head h = problem_head(&x->input.problem, s->unit[i]);
        cli_progress("run", i, s->rows);
        for (int64_t k = 0; k < s->dims; k++)
            got[k] = output(x, i, s->dim[k]);
        judge_row(&verdict, 1, &h, s->row[i], s->dim, s->dims, run_out_format(x), got);
    }
    cli_progress("run", s->rows, s->rows);
    free(got);
    struct error_summary e = verdict.ulps;
    report_text(r, "certified  %s of %s outputs are correctly rounded (%.1f %%)\n",
                grouped(e.correctly_rounded).text, grouped(e.elements).text,
                e.elements > 0 ? 100.0 * (double)e.correctly_rounded / (double)e.elements : 100.0);
    if (e.different_kind < e.elements)
        report_text(
            r,
            "           largest error %.3f ulp, mean %+.4f ulp of %s\n"
            "           largest error %.2f roundoffs of the uncancelled sum, 2^-%d sum |w v|\n",
            e.max_ulp, error_bias(&e), format_info(run_out_format(x))->name, verdict.max_roundoffs,
            format_info(run_out_format(x))->precision);
    if (e.different_kind > 0)
        report_text(r, "           %s outputs are of another kind (NaN or infinite)\n",
                    grouped(e.different_kind).text);
    struct json *j = json_object(r->json, "check");
    json_whole(j, "elements", e.elements);
    json_whole(j, "correctly_rounded", e.correctly_rounded);
    json_whole(j, "different_kind", e.different_kind);
    json_real(j, "max_ulp", e.max_ulp);
    json_real(j, "max_roundoffs", verdict.max_roundoffs);
    json_real(j, "mean_signed_ulp", error_bias(&e));
    return true;
}

static bool say(struct report *r, const struct finished *x, struct message *why)
{
    char digest[24];
    const struct selection *s = &x->selection;
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)x->result.digest);
    describe(r, x);
    json_string(r->json, "digest", digest);
    add_shape(r, &x->input.problem);
    if (s->rows < s->rows_total)
        report_text(r, "%s of %s rows\n", grouped(s->rows).text, grouped(s->rows_total).text);
    add_numbers(r, x);
    if (x->scenario->given[OPTION_CHECK] && !check(r, x, why))
        return false;
    json_real(r->json, "seconds", x->seconds);
    report_text(r, "digest %s   (FNV-1a-64 of all of O in %s, then L)   %.3f s\n", digest,
                format_info(x->simulation.policy.site[SITE_OUT].format)->name, x->seconds);
    return true;
}

static bool run_it(struct finished *x, struct message *why)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (!simulate(&x->input.problem, &x->simulation, &x->result, why))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &end);
    x->seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    x->row_start = run_row_starts(&x->input.problem);
    return x->row_start != NULL || refuse(why, "no memory");
}

static bool run(struct finished *x, struct report *r, struct message *why)
{
    static const enum option files[] = {OPTION_OUT, OPTION_LSE};
    const struct scenario *s = x->scenario;
    bool all = s->value[OPTION_ALGORITHM] != NULL && strcmp(s->value[OPTION_ALGORITHM], "all") == 0;
    if (s->given[OPTION_DO] && !all)
        return run_gradient(s, r, why);
    if (s->given[OPTION_DO])
        return refuse(why, "--algorithm all runs forward; name an algorithm for --do");
    if (!scenario_without_gradient(s, why))
        return false;
    if (all) {
        if (s->given[OPTION_OUT] || s->given[OPTION_LSE])
            return refuse(
                why, "--algorithm all has no one output: name an algorithm for --out and --lse");
        return report_check_outputs(s, "json md csv svg", NULL, 0, why) && run_all(s, r, why);
    }
    if (!report_check_outputs(s, "json md csv safetensors", files, 2, why) ||
        !scenario_problem(s, &x->input, why))
        return false;
    if (!scenario_simulation(s, &x->input, &x->simulation, why) ||
        !scenario_select(s, &x->input.problem, &x->selection, why))
        return false;
    cli_expect("run", expected_seconds(x));
    return run_it(x, why) && say(r, x, why) && run_write_outputs(r, x, why) &&
           report_finish(r, why);
}

int cli_run(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_RUN, argc, argv, &status))
        return status;
    struct finished x = {.scenario = &s};
    report_new(&r, &s);
    if (!run(&x, &r, &why))
        status = cli_refused("run", &why);
    free(x.row_start);
    result_free(&x.result);
    selection_free(&x.selection);
    scenario_input_free(&x.input);
    report_free(&r);
    scenario_free(&s);
    return status;
}
