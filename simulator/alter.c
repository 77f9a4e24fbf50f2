/* alter.c: the names of alter.def, and the alterations of a problem and of outputs. */
#include "simulator/alter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/simulate_parts.h"

static const struct change_info changes[] = {
#define ALTERATION(id, name, class, bug_case, meaning)                                             \
    {"alter=" name, meaning, bug_case, CHANGE_##class},
#define CHANGE(class, text, bug_case, meaning) {text, meaning, bug_case, CHANGE_##class},
#include "simulator/alter.def"
#undef ALTERATION
#undef CHANGE
};
static const struct change_info bases[] = {
#define BASE(text, class, bug_case, meaning) {text, meaning, bug_case, CHANGE_##class},
#include "simulator/alter.def"
#undef BASE
};

const struct change_info *change_info(int n)
{
    return n < (int)(sizeof changes / sizeof changes[0]) ? &changes[n] : NULL;
}

const struct change_info *base_info(int n)
{
    return n < (int)(sizeof bases / sizeof bases[0]) ? &bases[n] : NULL;
}

const char *change_class_name(enum change_class c)
{
    static const char *const names[] = {"schedule", "arithmetic", "input", "bug"};
    return names[c];
}

const char *alteration_name(enum alteration a)
{
    return changes[a].text + strlen("alter=");
}

const char *alteration_meaning(enum alteration a)
{
    return changes[a].meaning;
}

bool alteration_from_name(const char *name, enum alteration *a, struct message *why)
{
    const char *names[ALTERATION_COUNT];
    for (int i = 0; i < ALTERATION_COUNT; i++) {
        names[i] = alteration_name((enum alteration)i);
        if (strcmp(name, names[i]) == 0) {
            *a = (enum alteration)i;
            return true;
        }
    }
    const char *near = nearest_name(name, names, ALTERATION_COUNT);
    return refuse(why, "unknown alteration \"%.60s\"; %s%s%s", name,
                  near != NULL ? "did you mean " : "flashulp list alterations", near ? near : "",
                  near != NULL ? "?" : "");
}

/* ---- the problem ---- */

static bool nothing(struct message *why, enum alteration a, const char *reason)
{
    return refuse(why, "--alter %s changes nothing here: %s", alteration_name(a), reason);
}

static bool is_masked(const struct problem *p)
{
    return p->mask.causal || p->mask.left >= 0 || p->mask.right >= 0;
}

static bool drop_last_key(struct problem *p, struct message *why)
{
    if (p->Nk < 2 || p->cu_k != NULL)
        return refuse(why, "--alter last-key is for 2 keys and more, not for packed sequences");
    p->Nk--;
    if (p->tiles > 0)
        p->tile_ends[p->tiles - 1]--;
    if (p->tiles > 1 && p->tile_ends[p->tiles - 2] == p->Nk)
        p->tiles--;
    p->k.shape[2]--;
    p->v.shape[2]--;
    return true;
}

/* What a kernel that knows the bottom-right mask sees of a top-left one: the first Nq keys. */
static bool align_otherwise(const struct simulation *s, struct problem *p, struct message *why)
{
    if (!p->mask.causal || p->Nq == p->Nk || p->cu_k != NULL)
        return nothing(why, ALTERATION_CAUSAL_ALIGN, "no causal mask over Nq != Nk");
    if (!s->is_kernel) {
        p->mask.align = p->mask.align == ALIGN_TOP_LEFT ? ALIGN_BOTTOM_RIGHT : ALIGN_TOP_LEFT;
        return true;
    }
    if (p->mask.align == ALIGN_TOP_LEFT || p->Nk < p->Nq || p->tiles > 0)
        return refuse(why, "--alter causal-align: a kernel model takes it where Nk > Nq and the "
                           "mask is bottom-right");
    p->Nk = p->k.shape[2] = p->v.shape[2] = p->Nq;
    return true;
}

static bool change_mask(const struct simulation *s, struct problem *p, enum alteration a,
                        struct message *why)
{
    unsigned flags = s->is_kernel ? kernel_info(s->kernel.kernel)->flags : TAKES_CAUSAL;
    bool masked = is_masked(p);
    if (a == ALTERATION_CAUSAL_MISSING && !masked)
        return nothing(why, a, "there is no mask");
    if (a == ALTERATION_WINDOW_WIDE && p->mask.left < 0)
        return nothing(why, a, "there is no window");
    if (a == ALTERATION_CAUSAL_ADDED && (masked || p->Nk < 2 || !(flags & TAKES_CAUSAL)))
        return refuse(why, "--alter causal-added is for what takes a causal mask, and has none");
    if (a == ALTERATION_WINDOW_WIDE)
        p->mask.left++;
    else
        p->mask = problem_defaults().mask;
    p->mask.causal = p->mask.causal || a == ALTERATION_CAUSAL_ADDED;
    return true;
}

static bool change_scale(struct problem *p, enum alteration a, struct message *why)
{
    struct scale *scale = &p->scale;
    int64_t size = 1;
    while (size < p->D)
        size *= 2;
    if (a == ALTERATION_SCALE_BASE_2) {
        scale->value *= log(2);
        return true;
    }
    if (a == ALTERATION_SCALE_ONE) {
        if (scale->value == sqrt((double)scale->root))
            return nothing(why, a, "the scale is 1");
        *scale = (struct scale){1, 1};
        return true;
    }
    if (scale->value != 1 || scale->root == 1 || scale->root >= size)
        return nothing(why, a, "the scale is not that of a head size below a power of 2");
    scale->root = size;
    return true;
}

static bool rounded(struct tensor *t, enum format f, struct message *why)
{
    struct tensor narrow;
    if (!tensor_new(&narrow, t->dtype, TENSOR_MAX_RANK, t->shape, why))
        return false;
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t n = 0; n < t->shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++)
                    tensor_set(&narrow, b, h, n, d,
                               format_round(f, tensor_get(t, b, h, n, d), true));
    *t = narrow;
    return true;
}

