/* test_policy.c: names, policies as columns, the user's changes, orders and their trees.

   Every refusal is compared whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/policy.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_names(void **state)
{
    (void)state;
    struct message why;
    for (int s = 0; s < SITE_COUNT; s++) {
        enum site found;
        assert_true(site_from_name(site_name((enum site)s), &found, &why));
        assert_int_equal(found, s);
        assert_true(strlen(site_meaning((enum site)s)) > 0);
    }
    for (int p = 0; p < POLICY_COUNT; p++) {
        struct policy policy;
        assert_true(policy_from_name(policy_name((enum policy_id)p), &policy, &why));
        assert_string_equal(policy.name, policy_name((enum policy_id)p));
        assert_true(strlen(policy_meaning((enum policy_id)p)) > 0);
    }
}

static void test_columns(void **state)
{
    (void)state;
    static const struct {
        enum policy_id policy;
        enum site site;
        enum format format;
        int scale_log2;
    } rows[] = {
        {POLICY_FP32, SITE_PROB, FORMAT_FP32, 0},
        {POLICY_FP32, SITE_PV_PRODUCT, FORMAT_EXACT, 0},
        {POLICY_GPU_BF16, SITE_PROB, FORMAT_BF16, 0},
        {POLICY_GPU_BF16, SITE_OUT_ACC, FORMAT_FP32, 0},
        {POLICY_GPU_FP16, SITE_OUT, FORMAT_FP16, 0},
        {POLICY_ALL_BF16, SITE_PV_PRODUCT, FORMAT_BF16, 0},
        {POLICY_FP8, SITE_PROB, FORMAT_E4M3, 8},
        {POLICY_FP8, SITE_DS, FORMAT_E5M2, 0},
        {POLICY_FP8, SITE_PROB_RESCALE, FORMAT_E4M3, 8},
        {POLICY_EXACT, SITE_OUT, FORMAT_EXACT, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct policy p = policy_table(rows[i].policy);
        assert_int_equal(p.site[rows[i].site].format, rows[i].format);
        assert_int_equal(p.site[rows[i].site].scale_log2, rows[i].scale_log2);
        assert_int_equal(p.site[rows[i].site].order.kind, ORDER_SEQ);
        assert_int_equal(p.special.how, SPECIAL_CR);
        assert_int_equal(p.saturate, rows[i].policy == POLICY_FP8);
        assert_false(p.max_ignores_nan);
    }
}

static void test_all_exact(void **state)
{
    (void)state;
    struct message why;
    struct policy p = policy_table(POLICY_FP8);
    assert_true(policy_order(&p, "ROW_SUM=pairwise", &why));
    assert_true(policy_special(&p, "poly", &why));
    struct policy e = policy_all_exact(&p);
    for (int s = 0; s < SITE_COUNT; s++)
        assert_int_equal(e.site[s].format, FORMAT_EXACT);
    assert_int_equal(e.site[SITE_ROW_SUM].order.kind, ORDER_PAIRWISE);
    assert_int_equal(e.special.how, SPECIAL_POLY);
}

enum change { SET, ORDER_AT, USE };

static bool apply(enum change change, struct policy *p, const char *text, struct message *why)
{
    switch (change) {
    case SET: return policy_set(p, text, why);
    case ORDER_AT: return policy_order(p, text, why);
    default: return policy_special(p, text, why);
    }
}

static void test_changes(void **state)
{
    (void)state;
    static const struct {
        enum change change;
        const char *text, *name; /* of gpu-bf16, afterwards */
    } rows[] = {
        {SET, "PROB=bf16", "gpu-bf16"},
        {SET, "PROB=e4m3", "gpu-bf16+"},
        {SET, "PV_PRODUCT=exact", "gpu-bf16"},
        {ORDER_AT, "ROW_SUM=seq", "gpu-bf16"},
        {ORDER_AT, "ROW_SUM=pairwise", "gpu-bf16+"},
        {ORDER_AT, "ROW_SUM=tree:((0 1) 2)", "gpu-bf16+"},
        {USE, "cr", "gpu-bf16"},
        {USE, "poly", "gpu-bf16+"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why = {""};
        struct policy p = policy_table(POLICY_GPU_BF16);
        assert_true(apply(rows[i].change, &p, rows[i].text, &why));
        assert_string_equal(p.name, rows[i].name);
        assert_true(apply(rows[i].change, &p, rows[i].text, &why));
        assert_string_equal(p.name, rows[i].name);
    }
    struct message why;
    struct policy p = policy_table(POLICY_GPU_BF16);
    assert_true(policy_set(&p, "PROB=e4m3", &why) && policy_order(&p, "OUT_ACC=pairwise", &why));
    assert_string_equal(p.name, "gpu-bf16+");
    assert_int_equal(p.site[SITE_PROB].format, FORMAT_E4M3);
    assert_int_equal(p.site[SITE_PROB].scale_log2, 0);
    assert_int_equal(p.site[SITE_OUT_ACC].order.kind, ORDER_PAIRWISE);
    assert_int_equal(p.site[SITE_ROW_SUM].order.kind, ORDER_SEQ);
    p = policy_table(POLICY_FP8);
    assert_true(policy_set(&p, "PROB=e5m2", &why));
    assert_int_equal(p.site[SITE_PROB].scale_log2, 8);
    assert_true(policy_set(&p, "PROB=fp32", &why));
    assert_int_equal(p.site[SITE_PROB].scale_log2, 0);
}

