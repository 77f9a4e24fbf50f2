/* test_oracle.c: does the judge reproduce the worked examples and keep the contracts? */
#include "tests/oracle_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Head size 1, scale 1, query 1: the keys are the scores. */
struct scored {
    const char *name, *algorithm, *policy;
    int64_t tile;
    int flags, count;
    const double *scores, *values;
    const char *O, *lse; /* lse NULL: not published */
};

static void run_scored(const struct scored *s, double *O, double *lse)
{
    static const double one = 1;
    struct oracle o = oracle_over(1, s->count, 1, &one, s->scores, s->values);
    o.tile = s->tile;
    oracle_policy(&o, s->policy);
    set_flags(&o, s->flags);
    oracle_run(&o, s->algorithm, O, lse);
}

/* Equal when printed with as many significant digits as the expectation has: it is published so. */
static void expect_digits(const char *name, const char *what, double got, const char *want)
{
    char text[64];
    if (!isfinite(strtod(want, NULL)) || strtod(want, NULL) == 0) {
        if (!same(got, strtod(want, NULL)))
            fail_msg("%s: %s = %.17g, not %s", name, what, got, want);
        return;
    }
    int digits = 0;
    for (const char *c = want; *c != '\0'; c++)
        digits += *c >= '0' && *c <= '9' && (*c != '0' || digits > 0);
    snprintf(text, sizeof text, "%#.*g", digits, got);
    if (strtod(text, NULL) != strtod(want, NULL))
        fail_msg("%s: %s = %.17g (%a), not %s", name, what, got, got, want);
}

static const double four[] = {1, 2, 3, 0}, tens[] = {10, 20, 30, 0};
static const double falling[] = {1, 0}, rising[] = {-1, 0}, first[] = {1, 0};
static const double minus_5[] = {-5, -5, -5, -5, -5}, ones[] = {1, 1, 1, 1, 1}, zeros[4] = {0};
static const double low[] = {-46340.95, -46340.95}, lower[] = {-104};
static const double peaks[] = {1, 0, 1, -1}, peak_v[] = {1, 0, 1, 0};
static const double g1_x[] = {2.5, 2.125, 2.5, -.75, 2, .25, 1.375, -3.125};
static const double g1_v[] = {1.875, .125, .875, -1, 2, -.375, -1.375, .125};
static const double g2_x[] = {1.75, 1.25, 1.125, -.125, -3.5, .875, -.625, 1.625};
static const double g2_v[] = {-.625, -2, .625, 1, -1.375, 1.75, .125, 2};
static const double lost[] = {0x1p24, 1, -0x1p24, 1}, kept[] = {0x1p24, -0x1p24, 1, 1};
static const double after_nothing[] = {-INFINITY, 0}, fives[] = {5, 2};

