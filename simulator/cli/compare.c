/* compare.c: `flashulp compare GOT WANT`: two tensor files, or two folders of them, whole trees.

   Exit 0: equal bit for bit (any NaN equals any NaN), or within the tolerances given.  Exit 1: not,
   or a tensor or file is in one of the two only.  Exit 2: nothing was compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "simulator/cli/cli.h"
#include "simulator/cli/compare.h"
#include "simulator/scenario_parts.h"

bool compare_passes(const struct compare_job *job, const struct comparison *c)
{
    return job->tolerant ? c->outside == 0 : c->differ == 0 && c->zero_signs == 0;
}

bool compare_goes_on(const struct compare_job *job)
{
    return job->all || job->failed == 0;
}

static bool read_tolerance(const struct scenario *s, enum option o, double *x, struct message *why)
{
    *x = 0;
    if (s->value[o] == NULL)
        return true;
    if (!parse_real(option_info(o)->name, s->value[o], x, why))
        return false;
    return (*x >= 0 && isfinite(*x)) || refuse(why, "%s %.40s: 0 or a positive number is right",
                                               option_info(o)->name, s->value[o]);
}

static bool read_options(struct compare_job *job, struct message *why)
{
    const struct scenario *s = job->scenario;
    const char *dtype = s->value[OPTION_DTYPE], *layout = s->value[OPTION_LAYOUT];
    if (s->problem == NULL || s->other == NULL)
        return refuse(why, "%s; flashulp compare GOT WANT is right",
                      s->problem == NULL ? "no files are named" : "one file is named");
    job->all = s->given[OPTION_ALL];
    job->words = dtype != NULL && strcmp(dtype, "fp16") == 0 ? FORMAT_FP16 : FORMAT_BF16;
    if (dtype != NULL && strcmp(dtype, "fp16") != 0 && strcmp(dtype, "bf16") != 0)
        return refuse(why, "--dtype %.40s: bf16 or fp16, what 16-bit words hold, is right", dtype);
    job->bnhd = layout != NULL && strcmp(layout, "bnhd") == 0;
    if (layout != NULL && !job->bnhd && strcmp(layout, "bhnd") != 0)
        return refuse(why, "--layout %.40s: bhnd or bnhd is right", layout);
    job->tolerant = s->given[OPTION_ATOL] || s->given[OPTION_RTOL] || s->given[OPTION_ULP];
    job->ulp = -1;
    if (s->given[OPTION_ULP] &&
        !parse_integer("--ulp", s->value[OPTION_ULP], 0, INT64_MAX, &job->ulp, why))
        return false;
    return read_tolerance(s, OPTION_ATOL, &job->atol, why) &&
           read_tolerance(s, OPTION_RTOL, &job->rtol, why);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool compare_all(struct compare_job *job, struct message *why)
{
    const struct scenario *s = job->scenario;
    const char *exact = s->value[OPTION_EXACT];
    struct stat a, b;
    bool folder = is_folder(s->problem);
    if (folder != is_folder(s->other))
        return refuse(why, "%.200s is %s, %.200s is not; two files or two folders are right",
                      folder ? s->problem : s->other, "a folder", folder ? s->other : s->problem);
    job->same_file = stat(s->problem, &a) == 0 && stat(s->other, &b) == 0 && a.st_dev == b.st_dev &&
                     a.st_ino == b.st_ino;
    if (!(folder ? compare_folders(job, why)
                 : compare_files(job, s->problem, s->other, exact, why)))
        return false;
    if (job->tensors == 0)
        return refuse(why, "%.200s and %.200s have no tensor in common; nothing was compared",
                      s->problem, s->other);
    if (job->elements == 0)
        return refuse(why, "%.200s and %.200s: tensors without elements; nothing was compared",
                      s->problem, s->other);
    return true;
}

static bool failed(const struct compare_job *job)
{
    return job->failed > 0 || job->missing > 0;
}

/* "--atol 0.1 --ulp 2" */
static void append_tolerances(char **text, const struct scenario *s)
{
    static const enum option options[] = {OPTION_ATOL, OPTION_RTOL, OPTION_ULP};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (s->given[options[i]])
            text_append(text, " %s %s", option_info(options[i])->name, s->value[options[i]]);
}

