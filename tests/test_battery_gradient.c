/* test_battery_gradient.c: the gradients in double pass every small case of the battery; every known mistake of a backward pass is named where it shows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/battery_gradient.h"

enum { SEED = 20261130, DIM = 8, MOST = 3000 };

/* Cases that are small and have gradients; false: not this one. */
static bool make_input(int n, enum format f, struct battery_input *in)
{
    const struct battery_case *c = battery_case(n);
    struct message why;
    if (!battery_input(c, f, DIM, SEED, in, &why))
        fail_msg("%s: %s", c->name, why.text);
    if (battery_has_gradients(in) && c->B * c->Hq * c->Nq * c->Nk <= MOST)
        return true;
    battery_input_free(in);
    return false;
}

struct gradients {
    struct tensor t[3];
    double *x[3];
    int64_t count[3];
};

static void make(const struct battery_input *in, const struct gradient_mistake *m, int tile,
                 struct gradients *g)
{
    const struct problem *p = &in->problem;
    struct message why;
    for (int a = 0; a < 3; a++) {
        int64_t shape[] = {p->B, a == 0 ? p->Hq : p->Hkv, a == 0 ? p->Nq : p->Nk, p->D};
        assert_true(tensor_new(&g->t[a], in->q.dtype, 4, shape, &why));
        g->count[a] = tensor_elements(&g->t[a]);
        g->x[a] = malloc(((size_t)g->count[a] + 1) * sizeof *g->x[a]);
        assert_non_null(g->x[a]);
    }
    mistaken_gradients(in, m, tile, g->x[0], g->x[1], g->x[2]);
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < g->count[a]; i++) {
            int64_t D = p->D, rows = g->t[a].shape[2], heads = g->t[a].shape[1];
            if (g->x[a][i] == BATTERY_POISON)
                battery_poison(&g->t[a], i);
            else
                tensor_set(&g->t[a], i / D / rows / heads, i / D / rows % heads, i / D % rows,
                           i % D, format_round(in->q.dtype, g->x[a][i], false));
        }
}

static void drop(struct gradients *g)
{
    for (int a = 0; a < 3; a++) {
        tensor_free(&g->t[a]);
        free(g->x[a]);
    }
}

static struct battery_verdict judged(const struct battery_input *in,
                                     const struct gradient_mistake *m, int tile)
{
    struct gradients g;
    struct battery_verdict v;
    make(in, m, tile, &g);
    battery_judge_gradients(in, &g.t[0], &g.t[1], &g.t[2], &v);
    drop(&g);
    return v;
}

static void test_gradients_pass(void **state)
{
    (void)state;
    static const enum format formats[] = {FORMAT_FP32, FORMAT_BF16, FORMAT_FP16};
    int tried = 0;
    for (int f = 0; f < 3; f++)
        for (int n = 0; battery_case(n) != NULL; n++) {
            struct battery_input in;
            if (!make_input(n, formats[f], &in))
                continue;
            struct battery_verdict v = judged(&in, &(struct gradient_mistake){0}, 1);
            if (!v.passed)
                fail_msg("%s in %s: %s (%s)", battery_case(n)->name, format_info(formats[f])->name,
                         v.first, v.sentence);
            tried++;
            battery_input_free(&in);
        }
    assert_true(tried > 60);
}

static void test_every_mistake_is_named(void **state)
{
    (void)state;
    for (int k = 0; gradient_mistake_info(k) != NULL; k++) {
        const struct gradient_mistake_info *info = gradient_mistake_info(k);
        bool found = false;
        char seen[512] = "";
        for (int n = 0; battery_case(n) != NULL && !found; n++) {
            struct battery_input in;
            if (!make_input(n, FORMAT_FP32, &in))
                continue;
            struct battery_verdict v = judged(&in, &info->mistake, 2);
            found = !v.passed && v.gradient != NULL && strcmp(v.gradient, info->name) == 0;
            if (!v.passed && !found && strlen(seen) < 400)
                snprintf(seen + strlen(seen), 64, " %s:%s", battery_case(n)->name,
                         v.gradient != NULL ? v.gradient : "none");
            battery_input_free(&in);
        }
        if (!found)
            fail_msg("%s is named in no case; others:%s", info->name, seen);
    }
}

/* Two query heads on one KV head, V = K = [0, 1], q = 1 and 2, dO = 1: the published sums. */
static void test_group_sums(void **state)
{
    (void)state;
    static const double q[] = {1, 2}, kv[] = {0, 1}, dO[] = {1, 1};
    struct battery_input in = {.buffer = 2,
                               .q_values = (double *)q,
                               .k_values = (double *)kv,
                               .v_values = (double *)kv,
                               .dO_values = (double *)dO};
    in.problem = (struct problem){.B = 1, .Hq = 2, .Hkv = 1, .Nq = 1, .Nk = 2, .D = 1};
    in.problem.mask = (struct mask){.left = -1, .right = -1};
    double dQ[2], dK[2], dV[2];
    mistaken_gradients(&in, &(struct gradient_mistake){0}, 1, dQ, dK, dV);
    assert_true(fabs(dV[0] - 0.3881443) < 1e-7 && fabs(dV[1] - 1.6118557) < 1e-7);
    assert_true(fabs(dK[0] + 0.4065991) < 1e-7 && fabs(dK[1] - 0.4065991) < 1e-7);
    assert_true(fabs(dQ[0] - 0.1966119) < 1e-7 && fabs(dQ[1] - 0.1049936) < 1e-7);
    mistaken_gradients(&in, &(struct gradient_mistake){.group = 1}, 1, dQ, dK, dV);
    assert_true(fabs(dV[0] + dV[1] - 1) < 1e-12); /* one head is forgotten */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients_pass),
                                       cmocka_unit_test(test_every_mistake_is_named),
                                       cmocka_unit_test(test_group_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
