/* test_examples.c: the named problems give the values they are known for: goldens of bug reports,
   the printed kernels' failures, an article's figures, the teaching input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reference/certified.h"
#include "simulator/data.h"
#include "simulator/examples.h"
#include "simulator/scenario.h"
#include "simulator/trace.h"

/* O[0,0,0,0] of "flashulp run PROBLEM ..."; and the certified value, rounded to f. */
static const struct {
    const char *problem, *policy, *algorithm, *kv;
    double output, tolerance; /* 0: to the last bit */
    enum format f;
    double certified;
} rows[] = {
    {"fa2-4", NULL, NULL, NULL, 0x1.8ed30ep4, 0, FORMAT_FP32, 0x1.8ed30ep4},
    {"fa2-4", "gpu-bf16", NULL, NULL, 24.875, 0, FORMAT_BF16, 24.875},
    {"fa2-printed", NULL, NULL, NULL, 0.5, 0, FORMAT_FP32, 0x1.136562p-2},
    {"fa2-printed", NULL, "fa2", NULL, 0x1.136562p-2, 0, FORMAT_FP32, 0x1.136562p-2},
    {"printed-tile-max", NULL, NULL, NULL, 0.5, 0, FORMAT_BF16, 0.73046875},
    {"printed-zero-start", NULL, NULL, NULL, NAN, 0, FORMAT_BF16, 1},
    {"printed-zero-start-2", NULL, NULL, NULL, 0.5, 0, FORMAT_BF16, 0.26953125},
    {"printed-no-tail", NULL, NULL, NULL, 0.5, 0, FORMAT_BF16, 1},
    {"unstable-2", NULL, NULL, NULL, 0.5, 0, FORMAT_BF16, 0.73046875},
    {"s2-g1", NULL, NULL, NULL, 0.93359375, 0, FORMAT_BF16, 0.9375},
    {"s2-g1", NULL, NULL, "descending", 0.9375, 0, FORMAT_BF16, 0.9375},
    {"s2-g2", NULL, NULL, NULL, 0.310546875, 0, FORMAT_BF16, 0.310546875},
    {"s2-g2", NULL, NULL, "descending", 0.3125, 0, FORMAT_BF16, 0.310546875},
    {"s2-order", NULL, NULL, NULL, 0.25, 0, FORMAT_FP32, 0.5},
    {"m8", NULL, NULL, NULL, 133120, 0, FORMAT_BF16, 133120},
    {"m9", NULL, NULL, NULL, 1, 0, FORMAT_BF16, 1},
    {"p1", NULL, NULL, NULL, 0.99609375, 0, FORMAT_BF16, 1},
    {"p1", "fp32", NULL, NULL, 1, 0x1p-22, FORMAT_FP32, 1},
    {"a6", NULL, NULL, NULL, 1, 0, FORMAT_BF16, 1},
    {"a6", "fp32", NULL, NULL, 1, 0, FORMAT_FP32, 1},
    {"training-bias", NULL, NULL, NULL, -2.359375, 0, FORMAT_BF16, -2.359375},
    {"training-bias", "fp32", NULL, NULL, -2.3515831, 1e-6, FORMAT_BF16, -2.359375},
    {"h200-b200", "fp32", NULL, NULL, 1.32507, 5e-5, FORMAT_BF16, 1.328125},
};

static void set(struct scenario *s, enum option o, const char *text)
{
    s->given[o] = text != NULL;
    s->value[o] = text != NULL ? strdup(text) : NULL;
}

