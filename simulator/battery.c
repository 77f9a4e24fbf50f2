/* battery.c: what a program gave, judged: against the certified result, and if it is wrong against
   every known mistake on the same inputs. */
#include "simulator/battery.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/truth.h"
#include "simulator/report.h"

/* Four times the a-priori bound: other exponentials and orders of fp32 stay well inside. */
static const double LENIENT = 4;

static uint64_t poison_bits(enum format f)
{
    return f == FORMAT_FP32   ? 0x7FE5A5A5
           : f == FORMAT_BF16 ? 0x7FE5
           : f == FORMAT_FP16 ? 0x7F5A
                              : UINT64_C(0x7FFCA5A5A5A5A5A5);
}

void battery_poison(struct tensor *t, int64_t element)
{
    uint64_t bits = poison_bits(t->dtype);
    size_t bytes = (size_t)format_info(t->dtype)->bits / 8;
    memcpy((char *)t->data + (size_t)element * bytes, &bits, bytes);
}

double battery_given(const struct tensor *t, int64_t b, int64_t h, int64_t r, int64_t d)
{
    int64_t at = b * t->stride[0] + h * t->stride[1] + r * t->stride[2] +
                 (t->rank == 4 ? d * t->stride[3] : 0);
    uint64_t bits = 0;
    size_t bytes = (size_t)format_info(t->dtype)->bits / 8;
    memcpy(&bits, (const char *)t->data + (size_t)at * bytes, bytes);
    return bits == poison_bits(t->dtype) ? BATTERY_POISON : tensor_get(t, b, h, r, d);
}

/* All outputs of a case, in C order. */
struct outcome {
    const struct battery_input *in;
    int64_t outputs, rows, D;
    double *want, *allowed, *got;             /* of O */
    double *want_lse, *allowed_lse, *got_lse; /* got_lse NULL: not given */
    double *other, *other_lse;                /* a mistake's */
    enum format dtype;
};

/* A copy whose numbers are finite: bounds are about those.  An infinite score becomes one whose
   weight is as good as 0, any other non-finite number 0: it never stands in a finite result. */
static void tamed(const struct tensor *from, double infinity, struct tensor *to)
{
    struct message why;
    bool ok = tensor_new(to, FORMAT_FP64, 4, from->shape, &why);
    assert(ok);
    for (int64_t b = 0; ok && b < from->shape[0]; b++)
        for (int64_t h = 0; h < from->shape[1]; h++)
            for (int64_t n = 0; n < from->shape[2]; n++)
                for (int64_t d = 0; d < from->shape[3]; d++) {
                    double x = tensor_get(from, b, h, n, d);
                    double y = isfinite(x) ? x : isinf(x) ? copysign(infinity, x) : 0;
                    tensor_set(to, b, h, n, d, y);
                }
}

static bool same_kind(double a, double b)
{
    return (isnan(a) && isnan(b)) || (isinf(a) && a == b) || (isfinite(a) && isfinite(b));
}

bool battery_within(double got, double want, double allowed)
{
    return same_kind(got, want) && (!isfinite(want) || fabs(got - want) <= allowed);
}

/* How far the scores of a row may be off in fp32, generously: what its LSE may be off. */
static double allowed_lse(const struct head *h, int64_t r, double lse)
{
    const struct problem *p = h->problem;
    double most = 0, u = 0x1p-24;
    for (int64_t c = 0; c < h->Nk; c++) {
        double sum = 0;
        for (int64_t d = 0; d < h->D; d++)
            sum += fabs(tensor_get(&p->q, h->batch, h->head, r, d) *
                        tensor_get(&p->k, h->batch, h->kv_head, c, d));
        most = isfinite(sum) && sum > most ? sum : most;
    }
    double scores = (double)(h->D + 8) * u * most / sqrt((double)h->D);
    return LENIENT * (scores + 32 * u * (1 + (isfinite(lse) ? fabs(lse) : 0)) + (double)h->Nk * u);
}

static void expect_row(struct outcome *x, const struct problem *tame, int64_t unit, int64_t r)
{
    struct head h = problem_head(&x->in->problem, unit), t = problem_head(tame, unit);
    int64_t row = unit * h.Nq + r, D = x->D;
    enum format weights = x->in->problem.q.dtype;
    struct rounding_budget budget = rounding_budget_fp32(weights, h.Nk, h.Nk);
    struct truth *truth = malloc((size_t)D * sizeof *truth);
    struct bound *bounds = malloc((size_t)D * sizeof *bounds);
    int64_t *dims = malloc((size_t)D * sizeof *dims);
    double *rounded = malloc((size_t)D * sizeof *rounded);
    assert(truth != NULL && bounds != NULL && dims != NULL && rounded != NULL);
    for (int64_t d = 0; d < D; d++)
        dims[d] = d;
    truth_row(&h, r, dims, D, &x->dtype, 1, truth, rounded);
    bound_budgets(&t, r, &budget, &x->dtype, 1, bounds, NULL);
    for (int64_t d = 0; d < D; d++) {
        x->want[row * D + d] = rounded[d];
        x->allowed[row * D + d] =
            LENIENT * bounds[d].total + format_ulp(x->dtype, isfinite(rounded[d]) ? rounded[d] : 0);
    }
    x->allowed_lse[row] = allowed_lse(&h, r, x->want_lse[row]);
    free(truth);
    free(bounds);
    free(dims);
    free(rounded);
}

