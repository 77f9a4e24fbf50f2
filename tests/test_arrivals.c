/* test_arrivals.c: dQ under atomic adds: the orders that are tried, against a float sum of the parts
   in every permutation; drawn orders; copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/arrivals.h"
#include "simulator/gradient.h"
#include "tests/random_problem.h"

struct work {
    struct problem p;
    struct tensor dO;
    struct simulation s;
};

static void draw_work(struct work *w, struct shape shape, int Br, int Bc, bool causal, uint64_t seed)
{
    struct problem_options o = problem_defaults();
    uint64_t state = seed;
    o.mask.causal = causal;
    w->s = simulation_default();
    w->s.choices.Br = Br;
    w->s.choices.Bc = Bc;
    w->s.choices.dq_drawn = true;
    assert_true(draw_problem(&w->p, FORMAT_FP32, shape, 1, &o, &state));
    assert_true(draw_tensor(&w->dO, FORMAT_FP32, shape.B, shape.Hq, shape.Nq, shape.D, 1, &state));
}

static void work_free(struct work *w)
{
    tensor_free(&w->dO);
    problem_free(&w->p);
}

/* Every sum of the parts a query tile gets, as float arithmetic has it. */
struct sums {
    const float *parts; /* count x n */
    int count, n;
    uint32_t results[50000][4];
    int found;
};

static void take_orders(struct sums *s, unsigned taken, const float *so_far)
{
    if (taken == (1u << s->count) - 1) {
        memcpy(s->results[s->found++], so_far, (size_t)s->n * sizeof *so_far);
        return;
    }
    for (int j = 0; j < s->count; j++) {
        float next[4];
        if (taken >> j & 1)
            continue;
        for (int k = 0; k < s->n; k++)
            next[k] = so_far[k] + s->parts[j * s->n + k];
        take_orders(s, taken | 1u << j, next);
    }
}

static int by_words(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(uint32_t[4]));
}

static int distinct_sums(struct sums *s)
{
    static const float zero[4];
    int distinct = 0;
    s->found = 0;
    take_orders(s, 0, zero);
    qsort(s->results, (size_t)s->found, sizeof s->results[0], by_words);
    for (int n = 0; n < s->found; n++)
        distinct += n == 0 || by_words(s->results[n], s->results[n - 1]) != 0;
    return distinct;
}

/* One query, so one query tile; D = 4; `tiles` key tiles. */
static void all_orders(void **unused)
{
    static struct sums sums;
    (void)unused;
    for (int tiles = 1; tiles <= 7; tiles++) {
        struct work w;
        struct run r;
        struct arrivals a;
        struct message why;
        draw_work(&w, (struct shape){1, 1, 1, 1, 3 * tiles, 4}, 1, 3, false, 40 + (uint64_t)tiles);
        struct head h = problem_head(&w.p, 0);
        assert_true(run_new(&r, w.s.arith, &w.s.policy, 53, &why));
        struct attention x = simulate_head(&r, &w.s, &h);
        simulate_backward(&r, &w.s, &x, &w.dO);
        memset(sums.results, 0, sizeof sums.results);
        sums.parts = x.dQ_memory->data;
        sums.count = tiles;
        sums.n = 4;
        int distinct = distinct_sums(&sums), orders = 1;
        for (int n = 2; n <= tiles; n++)
            orders *= n;
        assert_true(study_arrivals(&w.p, &w.dO, &w.s, 0, &a, &why));
        assert_int_equal(a.orders, orders);
        assert_int_equal(a.query_tiles, 1);
        assert_int_equal(a.most_met, tiles);
        assert_int_equal(a.sum.distinct_most, distinct);
        assert_true(tiles < 3 ? distinct == 1 : distinct > 1);
        assert_true((a.sum.varying > 0) == (distinct > 1));
        printf("# note %d key tiles: %d orders, %d results\n", tiles, orders, distinct);
        run_free(&r);
        work_free(&w);
    }
}

/* Enough draws meet every result that all orders have, and no other. */
static void drawn_orders(void **unused)
{
    (void)unused;
    struct work w;
    struct arrivals all, drawn, one;
    struct message why;
    draw_work(&w, (struct shape){1, 2, 1, 4, 10, 4}, 2, 3, true, 7);
    assert_true(study_arrivals(&w.p, &w.dO, &w.s, 0, &all, &why));
    assert_true(study_arrivals(&w.p, &w.dO, &w.s, 400, &drawn, &why));
    assert_true(study_arrivals(&w.p, &w.dO, &w.s, 1, &one, &why));
    assert_int_equal(all.query_tiles, 4);
    assert_int_equal(all.elements, 32);
    assert_int_equal(drawn.sum.distinct_most, all.sum.distinct_most);
    assert_int_equal(drawn.sum.varying, all.sum.varying);
    assert_true(drawn.sum.max_ulp == all.sum.max_ulp && all.sum.max_ulp > 0);
    assert_int_equal(one.sum.distinct_most, 1);
    assert_int_equal(one.sum.varying, 0);
    work_free(&w);
}

/* Seeds differ in dQ only; a seed repeats; with causality no tile is added that is not met. */
static void seeds(void **unused)
{
    (void)unused;
    struct work w;
    struct gradients first, again;
    struct message why;
    int differ = 0;
    draw_work(&w, (struct shape){1, 2, 1, 6, 24, 4}, 2, 3, true, 8);
    assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &first, &why));
    for (uint64_t seed = 0; seed < 8; seed++) {
        w.s.choices.dq_seed = seed;
        assert_true(simulate_gradients(&w.p, &w.dO, &w.s, &again, &why));
        assert_true(seed > 0 || again.digest == first.digest);
        differ += again.digest != first.digest;
        assert_memory_equal(again.dK, first.dK, 24 * 4 * sizeof(double));
        assert_memory_equal(again.dV, first.dV, 24 * 4 * sizeof(double));
        gradients_free(&again);
    }
    assert_true(differ >= 4);
    gradients_free(&first);
    work_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_orders),
        cmocka_unit_test(drawn_orders),
        cmocka_unit_test(seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
