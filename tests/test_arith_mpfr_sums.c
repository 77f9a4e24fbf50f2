/* test_arith_mpfr_sums.c: the MPFR arithmetic's sums, maxima, masks and exact sites, by hand. */
#include <mpfr.h>
#include <stdio.h>

#include "tests/mpfr_tiles.h"

enum { MOST = 4 };

#define U 0x1p-24           /* half an ulp of 1 in fp32 */
#define E (1 + 0x1p-23)     /* the next float after 1 */
#define E2 (1 + 0x1p-22)    /* E * E = E2 + 2^-46 */

struct sum_row {
    enum verb verb;
    enum format format, product;
    const char *order;
    double dst;
    int n;
    double a[MOST], b[MOST];
    int lo, hi; /* visible terms */
    double want;
};

static const struct sum_row sum_rows[] = {
    /* a chain from the accumulator; by halves; as told */
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "seq", 1, 4, {U, U, U, U}, {0}, 0, 4, 1},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "pairwise", 1, 4, {U, U, U, U}, {0}, 0, 4, E2},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "pairwise", 0, 3, {1, U, U}, {0}, 0, 3, 1},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "tree:(0 (1 2))", 0, 3, {1, U, U}, {0}, 0, 3, E},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "tree:(1 2 0)", 0, 3, {1, U, U}, {0}, 0, 3, E},
    /* +0 in their places, NaN among them or not */
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 2, {NAN, 1}, {0}, 0, 0, 0.0},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "seq", 5, 3, {NAN, 1, INFINITY}, {0}, 1, 2, 6},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 2, {-0.0, -0.0}, {0}, 0, 2, -0.0},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 2, {-0.0, -0.0}, {0}, 0, 1, 0.0},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 2, {-0.0, -0.0}, {0}, 1, 2, 0.0},
    {VERB_ROW_SUM, FORMAT_FP32, FORMAT_EXACT, "pairwise", 0, 4, {1, U, U, U}, {0}, 0, 3, 1},
    {VERB_ROW_SUM, FORMAT_FP16, FORMAT_EXACT, "seq", -0x1p-30, 1, {0}, {0}, 0, 0, -0.0},
    {VERB_ROW_SUM, FORMAT_FP16, FORMAT_EXACT, "seq", -0x1p-30, 4, {0}, {0}, 0, 0, 0.0},
    /* an accumulator that was not rounded yet is, by the first addition, visible or not */
    {VERB_ROW_SUM, FORMAT_BF16, FORMAT_EXACT, "seq", 0x1.03p0, 1, {9}, {0}, 0, 0, 0x1.04p0},
    {VERB_ROW_SUM, FORMAT_FP32_FTZ, FORMAT_EXACT, "seq", 0x1p-127, 1, {0x1p-127}, {0}, 0, 1, 0},
    /* l a + p fused: E E - E2 = 2^-46 */
    {VERB_ROW_SUM_RESCALED, FORMAT_FP32, FORMAT_EXACT, "seq", E, 1, {-E2}, {E}, 0, 1, 0x1p-46},
    {VERB_ROW_SUM_RESCALED, FORMAT_FP32, FORMAT_EXACT, "seq", 3, 3, {1, 2, 4}, {.5}, 0, 3, 8.5},
    {VERB_ROW_SUM_RESCALED, FORMAT_FP32, FORMAT_EXACT, "seq", 3, 3, {1, 2, 4}, {.5}, 1, 3, 7.5},
    {VERB_ROW_SUM_RESCALED, FORMAT_FP32, FORMAT_EXACT, "pairwise", E, 2, {-1, -0x1p-22}, {E}, 0, 2,
     0x1p-46},
    {VERB_ROW_DOT, FORMAT_FP32, FORMAT_EXACT, "seq", -E2, 1, {E}, {E}, 0, 1, 0x1p-46},
    {VERB_ROW_DOT, FORMAT_FP32, FORMAT_EXACT, "pairwise", -E2, 1, {E}, {E}, 0, 1, 0},
    {VERB_ROW_DOT, FORMAT_FP32, FORMAT_EXACT, "seq", 1, 3, {1, 2, 3}, {4, 5, 6}, 0, 3, 33},
    {VERB_FOLD, FORMAT_FP32, FORMAT_EXACT, "seq", 77, 1, {-0.0}, {0}, 0, 1, -0.0},
    {VERB_FOLD, FORMAT_FP32, FORMAT_EXACT, "seq", 77, 3, {1, U, U}, {0}, 0, 3, 1},
    {VERB_FOLD, FORMAT_FP32, FORMAT_EXACT, "pairwise", 77, 4, {1, U, U, U}, {0}, 0, 4, E},
    {VERB_ROW_MAX, FORMAT_FP32, FORMAT_EXACT, "seq", -INFINITY, 3, {1, 7, 9}, {0}, 0, 2, 7},
    {VERB_ROW_MAX, FORMAT_FP32, FORMAT_EXACT, "seq", 8, 3, {1, 7, NAN}, {0}, 0, 2, 8},
    {VERB_ROW_MAX, FORMAT_FP32, FORMAT_EXACT, "seq", 8, 3, {1, NAN, 7}, {0}, 0, 3, NAN},
    {VERB_ROW_MAX, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 2, {-0.0, 0.0}, {0}, 0, 2, 0.0},
    {VERB_ROW_MAX, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 1, {-0.0}, {0}, 0, 1, -0.0},
    /* from +0, fused, and unfused where a tree sums rounded products */
    {VERB_MMA_ABT, FORMAT_FP32, FORMAT_EXACT, "seq", NAN, 2, {1, E}, {-E2, E}, 0, 2, 0x1p-46},
    {VERB_MMA_ABT, FORMAT_FP32, FORMAT_EXACT, "pairwise", NAN, 2, {1, E}, {-E2, E}, 0, 2, 0},
    {VERB_MMA_ABT, FORMAT_FP32, FORMAT_EXACT, "seq", 5, 1, {-0.0}, {1}, 0, 1, 0.0},
    {VERB_MMA_ABT, FORMAT_BF16, FORMAT_EXACT, "seq", 5, 3, {1, 1, 1}, {0x1p-8, 1, 0x1p-8}, 0, 3, 1},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_EXACT, "seq", -E2, 1, {E}, {E}, 0, 1, 0x1p-46},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_FP32, "seq", -E2, 1, {E}, {E}, 0, 1, 0},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_BF16, "seq", 1, 1, {0x1.03p0}, {1}, 0, 1, 0x1.02p1},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_BF16, "pairwise", 1, 1, {0x1.03p0}, {1}, 0, 1, 0x1.02p1},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_EXACT, "pairwise", -E2, 1, {E}, {E}, 0, 1, 0},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_EXACT, "seq", 1, 3, {7, 2, 7}, {NAN, 3, INFINITY}, 1, 2, 7},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_EXACT, "pairwise", 1, 3, {7, 2, 7}, {NAN, 3, NAN}, 1, 2, 7},
    {VERB_MMA_AB, FORMAT_FP32, FORMAT_EXACT, "seq", -0.0, 2, {0, 0}, {-1, NAN}, 0, 1, 0.0},
    {VERB_MMA_ATB, FORMAT_FP32, FORMAT_EXACT, "seq", -E2, 1, {E}, {E}, 0, 1, 0x1p-46},
    {VERB_MMA_ATB, FORMAT_FP32, FORMAT_FP32, "seq", -E2, 1, {E}, {E}, 0, 1, 0},
    {VERB_MMA_ATB, FORMAT_FP32, FORMAT_EXACT, "seq", 1, 3, {7, 2, 7}, {NAN, 3, NAN}, 1, 2, 7},
};

