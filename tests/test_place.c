/* test_place.c: written numbers among the numbers of a format: rounded once, ties told apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reference/place.h"

static const struct {
    const char *text;
    enum format f;
    double value;
    int side;
    bool tie;
    double ulps;
} rows[] = {
    {"0.36787944", FORMAT_BF16, 0.3671875, 1, false, 0.35427328},
    {"0.3671875", FORMAT_BF16, 0.3671875, 0, false, 0},
    {"1.00390625", FORMAT_BF16, 1, 1, true, 0.5},
    {"1.01171875", FORMAT_BF16, 1.015625, -1, true, -0.5},
    /* a hair off the tie: seen by the text, not by the double nearest to it */
    {"1.003906250000000000000000000000000001", FORMAT_BF16, 1.0078125, -1, false, -0.5},
    {"1.003906249999999999999999999999999999", FORMAT_BF16, 1, 1, false, 0.5},
    {"9007199254740993", FORMAT_FP64, 9007199254740992, 1, true, 0.5},
    {"9007199254740993.0000000000000000000000000001", FORMAT_FP64, 9007199254740994, -1, false,
     -0.5},
    {"-0.1", FORMAT_FP32, -0x1.99999ap-4, 1, false, 0.2},
    {"0x1.8p-3", FORMAT_FP16, 0.1875, 0, false, 0},
    {"1e-45", FORMAT_FP32, 0x1p-149, -1, false, -0.286376},
    {"2.2e-324", FORMAT_FP64, 0, 1, false, 0.445285},
    {"4e-324", FORMAT_FP64, 0x1p-1074, -1, false, -0.190394},
    {"448.1", FORMAT_E4M3, 448, 1, false, 0.003125},
    {"65519.9", FORMAT_FP16, 65504, 1, false, 0.496875},
    {"65520", FORMAT_FP16, INFINITY, -1, false, 0},
    {"-1e999", FORMAT_FP64, -INFINITY, 1, false, 0},
    {"inf", FORMAT_BF16, INFINITY, 0, false, 0},
    {"0", FORMAT_E5M2, 0, 0, false, 0},
    {"464", FORMAT_E4M3, 448, 1, false, 0.5},
    {"465", FORMAT_E4M3, NAN, -1, false, 0},
    {"-inf", FORMAT_E4M3, NAN, 1, false, 0},
    {"nan", FORMAT_E4M3, NAN, 0, false, 0},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct decimal_place p;
        struct message why;
        if (!decimal_place(rows[i].text, rows[i].f, &p, &why))
            fail_msg("%s: %s", rows[i].text, why.text);
        bool same = (isnan(rows[i].value) ? isnan(p.value) : p.value == rows[i].value) &&
                    p.side == rows[i].side && p.tie == rows[i].tie &&
                    fabs(p.ulps - rows[i].ulps) < 1e-5;
        if (!same)
            fail_msg("flashulp bits %s --format %s: %a, side %d, tie %d, %.9g ulp", rows[i].text,
                     format_info(rows[i].f)->name, p.value, p.side, p.tie, p.ulps);
    }
}

/* 4,000 decimals past a tie, more than is kept: still no tie, still on its side. */
static void test_long_tail(void **state)
{
    (void)state;
    enum { TAIL = 4000 };
    static char text[TAIL + 64];
    struct decimal_place p;
    struct message why;
    for (int below = 0; below < 2; below++) {
        int n = sprintf(text, below ? "1.00390624" : "1.00390625");
        memset(text + n, below ? '9' : '0', TAIL);
        strcpy(text + n + TAIL, "1");
        assert_true(decimal_place(text, FORMAT_BF16, &p, &why));
        assert_false(p.tie);
        assert_true(p.value == (below ? 1 : 1.0078125));
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "abc", "1.5x", " 1", "--1", "0x", "1,5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct decimal_place p;
        struct message why;
        char want[128];
        snprintf(want, sizeof want, "%s is no number; 0.1, 1e-40, 0x1.8p-3, inf and nan are",
                 bad[i]);
        assert_false(decimal_place(bad[i], FORMAT_FP32, &p, &why));
        assert_string_equal(why.text, want);
    }
}

/* Random decimals: as the C library rounds them to float and double. */
static void test_against_library(void **state)
{
    (void)state;
    uint64_t x = 1;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        struct decimal_place p;
        struct message why;
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(x >> 40),
                 (unsigned long long)(x & 0xFFFFFF), (int)(x >> 30 & 127) - 64);
        assert_true(decimal_place(text, FORMAT_FP32, &p, &why));
        assert_true(p.value == (double)strtof(text, NULL));
        assert_true(decimal_place(text, FORMAT_FP64, &p, &why));
        assert_true(p.value == strtod(text, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_long_tail),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_against_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
