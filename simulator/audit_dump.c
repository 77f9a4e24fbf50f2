/* audit_dump.c: outputs of dumped calls: of the problem's own, named o, and of another GPU's, which
   must have been given the same Q, K, V. */
#include <stdlib.h>

#include "simulator/audit_parts.h"
#include "simulator/dump.h"
#include "simulator/scenario_parts.h"

/* Outputs and LSE; d keeps what it owns. */
static bool take_dumped(struct audit *a, struct audit_run *run, const char *path, struct dumped *d,
                        struct message *why)
{
    char *what = NULL;
    text_append(&run->what, "%s", path);
    text_append(&what, "the LSE of %s", path);
    bool ok = audit_take_output(a, run, &d->o, false, why) &&
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
                  ? audit_same_inputs(a, run, &d.q, &d.k, &d.v, why) && take_dumped(a, run, path, &d, why)
                  : refuse(why, "%.200s: the call has no output: it did not complete", path);
    dumped_free(&d);
    return ok;
}