static void hide(struct tile *t, int lo, int hi)
{
    t->masked = true;
    for (int row = 0; row < t->rows; row++) {
        bool one = t->cols == 1 && t->rows > 1; /* a^T b: the terms run down the column */
        t->lo[row] = one ? 0 : lo;
        t->hi[row] = one ? lo <= row && row < hi : hi;
    }
}

static void test_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sum_rows); i++) {
        const struct sum_row *row = &sum_rows[i];
        struct policy p = all_sites(row->format);
        struct run r;
        struct message why;
        p.site[SITE_PV_PRODUCT].format = row->product;
        assert_true(order_parse(row->order, &p.site[SITE_OUT_ACC].order, &why));
        begin(&r, &p, 100);
        bool column = row->verb == VERB_MMA_ATB, rescaled = row->verb == VERB_ROW_SUM_RESCALED;
        bool b_column = column || row->verb == VERB_MMA_AB;
        int n = row->n, nb = rescaled ? 1 : n;
        struct tile *a = tile_of(&r, column ? n : 1, column ? 1 : n, row->a);
        struct tile *b = tile_of(&r, b_column ? nb : 1, b_column ? 1 : nb, row->b);
        struct tile *dst = tile_of(&r, 1, 1, &row->dst);
        if (row->lo > 0 || row->hi < n)
            hide(a, row->lo, row->hi);
        struct call c = {.verb = row->verb, .dst = dst, .a = a, .b = b, .site = SITE_OUT_ACC,
                         .arg_site = SITE_PV_PRODUCT};
        perform_plain(&r, &c);
        double got = tile_get(&r, dst, 0, 0);
        if (!same_bits(got, row->want))
            fail_msg("row %d: verb %d, %s, from %a: got %a, want %a", (int)i, row->verb, row->order,
                     row->dst, got, row->want);
        run_free(&r);
    }
}

