/* test_certified.c: certified digits and roundings: golden rows from an independent program, ties
   and other algebraic values, ties disturbed from far below, the contracts, the 27,525-token
   input. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reference/certified.h"
#include "reference/exact.h"
#include "tests/small_problem.h"

static struct certified_row *row_of(const struct problem *p, int64_t r)
{
    struct head h = problem_head(p, 0);
    return certified_row_new(&h, r);
}

static void expect_digits(const char *where, char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, expected %s", where, got, want);
    free(got);
}

struct golden {
    int D, Nq, Nk, r;
    double scale;
    int root;
    double softcap;
    int causal, top_left, left, right;
    const char *q, *k, *v, *lse, *o;
};

static const struct golden goldens[] = {
#define GOLDEN(...) {__VA_ARGS__},
#include "tests/data/attention_golden.def"
#undef GOLDEN
};

static void golden_problem(struct problem *p, const struct golden *g)
{
    assert_true(small_problem(p, g->D, g->Nq, g->Nk, g->q, g->k, g->v));
    p->scale = (struct scale){g->scale, g->root};
    p->softcap = g->softcap;
    p->mask = (struct mask){g->causal, g->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT, g->left,
                            g->right};
}

static void golden_digits(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof goldens / sizeof *goldens; n++) {
        const struct golden *g = &goldens[n];
        struct problem p;
        golden_problem(&p, g);
        struct certified_row *row = row_of(&p, g->r);
        char where[80], words[400];
        snprintf(where, sizeof where, "golden row %zu, LSE", n);
        expect_digits(where, certified_digits_lse(row, 30, NULL), g->lse);
        snprintf(words, sizeof words, "%s", g->o);
        char *next = NULL, *word = strtok_r(words, " ", &next);
        for (int d = 0; d < g->D; d++, word = strtok_r(NULL, " ", &next)) {
            snprintf(where, sizeof where, "golden row %zu, O[%d]", n, d);
            assert_non_null(word);
            expect_digits(where, certified_digits(row, d, 30, NULL), word);
        }
        certified_row_free(row);
        problem_free(&p);
    }
}

/* x, near the true value to 2^-400, rounded to odd at 53 bits and then to f. */
static double rounded_from(const mpfr_t x, enum format f)
{
    if (f == FORMAT_EXACT || f == FORMAT_FP64)
        return mpfr_get_d(x, MPFR_RNDN);
    double y = mpfr_get_d(x, MPFR_RNDZ);
    if (mpfr_cmp_d(x, y) != 0 && !(format_encode(FORMAT_FP64, y) & 1))
        y = nextafter(y, mpfr_sgn(x) > 0 ? INFINITY : -INFINITY);
    return format_round(f, y, false);
}

static void check_row(const char *where, const struct problem *p, int64_t r)
{
    struct certified_row *row = row_of(p, r);
    struct head h = problem_head(p, 0);
    mpfr_t O[8], lse, x, difference;
    mpfr_inits2(400, lse, x, difference, (mpfr_ptr)0);
    for (int d = 0; d < p->D; d++)
        mpfr_init2(O[d], 400);
    exact_row(&h, r, 400, O, lse);
    struct certified c;
    certified_init(&c);
    for (int d = -1; d < p->D; d++) {
        mpfr_ptr truth = d < 0 ? lse : O[d];
        if (d < 0)
            certified_value_lse(row, x);
        else
            certified_value(row, d, x);
        mpfr_sub(difference, x, truth, MPFR_RNDN);
        if (mpfr_number_p(truth) && mpfr_regular_p(difference) && mpfr_get_exp(difference) > -380)
            fail_msg("%s row %d column %d: exact and certified differ by 2^%ld", where, (int)r, d,
                     (long)mpfr_get_exp(difference));
        for (int f = 0; f < FORMAT_COUNT && mpfr_number_p(truth); f++) {
            double got = d < 0 ? certified_round_lse(row, f, &c) : certified_round(row, d, f, &c);
            double want = c.rational ? got : rounded_from(truth, f);
            if (!(got == want || (isnan(got) && isnan(want))) || !c.decided)
                fail_msg("%s row %d column %d to %s: %a, expected %a", where, (int)r, d,
                         format_info(f)->name, got, want);
            assert_true(mpfr_cmp(c.low, c.high) <= 0);
            mpfr_sub(difference, c.low, truth, MPFR_RNDU);
            assert_true(mpfr_sgn(difference) <= 0 || mpfr_get_exp(difference) < -380);
            mpfr_sub(difference, c.high, truth, MPFR_RNDD);
            assert_true(mpfr_sgn(difference) >= 0 || mpfr_get_exp(difference) < -380);
        }
    }
    certified_clear(&c);
    certified_row_free(row);
    for (int d = 0; d < p->D; d++)
        mpfr_clear(O[d]);
    mpfr_clears(lse, x, difference, (mpfr_ptr)0);
}

