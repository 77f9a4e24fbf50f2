/* test_exact.c: exact dot products, the contracts, and the stated precision of exact_row. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/dyadic.h"
#include "reference/exact.h"
#include "tests/small_problem.h"

static const struct contract contracts[] = {
#define CONTRACT(...) {__VA_ARGS__},
#include "tests/data/contracts.def"
#undef CONTRACT
};

/* want: 9 digits or the exact value. */
static void same_value(const char *what, const char *name, const mpfr_t got, const char *want)
{
    char text[64];
    mpfr_snprintf(text, sizeof text, "%.9Rg", got);
    char *end;
    double a = strtod(text, &end), b = strtod(want, &end);
    if (!(a == b || (isnan(a) && isnan(b))))
        fail_msg("%s: %s = %s, expected %s", what, name, text, want);
}

static void contract_rows(void **state)
{
    (void)state;
    mpfr_t O[1], lse;
    mpfr_inits2(300, O[0], lse, (mpfr_ptr)0);
    for (size_t n = 0; n < sizeof contracts / sizeof *contracts; n++) {
        struct problem p;
        assert_true(contract_problem(&p, &contracts[n]));
        struct head h = problem_head(&p, 0);
        exact_row(&h, contracts[n].r, 300, O, lse);
        same_value(contracts[n].what, "O", O[0], contracts[n].O);
        same_value(contracts[n].what, "LSE", lse, contracts[n].lse);
        problem_free(&p);
    }
    mpfr_clears(O[0], lse, (mpfr_ptr)0);
}

struct dot_row {
    int D;
    double q[4], k[4];
    const char *sum; /* as mpfr_strtofr reads it, base 2 exponents */
};

static const struct dot_row dots[] = {
    {1, {3}, {5}, "15"},
    {2, {1, -1}, {1, 1}, "0"},
    {3, {0x1p60, 1, -0x1p60}, {0x1p60, 0x1p-60, 0x1p60}, "0x1p-60"},
    {4,
     {0x1.fffffffffffffp1023, 0x1p-1074, 1, 0},
     {0x1p1023, 0x1p-1074, 1, 7},
     "0x1.fffffffffffffp2046 + 1 + 0x1p-2148"},
    {2, {0x1p-1074, 0x1p1000}, {0x1p-1074, -0x1p1000}, "0x1p-2148 + -0x1p2000"},
    {2,
     {0x1.fffffep127, 0x1p-149},
     {0x1.fffffep127, 0x1p-149},
     "0x1p256 + -0x1p233 + 0x1p208 + 0x1p-298"},
    {2, {INFINITY, 1}, {1, 1}, "inf"},
    {2, {INFINITY, 1}, {-0x1p-1074, 1e300}, "-inf"},
    {2, {INFINITY, 1}, {0, 1}, "nan"},
    {2, {INFINITY, INFINITY}, {1, -1}, "nan"},
    {2, {0, 0}, {NAN, 1}, "nan"},
};

