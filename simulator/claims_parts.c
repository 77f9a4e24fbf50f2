/* claims_parts.c: inputs as numbers, figures at their printed digits, runs that are counted. */
#include "simulator/claims_parts.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "simulator/special.h"

/* The next number at *at, past blanks and bars; its text's end in *at.  False: none is left. */
static bool next_number(const char **at, const char **begin, double *x)
{
    char *end;
    *at += strspn(*at, " |");
    *begin = *at;
    *x = strtod(*at, &end);
    if (end == *at)
        return false;
    *at = end;
    return true;
}

int claim_numbers(const struct claim_inputs *in, enum claim_input i, double *x, int room)
{
    const char *at = in->text[i], *begin;
    int count = 0;
    while (count < room && next_number(&at, &begin, &x[count]))
        count++;
    return count;
}

double claim_number(const struct claim_inputs *in, enum claim_input i, int n)
{
    double x[CLAIM_NUMBERS] = {0};
    return n < claim_numbers(in, i, x, CLAIM_NUMBERS) ? x[n] : 0;
}

/* Half a unit of the last digit of a printed decimal: "3.4e10" has a last unit of 1e9. */
static double half_unit(const char *digits, size_t length)
{
    const char *exponent = memchr(digits, 'e', length), *point = memchr(digits, '.', length);
    size_t mantissa = exponent != NULL ? (size_t)(exponent - digits) : length;
    int decimals = point != NULL ? (int)(mantissa - (size_t)(point - digits) - 1) : 0;
    char unit[32];
    snprintf(unit, sizeof unit, "5e%d", (exponent != NULL ? atoi(exponent + 1) : 0) - decimals - 1);
    return strtod(unit, NULL);
}

enum verdict_word claim_figure(const struct claim_inputs *in, enum claim_input i, int n, double x)
{
    const char *at = in->text[i], *begin;
    double printed;
    for (int k = 0; next_number(&at, &begin, &printed); k++) {
        if (k < n)
            continue;
        if (x == printed)
            return VERDICT_HOLDS;
        return fabs(x - printed) <= half_unit(begin, (size_t)(at - begin)) ? VERDICT_DIGITS
                                                                           : VERDICT_FAILS;
    }
    return VERDICT_FAILS;
}

enum verdict_word verdict_both(enum verdict_word a, enum verdict_word b)
{
    if (a == b)
        return a;
    if (a == VERDICT_PARTLY || b == VERDICT_PARTLY || a == VERDICT_FAILS || b == VERDICT_FAILS)
        return VERDICT_PARTLY;
    return VERDICT_DIGITS;
}

enum verdict_word verdict_of(bool true_as_stated)
{
    return true_as_stated ? VERDICT_HOLDS : VERDICT_FAILS;
}

void explain(struct claim_outcome *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_append_list(&out->explain, format, arguments);
    va_end(arguments);
}

double claim_exp(double x)
{
    return special_wide(FUNCTION_EXP, x).high;
}

struct problem claim_problem(const struct claim_inputs *in, enum claim_input scores,
                             enum claim_input values)
{
    struct problem p;
    struct message why;
    bool ok = problem_from_scores(&p, in->text[scores], in->text[values], &why);
    assert(ok);
    (void)ok;
    return p;
}

static struct tensor tensor_of(enum format f, int heads, int rows, int D)
{
    struct tensor t;
    struct message why;
    bool ok = tensor_new(&t, f, TENSOR_MAX_RANK, (int64_t[]){1, heads, rows, D}, &why);
    assert(ok);
    (void)ok;
    return t;
}

static struct problem problem_of(struct tensor *q, struct tensor *k, struct tensor *v)
{
    struct problem_options options = problem_defaults();
    struct problem p;
    struct message why;
    options.scale_given = true;
    options.scale = 1;
    bool ok = problem_new(&p, q, k, v, &options, &why);
    assert(ok);
    (void)ok;
    return p;
}

struct problem scores_problem(const double *x, const double *v, int keys)
{
    struct tensor q = tensor_of(FORMAT_FP64, 1, 1, 1), k = tensor_of(FORMAT_FP64, 1, keys, 1);
    struct tensor values = tensor_of(FORMAT_FP64, 1, keys, 1);
    tensor_set(&q, 0, 0, 0, 0, 1);
    for (int c = 0; c < keys; c++) {
        tensor_set(&k, 0, 0, c, 0, x[c]);
        tensor_set(&values, 0, 0, c, 0, v[c]);
    }
    return problem_of(&q, &k, &values);
}

int claim_whole(double x, int least, int most)
{
    return x < least ? least : x > most ? most : (int)x;
}

uint64_t claim_draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Multiples of 1/16 between -2 and 2: products and dot products are exact in fp32. */
static struct tensor drawn_tensor(uint64_t *state, int heads, int rows, int D)
{
    struct tensor t = tensor_of(FORMAT_BF16, heads, rows, D);
    for (int64_t n = 0; n < (int64_t)heads * rows * D; n++)
        tensor_set(&t, 0, n / D / rows, n / D % rows, n % D,
                   ((double)(claim_draw(state) % 65) - 32) / 16);
    return t;
}