static const struct scored worked_examples[] = {
    {"the four scores", "fa2", "fp32", 2, 0, 4, four, tens, "24.9265", "3.4401896"},
    {"the four scores, bf16", "fa2", "gpu-bf16", 2, 0, 4, four, tens, "24.8750000", "3.4401896"},
    {"the same, block by block", "fa1", "fp32", 2, 0, 4, four, tens, "24.9265", "3.44019"},
    {"the same, key by key", "online", "fp32", 0, 0, 4, four, tens, "24.9265", "3.44019"},
    {"the same, directly", "standard", "fp32", 0, 0, 4, four, tens, "24.9265", "3.44019"},
    {"first block alone", "fa2", "fp32", 2, 0, 2, four, tens, "17.3106", "2.3133"},
    {"tile-relative exponent", "fa2-printed", "fp32", 1, TILE_MAX, 2, falling, first,
     "0.5000000000", NULL},
    {"corrected", "fa2-printed", "fp32", 1, 0, 2, falling, first, "0.7311", NULL},
    {"start at 0, alone", "fa2-printed", "fp32", 1, ZERO_START, 2, falling, first, "0.7311", NULL},
    {"start at 0, score -104", "fa2-printed", "fp32", 1, ZERO_START, 1, lower, ones, "nan", NULL},
    {"start at -inf, score -104", "fa2-printed", "fp32", 1, 0, 1, lower, ones, "1.0000000", NULL},
    {"rising maxima hide it", "fa2-printed", "fp32", 1, TILE_MAX, 2, rising, first, "0.2689", NULL},
    {"not from 0", "fa2-printed", "fp32", 1, TILE_MAX | ZERO_START, 2, rising, first, "0.50000000",
     NULL},
    {"no tail mask", "fa2-printed", "fp32", 2, NO_TAIL_MASK, 1, zeros, ones, "0.500000000", NULL},
    {"tail, exact policy", "fa2-printed", "exact", 4, NO_TAIL_MASK, 5, minus_5, ones, "0.011105",
     NULL},
    {"tail masked", "fa2", "fp32", 4, NO_TAIL_MASK, 5, minus_5, ones, "1.00000000", NULL},
    {"tile maxima unscaled", "unstable", "fp32", 1, 0, 2, falling, first, "0.500000000", NULL},
    {"tile maxima equal", "unstable", "fp32", 2, 0, 4, peaks, peak_v, "0.798973", NULL},
    {"G-1", "fa2", "gpu-bf16", 2, 0, 8, g1_x, g1_v, "0.9335937500", NULL},
    {"G-1 descending", "fa2", "gpu-bf16", 2, DESCENDING, 8, g1_x, g1_v, "0.9375000000", NULL},
    {"G-1 exactly", "standard", "exact", 0, 0, 8, g1_x, g1_v, "0.9358712227", NULL},
    {"G-2", "fa2", "gpu-bf16", 2, 0, 8, g2_x, g2_v, "0.3105468750", NULL},
    {"G-2 descending", "fa2", "gpu-bf16", 2, DESCENDING, 8, g2_x, g2_v, "0.3125000000", NULL},
    {"G-2 exactly", "fa1", "exact", 3, 0, 8, g2_x, g2_v, "0.3110798886", NULL},
    {"sum order", "fa2", "fp32", 1, 0, 4, zeros, lost, "0.250000000", NULL},
    {"sum order, other", "fa2", "fp32", 1, 0, 4, zeros, kept, "0.500000000", NULL},
    {"far below any sentinel", "fa2", "fp32", 1, 0, 2, low, ones, "1.00000000", "-46340.26"},
};

static void worked_examples_come_out(void **unused)
{
    (void)unused;
    for (int i = 0; i < COUNT(worked_examples); i++) {
        const struct scored *s = &worked_examples[i];
        double O, lse;
        run_scored(s, &O, &lse);
        expect_digits(s->name, "O", O, s->O);
        if (s->lse != NULL)
            expect_digits(s->name, "L", lse, s->lse);
    }
    double O, lse;
    run_scored(&worked_examples[0], &O, &lse);
    float bits_of = (float)O;
    uint32_t bits;
    memcpy(&bits, &bits_of, sizeof bits);
    assert_int_equal(bits, 0x41c76987);
}

/* Weights summed before they are rounded, multiplied after: a bias when all values are 1. */
static void values_of_one_show_the_bias(void **unused)
{
    (void)unused;
    enum { MOST = 128 };
    static double k[2 * MOST], v[2 * MOST];
    const double q[2] = {1, 1};
    for (int c = 0; c < MOST; c++) {
        k[2 * c] = c == 0 ? 0 : -0.6875;
        k[2 * c + 1] = c == 0 ? 0 : -0.00201416015625;
        v[2 * c] = v[2 * c + 1] = 1;
    }
    double O[2], lse;
    struct oracle o = oracle_over(1, 4, 2, q, k, v);
    o.tile = 64;
    oracle_policy(&o, "gpu-bf16");
    oracle_run(&o, "fa2", O, &lse);
    assert_true(O[0] == 0.99609375 && O[1] == 0.99609375);
    oracle_policy(&o, "exact");
    o.site[AT_PROB] = FORMAT_BF16;
    oracle_run(&o, "fa2", O, &lse);
    expect_digits("V = 1, 4 keys", "O", O[0], "0.9978210");
    o.Nk = MOST;
    oracle_run(&o, "fa2", O, &lse);
    expect_digits("V = 1, 128 keys", "O", O[0], "0.9964296");
}