static void expect(struct outcome *x)
{
    const struct problem *p = &x->in->problem;
    struct tensor k, v;
    struct problem tame = *p;
    int64_t units = problem_units(p);
    tamed(&p->k, 1000, &k);
    tamed(&p->v, 0, &v);
    tame.k = k;
    tame.v = v;
    int whole = (int)(x->in->buffer > 0 ? x->in->buffer : 1);
    mistaken(x->in, &(struct mistake){0}, whole, x->other, x->want_lse);
    for (int64_t unit = 0; unit < units; unit++)
        for (int64_t r = 0; r < p->Nq; r++)
            expect_row(x, &tame, unit, r);
    tensor_free(&k);
    tensor_free(&v);
}

bool battery_like(const double *got, const double *want, const double *allowed, const double *other,
                  int64_t count, double relative)
{
    for (int64_t i = 0; i < count; i++) {
        double near = allowed[i] + relative * fabs(other[i]);
        bool wrong = !battery_within(got[i], want[i], allowed[i]);
        if (wrong && isfinite(got[i]) && isfinite(want[i]))
            near = fmin(near, fabs(got[i] - want[i]) / 8);
        if (!battery_within(got[i], other[i], near))
            return false;
    }
    return true;
}

/* A logarithm that is right is so whatever the mistake has. */
static bool explains(const struct outcome *x, const struct mistake *m, int tile)
{
    double relative = format_info(x->in->problem.q.dtype)->precision > 11 ? 0x1p-12 : 0x1p-7;
    mistaken(x->in, m, tile, x->other, x->other_lse);
    if (!battery_like(x->got, x->want, x->allowed, x->other, x->outputs, relative))
        return false;
    for (int64_t i = 0; x->got_lse != NULL && i < x->rows; i++)
        if (!battery_within(x->got_lse[i], x->want_lse[i], x->allowed_lse[i]) &&
            !battery_like(&x->got_lse[i], &x->want_lse[i], &x->allowed_lse[i], &x->other_lse[i], 1,
                          relative))
            return false;
    return true;
}

static void say(struct battery_verdict *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct battery_verdict *v, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->sentence, sizeof v->sentence, format, arguments);
    va_end(arguments);
}

/* The smallest tile with which the mistake explains it; 0: none. */
static int tile_of(struct outcome *x, const struct mistake_info *info)
{
    int whole = (int)(x->in->buffer > 0 ? x->in->buffer : 1);
    if (!info->tiles)
        return explains(x, &info->mistake, whole) ? whole : 0;
    bool drops = info->mistake.tail == TAIL_DROPPED; /* all of a row is no tail */
    for (int tile = 1; tile <= (drops ? x->in->problem.Nk : 256) && tile <= 256; tile *= 2)
        if (explains(x, &info->mistake, tile))
            return tile;
    return 0;
}

/* One case alone may not tell two mistakes apart: then both are named. */
static bool name_mistake(struct outcome *x, struct battery_verdict *v)
{
    for (int n = 0; mistake_info(n) != NULL && v->other == NULL; n++) {
        const struct mistake_info *info = mistake_info(n);
        int tile = tile_of(x, info);
        char keys[16];
        if (tile == 0)
            continue;
        snprintf(keys, sizeof keys, "%d", tile);
        if (v->mistake != NULL) {
            v->other = info;
            size_t length = strlen(v->sentence);
            snprintf(v->sentence + length, sizeof v->sentence - length, " (or: %s)", info->name);
        } else {
            v->mistake = info;
            say(v, "%s", mistake_text(info, keys).text);
        }
    }
    return v->mistake != NULL;
}

