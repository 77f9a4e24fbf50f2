/* worksheet_forms.c: what each worksheet gives and asks.  The numbers come from the student's
   digest; the right ones are computed here, in double. */
#include "lessons/worksheet.h"

#include <stdio.h>

#include "reference/format.h"
#include "simulator/splits.h"

static void add_blank(struct worksheet *w, const char *name, const char *meaning, double value)
{
    struct blank *b = &w->blank[w->blanks++];
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->meaning, sizeof b->meaning, "%s", meaning);
    b->value = value;
}

/* Distinct scores in halves, the largest in the second tile so that something is rescaled. */
static void draw_example(struct worksheet *w, const unsigned char digest[32])
{
    for (int i = 0; i < 4; i++) {
        w->x[i] = (double)(digest[i] % 5) / 2 + (i == 1 ? 0.5 : 0);
        w->v[i] = 10 * (double)(1 + digest[8 + i] % 6);
    }
    double first = fmax(w->x[0], w->x[1]);
    w->x[2] = first + 0.5 + (double)(digest[4] % 3) / 2;
}

static void fill_tiles(struct worksheet *w, bool divided)
{
    const double *x = w->x, *v = w->v;
    double m1 = fmax(x[0], x[1]), p0 = exp(x[0] - m1), p1 = exp(x[1] - m1), l1 = p0 + p1;
    double O1 = p0 * v[0] + p1 * v[1], m2 = fmax(m1, fmax(x[2], x[3])), a = exp(m1 - m2);
    double p2 = exp(x[2] - m2), p3 = exp(x[3] - m2), l2 = a * l1 + p2 + p3;
    double O2 = a * O1 + p2 * v[2] + p3 * v[3];
    add_blank(w, "m", "tile 1: the largest score", m1);
    add_blank(w, "p[0]", "tile 1: e^(x[0] - m)", p0);
    add_blank(w, "p[1]", "tile 1: e^(x[1] - m)", p1);
    add_blank(w, "l", "tile 1: the sum of the weights", l1);
    add_blank(w, divided ? "O" : "O~",
              divided ? "tile 1: sum p v, divided by l" : "tile 1: sum p v",
              divided ? O1 / l1 : O1);
    add_blank(w, "m", "tile 2: the largest score so far", m2);
    add_blank(w, "a", "tile 2: the rescale factor e^(m_old - m)", a);
    add_blank(w, "p[2]", "tile 2: e^(x[2] - m)", p2);
    add_blank(w, "p[3]", "tile 2: e^(x[3] - m)", p3);
    add_blank(w, "l", "tile 2: a l + sum of the weights", l2);
    if (!divided)
        add_blank(w, "O~", "tile 2: a O~ + sum p v", O2);
    add_blank(w, "O", divided ? "tile 2: (a l_old O + sum p v) / l" : "at the end: O~ / l",
              O2 / l2);
    add_blank(w, "L", "at the end: m + ln l", m2 + log(l2));
}

static void make_tiles(struct worksheet *w, const unsigned char digest[32], bool divided)
{
    draw_example(w, digest);
    snprintf(w->given, sizeof w->given, "x = [ %g %g | %g %g ]   v = [ %g %g | %g %g ]   scale 1",
             w->x[0], w->x[1], w->x[2], w->x[3], w->v[0], w->v[1], w->v[2], w->v[3]);
    fill_tiles(w, divided);
}

static void make_fa1(struct worksheet *w, const unsigned char digest[32])
{
    make_tiles(w, digest, true);
}

static void make_fa2(struct worksheet *w, const unsigned char digest[32])
{
    make_tiles(w, digest, false);
}

/* To four significant bits, 1.xxx times a power of two, ties to even. */
static double rounded(double x)
{
    int exponent;
    frexp(x, &exponent);
    double ulp = ldexp(1, exponent - 4);
    return nearbyint(x / ulp) * ulp;
}

/* Numbers of 1/64 between 1 and 4, the third a tie; then why order matters. */
static void make_rounding(struct worksheet *w, const unsigned char digest[32])
{
    double a = 1 + (double)(1 + digest[0] % 30) / 64, b = 2 + (double)(1 + digest[1] % 62) / 32;
    double tie = 1 + (double)(1 + 2 * (digest[2] % 7)) / 16, half = 0.0625;
    snprintf(w->given, sizeof w->given,
             "to 3 fraction bits (1.xxx times a power of two), ties to even\n"
             " a = %.9g   b = %.9g   c = %.9g",
             a, b, tie);
    add_blank(w, "ulp a", "the distance of a's neighbours", 0.125);
    add_blank(w, "ulp b", "the distance of b's neighbours", 0.25);
    add_blank(w, "a", "a, rounded", rounded(a));
    add_blank(w, "b", "b, rounded", rounded(b));
    add_blank(w, "c", "c, a tie, rounded", rounded(tie));
    add_blank(w, "(1+h)+h", "with h = 0.0625, each sum rounded", rounded(rounded(1 + half) + half));
    add_blank(w, "1+(h+h)", "the same numbers, h + h first", rounded(1 + rounded(half + half)));
}

/* Three distinct scores in halves, the largest not first. */
static void draw_row(struct worksheet *w, const unsigned char digest[32])
{
    w->x[0] = (double)(digest[0] % 4) / 2;
    w->x[1] = w->x[0] + 0.5 + (double)(digest[1] % 3) / 2;
    w->x[2] = w->x[1] - (digest[2] % 2 == 0 ? 1.5 : -1);
    for (int i = 0; i < 3; i++)
        w->v[i] = 10 * (double)(1 + digest[8 + i] % 6);
}