static void long_tails_come_out(void **unused)
{
    (void)unused;
    double k[100], v[100], q = 1, O, lse;
    for (int c = 0; c < 100; c++) {
        k[c] = -5;
        v[c] = 1;
    }
    struct oracle o = oracle_over(1, 65, 1, &q, k, v);
    o.tile = 64;
    o.no_tail_mask = true;
    oracle_policy(&o, "fp32");
    oracle_run(&o, "fa2-printed", &O, &lse);
    expect_digits("65 keys", "O", O, "0.0069039");
    o.Nk = 100;
    oracle_run(&o, "fa2-printed", &O, &lse);
    expect_digits("100 keys", "O", O, "0.0234986");
    oracle_run(&o, "fa2", &O, &lse);
    expect_digits("100 keys, masked", "O", O, "1.00000");
}

static const char *const attention[] = {"standard", "online",      "fa1",
                                        "fa2",      "fa1-printed", "fa2-printed"};

/* Up to 5 rows that share their scores; each sees [lo, hi). */
static const struct masked {
    const char *name;
    int Nq, Nk;
    double scores[5], values[5];
    int64_t lo[5], hi[5];
    const char *O[5], *lse[5];
} contracts[] = {
    {"causal, 2 rows of 5",
     2,
     5,
     {0},
     {1, 2, 3, 4, 5},
     {0, 0},
     {4, 5},
     {"2.50000", "3.00000"},
     {"1.38629", "1.60944"}},
    {"causal, 5 rows of 2",
     5,
     2,
     {0},
     {1, 2},
     {0},
     {0, 0, 0, 1, 2},
     {"0", "0", "0", "1.00000", "1.50000"},
     {"-inf", "-inf", "-inf", "0", "0.693147"}},
    {"causal, top-left",
     2,
     5,
     {0},
     {1, 2, 3, 4, 5},
     {0, 0},
     {1, 2},
     {"1.00000", "1.50000"},
     {"0", "0.693147"}},
    {"window of 2",
     4,
     4,
     {0},
     {1, 2, 4, 8},
     {0, 0, 1, 2},
     {1, 2, 3, 4},
     {"1.00000", "1.50000", "3.00000", "6.00000"},
     {"0", "0.693147", "0.693147", "0.693147"}},
    {"no keys at all", 2, 0, {0}, {0}, {0}, {0}, {"0", "0"}, {"-inf", "-inf"}},
    {"invisible NaN and inf values",
     1,
     4,
     {0},
     {1, 3, NAN, INFINITY},
     {0},
     {2},
     {"2.00000"},
     {"0.693147"}},
    {"invisible NaN keys",
     1,
     4,
     {0, 0, NAN, INFINITY},
     {1, 3, 5, 7},
     {0},
     {2},
     {"2.00000"},
     {"0.693147"}},
    {"first tile seen by one row",
     2,
     4,
     {9, 9, 0, 0},
     {7, 7, 1, 3},
     {2, 0},
     {4, 4},
     {"2.00000", "6.99938"},
     {"0.693147", "9.69327"}},
    {"visible NaN key",
     2,
     4,
     {0, NAN, 0, 0},
     {1, 2, 3, 4},
     {0, 2},
     {4, 4},
     {"nan", "3.50000"},
     {"nan", "0.693147"}},
    {"visible NaN value",
     2,
     4,
     {0},
     {1, NAN, 3, 4},
     {0, 2},
     {4, 4},
     {"nan", "3.50000"},
     {"1.38629", "0.693147"}},
    {"visible score +inf", 1, 3, {0, INFINITY, 0}, {1, 2, 3}, {0}, {3}, {"nan"}, {"nan"}},
    {"visible score -inf", 1, 3, {0, -INFINITY, 0}, {1, 2, 3}, {0}, {3}, {"2.00000"}, {"0.693147"}},
    {"all visible scores -inf", 1, 2, {-INFINITY, -INFINITY}, {1, 2}, {0}, {2}, {"nan"}, {"-inf"}},
    {"visible value +inf", 1, 3, {0}, {1, INFINITY, 3}, {0}, {3}, {"inf"}, {"1.09861"}},
    {"both infinities", 1, 3, {0}, {-INFINITY, INFINITY, 3}, {0}, {3}, {"nan"}, {"1.09861"}},
};