/* Head h of the original stands where the head is that reads h mod Hkv. */
static int64_t interleaved(const struct problem *p, int64_t h)
{
    return h % p->Hkv * (p->Hq / p->Hkv) + h / p->Hkv;
}

static bool interleave(const struct problem *p, struct problem *altered, struct message *why)
{
    if (p->Hkv < 2 || p->Hkv == p->Hq)
        return nothing(why, ALTERATION_HEADS, "no several key heads with several queries each");
    if (!tensor_new(&altered->q, p->q.dtype, TENSOR_MAX_RANK, p->q.shape, why))
        return false;
    for (int64_t b = 0; b < p->q.shape[0]; b++)
        for (int64_t h = 0; h < p->Hq; h++)
            for (int64_t n = 0; n < p->q.shape[2]; n++)
                for (int64_t d = 0; d < p->D; d++)
                    tensor_set(&altered->q, b, interleaved(p, h), n, d,
                               tensor_get(&p->q, b, h, n, d));
    return true;
}

static bool alter_one(const struct problem *p, const struct simulation *s, enum alteration a,
                      struct problem *to, struct message *why)
{
    switch (a) {
    case ALTERATION_LAST_KEY:
        return drop_last_key(to, why);
    case ALTERATION_CAUSAL_ALIGN:
        return align_otherwise(s, to, why);
    case ALTERATION_CAUSAL_MISSING:
    case ALTERATION_CAUSAL_ADDED:
    case ALTERATION_WINDOW_WIDE:
        return change_mask(s, to, a, why);
    case ALTERATION_SCALE_ONE:
    case ALTERATION_SCALE_PADDED:
    case ALTERATION_SCALE_BASE_2:
        return change_scale(to, a, why);
    case ALTERATION_SOFTCAP_MISSING:
        to->softcap = 0;
        return p->softcap > 0 || nothing(why, a, "there is no softcap");
    case ALTERATION_KV_E4M3:
    case ALTERATION_KV_E5M2: {
        enum format f = a == ALTERATION_KV_E4M3 ? FORMAT_E4M3 : FORMAT_E5M2;
        return rounded(&to->k, f, why) && rounded(&to->v, f, why);
    }
    case ALTERATION_HEADS:
        return interleave(p, to, why);
    case ALTERATION_TAIL_UNMASKED:
        return !is_masked(p) || refuse(why, "--alter tail-unmasked does not go with a mask");
    case ALTERATION_FIRST_SEQUENCE:
        return p->B > 1 || nothing(why, a, "there is one sequence");
    default:
        return true; /* of calls */
    }
}

