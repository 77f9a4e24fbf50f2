/* test_printed.c: where the printed kernels are attention and where not, in exact arithmetic.

   With W_t the sum of tile t's weights relative to its own maximum m_t, fa2-printed with the
   exponent relative to the tile weighs tile t by e^(M_t - m_t), M_t the running maximum from its
   start: right for every v iff that is the same for all tiles.  unstable weighs tile t by W_t in
   place of e^(m_t) W_t.  The claims in words are predicates here, asked of random integer scores;
   V = the identity shows every weight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "reference/exact.h"
#include "simulator/simulate.h"
#include "tests/random_problem.h"

enum { MOST = 6, BITS = 256, TRUTH = 320 };
enum { TILE_MAX = 1 << FAULT_TILE_MAX, ZERO_START = 1 << FAULT_ZERO_START };
enum { NO_TAIL_MASK = 1 << FAULT_NO_TAIL_MASK };

/* One query over integer scores x, key tiles of Bc, values v (keys x D). */
struct scores {
    int keys, Bc, D;
    int x[MOST], v[MOST][MOST];
};

static int tiles_of(const struct scores *s)
{
    return (s->keys + s->Bc - 1) / s->Bc;
}

static int end_of(const struct scores *s, int t)
{
    return (t + 1) * s->Bc < s->keys ? (t + 1) * s->Bc : s->keys;
}

static int maximum(const struct scores *s, int t)
{
    int m = s->x[t * s->Bc];
    for (int c = t * s->Bc; c < end_of(s, t); c++)
        m = s->x[c] > m ? s->x[c] : m;
    return m;
}

static bool has_tail(const struct scores *s)
{
    return s->keys % s->Bc != 0;
}

static struct scores draw_scores(uint64_t *state)
{
    struct scores s = {.keys = 1 + (int)draw_below(state, MOST)};
    s.Bc = 1 + (int)draw_below(state, 3);
    int spread = 1 + (int)draw_below(state, 3), lowest = (int)draw_below(state, 4) - 2;
    for (int c = 0; c < s.keys; c++)
        s.x[c] = lowest + (int)draw_below(state, spread);
    return s;
}

static void see_weights(struct scores *s)
{
    s->D = s->keys;
    memset(s->v, 0, sizeof s->v);
    for (int c = 0; c < s->keys; c++)
        s->v[c][c] = 1;
}

static void problem_of(struct problem *p, const struct scores *s)
{
    struct tensor q, k, v;
    struct message why;
    struct problem_options o = problem_defaults();
    o.scale_given = true;
    o.scale = 1;
    assert_true(tensor_new(&q, FORMAT_FP64, 4, (int64_t[]){1, 1, 1, s->D}, &why));
    assert_true(tensor_new(&k, FORMAT_FP64, 4, (int64_t[]){1, 1, s->keys, s->D}, &why));
    assert_true(tensor_new(&v, FORMAT_FP64, 4, (int64_t[]){1, 1, s->keys, s->D}, &why));
    tensor_set(&q, 0, 0, 0, 0, 1);
    for (int c = 0; c < s->keys; c++) {
        tensor_set(&k, 0, 0, c, 0, s->x[c]);
        for (int d = 0; d < s->D; d++)
            tensor_set(&v, 0, 0, c, d, s->v[c][d]);
    }
    assert_true(problem_new(p, &q, &k, &v, &o, &why));
}

/* error[d] = the faulty run's O minus attention's, d < D. */
static void run_error(const struct scores *s, enum algorithm a, unsigned faults, mpfr_t *error)
{
    struct problem p;
    struct run r;
    struct message why;
    struct simulation simulation = simulation_default();
    mpfr_t want[MOST];
    problem_of(&p, s);
    simulation.algorithm = a;
    simulation.policy = policy_table(POLICY_EXACT);
    simulation.choices = (struct choices){.Br = 1, .Bc = s->Bc, .faults = faults};
    assert_true(run_new(&r, &arith_mpfr, &simulation.policy, BITS, &why));
    struct head h = problem_head(&p, 0);
    struct attention x = simulate_head(&r, &simulation, &h);
    for (int d = 0; d < s->D; d++)
        mpfr_init2(want[d], TRUTH);
    exact_row(&h, 0, TRUTH, want, NULL);
    for (int d = 0; d < s->D; d++) {
        mpfr_sub(error[d], ((const mpfr_t *)x.O->data)[d], want[d], MPFR_RNDN);
        mpfr_clear(want[d]);
    }
    run_free(&r);
    problem_free(&p);
}

static bool below(const mpfr_t error, int exponent)
{
    return mpfr_zero_p(error) || mpfr_get_exp(error) <= exponent;
}