/* No mistake gives this: which part of it is wrong, at least. */
static void describe(const struct outcome *x, struct battery_verdict *v)
{
    int64_t nan = 0, unwritten = 0, good_rows = 0;
    for (int64_t i = 0; i < x->outputs; i++) {
        nan += isnan(x->got[i]) && !isnan(x->want[i]);
        unwritten += x->got[i] == BATTERY_POISON;
    }
    for (int64_t row = 0; row < x->rows; row++) {
        bool good = true;
        for (int64_t d = 0; d < x->D; d++)
            good = good && battery_within(x->got[row * x->D + d], x->want[row * x->D + d],
                                          x->allowed[row * x->D + d]);
        good_rows += good;
    }
    if (unwritten > 0)
        say(v, "%" PRId64 " of %" PRId64 " outputs were never written", unwritten, x->outputs);
    else if (v->wrong == 0)
        say(v, "no known mistake; O is right, its logarithms are not");
    else if (nan > 0)
        say(v, "no known mistake; %" PRId64 " of %" PRId64 " outputs are NaN", nan, x->outputs);
    else
        say(v, "no known mistake; %" PRId64 " of %" PRId64 " rows are right", good_rows, x->rows);
}

static void first_says(struct battery_verdict *v, enum format f, double got, double want,
                       const char *place, ...) __attribute__((format(printf, 5, 6)));
static void first_says(struct battery_verdict *v, enum format f, double got, double want,
                       const char *place, ...)
{
    char name[96];
    va_list arguments;
    va_start(arguments, place);
    vsnprintf(name, sizeof name, place, arguments);
    va_end(arguments);
    want = format_round(f, want, false);
    if (got == BATTERY_POISON)
        snprintf(v->first, sizeof v->first, "%s was never written, want %s", name,
                 number_text(f, want).text);
    else
        snprintf(v->first, sizeof v->first, "%s = %s, want %s", name, number_text(f, got).text,
                 number_text(f, want).text);
}

static void first_wrong(const struct outcome *x, int64_t i, struct battery_verdict *v)
{
    const struct problem *p = &x->in->problem;
    int64_t d = i % x->D, r = i / x->D % p->Nq, h = i / x->D / p->Nq % p->Hq;
    int64_t b = i / x->D / p->Nq / p->Hq;
    first_says(v, x->dtype, x->got[i], x->want[i],
               "O[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", b, h, r, d);
}

static void judge(struct outcome *x, struct battery_verdict *v)
{
    const struct problem *p = &x->in->problem;
    int64_t wrong_lse = 0;
    expect(x);
    v->outputs = x->outputs;
    for (int64_t i = 0; i < x->outputs; i++) {
        if (battery_within(x->got[i], x->want[i], x->allowed[i]))
            continue;
        if (v->wrong++ == 0)
            first_wrong(x, i, v);
    }
    for (int64_t row = 0; x->got_lse != NULL && row < x->rows; row++) {
        if (battery_within(x->got_lse[row], x->want_lse[row], x->allowed_lse[row]))
            continue;
        if (wrong_lse++ == 0 && v->wrong == 0)
            first_says(v, FORMAT_FP32, x->got_lse[row], x->want_lse[row],
                       "LSE[%" PRId64 ",%" PRId64 ",%" PRId64 "]", row / p->Nq / p->Hq,
                       row / p->Nq % p->Hq, row % p->Nq);
    }
    v->passed = v->wrong == 0 && wrong_lse == 0;
    if (!v->passed && !name_mistake(x, v))
        describe(x, v);
}

static double *room_for(int64_t count)
{
    double *x = malloc(((size_t)count + 1) * sizeof *x);
    assert(x != NULL);
    return x;
}

void battery_judge(const struct battery_input *in, const struct tensor *O, const struct tensor *lse,
                   struct battery_verdict *v)
{
    const struct problem *p = &in->problem;
    int64_t rows = p->B * p->Hq * p->Nq, outputs = rows * p->D;
    struct outcome x = {.in = in,
                        .outputs = outputs,
                        .rows = rows,
                        .D = p->D,
                        .want = room_for(outputs),
                        .allowed = room_for(outputs),
                        .got = room_for(outputs),
                        .other = room_for(outputs),
                        .want_lse = room_for(rows),
                        .allowed_lse = room_for(rows),
                        .other_lse = room_for(rows),
                        .got_lse = lse != NULL ? room_for(rows) : NULL,
                        .dtype = O->dtype};
    *v = (struct battery_verdict){0};
    for (int64_t row = 0; row < rows; row++) {
        int64_t b = row / p->Nq / p->Hq, h = row / p->Nq % p->Hq, r = row % p->Nq;
        for (int64_t d = 0; d < p->D; d++)
            x.got[row * p->D + d] = battery_given(O, b, h, r, d);
        if (lse != NULL)
            x.got_lse[row] = battery_given(lse, b, h, r, 0);
    }
    judge(&x, v);
    free(x.want);
    free(x.allowed);
    free(x.got);
    free(x.other);
    free(x.want_lse);
    free(x.allowed_lse);
    free(x.other_lse);
    free(x.got_lse);
}
