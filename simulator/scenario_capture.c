/* scenario_capture.c: Q, K, V from files, and what a capture's metadata say about them.

   Metadata honoured: scale, causal, causal_align, window, softcap, layout (or layout.q, .k, .v).
   Values are texts such as Python writes them; None and empty ones say nothing.  Whatever is taken
   is remarked on.  The command line is read afterwards and wins. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/dump.h"
#include "simulator/scenario_draft.h"

bool draft_words(const struct scenario *s, enum format *words, struct message *why)
{
    const char *text = s->value[OPTION_DTYPE];
    *words = FORMAT_BF16;
    if (text == NULL)
        return true;
    enum format f;
    if (!format_from_name(text, &f, why))
        return false;
    if (f == FORMAT_FP16)
        *words = f;
    return true;
}

static void remark_taken(struct draft *d, const char *path, const struct message *took)
{
    if (took->text[0] != 0)
        text_append(&d->remarks, "%s: %s\n", path, took->text);
}

bool draft_from_files(const struct scenario *s, struct draft *d, struct message *why)
{
    static const enum option which[3] = {OPTION_Q, OPTION_K, OPTION_V};
    struct tensor *tensors[3] = {&d->q, &d->k, &d->v};
    enum format words;
    struct message took;
    for (int i = 0; i < 3; i++)
        if (s->value[which[i]] == NULL)
            return refuse(why, "--q, --k and --v go together; %s is missing",
                          option_info(which[i])->name);
    if (!draft_words(s, &words, why))
        return false;
    for (int i = 0; i < 3; i++) {
        const char *path = s->value[which[i]];
        if (!tensor_read_npy(path, words, tensors[i], &took, why))
            return false;
        remark_taken(d, path, &took);
        text_append(&d->name, "%s%s", i > 0 ? " " : "", path);
    }
    return true;
}

static bool says_nothing(const char *value)
{
    return value == NULL || value[0] == 0 || strcmp(value, "None") == 0 ||
           strcmp(value, "null") == 0;
}

/* Metadata `key` that says something and that the command line does not override. */
static const char *meta(const struct scenario *s, const struct bundle *b, const char *key,
                        enum option overrides)
{
    const char *value = bundle_meta(b, key);
    return s->given[overrides] || says_nothing(value) ? NULL : value;
}

static bool refuse_meta(const char *path, const char *key, const char *value, const char *right,
                        struct message *why)
{
    return refuse(why, "%.200s: metadata %s '%.40s': %s is right", path, key, value, right);
}

static bool meta_real(const char *path, const char *key, const char *value, double *x,
                      struct message *why)
{
    char *end;
    *x = strtod(value, &end);
    if (end == value || *end != 0)
        return refuse_meta(path, key, value, "a number", why);
    return true;
}

static bool meta_switch(const char *path, const char *key, const char *value, bool *on,
                        struct message *why)
{
    static const char *const yes[] = {"true", "True", "1"}, *const no[] = {"false", "False", "0"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0) {
            *on = strcmp(value, yes[i]) == 0;
            return true;
        }
    }
    return refuse_meta(path, key, value, "true or false", why);
}

/* "-1,-1", "(-1, -1)", "[127, 0]". */
static bool meta_window(const char *path, const char *value, struct mask *m, struct message *why)
{
    int64_t sides[2];
    const char *at = value + strspn(value, " ([");
    for (int i = 0; i < 2; i++) {
        char *end;
        sides[i] = strtoll(at, &end, 10);
        if (end == at)
            return refuse_meta(path, "window", value, "two whole numbers, left,right,", why);
        at = end + strspn(end, " ,])");
    }
    if (*at != 0 || sides[0] < -1 || sides[1] < -1)
        return refuse_meta(path, "window", value, "left,right, each -1 or more,", why);
    m->left = sides[0];
    m->right = sides[1];
    return true;
}

static bool layout_is_bnhd(const char *path, const char *key, const char *value, bool *bnhd,
                           struct message *why)
{
    char lower[8] = "";
    for (int i = 0; i < 7 && value[i] != 0; i++)
        lower[i] = (char)tolower((unsigned char)value[i]);
    *bnhd = strcmp(lower, "bnhd") == 0 || strcmp(lower, "bshd") == 0;
    if (*bnhd || strcmp(lower, "bhnd") == 0 || strcmp(lower, "bhsd") == 0)
        return true;
    return refuse_meta(path, key, value, "bhnd or bnhd", why);
}

/* Turns a (B, N, H, D) or (N, H, D) tensor into a (B, H, N, D) view of itself. */
static void swap_heads(struct tensor *t)
{
    if (t->rank < 3)
        return;
    int h = t->rank - 3, n = t->rank - 2;
    int64_t shape = t->shape[h], stride = t->stride[h];
    t->shape[h] = t->shape[n];
    t->stride[h] = t->stride[n];
    t->shape[n] = shape;
    t->stride[n] = stride;
}

/* One layout for all three is left to problem_new, which can say whether the other would fit. */
static bool take_layout(const struct scenario *s, const char *path, const struct bundle *b,
                        struct draft *d, struct message *why)
{
    static const char *const keys[3] = {"layout.q", "layout.k", "layout.v"};
    struct tensor *tensors[3] = {&d->q, &d->k, &d->v};
    const char *all = meta(s, b, "layout", OPTION_LAYOUT);
    bool bnhd[3] = {false};
    for (int i = 0; i < 3; i++) {
        const char *own = meta(s, b, keys[i], OPTION_LAYOUT), *value = own != NULL ? own : all;
        if (value == NULL)
            continue;
        if (!layout_is_bnhd(path, own != NULL ? keys[i] : "layout", value, &bnhd[i], why))
            return false;
    }
    if (bnhd[0] == bnhd[1] && bnhd[0] == bnhd[2]) {
        d->options.bnhd = bnhd[0];
    } else {
        for (int i = 0; i < 3; i++)
            if (bnhd[i])
                swap_heads(tensors[i]);
    }
    if (bnhd[0] || bnhd[1] || bnhd[2])
        text_append(&d->remarks, "layout bnhd taken from the file\n");
    return true;
}