#define ALL_SITES                                                                                  \
    "INPUT, CONST, SCORE_ACC, SCORE, SCORE_STORE, SOFTCAP, EXP_BIAS, EXP_ARG, EXP, PROB, "         \
    "PROB_RESCALE, ROW_SUM, RESCALE_ARG, RESCALE, RESCALE_OUT, PV_PRODUCT, OUT_ACC, PV_STORE, "    \
    "NORMALIZE, LSE, PARTIAL_OUT, PARTIAL_STAT, COMBINE_ARG, COMBINE_WEIGHT, COMBINE_SUM, "        \
    "COMBINE_ACC, OUT, "                                                                           \
    "DELTA, DP_ACC, DP_SHIFT, DS_PRODUCT, DS, DS_SUM, DQ_ACC, DQ_SUM, DK_ACC, DV_ACC, "            \
    "GRADIENT_SCALE, HEAD_GRADIENT, GROUP_SUM, GRADIENT"

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        enum change change;
        const char *text, *message;
    } rows[] = {
        {SET, "PROB", "--set takes SITE=FORMAT (PROB=bf16), got \"PROB\""},
        {SET, "=bf16", "--set takes SITE=FORMAT (PROB=bf16), got \"=bf16\""},
        {SET, "PROB=", "--set takes SITE=FORMAT (PROB=bf16), got \"PROB=\""},
        {SET, "PROP=bf16", "--set: no site is called \"PROP\"; did you mean PROB?"},
        {SET, "prob=bf16", "--set: no site is called \"prob\"; did you mean PROB?"},
        {SET, "zzzzzz=bf16", "--set: no site is called \"zzzzzz\"; there are " ALL_SITES},
        {ORDER_AT, "ROW_SUM", "--order takes SITE=ORDER (ROW_SUM=pairwise), got \"ROW_SUM\""},
        {ORDER_AT, "ROWSUM=seq", "--order: no site is called \"ROWSUM\"; did you mean ROW_SUM?"},
        {ORDER_AT, "PROB=pairwise",
         "--order PROB: no sum is taken there; sums are taken at SCORE_ACC ROW_SUM OUT_ACC "
         "COMBINE_SUM COMBINE_ACC DELTA DP_ACC DQ_ACC DK_ACC DV_ACC"},
        {ORDER_AT, "ROW_SUM=parwise",
         "--order ROW_SUM: no order is called \"parwise\"; did you mean pairwise?"},
        {USE, "crr", "no special function set is called \"crr\"; did you mean cr?"},
        {USE, "libm", "no special function set is called \"libm\"; there are cr, poly, ex2, fa4, table"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why = {""};
        struct policy p = policy_table(POLICY_FP32), before = p;
        assert_false(apply(rows[i].change, &p, rows[i].text, &why));
        assert_string_equal(why.text, rows[i].message);
        assert_memory_equal(&p, &before, sizeof p);
    }
}

