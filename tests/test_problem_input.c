/* test_problem_input.c: problems written as scores and values, and INPUT's rounding. */
#include "tests/folder.h"

#include "reference/problem.h"

#include <math.h>

static void test_scores(void **state)
{
    (void)state;
    static const double want_k[] = {1, 2, 3, -INFINITY, 1e-3}, want_v[] = {10, NAN, 30, 0x1p-3, 5};
    struct problem p;
    struct message why = {""};
    if (!problem_from_scores(&p, " 1 2|3 -inf\t1e-3 ", "10 nan | 30 0x1p-3 5 |", &why))
        fail_msg("%s", why.text);
    assert_true(p.scores_given && p.B == 1 && p.Hq == 1 && p.Hkv == 1 && p.Nq == 1 && p.Nk == 5 &&
                p.D == 1);
    assert_true(p.scale.value == 1 && p.scale.root == 1 && p.mask.left == -1);
    assert_true(p.tiles == 2 && p.tile_ends[0] == 2 && p.tile_ends[1] == 5);
    assert_true(p.k.dtype == FORMAT_FP64 && tensor_get(&p.q, 0, 0, 0, 0) == 1);
    for (int i = 0; i < 5; i++) {
        double v = tensor_get(&p.v, 0, 0, i, 0);
        assert_true(tensor_get(&p.k, 0, 0, i, 0) == want_k[i]);
        assert_true(isnan(want_v[i]) ? isnan(v) : v == want_v[i]);
    }
    problem_free(&p);
    assert_true(problem_from_scores(&p, "", " ", &why));
    assert_true(p.Nk == 0 && p.Nq == 1 && p.tiles == 0);
    problem_free(&p);
}

static void test_scores_refused(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"1 2 | 3", "1 2 3", "--scores has 2 tiles, --values has 1"},
        {"1 2 | 3", "1 2 | 3 4", "tile 2 has 1 scores but 2 values"},
        {"1 | 2 3", "1 2 | 3", "tile 1 has 1 scores but 2 values"},
        {"1 | | 3", "1 2 3", "--scores: tile 2 is empty; each | ends a tile of one number or more"},
        {"1", "|", "--values: tile 1 is empty; each | ends a tile of one number or more"},
        {"1,2", "1 2", "--scores: '1,2' is no number; blanks separate numbers, | ends a tile"},
        {"1 two", "1 2", "--scores: 'two' is no number; blanks separate numbers, | ends a tile"},
        {"1 1e999", "1 2", "--scores: '1e999' is too large for a double; write inf for infinity"},
        {"1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "--values: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is no number; blanks separate "
         "numbers, | ends a tile"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p;
        struct message why = {""};
        check_refused(problem_from_scores(&p, rows[i][0], rows[i][1], &why), &why, rows[i][2]);
    }
}

/* One key's score in a file format, rounded at INPUT: the value, its format then, and the count
   (the query, 1, and the value, 0, never change). */
