/* inputs.c: generated Q, K, V; see inputs.h.

   Numbers are drawn in the order of the tensors, Q before K before V, each in b, h, n, d order;
   families that repeat keys rewrite them afterwards. */
#include "simulator/inputs.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_version.h>
#include <math.h>
#include <string.h>

#include "simulator/special.h"

struct stream {
    gsl_rng *bits; /* mt19937: 32 bits a draw */
    bool spare_held;
    double spare;
};

/* A multiple of 2^-31 in (-1, 1), symmetric about 0. */
static double draw_uniform(struct stream *s)
{
    uint32_t bits = (uint32_t)gsl_rng_get(s->bits);
    return ((double)bits - 2147483647.5) * 0x1p-31;
}

/* Standard normal, by Marsaglia's polar method: pairs in the unit disc. */
static double draw_gaussian(struct stream *s)
{
    double x, y, square;
    s->spare_held = !s->spare_held;
    if (!s->spare_held)
        return s->spare;
    do {
        x = draw_uniform(s);
        y = draw_uniform(s);
        square = x * x + y * y;
    } while (square >= 1);
    double factor = sqrt(-2 * special_wide(FUNCTION_LOG, square).high / square);
    s->spare = y * factor;
    return x * factor;
}

/* Which element: tensor 'q', 'k' or 'v', position n of Nk keys (or queries), column d. */
struct place {
    char tensor;
    int64_t n, Nk, d;
};

/* +1 or -1: the direction that `needle` and `one-key` queries share. */
static double direction(int64_t d)
{
    return (d * 5 / 3) % 2 == 0 ? 1 : -1;
}

static double gaussian(struct stream *s, const struct place *p)
{
    (void)p;
    return draw_gaussian(s);
}

static double uniform(struct stream *s, const struct place *p)
{
    (void)p;
    return draw_uniform(s);
}

static double outliers(struct stream *s, const struct place *p)
{
    (void)p;
    bool outlier = draw_uniform(s) > 1 - 0x1p-6;
    return draw_gaussian(s) * (outlier ? 16 : 1);
}

static double needle(struct stream *s, const struct place *p)
{
    double x = draw_gaussian(s);
    if (p->tensor == 'q')
        return direction(p->d) + x / 8;
    if (p->tensor == 'k' && p->n == p->Nk / 3)
        return 2 * direction(p->d) + x / 8;
    return x;
}

static double huge(struct stream *s, const struct place *p)
{
    (void)p;
    return draw_gaussian(s) * 1024;
}

static double tiny(struct stream *s, const struct place *p)
{
    (void)p;
    return draw_gaussian(s) / 1024;
}

static double subnormals(struct stream *s, const struct place *p)
{
    return draw_gaussian(s) * (p->tensor == 'v' ? 0x1p-130 : 1);
}

static double one_key(struct stream *s, const struct place *p)
{
    double x = draw_gaussian(s);
    if (p->tensor == 'q')
        return direction(p->d);
    if (p->tensor == 'k')
        return direction(p->d) * (p->n == p->Nk / 3 ? 16 : -16);
    return x;
}

static double equal_scores(struct stream *s, const struct place *p)
{
    double x = draw_gaussian(s);
    return p->tensor == 'k' ? direction(p->d) : x;
}

/* Key n becomes a copy of key `from`; its value factor times that key's value plus itself / 256. */
static void copy_row(struct tensor *t, int64_t b, int64_t h, int64_t n, int64_t from, double factor,
                     double own)
{
    for (int64_t d = 0; d < t->shape[3]; d++) {
        double x = factor * tensor_get(t, b, h, from, d) + own * tensor_get(t, b, h, n, d);
        tensor_set(t, b, h, n, d, format_round(FORMAT_FP32, x, false));
    }
}

/* Odd keys repeat the even ones before them, with the opposite value and a little of their own. */
static void cancel(struct tensor *k, struct tensor *v, int64_t b, int64_t h)
{
    for (int64_t n = 1; n < k->shape[2]; n += 2) {
        copy_row(k, b, h, n, n - 1, 1, 0);
        copy_row(v, b, h, n, n - 1, -1, 0x1p-8);
    }
}

/* Four different keys, over and over: every maximum is met many times. */
static void repeat(struct tensor *k, struct tensor *v, int64_t b, int64_t h)
{
    (void)v;
    for (int64_t n = 4; n < k->shape[2]; n++)
        copy_row(k, b, h, n, n % 4, 1, 0);
}