/* An unknown format: the table's own sentence, and where it was said. */
static void test_unknown_format(void **state)
{
    (void)state;
    enum format f;
    struct message why, inner;
    struct policy p = policy_table(POLICY_FP32);
    char want[800];
    assert_false(format_from_name("bf61", &f, &inner));
    assert_non_null(strstr(inner.text, "bf16"));
    snprintf(want, sizeof want, "--set PROB: %s", inner.text);
    assert_false(policy_set(&p, "PROB=bf61", &why));
    assert_string_equal(why.text, want);
    assert_string_equal(p.name, "fp32");
}

static void test_unknown_policy(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } rows[] = {
        {"gpu-bf61", "no policy is called \"gpu-bf61\"; did you mean gpu-bf16?"},
        {"FP32", "no policy is called \"FP32\"; did you mean fp32?"},
        {"quick",
         "no policy is called \"quick\"; there are fp32, gpu-bf16, gpu-fp16, all-bf16, fp8, exact"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why;
        struct policy p;
        assert_false(policy_from_name(rows[i].name, &p, &why));
        assert_string_equal(why.text, rows[i].message);
    }
}

/* The tree as text with every sum in its own parentheses. */
static void spell(const struct order_tree *t, char *out, size_t room)
{
    char (*stack)[256] = malloc((size_t)t->depth * sizeof *stack);
    int top = 0;
    for (int i = 0; i < t->length; i++) {
        if (t->program[i] != ORDER_ADD) {
            assert_true(top < t->depth);
            snprintf(stack[top++], sizeof *stack, "%d", t->program[i]);
            continue;
        }
        assert_true(top >= 2);
        char sum[520];
        snprintf(sum, sizeof sum, "(%s+%s)", stack[top - 2], stack[top - 1]);
        snprintf(stack[--top - 1], sizeof *stack, "%.255s", sum);
    }
    assert_int_equal(top, 1);
    snprintf(out, room, "%s", stack[0]);
    free(stack);
}

static void test_trees(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int terms, depth;
        const char *spelled;
    } rows[] = {
        {"tree:((0 1) (2 3))", 4, 3, "((0+1)+(2+3))"},
        {"tree:(3 1 2 0)", 4, 2, "(((3+1)+2)+0)"},
        {"tree:(0)", 1, 1, "0"},
        {"tree:(((0)))", 1, 1, "0"},
        {"tree:(0 (1 (2 3)))", 4, 4, "(0+(1+(2+3)))"},
        {"tree:((2 0)1)", 3, 2, "((2+0)+1)"},
        {"tree:(\t( 0\n1 )(2 3 4)\r\n) ", 5, 3, "((0+1)+((2+3)+4))"},
        {"tree:(00 01)", 2, 2, "(0+1)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why = {""};
        struct order o;
        char spelled[256];
        assert_true(order_parse(rows[i].text, &o, &why) || (printf("# %s\n", why.text), 0));
        assert_int_equal(o.kind, ORDER_TREE);
        assert_int_equal(o.tree->terms, rows[i].terms);
        assert_int_equal(o.tree->length, 2 * rows[i].terms - 1);
        assert_int_equal(o.tree->depth, rows[i].depth);
        spell(o.tree, spelled, sizeof spelled);
        assert_string_equal(spelled, rows[i].spelled);
        assert_string_equal(order_text(&o), rows[i].text);
    }
}

