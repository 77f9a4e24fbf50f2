/* audit_measured.c: outputs that were measured: tensors of a capture, or files of their own.

   A measured O has the shape of the problem's, (B, Hq, Nq, D), or without leading dimensions of 1,
   in the capture's layout.  What its metadata leave out is taken by default, and said. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"
#include "simulator/data.h"
#include "simulator/dump.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

char *audit_capture_path(const struct scenario *s)
{
    enum example e;
    struct message ignored;
    char *path = NULL;
    if (s->problem == NULL)
        return NULL;
    if (scenario_example(s, &e))
        return example_info(e)->file != NULL ? data_file(example_info(e)->file, &ignored) : NULL;
    text_append(&path, "%s", s->problem);
    return path;
}

static bool says_bnhd(const char *layout)
{
    char lower[8] = "";
    for (int i = 0; layout != NULL && i < 7 && layout[i] != 0; i++)
        lower[i] = (char)tolower((unsigned char)layout[i]);
    return strcmp(lower, "bnhd") == 0 || strcmp(lower, "bshd") == 0;
}

/* The tensor as (B, Hq, Nq, D), a view; false when it has not that shape. */
static bool as_output(const struct tensor *t, const struct problem *p, bool bnhd,
                      struct tensor *view)
{
    const int64_t want[2][TENSOR_MAX_RANK] = {{p->B, p->Hq, p->Nq, p->D},
                                              {p->B, p->Nq, p->Hq, p->D}};
    *view = *t;
    view->owns_data = false;
    for (; view->rank < TENSOR_MAX_RANK; view->rank++) {
        memmove(view->shape + 1, view->shape, sizeof view->shape - sizeof view->shape[0]);
        memmove(view->stride + 1, view->stride, sizeof view->stride - sizeof view->stride[0]);
        view->shape[0] = 1;
        view->stride[0] = 0;
    }
    if (memcmp(view->shape, want[bnhd], sizeof want[bnhd]) != 0)
        return false;
    if (bnhd) {
        int64_t shape = view->shape[1], stride = view->stride[1];
        view->shape[1] = view->shape[2];
        view->stride[1] = view->stride[2];
        view->shape[2] = shape;
        view->stride[2] = stride;
    }
    return true;
}

static void digest(struct audit_run *run, const struct tensor *O)
{
    int64_t rows = O->shape[0] * O->shape[1] * O->shape[2], D = O->shape[3], row = 0;
    double *all = malloc(((size_t)(rows * D) + 1) * sizeof *all);
    if (all == NULL)
        return;
    for (int64_t b = 0; b < O->shape[0]; b++)
        for (int64_t h = 0; h < O->shape[1]; h++)
            for (int64_t n = 0; n < O->shape[2]; n++)
                tensor_row(O, b, h, n, D, all + row++ * D);
    run->digest = digest_outputs(run->format, all, rows * D, NULL, 0);
    run->has_digest = true;
    free(all);
}

bool audit_take_output(struct audit *a, struct audit_run *run, struct tensor *t, bool bnhd,
                       struct message *why)
{
    const struct problem *p = &a->in.problem;
    const struct selection *s = &a->selection;
    const int64_t want[] = {p->B, bnhd ? p->Nq : p->Hq, bnhd ? p->Hq : p->Nq, p->D};
    struct tensor O;
    run->measured = true;
    run->format = t->dtype;
    if (!as_output(t, p, bnhd, &O))
        return refuse(why, "%s: its shape is %s; the outputs of this problem are %s", run->what,
                      shape_text(t->rank, t->shape).text, shape_text(4, want).text);
    run->O = malloc(((size_t)audit_elements(a) + 1) * sizeof *run->O);
    if (run->O == NULL)
        return refuse(why, "%s: no memory", run->what);
    for (int64_t i = 0; i < s->rows; i++) {
        struct head h = problem_head(p, s->unit[i]);
        for (int64_t k = 0; k < s->dims; k++)
            run->O[i * s->dims + k] = tensor_get(&O, h.batch, h.head, h.q0 + s->row[i], s->dim[k]);
    }
    digest(run, &O);
    run->whole = O;
    run->whole.owns_data = t->owns_data;
    t->owns_data = false;
    return true;
}

enum format audit_words(const struct audit *a)
{
    const char *dtype = a->scenario->value[OPTION_DTYPE];
    return dtype != NULL && strcmp(dtype, "fp16") == 0 ? FORMAT_FP16 : FORMAT_BF16;
}

bool audit_bnhd(const struct audit *a, const struct bundle *b)
{
    const char *own = b != NULL ? bundle_meta(b, "layout.o") : NULL;
    return says_bnhd(a->scenario->value[OPTION_LAYOUT]) ||
           (b != NULL && says_bnhd(own != NULL ? own : bundle_meta(b, "layout")));
}

