/* check.c: `flashulp-gpu check`: every kernel on small problems, under every schedule, against its
   pair to the bit and against the certified result, outputs and gradients. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

enum { ASK_FORWARD = 1, ASK_DECODES = 2, ASK_BACKWARD = 4, ASK_QUICK = 8 };

static const struct problem_row {
    const char *what, *words;
    unsigned kernels;
} problems[] = {
#define CHECK(what, words, kernels) {what, words, kernels},
#include "gpu/check.def"
#undef CHECK
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

struct tally {
    int passed, failed, skipped;
    double outputs, gradients; /* how near the bound around the certified result they come */
    int64_t moved, added;      /* numbers of dQ by atomic adds: changed by another order, of all */
    struct json *failures;
    bool json, quick;
};

static void say(const struct tally *t, const char *line)
{
    if (!t->json)
        printf("%s\n", line);
    fflush(stdout);
}

static bool asked_of(const struct problem_row *row, enum gpu_kernel k)
{
    unsigned flags = gpu_kernel_info(k)->flags;
    unsigned want = flags & GPU_DECODES    ? ASK_DECODES
                    : flags & GPU_BACKWARD ? ASK_BACKWARD
                                           : ASK_FORWARD;
    return row->kernels & want;
}

static void failed(struct tally *t, const char *what, const char *how, const char *why)
{
    char *text = NULL;
    t->failed++;
    text_append(&text, "  FAILED %s: %s\n    %s", what, why, how);
    say(t, text);
    struct json *j = json_object(t->failures, NULL);
    json_string(j, "what", what);
    json_string(j, "why", why);
    json_string(j, "command", how);
    free(text);
}

/* The command that runs one check again. */
static char *again(const struct gpu_pair *p, const struct problem_row *row, enum schedule s)
{
    char *text = NULL;
    text_append(&text, "flashulp-gpu run --kernel %s %s --pair --schedule %s",
                gpu_kernel_info(p->kernel)->name, row->words, schedule_name(s));
    if (p->unit != NULL && target_is_emulator())
        text_append(&text, " --accumulate %s", p->unit);
    return text;
}

/* Passed where the share of the bound is at most 1; the largest is kept. */
static void inside(struct tally *t, const struct gpu_pair *p, const struct problem_row *row,
                   const char *of, double share, double *most)
{
    char what[128], why[128], *how;
    *most = fmax(*most, share);
    if (share <= 1) {
        t->passed++;
        return;
    }
    how = again(p, row, SCHEDULE_PLAIN);
    snprintf(what, sizeof what, "%s, %s", gpu_kernel_info(p->kernel)->name, row->what);
    snprintf(why, sizeof why, "%s are %.3g times the bound from the certified result", of, share);
    failed(t, what, how, why);
    free(how);
}

/* The pair's outputs under schedule s: dQ of atomic adds is another in another order of blocks. */
static bool pair_under(struct tally *t, const struct gpu_pair *p, const struct target_settings *as,
                       const struct gpu_output *plain, struct gpu_output *own, struct message *why)
{
    bool other = as->schedule == SCHEDULE_LATE || as->schedule == SCHEDULE_RANDOM;
    if (!other || !(gpu_kernel_info(p->kernel)->flags & GPU_ATOMIC))
        return true;
    if (!gpu_run_pair(p, as, own, why))
        return false;
    t->moved += gpu_compare(p, own, plain).count;
    t->added += own->elements;
    return true;
}

static void check_schedule(struct tally *t, const struct gpu_pair *p, const struct problem_row *row,
                           enum schedule s, const struct gpu_output *plain)
{
    struct target_settings target = {.schedule = s, .seed = 1, .unit = p->unit};
    struct gpu_output got = {0}, own = {0};
    struct message why;
    char what[160], differs[256];
    struct gpu_difference d = {0};
    bool ran =
        pair_under(t, p, &target, plain, &own, &why) && gpu_run_kernel(p, &target, &got, &why);
    if (ran)
        d = gpu_compare(p, &got, own.O != NULL ? &own : plain);
    if (ran && d.count == 0) {
        t->passed++;
    } else {
        char *how = again(p, row, s);
        snprintf(what, sizeof what, "%s, %s, %s, %s", gpu_kernel_info(p->kernel)->name, row->what,
                 p->unit != NULL ? p->unit : "fp32", schedule_name(s));
        snprintf(differs, sizeof differs, "%lld numbers differ from the pair's: %s",
                 (long long)d.count, d.first);
        failed(t, what, how, ran ? differs : why.text);
        free(how);
    }
    if (ran && gpu_order_unknown(p))
        inside(t, p, row, "gradients", gpu_certified_gradients(p, &got), &t->gradients);
    gpu_output_free(&got);
    gpu_output_free(&own);
}

static void check_certified(struct tally *t, const struct gpu_pair *p,
                            const struct problem_row *row, const struct gpu_output *o)
{
    enum { QUICK_PAIRS = 10000 }; /* of queries and keys: MPFR takes 50 us for each */
    const struct problem *x = &p->input.problem;
    bool small = x->B * x->Hq * x->Nq * x->Nk <= QUICK_PAIRS;
    inside(t, p, row, "outputs", gpu_certified_outputs(p, o), &t->outputs);
    if (o->dQ != NULL && (small || !t->quick))
        inside(t, p, row, "gradients", gpu_certified_gradients(p, o), &t->gradients);
}