static void test_pairwise(void **state)
{
    (void)state;
    static const char *const spelled[] = {
        NULL, "0", "(0+1)", "((0+1)+2)", "((0+1)+(2+3))", "(((0+1)+2)+(3+4))",
        "(((0+1)+2)+((3+4)+5))", "(((0+1)+(2+3))+((4+5)+6))",
    };
    for (int n = 1; n < (int)COUNT(spelled); n++) {
        char out[256];
        const struct order_tree *t = order_pairwise(n);
        assert_int_equal(t->terms, n);
        spell(t, out, sizeof out);
        assert_string_equal(out, spelled[n]);
        assert_ptr_equal(t, order_pairwise(n));
    }
    assert_int_equal(order_pairwise(1024)->depth, 11);
}

#define LOOKS "; a tree looks like ((0 1) (2 3))"

static void test_order_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"sqe", "no order is called \"sqe\"; there are seq, pairwise, tree:FILE, "
         "lanes:OWNERS:OFFSETS and mma@UNIT"},
        {"", "no order is called \"\"; there are seq, pairwise, tree:FILE, "
         "lanes:OWNERS:OFFSETS and mma@UNIT"},
        {"pairwize", "no order is called \"pairwize\"; did you mean pairwise?"},
        {"seq:4", "order seq takes nothing after its name, got \"seq:4\""},
        {"tree", "order tree needs a file or a tree: tree:FILE or \"tree:((0 1) (2 3))\""},
        {"tree:", "order tree needs a file or a tree: tree:FILE or \"tree:((0 1) (2 3))\""},
        {"tree:()", "(): empty parentheses at character 2" LOOKS},
        {"tree:(0 1", "(0 1: a closing parenthesis is missing at character 5" LOOKS},
        {"tree:(0 1) 2", "(0 1) 2: something follows the tree at character 7" LOOKS},
        {"tree:(0 -1)", "(0 -1): neither a term number nor a parenthesis at character 4" LOOKS},
        {"tree:(0 1 1)", "(0 1 1): term 1 appears twice; each of 0 to 2 must appear once"},
        {"tree:(0 2)", "(0 2): term 1 is missing; each of 0 to 1 must appear once"},
        {"tree:(1 2)", "(1 2): term 0 is missing; each of 0 to 1 must appear once"},
        {"tree:(0 99999999999999999999)",
         "(0 99999999999999999999): a tree has at most 65536 terms, numbered from 0"},
        {"tree:no-such-file", "no-such-file: no such file"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why = {""};
        struct order o;
        assert_false(order_parse(rows[i].text, &o, &why));
        assert_string_equal(why.text, rows[i].message);
    }
}

static void test_deep_nesting(void **state)
{
    (void)state;
    static char text[70000] = "tree:";
    struct message why;
    struct order o;
    memset(text + 5, '(', 60000);
    assert_false(order_parse(text, &o, &why));
    assert_non_null(strstr(why.text, "parentheses are nested more than 1024 deep; a chain needs no "
                                     "parentheses of its own: (0 1 2 3)"));
}

static void write_text(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state)
{
    (void)state;
    char path[] = "/tmp/flashulp-tree-XXXXXX", text[64], want[160];
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    struct message why = {""};
    struct order o;
    snprintf(text, sizeof text, "tree:%s", path);

    write_text(path, "((0 2)\n 1)\n", 11);
    assert_true(order_parse(text, &o, &why));
    spell(o.tree, want, sizeof want);
    assert_string_equal(want, "((0+2)+1)");
    assert_string_equal(order_text(&o), text);

    write_text(path, "0 1", 3);
    assert_false(order_parse(text, &o, &why));
    snprintf(want, sizeof want, "%s: no opening parenthesis at character 1" LOOKS, path);
    assert_string_equal(why.text, want);

    write_text(path, "(0 1)\0", 6);
    assert_false(order_parse(text, &o, &why));
    snprintf(want, sizeof want, "%s: not a text" LOOKS, path);
    assert_string_equal(why.text, want);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),          cmocka_unit_test(test_columns),
        cmocka_unit_test(test_all_exact),      cmocka_unit_test(test_changes),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_unknown_format),
        cmocka_unit_test(test_unknown_policy), cmocka_unit_test(test_trees),
        cmocka_unit_test(test_pairwise),       cmocka_unit_test(test_order_refusals),
        cmocka_unit_test(test_deep_nesting),   cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