static const struct {
    struct input_family family;
    double (*element)(struct stream *s, const struct place *p);
    void (*rewrite)(struct tensor *k, struct tensor *v, int64_t b, int64_t h);
} families[] = {
    {{"gaussian", "standard normal numbers"}, gaussian, NULL},
    {{"uniform", "uniform in (-1, 1)"}, uniform, NULL},
    {{"outliers", "normal; one in 128 sixteen times as large"}, outliers, NULL},
    {{"needle", "one key that every query points at"}, needle, NULL},
    {{"cancelling-v", "pairs of equal keys with nearly opposite values"}, gaussian, cancel},
    {{"repeated-maxima", "four different keys, over and over"}, gaussian, repeat},
    {{"huge", "normal times 1024: weights are 0 or 1"}, huge, NULL},
    {{"tiny", "normal / 1024: weights are nearly equal"}, tiny, NULL},
    {{"subnormals", "values of about 2^-130"}, subnormals, NULL},
    {{"one-key", "one key has all the weight, the others underflow"}, one_key, NULL},
    {{"equal-scores", "all keys alike: the mean of the values"}, equal_scores, NULL},
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

const struct input_family *input_family(int n)
{
    return n < FAMILY_COUNT ? &families[n].family : NULL;
}

static const char *family_names[FAMILY_COUNT];

void inputs_register(void)
{
    for (int i = 0; i < FAMILY_COUNT; i++)
        family_names[i] = families[i].family.name;
    scenario_register_generator(inputs_generate, family_names, FAMILY_COUNT);
}

static bool find_family(const char *name, int *family, struct message *why)
{
    const char *names[FAMILY_COUNT];
    for (int i = 0; i < FAMILY_COUNT; i++) {
        names[i] = families[i].family.name;
        *family = i;
        if (strcmp(names[i], name) == 0)
            return true;
    }
    const char *near = nearest_name(name, names, FAMILY_COUNT);
    if (near != NULL)
        return refuse(why, "no family is named %.40s; did you mean %s?", name, near);
    return refuse(why, "no family is named %.40s; flashulp list families names them", name);
}

static void fill_tensor(struct stream *s, int family, char name, int64_t Nk, struct tensor *t)
{
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t n = 0; n < t->shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++) {
                    struct place p = {name, n, Nk, d};
                    double x = families[family].element(s, &p);
                    tensor_set(t, b, h, n, d, format_round(FORMAT_FP32, x, false));
                }
}

static bool new_tensors(const struct generator_request *g, struct tensor *q, struct tensor *k,
                        struct tensor *v, struct message *why)
{
    const int64_t queries[TENSOR_MAX_RANK] = {g->B, g->Hq, g->Nq, g->D};
    const int64_t keys[TENSOR_MAX_RANK] = {g->B, g->Hkv, g->Nk, g->D};
    *q = *k = *v = (struct tensor){0};
    if (tensor_new(q, FORMAT_FP32, TENSOR_MAX_RANK, queries, why) &&
        tensor_new(k, FORMAT_FP32, TENSOR_MAX_RANK, keys, why) &&
        tensor_new(v, FORMAT_FP32, TENSOR_MAX_RANK, keys, why))
        return true;
    tensor_free(q);
    tensor_free(k);
    tensor_free(v);
    return false;
}

/* A 64-bit seed as the 32 bits that mt19937 takes (splitmix64's mixer). */
static unsigned long seed_bits(uint64_t seed)
{
    uint64_t z = seed + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (unsigned long)((z ^ (z >> 31)) & 0xFFFFFFFFu);
}

bool inputs_generate(const struct generator_request *g, struct tensor *q, struct tensor *k,
                     struct tensor *v, struct message *why)
{
    struct stream s = {0};
    int family;
    if (!find_family(g->family, &family, why) || !new_tensors(g, q, k, v, why))
        return false;
    s.bits = gsl_rng_alloc(gsl_rng_mt19937);
    if (s.bits == NULL) {
        tensor_free(q);
        tensor_free(k);
        tensor_free(v);
        return refuse(why, "--generate: no memory");
    }
    gsl_rng_set(s.bits, seed_bits(g->seed));
    fill_tensor(&s, family, 'q', g->Nk, q);
    fill_tensor(&s, family, 'k', g->Nk, k);
    fill_tensor(&s, family, 'v', g->Nk, v);
    for (int64_t b = 0; families[family].rewrite != NULL && b < g->B; b++)
        for (int64_t h = 0; h < g->Hkv; h++)
            families[family].rewrite(k, v, b, h);
    gsl_rng_free(s.bits);
    return true;
}

const char *inputs_gsl_version(void)
{
    return gsl_version;
}
