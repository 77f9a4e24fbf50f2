/* run_files.c: see run_files.h. */
#include "simulator/cli/run_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/cli.h"

enum format run_out_format(const struct finished *x)
{
    enum format f = x->simulation.policy.site[SITE_OUT].format;
    return f == FORMAT_EXACT ? FORMAT_FP64 : f;
}

enum format run_lse_format(const struct finished *x)
{
    enum format f = x->simulation.policy.site[SITE_LSE].format;
    return f == FORMAT_EXACT || f == FORMAT_FP64 ? FORMAT_FP64 : FORMAT_FP32;
}

/* What a file holds: fp32's variants are stored as fp32. */
static enum format file_format(enum format f)
{
    return f == FORMAT_FP32_FTZ || f == FORMAT_TF32 ? FORMAT_FP32 : f;
}

/* The whole output (columns = D) or the logarithms (columns = 0) as a tensor in b, h, n order. */
static bool as_tensor(const struct finished *x, bool lse, struct tensor *t, struct message *why)
{
    const struct problem *p = &x->input.problem;
    const int64_t shape[TENSOR_MAX_RANK] = {p->B, p->Hq, p->Nq, p->D};
    enum format f = file_format(lse ? run_lse_format(x) : run_out_format(x));
    if (!tensor_new(t, f, lse ? 3 : 4, shape, why))
        return false;
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        for (int64_t r = 0; r < h.Nq; r++) {
            int64_t row = x->row_start[n] + r;
            if (lse)
                tensor_set(t, h.batch, h.head, h.q0 + r, 0, x->result.lse[row]);
            for (int64_t d = 0; !lse && d < p->D; d++)
                tensor_set(t, h.batch, h.head, h.q0 + r, d, x->result.O[row * p->D + d]);
        }
    }
    return true;
}

static bool write_tensor(struct report *r, const struct finished *x, enum option o, bool lse,
                         struct message *why)
{
    struct tensor t;
    const char *path = x->scenario->value[o];
    if (path == NULL)
        return true;
    if (!as_tensor(x, lse, &t, why))
        return false;
    report_making(r, path);
    bool ok = tensor_write_npy(path, &t, x->scenario->given[OPTION_FORCE], why);
    tensor_free(&t);
    return ok;
}

/* "0,3,8": where packed sequences start and end. */
static bool add_lengths(struct bundle *b, const char *key, const int64_t *cu, int64_t sequences,
                        struct message *why)
{
    char *text = NULL;
    for (int64_t n = 0; n <= sequences; n++)
        text_append(&text, "%s%lld", n > 0 ? "," : "", (long long)cu[n]);
    bool ok = bundle_add_meta(b, key, text, why);
    free(text);
    return ok;
}

/* What a reader of the capture needs to ask the same question; the default scale is left out,
   because 1/sqrt(D) is no double. */
static bool add_metadata(const struct finished *x, struct bundle *b, struct message *why)
{
    const struct problem *p = &x->input.problem;
    char *command = scenario_command(x->scenario), text[64];
    bool ok = bundle_add_meta(b, "engine", "flashulp", why) &&
              bundle_add_meta(b, "command", command, why) &&
              bundle_add_meta(b, "layout", "bhnd", why) &&
              bundle_add_meta(b, "causal", p->mask.causal ? "true" : "false", why);
    free(command);
    if (ok && p->scale.root == 1) {
        snprintf(text, sizeof text, "%.17g", p->scale.value);
        ok = bundle_add_meta(b, "scale", text, why);
    }
    if (ok && p->mask.align == ALIGN_TOP_LEFT)
        ok = bundle_add_meta(b, "causal_align", "top-left", why);
    if (ok && (p->mask.left >= 0 || p->mask.right >= 0)) {
        snprintf(text, sizeof text, "%lld,%lld", (long long)p->mask.left, (long long)p->mask.right);
        ok = bundle_add_meta(b, "window", text, why);
    }
    if (ok && p->softcap > 0) {
        snprintf(text, sizeof text, "%.17g", p->softcap);
        ok = bundle_add_meta(b, "softcap", text, why);
    }
    if (ok && p->cu_q != NULL)
        ok = add_lengths(b, "cu_seqlens", p->cu_q, p->sequences, why) &&
             add_lengths(b, "cu_seqlens_k", p->cu_k, p->sequences, why);
    return ok;
}

static bool write_capture(struct report *r, const struct finished *x, const char *path,
                          struct message *why)
{
    const struct problem *p = &x->input.problem;
    struct bundle b = {0};
    struct tensor O = {0}, lse = {0};
    char name[2][128];
    snprintf(name[0], sizeof name[0], "o.%.40s:%.47s", simulation_name(&x->simulation).text,
             x->simulation.policy.name);
    snprintf(name[1], sizeof name[1], "lse.%.96s", name[0] + 2);
    bool ok = as_tensor(x, false, &O, why) && as_tensor(x, true, &lse, why) &&
              bundle_add(&b, "q", &p->q, why) && bundle_add(&b, "k", &p->k, why) &&
              bundle_add(&b, "v", &p->v, why) && bundle_add(&b, name[0], &O, why) &&
              bundle_add(&b, name[1], &lse, why) && add_metadata(x, &b, why);
    if (ok) {
        report_making(r, path);
        ok = bundle_write(path, &b, x->scenario->given[OPTION_FORCE], why);
    }
    bundle_free(&b);
    tensor_free(&O);
    tensor_free(&lse);
    return ok;
}

bool run_write_outputs(struct report *r, const struct finished *x, struct message *why)
{
    char *path;
    bool ok =
        write_tensor(r, x, OPTION_OUT, false, why) && write_tensor(r, x, OPTION_LSE, true, why);
    for (int n = 0; ok && (path = report_output(x->scenario, n)) != NULL; n++) {
        ok = !ends_with(path, ".safetensors") || write_capture(r, x, path, why);
        free(path);
    }
    if (!ok)
        report_undo(r);
    return ok;
}
