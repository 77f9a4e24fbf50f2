/* audit_replay.c: outputs of another machine, which must have been given the same Q, K, V: those of
   a second capture, file:CAPTURE.safetensors.  (Dumped calls: audit_dump.c.) */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"

/* The first element in which two tensors of rank 4 differ, or their shapes; NULL: none. */
static char *difference(const char *name, const struct tensor *x, const struct tensor *y)
{
    char *text = NULL;
    if (x->rank != y->rank || memcmp(x->shape, y->shape, sizeof x->shape) != 0) {
        text_append(&text, "its %s is %s, this problem's %s", name,
                    shape_text(x->rank, x->shape).text, shape_text(y->rank, y->shape).text);
        return text;
    }
    for (int64_t n = 0; n < tensor_elements(x); n++) {
        int64_t d = n % x->shape[3], r = n / x->shape[3] % x->shape[2];
        int64_t h = n / x->shape[3] / x->shape[2] % x->shape[1];
        int64_t b = n / x->shape[3] / x->shape[2] / x->shape[1];
        double p = tensor_get(x, b, h, r, d), q = tensor_get(y, b, h, r, d);
        if (p == q || (isnan(p) && isnan(q)))
            continue;
        text_append(&text, "its %s[%lld,%lld,%lld,%lld] is %.9g, this problem's %.9g", name,
                    (long long)b, (long long)h, (long long)r, (long long)d, p, q);
        return text;
    }
    return NULL;
}

bool audit_same_inputs(const struct audit *a, const struct audit_run *run, const struct tensor *q,
                       const struct tensor *k, const struct tensor *v, struct message *why)
{
    const struct problem *p = &a->in.problem;
    const struct tensor *mine[3] = {q, k, v}, *theirs[3] = {&p->q, &p->k, &p->v};
    static const char *const names[3] = {"Q", "K", "V"};
    bool same = true;
    for (int i = 0; same && i < 3 && a->in.input_rounded == 0; i++) {
        char *text = difference(names[i], mine[i], theirs[i]);
        if (text != NULL)
            same = refuse(why,
                          "--runs %.100s: INPUTS DIFFER: %s; only outputs of identical Q, K, V "
                          "can be compared, as a replay makes them",
                          run->name, text);
        free(text);
    }
    return same;
}

/* The capture's Q, K, V, read as a problem of its own. */
static bool capture_problem(const struct audit *a, const char *path, struct scenario_input *in,
                            struct message *why)
{
    static const enum option kept[] = {OPTION_DTYPE, OPTION_LAYOUT};
    struct scenario other = {.verb = a->scenario->verb};
    text_append(&other.problem, "%s", path);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        other.value[kept[i]] = a->scenario->value[kept[i]];
        other.given[kept[i]] = a->scenario->given[kept[i]];
    }
    bool ok = scenario_problem(&other, in, why);
    free(other.problem);
    return ok;
}

/* The only output of a capture. */
static struct tensor *only_output(struct bundle *b, const char *path, const char **name,
                                  struct message *why)
{
    struct tensor *found = NULL;
    int outputs = 0;
    for (int i = 0; i < b->count; i++) {
        if (!audit_is_output(b->tensors[i].name))
            continue;
        *name = b->tensors[i].name;
        found = &b->tensors[i].tensor;
        outputs++;
    }
    if (outputs != 1)
        refuse(why, "%.200s has %d outputs o.NAME; a capture with one is right beside another",
               path, outputs);
    return outputs == 1 ? found : NULL;
}

bool audit_replayed_capture(struct audit *a, struct audit_run *run, const char *path,
                            struct message *why)
{
    struct scenario_input in;
    struct bundle b;
    struct message took;
    const char *name = "";
    if (!capture_problem(a, path, &in, why))
        return false;
    const struct problem *p = &in.problem;
    bool ok = audit_same_inputs(a, run, &p->q, &p->k, &p->v, why);
    scenario_input_free(&in);
    if (!ok || !bundle_read(path, audit_words(a), &b, &took, why))
        return false;
    struct tensor *output = only_output(&b, path, &name, why);
    ok = output != NULL;
    if (ok) {
        text_append(&run->what, "%s of %s", name, path);
        ok = audit_take_output(a, run, output, audit_bnhd(a, &b), why) &&
             audit_take_lse(a, run, &b, path, name, why);
    }
    bundle_free(&b);
    return ok;
}
