/* pair.c: a kernel's pair, as words of `flashulp run`, and what a kernel takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/launch.h"
#include "simulator/scenario_gradient.h"
#include "simulator/scenario_parts.h"

static const struct gpu_kernel_info kernels[GPU_KERNELS] = {
#define GPU_KERNEL(id, name, shared, files, pair, flags, meaning)                                  \
    {name, files, pair " --special poly", meaning, flags},
#include "gpu/kernels.def"
#undef GPU_KERNEL
};

static const struct {
    const char *name;
    unsigned flags;
} sites[] = {
#define GPU_SITE(site, flags) {#site, flags},
#include "gpu/kernels.def"
#undef GPU_SITE
};
/* From sm_80 on the least that a block may have: sm_86, sm_89, sm_120. */
#define GPU_KERNEL(id, name, shared, ...)                                                          \
    _Static_assert(shared(256) <= 99 * 1024, name " fits into 99 KiB at every head size");
#include "gpu/kernels.def"
#undef GPU_KERNEL

enum { SITES = sizeof sites / sizeof *sites, MOST_WORDS = 96, MOST_TEXT = 1024 };

const struct gpu_kernel_info *gpu_kernel_info(enum gpu_kernel k)
{
    return &kernels[k];
}

bool gpu_kernel_from_name(const char *name, enum gpu_kernel *k, struct message *why)
{
    const char *names[GPU_KERNELS];
    for (int i = 0; i < GPU_KERNELS; i++) {
        names[i] = kernels[i].name;
        if (strcmp(name, names[i]) == 0) {
            *k = (enum gpu_kernel)i;
            return true;
        }
    }
    const char *near = nearest_name(name, names, GPU_KERNELS);
    return near != NULL
               ? refuse(why, "no kernel of ours is named %.40s; did you mean %s?", name, near)
               : refuse(why, "no kernel of ours is named %.40s; flashulp-gpu list names them",
                        name);
}

static int shared_bytes(enum gpu_kernel k, int D)
{
    switch (k) {
#define GPU_KERNEL(id, name, shared, ...)                                                          \
    case GPU_##id:                                                                                 \
        return shared(D);
#include "gpu/kernels.def"
#undef GPU_KERNEL
    default:
        return 0;
    }
}

bool gpu_fits(enum gpu_kernel k, int64_t D, bool half, struct message *why)
{
    int needs = shared_bytes(k, (int)D), has = target_shared_bytes();
    int64_t fits = D;
    while (fits > 32 && shared_bytes(k, (int)fits) > has)
        fits /= 2;
    if (needs > has)
        return refuse(why,
                      "%s: head size %lld takes %d bytes of shared memory; a block of %s has %d: "
                      "head size %lld or less is right",
                      kernels[k].name, (long long)D, needs, target_name(), has, (long long)fits);
    if (!half && target_unit() != NULL && strcmp(target_unit(), "sm75") == 0)
        return refuse(why, "%s: an sm_75 has no bf16; fp16 is right (--dtype fp16)",
                      kernels[k].name);
    return true;
}

static bool takes_shape(enum gpu_kernel k, const struct problem *p, struct message *why)
{
    const char *name = kernels[k].name;
    int64_t group = p->Hkv > 0 ? p->Hq / p->Hkv : 0, most = INT32_MAX / 4;
    if (p->D != 32 && p->D != 64 && p->D != 128 && p->D != 256)
        return refuse(why, "%s: head size %lld; 32, 64, 128 or 256 is right", name,
                      (long long)p->D);
    if (p->B * p->Hq == 0 || p->Nq == 0)
        return refuse(why, "%s: there is no query; at least one is right", name);
    if (p->B > 65535 || p->Hq > 65535 || p->Nq > most / p->D || p->Nk > most / p->D)
        return refuse(why,
                      "%s: 65,535 batches or heads and %lld rows of head size %lld are the most",
                      name, (long long)(most / p->D), (long long)p->D);
    if (kernels[k].flags & GPU_DECODES && p->Nq != 1)
        return refuse(why, "%s: %lld queries a head; one is right", name, (long long)p->Nq);
    if (kernels[k].flags & GPU_DECODES && group > 16)
        return refuse(why, "%s: %lld query heads share a key head; at most 16 is right", name,
                      (long long)group);
    return true;
}

