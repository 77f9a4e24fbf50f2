/* audit_gate.c: see audit_gate.h. */
#include "simulator/audit_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/truth.h"
#include "simulator/audit_parts.h"

static const char *const words[READINGS] = {
    [READ_AS_GIVEN] = "as they are given",
    [READ_CAUSAL] = "with a causal mask, bottom-right",
    [READ_CAUSAL_TOP_LEFT] = "with a causal mask, top-left",
    [READ_UNMASKED] = "without the mask",
    [READ_SCALE_1] = "with scale 1",
    [READ_SCALE_USUAL] = "with scale 1/sqrt(D)",
    [READ_SCALE_BASE_2] = "with powers of 2 in place of e",
    [READ_HEADS_INTERLEAVED] = "with query head h reading key head h mod Hkv",
    [READ_LAST_KEY_DROPPED] = "without the last key",
    [READ_LAYOUT] = "with its memory in the other layout of heads and rows",
};

const char *reading_words(enum reading r)
{
    return words[r];
}

/* Causal and nothing else, on that diagonal. */
static bool is_causal(const struct problem *p, enum causal_align align)
{
    const struct mask *m = &p->mask;
    return m->causal && m->left < 0 && (m->align == align || p->Nq == p->Nk);
}

/* The problem under a reading; false: the reading changes nothing, or is none. */
static bool reread(const struct problem *p, enum reading r, struct problem *to)
{
    const struct mask none = problem_defaults().mask;
    *to = *p;
    if (r == READ_CAUSAL || r == READ_CAUSAL_TOP_LEFT) {
        to->mask = none;
        to->mask.causal = true;
        to->mask.align = r == READ_CAUSAL ? ALIGN_BOTTOM_RIGHT : ALIGN_TOP_LEFT;
        return !is_causal(p, to->mask.align) && (r == READ_CAUSAL || p->Nq != p->Nk);
    }
    if (r == READ_UNMASKED) {
        to->mask = none;
        return p->mask.causal || p->mask.left >= 0 || p->mask.right >= 0;
    }
    if (r == READ_SCALE_1)
        to->scale = (struct scale){1, 1};
    if (r == READ_SCALE_USUAL)
        to->scale = (struct scale){1, p->D};
    if (r == READ_SCALE_1 || r == READ_SCALE_USUAL)
        return fabs(to->scale.value / sqrt((double)to->scale.root) /
                        (p->scale.value / sqrt((double)p->scale.root)) -
                    1) > 1e-6;
    if (r == READ_SCALE_BASE_2)
        to->scale.value *= log(2);
    if (r == READ_HEADS_INTERLEAVED)
        return p->Hkv > 1 && p->Hkv < p->Hq;
    return r != READ_LAYOUT || (p->Hq > 1 && p->Nq > 1 && p->cu_q == NULL);
}

bool gate_head(const struct problem *p, enum reading r, int64_t unit, struct problem *other,
               struct head *head)
{
    bool changes = reread(p, r, other);
    struct head h = problem_head(other, unit);
    h.kv_head = r == READ_HEADS_INTERLEAVED ? h.head % p->Hkv : h.kv_head;
    h.Nk -= r == READ_LAST_KEY_DROPPED && h.Nk > 0;
    *head = h;
    return changes && r != READ_LAYOUT;
}

/* Element [b,h,n,d] of O; under READ_LAYOUT of the memory behind it. */
static double output_at(const struct problem *p, const struct tensor *O, enum reading r, int64_t b,
                        int64_t h, int64_t n, int64_t d)
{
    if (r != READ_LAYOUT)
        return tensor_get(O, b, h, n, d);
    if (O->stride[1] < O->stride[2]) { /* a view of (B, N, H, D): row n Hq + h of a batch */
        int64_t row = h * p->Nq + n;
        return tensor_get(O, b, row % p->Hq, row / p->Hq, d);
    }
    int64_t row = n * p->Hq + h;
    return tensor_get(O, b, row / p->Nq, row % p->Nq, d);
}

enum { FEWEST_ROWS = 6, MOST_ROWS = 64, WORK = 1 << 17, COLUMNS = 4 };

static void try_row(const struct problem *p, const struct tensor *O, enum reading r, int64_t unit,
                    int64_t n, struct gate *g)
{
    struct problem other;
    struct truth truth[COLUMNS];
    double rounded[COLUMNS];
    int64_t dims[COLUMNS], count = p->D < COLUMNS ? p->D : COLUMNS;
    const enum format f = O->dtype;
    struct head h;
    gate_head(p, r, unit, &other, &h);
    struct rounding_budget budget = audit_any_budget(p);
    struct bound *bounds = malloc((size_t)p->D * sizeof *bounds);
    if (bounds == NULL)
        abort(); /* no memory for one row */
    for (int64_t i = 0; i < count; i++)
        dims[i] = i * p->D / count;
    truth_row(&h, n, dims, count, &f, 1, truth, rounded);
    bound_budgets(&h, n, &budget, &f, 1, bounds, NULL);
    for (int64_t i = 0; i < count; i++) {
        double got = output_at(p, O, r, h.batch, h.head, h.q0 + n, dims[i]);
        double error = fabs(truth_error(&truth[i], got));
        double used = isnan(error) ? INFINITY : error == 0 ? 0 : error / bounds[dims[i]].total;
        if (bounds[dims[i]].vacuous && used <= 1)
            continue; /* says nothing */
        g->worst[r] = used > g->worst[r] ? used : g->worst[r];
        g->fits[r] = g->fits[r] && used <= 1;
        g->outputs[r]++;
    }
    free(bounds);
}

void gate_try(const struct problem *p, const struct tensor *O, struct gate *g)
{
    struct problem other;
    int64_t units = problem_units(p), looks = WORK / (p->Nk + 1);
    looks = looks < FEWEST_ROWS ? FEWEST_ROWS : looks > MOST_ROWS ? MOST_ROWS : looks;
    memset(g, 0, sizeof *g);
    for (int r = 0; r < READINGS; r++) {
        g->tried[r] = g->fits[r] = reread(p, (enum reading)r, &other);
        for (int64_t i = 0; i < looks && g->tried[r]; i++) {
            int64_t unit = i * units / looks, rows = problem_head(p, unit).Nq;
            if (rows > 0)
                try_row(p, O, (enum reading)r, unit, i * units % looks * rows / looks, g);
        }
        g->fits[r] = g->fits[r] && g->outputs[r] > 0;
    }
}
