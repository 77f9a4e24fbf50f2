/* check.c: lab 00, rounding to a given number of fraction bits: every bit is compared. */
#include <stdio.h>

#include "lessons/grade.h"

/* By neighbours: the multiples of the last place on both sides, and the nearer one. */
static float want(float x, int bits)
{
    int exponent;
    if (!isfinite(x) || x == 0)
        return x;
    frexp((double)x, &exponent);
    double ulp = ldexp(1, (exponent < -125 ? -125 : exponent) - 1 - bits);
    double whole = floor((double)x / ulp), rest = (double)x / ulp - whole;
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0))
        whole++;
    return copysignf((float)(whole * ulp), x);
}

static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void judge_one(struct grading *g, float x, float got, int bits)
{
    float right = want(x, bits), cut = x;
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    word &= ~((UINT32_C(1) << (23 - bits)) - 1);
    memcpy(&cut, &word, sizeof cut);
    if (same(got, right))
        return;
    double middle = ((double)right + (double)got) / 2;
    if (is_poison(got))
        wrong(g, "y was never written for x = %.9g", (double)x);
    else if (isnan(x))
        wrong(g, "NaN became %g", (double)got);
    else if (isinf(x) && isnan(got))
        wrong(g, "an infinity became NaN");
    for (int other = 1; other < 23 && g->variant.student != NULL && isfinite(x); other++)
        if (same(got, want(x, other)) && other != bits && !same(got, x))
            wrong(g, "%.9g was rounded to %d fraction bits; this copy asks for %d", (double)x,
                  other, bits);
    if (failed(g))
        return;
    if (same(got, x))
        wrong(g, "%.9g was not rounded: it has more than %d fraction bits%s", (double)x, bits,
              g->variant.student != NULL ? ", which this copy asks for" : "");
    else if (middle == (double)x)
        wrong(g, "%.9g is a tie: %.9g is even, %.9g is not", (double)x, (double)right, (double)got);
    else if (same(got, cut))
        wrong(g, "%.9g was cut to %.9g; %.9g is nearer", (double)x, (double)got, (double)right);
    else
        wrong(g, "%.9g became %.9g, want %.9g (0x%08X)", (double)x, (double)got, (double)right,
              word);
}

static void judge_list(struct grading *g, const float *list, int count)
{
    struct state s;
    int bits = g->variant.bits;
    fresh(&s, 1, 1, 1);
    s.count = count;
    memcpy(s.x, list, (size_t)count * sizeof *list);
    if (!call(g, 0, &s))
        return;
    for (int i = 0; i < count; i++)
        judge_one(g, list[i], s.y[i], bits);
}

static float with_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void exact(struct grading *g)
{
    static const float list[] = {0, -0.0f, 1, -1, 0.5f, 1.5f, -2.25f, 1024, 0x1p-126f, 0x1p-20f};
    judge_list(g, list, 10);
}

static void nearest(struct grading *g)
{
    float list[32];
    for (int i = 0; i < 32; i++)
        list[i] = (1 + (float)i / 64 + 0x1p-12f * (float)(i % 3)) * (i % 2 ? 0.1f : 3.7f);
    judge_list(g, list, 32);
}

static void ties(struct grading *g)
{
    float list[16];
    uint32_t half = UINT32_C(1) << (22 - g->variant.bits);
    for (uint32_t i = 0; i < 16; i++)
        list[i] = with_bits(0x3F800000u + 2 * half * i + half);
    judge_list(g, list, 16);
}

static void carries(struct grading *g)
{
    const float list[] = {with_bits(0x3FFFFFFF), with_bits(0x407FFFFF), FLT_MAX, -FLT_MAX,
                          with_bits(0x7F7F0000)};
    judge_list(g, list, 5);
}

static void special(struct grading *g)
{
    const float list[] = {INFINITY, -INFINITY, NAN, with_bits(0x7F800001), with_bits(0xFFFFFFFF)};
    judge_list(g, list, 5);
}

static void tiny(struct grading *g)
{
    const float list[] = {0x1p-149f,     -0x1p-149f, 0x1.8p-130f,
                          0x1.234p-127f, 0x1p-133f,  0x1.8p-133f};
    judge_list(g, list, 6);
}

static void hidden(struct grading *g)
{
    float list[MAX_LIST];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < MAX_LIST; i++)
            list[i] = with_bits((uint32_t)draw_between(g, 0, INT32_MAX) * 2u +
                                (uint32_t)draw_between(g, 0, 1));
        judge_list(g, list, MAX_LIST);
    }
}

const struct lab lab_numbers = {.number = "00",
                                .folder = "numbers",
                                .title = "Rounding to nearest, ties to even",
                                .steps = {"round_all"},
                                .writes = {WRITES(y)},
                                .knobs = KNOB_BITS,
                                .properties = {{"what fits stays as it is", 1, exact, false},
                                               {"the nearer neighbour", 2, nearest, false},
                                               {"ties go to the even one", 2, ties, false},
                                               {"carries, up to infinity", 1, carries, false},
                                               {"infinities and NaN", 1, special, false},
                                               {"subnormal numbers", 1, tiny, false},
                                               {"hidden, 1,280 numbers", 2, hidden, true}}};
