/* test_ledger.c: record and replay: every site put back gives the recorded run, none the exact one,
   and the sites' contributions add up to second order; both exact arithmetics agree. */
#include "tests/recording.h"

#include <time.h>

#include "reference/certified.h"

/* sum pi |v| of every element. */
static double *weights_of(const struct head *h)
{
    double *A = malloc((size_t)(h->Nq * h->D + 1) * sizeof *A);
    assert_non_null(A);
    for (int64_t r = 0; r < h->Nq; r++) {
        struct certified_row *row = certified_row_new(h, r);
        for (int64_t d = 0; d < h->D; d++)
            A[r * h->D + d] = certified_weight(row, d);
        certified_row_free(row);
    }
    return A;
}

/* Errors are kept as doubles: of 2^-9 in bf16, that is 2^-62. */
static const struct side {
    const struct arithmetic *arith;
    int bits;
} exacts[] = {{&arith_double, 40}, {&arith_mpfr, 58}};

/* Replaying everything gives the recorded run, nothing the run that never rounds. */
static void check_ends(const struct recording *x, int bits, const double *A, const char *what)
{
    struct run r;
    struct output all = replay(x, EVERY_SITE), none = replay(x, 0);
    exact_run(x, &r);
    struct attention a = simulate_head(&r, x->simulation, x->head);
    struct output exact = output_of(&r, &a);
    run_free(&r);
    for (int64_t i = 0; i < all.count; i++) {
        if (!(fabs(minus(&all, &x->got, i)) <= ldexp(A[i], -bits)))
            fail_msg("%s, element %lld: all sites give %a, the run %a, sum pi |v| %a", what,
                     (long long)i, all.O[i][0], x->got.O[i][0], A[i]);
        if (memcmp(none.O[i], exact.O[i], sizeof none.O[i]) != 0)
            fail_msg("%s, element %lld: no site gives %a, the exact run %a", what, (long long)i,
                     none.O[i][0], exact.O[i][0]);
    }
    free(all.O);
    free(none.O);
    free(exact.O);
}

static void both_ends(void **unused)
{
    (void)unused;
    static const struct shape shape = {1, 1, 1, 7, 21, 5};
    uint64_t state = 21;
    for (int a = 0; a < ALGORITHM_COUNT; a++)
        for (enum policy_id policy = 0; policy < POLICY_EXACT; policy++)
            for (int n = 0; n < 4; n++) {
                struct simulation s = simulation_of((enum algorithm)a, policy, 3, 4);
                struct problem p;
                struct head h;
                char what[80];
                s.choices.descending = a == ALGORITHM_FA2 && n > 1;
                random_head(&p, &h, &s, shape, n % 2 ? 3 : 1, n >= 2, &state);
                struct recording x = {.head = &h, .simulation = &s, .exact = exacts[n % 2].arith};
                snprintf(what, sizeof what, "%s %s, exact in %s", algorithm_info(s.algorithm)->name,
                         s.policy.name, x.exact->name);
                double *A = weights_of(&h);
                record(&x);
                check_ends(&x, exacts[n % 2].bits, A, what);
                free(A);
                recording_free(&x);
                problem_free(&p);
            }
}

/* fp32's errors are 2^-24 and below: as doubles, 2^-77. */
static void mpfr_replay_is_sharper(void **unused)
{
    (void)unused;
    uint64_t state = 22;
    for (int n = 0; n < 2; n++) {
        struct simulation s = simulation_of(ALGORITHM_FA2, n ? POLICY_GPU_BF16 : POLICY_FP32, 4, 4);
        struct problem p;
        struct head h;
        random_head(&p, &h, &s, (struct shape){1, 1, 1, 5, 19, 4}, 1, false, &state);
        struct recording x = {.head = &h, .simulation = &s, .exact = &arith_mpfr};
        double *A = weights_of(&h);
        record(&x);
        check_ends(&x, 70, A, s.policy.name);
        free(A);
        recording_free(&x);
        problem_free(&p);
    }
}

struct balance {
    double remainder, contributions, whole; /* sums of absolute values */
};

/* Before OUT: each site's contribution alone, summed, against all of them together. */
static struct balance balance_of(const struct recording *x)
{
    struct balance b = {0, 0, 0};
    struct output none = replay(x, 0), all = replay(x, EVERY_SITE & ~BIT(OUT));
    double *sum = calloc((size_t)none.count + 1, sizeof *sum);
    assert_non_null(sum);
    for (int site = 0; site < SITE_COUNT; site++) {
        if (site == SITE_OUT)
            continue;
        struct output one = replay(x, UINT64_C(1) << site);
        for (int64_t i = 0; i < none.count; i++) {
            sum[i] += minus(&one, &none, i);
            b.contributions += fabs(minus(&one, &none, i));
        }
        free(one.O);
    }
    for (int64_t i = 0; i < none.count; i++) {
        b.remainder += fabs(minus(&all, &none, i) - sum[i]);
        b.whole += fabs(minus(&all, &none, i));
    }
    free(sum);
    free(none.O);
    free(all.O);
    return b;
}

static struct balance interaction(enum algorithm a, enum policy_id policy, uint64_t seed)
{
    uint64_t state = seed;
    struct simulation s = simulation_of(a, policy, 4, 16);
    struct problem p;
    struct head h;
    random_head(&p, &h, &s, (struct shape){1, 1, 1, 6, 64, 8}, 1, false, &state);
    struct recording x = {.head = &h, .simulation = &s, .exact = &arith_double};
    record(&x);
    struct balance b = balance_of(&x);
    recording_free(&x);
    problem_free(&p);
    assert_true(b.contributions > 0);
    return b;
}