static bool take_lengths(const struct scenario *s, const char *path, const struct bundle *b,
                         struct draft *d, struct message *why)
{
    const char *q = meta(s, b, "cu_seqlens", OPTION_CU_SEQLENS);
    const char *k = meta(s, b, "cu_seqlens_k", OPTION_CU_SEQLENS);
    char names[2][280];
    if (q == NULL)
        return true;
    snprintf(names[0], sizeof names[0], "%.200s: metadata cu_seqlens", path);
    snprintf(names[1], sizeof names[1], "%.200s: metadata cu_seqlens_k", path);
    if (!draft_lengths(d, names[0], q, names[1], k != NULL ? k : q, why))
        return false;
    text_append(&d->remarks, "cu_seqlens %.60s taken from the file\n", q);
    return true;
}

static bool take_metadata(const struct scenario *s, const char *path, const struct bundle *b,
                          struct draft *d, struct message *why)
{
    struct problem_options *o = &d->options;
    const char *value;
    if ((value = meta(s, b, "scale", OPTION_SCALE)) != NULL) {
        if (!meta_real(path, "scale", value, &o->scale, why))
            return false;
        o->scale_given = true;
        text_append(&d->remarks, "scale %s taken from the file\n", value);
    }
    if ((value = meta(s, b, "causal", OPTION_CAUSAL)) != NULL) {
        if (!meta_switch(path, "causal", value, &o->mask.causal, why))
            return false;
        if (o->mask.causal)
            text_append(&d->remarks, "causal taken from the file\n");
    }
    if ((value = meta(s, b, "causal_align", OPTION_CAUSAL_ALIGN)) != NULL) {
        bool top_left = strcmp(value, "top-left") == 0;
        if (!top_left && strcmp(value, "bottom-right") != 0)
            return refuse_meta(path, "causal_align", value, "bottom-right or top-left", why);
        o->mask.align = top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT;
    }
    if ((value = meta(s, b, "window", OPTION_WINDOW)) != NULL) {
        if (!meta_window(path, value, &o->mask, why))
            return false;
        if (o->mask.left >= 0 || o->mask.right >= 0)
            text_append(&d->remarks, "window %s taken from the file\n", value);
    }
    if ((value = meta(s, b, "softcap", OPTION_SOFTCAP)) != NULL) {
        if (!meta_real(path, "softcap", value, &o->softcap, why))
            return false;
        if (!(o->softcap >= 0))
            return refuse_meta(path, "softcap", value, "0 or a positive number", why);
        if (o->softcap > 0)
            text_append(&d->remarks, "softcap %s taken from the file\n", value);
    }
    return take_lengths(s, path, b, d, why) && take_layout(s, path, b, d, why);
}

/* Takes tensor `name` out of the bundle. */
static bool take_tensor(const char *path, struct bundle *b, const char *name, struct tensor *t,
                        struct message *why)
{
    char *others = NULL;
    for (int i = 0; i < b->count; i++) {
        if (strcmp(b->tensors[i].name, name) == 0) {
            *t = b->tensors[i].tensor;
            b->tensors[i].tensor.owns_data = false;
            free(others);
            return true;
        }
        if (i < 6)
            text_append(&others, "%s%.30s", i > 0 ? ", " : "",
                        quoted(b->tensors[i].name, strlen(b->tensors[i].name)).text);
    }
    refuse(why, "%.200s: no tensor named %s; it has %s%s", path, name,
           others != NULL ? others : "none", b->count > 6 ? ", ..." : "");
    free(others);
    return false;
}

bool draft_from_capture(const struct scenario *s, const char *path, struct draft *d,
                        struct message *why)
{
    struct bundle b;
    struct message took;
    enum format words;
    if (!draft_words(s, &words, why) || !bundle_read(path, words, &b, &took, why))
        return false;
    bool ok = take_tensor(path, &b, "q", &d->q, why) && take_tensor(path, &b, "k", &d->k, why) &&
              take_tensor(path, &b, "v", &d->v, why);
    if (ok) {
        remark_taken(d, path, &took);
        ok = take_metadata(s, path, &b, d, why);
    }
    bundle_free(&b);
    return ok;
}

bool draft_from_dump(const struct scenario *s, const char *path, struct draft *d,
                     struct message *why)
{
    struct dumped call;
    if (!dumped_read(path, &call, why))
        return false;
    bool ok = call.cu_q == NULL || !s->given[OPTION_CU_SEQLENS] ||
              refuse(why, "--cu-seqlens: %.200s has lengths of its own", path);
    if (ok) {
        d->q = call.q;
        d->k = call.k;
        d->v = call.v;
        d->options = call.options;
        d->cu_q = call.cu_q;
        d->cu_k = call.cu_k;
        text_append(&d->name, "%s", call.name);
        text_append(&d->remarks, "%s", call.remarks);
        call.q.owns_data = call.k.owns_data = call.v.owns_data = false;
        call.cu_q = call.cu_k = NULL;
    }
    dumped_free(&call);
    return ok;
}
