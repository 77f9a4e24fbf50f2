/* battery_gradient_judge.c: a program's gradients against the certified ones. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/certified_gradients.h"
#include "simulator/battery_gradient.h"
#include "simulator/report.h"

static const double LENIENT = 4;

/* dQ, dK, dV: each flat, in C order. */
struct array {
    const char *name;
    int64_t count, heads, rows;
    double *want, *allowed, *got, *other;
};
struct outcome {
    const struct battery_input *in;
    enum format dtype;
    struct array array[3];
};

static void expect_group(struct outcome *x, int64_t g)
{
    const struct problem *p = &x->in->problem;
    int64_t G = p->Hq / p->Hkv, D = p->D;
    enum gradient which[] = {GRADIENT_Q, GRADIENT_K, GRADIENT_V};
    struct rounding_budget budget = rounding_budget_fp32(p->q.dtype, p->Nk, p->Nk);
    struct certified evidence;
    certified_init(&evidence);
    struct certified_gradients *c = certified_gradients_new(p, g, &x->in->dO);
    int64_t base[] = {g * G * p->Nq * D, g * p->Nk * D, g * p->Nk * D};
    bound_gradients(p, g, &x->in->dO, &budget, x->dtype, x->array[0].allowed + base[0],
                    x->array[1].allowed + base[1], x->array[2].allowed + base[2]);
    for (int a = 0; a < 3; a++) {
        int64_t heads = a == 0 ? G : 1, rows = x->array[a].rows;
        for (int64_t i = 0; i < heads * rows * D; i++) {
            double *want = &x->array[a].want[base[a] + i],
                   *allowed = &x->array[a].allowed[base[a] + i];
            *want = certified_gradient_round(c, which[a], i / D / rows, i / D % rows, i % D,
                                             x->dtype, &evidence);
            *allowed = LENIENT * *allowed + (isfinite(*want) ? format_ulp(x->dtype, *want) : 0);
        }
    }
    certified_gradients_free(c);
    certified_clear(&evidence);
}

static bool explains(struct outcome *x, const struct gradient_mistake *m, int tile)
{
    double relative = format_info(x->in->problem.q.dtype)->precision > 11 ? 0x1p-12 : 0x1p-7;
    struct array *a = x->array;
    mistaken_gradients(x->in, m, tile, a[0].other, a[1].other, a[2].other);
    for (int i = 0; i < 3; i++)
        if (!battery_like(a[i].got, a[i].want, a[i].allowed, a[i].other, a[i].count, relative))
            return false;
    return true;
}

static int tile_of(struct outcome *x, const struct gradient_mistake_info *info)
{
    const struct problem *p = &x->in->problem;
    int64_t most = info->mistake.last_keys ? p->Nk : p->Nq;
    if (!info->tiles)
        return explains(x, &info->mistake, 1);
    for (int tile = 1; tile < most && tile <= 256; tile *= 2)
        if (explains(x, &info->mistake, tile))
            return tile;
    return 0;
}

static bool name_mistake(struct outcome *x, struct battery_verdict *v)
{
    for (int n = 0; gradient_mistake_info(n) != NULL && v->other_gradient == NULL; n++) {
        const struct gradient_mistake_info *info = gradient_mistake_info(n);
        int tile = tile_of(x, info);
        char keys[16];
        snprintf(keys, sizeof keys, "%d", tile);
        if (tile > 0 && v->gradient != NULL) {
            v->other_gradient = info->name;
            size_t length = strlen(v->sentence);
            snprintf(v->sentence + length, sizeof v->sentence - length, " (or: %s)", info->name);
        } else if (tile > 0) {
            v->gradient = info->name;
            snprintf(v->sentence, sizeof v->sentence, "%s", gradient_mistake_text(info, keys).text);
        }
    }
    return v->gradient != NULL;
}

static void first_wrong(const struct outcome *x, const struct array *a, int64_t i,
                        struct battery_verdict *v)
{
    int64_t D = x->in->problem.D, r = i / D % a->rows, h = i / D / a->rows;
    char text[64] = "never written";
    if (a->got[i] != BATTERY_POISON)
        snprintf(text, sizeof text, "%s", number_text(x->dtype, a->got[i]).text);
    snprintf(v->first, sizeof v->first,
             "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "] = %s, want %s", a->name,
             h / a->heads, h % a->heads, r, i % D, text, number_text(x->dtype, a->want[i]).text);
}

static void judge(struct outcome *x, struct battery_verdict *v)
{
    const struct problem *p = &x->in->problem;
    int64_t wrong[3] = {0};
    for (int64_t g = 0; g < p->B * p->Hkv; g++)
        expect_group(x, g);
    for (int a = 0; a < 3; a++) {
        struct array *y = &x->array[a];
        v->outputs += y->count;
        for (int64_t i = 0; i < y->count; i++)
            if (!battery_within(y->got[i], y->want[i], y->allowed[i]) && wrong[a]++ == 0 &&
                v->first[0] == 0)
                first_wrong(x, y, i, v);
        v->wrong += wrong[a];
    }
    v->passed = v->wrong == 0;
    if (!v->passed && !name_mistake(x, v))
        snprintf(v->sentence, sizeof v->sentence,
                 "no known mistake; wrong are %" PRId64 " of %" PRId64 " of dQ, %" PRId64
                 " of %" PRId64 " of dK, %" PRId64 " of %" PRId64 " of dV",
                 wrong[0], x->array[0].count, wrong[1], x->array[1].count, wrong[2],
                 x->array[2].count);
}

void battery_judge_gradients(const struct battery_input *in, const struct tensor *dQ,
                             const struct tensor *dK, const struct tensor *dV,
                             struct battery_verdict *v)
{
    const struct problem *p = &in->problem;
    const struct tensor *given[] = {dQ, dK, dV};
    static const char *const names[] = {"dQ", "dK", "dV"};
    struct outcome x = {.in = in, .dtype = dQ->dtype};
    *v = (struct battery_verdict){0};
    for (int a = 0; a < 3; a++) {
        struct array *y = &x.array[a];
        *y = (struct array){names[a], .heads = a == 0 ? p->Hq : p->Hkv,
                            .rows = a == 0 ? p->Nq : p->Nk};
        y->count = p->B * y->heads * y->rows * p->D;
        y->want = malloc((4 * (size_t)y->count + 1) * sizeof *y->want);
        assert(y->want != NULL);
        y->allowed = y->want + y->count;
        y->got = y->allowed + y->count;
        y->other = y->got + y->count;
        for (int64_t i = 0; i < y->count; i++)
            y->got[i] = battery_given(given[a], i / p->D / y->rows / y->heads,
                                      i / p->D / y->rows % y->heads, i / p->D % y->rows, i % p->D);
    }
    judge(&x, v);
    for (int a = 0; a < 3; a++)
        free(x.array[a].want);
}