static void agrees_with_exact(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof goldens / sizeof *goldens; n++) {
        struct problem p;
        char where[40];
        snprintf(where, sizeof where, "golden %zu", n);
        golden_problem(&p, &goldens[n]);
        for (int64_t r = 0; r < p.Nq; r++)
            check_row(where, &p, r);
        problem_free(&p);
    }
}

static const struct contract contracts[] = {
#define CONTRACT(...) {__VA_ARGS__},
#include "tests/data/contracts.def"
#undef CONTRACT
};

static void contract_rows(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof contracts / sizeof *contracts; n++) {
        struct problem p;
        assert_true(contract_problem(&p, &contracts[n]));
        struct certified_row *row = row_of(&p, contracts[n].r);
        expect_digits(contracts[n].what, certified_digits(row, 0, 9, NULL), contracts[n].O);
        expect_digits(contracts[n].what, certified_digits_lse(row, 9, NULL), contracts[n].lse);
        double weight = certified_weight(row, 0), O = certified_round(row, 0, FORMAT_FP64, NULL);
        if (isnan(O) ? !(isnan(weight) || isinf(weight)) : !(weight >= fabs(O) * (1 - 0x1p-50)))
            fail_msg("%s: sum pi|v| = %g, O = %g", contracts[n].what, weight, O);
        certified_row_free(row);
        problem_free(&p);
    }
}

/* D = 1, q = 1: the keys are the scores. */
struct right_value {
    const char *what, *scores, *values;
    int keys, digits;
    const char *O, *lse;
    double bf16;
    bool rational;
};

static const struct right_value right_values[] = {
    {"one key, a decimal tie below", "0.3125", "0.125", 1, 2, "0.12", "0.31", 0.125, true},
    {"one key, a decimal tie above", "-0.4375", "0.375", 1, 2, "0.38", "-0.44", 0.375, true},
    {"one key, one digit", "25", "35", 1, 1, "4e1", "2e1", 35, true},
    {"one key, nines", "99.5", "-0.09996", 1, 2, "-0.10", "1.0e2", -0.10009765625, true},
    {"one key, small", "0", "0x1p-20", 1, 3, "9.54e-7", "0", 0x1p-20, true},
    {"one key, large", "0", "0x1p40", 1, 20, "1099511627776", "0", 0x1p40, true},
    {"bf16 tie", "0 0", "1 1.0078125", 2, 20, "1.00390625", "0.69314718055994530942", 1, true},
    {"bf16 tie to an odd neighbour's other side", "0 0", "1.0078125 1.015625", 2, 20, "1.01171875",
     "0.69314718055994530942", 1.015625, true},
    {"classes of equal mean", "0 0 1 1", "1 3 2 2", 4, 20, "2", "2.0064088680781681435", 2, true},
    {"equal values", "0.5 1.25 -3 7", "1.5 1.5 1.5 1.5", 4, 20, "1.5", "7.0047204609917442637", 1.5,
     true},
    {"thirds", "1 1 1", "1 0 0", 3, 10, "0.3333333333", "2.098612289", 0.333984375, true},
    {"minus two thirds", "1 1 1", "-1 -1 0", 3, 10, "-0.6666666667", "2.098612289", -0.66796875,
     true},
    {"zero by cancellation", "1 1 5 5", "1 -1 2 -2", 4, 10, "0", "5.711297108", 0, true},
    {"tie disturbed from 10^4 below, upwards", "0 0 -10000", "1 1.0078125 2", 3, 20,
     "1.0039062500000000000", "0.69314718055994530942", 1.0078125, false},
    {"tie disturbed from 10^4 below, downwards", "0 0 -10000", "1 1.0078125 1", 3, 20,
     "1.0039062500000000000", "0.69314718055994530942", 1, false},
    {"decimal tie disturbed upwards", "0 -10000", "0.125 1", 2, 2, "0.13", "1.1e-4343", 0.125,
     false},
    {"decimal tie disturbed downwards", "0 -10000", "0.375 -1", 2, 2, "0.37", "1.1e-4343", 0.375,
     false},
    {"LSE a tie but for a key 10^4 below", "0.625 -10000", "0 1", 2, 2, "6.1e-4344", "0.63", 0,
     false},
    {"LSE a tie but for a key 10^7 below", "0.625 -1e7", "1 1", 2, 2, "1", "0.63", 1, true},
    {"everything from a key 10^6 below", "0 -1e6", "0 1", 2, 20, "3.2968314780885585790e-434295",
     "3.2968314780885585790e-434295", 0, false},
    {"a negative number below every format", "0 -1e6", "0 -1", 2, 20,
     "-3.2968314780885585790e-434295", "3.2968314780885585790e-434295", -0.0, false},
    {"maximum weighing nothing", "10000 10000 0", "1 -1 1", 3, 5, "5.6774e-4344", "10001", 0,
     false},
    {"G-1", "2.5 2.125 2.5 -0.75 2 0.25 1.375 -3.125", "1.875 .125 .875 -1 2 -.375 -1.375 .125", 8,
     20, "0.93587122273155930042", "3.8260804490702841560", 0.9375, false},
    {"G-2", "1.75 1.25 1.125 -.125 -3.5 .875 -.625 1.625", "-.625 -2 .625 1 -1.375 1.75 .125 2", 8,
     20, "0.31107988855107528341", "3.0563763082671089841", 0.310546875, false},
    {"four scores", "1 2 3 0", "10 20 30 0", 4, 20, "24.926527345857697674",
     "3.4401896985611953305", 24.875, false},
};

