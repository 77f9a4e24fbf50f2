/* test_smallest.c: the smallest inputs on which the printed kernels are not attention, by search.

   Order: number of keys; then key tile; then scores, each from a list, the first changing fastest;
   then values likewise.  The first input on which the faulty run differs from the certified result
   (and the run it is compared with does not) must be the named example. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/certified.h"
#include "simulator/scenario.h"
#include "simulator/examples.h"

enum { MOST_KEYS = 3 };

struct candidate {
    int keys, Bc;
    int x[MOST_KEYS], v[MOST_KEYS];
};

static const int small[] = {0, 1, -1}, zero_one[] = {0, 1};
static int falling[128]; /* 0, -1, -2, ... */
static const int one[] = {1};

static const struct search {
    enum example example;
    enum algorithm algorithm;
    unsigned faults;
    unsigned right_with; /* faults under which the input must be right; ~0: not asked */
    bool fp32;           /* else exact arithmetic */
    int most_keys, scores, values;
    const int *score, *value;
    const char *space;
} searches[] = {
    {EXAMPLE_PRINTED_TILE_MAX, ALGORITHM_FA2_PRINTED, 1u << FAULT_TILE_MAX, ~0u, false, 3, 3, 2,
     small, zero_one, "1-3 keys, scores 0 1 -1, values 0 1, exact arithmetic"},
    {EXAMPLE_PRINTED_BOTH, ALGORITHM_FA2_PRINTED, 1u << FAULT_TILE_MAX | 1u << FAULT_ZERO_START,
     1u << FAULT_TILE_MAX, false, 3, 3, 2, small, zero_one, "the same, right under tile-max alone"},
    {EXAMPLE_PRINTED_NO_TAIL, ALGORITHM_FA2_PRINTED, 1u << FAULT_NO_TAIL_MASK, ~0u, false, 3, 3, 2,
     small, zero_one, "1-3 keys, scores 0 1 -1, values 0 1, exact arithmetic"},
    {EXAMPLE_UNSTABLE_2, ALGORITHM_UNSTABLE, 0, ~0u, false, 3, 3, 2, small, zero_one,
     "1-3 keys, scores 0 1 -1, values 0 1, exact arithmetic"},
    {EXAMPLE_PRINTED_ZERO_START, ALGORITHM_FA2_PRINTED, 1u << FAULT_ZERO_START, ~0u, true, 1, 128,
     1, falling, one, "1 key, scores 0 -1 -2 ... -127, value 1, fp32"},
};

static void make_problem(struct problem *p, const struct candidate *c)
{
    char x[64] = "", v[64] = "";
    struct message why;
    for (int i = 0; i < c->keys; i++) {
        snprintf(x + strlen(x), sizeof x - strlen(x), " %d", c->x[i]);
        snprintf(v + strlen(v), sizeof v - strlen(v), " %d", c->v[i]);
    }
    if (!problem_from_scores(p, x, v, &why))
        fail_msg("%s", why.text);
}

/* Is the run's output the certified result, to the last bit of its format? */
static bool right(const struct search *s, unsigned faults, const struct candidate *c)
{
    struct problem p;
    struct result result;
    struct message why;
    struct simulation simulation = simulation_default();
    make_problem(&p, c);
    simulation.algorithm = s->algorithm;
    simulation.choices.faults = faults;
    simulation.choices.Br = 1;
    simulation.choices.Bc = c->Bc;
    if (!s->fp32) {
        simulation.policy = policy_table(POLICY_EXACT);
        simulation.arith = &arith_mpfr;
    }
    if (!simulate(&p, &simulation, &result, &why))
        fail_msg("%s", why.text);
    struct head h = problem_head(&p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    bool same = result.O[0] == certified_round(row, 0, s->fp32 ? FORMAT_FP32 : FORMAT_FP64, NULL);
    certified_row_free(row);
    result_free(&result);
    problem_free(&p);
    return same;
}

/* The n-th choice of `keys` numbers from list[0..size), the first changing fastest. */
static bool choose(int n, int keys, const int *list, int size, int *out)
{
    for (int i = 0; i < keys; i++, n /= size)
        out[i] = list[n % size];
    return n == 0;
}

static bool search(const struct search *s, struct candidate *c)
{
    for (c->keys = 1; c->keys <= s->most_keys; c->keys++)
        for (c->Bc = 1; c->Bc <= 2; c->Bc++)
            for (int i = 0; choose(i, c->keys, s->score, s->scores, c->x); i++)
                for (int j = 0; choose(j, c->keys, s->value, s->values, c->v); j++)
                    if (!right(s, s->faults, c) &&
                        (s->right_with == ~0u || right(s, s->right_with, c)))
                        return true;
    return false;
}

static void check_example(const struct search *s, const struct candidate *c)
{
    const struct example_info *info = example_info(s->example);
    struct scenario scenario = {.verb = "run", .problem = strdup(info->name)};
    struct scenario_input in;
    struct simulation simulation;
    struct message why;
    assert_true(scenario_problem(&scenario, &in, &why));
    assert_true(scenario_simulation(&scenario, &in, &simulation, &why));
    const struct problem *p = &in.problem;
    int Bc = p->tiles > 0 ? (int)p->tile_ends[0] : simulation.choices.Bc;
    bool same = p->Nk == c->keys && Bc == c->Bc && simulation.algorithm == s->algorithm &&
                simulation.choices.faults == s->faults;
    for (int i = 0; same && i < c->keys; i++)
        same = tensor_get(&p->k, 0, 0, i, 0) == c->x[i] && tensor_get(&p->v, 0, 0, i, 0) == c->v[i];
    if (!same)
        fail_msg("%s: the search finds %d keys, tile %d, x %d %d, v %d %d", info->name, c->keys,
                 c->Bc, c->x[0], c->x[1], c->v[0], c->v[1]);
    printf("# note %s: first of %s\n", info->name, s->space);
    scenario_input_free(&in);
    scenario_free(&scenario);
}

static void test_searches(void **state)
{
    (void)state;
    for (int i = 0; i < 128; i++)
        falling[i] = -i;
    printf("# note order: keys, then tile (1, 2), then scores, then values, first ones fastest\n");
    for (size_t i = 0; i < sizeof searches / sizeof searches[0]; i++) {
        struct candidate c = {0};
        if (!search(&searches[i], &c))
            fail_msg("%s: nothing fails", example_info(searches[i].example)->name);
        check_example(&searches[i], &c);
    }
}

/* zero-start alone is no fault in exact arithmetic: nothing in the space fails. */
static void test_zero_start_is_exact(void **state)
{
    (void)state;
    struct search s = searches[0];
    struct candidate c = {0};
    s.faults = 1u << FAULT_ZERO_START;
    assert_false(search(&s, &c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_searches),
        cmocka_unit_test(test_zero_start_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
