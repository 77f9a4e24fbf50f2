/* edges.c: see edges.h. */
#include "lessons/edges.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/battery_gradient.h"
#include "simulator/scenario_parts.h"

enum { DIM = 8 };

static bool takes(const struct edges *e, const struct battery_case *c)
{
    bool masked = c->causal || c->left >= 0 || c->right >= 0;
    for (int i = 0; i < 4 && e->leaves[i] != NULL; i++)
        if (strcmp(e->leaves[i], c->name) == 0)
            return false;
    return (masked ? e->masked : e->plain) && (!e->heads || c->Hq > 1) && c->softcap == 0 &&
           c->spare == 0 && c->fill != BATTERY_SHAPED && c->D <= MAX_DIM && c->Nq > 0 &&
           c->Nk <= e->most_keys && c->B * c->Hq * c->Nq <= e->most_rows &&
           strcmp(c->name, "all-minus-inf") != 0;
}

static void to_tensor(struct tensor *t, int rank, const int64_t *shape, const double *x)
{
    struct message why;
    bool ok = tensor_new(t, FORMAT_FP32, rank, shape, &why);
    int64_t last = rank == 4 ? shape[3] : 1, i = 0;
    assert(ok);
    for (int64_t b = 0; ok && b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t r = 0; r < shape[2]; r++)
                for (int64_t d = 0; d < last; d++, i++)
                    if (x[i] == BATTERY_POISON)
                        battery_poison(t, i);
                    else
                        tensor_set(t, b, h, r, d, format_round(FORMAT_FP32, x[i], false));
}

