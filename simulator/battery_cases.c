/* battery_cases.c: rows of battery.def as problems with numbers. */
#include "simulator/battery.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/splitmix.h"

static const struct battery_case cases[] = {
#define CASE(name, B, Hq, Hkv, Nq, Nk, D, spare, fill, ...)                                        \
    {name, B, Hq, Hkv, Nq, Nk, D, spare, BATTERY_##fill, __VA_ARGS__},
#include "simulator/battery.def"
#undef CASE
};

const struct battery_case *battery_case(int n)
{
    return n < (int)(sizeof cases / sizeof cases[0]) ? &cases[n] : NULL;
}

/* The numbers of "0*3 1", repeated, into list[0..count). */
static void repeat_numbers(const char *text, double *list, int64_t count)
{
    int64_t n = 0;
    const char *at = text;
    while (n < count) {
        char *end;
        long times = 1;
        double x = strtod(at, &end);
        assert(end != at);
        if (*end == '*')
            times = strtol(end + 1, &end, 10);
        for (; times > 0 && n < count; times--)
            list[n++] = x;
        at = *end == 0 ? text : end;
    }
}

/* Column d of a value: power-of-two factors, so that exchanged columns show and nothing rounds. */
static double column(int64_t d)
{
    static const double factor[] = {1, -0.5, 2};
    return factor[d % 3];
}

/* The scores enter as (4 sqrt(D)) (s / 4) / sqrt(D) by one column; the others are 0. */
static void fill_listed(const struct battery_case *c, const struct problem *p, struct tensor *t,
                        bool query, bool value, const double *list)
{
    int64_t at = c->fill == BATTERY_LAST ? p->D - 1 : 0;
    double q = format_round(t->dtype, 4 * sqrt((double)p->D), false);
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t n = 0; n < t->shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++) {
                    double x = d != at ? 0 : query ? q : list[n] / 4;
                    if (value)
                        x = list[n] * (double)(1 + h + 2 * b) * column(d);
                    tensor_set(t, b, h, n, d, format_round(t->dtype, x, false));
                }
}

static void fill_with(struct tensor *t, double spread, bool flat, uint64_t *random)
{
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t n = 0; n < t->shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++) {
                    double x = flat ? spread : spread * splitmix_normal(random);
                    tensor_set(t, b, h, n, d, format_round(t->dtype, x, false));
                }
}

static void fill(const struct battery_case *c, struct battery_input *in, const struct problem *p,
                 uint64_t *random)
{
    bool listed = c->fill == BATTERY_LISTED || c->fill == BATTERY_LAST;
    double *list = calloc((size_t)in->buffer + 1, sizeof *list);
    assert(list != NULL);
    repeat_numbers(c->scores, list, in->buffer + 1);
    if (listed) {
        fill_listed(c, p, &in->q, true, false, list);
        fill_listed(c, p, &in->k, false, false, list);
    } else {
        fill_with(&in->q, list[0], c->fill == BATTERY_FLAT, random);
        fill_with(&in->k, list[0], c->fill == BATTERY_FLAT, random);
    }
    if (c->values[0] != 0) {
        repeat_numbers(c->values, list, in->buffer);
        fill_listed(c, p, &in->v, false, true, list);
    } else {
        fill_with(&in->v, c->fill == BATTERY_FLAT ? list[0] : 1, c->fill == BATTERY_FLAT, random);
    }
    free(list);
}

/* The spare keys hold NaN. */
static void poison_spare(struct tensor *t, int64_t first)
{
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t n = first; n < t->shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++)
                    tensor_set(t, b, h, n, d, NAN);
}

static double *values_of(const struct tensor *t)
{
    int64_t D = t->shape[3], n = 0;
    double *x = malloc(((size_t)tensor_elements(t) + 1) * sizeof *x);
    assert(x != NULL);
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t i = 0; i < t->shape[2]; i++, n++)
                tensor_row(t, b, h, i, D, x + n * D);
    return x;
}

/* What of a tensor the problem sees: its first `rows` rows of each head. */
static struct tensor view(const struct tensor *t, int64_t rows)
{
    struct tensor v = *t;
    v.owns_data = false;
    v.shape[2] = rows;
    return v;
}

static void draw_sizes(struct battery_case *c, uint64_t *random)
{
    c->B = splitmix_between(random, 1, c->B);
    c->Nq = splitmix_between(random, c->Nq / 2, c->Nq);
    c->Nk = splitmix_between(random, c->Nk / 2, c->Nk);
}

bool battery_input(const struct battery_case *row, enum format dtype, int64_t dim, uint64_t seed,
                   struct battery_input *in, struct message *why)
{
    struct battery_case c = *row;
    uint64_t random = seed;
    for (const char *letter = c.name; *letter != 0; letter++)
        random = splitmix_next(&random) ^ (uint64_t)*letter;
    if (c.fill == BATTERY_SHAPED)
        draw_sizes(&c, &random);
    int64_t D = c.D != 0 ? c.D : dim;
    *in = (struct battery_input){.buffer = c.Nk + c.spare};
    if (!tensor_new(&in->q, dtype, 4, (int64_t[]){c.B, c.Hq, c.Nq, D}, why) ||
        !tensor_new(&in->k, dtype, 4, (int64_t[]){c.B, c.Hkv, in->buffer, D}, why) ||
        !tensor_new(&in->v, dtype, 4, (int64_t[]){c.B, c.Hkv, in->buffer, D}, why))
        return false;
    fill(&c, in, &(struct problem){.D = D}, &random);
    poison_spare(&in->k, c.Nk);
    poison_spare(&in->v, c.Nk);
    struct problem_options o = problem_defaults();
    o.mask.causal = c.causal;
    o.mask.left = c.left;
    o.mask.right = c.right;
    o.softcap = c.softcap;
    struct tensor q = view(&in->q, c.Nq), k = view(&in->k, c.Nk), v = view(&in->v, c.Nk);
    if (!problem_new(&in->problem, &q, &k, &v, &o, why))
        return false;
    uint64_t other = ~seed; /* what was drawn before stays as it is */
    if (!tensor_new(&in->dO, dtype, 4, (int64_t[]){c.B, c.Hq, c.Nq, D}, why))
        return false;
    fill_with(&in->dO, 1, false, &other);
    in->dO_values = values_of(&in->dO);
    in->q_values = values_of(&in->q);
    in->k_values = values_of(&in->k);
    in->v_values = values_of(&in->v);
    return true;
}

void battery_input_free(struct battery_input *in)
{
    problem_free(&in->problem);
    tensor_free(&in->q);
    tensor_free(&in->k);
    tensor_free(&in->v);
    free(in->q_values);
    free(in->k_values);
    free(in->v_values);
    tensor_free(&in->dO);
    free(in->dO_values);
    *in = (struct battery_input){0};
}
