/* audit_dump.c: outputs of dumped calls: of the problem's own, named o, and of another GPU's, which
   must have been given the same Q, K, V. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"
#include "simulator/dump.h"
#include "simulator/scenario_parts.h"

/* The first element in which two tensors of rank 4 differ, or their shapes, in words; NULL: none. */
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

/* What was rounded at INPUT cannot be compared any more. */
static bool same_inputs(const struct audit *a, const struct audit_run *run, const struct dumped *d,
                        struct message *why)
{
    const struct problem *p = &a->in.problem;
    const struct tensor *mine[3] = {&d->q, &d->k, &d->v}, *theirs[3] = {&p->q, &p->k, &p->v};
    static const char *const names[3] = {"Q", "K", "V"};
    bool same = true;
    for (int i = 0; same && i < 3 && a->in.input_rounded == 0; i++) {
        char *text = difference(names[i], mine[i], theirs[i]);
        if (text != NULL)
            same = refuse(why,
                          "--runs %.100s: %s; only outputs of identical Q, K, V can be "
                          "compared, as a replay makes them",
                          run->name, text);
        free(text);
    }
    return same;
}

/* Outputs and LSE; d keeps what it owns. */
static bool take_dumped(struct audit *a, struct audit_run *run, const char *path, struct dumped *d,
                        struct message *why)
{
    char *what = NULL;
    text_append(&run->what, "%s", path);
    text_append(&what, "the LSE of %s", path);
    bool ok = audit_take_output(a, run, &d->o, why) &&
              (d->lse.data == NULL ||
               audit_lse_take(&run->lse, what, &d->lse, &a->in.problem, &a->selection, why));
    free(what);
    return ok;
}

bool audit_measured_dump(struct audit *a, const char *path, struct message *why)
{
    struct dumped d;
    if (!dumped_read(path, &d, why))
        return false;
    struct audit_run *run = d.o.data != NULL ? audit_add(a, "o", 1, why) : NULL;
    bool ok = d.o.data == NULL || (run != NULL && take_dumped(a, run, path, &d, why));
    dumped_free(&d);
    return ok;
}

bool audit_replayed_dump(struct audit *a, struct audit_run *run, const char *path,
                         struct message *why)
{
    struct dumped d;
    if (!dumped_read(path, &d, why))
        return false;
    bool ok = d.o.data != NULL
                  ? same_inputs(a, run, &d, why) && take_dumped(a, run, path, &d, why)
                  : refuse(why, "%.200s: the call has no output: it did not complete", path);
    dumped_free(&d);
    return ok;
}
