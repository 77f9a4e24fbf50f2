/* answer.c: lab 16, the split rule, in float as the source has it. */
#include "lab.h"

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

static bool eligible(int blocks, int n)
{
    return n == 1 || ceil_div(blocks, n) != ceil_div(blocks, n - 1);
}

static float efficiency(int heads, int n, int slots)
{
    float waves = (float)(heads * n) / (float)slots;
    return waves / ceilf(waves);
}

void choose_splits(struct state *s)
{
    int heads = (int)s->sizes[1], slots = 2 * (int)s->sizes[2],
        blocks = ceil_div((int)s->sizes[0], 64);
    int most = slots < 128 ? slots : 128;
    float best = 0;
    most = blocks < most ? blocks : most;
    s->answer = 1;
    if ((float)heads >= 0.8f * (float)slots)
        return;
    for (int n = 1; n <= most; n++)
        if (eligible(blocks, n) && efficiency(heads, n, slots) > best)
            best = efficiency(heads, n, slots);
    for (int n = 1; n <= most; n++)
        if (eligible(blocks, n) && efficiency(heads, n, slots) >= 0.85 * best) {
            s->answer = n;
            return;
        }
}
