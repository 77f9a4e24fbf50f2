/* test_audit_gate.c: attention made with one thing changed is recognised as just that; other numbers
   as nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/audit_gate.h"
#include "tests/random_problem.h"

enum { HQ = 4, HKV = 2, NQ = 10, NK = 24, D = 8 };

/* What is done with Q, K and V. */
struct made {
    enum reading reading;
    bool causal, top_left, interleaved;
    double scale;
    int keys;
};

static bool seen(const struct made *x, int n, int c)
{
    return c < x->keys && (!x->causal || c <= n + (x->top_left ? 0 : NK - NQ));
}

/* One output in double, by the definition. */
static double attend(const struct problem *p, const struct made *x, int h, int n, int d)
{
    double score[NK], top = -INFINITY, sum = 0, O = 0;
    int kv = x->interleaved ? h % HKV : h / (HQ / HKV);
    for (int c = 0; c < NK; c++) {
        score[c] = 0;
        for (int e = 0; e < D; e++)
            score[c] += x->scale * tensor_get(&p->q, 0, h, n, e) * tensor_get(&p->k, 0, kv, c, e);
        if (seen(x, n, c) && score[c] > top)
            top = score[c];
    }
    for (int c = 0; c < NK; c++) {
        double w = seen(x, n, c) ? exp(score[c] - top) : 0;
        sum += w;
        O += w * tensor_get(&p->v, 0, kv, c, d);
    }
    return O / sum;
}

/* O in memory as (H, N, D), or as (N, H, D) under the other layout. */
static void make(const struct problem *p, const struct made *x, struct tensor *O)
{
    struct message why;
    assert_true(tensor_new(O, FORMAT_BF16, 4, (int64_t[]){1, HQ, NQ, D}, &why));
    for (int h = 0; h < HQ; h++)
        for (int n = 0; n < NQ; n++)
            for (int d = 0; d < D; d++) {
                int row = x->reading == READ_LAYOUT ? n * HQ + h : h * NQ + n;
                tensor_set(O, 0, row / NQ, row % NQ, d,
                           format_round(FORMAT_BF16, attend(p, x, h, n, d), false));
            }
}

static const double usual = 0.35355339059327379; /* 1 / sqrt(8) */

static const struct made rows[] = {
    {READ_AS_GIVEN, false, false, false, usual, NK},
    {READ_CAUSAL, true, false, false, usual, NK},
    {READ_CAUSAL_TOP_LEFT, true, true, false, usual, NK},
    {READ_SCALE_1, false, false, false, 1, NK},
    {READ_SCALE_BASE_2, false, false, false, usual * 0.69314718055994531, NK},
    {READ_HEADS_INTERLEAVED, false, false, true, usual, NK},
    {READ_LAST_KEY_DROPPED, false, false, false, usual, NK - 1},
    {READ_LAYOUT, false, false, false, usual, NK},
    {READINGS, true, false, true, 1, NK}, /* three things at once: nothing fits */
};

static void recognised(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct problem p;
            struct tensor O;
            struct gate g;
            struct problem_options o = problem_defaults();
            uint64_t state = seed;
            assert_true(draw_problem(&p, FORMAT_BF16, (struct shape){1, HQ, HKV, NQ, NK, D}, 2, &o,
                                     &state));
            make(&p, &rows[i], &O);
            gate_try(&p, &O, &g);
            for (int r = 0; r < READINGS; r++)
                if (g.fits[r] != (r == (int)rows[i].reading))
                    fail_msg("row %d, seed %d: \"%s\" %s, at %.3g of its bound", (int)i, (int)seed,
                             reading_words((enum reading)r), g.fits[r] ? "fits" : "does not fit",
                             g.worst[r]);
            assert_true(g.outputs[READ_AS_GIVEN] > 0);
            tensor_free(&O);
            problem_free(&p);
        }
}

/* A problem that says causal is asked without; one head has no layout; NaN fits nothing. */
static void what_is_tried(void **unused)
{
    (void)unused;
    struct problem p;
    struct tensor O;
    struct gate g;
    struct problem_options o = problem_defaults();
    uint64_t state = 5;
    o.mask.causal = true;
    assert_true(
        draw_problem(&p, FORMAT_BF16, (struct shape){1, HQ, HKV, NQ, NK, D}, 2, &o, &state));
    make(&p, &rows[0], &O);
    gate_try(&p, &O, &g);
    assert_true(g.fits[READ_UNMASKED] && g.tried[READ_CAUSAL_TOP_LEFT] && !g.tried[READ_CAUSAL]);
    for (int h = 0; h < HQ; h++)
        for (int n = 0; n < NQ; n++)
            for (int d = 0; d < D; d++)
                tensor_set(&O, 0, h, n, d, NAN);
    gate_try(&p, &O, &g);
    for (int r = 0; r < READINGS; r++)
        assert_true(!g.fits[r] && (!g.tried[r] || isinf(g.worst[r])));
    tensor_free(&O);
    problem_free(&p);
    o.mask.causal = false;
    assert_true(draw_problem(&p, FORMAT_BF16, (struct shape){1, 1, 1, NQ, NQ, D}, 2, &o, &state));
    struct tensor one = p.q;
    one.owns_data = false;
    gate_try(&p, &one, &g);
    assert_true(!g.tried[READ_LAYOUT] && !g.tried[READ_HEADS_INTERLEAVED] &&
                !g.tried[READ_SCALE_USUAL] && !g.tried[READ_CAUSAL_TOP_LEFT]);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognised),
        cmocka_unit_test(what_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