struct problem drawn_problem(uint64_t seed, int Nq, int Nk, int D)
{
    return drawn_group(seed, 1, 1, Nq, Nk, D);
}

struct problem drawn_group(uint64_t seed, int group, int key_heads, int Nq, int Nk, int D)
{
    struct tensor q = drawn_tensor(&seed, group * key_heads, Nq, D);
    struct tensor k = drawn_tensor(&seed, key_heads, Nk, D);
    struct tensor v = drawn_tensor(&seed, key_heads, Nk, D);
    return problem_of(&q, &k, &v);
}

struct tensor drawn_gradient(uint64_t seed, const struct problem *p)
{
    return drawn_tensor(&seed, (int)p->Hq, (int)p->Nq, (int)p->D);
}

static struct tensor copied(const struct tensor *t, int heads)
{
    struct tensor c = tensor_of(FORMAT_BF16, heads, (int)t->shape[2], (int)t->shape[3]);
    for (int64_t h = 0; h < heads; h++)
        for (int64_t n = 0; n < t->shape[2]; n++)
            for (int64_t d = 0; d < t->shape[3]; d++)
                tensor_set(&c, 0, h, n, d, tensor_get(t, 0, h / (heads / t->shape[1]), n, d));
    return c;
}

struct problem copied_keys(const struct problem *p)
{
    struct tensor q = copied(&p->q, (int)p->Hq), k = copied(&p->k, (int)p->Hq);
    struct tensor v = copied(&p->v, (int)p->Hq);
    return problem_of(&q, &k, &v);
}

struct simulation exact_run(enum algorithm a, int Bc)
{
    struct simulation s = policy_run(a, POLICY_EXACT, Bc);
    s.arith = &arith_mpfr;
    return s;
}

struct simulation policy_run(enum algorithm a, enum policy_id policy, int Bc)
{
    struct simulation s = simulation_default();
    s.algorithm = a;
    s.policy = policy_table(policy);
    s.choices.faults = 0;
    s.choices.Bc = Bc;
    return s;
}

struct result claim_run(const struct problem *p, const struct simulation *s)
{
    struct result result;
    struct message why;
    bool ok = simulate(p, s, &result, &why);
    assert(ok);
    (void)ok;
    return result;
}

struct gradients claim_gradients(const struct problem *p, const struct tensor *dO,
                                 const struct simulation *s)
{
    struct gradients g;
    struct message why;
    bool ok = simulate_gradients(p, dO, s, &g, &why);
    assert(ok);
    (void)ok;
    return g;
}

struct trace *claim_trace(const struct problem *p, const struct simulation *s)
{
    struct simulation watched = *s;
    watched.trace = trace_new(TRACE_VALUES);
    assert(watched.trace != NULL);
    struct result result = claim_run(p, &watched);
    result_free(&result);
    return watched.trace;
}

double traced(const struct trace *t, enum step step, enum tensor_name tensor, int j, int n)
{
    for (size_t i = trace_count(t); i-- > 0;) {
        const struct event *e = trace_event(t, i);
        const double *values = trace_values(t, i);
        if (e->step == (uint32_t)step && e->tensor == (uint32_t)tensor && e->j == (uint32_t)j &&
            values != NULL && (uint32_t)n < e->rows * e->cols)
            return values[n];
    }
    return NAN;
}

/* The run is the first member, so that `perform` finds the counts behind it. */
struct counted_run {
    struct run run;
    struct counts counts;
};

/* A division by a column of sums other than itself: settle_rows asks l / l about a row, which
   divides no output. */
static bool divides_output(const struct call *c)
{
    return (c->verb == VERB_DIV || c->verb == VERB_DIVIDE_ROWS) && c->a != c->b &&
           c->site == SITE_NORMALIZE;
}

static void perform_counted(struct run *r, const struct call *c)
{
    struct counts *counts = &((struct counted_run *)r)->counts;
    bool product = c->verb == VERB_MMA_ABT || c->verb == VERB_MMA_AB || c->verb == VERB_MMA_ATB;
    int inner = c->verb == VERB_MMA_ATB ? c->a->rows : product ? c->a->cols : 0;
    counts->divisions += divides_output(c);
    counts->products += product;
    if (product)
        counts->flops += 2 * (int64_t)c->dst->rows * c->dst->cols * inner;
    perform_plain(r, c);
}

struct counts claim_counts(const struct problem *p, const struct simulation *s)
{
    struct counted_run r;
    struct message why;
    struct head h = problem_head(p, 0);
    bool ok = run_new(&r.run, s->arith, &s->policy, s->precision, &why);
    assert(ok);
    (void)ok;
    r.counts = (struct counts){0};
    r.run.perform = perform_counted;
    simulate_head(&r.run, s, &h);
    for (int i = 0; i < r.run.tile_count; i++) {
        const struct tile *t = r.run.tiles[i];
        r.counts.elements += (int64_t)t->rows * t->cols;
        r.counts.kept += t->name == TENSOR_M || t->name == TENSOR_L_SUM;
    }
    run_free(&r.run);
    return r.counts;
}