static void test_rounding(void **state)
{
    (void)state;
    static const struct {
        enum format from, to, stored;
        double x, want;
        int changed;
    } rows[] = {
        {FORMAT_FP64, FORMAT_BF16, FORMAT_BF16, 0.3, 0x1.34p-2, 1},
        {FORMAT_FP64, FORMAT_BF16, FORMAT_BF16, 0.25, 0.25, 0},
        {FORMAT_FP64, FORMAT_BF16, FORMAT_BF16, NAN, NAN, 0},
        {FORMAT_FP64, FORMAT_BF16, FORMAT_BF16, -INFINITY, -INFINITY, 0},
        {FORMAT_FP64, FORMAT_FP16, FORMAT_FP16, 65520, INFINITY, 1},
        {FORMAT_FP64, FORMAT_E4M3, FORMAT_E4M3, 1e9, NAN, 1},
        {FORMAT_FP64, FORMAT_EXACT, FORMAT_FP64, 0.3, 0.3, 0},
        {FORMAT_FP64, FORMAT_FP64, FORMAT_FP64, 0.3, 0.3, 0},
        {FORMAT_BF16, FORMAT_FP32, FORMAT_BF16, 3, 3, 0},
        {FORMAT_BF16, FORMAT_TF32, FORMAT_BF16, 0x1p-133, 0x1p-133, 0},
        {FORMAT_BF16, FORMAT_FP16, FORMAT_FP16, 0x1p16, INFINITY, 1},
        {FORMAT_FP16, FORMAT_BF16, FORMAT_BF16, 0x1.ffcp0, 2, 1},
        {FORMAT_BF16, FORMAT_FP32_FTZ, FORMAT_FP32, -0x1p-130, -0.0, 1},
        {FORMAT_FP16, FORMAT_FP32_FTZ, FORMAT_FP16, 0x1p-24, 0x1p-24, 0},
        {FORMAT_FP32, FORMAT_TF32, FORMAT_FP32, 0x1.001p0, 1, 1},
        {FORMAT_FP32, FORMAT_TF32, FORMAT_FP32, 0x1.003p0, 0x1.004p0, 1},
        {FORMAT_E5M2, FORMAT_E4M3, FORMAT_E4M3, INFINITY, NAN, 1},
        {FORMAT_E4M3, FORMAT_FP16, FORMAT_E4M3, 448, 448, 0},
        {FORMAT_E4M3, FORMAT_E5M2, FORMAT_E5M2, 1.125, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t shape[2] = {1, 1};
        struct tensor t[3];
        struct problem p;
        struct message why;
        struct problem_options options = problem_defaults();
        int64_t changed = -1;
        for (int n = 0; n < 3; n++) {
            assert_true(tensor_new(&t[n], rows[i].from, 2, shape, &why));
            tensor_set(&t[n], 0, 0, 0, 0, n == 0 ? 1 : n == 1 ? rows[i].x : 0);
        }
        assert_true(problem_new(&p, &t[0], &t[1], &t[2], &options, &why));
        void *data = p.k.data;
        assert_true(problem_round_input(&p, rows[i].to, &changed, &why));
        double got = tensor_get(&p.k, 0, 0, 0, 0);
        if ((got != rows[i].want && !(isnan(got) && isnan(rows[i].want))) ||
            signbit(got) != signbit(rows[i].want) || changed != rows[i].changed ||
            p.k.dtype != rows[i].stored || p.q.dtype != rows[i].stored)
            fail_msg("row %zu: %a in %s became %a in %s, want %a in %s; %d changed", i, rows[i].x,
                     format_info(rows[i].from)->name, got, format_info(p.k.dtype)->name,
                     rows[i].want, format_info(rows[i].stored)->name, (int)changed);
        if (rows[i].stored == rows[i].from && rows[i].to != FORMAT_TF32)
            assert_ptr_equal(p.k.data, data);
        problem_free(&p);
    }
}

/* Is every value of a narrow format left alone by a wider one exactly when all of them fit?  Asked
   of all codes of all 8- and 16-bit formats. */
static void test_what_fits_is_not_copied(void **state)
{
    (void)state;
    static const enum format narrow[] = {FORMAT_FP16, FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2};
    for (int i = 0; i < 4; i++)
        for (int to = 0; to < FORMAT_COUNT; to++) {
            const int bits = format_info(narrow[i])->bits;
            const int64_t shape[2] = {1, 1};
            struct tensor t[3];
            struct problem p;
            struct message why;
            struct problem_options options = problem_defaults();
            bool all = true;
            int64_t changed;
            for (uint64_t code = 0; code < UINT64_C(1) << bits; code++) {
                double x = format_decode(narrow[i], code);
                double y = format_round((enum format)to, x, false);
                all &= x == y || (isnan(x) && isnan(y));
            }
            for (int n = 0; n < 3; n++)
                assert_true(tensor_new(&t[n], narrow[i], 2, shape, &why));
            assert_true(problem_new(&p, &t[0], &t[1], &t[2], &options, &why));
            void *data = p.q.data;
            assert_true(problem_round_input(&p, (enum format)to, &changed, &why));
            if ((p.q.data == data) != all)
                fail_msg("%s to %s: %s", format_info(narrow[i])->name,
                         format_info((enum format)to)->name, all ? "all fit" : "not all fit");
            problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_scores_refused),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_what_fits_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