/* Every weight within 2^-200, or some weight off by more than 2^-60; nothing in between. */
static bool is_attention(const struct scores *s, enum algorithm a, unsigned faults)
{
    mpfr_t error[MOST];
    bool right = true, wrong = false;
    for (int d = 0; d < MOST; d++)
        mpfr_init2(error[d], TRUTH);
    run_error(s, a, faults, error);
    for (int d = 0; d < s->D; d++) {
        right = right && below(error[d], -200);
        wrong = wrong || !below(error[d], -60);
    }
    for (int d = 0; d < MOST; d++)
        mpfr_clear(error[d]);
    assert_true(right != wrong);
    return right;
}

static void check_claim(const struct scores *s, enum algorithm a, unsigned faults, bool claimed)
{
    if (is_attention(s, a, faults) != claimed)
        fail_msg("%s, faults %u, is %sattention for x = %d %d %d %d %d %d (%d keys, tile %d)",
                 algorithm_info(a)->name, faults, claimed ? "not " : "", s->x[0], s->x[1], s->x[2],
                 s->x[3], s->x[4], s->x[5], s->keys, s->Bc);
}

static bool never_fall(const struct scores *s)
{
    bool rising = true;
    for (int t = 1; t < tiles_of(s); t++)
        rising = rising && maximum(s, t) >= maximum(s, t - 1);
    return rising;
}

static bool all_equal(const struct scores *s)
{
    bool equal = true;
    for (int t = 1; t < tiles_of(s); t++)
        equal = equal && maximum(s, t) == maximum(s, 0);
    return equal;
}

enum { CASES = 1500 };

/* As printed, without a tail: right for all v iff the first tile's maximum is >= 0 and tile maxima
   never fall, or all tile maxima are equal.  With a tail that counts, never. */
static void fa2_as_printed(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    int right = 0, wrong = 0;
    for (int n = 0; n < CASES; n++) {
        struct scores s = draw_scores(&state);
        see_weights(&s);
        bool claimed = !has_tail(&s) && ((maximum(&s, 0) >= 0 && never_fall(&s)) || all_equal(&s));
        check_claim(&s, ALGORITHM_FA2_PRINTED, TILE_MAX | ZERO_START | NO_TAIL_MASK, claimed);
        right += claimed;
        wrong += !claimed && !has_tail(&s);
    }
    assert_true(right > CASES / 10 && wrong > CASES / 10);
}

/* Its faults one by one: a start at 0 is none; the tile's maximum is one when maxima fall; a tail
   that counts always is.  With none of them it is attention. */
static void fa2_fault_by_fault(void **unused)
{
    (void)unused;
    uint64_t state = 12;
    for (int n = 0; n < CASES; n++) {
        struct scores s = draw_scores(&state);
        see_weights(&s);
        check_claim(&s, ALGORITHM_FA2_PRINTED, 0, true);
        check_claim(&s, ALGORITHM_FA2_PRINTED, ZERO_START, true);
        check_claim(&s, ALGORITHM_FA2_PRINTED, TILE_MAX, never_fall(&s));
        check_claim(&s, ALGORITHM_FA2_PRINTED, NO_TAIL_MASK, !has_tail(&s));
        check_claim(&s, ALGORITHM_FA2_PRINTED, ZERO_START | NO_TAIL_MASK, !has_tail(&s));
        check_claim(&s, ALGORITHM_FA2_PRINTED, TILE_MAX | NO_TAIL_MASK,
                    !has_tail(&s) && never_fall(&s));
    }
}

/* Right for every v iff all tile maxima are equal. */
static void unstable_weights(void **unused)
{
    (void)unused;
    uint64_t state = 13;
    for (int n = 0; n < CASES; n++) {
        struct scores s = draw_scores(&state);
        see_weights(&s);
        check_claim(&s, ALGORITHM_UNSTABLE, 0, all_equal(&s));
        check_claim(&s, ALGORITHM_UNSTABLE, NO_TAIL_MASK, !has_tail(&s) && all_equal(&s));
    }
}

/* Per tile: W, e^m W (not normalised) and the tile's own attention y over v[.][0]. */
struct tile_sums {
    mpfr_t W, grown, y;
};

