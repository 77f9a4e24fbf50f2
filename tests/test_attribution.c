/* test_attribution.c: which rounding moved an output: the teaching input's figures, cases P1 and
   S2, what must hold on any problem, and the true value's boundaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "reference/truth.h"
#include "simulator/attribution.h"
#include "simulator/scenario.h"
#include "tests/random_problem.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* One row of one head, attributed: numbers in ulps of OUT's format at the true value. */
struct study {
    struct scenario_input in;
    struct simulation simulation;
    struct head head;
    struct attribution a;
    enum format out;
};

static void attributed(struct study *x, const char *words, bool counterfactuals)
{
    struct message why;
    x->head = problem_head(&x->in.problem, 0);
    x->out = x->simulation.policy.site[SITE_OUT].format;
    if (!attribute(&x->a, &x->simulation, &x->head, counterfactuals, &why))
        fail_msg("%s: %s", words, why.text);
}

static void study_new(struct study *x, const char *words, bool counterfactuals)
{
    struct scenario s;
    struct message why;
    char text[512], *argv[32];
    int argc = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    if (!scenario_parse(&s, "run", GROUP_PROBLEM | GROUP_RUN, argc, argv, &why) ||
        !scenario_problem(&s, &x->in, &why) ||
        !scenario_simulation(&s, &x->in, &x->simulation, &why))
        fail_msg("%s: %s", words, why.text);
    scenario_free(&s);
    attributed(x, words, counterfactuals);
}

static void study_free(struct study *x)
{
    attribution_free(&x->a);
    scenario_input_free(&x->in);
}

static double truth_of(const struct study *x, struct truth *t, int64_t d)
{
    double rounded;
    truth_row(&x->head, 0, &d, 1, &x->out, 1, t, &rounded);
    return rounded;
}

static void near(const char *what, const char *number, double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s: %s is %.17g (%a), expected %.6g within %.2g", what, number, got, got, want,
                 within);
}

/* The published table, to its last digit. */
static const struct teaching {
    const char *splits;
    float before;
    double stored, prob, others, out, total;
    bool crossed;
} teaching[] = {
    {"54", 0x1.52FA9Ep+0f, 1.3203125, -0.1196, +0.0000, -0.4895, -0.6091, true},
    {"62", 0x1.530430p+0f, 1.328125, -0.1013, +0.0004, +0.4918, +0.3909, false},
    {"87", 0x1.530602p+0f, 1.328125, -0.0978, +0.0005, +0.4883, +0.3909, false},
};

static void teaching_input(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(teaching); i++) {
        const struct teaching *row = &teaching[i];
        char words[80];
        snprintf(words, sizeof words, "h200-b200 --algorithm decode --splits %s", row->splits);
        struct study x;
        study_new(&x, words, false);
        struct truth t;
        double correct = truth_of(&x, &t, 0), ulp = truth_ulp(&t, x.out), others = 0;
        double stored = format_round(x.out, x.a.before[0], false);
        struct boundary b = truth_boundary(&t, x.out, correct, x.a.before[0]);
        assert_true(x.a.before[0] == (double)row->before && stored == row->stored);
        for (int site = 0; site < SITE_COUNT; site++)
            if (x.a.in_situ[site] != NULL && site != SITE_PROB)
                others += x.a.in_situ[site][0] / ulp;
        near(words, "PROB", x.a.in_situ[SITE_PROB][0] / ulp, row->prob, 0.00005);
        near(words, "the other sites", others, row->others, 0.00005);
        near(words, "OUT", (stored - x.a.before[0]) / ulp, row->out, 0.00005);
        near(words, "total", truth_error(&t, stored) / ulp, row->total, 0.00005);
        near(words, "the boundary", b.at, 1.32421875, 0);
        near(words, "above the boundary", b.distance * ulp, 8.52e-4, 0.5e-6);
        assert_true(b.crossed == row->crossed && !x.a.stops);
        for (int64_t d = 1; d < x.a.count; d++) /* every column holds the same values */
            assert_true(x.a.in_situ[SITE_PROB][d] == x.a.in_situ[SITE_PROB][0]);
        study_free(&x);
    }
}

/* Which sites' removal alone gives the correct rounding, where the run's is another one. */
static const struct removal {
    const char *words;
    double stored, correct;
    const char *sites;
} removals[] = {
    {"h200-b200 --algorithm decode --splits 54", 1.3203125, 1.328125, "PROB "},
    {"p1", 0.99609375, 1, "PROB "},
    {"s2-g1 --tile 1,2", 0.93359375, 0.9375, "PROB "},
    {"s2-g1 --algorithm decode --splits 2 --tile 1,2", 0.9375, 0.9375, ""},
    {"s2-g2 --tile 1,2", 0.310546875, 0.310546875, ""},
    {"s2-g2 --algorithm decode --splits 2 --tile 1,2", 0.3125, 0.310546875, "PROB "},
};

static void what_removal_restores(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(removals); i++) {
        const struct removal *row = &removals[i];
        struct study x;
        study_new(&x, row->words, true);
        struct truth t;
        char sites[256] = "";
        double correct = truth_of(&x, &t, 0), stored = format_round(x.out, x.a.before[0], false);
        for (int site = 0; site < SITE_COUNT && stored != correct; site++)
            if (x.a.without[site] != NULL &&
                attribution_without(&x.a, &x.simulation, (enum site)site, 0) == correct)
                snprintf(sites + strlen(sites), sizeof sites - strlen(sites), "%s ",
                         site_name((enum site)site));
        if (stored != row->stored || correct != row->correct || strcmp(sites, row->sites) != 0)
            fail_msg("%s: stored %.9g, correct %.9g, restored without \"%s\"; expected %.9g, %.9g, "
                     "\"%s\"",
                     row->words, stored, correct, sites, row->stored, row->correct, row->sites);
        study_free(&x);
    }
}