static void set_sum(mpfr_t sum, const char *text)
{
    mpfr_t term;
    mpfr_init2(term, 8000);
    mpfr_set_zero(sum, 1);
    for (char *end; *text != '\0'; text = end + strspn(end, " +")) {
        mpfr_strtofr(term, text, &end, 0, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

static void dot_products(void **state)
{
    (void)state;
    mpfr_t dot, want;
    mpfr_init2(dot, 2);
    mpfr_init2(want, 8000);
    for (size_t n = 0; n < sizeof dots / sizeof *dots; n++) {
        dot_exact(dot, dots[n].q, dots[n].k, dots[n].D);
        set_sum(want, dots[n].sum);
        if (!(mpfr_equal_p(dot, want) || (mpfr_nan_p(dot) && mpfr_nan_p(want)))) {
            mpfr_printf("# row %zu: %Ra\n", n, dot);
            fail_msg("dot product %zu, expected %s", n, dots[n].sum);
        }
    }
    mpfr_clears(dot, want, (mpfr_ptr)0);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Machine integers against MPFR at 4,400 bits, which holds every product and sum of doubles. */
static void dot_products_random(void **state)
{
    (void)state;
    uint64_t seed = 1;
    mpfr_t dot, want, a, b;
    mpfr_inits2(4400, dot, want, a, b, (mpfr_ptr)0);
    for (int n = 0; n < 20000; n++) {
        double q[9], k[9];
        int D = 1 + (int)(next_random(&seed) % 9), spread = n % 4 == 0 ? 900 : n % 4 == 1 ? 30 : 4;
        mpfr_set_zero(want, 1);
        for (int d = 0; d < D; d++) {
            q[d] = ldexp((double)(int64_t)(next_random(&seed) >> 11),
                         (int)(next_random(&seed) % (uint64_t)spread) - 60);
            k[d] = ldexp((double)(int64_t)(next_random(&seed) >> 56),
                         -(int)(next_random(&seed) % (uint64_t)spread));
            if (next_random(&seed) & 1)
                q[d] = -q[d];
            mpfr_set_d(a, q[d], MPFR_RNDN);
            mpfr_set_d(b, k[d], MPFR_RNDN);
            mpfr_fma(want, a, b, want, MPFR_RNDN);
        }
        dot_exact(dot, q, k, D);
        if (!mpfr_equal_p(dot, want))
            fail_msg("random dot product %d: %a, expected %a", n, mpfr_get_d(dot, MPFR_RNDN),
                     mpfr_get_d(want, MPFR_RNDN));
    }
    mpfr_clears(dot, want, a, b, (mpfr_ptr)0);
}

/* |low - true| <= 2^-P (|O| + A), the true value being the same at three times the precision. */
static void stated_precision(void **state)
{
    (void)state;
    uint64_t seed = 7;
    mpfr_t O[2], truth[2], lse, true_lse, bound;
    mpfr_inits2(64, O[0], O[1], lse, bound, (mpfr_ptr)0);
    mpfr_inits2(192, truth[0], truth[1], true_lse, (mpfr_ptr)0);
    for (int n = 0; n < 200; n++) {
        struct problem p;
        char q[80], k[1200] = "", v[1200] = "", word[40];
        snprintf(q, sizeof q, "%.17g %.17g", ldexp((double)(next_random(&seed) >> 40), n % 30 - 20),
                 1.0);
        for (int i = 0; i < 32; i++) {
            snprintf(word, sizeof word, "%.17g ",
                     ldexp((double)(int64_t)(next_random(&seed) >> 11), -53) - 0.5);
            strcat(k, word);
            snprintf(word, sizeof word, "%.17g ",
                     ldexp((double)(int64_t)(next_random(&seed) >> 11), -52) - 1);
            strcat(v, word);
        }
        assert_true(small_problem(&p, 2, 1, 16, q, k, v));
        p.scale.root = 2;
        p.softcap = n % 3 == 0 ? 20 : 0;
        struct head h = problem_head(&p, 0);
        exact_row(&h, 0, 64, O, lse);
        exact_row(&h, 0, 192, truth, true_lse);
        for (int d = 0; d < 2; d++) {
            mpfr_sub(truth[d], truth[d], O[d], MPFR_RNDN);
            mpfr_abs(bound, O[d], MPFR_RNDN);
            mpfr_add_ui(bound, bound, 1, MPFR_RNDN); /* A <= max |v| <= 1 */
            mpfr_mul_2si(bound, bound, -64, MPFR_RNDN);
            assert_true(mpfr_cmpabs(truth[d], bound) <= 0);
        }
        mpfr_sub(true_lse, true_lse, lse, MPFR_RNDN);
        mpfr_abs(bound, lse, MPFR_RNDN);
        mpfr_add_ui(bound, bound, 1, MPFR_RNDN);
        mpfr_mul_2si(bound, bound, -64, MPFR_RNDN);
        assert_true(mpfr_cmpabs(true_lse, bound) <= 0);
        problem_free(&p);
    }
    mpfr_clears(O[0], O[1], lse, truth[0], truth[1], true_lse, bound, (mpfr_ptr)0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract_rows),
        cmocka_unit_test(dot_products),
        cmocka_unit_test(dot_products_random),
        cmocka_unit_test(stated_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