static void contracts_hold_in_every_algorithm(void **unused)
{
    (void)unused;
    const double q[5] = {1, 1, 1, 1, 1};
    for (int i = 0; i < COUNT(contracts) * COUNT(attention) * 2; i++) {
        const struct masked *row = &contracts[i / 2 / COUNT(attention)];
        double O[5], lse[5];
        struct oracle o = oracle_over(row->Nq, row->Nk, 1, q, row->scores, row->values);
        o.lo = row->lo;
        o.hi = row->hi;
        o.tile = 2;
        o.row_tile = 1 + i % 2;
        oracle_policy(&o, "fp32");
        oracle_run(&o, attention[i / 2 % COUNT(attention)], O, lse);
        for (int r = 0; r < row->Nq; r++) {
            expect_digits(row->name, attention[i / 2 % COUNT(attention)], O[r], row->O[r]);
            expect_digits(row->name, "L", lse[r], row->lse[r]);
        }
    }
}

/* A visible -inf before any other score leaves l = 0.  Who divides only at the end gets the right
   answer; who divides at every tile has 0 / 0 there, and NaN stays. */
static void leading_minus_infinity(void **unused)
{
    (void)unused;
    static const struct scored rows[] = {
        {"whole", "standard", "fp32", 1, 0, 2, after_nothing, fives, "2.00000", "0"},
        {"at the end", "fa2", "fp32", 1, 0, 2, after_nothing, fives, "2.00000", "0"},
        {"same tile", "fa1", "fp32", 2, 0, 2, after_nothing, fives, "2.00000", "0"},
        {"every tile", "fa1", "fp32", 1, 0, 2, after_nothing, fives, "2.00000", "0"},
        {"every key", "online", "fp32", 1, 0, 2, after_nothing, fives, "2.00000", "0"},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        double O, lse;
        run_scored(&rows[i], &O, &lse);
        expect_digits(rows[i].name, "O", O, rows[i].O);
        expect_digits(rows[i].name, "L", lse, rows[i].lse);
    }
}

/* Rows 0 and 2 see key 0, row 1 sees key 1.  Where a tile of theirs is visited for row 1's sake,
   their outputs are multiplied by 1 at RESCALE_OUT, here too narrow for 1 + 2^-10. */
static void a_visited_tile_rescales_every_row(void **unused)
{
    (void)unused;
    static const double q[3] = {1, 1, 1}, k[2] = {0, 0}, v[2] = {1 + 0x1p-10, 3};
    static const int64_t lo[3] = {0, 1, 0}, hi[3] = {1, 2, 1};
    static const struct {
        int64_t row_tile;
        bool descending;
        double O0, O2;
    } rows[] = {
        {1, false, 1 + 0x1p-10, 1 + 0x1p-10},
        {2, false, 1, 1 + 0x1p-10},
        {3, false, 1, 1},
        {0, false, 1, 1},
        {0, true, 1 + 0x1p-10, 1 + 0x1p-10},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        double O[3], lse[3];
        struct oracle o = oracle_over(3, 2, 1, q, k, v);
        o.tile = 1;
        o.lo = lo;
        o.hi = hi;
        o.row_tile = rows[i].row_tile;
        o.descending = rows[i].descending;
        oracle_policy(&o, "exact");
        o.site[AT_RESCALE_OUT] = FORMAT_BF16;
        oracle_run(&o, "fa2", O, lse);
        if (O[0] != rows[i].O0 || O[1] != 3 || O[2] != rows[i].O2)
            fail_msg("row %d: %a %a %a, not %a 3 %a", i, O[0], O[1], O[2], rows[i].O0, rows[i].O2);
    }
}