static void right_value_rows(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof right_values / sizeof *right_values; n++) {
        const struct right_value *want = &right_values[n];
        struct problem p;
        struct certified c;
        certified_init(&c);
        assert_true(small_problem(&p, 1, 1, want->keys, "1", want->scores, want->values));
        struct certified_row *row = row_of(&p, 0);
        expect_digits(want->what, certified_digits(row, 0, want->digits, NULL), want->O);
        expect_digits(want->what, certified_digits_lse(row, want->digits, NULL), want->lse);
        double got = certified_round(row, 0, FORMAT_BF16, &c);
        if (got != want->bf16 || !signbit(got) != !signbit(want->bf16))
            fail_msg("%s: bf16 %a, expected %a", want->what, got, want->bf16);
        if (c.rational != want->rational || !c.decided)
            fail_msg("%s: rational %d, decided %d", want->what, c.rational, c.decided);
        certified_clear(&c);
        certified_row_free(row);
        problem_free(&p);
    }
}

/* LSE of one key whose scale is 1 / sqrt(root), and what only softcap brings. */
static void scales_and_caps(void **state)
{
    (void)state;
    static const struct {
        const char *what, *scores, *values;
        int keys, root;
        double softcap;
        int digits;
        const char *O, *lse;
        bool decided;
    } rows[] = {
        {"irrational scale", "3", "1", 1, 2, 0, 12, "1", "2.12132034356", true},
        {"irrational scale, score 0", "0", "1", 1, 2, 0, 12, "1", "0", true},
        {"scale 1/3", "2", "1", 1, 9, 0, 12, "1", "0.666666666667", true},
        {"scale 1/5, a decimal tie", "0.125", "1", 1, 25, 0, 2, "1", "0.025", true},
        {"scale 1/5, a decimal tie to even", "0.625", "1", 1, 25, 0, 2, "1", "0.12", true},
        {"softcap, one key", "3", "0.125", 1, 1, 2, 2, "0.12", "1.8", true},
        {"softcap, equal means", "0 0 3", "1 2 1.5", 3, 1, 2, 9, "1.5", "2.09337644", true},
        {"softcap, tie disturbed from 10^4 below", "1e9 -1e9", "0.125 1", 2, 1, 5000, 2, "0.13",
         "5.0e3", true},
        {"softcap, same disturbed downwards", "1e9 -1e9", "0.125 0", 2, 1, 5000, 2, "0.12", "5.0e3",
         true},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct problem p;
        struct certified c;
        certified_init(&c);
        assert_true(small_problem(&p, 1, 1, rows[n].keys, "1", rows[n].scores, rows[n].values));
        p.scale.root = rows[n].root;
        p.softcap = rows[n].softcap;
        struct certified_row *row = row_of(&p, 0);
        expect_digits(rows[n].what, certified_digits(row, 0, rows[n].digits, &c), rows[n].O);
        assert_int_equal(c.decided, rows[n].decided);
        expect_digits(rows[n].what, certified_digits_lse(row, rows[n].digits, &c), rows[n].lse);
        certified_clear(&c);
        certified_row_free(row);
        problem_free(&p);
    }
}

