/* check.c: lab 16, the split rule, held to the simulator's model of it. */
#include "lessons/grade.h"
#include "simulator/splits.h"

static void choose(struct grading *g, int64_t tokens, int64_t heads, int sms)
{
    struct state s;
    struct split_plan p;
    struct message why;
    struct launch l = {.batch = 1,
                       .heads_q = heads,
                       .heads_kv = heads,
                       .len_q = 1,
                       .dim = g->variant.shape,
                       .longest = tokens,
                       .shortest = -1,
                       .sms = sms};
    fresh(&s, 1, 1, 1);
    s.sizes[0] = tokens;
    s.sizes[1] = heads;
    s.sizes[2] = sms;
    s.answer = -1;
    at(g, "%d tokens, %d heads, %d SMs", (int)tokens, (int)heads, sms);
    if (!call(g, 0, &s))
        return;
    if (!split_plan(SPLIT_RULE_FA2_SPLIT, "", &l, &p, &why)) {
        wrong(g, "the model refuses: %s", why.text);
        return;
    }
    if (s.answer == p.splits)
        return;
    struct split_plan other;
    if (s.answer == -1)
        wrong(g, "answer was never written");
    for (int i = 0; g->variant.student != NULL && i < MAX_SHAPES && g->lab->shapes[i] != 0; i++) {
        l.dim = g->lab->shapes[i];
        if (split_plan(SPLIT_RULE_FA2_SPLIT, "", &l, &other, &why) && s.answer == other.splits)
            wrong(g, "answer = %d, as for head size %d; this copy's is %d: blocks of %d tokens: %d",
                  s.answer, g->lab->shapes[i], g->variant.shape, (int)p.block_tokens, p.splits);
    }
    if (failed(g))
        return;
    if (s.answer == p.weighing.best)
        wrong(g, "%d has the best efficiency; the smallest count within 85 %% of it is %d",
              s.answer, p.splits);
    else if (p.weighing.full)
        wrong(g, "answer = %d; the heads fill four fifths of the slots: 1", s.answer);
    else if (s.answer > 0 && s.answer <= p.blocks && !split_fa2_eligible(p.blocks, s.answer))
        wrong(g, "%d is not eligible: as many blocks a group as with %d; want %d", s.answer,
              s.answer - 1, p.splits);
    else
        wrong(g, "answer = %d, want %d", s.answer, p.splits);
}

static void published(struct grading *g)
{
    choose(g, 27525, 4, 132);
    choose(g, 27525, 4, 148);
    choose(g, 27525, 4, 188);
}

static void full(struct grading *g)
{
    choose(g, 8192, 240, 132);
    choose(g, 8192, 212, 132);
}

static void short_rows(struct grading *g)
{
    choose(g, 1, 4, 132);
    choose(g, 64, 4, 132);
    choose(g, 65, 4, 132);
    choose(g, 640, 1, 132);
}

static void only_eligible(struct grading *g)
{
    for (int64_t tokens = 1000; tokens < 40000; tokens += 1731)
        choose(g, tokens, 8, 132);
}

static void limits(struct grading *g)
{
    choose(g, 1 << 19, 1, 188);
    choose(g, 1 << 19, 1, 40);
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 12; i++)
        choose(g, draw_between(g, 1, 130000), draw_between(g, 1, 64), draw_between(g, 20, 200));
}

const struct lab lab_splits = {.number = "16",
                               .folder = "splits",
                               .title = "The rule that splits the tokens",
                               .steps = {"choose_splits"},
                               .writes = {0},
                               .knobs = KNOB_SHAPE,
                               .shape = {"head size ", ""},
                               .shapes = {256, 64, 128},
                               .properties = {{"27,525 tokens on three GPUs", 2, published, false},
                                              {"enough heads: one group", 1, full, false},
                                              {"fewer blocks than slots", 1, short_rows, false},
                                              {"only eligible counts", 2, only_eligible, false},
                                              {"at most 128, at most the slots", 1, limits, false},
                                              {"hidden, 12 launches", 2, hidden, true}}};