bool alter_problem(const struct problem *p, const struct simulation *s, struct problem *altered,
                   struct message *why)
{
    bool ok = true;
    size_t ends = (size_t)p->tiles * sizeof *p->tile_ends;
    *altered = *p;
    altered->q.owns_data = altered->k.owns_data = altered->v.owns_data = false;
    altered->tile_ends = malloc(ends + 1);
    if (altered->tile_ends == NULL)
        return refuse(why, "no memory");
    if (ends > 0)
        memcpy(altered->tile_ends, p->tile_ends, ends);
    for (int a = 0; a < ALTERATION_COUNT && ok; a++)
        ok = !(s->alterations >> a & 1) || alter_one(p, s, (enum alteration)a, altered, why);
    if (!ok)
        alter_problem_free(altered);
    return ok;
}

void alter_problem_free(struct problem *altered)
{
    free(altered->tile_ends);
    tensor_free(&altered->q);
    tensor_free(&altered->k);
    tensor_free(&altered->v);
}

/* ---- the outputs ---- */

/* Rows of the result in p's order, only those of the units asked for.  A run whose heads stand
   elsewhere has simulated them all. */
static void put_back(const struct problem *p, const struct simulation *s, struct result *result)
{
    int64_t D = result->D, Nq = p->Nq, count = s->unit_count;
    struct result all = *result;
    result->units = count > 0 ? count : all.units;
    result->rows = result->units * Nq;
    result->O = malloc(((size_t)(result->rows * D) + 1) * sizeof *result->O);
    result->lse = malloc(((size_t)result->rows + 1) * sizeof *result->lse);
    if (result->O == NULL || result->lse == NULL)
        abort(); /* no memory for what was held a moment ago */
    for (int64_t n = 0; n < result->units; n++) {
        struct head h = problem_head(p, (count > 0 ? s->unit_first : 0) + n);
        int64_t from = (h.sequence * p->Hq + interleaved(p, h.head)) * Nq;
        memcpy(result->O + n * Nq * D, all.O + from * D, (size_t)(Nq * D) * sizeof *all.O);
        memcpy(result->lse + n * Nq, all.lse + from, (size_t)Nq * sizeof *all.lse);
    }
    result_free(&all);
}

static void keep_first_sequence(const struct problem *p, const struct simulation *s,
                                struct result *result)
{
    int64_t first = s->unit_count > 0 ? s->unit_first : 0, row = 0;
    for (int64_t n = 0; n < result->units; n++) {
        struct head h = problem_head(p, first + n);
        for (int64_t i = 0; i < h.Nq; i++, row++) {
            for (int64_t d = 0; d < result->D && h.sequence > 0; d++)
                result->O[row * result->D + d] = NAN;
            result->lse[row] = h.sequence > 0 ? NAN : result->lse[row];
        }
    }
}

bool simulate_altered(const struct problem *p, const struct simulation *s, struct result *result,
                      struct message *why)
{
    struct problem altered;
    struct simulation all = *s;
    bool moved = s->alterations >> ALTERATION_HEADS & 1;
    if (moved && p->cu_q != NULL)
        return refuse(why, "--alter heads-interleaved does not go with packed sequences");
    if (!alter_problem(p, s, &altered, why))
        return false;
    if (moved)
        all.unit_count = 0;
    bool ok = simulate_rows(&altered, &all, result, why);
    alter_problem_free(&altered);
    if (ok && moved)
        put_back(p, s, result);
    if (ok && s->alterations >> ALTERATION_FIRST_SEQUENCE & 1)
        keep_first_sequence(p, s, result);
    return ok;
}