static void check_certified(size_t i, const struct problem *p)
{
    struct head h = problem_head(p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    double rounded = certified_round(row, 0, rows[i].f, NULL);
    certified_row_free(row);
    if (rounded != rows[i].certified)
        fail_msg("flashulp exact %s: %a rounded to %s, want %a", rows[i].problem, rounded,
                 format_info(rows[i].f)->name, rows[i].certified);
}

static void check_output(size_t i, const struct scenario *s, const struct scenario_input *in)
{
    struct simulation simulation;
    struct result result;
    struct message why;
    if (!scenario_simulation(s, in, &simulation, &why) ||
        !simulate(&in->problem, &simulation, &result, &why))
        fail_msg("%s: %s", rows[i].problem, why.text);
    double got = result.O[0], want = rows[i].output;
    result_free(&result);
    bool same = isnan(want) ? isnan(got) : fabs(got - want) <= rows[i].tolerance;
    if (!same) {
        char *command = scenario_command(s);
        fail_msg("%s: %a = %.9g, want %a = %.9g", command, got, got, want, want);
    }
}

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario s = {.verb = "run", .problem = strdup(rows[i].problem)};
        struct scenario_input in;
        struct message why;
        set(&s, OPTION_POLICY, rows[i].policy);
        set(&s, OPTION_ALGORITHM, rows[i].algorithm);
        set(&s, OPTION_KV, rows[i].kv);
        if (!scenario_problem(&s, &in, &why))
            fail_msg("%s: %s", rows[i].problem, why.text);
        check_certified(i, &in.problem);
        check_output(i, &s, &in);
        scenario_input_free(&in);
        scenario_free(&s);
    }
}

/* Signed error of column d over the rows, in ulps of bf16: its mean. */
static double mean_error(const struct problem *p, const struct result *result, int64_t d)
{
    struct head h = problem_head(p, 0);
    double sum = 0;
    for (int64_t r = 0; r < p->Nq; r++) {
        struct certified_row *row = certified_row_new(&h, r);
        mpfr_t truth;
        mpfr_init2(truth, 80);
        certified_value(row, d, truth);
        double t = mpfr_get_d(truth, MPFR_RNDN);
        sum += (result->O[r * p->D + d] - t) / format_ulp(FORMAT_BF16, t);
        mpfr_clear(truth);
        certified_row_free(row);
    }
    return sum / (double)p->Nq;
}

/* Repeated maxima round one way where P V is stored in bf16 and its values have one sign: a quarter of
   an ulp, row after row.  Not where it stays in fp32, nor with mixed signs, nor under the fix. */
static void test_training_bias(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm, *option, *set;
        double least, most; /* of column 0 */
    } ways[] = {
        {NULL, NULL, NULL, -0.27, -0.23},
        {NULL, NULL, "PV_STORE=fp32", -0.06, 0.06},
        {"fa2", NULL, NULL, -0.06, 0.06},
        {NULL, "repeated-max=7", NULL, -0.06, 0.06},
        {NULL, "repeated-max=2", NULL, -0.06, 0.06},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct scenario s = {.verb = "run", .problem = strdup("training-bias")};
        struct scenario_input in;
        struct simulation simulation;
        struct result result;
        struct message why;
        set(&s, OPTION_ALGORITHM, ways[i].algorithm);
        set(&s, OPTION_SWITCH, ways[i].option);
        set(&s, OPTION_SET, ways[i].set);
        if (!scenario_problem(&s, &in, &why) || !scenario_simulation(&s, &in, &simulation, &why) ||
            !simulate(&in.problem, &simulation, &result, &why))
            fail_msg("way %d: %s", (int)i, why.text);
        double one_sign = mean_error(&in.problem, &result, 0);
        double mixed = mean_error(&in.problem, &result, 1);
        if (one_sign < ways[i].least || one_sign > ways[i].most || fabs(mixed) > 0.08)
            fail_msg("way %d: mean error %g, %g ulp", (int)i, one_sign, mixed);
        result_free(&result);
        scenario_input_free(&in);
        scenario_free(&s);
    }
}

/* An unmasked tail of three empty places: 5 / (5 + 3 e^5), to seven digits. */
static void test_a6_unmasked(void **state)
{
    (void)state;
    struct scenario s = {.verb = "run", .problem = strdup("a6")};
    struct scenario_input in;
    struct simulation simulation;
    struct result result;
    struct message why;
    set(&s, OPTION_POLICY, "fp32");
    set(&s, OPTION_ALGORITHM, "fa2-printed");
    set(&s, OPTION_FAULT, "no-tail-mask");
    assert_true(scenario_problem(&s, &in, &why));
    assert_true(scenario_simulation(&s, &in, &simulation, &why));
    assert_true(simulate(&in.problem, &simulation, &result, &why));
    if (fabs(result.O[0] - 0.011105) > 5e-7)
        fail_msg("%.9g, want 0.011105", result.O[0]);
    result_free(&result);
    scenario_input_free(&in);
    scenario_free(&s);
}