/* Without a rescaling factor the sum replaces the accumulator. */
static void test_first_sum(void **state)
{
    (void)state;
    struct policy p = all_sites(FORMAT_FP32);
    struct run r;
    begin(&r, &p, 100);
    struct tile *a = tile_of(&r, 1, 3, (double[]){-0.0, -0.0, -0.0});
    struct tile *l = tile_new(&r, TENSOR_L_SUM, 1, 1);
    r.arith->set(l->data, 0, NAN);
    row_sum_rescaled(&r, l, a, NULL, SITE_ROW_SUM);
    assert_true(same_bits(tile_get(&r, l, 0, 0), -0.0));
    run_free(&r);
}

static void test_max_that_ignores_nan(void **state)
{
    (void)state;
    struct policy p = all_sites(FORMAT_FP32);
    struct run r;
    p.max_ignores_nan = true;
    begin(&r, &p, 53);
    struct tile *a = tile_of(&r, 2, 2, (double[]){NAN, 3, NAN, NAN});
    struct tile *m = tile_of(&r, 2, 1, (double[]){NAN, NAN});
    row_max(&r, m, a);
    assert_true(tile_get(&r, m, 0, 0) == 3);
    assert_true(isnan(tile_get(&r, m, 1, 0)));
    max_(&r, a, a, m);
    assert_true(tile_get(&r, a, 0, 0) == 3);
    assert_true(isnan(tile_get(&r, a, 1, 1)));
    run_free(&r);
}

static void expect_tile(const struct run *r, const struct tile *t, const double *want)
{
    for (int i = 0; i < t->rows * t->cols; i++) {
        double got = tile_get(r, t, i / t->cols, i % t->cols);
        if (!same_bits(got, want[i]))
            fail_msg("element %d: got %a, want %a", i, got, want[i]);
    }
}

static void test_exp_shift(void **state)
{
    (void)state;
    struct policy p = all_sites(FORMAT_FP32);
    struct run r;
    p.site[SITE_EXP_ARG].format = FORMAT_BF16;
    begin(&r, &p, 53);
    struct tile *a = tile_of(&r, 3, 3, (double[]){0x1.03p0, 9, 1, -INFINITY, 0, 1, NAN, 1, 2});
    struct tile *m = tile_of(&r, 3, 1, (double[]){0, -INFINITY, 1});
    a->masked = true;
    memcpy(a->lo, (int[]){0, 0, 1}, 3 * sizeof(int));
    memcpy(a->hi, (int[]){1, 2, 3}, 3 * sizeof(int));
    exp_shift(&r, a, a, m, SITE_EXP_ARG, SITE_EXP);
    /* e^(1 + 2^-6), the argument rounded to bf16; -inf shifted by -inf; NaN out of sight */
    expect_tile(&r, a, (double[]){0x1.616b5ap+1, 0, 0, 0, 1, 0, 0, 1, 0x1.5bf0a8p+1});
    assert_true(a->masked && a->lo[2] == 1 && a->hi[2] == 3);
    run_free(&r);
}