static void contributions_add_up(void **unused)
{
    (void)unused;
    static const struct {
        enum policy_id policy;
        double most;
    } rows[] = {
        {POLICY_FP32, 1e-6},
        {POLICY_GPU_BF16, 0.05},
        {POLICY_GPU_FP16, 0.05},
        {POLICY_ALL_BF16, 0.05},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double most = 0, miss = 0;
        for (int a = 0; a < ALGORITHM_COUNT; a++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                struct balance b = interaction((enum algorithm)a, rows[i].policy, seed);
                double share = b.remainder / b.contributions;
                if (!(share <= rows[i].most))
                    fail_msg("%s %s, seed %d: the remainder is %.3g of the contributions",
                             algorithm_info((enum algorithm)a)->name, policy_name(rows[i].policy),
                             (int)seed, share);
                most = share > most ? share : most;
                miss = b.remainder / b.whole > miss ? b.remainder / b.whole : miss;
            }
        printf("# note %s: the remainder is at most %.2g %% of the contributions, %.2g %% of the "
               "whole error\n",
               policy_name(rows[i].policy), 100 * most, 100 * miss);
    }
}

/* Per element, each site's contribution in both exact arithmetics, against the element's whole. */
static void arithmetics_agree(void **unused)
{
    (void)unused;
    uint64_t state = 24;
    double worst = 0;
    struct simulation s = simulation_of(ALGORITHM_FA2, POLICY_GPU_BF16, 4, 8);
    struct problem p;
    struct head h;
    random_head(&p, &h, &s, (struct shape){1, 1, 1, 6, 40, 8}, 1, true, &state);
    struct recording x[2];
    struct output none[2];
    double *A = weights_of(&h);
    for (int k = 0; k < 2; k++) {
        x[k] = (struct recording){.head = &h, .simulation = &s, .exact = exacts[k].arith};
        record(&x[k]);
        none[k] = replay(&x[k], 0);
    }
    for (int site = 0; site < SITE_COUNT; site++) {
        struct output one[2];
        for (int k = 0; k < 2; k++)
            one[k] = replay(&x[k], UINT64_C(1) << site);
        for (int64_t i = 0; i < none[0].count; i++) {
            double apart = fabs(minus(&one[0], &none[0], i) - minus(&one[1], &none[1], i)) / A[i];
            worst = apart > worst ? apart : worst;
        }
        free(one[0].O);
        free(one[1].O);
    }
    printf("# note contributions in double and in mpfr: at most %.1g sum pi |v| apart\n", worst);
    assert_true(worst < 1e-14); /* 1e-12 of a contribution of 1e-2 */
    for (int k = 0; k < 2; k++) {
        recording_free(&x[k]);
        free(none[k].O);
    }
    free(A);
    problem_free(&p);
}

/* A site that does not round has no errors: replaying it changes no bit. */
static void exact_sites_contribute_nothing(void **unused)
{
    (void)unused;
    static const struct arithmetic *const runs[] = {&arith_double, &arith_mpfr};
    uint64_t state = 25;
    for (int n = 0; n < 2; n++) {
        struct message why;
        struct simulation s = simulation_of(ALGORITHM_FA2, POLICY_EXACT, 4, 4);
        struct problem p;
        struct head h;
        assert_true(policy_set(&s.policy, "PROB=bf16", &why));
        s.arith = runs[n];
        random_head(&p, &h, &s, (struct shape){1, 1, 1, 3, 10, 2}, 1, false, &state);
        struct recording x = {.head = &h, .simulation = &s, .exact = runs[n]};
        record(&x);
        struct output none = replay(&x, 0), others = replay(&x, EVERY_SITE & ~BIT(PROB));
        struct output prob = replay(&x, BIT(PROB));
        assert_memory_equal(none.O, others.O, (size_t)none.count * sizeof *none.O);
        assert_memory_not_equal(none.O, prob.O, (size_t)none.count * sizeof *none.O);
        free(none.O);
        free(others.O);
        free(prob.O);
        recording_free(&x);
        problem_free(&p);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void long_context(void **unused)
{
    (void)unused;
    const char *level = getenv("FLASHULP_TESTS");
    if (level == NULL || strcmp(level, "full") != 0)
        skip();
    uint64_t state = 28;
    struct simulation s = simulation_of(ALGORITHM_FA2, POLICY_GPU_BF16, 1, 64);
    struct problem p;
    struct head h;
    random_head(&p, &h, &s, (struct shape){1, 1, 1, 1, 27525, 256}, 1, false, &state);
    struct recording x = {.head = &h, .simulation = &s, .exact = &arith_double};
    double start = seconds();
    record(&x);
    double recorded = seconds();
    struct output all = replay(&x, EVERY_SITE);
    double replayed = seconds();
    printf("# note 27,525 x 256, one query: ledger %.1f MB, recorded in %.0f ms, "
           "replayed in %.0f ms\n",
           1e-6 * (double)ledger_bytes(x.ledger), 1e3 * (recorded - start),
           1e3 * (replayed - recorded));
    for (int64_t i = 0; i < all.count; i++)
        assert_true(fabs(minus(&all, &x.got, i)) <= 0x1p-40);
    free(all.O);
    recording_free(&x);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends),
        cmocka_unit_test(mpfr_replay_is_sharper),
        cmocka_unit_test(contributions_add_up),
        cmocka_unit_test(arithmetics_agree),
        cmocka_unit_test(exact_sites_contribute_nothing),
        cmocka_unit_test(long_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