static void append_verdict(char **text, const struct compare_job *job)
{
    if (job->of_kind > 0)
        text_append(text, "DIFFER in kind: NaN or infinity against something else at %s of %s.",
                    grouped(job->of_kind).text, grouped(job->elements).text);
    else if (job->outside > 0 && job->tolerant) {
        text_append(text, "OUTSIDE");
        append_tolerances(text, job->scenario);
        text_append(text, " at %s of %s elements.", grouped(job->outside).text,
                    grouped(job->elements).text);
    } else if (job->tolerant && job->differ + job->zero_signs > 0 && job->missing == 0) {
        text_append(text, "WITHIN");
        append_tolerances(text, job->scenario);
        text_append(text, ".");
    } else if (job->differ > 0)
        text_append(
            text, job->max_steps == 1 ? "DIFFER, by one ulp at most." : "DIFFER, by up to %s ulp.",
            grouped(job->max_steps).text);
    else if (job->zero_signs > 0)
        text_append(text, "DIFFER, in the signs of %s zeros only.", grouped(job->zero_signs).text);
    else if (job->missing == 0)
        text_append(text, "EQUAL, bit for bit%s", job->not_rounded > 0 ? "; but " : ".");
    else
        text_append(text, "DIFFER: what both have is equal.");
    if (job->not_rounded > 0 && job->differ + job->zero_signs + job->missing == 0)
        text_append(text, "%s of %s elements are not the exact values rounded.",
                    grouped(job->not_rounded).text, grouped(job->elements).text);
    if (job->missing > 0)
        text_append(text, " Only in one of the two: %s.", grouped(job->missing).text);
}

/* What equality does not show. */
static const char *not_tested(const struct compare_job *job)
{
    if (job->same_file)
        return "anything: GOT and WANT are one and the same file";
    if (job->scenario->value[OPTION_EXACT] == NULL)
        return "whether WANT is right: both may share a mistake (--exact E judges)";
    return NULL;
}

static void say_verdict(struct compare_job *job)
{
    struct report *r = job->report;
    char *verdict = NULL;
    append_verdict(&verdict, job);
    if (job->tensors > 1 || job->missing > 0)
        report_text(r, " tensors compared    %s, %s of them %s%s\n", grouped(job->tensors).text,
                    grouped(job->failed).text, job->tolerant ? "outside" : "different",
                    job->failed > 0 && !job->all ? "; stopped there (--all goes on)" : "");
    report_text(r, "\n verdict  %s\n", verdict);
    json_string(r->json, "verdict", verdict);
    if (not_tested(job) != NULL) {
        report_text(r, " not tested  %s\n", not_tested(job));
        json_string(r->json, "not_tested", not_tested(job));
        page_not_established(r->page, "%s", not_tested(job));
    }
    compare_page_end(job, verdict, r->table);
    report_text(r, "exit %d\n", failed(job));
    free(verdict);
}

static void add_totals(struct compare_job *job)
{
    struct json *j = job->report->json;
    int64_t averaged = job->elements - job->of_kind;
    json_whole(j, "compared", job->tensors);
    json_whole(j, "failed", job->failed);
    json_whole(j, "missing", job->missing);
    json_whole(j, "elements", job->elements);
    json_whole(j, "differ", job->differ);
    json_whole(j, "different_kind", job->of_kind);
    json_whole(j, "zero_signs", job->zero_signs);
    json_real(j, "max_ulp", job->of_kind > 0 ? INFINITY : (double)job->max_steps);
    json_real(j, "mean_signed_ulp", averaged > 0 ? job->sum_steps / (double)averaged : 0);
    json_real(j, "min_abs_tolerance", job->least_atol);
    json_real(j, "min_rel_tolerance", job->least_rtol);
}

static bool answer(struct compare_job *job, struct message *why)
{
    char *table = NULL;
    size_t size;
    if ((job->table = open_memstream(&table, &size)) == NULL)
        return refuse(why, "no memory");
    fprintf(job->table, "tensor\tindex\tgot\twant\tgot_bits\twant_bits\tulps\texact\n");
    job->files = json_list(job->report->json, "files");
    bool ok = compare_all(job, why);
    fclose(job->table);
    if (ok) {
        text_append(&job->report->table, "%s", table);
        add_totals(job);
        say_verdict(job);
    }
    free(table);
    free(job->text);
    return ok;
}

int cli_compare(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_COMPARE, argc, argv, &status))
        return status;
    report_new(&r, &s);
    r.page = page_new("flashulp compare");
    struct compare_job job = {.scenario = &s, .report = &r};
    if (!read_options(&job, &why) || !report_check_outputs(&s, "html md json csv", NULL, 0, &why) ||
        !answer(&job, &why) || !report_finish(&r, &why))
        status = cli_refused("compare", &why);
    else
        status = failed(&job);
    report_free(&r);
    scenario_free(&s);
    return status;
}
