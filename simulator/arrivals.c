/* arrivals.c: see arrivals.h.  The parts are computed once; only their sum is taken again. */
#include "simulator/arrivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/algorithms/backward.h"
#include "simulator/gradient.h"
#include "simulator/scenario_parts.h"
#include "simulator/simulate_parts.h"

/* The results of one query tile met so far. */
struct seen {
    enum format f;
    int64_t n;
    double *low, *high;
    uint64_t *digest; /* of each order's result */
    int64_t count, room;
};

struct study {
    struct run r;
    const struct simulation *simulation;
    struct attention x;
    struct tile *dQ, *room, *scale;
    double *values;
    struct seen sum, stored;
    struct arrivals *arrivals;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static void seen_new(struct seen *s, enum format f, int64_t n)
{
    *s = (struct seen){.f = f == FORMAT_EXACT ? FORMAT_FP64 : f, .n = n};
    s->low = must(calloc(2 * (size_t)n + 1, sizeof *s->low));
    s->high = s->low + n;
}

static void seen_add(struct seen *s, const double *x)
{
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 64;
        s->digest = must(realloc(s->digest, (size_t)s->room * sizeof *s->digest));
    }
    for (int64_t i = 0; i < s->n; i++) {
        s->low[i] = s->count == 0 || x[i] < s->low[i] ? x[i] : s->low[i];
        s->high[i] = s->count == 0 || x[i] > s->high[i] ? x[i] : s->high[i];
    }
    s->digest[s->count++] = digest_numbers(DIGEST_START, s->f, x, s->n);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Adds what a query tile showed to the view; forgets it. */
static void seen_end(struct seen *s, const struct attention *x, int i, struct arrivals_view *v)
{
    int64_t distinct = 0, D = x->head->D;
    if (s->count > 0)
        qsort(s->digest, (size_t)s->count, sizeof *s->digest, by_value);
    for (int64_t n = 0; n < s->count; n++)
        distinct += n == 0 || s->digest[n] != s->digest[n - 1];
    v->distinct_most = distinct > v->distinct_most ? distinct : v->distinct_most;
    for (int64_t n = 0; n < s->n; n++) {
        double low = s->low[n], high = s->high[n];
        v->varying += low != high && !isnan(low);
        double ulp = format_ulp(s->f, fabs(high) > fabs(low) ? high : low);
        if (!isfinite(low) || !isfinite(high) || (high - low) / ulp <= v->max_ulp)
            continue;
        v->max_ulp = (high - low) / ulp;
        v->low = low;
        v->high = high;
        v->batch = x->head->batch;
        v->head = x->head->head;
        v->row = x->head->q0 + (int64_t)i * x->choices.Br + n / D;
        v->dim = n % D;
    }
    free(s->digest);
    free(s->low);
}

static void count_result(struct arrivals_results *results, double x)
{
    int n = 0;
    while (n < results->count && results->value[n] != x)
        n++;
    if (n == ARRIVALS_VALUES || isnan(x))
        return;
    if (n == results->count)
        results->value[results->count++] = x;
    results->orders[n]++;
}

static void one_order(struct study *s, int i, const int *order, int count)
{
    struct run *r = &s->r;
    struct arrivals *a = s->arrivals;
    size_t n = (size_t)s->sum.n;
    sum_dq(r, &s->x, s->dQ, s->room, i, order, count);
    for (size_t k = 0; k < n; k++)
        s->values[k] = r->arith->get(s->dQ->data, k);
    seen_add(&s->sum, s->values);
    conclude_dq(r, s->dQ, s->scale);
    for (size_t k = 0; k < n; k++)
        s->values[k] = r->arith->get(s->dQ->data, k);
    seen_add(&s->stored, s->values);
    for (int d = 0; a->query_tiles == 0 && d < a->shown; d++)
        count_result(&a->results[d], s->values[d]);
}

/* The next permutation in the order of the alphabet; false behind the last. */
static bool next_order(int *order, int n)
{
    int k = n - 2, last = n - 1;
    while (k >= 0 && order[k] > order[k + 1])
        k--;
    if (k < 0)
        return false;
    while (order[last] < order[k])
        last--;
    int kept = order[k];
    order[k] = order[last];
    order[last] = kept;
    for (int a = k + 1, b = n - 1; a < b; a++, b--) {
        kept = order[a];
        order[a] = order[b];
        order[b] = kept;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool query_tile(struct study *s, int i, int64_t draws, int *order, struct message *why)
{
    struct attention *x = &s->x;
    struct arrivals *a = s->arrivals;
    const struct policy *p = s->r.policy;
    int count = dq_order(x, i, order);
    int64_t rows = x->head->Nq - (int64_t)i * x->choices.Br, orders = 0;
    rows = rows < x->choices.Br ? rows : x->choices.Br;
    if (draws == 0 && count > ARRIVALS_MOST_TILES)
        return refuse(why, "--arrivals all: %d key tiles have more than 40,320 orders; --arrivals N "
                           "draws N of them", count);
    seen_new(&s->sum, p->site[SITE_DQ_SUM].format, rows * x->head->D);
    seen_new(&s->stored, p->site[SITE_GRADIENT].format, rows * x->head->D);
    qsort(order, (size_t)count, sizeof *order, by_number);
    do {
        if (draws > 0) {
            x->choices.dq_seed = (uint64_t)orders;
            dq_order(x, i, order);
        }
        one_order(s, i, order, count);
        orders++;
    } while (draws > 0 ? orders < draws : next_order(order, count));
    a->query_tiles++;
    a->elements += s->sum.n;
    a->orders = orders > a->orders ? orders : a->orders;
    a->most_met = count > a->most_met ? count : a->most_met;
    seen_end(&s->sum, x, i, &a->sum);
    seen_end(&s->stored, x, i, &a->stored);
    return true;
}

static bool study_head(struct study *s, const struct head *h, const struct tensor *dO,
                       int64_t draws, struct message *why)
{
    struct run *r = &s->r;
    const struct scale *scale = &h->problem->scale;
    bool ok = true;
    s->x = simulate_head(r, s->simulation, h);
    simulate_backward(r, s->simulation, &s->x, dO);
    int Br = s->x.choices.Br, D = (int)h->D;
    s->dQ = tile_new(r, TENSOR_DQ, Br, D);
    s->room = tile_new(r, TENSOR_DQ, Br, D);
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){scale->value, scale->root, REAL_PLAIN});
    s->values = must(malloc(((size_t)Br * (size_t)D + 1) * sizeof *s->values));
    int *order = must(malloc(((size_t)s->x.choices.dq_copies + 1) * sizeof *order));
    for (int i = 0; ok && i < query_tiles(&s->x); i++)
        ok = query_tile(s, i, draws, order, why);
    free(order);
    free(s->values);
    run_reset(r);
    return ok;
}

bool study_arrivals(const struct problem *p, const struct tensor *dO, const struct simulation *s,
                    int64_t draws, struct arrivals *a, struct message *why)
{
    struct study study = {.simulation = s, .arrivals = a};
    bool ok = true;
    memset(a, 0, sizeof *a);
    a->shown = p->D < ARRIVALS_SHOWN ? (int)p->D : ARRIVALS_SHOWN;
    if (!run_new(&study.r, s->arith, &s->policy, s->precision, why))
        return false;
    for (int64_t n = 0; ok && n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        ok = study_head(&study, &h, dO, draws, why);
    }
    run_free(&study.r);
    return ok;
}
