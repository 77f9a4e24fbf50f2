/* test_splits.c: the schedule rules against published and independently computed groupings; groups
   that cover every token once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/launch.h"

static int64_t last_tokens(const struct split_plan *p, int64_t length)
{
    return split_tokens(p, length, split_live(p, length) - 1);
}

/* splits, blocks per split, tokens of the last split on 108, 132, 148 and 188 SMs. */
static void test_fa2_table(void **state)
{
    (void)state;
    static const int sms[] = {108, 132, 148, 188};
    static const struct {
        int64_t batch, heads_kv, length, dim;
        int64_t want[4][3];
    } rows[] = {
        {1, 4, 27525, 256, {{48, 9, 453}, {54, 8, 389}, {62, 7, 197}, {87, 5, 5}}},
        {2, 4, 27525, 256, {{23, 19, 773}, {27, 16, 901}, {31, 14, 645}, {40, 11, 69}}},
        {1, 8, 8192, 128, {{22, 3, 128}, {32, 2, 256}, {32, 2, 256}, {32, 2, 256}}},
        {1, 8, 32768, 128, {{24, 11, 384}, {29, 9, 512}, {32, 8, 1024}, {37, 7, 512}}},
        {4, 8, 8192, 128, {{6, 11, 1152}, {7, 10, 512}, {8, 8, 1024}, {10, 7, 128}}},
        {1, 1, 4096, 64, {{16, 1, 256}, {16, 1, 256}, {16, 1, 256}, {16, 1, 256}}},
        {16, 8, 4096, 128, {{3, 11, 1280}, {2, 16, 2048}, {2, 16, 2048}, {5, 7, 512}}},
        {1, 2, 131072, 128, {{94, 11, 128}, {114, 9, 896}, {114, 9, 896}, {114, 9, 896}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int d = 0; d < 4; d++) {
            struct launch l = launch_of(rows[i].batch, 4 * rows[i].heads_kv, rows[i].heads_kv,
                                        rows[i].length, rows[i].dim, sms[d]);
            struct split_plan p = plan_of(SPLIT_RULE_FA2_SPLIT, "", &l);
            const int64_t *want = rows[i].want[d];
            if (p.splits != want[0] || p.blocks_per_split != want[1] ||
                last_tokens(&p, rows[i].length) != want[2])
                fail_msg("row %zu, %d SMs: %d %d %d", i, sms[d], p.splits, (int)p.blocks_per_split,
                         (int)last_tokens(&p, rows[i].length));
        }
}

/* Groups x tokens of one group, decode of 8 KV heads and 32 query heads. */
static void test_groupings(void **state)
{
    (void)state;
    static const struct {
        enum split_rule rule;
        int64_t batch, length, dim;
        int sms;
        int64_t splits, tokens;
    } rows[] = {
        {SPLIT_RULE_FA2_SPLIT, 2, 8192, 128, 170, 16, 512},
        {SPLIT_RULE_FA2_SPLIT, 2, 8192, 128, 188, 22, 384},
        {SPLIT_RULE_FA2_SPLIT, 4, 8192, 128, 170, 10, 896},
        {SPLIT_RULE_FA2_SPLIT, 8, 8192, 128, 132, 4, 2048},
        {SPLIT_RULE_FA2_SPLIT, 8, 8192, 128, 170, 5, 1664},
        {SPLIT_RULE_FA2_SPLIT, 16, 8192, 128, 148, 2, 4096},
        {SPLIT_RULE_FA2_SPLIT, 1, 32768, 128, 188, 37, 896},
        {SPLIT_RULE_XQA, 1, 8192, 128, 132, 16, 512},
        {SPLIT_RULE_XQA, 2, 8192, 128, 132, 8, 1024},
        {SPLIT_RULE_XQA, 16, 8192, 128, 132, 1, 8192},
        {SPLIT_RULE_XQA, 1, 8192, 128, 170, 21, 512},
        {SPLIT_RULE_XQA, 4, 8192, 128, 188, 5, 1792},
        {SPLIT_RULE_SGLANG_DECODE, 16, 8192, 128, 132, 8, 1024},
        {SPLIT_RULE_SGLANG_DECODE, 32, 8192, 128, 132, 4, 2048},
        {SPLIT_RULE_SGLANG_DECODE, 64, 8192, 128, 132, 2, 4096},
        {SPLIT_RULE_SGLANG_DECODE, 128, 8192, 128, 132, 1, 8192},
        {SPLIT_RULE_SGLANG_DECODE, 32, 8192, 128, 148, 5, 1664},
        {SPLIT_RULE_SGLANG_DECODE, 64, 8192, 128, 170, 3, 2752},
        {SPLIT_RULE_SGLANG_DECODE, 32, 8192, 128, 188, 6, 1376},
        {SPLIT_RULE_SGLANG_DECODE, 128, 8192, 128, 188, 2, 4096},
        {SPLIT_RULE_TRITON_DECODE, 1, 256, 128, 0, 16, 16},
        {SPLIT_RULE_TRITON_DECODE, 1, 4096, 128, 0, 16, 256},
        {SPLIT_RULE_TRITON_DECODE, 16, 8192, 128, 0, 16, 512},
        {SPLIT_RULE_TRITON_DECODE, 17, 8192, 128, 0, 1, 8192},
        {SPLIT_RULE_PAGED_V2, 1, 27525, 128, 0, 54, 512},
        {SPLIT_RULE_PAGED_V2, 16, 8192, 128, 0, 16, 512},
        {SPLIT_RULE_PAGED_V2, 17, 8192, 128, 0, 1, 8192},
        {SPLIT_RULE_PAGED_V2, 17, 8193, 128, 0, 17, 512},
        {SPLIT_RULE_PAGED_V2, 1, 512, 128, 0, 1, 512},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct launch l = launch_of(rows[i].batch, 32, 8, rows[i].length, rows[i].dim, rows[i].sms);
        struct split_plan p = plan_of(rows[i].rule, NULL, &l);
        int64_t tokens = split_tokens(&p, rows[i].length, 0);
        if (p.splits != rows[i].splits || tokens != rows[i].tokens)
            fail_msg("row %zu (%s): %d x %d", i, split_rule_info(rows[i].rule)->name, p.splits,
                     (int)tokens);
    }
}

/* One sequence of 27,525 tokens, 16 query and 4 KV heads of 256. */
static void test_one_sequence(void **state)
{
    (void)state;
    static const struct {
        enum split_rule rule;
        const char *version;
        int sms, splits, live, group;
        int64_t tokens; /* of that group */
    } rows[] = {
        {SPLIT_RULE_FA2_SPLIT, "2.5.6", 132, 27, 27, 26, 901},
        {SPLIT_RULE_FA2_SPLIT, "v2.4", 148, 31, 31, 0, 896},
        {SPLIT_RULE_FA2_SPLIT, "2.5.7", 188, 87, 87, 86, 5},
        {SPLIT_RULE_FA2_SPLIT, "2.0", 188, 40, 40, 0, 704},
        {SPLIT_RULE_TRITON_DECODE, "", 132, 16, 16, 15, 1605},
        {SPLIT_RULE_TRITON_DECODE, "", 188, 16, 16, 14, 1728},
        {SPLIT_RULE_SGLANG_DECODE, "", 132, 8, 8, 7, 27525 - 7 * 3456},
        {SPLIT_RULE_XQA, "", 132, 33, 33, 8, 3 * 256 + 133},
        {SPLIT_RULE_XQA, "", 132, 33, 33, 7, 4 * 256},
        {SPLIT_RULE_XQA, "", 132, 33, 33, 9, 3 * 256},
        {SPLIT_RULE_XQA, "", 188, 47, 47, 13, 2 * 256 + 133},
        {SPLIT_RULE_XQA, "", 188, 47, 47, 14, 2 * 256},
        {SPLIT_RULE_TRTLLM_REDUCER, "", 148, 37, 36, 0, 768},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct launch l = launch_of(1, 16, 4, 27525, 256, rows[i].sms);
        struct split_plan p = plan_of(rows[i].rule, rows[i].version, &l);
        int64_t tokens = split_tokens(&p, 27525, rows[i].group);
        if (p.splits != rows[i].splits || tokens != rows[i].tokens ||
            split_live(&p, 27525) != rows[i].live)
            fail_msg("row %zu (%s): %d, %d, %d", i, split_rule_info(rows[i].rule)->name, p.splits,
                     split_live(&p, 27525), (int)tokens);
    }
    struct launch l = launch_of(1, 16, 4, 257, 256, 132);
    struct split_plan p = plan_of(SPLIT_RULE_TRITON_DECODE, "", &l);
    assert_int_equal(split_live(&p, 257), 9);
    assert_int_equal(split_tokens(&p, 257, 0), 32);
    assert_int_equal(split_owner(&p, 257, 256), 8);
}

/* One launch of TensorRT-LLM's, 8 KV heads, 8,192 tokens, 148 SMs, by the KV step. */
static void test_trtllm(void **state)
{
    (void)state;
    static const int64_t want[][2] = {{1, 16}, {2, 9}, {4, 4}, {8, 2}, {16, 1}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct launch l = launch_of(want[i][0], 32, 8, 8192, 128, 148);
        struct message why;
        assert_true(split_option_set(&l, SPLIT_RULE_TRTLLM_REDUCER, "kv-step=256", &why));
        struct split_plan p = plan_of(SPLIT_RULE_TRTLLM_REDUCER, NULL, &l);
        assert_int_equal(p.splits, want[i][1]);
        assert_true(p.bound);
    }
}

/* Every token in exactly one group, whatever the rule and the sequence's own length. */
static void check_cover(const struct split_plan *p, int64_t length)
{
    int64_t covered = 0;
    int count = split_count(p, length), live = 0;
    struct token_range range;
    for (int i = 0; i < count; i++) {
        int64_t before = -1, tokens = 0;
        for (int64_t n = 0; split_range(p, length, i, n, &range); n++) {
            if (range.first <= before || range.last > length ||
                split_owner(p, length, range.first) != i ||
                split_owner(p, length, range.last - 1) != i)
                fail_msg("%s, length %d, group %d, range %d", split_rule_info(p->rule)->name,
                         (int)length, i, (int)n);
            before = range.last - 1;
            tokens += range.last - range.first;
        }
        assert_int_equal(tokens, split_tokens(p, length, i));
        live += tokens > 0;
        covered += tokens;
    }
    if (covered != length || live != split_live(p, length))
        fail_msg("%s, length %d: %d tokens, %d live", split_rule_info(p->rule)->name, (int)length,
                 (int)covered, live);
}

static void test_cover(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 63, 64, 65, 257, 511, 512, 513, 4096, 8191, 27525};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
    for (int rule = 0; rule < SPLIT_RULE_COUNT; rule++)
        for (int i = 0; i < LENGTHS; i++)
            for (int64_t batch = 1; batch <= 40; batch += 13) {
                struct launch l = launch_of(batch, 16, 4, lengths[i], 128, 132);
                struct message why;
                l.num_splits = rule == SPLIT_RULE_DECODE ? (int)batch : 0;
                for (int round = 0; round < 2; round++) {
                    struct split_plan p = plan_of((enum split_rule)rule, NULL, &l);
                    for (int j = 0; j <= i; j++)
                        check_cover(&p, lengths[j]);
                    if (rule == SPLIT_RULE_DECODE || rule == SPLIT_RULE_TRTLLM_REDUCER)
                        assert_true(split_option_set(&l, (enum split_rule)rule,
                                                     "grouping=round-robin", &why));
                }
            }
}

static void test_alike(void **state)
{
    (void)state;
    struct launch a = launch_of(1, 16, 4, 27525, 256, 132), b = a, c = a;
    b.sms = 148;
    struct split_plan h200 = plan_of(SPLIT_RULE_FA2_SPLIT, NULL, &a),
                      b200 = plan_of(SPLIT_RULE_FA2_SPLIT, NULL, &b);
    assert_true(split_alike(&h200, &h200, 27525));
    assert_false(split_alike(&h200, &b200, 27525));
    assert_true(split_alike(&h200, &b200, 448));
    assert_false(split_alike(&h200, &b200, 449));
    c.num_splits = 54;
    struct split_plan decode = plan_of(SPLIT_RULE_DECODE, NULL, &c);
    assert_true(split_alike(&h200, &decode, 27525));
    assert_true(split_alike(&h200, &b200, 0));
}

/* The cache's capacity decides FA2's and XQA's groups, the sequence's length how many are live. */
static void test_capacity(void **state)
{
    (void)state;
    struct launch l = launch_of(1, 16, 4, 1000, 256, 132);
    l.capacity = 27525;
    struct split_plan p = plan_of(SPLIT_RULE_FA2_SPLIT, NULL, &l);
    assert_int_equal(p.splits, 54);
    assert_int_equal(split_live(&p, 1000), 2);
    assert_int_equal(split_tokens(&p, 1000, 1), 488);
    p = plan_of(SPLIT_RULE_XQA, NULL, &l);
    assert_int_equal(p.splits, 33);
    assert_int_equal(split_live(&p, 1000), 4);
    p = plan_of(SPLIT_RULE_TRITON_DECODE, NULL, &l);
    assert_int_equal(split_live(&p, 1000), 16);
    l.longest = 27525;
    p = plan_of(SPLIT_RULE_TRITON_DECODE, NULL, &l);
    assert_int_equal(split_tokens(&p, 4096, 15), 256);
    l.longest = l.capacity = 257;
    p = plan_of(SPLIT_RULE_XQA, NULL, &l);
    assert_int_equal(p.splits, 2);
}

/* SGLang: 128 sequences leave the GPU nothing to ask for, so the batch's lengths decide, up to 8
   splits; lengths within a quarter count as equal. */
static void test_uneven_batches(void **state)
{
    (void)state;
    static const struct {
        int64_t longest, shortest;
        int longest_splits, shortest_splits;
    } rows[] = {{8192, 8192, 1, 1}, {8192, 6554, 1, 1}, {8192, 6553, 2, 2}, {8192, 4096, 2, 1},
                {8192, 1024, 8, 1}, {8192, 100, 8, 1},  {8192, 2049, 4, 2}, {8000, 2000, 4, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct launch l = launch_of(128, 32, 8, rows[i].longest, 128, 132);
        l.shortest = rows[i].shortest;
        struct split_plan p = plan_of(SPLIT_RULE_SGLANG_DECODE, NULL, &l);
        if (split_count(&p, l.longest) != rows[i].longest_splits ||
            split_count(&p, l.shortest) != rows[i].shortest_splits || p.undecided)
            fail_msg("row %zu: %d and %d", i, split_count(&p, l.longest),
                     split_count(&p, l.shortest));
    }
}

/* 132 SMs x log2(8,192 / 64) = 924 programs, if the GPU's log2 is exact; 923 are wanted. */
static void test_undecided(void **state)
{
    (void)state;
    struct launch l = launch_of(71, 13, 13, 8192, 128, 132);
    struct split_plan p = plan_of(SPLIT_RULE_SGLANG_DECODE, NULL, &l);
    assert_true(p.undecided);
    l.batch = 70;
    p = plan_of(SPLIT_RULE_SGLANG_DECODE, NULL, &l);
    assert_false(p.undecided);
    l.shortest = 0;
    p = plan_of(SPLIT_RULE_SGLANG_DECODE, NULL, &l);
    assert_true(p.undecided);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fa2_table),    cmocka_unit_test(test_groupings),
        cmocka_unit_test(test_one_sequence), cmocka_unit_test(test_trtllm),
        cmocka_unit_test(test_cover),        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_capacity),     cmocka_unit_test(test_uneven_batches),
        cmocka_unit_test(test_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