static const struct shape small = {1, 1, 1, 5, 40, 8};

/* A random head in the policy's own input format. */
static void study_random(struct study *x, enum algorithm a, enum policy_id policy, uint64_t seed)
{
    struct problem_options o = problem_defaults();
    x->in = (struct scenario_input){0};
    x->simulation = simulation_default();
    x->simulation.algorithm = a;
    x->simulation.policy = policy_table(policy);
    x->simulation.choices.Bc = a == ALGORITHM_STANDARD || a == ALGORITHM_ONLINE ? 0 : 8;
    o.mask.causal = seed % 2;
    assert_true(draw_problem(&x->in.problem, x->simulation.policy.site[SITE_INPUT].format, small, 1,
                             &o, &seed));
    attributed(x, algorithm_info(a)->name, true);
}

/* In every algorithm and policy: `before` is the run's own value, the parts make the whole to
   second order, and the exact run is the truth. */
static void whatever_the_problem(void **unused)
{
    (void)unused;
    double worst = 0;
    for (int n = 0; n < ALGORITHM_COUNT * POLICY_EXACT; n++) {
        struct study x;
        struct result run;
        struct message why;
        study_random(&x, (enum algorithm)(n % ALGORITHM_COUNT),
                     (enum policy_id)(n / ALGORITHM_COUNT), (uint64_t)n);
        assert_true(simulate(&x.in.problem, &x.simulation, &run, &why));
        double sum = 0, rest = 0;
        for (int64_t i = 0; i < x.a.count; i++) {
            double before = x.a.before[i], parts = x.a.exact[i] + x.a.interaction[i];
            assert_true(format_round(x.out, before, x.simulation.policy.saturate) == run.O[i]);
            for (int site = 0; site < SITE_COUNT; site++) {
                double part = x.a.in_situ[site] != NULL ? x.a.in_situ[site][i] : 0;
                sum += fabs(part);
                parts += part;
            }
            rest += fabs(x.a.interaction[i]);
            near(algorithm_info(x.simulation.algorithm)->name, "the sum of the parts", parts,
                 before, 1e-12);
        }
        if (!(rest <= 0.05 * sum))
            fail_msg("%s, %s: interaction %.3g of %.3g",
                     algorithm_info(x.simulation.algorithm)->name, x.simulation.policy.name, rest,
                     sum);
        worst = rest / sum > worst ? rest / sum : worst;
        result_free(&run);
        study_free(&x);
    }
    printf("# note interaction is at most %.2g %% of the contributions\n", 100 * worst);
}

/* A policy in which one site rounds: in situ, alone and the run itself are one; without: exact. */
static void one_site_alone(void **unused)
{
    (void)unused;
    struct study x;
    study_new(&x, "s2-g1 --tile 1,2 --policy exact --set PROB=bf16", true);
    struct truth t;
    truth_of(&x, &t, 0);
    double whole = x.a.before[0] - x.a.exact[0];
    assert_true(x.a.alone[SITE_PROB][0] == x.a.before[0]);
    near("only PROB", "in situ", x.a.in_situ[SITE_PROB][0], whole, 1e-15);
    near("only PROB", "without", truth_error(&t, x.a.without[SITE_PROB][0]), 0, 1e-16);
    near("only PROB", "the exact run", truth_error(&t, x.a.exact[0]), 0, 1e-16);
    study_free(&x);
}

/* Boundaries by hand, in bf16: spacing 2^-7 from 1 to 2, 2^-8 below 1. */
static void boundaries(void **unused)
{
    (void)unused;
    static const struct {
        double truth, low, correct, before, at, distance;
        bool crossed;
    } rows[] = {
        {1.0, 0, 1.0, 1.0, 1 - 0x1p-9, 0.25, false}, /* above 1 the spacing is that of 1 */
        {1.0, 0, 1.0, 0.9973805, 1 - 0x1p-9, 0.25, true},
        {1.0, 0, 1.0, 1.005, 1 + 0x1p-8, -0.5, true},
        {1 + 0x1p-8, 0x1p-70, 1 + 0x1p-7, 1 + 0x1p-8, 1 + 0x1p-8, 0x1p-63, true},
        {1 + 0x1p-8, 0x1p-70, 1 + 0x1p-7, 1.01, 1 + 0x1p-8, 0x1p-63, false},
        {-0.75, 0, -0.75, -0.7529, -0.751953125, 0.5, true},
        {1.0, -0x1p-60, 1.0, 1.0, 1 - 0x1p-9, 0.5, false}, /* just below 1: half the spacing */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct truth t = {{rows[i].truth, rows[i].low}};
        struct boundary b = truth_boundary(&t, FORMAT_BF16, rows[i].correct, rows[i].before);
        if (b.at != rows[i].at || fabs(b.distance - rows[i].distance) > 1e-12 ||
            b.crossed != rows[i].crossed)
            fail_msg("row %d: boundary %.17g, distance %.17g, crossed %d", (int)i, b.at, b.distance,
                     b.crossed);
    }
    struct truth nan = {{NAN, 0}}, infinite = {{INFINITY, 0}};
    assert_true(truth_error(&nan, NAN) == 0 && truth_error(&infinite, INFINITY) == 0);
    assert_true(isnan(truth_error(&infinite, 1)) && isnan(truth_error(&nan, 1)));
    assert_true(isnan(truth_boundary(&nan, FORMAT_BF16, NAN, 1).at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teaching_input),       cmocka_unit_test(what_removal_restores),
        cmocka_unit_test(whatever_the_problem), cmocka_unit_test(one_site_alone),
        cmocka_unit_test(boundaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