bool audit_measured_file(struct audit *a, struct audit_run *run, const char *path,
                         struct message *why)
{
    struct tensor t;
    struct message took;
    if (is_folder(path))
        return audit_replayed_dump(a, run, path, why);
    if (ends_with(path, ".safetensors"))
        return audit_replayed_capture(a, run, path, why);
    text_append(&run->what, "%s", path);
    if (!tensor_read_npy(path, audit_words(a), &t, &took, why))
        return false;
    if (took.text[0] != 0)
        text_append(&run->remarks, "%s: %s\n", path, took.text);
    bool ok = audit_take_output(a, run, &t, audit_bnhd(a, NULL), why);
    tensor_free(&t);
    return ok;
}

static bool says(const struct bundle *b, const char *key)
{
    const char *value = bundle_meta(b, key);
    return value != NULL && value[0] != 0 && strcmp(value, "None") != 0 &&
           strcmp(value, "null") != 0;
}

/* What the file leaves open and the command line does not settle. */
static void note_defaults(struct audit *a, const struct bundle *b)
{
    const struct scenario *s = a->scenario;
    char *list = NULL;
    if (!says(b, "scale") && !s->given[OPTION_SCALE])
        text_append(&list, ", scale 1/sqrt(%lld)", (long long)a->in.problem.D);
    if (!says(b, "causal") && !s->given[OPTION_CAUSAL])
        text_append(&list, ", no causal mask");
    if (!says(b, "window") && !s->given[OPTION_WINDOW])
        text_append(&list, ", no window");
    if (!says(b, "layout") && !says(b, "layout.q") && !s->given[OPTION_LAYOUT])
        text_append(&list, ", layout bhnd");
    if (list != NULL) {
        text_append(&a->defaults, "not in the file's metadata, so taken by default: %s", list + 2);
        free(list);
    }
}

/* The base of lse.NAME, by lse_base.NAME or lse_base. */
static bool take_base(struct audit_lse *l, const struct bundle *b, const char *path,
                      const char *name, struct message *why)
{
    char key[160];
    snprintf(key, sizeof key, "lse_base%s%s", name[0] != 0 ? "." : "", name);
    const char *own = bundle_meta(b, key);
    const char *value = says(b, key) ? own : says(b, "lse_base") ? bundle_meta(b, "lse_base") : NULL;
    l->base_given = value != NULL;
    l->base_2 = value != NULL && strcmp(value, "2") == 0;
    return value == NULL || l->base_2 || strcmp(value, "e") == 0 ||
           refuse(why, "%.200s: metadata lse_base '%.40s': e or 2 is right", path, value);
}

bool audit_take_lse(struct audit *a, struct audit_run *run, const struct bundle *b,
                    const char *path, const char *output, struct message *why)
{
    char name[136], *what = NULL;
    const char *own = output + 1 + (output[1] == '.');
    snprintf(name, sizeof name, "lse%s%s", own[0] != 0 ? "." : "", own);
    const struct tensor *t = bundle_find(b, name);
    if (t == NULL)
        return true;
    text_append(&what, "%s of %s", name, path);
    bool ok = take_base(&run->lse, b, path, own, why) &&
              audit_lse_take(&run->lse, what, t, &a->in.problem, &a->selection, why);
    free(what);
    return ok;
}

/* A kernel cuts the keys by the cache's capacity where there is one. */
static void note_capacity(struct audit *a, const struct bundle *b)
{
    const char *capacity = bundle_meta(b, "capacity");
    if (says(b, "capacity") && !a->scenario->given[OPTION_CAPACITY])
        text_append(&a->in.remarks,
                    "a cache of %.40s tokens, the file says: --capacity for the kernels' splits\n",
                    quoted(capacity, strlen(capacity)).text);
}

/* Logarithms without outputs, which nothing is said about. */
static void note_orphans(struct audit *a, const struct bundle *b)
{
    for (int i = 0; i < b->count; i++) {
        const char *name = b->tensors[i].name;
        char output[136];
        if (strncmp(name, "lse", 3) != 0 || (name[3] != 0 && name[3] != '.'))
            continue;
        snprintf(output, sizeof output, "o%s", name + 3);
        if (bundle_find(b, output) == NULL)
            text_append(&a->in.remarks, "%s: there is no %s beside it, so it is not looked at\n",
                        quoted(name, strlen(name)).text, output);
    }
}

bool audit_is_output(const char *name)
{
    return strncmp(name, "o.", 2) == 0 || strcmp(name, "o") == 0;
}

bool audit_measured_capture(struct audit *a, const char *path, struct message *why)
{
    struct bundle b;
    struct message took;
    bool ok = true;
    if (is_folder(path))
        return audit_measured_dump(a, path, why);
    if (!bundle_read(path, audit_words(a), &b, &took, why))
        return false;
    note_defaults(a, &b);
    note_orphans(a, &b);
    note_capacity(a, &b);
    for (int i = 0; ok && i < b.count; i++) {
        const char *name = b.tensors[i].name;
        if (!audit_is_output(name))
            continue;
        struct audit_run *run = audit_add(a, name, strlen(name), why);
        ok = run != NULL;
        if (ok) {
            text_append(&run->what, "%s of %s", name, path);
            ok = audit_take_output(a, run, &b.tensors[i].tensor, audit_bnhd(a, &b), why) &&
                 audit_take_lse(a, run, &b, path, name, why);
        }
    }
    bundle_free(&b);
    return ok;
}
