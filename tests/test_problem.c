/* test_problem.c: what makes a problem, what is refused and in which words, and who sees whom. */
#include "tests/folder.h"

#include "reference/problem.h"

#include <inttypes.h>
#include <math.h>

static void shaped(struct tensor *t, enum format f, const char *shape)
{
    int64_t sizes[4] = {0};
    int rank = sscanf(shape, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64, &sizes[0], &sizes[1],
                      &sizes[2], &sizes[3]);
    struct message why;
    assert_true(tensor_new(t, f, rank, sizes, &why));
}

/* A problem of zeros in fp32 from three shapes; on failure the tensors are freed here. */
static bool build(struct problem *p, const char *q, const char *k, const char *v,
                  const struct problem_options *options, struct message *why)
{
    struct tensor t[3];
    shaped(&t[0], FORMAT_FP32, q);
    shaped(&t[1], FORMAT_FP32, k);
    shaped(&t[2], FORMAT_FP32, v);
    bool ok = problem_new(p, &t[0], &t[1], &t[2], options, why);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t[i].owns_data, !ok);
        tensor_free(&t[i]);
    }
    return ok;
}

static void test_shapes_that_fit(void **state)
{
    (void)state;
    static const struct {
        const char *q, *k;
        bool bnhd;
        int64_t B, Hq, Hkv, Nq, Nk, D;
    } rows[] = {
        {"5,8", "7,8", false, 1, 1, 1, 5, 7, 8},
        {"5,8", "7,8", true, 1, 1, 1, 5, 7, 8},
        {"6,5,8", "2,7,8", false, 1, 6, 2, 5, 7, 8},
        {"5,6,8", "7,2,8", true, 1, 6, 2, 5, 7, 8},
        {"3,6,5,8", "3,6,7,8", false, 3, 6, 6, 5, 7, 8},
        {"3,5,6,8", "3,7,1,8", true, 3, 6, 1, 5, 7, 8},
        {"5,8", "1,1,7,8", false, 1, 1, 1, 5, 7, 8},
        {"5,1", "0,1", false, 1, 1, 1, 5, 0, 1},
        {"0,1", "7,1", false, 1, 1, 1, 0, 7, 1},
        {"0,6,5,8", "0,2,7,8", false, 0, 6, 2, 5, 7, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p;
        struct message why = {""};
        struct problem_options options = problem_defaults();
        options.bnhd = rows[i].bnhd;
        if (!build(&p, rows[i].q, rows[i].k, rows[i].k, &options, &why))
            fail_msg("%s", why.text);
        if (p.B != rows[i].B || p.Hq != rows[i].Hq || p.Hkv != rows[i].Hkv || p.Nq != rows[i].Nq ||
            p.Nk != rows[i].Nk || p.D != rows[i].D)
            fail_msg("row %zu: %s", i, shape_text(4, p.q.shape).text);
        assert_int_equal(problem_units(&p), p.B * p.Hq);
        assert_true(p.scale.value == 1 && p.scale.root == p.D && p.softcap == 0);
        assert_true(p.mask.left == -1 && p.mask.right == -1 && !p.mask.causal);
        problem_free(&p);
    }
}

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *q, *k, *v;
        bool bnhd;
        const char *want;
    } rows[] = {
        {"8", "7,8", "7,8", false, "q (8,): wants (N, D), (H, N, D) or (B, H, N, D)"},
        {"5,8", "7,8", "8", true, "v (8,): wants (N, D), (N, H, D) or (B, N, H, D)"},
        {"5,8", "7,4", "7,4", false, "q (5, 8), k (7, 4), v (7, 4) as (N, D): q and k differ in D"},
        {"5,8", "7,8", "7,4", false,
         "q (5, 8), k (7, 8), v (7, 4) as (N, D): v has another D than q and k, which is not "
         "supported"},
        {"5,0", "7,0", "7,0", false,
         "q (5, 0), k (7, 0), v (7, 0) as (N, D): D is 0; 1 and more is right"},
        {"5,8", "7,8", "6,8", false,
         "q (5, 8), k (7, 8), v (6, 8) as (N, D): k and v differ in length"},
        {"2,4,5,8", "3,4,5,8", "3,4,5,8", false,
         "q (2, 4, 5, 8), k (3, 4, 5, 8), v (3, 4, 5, 8) as (B, H, N, D): the batches differ"},
        {"2,4,5,8", "2,2,5,8", "2,4,5,8", false,
         "q (2, 4, 5, 8), k (2, 2, 5, 8), v (2, 4, 5, 8) as (B, H, N, D): k and v differ in "
         "heads"},
        {"2,0,5,8", "2,2,7,8", "2,2,7,8", false,
         "q (2, 0, 5, 8), k (2, 2, 7, 8), v (2, 2, 7, 8) as (B, H, N, D): there are no heads"},
        {"1,6,5,8", "1,4,5,8", "1,4,5,8", false,
         "q (1, 6, 5, 8), k (1, 4, 5, 8), v (1, 4, 5, 8) as (B, H, N, D): the heads of q are no "
         "multiple of those of k and v; they fit with --layout bnhd"},
        {"1,6,5,8", "1,4,7,8", "1,4,7,8", false,
         "q (1, 6, 5, 8), k (1, 4, 7, 8), v (1, 4, 7, 8) as (B, H, N, D): the heads of q are no "
         "multiple of those of k and v"},
        {"16,4,8", "20,2,8", "20,2,8", false,
         "q (16, 4, 8), k (20, 2, 8), v (20, 2, 8) as (H, N, D): the heads of q are no multiple "
         "of those of k and v; they fit with --layout bnhd"},
        {"4,16,8", "2,20,8", "2,20,8", true,
         "q (4, 16, 8), k (2, 20, 8), v (2, 20, 8) as (N, H, D): the heads of q are no multiple "
         "of those of k and v; they fit with --layout bhnd"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p;
        struct message why = {""};
        struct problem_options options = problem_defaults();
        options.bnhd = rows[i].bnhd;
        check_refused(build(&p, rows[i].q, rows[i].k, rows[i].v, &options, &why), &why,
                      rows[i].want);
    }
}