/* Weights all 1.  One warp, or fa2, loses both ones beside 2^24; two warps add them first: 2^24 + 2.
   A tile of five keys, three warps: two keys, two and one: 2^24, + 2, + 1 (a tie, to 2^24 + 4), and
   + 2 from the next tile. */
static void warps_sum_from_zero(void **unused)
{
    (void)unused;
    static const double q = 1, k[7] = {0};
    static const double v[] = {0x1p24, 0, 1, 1}, u[] = {0x1p24, 0, 1, 1, 1, 1, 1};
    static const struct {
        const char *algorithm;
        int64_t warps, keys, tile;
        const double *v;
        double sum;
    } rows[] = {
        {"fa2", 1, 4, 4, v, 0x1p24},        {"splitq", 2, 4, 4, v, 0x1p24},
        {"splitk", 1, 4, 4, v, 0x1p24},     {"splitk", 2, 4, 4, v, 0x1p24 + 2},
        {"splitk", 2, 4, 0, v, 0x1p24 + 2}, {"splitk", 4, 4, 4, v, 0x1p24},
        {"splitk", 9, 4, 4, v, 0x1p24},     {"splitk", 3, 7, 5, u, 0x1p24 + 6},
        {"splitk", 2, 7, 5, u, 0x1p24 + 4}, {"splitk", 2, 6, 4, u, 0x1p24 + 4},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct oracle o = oracle_over(1, rows[i].keys, 1, &q, k, rows[i].v);
        double O, lse;
        o.tile = rows[i].tile;
        o.warps = rows[i].warps;
        oracle_policy(&o, "fp32");
        oracle_run(&o, rows[i].algorithm, &O, &lse);
        if (O != (double)((float)rows[i].sum / (float)rows[i].keys))
            fail_msg("row %d: sum %a, not %a", i, O * (double)rows[i].keys, rows[i].sum);
    }
}

static void sites_by_hand(void **unused)
{
    (void)unused;
    static const double q = 1, k[3] = {0, 0, 9}, v[3] = {1, 3, 7};
    static const double small[2] = {0, -6}, large[2] = {0, 64}, capped = 1.25;
    static const int64_t two = 2;
    double O, lse;
    /* The place filled up is seen even by a row that sees no key of its tile: (1 + 3 + 0) / 3. */
    struct oracle o = oracle_over(1, 3, 1, &q, k, v);
    o.tile = 2;
    o.hi = &two;
    o.no_tail_mask = true;
    oracle_policy(&o, "fp32");
    assert_false(o.saturate);
    oracle_run(&o, "fa2-printed", &O, &lse);
    expect_digits("filled up", "O", O, "1.33333");
    expect_digits("filled up", "L", lse, "1.09861");

    /* 2^8 e^-6 = 0.6345 rounds to 0.625; e^-6 itself would round to 2^-9. */
    o.Nk = 2;
    o.k = small;
    o.v = large;
    oracle_policy(&o, "fp8");
    assert_true(o.saturate);
    oracle_run(&o, "fa2", &O, &lse);
    assert_true(O == 0.15625);

    /* One key: L is its score.  The other values within reach are 0.8515625: c unrounded, s / c or
       tanh unrounded. */
    o.Nk = 1;
    o.k = &capped;
    o.softcap = 1.01;
    oracle_policy(&o, "exact");
    o.site[AT_CONST] = o.site[AT_SOFTCAP] = FORMAT_BF16;
    oracle_run(&o, "fa2", &O, &lse);
    assert_true(lse == 0.85546875);
    o.site[AT_CONST] = FORMAT_EXACT;
    oracle_run(&o, "fa2", &O, &lse);
    assert_true(lse == 0.8515625);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_examples_come_out),
        cmocka_unit_test(values_of_one_show_the_bias),
        cmocka_unit_test(long_tails_come_out),
        cmocka_unit_test(contracts_hold_in_every_algorithm),
        cmocka_unit_test(leading_minus_infinity),
        cmocka_unit_test(a_visited_tile_rescales_every_row),
        cmocka_unit_test(warps_sum_from_zero),
        cmocka_unit_test(sites_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
