/* claims_kernels.c: claims C6, C12 and C17: what the kernel models round, read off their own calls.

   Where a weight was rounded last before a sum takes it is asked of the calls of a run, not of a
   table: a model that summed other weights would give another answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simulator/claims_parts.h"

/* Formats met in a run; the run is the first member, so that `perform` finds them behind it. */
struct spied_run {
    struct run run;
    enum format values, sum;  /* weights as the value product, and as the row sum, take them */
    enum format output, stat; /* a group's output, and its statistics, as stored */
};

static enum format format_at(const struct run *r, enum site site)
{
    enum format f = site == SITE_NONE ? FORMAT_EXACT : r->policy->site[site].format;
    return f == FORMAT_FP32_FTZ ? FORMAT_FP32 : f;
}

static void perform_spied(struct run *r, const struct call *c)
{
    struct spied_run *s = (struct spied_run *)r;
    bool sums = c->verb == VERB_ROW_SUM || c->verb == VERB_ROW_SUM_RESCALED;
    if (sums && c->site == SITE_ROW_SUM && c->a->name == TENSOR_P)
        s->sum = format_at(r, c->a->wrote);
    if (c->verb == VERB_MMA_AB && c->site == SITE_OUT_ACC)
        s->values = format_at(r, c->a->wrote);
    if (c->verb == VERB_ROUND_AT && c->site == SITE_PARTIAL_OUT)
        s->output = format_at(r, c->site);
    if (c->verb == VERB_ROUND_AT && c->site == SITE_PARTIAL_STAT)
        s->stat = format_at(r, c->site);
    perform_plain(r, c);
}

/* The named kernel on a drawn decode step: heads, keys, head size. */
static struct simulation kernel_run(const char *name, const struct problem *p)
{
    struct message why;
    struct simulation s = simulation_default();
    s.is_kernel = true;
    bool ok = kernel_choose(&s.kernel, name, &why) && kernel_takes(&s.kernel, p, FORMAT_BF16, &why) &&
              kernel_plan(&s.kernel, p, &why) &&
              kernel_policy(&s.kernel, p, FORMAT_BF16, &s.policy, &why);
    if (!ok)
        s.is_kernel = false;
    return s;
}

static struct problem decode_step(const struct claim_inputs *in, enum claim_input shape)
{
    int keys = (int)claim_number(in, shape, 0), D = (int)claim_number(in, shape, 1);
    return drawn_problem(17, 1, keys, D > 0 ? D : 1);
}

static bool spy(const char *name, const struct problem *p, struct spied_run *s)
{
    struct message why;
    struct simulation simulation = kernel_run(name, p);
    struct head h = problem_head(p, 0);
    memset(s, 0, sizeof *s);
    s->values = s->sum = s->output = s->stat = FORMAT_EXACT;
    if (!simulation.is_kernel ||
        !run_new(&s->run, simulation.arith, &simulation.policy, simulation.precision, &why))
        return false;
    s->run.perform = perform_spied;
    simulate_head(&s->run, &simulation, &h);
    run_free(&s->run);
    return true;
}

/* Is the n-th published format this one? */
static enum verdict_word format_verdict(const struct claim_inputs *in, enum claim_input i, int n,
                                        enum format f)
{
    const char *at = in->text[i];
    for (; n > 0 && *at != 0; n--)
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    const char *name = format_info(f)->name;
    size_t length = strcspn(at, " ");
    return verdict_of(strlen(name) == length && strncmp(at, name, length) == 0);
}

/* The four formats against the published ones, as many as there are. */
static void judge_formats(const struct claim_inputs *in, enum claim_input kernel,
                          enum claim_input shape, enum claim_input formats,
                          struct claim_outcome *out)
{
    static const char *const what[] = {"weights of the value sum", "weights of the normaliser",
                                       "a group's output", "a group's statistics"};
    struct problem p = decode_step(in, shape);
    struct spied_run s;
    if (!spy(in->text[kernel], &p, &s)) {
        out->verdict = VERDICT_FAILS;
        snprintf(out->computed, sizeof out->computed, "no such run");
        problem_free(&p);
        return;
    }
    const enum format met[] = {s.values, s.sum, s.output, s.stat};
    out->verdict = VERDICT_HOLDS;
    explain(out, "Formats met by the calls of %s, %" PRId64 " keys of size %" PRId64 ":\n",
            in->text[kernel], p.Nk, p.D);
    for (int n = 0; n < 4; n++) {
        enum verdict_word v = format_verdict(in, formats, n, met[n]);
        out->verdict = n == 0 ? v : verdict_both(out->verdict, v);
        explain(out, "  %-26s %s\n", what[n], format_info(met[n])->name);
    }
    snprintf(out->computed, sizeof out->computed, "%s %s; %s %s", format_info(met[0])->name,
             format_info(met[1])->name, format_info(met[2])->name, format_info(met[3])->name);
    problem_free(&p);
}

void claim_c6(const struct claim_inputs *in, struct claim_outcome *out)
{
    judge_formats(in, INPUT_C6_KERNEL, INPUT_C6_SHAPE, INPUT_C6_FORMATS, out);
}

void claim_c17(const struct claim_inputs *in, struct claim_outcome *out)
{
    judge_formats(in, INPUT_C17_KERNEL, INPUT_C17_SHAPE, INPUT_C17_FORMATS, out);
}

/* How many of so many runs of a kernel gave the first one's digest; threads vary. */
static int repeats(const char *name, const struct problem *p, int runs, uint64_t *digest)
{
    struct simulation s = kernel_run(name, p);
    int same = 0;
    for (int n = 0; n < runs && s.is_kernel; n++) {
        s.threads = 1 + n % 2;
        struct result result = claim_run(p, &s);
        *digest = n == 0 ? result.digest : *digest;
        same += result.digest == *digest;
        result_free(&result);
    }
    return same;
}

void claim_c12(const struct claim_inputs *in, struct claim_outcome *out)
{
    int runs = (int)claim_number(in, INPUT_C12_RUNS, 0), kernels = 0, stable = 0;
    struct problem p = decode_step(in, INPUT_C12_SHAPE);
    const char *at = in->text[INPUT_C12_KERNELS];
    explain(out, "Models repeat their bytes; whether GPUs do was not run here.\n");
    while (*at != 0) {
        char name[64];
        uint64_t digest = 0;
        int length = (int)strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", length, at);
        int same = repeats(name, &p, runs, &digest);
        kernels++;
        stable += same == runs;
        explain(out, "  %-28s %d of %d runs %016" PRIx64 "\n", name, same, runs, digest);
        at += length + (at[length] == ' ');
    }
    out->verdict = stable == kernels ? VERDICT_NO_GPU : VERDICT_FAILS;
    snprintf(out->computed, sizeof out->computed, "models: %d of %d", stable, kernels);
    problem_free(&p);
}