static void make_softmax(struct worksheet *w, const unsigned char digest[32])
{
    draw_row(w, digest);
    const double *x = w->x;
    double m = fmax(x[0], fmax(x[1], x[2])), l = 0;
    snprintf(w->given, sizeof w->given, "x = [ %g %g %g ]", x[0], x[1], x[2]);
    add_blank(w, "m", "the largest score", m);
    for (int i = 0; i < 3; i++) {
        char name[24], meaning[72];
        snprintf(name, sizeof name, "e[%d]", i);
        snprintf(meaning, sizeof meaning, "e^(x[%d] - m)", i);
        add_blank(w, name, meaning, exp(x[i] - m));
        l += exp(x[i] - m);
    }
    add_blank(w, "l", "their sum", l);
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "P[%d]", i);
        add_blank(w, name, "the weight", exp(x[i] - m) / l);
    }
    add_blank(w, "L", "m + ln l", m + log(l));
    add_blank(w, "e^L", "what plain softmax sums: e^x", exp(m + log(l)));
}

static void make_online(struct worksheet *w, const unsigned char digest[32])
{
    draw_row(w, digest);
    double m = -INFINITY, l = 0, O = 0;
    snprintf(w->given, sizeof w->given, "x = [ %g %g %g ]   v = [ %g %g %g ]   one key at a time",
             w->x[0], w->x[1], w->x[2], w->v[0], w->v[1], w->v[2]);
    for (int i = 0; i < 3; i++) {
        double top = fmax(m, w->x[i]), old = l * exp(m - top), p = exp(w->x[i] - top);
        char when[24], meaning[72];
        snprintf(when, sizeof when, "key %d: ", i + 1);
        O = (O * old + p * w->v[i]) / (old + p);
        l = old + p;
        m = top;
        snprintf(meaning, sizeof meaning, "%sthe largest score so far", when);
        add_blank(w, "m", meaning, m);
        snprintf(meaning, sizeof meaning, "%sl e^(m_old - m) + e^(x - m)", when);
        add_blank(w, "l", meaning, l);
        snprintf(meaning, sizeof meaning, "%sthe finished output so far", when);
        add_blank(w, "O", meaning, O);
    }
    add_blank(w, "L", "at the end: m + ln l", m + log(l));
}

/* P rounded for P V, not for l: with V = 1 the sum of the weights is no longer 1. */
static void make_weights(struct worksheet *w, const unsigned char digest[32])
{
    draw_row(w, digest);
    double m = fmax(w->x[0], fmax(w->x[1], w->x[2])), l = 0, narrow = 0;
    snprintf(w->given, sizeof w->given,
             "x = [ %g %g %g ]   V = 1   weights rounded to 3 fraction bits (1.xxx times 2^k)",
             w->x[0], w->x[1], w->x[2]);
    add_blank(w, "m", "the largest score", m);
    for (int i = 0; i < 3; i++) {
        char name[24];
        double p = exp(w->x[i] - m);
        snprintf(name, sizeof name, "p[%d]", i);
        add_blank(w, name, "e^(x - m)", p);
        snprintf(name, sizeof name, "r[%d]", i);
        add_blank(w, name, "the same, rounded", rounded(p));
        l += p;
        narrow += rounded(p);
    }
    add_blank(w, "l", "the sum of the unrounded weights", l);
    add_blank(w, "O", "sum r v / l, which is 1 in real numbers", narrow / l);
    add_blank(w, "O'", "the same with l of the rounded weights", 1);
}

/* A small machine, so that every count can be tried by hand. */
static void make_splits(struct worksheet *w, const unsigned char digest[32])
{
    struct launch l = {.batch = 1, .len_q = 1, .dim = 256, .shortest = -1};
    struct split_plan p;
    struct message why;
    for (int turn = 0; turn < 32; turn++) { /* one that is cut at all */
        l.sms = 4 + digest[turn] % 5;
        l.heads_q = l.heads_kv = 1 + digest[(turn + 1) % 32] % 3;
        l.longest = 64 * (5 + digest[(turn + 2) % 32] % 9) + 1 + digest[(turn + 3) % 32] % 60;
        if (split_plan(SPLIT_RULE_FA2_SPLIT, "", &l, &p, &why) && p.splits > 1)
            break;
    }
    snprintf(w->given, sizeof w->given,
             "%d tokens, %d KV heads, batch 1, head size 256, a GPU of %d SMs", (int)l.longest,
             (int)l.heads_kv, (int)l.sms);
    int slots = 2 * (int)l.sms, best = p.weighing.best;
    double waves = (double)l.heads_kv * best / slots, efficiency = waves / ceil(waves);
    add_blank(w, "blocks", "of 64 tokens", (double)p.blocks);
    add_blank(w, "slots", "two for each SM", slots);
    add_blank(w, "full", "0.8 of them: so many heads stay whole", 0.8 * slots);
    add_blank(w, "best", "the best efficiency of an eligible count", efficiency);
    add_blank(w, "needs", "0.85 of it", 0.85 * efficiency);
    add_blank(w, "splits", "the smallest eligible count that has it", p.splits);
    add_blank(w, "tokens", "of each group but the last",
              (double)(p.blocks_per_split * p.block_tokens));
}

static const struct worksheet_form forms[] = {
    {"00", make_rounding}, {"02", make_softmax}, {"03", make_online}, {"05", make_fa1},
    {"06", make_weights},  {"07", make_fa2},     {"16", make_splits}};

const struct worksheet_form *worksheet_form(int n)
{
    return n >= 0 && n < (int)(sizeof forms / sizeof forms[0]) ? &forms[n] : NULL;
}