/* "See it": the row of the first wrong number, O[b,h,r,d] or LSE[b,h,r], as the keys it sees. */
static void see_row(struct grading *g, const struct battery_input *in, const char *first)
{
    enum { MOST = 24 };
    int64_t b, h, r, d = 0, shown = 0;
    char *scores = NULL, *values = NULL, *text = NULL;
    const char *at = strchr(first, '[');
    if (at == NULL ||
        sscanf(at, "[%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64, &b, &h, &r, &d) < 3)
        return;
    int64_t unit = b * in->problem.Hq + h;
    for (int64_t c = 0; c < in->problem.Nk; c++) {
        if (!edge_sees(in, unit, r, c))
            continue;
        text_append(&scores, "%s%.9g", shown > 0 ? " " : "", edge_score(in, unit, r, c));
        text_append(&values, "%s%.9g", shown++ > 0 ? " " : "", edge_value(in, unit, c, d));
    }
    if (shown > 0 && shown <= MOST) {
        text_append(&text, "flashulp walk --scores \"%s\" --values \"%s\"", scores, values);
        see(g, text);
    }
    free(text);
    free(scores);
    free(values);
}

static void judge(struct grading *g, const struct edges *e, const struct battery_input *in,
                  const double *O, const double *lse)
{
    const struct problem *p = &in->problem;
    struct battery_verdict v;
    struct tensor o, l;
    to_tensor(&o, 4, (int64_t[]){p->B, p->Hq, p->Nq, p->D}, O);
    to_tensor(&l, 3, (int64_t[]){p->B, p->Hq, p->Nq}, lse);
    battery_judge(in, &o, e->lse ? &l : NULL, &v);
    if (!v.passed) {
        wrong(g, "%.250s", v.sentence);
        differs(g, "%.150s", v.first);
        see_row(g, in, v.first);
    }
    tensor_free(&o);
    tensor_free(&l);
}

static void try_gradients(struct grading *g, const struct edges *e, const struct battery_input *in)
{
    const struct problem *p = &in->problem;
    int64_t queries[] = {p->B, p->Hq, p->Nq, p->D}, keys[] = {p->B, p->Hkv, p->Nk, p->D};
    int64_t query_count = p->B * p->Hq * p->Nq * p->D, key_count = p->B * p->Hkv * p->Nk * p->D;
    double *dQ = calloc((size_t)(query_count + 2 * key_count) + 1, sizeof *dQ);
    double *dK = dQ + query_count, *dV = dK + key_count;
    struct battery_verdict v;
    struct tensor t[3];
    assert(dQ != NULL);
    if (e->solve_gradients(g, in, dQ, dK, dV) && !failed(g)) {
        to_tensor(&t[0], 4, queries, dQ);
        to_tensor(&t[1], 4, keys, dK);
        to_tensor(&t[2], 4, keys, dV);
        battery_judge_gradients(in, &t[0], &t[1], &t[2], &v);
        if (!v.passed) {
            wrong(g, "%.250s", v.sentence);
            differs(g, "%.150s", v.first);
        }
        for (int i = 0; i < 3; i++)
            tensor_free(&t[i]);
    }
    free(dQ);
}

static bool scores_fit(const struct edges *e, const struct battery_input *in)
{
    const struct problem *p = &in->problem;
    for (int64_t row = 0; e->most_score > 0 && row < problem_units(p) * p->Nq; row++)
        for (int64_t c = 0; c < p->Nk; c++) {
            double s = fabs(edge_score(in, row / p->Nq, row % p->Nq, c));
            if (isfinite(s) && s > e->most_score)
                return false;
        }
    return true;
}

static void try(struct grading *g, const struct edges *e, const struct battery_case *c)
{
    struct battery_input in;
    struct message why;
    uint64_t seed = (uint64_t)draw_between(g, 0, 1 << 30);
    enum format dtype = e->dtype == FORMAT_EXACT ? FORMAT_FP32 : e->dtype;
    if (!battery_input(c, dtype, DIM, seed, &in, &why)) {
        wrong(g, "%s", why.text);
        return;
    }
    at(g, "case %s", c->name);
    if (e->solve_gradients != NULL) {
        if (battery_has_gradients(&in))
            try_gradients(g, e, &in);
        battery_input_free(&in);
        return;
    }
    int64_t rows = in.problem.B * in.problem.Hq * in.problem.Nq;
    double *O = calloc((size_t)(rows * (in.problem.D + 1)), sizeof *O);
    double *lse = O + rows * in.problem.D;
    assert(O != NULL);
    if (scores_fit(e, &in) && e->solve(g, &in, O, lse) && !failed(g)) {
        at(g, "case %s", c->name);
        judge(g, e, &in, O, lse);
    }
    free(O);
    battery_input_free(&in);
}

void edge_cases(struct grading *g, const struct edges *e)
{
    for (int n = 0; battery_case(n) != NULL && !failed(g); n++)
        if (takes(e, battery_case(n)))
            try(g, e, battery_case(n));
}

static const double *row_of(const double *values, const struct battery_input *in, int64_t unit,
                            int64_t kv_head, int64_t c)
{
    int64_t batch = problem_head(&in->problem, unit).batch;
    return values + ((batch * in->problem.Hkv + kv_head) * in->buffer + c) * in->problem.D;
}

static double score(const struct battery_input *in, int64_t unit, int64_t kv_head, int64_t r,
                    int64_t c)
{
    int64_t D = in->problem.D;
    const double *q = in->q_values + (unit * in->problem.Nq + r) * D;
    const double *k = row_of(in->k_values, in, unit, kv_head, c);
    double dot = 0;
    for (int64_t d = 0; d < D; d++)
        dot += q[d] * k[d];
    return (double)(float)(dot / sqrt((double)D)); /* as students get it */
}

double edge_score(const struct battery_input *in, int64_t unit, int64_t r, int64_t c)
{
    return score(in, unit, problem_head(&in->problem, unit).kv_head, r, c);
}

double edge_value(const struct battery_input *in, int64_t unit, int64_t c, int64_t d)
{
    return row_of(in->v_values, in, unit, problem_head(&in->problem, unit).kv_head, c)[d];
}

bool edge_sees(const struct battery_input *in, int64_t unit, int64_t r, int64_t c)
{
    struct head h = problem_head(&in->problem, unit);
    return sees(&h, r, c);
}

double edge_number(float x)
{
    return is_poison(x) ? BATTERY_POISON : (double)x;
}

double edge_natural(const struct grading *g, float L, double want)
{
    static const double LN2 = 0.69314718055994531;
    int base = g->variant.base;
    bool two = base == 2 || (base < 0 && !near(L, want, 1) && near(L, want / LN2, 1));
    return two && isfinite(L) ? (double)L * LN2 : edge_number(L);
}

struct edge_row edge_row_of(const struct battery_input *in, int64_t unit, int64_t kv_head,
                            int64_t r, int64_t first, int64_t end)
{
    struct edge_row y = {.m = -INFINITY};
    for (int64_t c = first; c < end; c++)
        if (edge_sees(in, unit, r, c))
            y.m = fmax(y.m, score(in, unit, kv_head, r, c));
    for (int64_t c = first; c < end; c++) {
        double s = score(in, unit, kv_head, r, c);
        if (!edge_sees(in, unit, r, c) || s == -INFINITY)
            continue;
        double p = exp(s - y.m);
        y.l += p;
        for (int64_t d = 0; d < in->problem.D; d++)
            y.O[d] += p * row_of(in->v_values, in, unit, kv_head, c)[d];
    }
    return y;
}

struct edge_row edge_row(const struct battery_input *in, int64_t unit, int64_t r, int64_t first,
                         int64_t end)
{
    return edge_row_of(in, unit, problem_head(&in->problem, unit).kv_head, r, first, end);
}