/* bnhd is strides: the problem's element [b][h][n][d] is the file's [b][n][h][d], in place. */
static void test_layout_is_no_copy(void **state)
{
    (void)state;
    struct tensor t[3];
    struct problem p;
    struct message why;
    struct problem_options options = problem_defaults();
    options.bnhd = true;
    for (int i = 0; i < 3; i++)
        shaped(&t[i], FORMAT_FP32, "2,3,4,5");
    for (int n = 0; n < 120; n++)
        tensor_set(&t[1], n / 60, n / 20 % 3, n / 5 % 4, n % 5, n);
    void *data = t[1].data;
    assert_true(problem_new(&p, &t[0], &t[1], &t[2], &options, &why));
    assert_ptr_equal(p.k.data, data);
    for (int n = 0; n < 120; n++)
        assert_true(tensor_get(&p.k, n / 60, n / 5 % 4, n / 20 % 3, n % 5) == n);
    problem_free(&p);
}

static void test_options_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t left, right;
        double softcap, scale;
        const char *want;
    } rows[] = {
        {-5, 0, 0, 1, "--window -5,0: a side is -1 (unlimited) or 0 and more"},
        {3, -2, 0, 1, "--window 3,-2: a side is -1 (unlimited) or 0 and more"},
        {-1, -1, -2.5, 1, "--softcap -2.5: 0 (none) or a positive number is right"},
        {-1, -1, NAN, 1, "--softcap nan: 0 (none) or a positive number is right"},
        {-1, -1, INFINITY, 1, "--softcap inf: 0 (none) or a positive number is right"},
        {-1, -1, 0, NAN, "--scale nan: a finite number is right"},
        {-1, -1, 0, -INFINITY, "--scale -inf: a finite number is right"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p;
        struct message why = {""};
        struct problem_options options = problem_defaults();
        options.mask.left = rows[i].left;
        options.mask.right = rows[i].right;
        options.softcap = rows[i].softcap;
        options.scale_given = true;
        options.scale = rows[i].scale;
        check_refused(build(&p, "5,8", "7,8", "7,8", &options, &why), &why, rows[i].want);
    }
}