static void sum_tile(const struct scores *s, int t, struct tile_sums *out)
{
    mpfr_t e;
    mpfr_inits2(TRUTH, e, out->W, out->grown, out->y, (mpfr_ptr)0);
    mpfr_set_zero(out->W, 1);
    mpfr_set_zero(out->y, 1);
    for (int c = t * s->Bc; c < end_of(s, t); c++) {
        mpfr_set_si(e, s->x[c] - maximum(s, t), MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_add(out->W, out->W, e, MPFR_RNDN);
        mpfr_mul_si(e, e, s->v[c][0], MPFR_RNDN);
        mpfr_add(out->y, out->y, e, MPFR_RNDN);
    }
    mpfr_div(out->y, out->y, out->W, MPFR_RNDN);
    mpfr_set_si(e, maximum(s, t), MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_mul(out->grown, out->W, e, MPFR_RNDN);
    mpfr_clear(e);
}

/* formula = sum_t (alpha_t - beta_t) y_t; bound = 1/2 sum |alpha_t - beta_t| (max y - min y). */
static void predict(const struct scores *s, mpfr_t formula, mpfr_t bound)
{
    struct tile_sums tile[MOST];
    mpfr_t sum_W, sum_grown, alpha, beta, high, low;
    mpfr_inits2(TRUTH, sum_W, sum_grown, alpha, beta, high, low, (mpfr_ptr)0);
    mpfr_set_zero(sum_W, 1);
    mpfr_set_zero(sum_grown, 1);
    for (int t = 0; t < tiles_of(s); t++) {
        sum_tile(s, t, &tile[t]);
        mpfr_add(sum_W, sum_W, tile[t].W, MPFR_RNDN);
        mpfr_add(sum_grown, sum_grown, tile[t].grown, MPFR_RNDN);
    }
    mpfr_set_zero(formula, 1);
    mpfr_set_zero(bound, 1);
    mpfr_set(high, tile[0].y, MPFR_RNDN);
    mpfr_set(low, tile[0].y, MPFR_RNDN);
    for (int t = 0; t < tiles_of(s); t++) {
        mpfr_max(high, high, tile[t].y, MPFR_RNDN);
        mpfr_min(low, low, tile[t].y, MPFR_RNDN);
        mpfr_div(alpha, tile[t].W, sum_W, MPFR_RNDN);
        mpfr_div(beta, tile[t].grown, sum_grown, MPFR_RNDN);
        mpfr_sub(alpha, alpha, beta, MPFR_RNDN);
        mpfr_fma(formula, alpha, tile[t].y, formula, MPFR_RNDN);
        mpfr_abs(alpha, alpha, MPFR_RNDN);
        mpfr_add(bound, bound, alpha, MPFR_RNDN);
        mpfr_clears(tile[t].W, tile[t].grown, tile[t].y, (mpfr_ptr)0);
    }
    mpfr_sub(high, high, low, MPFR_RNDN);
    mpfr_mul(bound, bound, high, MPFR_RNDN);
    mpfr_div_2ui(bound, bound, 1, MPFR_RNDN);
    mpfr_clears(sum_W, sum_grown, alpha, beta, high, low, (mpfr_ptr)0);
}

static void unstable_error(void **unused)
{
    (void)unused;
    uint64_t state = 14;
    mpfr_t error[MOST], formula, bound;
    for (int d = 0; d < MOST; d++)
        mpfr_init2(error[d], TRUTH);
    mpfr_inits2(TRUTH, formula, bound, (mpfr_ptr)0);
    for (int n = 0; n < CASES; n++) {
        struct scores s = draw_scores(&state);
        s.D = 1;
        for (int c = 0; c < s.keys; c++)
            s.v[c][0] = (int)draw_below(&state, 9) - 4;
        predict(&s, formula, bound);
        run_error(&s, ALGORITHM_UNSTABLE, 0, error);
        mpfr_add_d(bound, bound, 0x1p-200, MPFR_RNDU);
        if (mpfr_cmpabs(error[0], bound) > 0)
            fail_msg("case %d: the error is above its bound", n);
        mpfr_sub(formula, formula, error[0], MPFR_RNDN);
        if (!below(formula, -200))
            fail_msg("case %d (%d keys, tile %d): the error is not sum (alpha - beta) y", n, s.keys,
                     s.Bc);
    }
    for (int d = 0; d < MOST; d++)
        mpfr_clear(error[d]);
    mpfr_clears(formula, bound, (mpfr_ptr)0);
}

struct value_row {
    const char *why;
    struct scores scores;
    bool right;
};

/* For given values the mistakes may not show. */
static const struct value_row value_rows[] = {
    {"the smallest", {2, 1, 1, {1, 0}, {{1}, {0}}}, false},
    {"all values equal", {4, 2, 1, {5, 0, 1, 1}, {{3}, {3}, {3}, {3}}}, true},
    {"every tile's own attention equal", {4, 2, 1, {2, 2, 0, 0}, {{1}, {5}, {2}, {4}}}, true},
    {"one tile", {3, 3, 1, {2, 0, 1}, {{1}, {5}, {2}}}, true},
    {"two weighted means that coincide", {3, 1, 1, {1, 0, 1}, {{1}, {2}, {3}}}, true},
    {"nearly the same", {3, 1, 1, {1, 0, 1}, {{1}, {2}, {4}}}, false},
    {"equal maxima", {4, 2, 1, {2, 0, 1, 2}, {{1}, {5}, {2}, {7}}}, true},
};

static void unstable_for_given_values(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof value_rows / sizeof *value_rows; i++)
        if (is_attention(&value_rows[i].scores, ALGORITHM_UNSTABLE, 0) != value_rows[i].right)
            fail_msg("%s", value_rows[i].why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fa2_as_printed),   cmocka_unit_test(fa2_fault_by_fault),
        cmocka_unit_test(unstable_weights), cmocka_unit_test(unstable_error),
        cmocka_unit_test(unstable_for_given_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
