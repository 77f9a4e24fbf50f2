/* scenario_options.c: scale, masks, packed lengths and layout of the command line, over whatever
   the source of the tensors already said.  Their values are judged by problem_new. */
#include <string.h>

#include "simulator/scenario_draft.h"

/* An alignment moves the diagonal of a causal mask and of a window, nothing else. */
static bool align_matters(const struct mask *m, struct message *why)
{
    return m->causal || m->left != -1 || m->right != -1 ||
           refuse(why, "--causal-align goes with --causal or --window");
}

static bool read_mask(const struct scenario *s, struct mask *m, struct message *why)
{
    const char *align = s->value[OPTION_CAUSAL_ALIGN], *window = s->value[OPTION_WINDOW];
    int64_t sides[2];
    if (s->given[OPTION_CAUSAL])
        m->causal = true;
    if (align != NULL) {
        bool top_left = strcmp(align, "top-left") == 0;
        if (!top_left && strcmp(align, "bottom-right") != 0)
            return refuse(why, "--causal-align %.40s: bottom-right or top-left is right", align);
        m->align = top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT;
    }
    if (window != NULL) {
        if (!parse_integers("--window", window, "L,R", 2, INT64_MIN, INT64_MAX, sides, why))
            return false;
        m->left = sides[0];
        m->right = sides[1];
    }
    return align == NULL || align_matters(m, why);
}

bool draft_lengths(struct draft *d, const char *name_q, const char *q, const char *name_k,
                   const char *k, struct message *why)
{
    if (!parse_list(name_q, q, &d->cu_q, &d->cu_q_count, why) ||
        !parse_list(name_k, k, &d->cu_k, &d->cu_k_count, why))
        return false;
    if (d->cu_q_count != d->cu_k_count)
        return refuse(why, "%s has %lld numbers, %s %lld; as many are right", name_q,
                      (long long)d->cu_q_count, name_k, (long long)d->cu_k_count);
    d->options.sequences = d->cu_q_count - 1;
    return true;
}

static bool read_lengths(const struct scenario *s, struct draft *d, struct message *why)
{
    const char *q = s->value[OPTION_CU_SEQLENS], *k = s->value[OPTION_CU_SEQLENS_K];
    if (q == NULL)
        return k == NULL || refuse(why, "--cu-seqlens-k goes with --cu-seqlens, the queries'");
    return draft_lengths(d, "--cu-seqlens", q, "--cu-seqlens-k", k != NULL ? k : q, why);
}

static bool read_layout(const struct scenario *s, struct draft *d, struct message *why)
{
    const char *layout = s->value[OPTION_LAYOUT];
    if (layout == NULL)
        return true;
    d->options.bnhd = strcmp(layout, "bnhd") == 0;
    if (!d->options.bnhd && strcmp(layout, "bhnd") != 0)
        return refuse(why, "--layout %.40s: bhnd or bnhd is right", layout);
    if (s->problem == NULL ? !s->given[OPTION_Q] : strpbrk(s->problem, "./") == NULL)
        return refuse(why, "--layout is for files");
    return true;
}

bool draft_options(const struct scenario *s, struct draft *d, struct message *why)
{
    struct problem_options *o = &d->options;
    if (s->value[OPTION_SCALE] != NULL) {
        if (!parse_real("--scale", s->value[OPTION_SCALE], &o->scale, why))
            return false;
        o->scale_given = true;
    }
    if (s->value[OPTION_SOFTCAP] != NULL &&
        !parse_real("--softcap", s->value[OPTION_SOFTCAP], &o->softcap, why))
        return false;
    return read_mask(s, &o->mask, why) && read_lengths(s, d, why) && read_layout(s, d, why);
}