/* Three queries that see 2, 3, 4 of four keys (causal); the tile holds keys 2 and 3. */
static void test_masks(void **state)
{
    (void)state;
    struct problem problem = {.B = 1, .Hq = 1, .Hkv = 1, .Nq = 3, .Nk = 4, .D = 1,
                              .mask = {.causal = true, .left = -1, .right = -1}};
    struct head head = {.problem = &problem, .Nq = 3, .Nk = 4, .D = 1};
    struct visible v = {.head = &head, .row0 = 0, .col0 = 2, .cols = 2, .count = 2};
    struct policy p = all_sites(FORMAT_FP32);
    struct run r;
    begin(&r, &p, 53);
    struct tile *a = tile_of(&r, 3, 2, (double[]){1, 2, 3, 4, 5, 6});
    struct tile *b = tile_of(&r, 3, 1, (double[]){0, 2, 4}), *o = tile_new(&r, TENSOR_O, 3, 2);
    mask(&r, a, &v);
    assert_true(a->masked && a->lo[0] == a->hi[0]);
    assert_true(a->lo[1] == 0 && a->hi[1] == 1 && a->lo[2] == 0 && a->hi[2] == 2);
    divide_rows(&r, o, a, b, &v, SITE_NORMALIZE);
    expect_tile(&r, o, (double[]){0, 0, 1.5, 2, 1.25, 1.5});
    assert_true(o->masked && o->hi[1] == 1);
    mask_fill(&r, a, &v, -INFINITY);
    expect_tile(&r, a, (double[]){-INFINITY, -INFINITY, 3, -INFINITY, 5, 6});
    assert_false(a->masked);
    v.row0 = 2, v.col0 = 0;
    mask(&r, tile_new(&r, TENSOR_S, 1, 2), &v);
    assert_false(r.tiles[r.tile_count - 1]->masked);
    run_free(&r);
}

/* The interval goes from a to dst with the values, and goes away with new ones. */
static void test_intervals(void **state)
{
    (void)state;
    struct policy p = all_sites(FORMAT_FP32);
    struct run r;
    begin(&r, &p, 53);
    struct tile *a = tile_of(&r, 1, 2, (double[]){1, 2}), *b = tile_new(&r, TENSOR_S, 1, 2);
    struct tile *square = tile_of(&r, 2, 2, (double[]){1, 0, 0, 1});
    hide(a, 1, 2);
    add(&r, b, a, a, SITE_OUT);
    expect_tile(&r, b, (double[]){2, 4});
    assert_true(b->masked && b->lo[0] == 1 && b->hi[0] == 2);
    fill(&r, b, 3);
    assert_false(b->masked);
    copy(&r, b, a);
    assert_true(b->masked && b->lo[0] == 1);
    mma_abt(&r, b, a, square, SITE_OUT);
    assert_false(b->masked);
    run_free(&r);
}

/* Exact sites: precision bits, no bounds on the exponent, the caller's MPFR range left alone. */
static void test_exact(void **state)
{
    (void)state;
    struct policy p = all_sites(FORMAT_EXACT);
    struct run r;
    double wide[2];
    mpfr_exp_t emin = -100000, emax = 100000;
    assert_true(mpfr_set_emin(emin) == 0 && mpfr_set_emax(emax) == 0);
    begin(&r, &p, 120);
    struct tile *a = tile_of(&r, 1, 1, (double[]){1}), *b = tile_of(&r, 1, 1, (double[]){0x1p-100});
    add(&r, a, a, b, SITE_OUT);
    r.arith->get_wide(a->data, 0, wide);
    assert_true(wide[0] == 1 && wide[1] == 0x1p-100);
    sub(&r, b, a, b, SITE_OUT);
    assert_true(!r.arith->same(a->data, 0, b->data, 0) && tile_get(&r, b, 0, 0) == 1);
    fill(&r, a, -1e12);
    exp_(&r, b, a, SITE_EXP);
    log_(&r, b, b, SITE_LSE);
    assert_true(r.arith->same(a->data, 0, b->data, 0));
    assert_true(mpfr_get_emin() == emin && mpfr_get_emax() == emax);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_first_sum),
        cmocka_unit_test(test_max_that_ignores_nan),
        cmocka_unit_test(test_exp_shift),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
