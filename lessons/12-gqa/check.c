/* check.c: lab 12, heads of GQA. */
#include "lessons/grade.h"

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
                                           {"hidden, 6 cases", 2, hidden, true}}};