/* One problem, one way to accumulate: all schedules. */
static void check_problem(struct tally *t, enum gpu_kernel k, const struct problem_row *row,
                          const char *unit, unsigned schedules)
{
    struct gpu_pair p;
    struct gpu_output want;
    struct target_settings plain = {.unit = unit};
    struct message why;
    const char *words[64];
    char row_words[256];
    int count = 0;
    snprintf(row_words, sizeof row_words, "%s", row->words);
    for (char *w = strtok(row_words, " "); w != NULL; w = strtok(NULL, " "))
        words[count++] = w;
    if (!gpu_pair_new(&p, k, unit, count, words, &why)) {
        failed(t, gpu_kernel_info(k)->name, row->words, why.text);
        return;
    }
    if (!gpu_fits(k, p.input.problem.D, p.input.input_format == FORMAT_FP16, &why)) {
        char *text = NULL;
        t->skipped++;
        text_append(&text, "  skipped: %s", why.text);
        say(t, text);
        free(text);
    } else if (!gpu_run_pair(&p, &plain, &want, &why)) {
        failed(t, gpu_kernel_info(k)->name, row->words, why.text);
    } else {
        for (int s = 0; s < SCHEDULES; s++)
            if (schedules >> s & 1)
                check_schedule(t, &p, row, (enum schedule)s, &want);
        if (unit == NULL || !target_is_emulator())
            check_certified(t, &p, row, &want);
        gpu_output_free(&want);
    }
    gpu_pair_free(&p);
}

/* That a kernel's atomic adds have come in several orders shows in some bit. */
static void check_orders(struct tally *t, enum gpu_kernel k)
{
    char line[160];
    if (!(gpu_kernel_info(k)->flags & GPU_ATOMIC) || !target_is_emulator())
        return;
    snprintf(line, sizeof line,
             "  atomic adds: in another order of blocks %s of %s numbers of dQ are others",
             grouped(t->moved).text, grouped(t->added).text);
    if (t->moved > 0) {
        t->passed++;
        say(t, line);
    } else {
        failed(t, gpu_kernel_info(k)->name, "flashulp-gpu check", line);
    }
}

/* Quick: of the rows marked so every schedule with fp32 chains, and each tensor core once. */
static void check_kernel(struct tally *t, enum gpu_kernel k, bool quick)
{
    static const char *const units[] = {NULL, "sm80", "sm90"};
    const unsigned all = target_is_emulator() ? (1u << SCHEDULES) - 1 : 1u << SCHEDULE_PLAIN;
    bool tensor = gpu_kernel_info(k)->flags & GPU_TENSOR;
    int ways = tensor && target_is_emulator() ? 3 : 1, failed_before = t->failed,
        before = t->passed;
    char line[128];
    for (int i = 0; i < PROBLEMS; i++) {
        const struct problem_row *row = &problems[i];
        if (!asked_of(row, k) || (quick && !(row->kernels & ASK_QUICK)))
            continue;
        for (int u = 0; u < ways; u++) {
            const char *unit = target_is_emulator() ? units[u] : tensor ? target_unit() : NULL;
            check_problem(t, k, row, unit, quick && u > 0 ? 1u << SCHEDULE_LATE : all);
        }
    }
    check_orders(t, k);
    snprintf(line, sizeof line, "%-14s %4d passed, %d failed", gpu_kernel_info(k)->name,
             t->passed - before, t->failed - failed_before);
    say(t, line);
}

static void conclude(struct tally *t, struct json *j)
{
    char line[192];
    snprintf(line, sizeof line, "the certified result: outputs within %.2f of the proved bound",
             t->outputs);
    if (t->gradients > 0)
        snprintf(line + strlen(line), sizeof line - strlen(line), ", gradients within %.2f",
                 t->gradients);
    say(t, line);
    snprintf(line, sizeof line, "%d passed, %d failed, %d skipped", t->passed, t->failed,
             t->skipped);
    say(t, line);
    gpu_add_target(j);
    json_whole(j, "passed", t->passed);
    json_whole(j, "failed", t->failed);
    json_whole(j, "skipped", t->skipped);
    json_whole(j, "dq_moved", t->moved);
    json_real(j, "outputs_of_bound", t->outputs);
    json_real(j, "gradients_of_bound", t->gradients);
}

int verb_check(int argc, char **argv)
{
    struct gpu_words w;
    struct message why;
    struct scenario none = {.verb = "gpu"};
    struct report r;
    if (!gpu_words_read(&w, argc, argv, &why))
        return gpu_refused("check", &why);
    if (w.count > 0 || w.how_given || w.pair) {
        refuse(&why, "%s%.40s%s: --kernel, --quick and --json are all it takes",
               w.count > 0 ? "\"" : "", w.count > 0 ? w.rest[0] : "it runs every schedule and sum",
               w.count > 0 ? "\"" : "");
        return gpu_refused("check", &why);
    }
    report_new(&r, &none);
    struct tally t = {.json = w.json, .quick = w.quick, .failures = json_list(r.json, "failures")};
    char line[192];
    snprintf(line, sizeof line, "on %s", target_name());
    say(&t, line);
    for (int k = 0; k < GPU_KERNELS; k++)
        if (!w.kernel_given || w.kernel == (enum gpu_kernel)k)
            check_kernel(&t, (enum gpu_kernel)k, w.quick);
    conclude(&t, r.json);
    if (w.json)
        gpu_print_json(&r);
    report_free(&r);
    return t.failed > 0;
}