static void test_options_taken(void **state)
{
    (void)state;
    static const double scales[] = {0, -0.25, 3};
    for (int i = 0; i < 3; i++) {
        struct problem p;
        struct message why;
        struct problem_options options = problem_defaults();
        options.scale_given = true;
        options.scale = scales[i];
        options.softcap = 50;
        options.mask = (struct mask){true, ALIGN_TOP_LEFT, 4, 9};
        assert_true(build(&p, "5,8", "7,8", "7,8", &options, &why));
        assert_true(p.scale.value == scales[i] && p.scale.root == 1 && p.softcap == 50);
        assert_true(p.mask.causal && p.mask.align == ALIGN_TOP_LEFT && p.mask.left == 4);
        assert_int_equal(p.mask.right, 0); /* causal sets it */
        problem_free(&p);
    }
}

static void test_variable_lengths_refused(void **state)
{
    (void)state;
    static const struct {
        const char *q;
        int64_t cu_q[4], cu_k[4], sequences;
        const char *want;
    } rows[] = {
        {"1,5,8",
         {0, 2, 5},
         {0, 3, 7},
         0,
         "--cu-seqlens: two numbers or more are right, 0 and the total at least"},
        {"1,5,8", {1, 2, 5}, {0, 3, 7}, 2, "--cu-seqlens of q begins with 1; 0 is right"},
        {"1,5,8", {0, 2, 5}, {-1, 3, 7}, 2, "--cu-seqlens of k begins with -1; 0 is right"},
        {"1,5,8", {0, 6, 5}, {0, 3, 7}, 2, "--cu-seqlens of q: 5 after 6; they must not decrease"},
        {"1,5,8", {0, 2, 4}, {0, 3, 7}, 2, "--cu-seqlens of q ends with 4, but q has 5 rows"},
        {"1,5,8", {0, 2, 5}, {0, 3, 8}, 2, "--cu-seqlens of k ends with 8, but k has 7 rows"},
        {"2,1,5,8",
         {0, 2, 5},
         {0, 3, 7},
         2,
         "--cu-seqlens packs sequences into one batch, but the batch is 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p;
        struct message why = {""};
        struct problem_options options = problem_defaults();
        const char *k = strlen(rows[i].q) > 5 ? "2,1,7,8" : "7,8";
        options.cu_q = rows[i].cu_q;
        options.cu_k = rows[i].cu_k;
        options.sequences = rows[i].sequences;
        check_refused(build(&p, rows[i].q, k, k, &options, &why), &why, rows[i].want);
    }
}

static void test_heads(void **state)
{
    (void)state;
    struct problem p;
    struct message why;
    struct problem_options options = problem_defaults();
    assert_true(build(&p, "2,6,5,8", "2,2,7,8", "2,2,7,8", &options, &why));
    assert_int_equal(problem_units(&p), 12);
    for (int64_t n = 0; n < 12; n++) {
        struct head h = problem_head(&p, n);
        assert_true(h.problem == &p && h.batch == n / 6 && h.sequence == n / 6 && h.head == n % 6);
        assert_true(h.kv_head == (n % 6 < 3 ? 0 : 1));
        assert_true(h.q0 == 0 && h.k0 == 0 && h.Nq == 5 && h.Nk == 7 && h.D == 8);
    }
    problem_free(&p);
}

/* Packed rows: sequences of 2, 0 and 3 queries over 3, 1 and 3 keys; then one list for both. */
static void test_variable_lengths(void **state)
{
    (void)state;
    static const int64_t cu_q[] = {0, 2, 2, 5}, cu_k[] = {0, 3, 4, 7};
    struct problem p;
    struct message why = {""};
    struct problem_options options = problem_defaults();
    options.cu_q = cu_q;
    options.cu_k = cu_k;
    options.sequences = 3;
    options.bnhd = true;
    if (!build(&p, "5,2,8", "7,1,8", "7,1,8", &options, &why))
        fail_msg("%s", why.text);
    assert_int_equal(problem_units(&p), 6);
    for (int64_t n = 0; n < 6; n++) {
        struct head h = problem_head(&p, n);
        int64_t s = n / 2;
        assert_true(h.batch == 0 && h.sequence == s && h.head == n % 2 && h.kv_head == 0);
        assert_true(h.q0 == cu_q[s] && h.k0 == cu_k[s] && h.Nq == cu_q[s + 1] - cu_q[s] &&
                    h.Nk == cu_k[s + 1] - cu_k[s]);
    }
    problem_free(&p);
    options.cu_k = NULL;
    if (!build(&p, "5,2,8", "5,1,8", "5,1,8", &options, &why))
        fail_msg("%s", why.text);
    assert_true(problem_head(&p, 5).k0 == 2 && problem_head(&p, 5).Nk == 3);
    problem_free(&p);
}

/* What each query sees, as drawn by hand: a row per query, x a visible key. */
static void test_visibility(void **state)
{
    (void)state;
    static const struct {
        const char *drawing;
        struct mask mask;
    } rows[] = {
        {"xxx xxx", {false, ALIGN_BOTTOM_RIGHT, -1, -1}},
        {"x... xx.. xxx. xxxx", {true, ALIGN_BOTTOM_RIGHT, -1, -1}},
        {"xxx. xxxx", {true, ALIGN_BOTTOM_RIGHT, -1, -1}},
        {"x... xx..", {true, ALIGN_TOP_LEFT, -1, -1}},
        {".. .. x. xx", {true, ALIGN_BOTTOM_RIGHT, -1, -1}},
        {"x. xx xx xx", {true, ALIGN_TOP_LEFT, -1, -1}},
        {"x... xx.. .xx. ..xx", {true, ALIGN_BOTTOM_RIGHT, 1, -1}},
        {".xx. ..xx", {true, ALIGN_BOTTOM_RIGHT, 1, 3}},
        {"xx.. xxx. .xxx ..xx", {false, ALIGN_BOTTOM_RIGHT, 1, 1}},
        {"..x. ...x", {false, ALIGN_BOTTOM_RIGHT, 0, 0}},
        {"x... .x..", {false, ALIGN_TOP_LEFT, 0, 0}},
        {"xxxx .xxx ..xx ...x", {false, ALIGN_BOTTOM_RIGHT, 0, -1}},
        {"xxx. xxxx xxxx xxxx", {false, ALIGN_BOTTOM_RIGHT, -1, 2}},
        {".. .. x. xx", {false, ALIGN_BOTTOM_RIGHT, 3, 0}},
        {"x. xx .x .. ..", {false, ALIGN_TOP_LEFT, 1, 0}},
        {"xx xx xx xx", {false, ALIGN_BOTTOM_RIGHT, INT64_MAX, INT64_MAX}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t length = (int64_t)strlen(rows[i].drawing);
        const int64_t Nk = (int64_t)strcspn(rows[i].drawing, " "), Nq = (length + 1) / (Nk + 1);
        struct problem p = {.mask = rows[i].mask};
        struct head h = {.problem = &p, .Nq = Nq, .Nk = Nk, .D = 1};
        for (int64_t r = 0; r < Nq; r++)
            for (int64_t c = 0; c < Nk; c++)
                if (sees(&h, r, c) != (rows[i].drawing[r * (Nk + 1) + c] == 'x'))
                    fail_msg("row %zu \"%s\": query %d, key %d", i, rows[i].drawing, (int)r,
                             (int)c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_that_fit),
        cmocka_unit_test(test_shapes_that_do_not_fit),
        cmocka_unit_test(test_layout_is_no_copy),
        cmocka_unit_test(test_options_refused),
        cmocka_unit_test(test_options_taken),
        cmocka_unit_test(test_variable_lengths_refused),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_variable_lengths),
        cmocka_unit_test(test_visibility),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
