/* check.c: lab 12, heads of GQA. */
#include "lessons/edges.h"

enum { FORWARD, BACKWARD };

static void map(struct grading *g, int Hq, int Hkv)
{
    struct state s;
    int group = Hq / Hkv;
    bool modulo = Hkv > 1 && group > 1, zero = Hkv > 1;
    fresh(&s, 1, 0, 1);
    s.sizes[0] = Hq;
    s.sizes[1] = Hkv;
    memset(s.index, 0xFF, sizeof s.index);
    at(g, "%d query heads on %d key heads", Hq, Hkv);
    if (!call(g, FORWARD, &s))
        return;
    for (int h = 0; h < Hq; h++) {
        modulo = modulo && s.index[h] == h % Hkv;
        zero = zero && s.index[h] == 0;
    }
    if (modulo)
        wrong(g, "heads are interleaved (h mod Hkv); neighbours share: h / (Hq / Hkv)");
    if (zero)
        wrong(g, "every query head reads key head 0");
    for (int h = 0; h < Hq; h++)
        if (s.index[h] != h / group)
            wrong(g, "query head %d reads key head %d, want %d", h, s.index[h], h / group);
}

static void sums(struct grading *g, int Hq, int Hkv)
{
    struct state s;
    int group = Hq / Hkv;
    bool last = group > 1, first = group > 1, mean = group > 1;
    fresh(&s, 1, 0, 1);
    s.count = Hq;
    s.sizes[0] = Hq;
    s.sizes[1] = Hkv;
    for (int h = 0; h < Hq; h++)
        s.x[h] = draw(g);
    at(g, "%d query heads on %d key heads", Hq, Hkv);
    if (!call(g, BACKWARD, &s))
        return;
    for (int k = 0; k < Hkv; k++) {
        double sum = 0;
        for (int i = 0; i < group; i++)
            sum += (double)s.x[k * group + i];
        first = first && s.y[k] == s.x[k * group];
        last = last && s.y[k] == s.x[k * group + group - 1];
        mean = mean && near(s.y[k], sum / group, 1);
    }
    if (first || last)
        wrong(g, "only the group's %s head counts: all of them add to dK",
              first ? "first" : "last");
    if (mean)
        wrong(g, "the group's heads were averaged: they add");
    for (int k = 0; k < Hkv; k++) {
        double sum = 0;
        for (int i = 0; i < group; i++)
            sum += (double)s.x[k * group + i];
        expect(g, entry_name("y", k, -1).text, s.y[k], sum, 1);
    }
}

static void mha(struct grading *g)
{
    map(g, 3, 3);
    sums(g, 3, 3);
}

static void mqa(struct grading *g)
{
    map(g, 4, 1);
    sums(g, 4, 1);
}

static void gqa(struct grading *g)
{
    map(g, 4, 2);
    map(g, 32, 8);
    map(g, 9, 3);
}

static void groups(struct grading *g)
{
    sums(g, 4, 2);
    sums(g, 32, 8);
}

/* The battery's heads, each with the key head that the student names. */
static bool solve(struct grading *g, const struct battery_input *in, double *O, double *lse)
{
    const struct problem *p = &in->problem;
    struct state s;
    (void)lse;
    fresh(&s, 1, 0, 1);
    s.sizes[0] = p->Hq;
    s.sizes[1] = p->Hkv;
    memset(s.index, 0xFF, sizeof s.index);
    if (!call(g, FORWARD, &s))
        return false;
    for (int64_t h = 0; h < p->Hq; h++)
        if (s.index[h] < 0 || s.index[h] >= p->Hkv)
            wrong(g, "query head %d reads key head %d; there are %d", (int)h, s.index[h],
                  (int)p->Hkv);
    for (int64_t row = 0; row < problem_units(p) * p->Nq && !failed(g); row++) {
        struct edge_row y =
            edge_row_of(in, row / p->Nq, s.index[row / p->Nq % p->Hq], row % p->Nq, 0, p->Nk);
        for (int64_t d = 0; d < p->D; d++)
            O[row * p->D + d] = y.O[d] / y.l;
    }
    return !failed(g);
}

static void edges(struct grading *g)
{
    edge_cases(g, &(struct edges){.solve = solve,
                                  .plain = true,
                                  .masked = true,
                                  .heads = true,
                                  .most_keys = 80,
                                  .most_rows = 80});
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++) {
        int Hkv = draw_between(g, 1, 8), group = draw_between(g, 1, 8);
        map(g, Hkv * group, Hkv);
        sums(g, Hkv * group, Hkv);
    }
}

const struct lab lab_gqa = {.number = "12",
                            .folder = "gqa",
                            .title = "Fewer key heads: MQA and GQA",
                            .steps = {"kv_heads", "sum_groups"},
                            .writes = {0, WRITES(y)},
                            .properties = {{"as many key heads as query heads", 1, mha, false},
                                           {"one key head", 1, mqa, false},
                                           {"groups: which head is read", 2, gqa, false},
                                           {"groups: gradients add", 2, groups, false},
                                           {"edge cases of the battery", 1, edges, false},
                                           {"hidden, 6 cases", 2, hidden, true}}};