static void test_teaching_input(void **state)
{
    (void)state;
    struct problem p;
    struct message why;
    assert_true(example_problem(EXAMPLE_H200_B200, &p, &why));
    struct head h = problem_head(&p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    for (int64_t d = 0; d < 256; d += 255) {
        char *digits = certified_digits(row, d, 36, NULL);
        assert_string_equal(digits, "1.32507072127209779115562358979538472");
        free(digits);
    }
    certified_row_free(row);
    problem_free(&p);
}

/* The number a trace holds for a figure, printed with as many decimals. */
static bool printed(const struct trace *t, const struct example_figure *f, char *text, size_t room)
{
    const char *dot = strchr(f->text, '.');
    int decimals = dot != NULL ? (int)strlen(dot + 1) : 0;
    for (size_t n = 0; n < trace_count(t); n++) {
        const struct event *e = trace_event(t, n);
        if (e->step != f->step || e->tensor != f->tensor)
            continue;
        if (f->tile >= 0 && e->j != (uint32_t)f->tile)
            continue;
        snprintf(text, room, "%.*f", decimals, trace_values(t, n)[f->row * (int)e->cols + f->col]);
        return true;
    }
    return false;
}

/* Every number the article prints comes out in fp32; those of rounded weights and of the stored
   output are not events of their own there. */
static void test_figures(void **state)
{
    (void)state;
    struct scenario s = {.verb = "walk", .problem = strdup("fa2-4")};
    struct scenario_input in;
    struct message why;
    assert_true(scenario_problem(&s, &in, &why));
    assert_non_null(in.figures);
    struct trace *t = scenario_trace(&s, TRACE_VALUES, false, &why);
    if (t == NULL)
        fail_msg("%s", why.text);
    int found = 0;
    for (int i = 0; i < in.figures->count; i++) {
        const struct example_figure *f = &in.figures->figure[i];
        char text[64];
        if (!printed(t, f, text, sizeof text))
            continue;
        found++;
        if (strcmp(text, f->text) != 0)
            fail_msg("figure %d: %s, want %s", i, text, f->text);
    }
    if (found < 13)
        fail_msg("only %d figures were met", found);
    trace_free(t);
    scenario_input_free(&in);
    scenario_free(&s);
}

static void test_figures_are_for_fa2(void **state)
{
    (void)state;
    static const struct {
        enum option o;
        const char *text;
    } changes[] = {{OPTION_ALGORITHM, "fa1"},
                   {OPTION_KV, "descending"},
                   {OPTION_TILE, "1,4"},
                   {OPTION_SCALE, "0.5"}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct scenario s = {.verb = "walk", .problem = strdup("fa2-4")};
        struct scenario_input in;
        struct message why;
        set(&s, changes[i].o, changes[i].text);
        assert_true(scenario_problem(&s, &in, &why));
        assert_null(in.figures);
        scenario_input_free(&in);
        scenario_free(&s);
    }
}

/* The captures, found by name: their shape, and a file's own number at the last place. */
static void test_captures(void **state)
{
    (void)state;
    static const char *const names[] = {"minilm-0", "minilm-4"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct scenario s = {.verb = "run", .problem = strdup(names[i])};
        struct scenario_input in;
        struct bundle b;
        struct message why;
        enum example e;
        assert_true(example_from_name(names[i], &e));
        char *path = data_file(example_info(e)->file, &why);
        if (path == NULL || !scenario_problem(&s, &in, &why) ||
            !bundle_read(path, FORMAT_BF16, &b, NULL, &why))
            fail_msg("%s: %s", names[i], why.text);
        const struct problem *p = &in.problem;
        assert_string_equal(in.name, names[i]);
        assert_true(p->B == 1 && p->Hq == 12 && p->Hkv == 12 && p->Nq == 172 && p->Nk == 172);
        assert_true(p->D == 32 && p->q.dtype == example_info(e)->dtype);
        assert_true(tensor_get(&p->v, 0, 11, 171, 31) ==
                    tensor_get(bundle_find(&b, "v"), 0, 11, 171, 31));
        bundle_free(&b);
        free(path);
        scenario_input_free(&in);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_training_bias),
        cmocka_unit_test(test_a6_unmasked),
        cmocka_unit_test(test_teaching_input),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_figures_are_for_fa2),
        cmocka_unit_test(test_captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