/* Where the boundary question is whether the value reaches overflow or the smallest number. */
static void ends_of_formats(void **state)
{
    (void)state;
    static const struct {
        enum format f;
        const char *values;
        double want;
    } rows[] = {
        /* equal scores tie at the boundary; the third key, 10^4 below, moves it */
        {FORMAT_FP16, "65504 65536 1e5", INFINITY},
        {FORMAT_FP16, "65504 65536 0", 65504},
        {FORMAT_FP16, "-65504 -65536 -1e5", -INFINITY},
        {FORMAT_FP16, "-65504 -65536 0", -65504},
        {FORMAT_E4M3, "448 480 1e5", NAN},
        {FORMAT_E4M3, "448 480 0", 448},
        {FORMAT_E4M3, "-448 -480 -1e5", NAN},
        {FORMAT_E4M3, "-448 -480 0", -448},
        {FORMAT_FP16, "0 0x1p-24 1", 0x1p-24},
        {FORMAT_FP16, "0 0x1p-24 0", 0},
        {FORMAT_FP16, "0 -0x1p-24 -1", -0x1p-24},
        {FORMAT_FP16, "0 -0x1p-24 0", -0.0},
        {FORMAT_FP32, "0x1p-126 0x1.fffffcp-127 1", 0x1p-126},
        {FORMAT_FP32_FTZ, "0x1p-126 0x1.fffffcp-127 1", 0x1p-126},
        {FORMAT_FP32_FTZ, "0x1p-126 0x1.fffffcp-127 0", 0},
        {FORMAT_FP32_FTZ, "-0x1p-126 -0x1.fffffcp-127 0", -0.0},
        {FORMAT_FP64, "1 0x1.0000000000001p0 2", 0x1.0000000000001p0},
        {FORMAT_FP64, "1 0x1.0000000000001p0 0", 1},
        {FORMAT_FP64, "0 0x1p-1074 1", 0x1p-1074},
        {FORMAT_FP64, "0 0x1p-1074 0", 0},
        {FORMAT_BF16, "1e38 -1e38 1", 0},
        {FORMAT_E4M3, "1e38 -1e38 1", 0},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct problem p;
        assert_true(small_problem(&p, 1, 1, 3, "1", "0 0 -10000", rows[n].values));
        struct certified_row *row = row_of(&p, 0);
        double got = certified_round(row, 0, rows[n].f, NULL), want = rows[n].want;
        if (!(got == want || (isnan(got) && isnan(want))) ||
            (!isnan(want) && !signbit(got) != !signbit(want)))
            fail_msg("values %s to %s: %a, expected %a", rows[n].values,
                     format_info(rows[n].f)->name, got, want);
        certified_row_free(row);
        problem_free(&p);
    }
}

/* 2^127 tanh(2^-121) = 64 - tiny: 2^127 - 2^127 until the precision passes 120 bits. */
static void cancellation(void **state)
{
    (void)state;
    struct problem p;
    struct certified c;
    certified_init(&c);
    assert_true(small_problem(&p, 1, 1, 2, "1", "0 -0x1p-120", "0x1p127 -0x1p127"));
    for (int f = 0; f < FORMAT_COUNT; f++) { /* a new row keeps no precision from the last */
        struct certified_row *fresh = row_of(&p, 0);
        assert_true(certified_round(fresh, 0, f, &c) == 64);
        assert_true(c.decided && c.precision > 120);
        certified_row_free(fresh);
    }
    struct certified_row *row = row_of(&p, 0);
    expect_digits("cancellation", certified_digits(row, 0, 20, NULL), "64.000000000000000000");
    assert_true(certified_weight(row, 0) == 0x1p127);
    certified_clear(&c);
    certified_row_free(row);
    problem_free(&p);
}

/* score(t) = 1 + (t div 64 mod 32 - t mod 3) / 8, value(t) = (22 + 119 t mod 127) / 64. */
static void teaching_input(void **state)
{
    (void)state;
    enum { N = 27525 };
    struct problem p;
    assert_true(small_problem(&p, 1, 1, 1, "1", "0", "0"));
    tensor_free(&p.k);
    tensor_free(&p.v);
    struct message why;
    assert_true(tensor_new(&p.k, FORMAT_BF16, 4, (int64_t[]){1, 1, N, 1}, &why));
    assert_true(tensor_new(&p.v, FORMAT_BF16, 4, (int64_t[]){1, 1, N, 1}, &why));
    for (int t = 0; t < N; t++) {
        tensor_set(&p.k, 0, 0, t, 0, 1 + (t / 64 % 32 - t % 3) / 8.0);
        tensor_set(&p.v, 0, 0, t, 0, (22 + 119 * t % 127) / 64.0);
    }
    p.Nk = N;
    struct certified_row *row = row_of(&p, 0);
    expect_digits("27,525 tokens", certified_digits(row, 0, 36, NULL),
                  "1.32507072127209779115562358979538472");
    assert_true(certified_round(row, 0, FORMAT_BF16, NULL) == 1.328125);
    certified_row_free(row);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_digits),   cmocka_unit_test(agrees_with_exact),
        cmocka_unit_test(contract_rows),   cmocka_unit_test(right_value_rows),
        cmocka_unit_test(scales_and_caps), cmocka_unit_test(ends_of_formats),
        cmocka_unit_test(cancellation),
        cmocka_unit_test(teaching_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
