/* check.c: lab 15, FLOPs and utilisation. */
#include "lessons/grade.h"

enum { FORWARD, BACKWARD, UTILISATION };

struct shape {
    int64_t B, H, Nq, Nk, D;
    bool causal;
};

static double products(const struct shape *x)
{
    return (double)x->B * (double)x->H * (double)x->Nq * (double)x->Nk * (double)x->D;
}

static void count(struct grading *g, struct shape x, int step)
{
    struct state s;
    double want = products(&x) * (x.causal ? 2 : 4) * (step == BACKWARD ? 2.5 : 1);
    fresh(&s, 1, 1, 1);
    s.sizes[0] = x.B;
    s.sizes[1] = x.H;
    s.sizes[2] = x.Nq;
    s.sizes[3] = x.Nk;
    s.sizes[4] = x.D;
    s.causal = x.causal;
    s.flops = -1;
    at(g, "B %d, %d heads, Nq %d, Nk %d, D %d%s", (int)x.B, (int)x.H, (int)x.Nq, (int)x.Nk,
       (int)x.D, x.causal ? ", causal" : "");
    if (!call(g, step, &s) || s.flops == want)
        return;
    double factor = s.flops / want;
    if (s.flops == -1)
        wrong(g, "flops was never written");
    else if (factor == 0.5)
        wrong(g, "half of it: a multiply-add is two FLOPs, and there are two products");
    else if (factor == 2 && x.causal)
        wrong(g, "causal counts half");
    else if (factor == 2)
        wrong(g, "twice as many: two products of 2 Nq Nk D each");
    else if (factor == 1 / 2.5)
        wrong(g, "that is the forward pass: backward has five products where forward has two");
    else if (factor == 2 / 2.5 || factor == 1.2)
        wrong(g, "backward is 2.5 times forward: five products against two");
    else if (want > 0x1p31 && fabs(s.flops) < 0x1p31)
        wrong(g, "%.6g, want %.6g: a product of ints overflowed at 2^31", s.flops, want);
    else
        wrong(g, "%.6g, want %.6g", s.flops, want);
}

static void forward(struct grading *g)
{
    count(g, (struct shape){1, 1, 16, 16, 8, false}, FORWARD);
    count(g, (struct shape){2, 3, 16, 40, 8, false}, FORWARD);
}

static void causal(struct grading *g)
{
    count(g, (struct shape){1, 2, 64, 64, 8, true}, FORWARD);
}

static void large(struct grading *g)
{
    count(g, (struct shape){1, 16, 2048, 2048, 128, false}, FORWARD);
    count(g, (struct shape){8, 32, 16384, 16384, 128, true}, FORWARD);
}

static void backward(struct grading *g)
{
    count(g, (struct shape){1, 2, 64, 64, 16, false}, BACKWARD);
    count(g, (struct shape){2, 16, 4096, 4096, 128, true}, BACKWARD);
}

static void share(struct grading *g)
{
    static const double rows[][3] = {{3.436e10, 0.149e-3, 312}, {1e15, 2, 989.4}, {312e12, 1, 312}};
    for (int i = 0; i < 3; i++) {
        struct state s;
        fresh(&s, 1, 1, 1);
        s.flops = rows[i][0];
        s.seconds = rows[i][1];
        s.scale = (float)rows[i][2];
        s.ratio = -1;
        double want = rows[i][0] / rows[i][1] / ((double)s.scale * 1e12);
        at(g, "%g FLOPs in %g s at %g TFLOP/s", rows[i][0], rows[i][1], rows[i][2]);
        if (!call(g, UTILISATION, &s))
            return;
        if (fabs(s.ratio - 100 * want) < 1e-6 * want)
            wrong(g, "ratio is in per cent; a share between 0 and 1 is right");
        if (fabs(s.ratio - want) > 1e-9 * want)
            wrong(g, "ratio = %.6g, want %.6g", s.ratio, want);
    }
}

static void hidden(struct grading *g)
{
    for (int i = 0; i < 6; i++) {
        int n = 64 << draw_between(g, 0, 8);
        struct shape x = {draw_between(g, 1, 9),
                          draw_between(g, 1, 64),
                          n,
                          n,
                          32 << draw_between(g, 0, 3),
                          i % 2 == 1};
        count(g, x, i < 3 ? FORWARD : BACKWARD);
    }
}

const struct lab lab_flops = {.number = "15",
                              .folder = "flops",
                              .title = "FLOPs and utilisation",
                              .steps = {"forward_flops", "backward_flops", "utilisation"},
                              .writes = {0, 0, 0},
                              .properties = {{"forward", 2, forward, false},
                                             {"causal counts half", 1, causal, false},
                                             {"more than 2^31", 1, large, false},
                                             {"backward", 2, backward, false},
                                             {"share of the peak", 1, share, false},
                                             {"hidden, 6 shapes", 1, hidden, true}}};