static bool takes(enum gpu_kernel k, const struct scenario_input *in, struct message *why)
{
    const struct problem *p = &in->problem;
    const char *name = kernels[k].name;
    if (in->input_format != FORMAT_BF16 && in->input_format != FORMAT_FP16)
        return refuse(why, "%s: inputs are %s; bf16 or fp16 is right (--dtype bf16)", name,
                      format_info(in->input_format)->name);
    if (p->softcap > 0)
        return refuse(why, "%s: it has no softcap; leave out --softcap", name);
    if (p->mask.left >= 0 || (p->mask.right >= 0 && !p->mask.causal))
        return refuse(why, "%s: it has no window; leave out --window", name);
    if (p->mask.align == ALIGN_TOP_LEFT)
        return refuse(why, "%s: causal is aligned to the bottom right; leave out --causal-align",
                      name);
    if (p->cu_q != NULL)
        return refuse(why, "%s: it takes no packed sequences; leave out --cu-seqlens", name);
    if (p->tiles > 0)
        return refuse(why, "%s: its tiles are its own; write the scores without |", name);
    return takes_shape(k, p, why);
}

/* Words split at blanks into the room behind `list`; KEYS becomes the key tile of head size D. */
struct words {
    const char *list[MOST_WORDS];
    int count;
    char text[MOST_TEXT];
    size_t used;
};

static void add_word(struct words *w, const char *word, size_t length)
{
    if (w->count + 1 >= MOST_WORDS || w->used + length + 1 > sizeof w->text)
        abort(); /* the table's rows fit */
    char *to = w->text + w->used;
    memcpy(to, word, length);
    to[length] = 0;
    w->list[w->count++] = to;
    w->used += length + 1;
}

static void add_words(struct words *w, const char *text, int64_t D)
{
    char tile[32];
    for (size_t length; *text != 0; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        if (length > 4 && strncmp(text + length - 4, "KEYS", 4) == 0) {
            snprintf(tile, sizeof tile, "%.*s%d", (int)length - 4, text, KEY_TILE((int)D));
            add_word(w, tile, strlen(tile));
        } else {
            add_word(w, text, length);
        }
    }
}

/* A problem, and what of run's options goes with our kernels. */
static bool words_fit(const struct scenario *s, struct message *why)
{
    static const enum option ours[] = {
        OPTION_SPLITS, OPTION_GROUP_TOKENS, OPTION_GROUPING, OPTION_DO, OPTION_OUT,
        OPTION_LSE,    OPTION_DQ,           OPTION_DK,       OPTION_DV, OPTION_FORCE};
    for (int o = 0; o < OPTION_COUNT; o++) {
        bool fits = option_info((enum option)o)->groups & GROUP_PROBLEM;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            fits = fits || ours[i] == (enum option)o;
        if (s->given[o] && !fits)
            return refuse(why, "%s is not for our kernels: what they compute, and how, is fixed "
                               "(flashulp-gpu list)", option_info((enum option)o)->name);
    }
    return true;
}

/* The head size, before the pair can be written: of the words alone. */
static bool head_size(const char *const *words, int count, int64_t *D, struct message *why)
{
    struct scenario s;
    struct scenario_input in;
    const struct command_info *run = command_info(COMMAND_RUN);
    if (!scenario_parse(&s, run->name, run->groups, count, (char **)words, why))
        return false;
    bool ok = words_fit(&s, why) && scenario_problem(&s, &in, why);
    if (ok) {
        *D = in.problem.D;
        scenario_input_free(&in);
    }
    scenario_free(&s);
    return ok;
}

static bool make(struct gpu_pair *p, struct message *why)
{
    struct output_gradient g;
    if (!scenario_problem(&p->scenario, &p->input, why))
        return false;
    p->made = true;
    if (!takes(p->kernel, &p->input, why) ||
        !scenario_simulation(&p->scenario, &p->input, &p->simulation, why))
        return false;
    p->simulation.threads = 1;
    if (!(kernels[p->kernel].flags & GPU_BACKWARD))
        return true;
    if (!scenario_output_gradient(&p->scenario, &p->input, &g, why))
        return false;
    free(g.remark);
    p->dO = g.dO;
    return scenario_dq(&p->scenario, &p->input.problem, &p->simulation, why);
}

/* One number of row n, counted from the end where it is negative, of every head. */
static void plant(struct tensor *t, int64_t n, int64_t d, double x)
{
    n = n < 0 ? t->shape[2] + n : n;
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1] && n >= 0 && n < t->shape[2]; h++)
            tensor_set(t, b, h, n, d, x);
}

static void plant_all(struct gpu_pair *p)
{
    struct problem *x = &p->input.problem;
    if (p->planted != NULL && strcmp(p->planted, "keys") == 0) {
        plant(&x->k, -1, 3, INFINITY);
        plant(&x->v, -1, 0, NAN);
        plant(&x->v, -1, 1, INFINITY);
        plant(&x->v, -2, 1, -INFINITY);
        plant(&x->v, -2, 2, INFINITY);
    } else if (p->planted != NULL) {
        plant(&x->q, 0, 0, NAN);
        if (p->made && kernels[p->kernel].flags & GPU_BACKWARD) {
            plant(&p->dO, 0, 2, NAN);
            plant(&p->dO, 1, 1, -INFINITY);
        }
    }
}

/* The words without --plant, which is no option of run. */
static bool take_words(struct gpu_pair *p, struct words *w, int count, const char *const *words,
                       struct message *why)
{
    if (count > MOST_WORDS / 2)
        return refuse(why, "%d words are too many", count);
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "--plant") != 0) {
            w->list[w->count++] = words[i];
            continue;
        }
        p->planted = ++i < count ? words[i] : "nothing";
        if (strcmp(p->planted, "keys") != 0 && strcmp(p->planted, "queries") != 0)
            return refuse(why, "--plant %.40s: keys or queries is right", p->planted);
    }
    return true;
}

bool gpu_pair_new(struct gpu_pair *p, enum gpu_kernel k, const char *unit, int count,
                  const char *const *words, struct message *why)
{
    static struct words w;
    char order[64];
    const struct command_info *run = command_info(COMMAND_RUN);
    int64_t D = 0;
    memset(p, 0, sizeof *p);
    memset(&w, 0, sizeof w);
    p->kernel = k;
    p->unit = unit;
    if (!take_words(p, &w, count, words, why) || !head_size(w.list, w.count, &D, why))
        return false;
    bool given = kernels[k].flags & GPU_BACKWARD;
    for (int i = 0; i < w.count; i++)
        given = given && strcmp(w.list[i], "--do") != 0;
    if (given)
        add_words(&w, "--do random:1", D);
    add_words(&w, kernels[k].pair, D);
    for (int i = 0; i < SITES && unit != NULL; i++) {
        if (!(kernels[k].flags & sites[i].flags))
            continue;
        snprintf(order, sizeof order, "--order %s=mma@%s", sites[i].name, unit);
        add_words(&w, order, D);
    }
    if (scenario_parse(&p->scenario, run->name, run->groups, w.count, (char **)w.list, why) &&
        make(p, why)) {
        plant_all(p);
        return true;
    }
    gpu_pair_free(p);
    return false;
}

void gpu_pair_free(struct gpu_pair *p)
{
    if (p->made)
        scenario_input_free(&p->input);
    tensor_free(&p->dO);
    scenario_free(&p->scenario);
    memset(p, 0, sizeof *p);
}
