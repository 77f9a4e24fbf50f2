/* test_order.c: orders as text: lanes and mma read and written back, refusals in whole sentences,
   and what a policy refuses about a tensor core's factors.  Trees: test_policy.c; sums:
   test_order_lanes.c, test_mma.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/mma.h"
#include "simulator/policy.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_lanes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int lanes, period, owner[8], offsets, offset[5];
        bool fused, table;
    } rows[] = {
        {"lanes:quad:2,1", 4, 8, {0, 0, 1, 1, 2, 2, 3, 3}, 2, {2, 1}, false, false},
        {"lanes:quad:fused:1,3", 4, 8, {0, 0, 1, 1, 2, 2, 3, 3}, 2, {1, 3}, true, false},
        {"lanes:mod4:2,1", 4, 4, {0, 1, 2, 3}, 2, {2, 1}, false, false},
        {"lanes:mod32:16,8,4,2,1", 32, 32, {0, 1, 2, 3, 4, 5, 6, 7}, 5, {16, 8, 4, 2, 1}, false,
         false},
        {"lanes:(0 1 1 0 0):fused:1", 2, 5, {0, 1, 1, 0, 0}, 1, {1}, true, true},
        {"lanes:( 3  0 ):1,2", 4, 2, {3, 0}, 2, {1, 2}, false, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why;
        struct order o, again;
        assert_true(order_parse(rows[i].text, &o, &why));
        assert_int_equal(o.kind, ORDER_LANES);
        assert_int_equal(o.lanes->lanes, rows[i].lanes);
        assert_int_equal(order_columns(&o), rows[i].lanes);
        assert_int_equal(o.lanes->period, rows[i].period);
        for (int c = 0; c < rows[i].period && c < 8; c++)
            assert_int_equal(o.lanes->owner[c], rows[i].owner[c]);
        assert_int_equal(o.lanes->offsets, rows[i].offsets);
        assert_memory_equal(o.lanes->offset, rows[i].offset, sizeof(int) * (size_t)rows[i].offsets);
        assert_int_equal(o.lanes->fused, rows[i].fused);
        assert_int_equal(o.lanes->table, rows[i].table);
        assert_string_equal(order_text(&o), rows[i].text);
        assert_true(order_parse(order_text(&o), &again, &why));
        assert_ptr_equal(o.lanes, again.lanes);
    }
}

#define LANES "; lanes:quad:2,1, lanes:mod32:16,8,4,2,1 or \"lanes:(0 0 1 1):1\" is right"
#define TABLE ": a table of owners is lane numbers from 0 to 1023 in parentheses: (0 0 1 1)"
#define OFFSETS(n, k, half)                                                                        \
    ": a butterfly over " n " lanes takes " k " offsets below " n " that bring each lane's sum "   \
    "to lane 0 once: " half ", and half of each before"
#define POWER " lanes; their number must be a power of two from 2 to 1024"

static const struct refusal {
    const char *text, *message;
} refusals[] = {
    {"lanes", "order lanes needs owners and the offsets of a butterfly: lanes:quad:2,1, "
              "lanes:mod32:16,8,4,2,1 or \"lanes:(0 0 1 1):1\" is right"},
    {"lanes:qaud:2,1",
     "order \"lanes:qaud:2,1\": the owners are quad, modN or a table of lanes" LANES},
    {"lanes:quad",
     "order \"lanes:quad\": a colon and the butterfly's offsets must follow the owners" LANES},
    {"lanes:quad2:1",
     "order \"lanes:quad2:1\": a colon and the butterfly's offsets must follow the owners" LANES},
    {"lanes:mod:1", "order \"lanes:mod:1\": mod takes a number of lanes from 2 to 1024: mod32"},
    {"lanes:mod2048:1",
     "order \"lanes:mod2048:1\": mod takes a number of lanes from 2 to 1024: mod32"},
    {"lanes:mod99999999999:1",
     "order \"lanes:mod99999999999:1\": mod takes a number of lanes from 2 to 1024: mod32"},
    {"lanes:mod1:1", "order \"lanes:mod1:1\": 1" POWER},
    {"lanes:mod0:1", "order \"lanes:mod0:1\": 0" POWER},
    {"lanes:mod3:1", "order \"lanes:mod3:1\": 3" POWER},
    {"lanes:(0 2):1", "order \"lanes:(0 2):1\": 3" POWER},
    {"lanes:():1", "order \"lanes:():1\": the table of owners is empty" LANES},
    {"lanes:(0 1024):1", "order \"lanes:(0 1024):1\"" TABLE},
    {"lanes:(0 -1):1", "order \"lanes:(0 -1):1\"" TABLE},
    {"lanes:(0 1", "order \"lanes:(0 1\"" TABLE},
    {"lanes:(0,1):1", "order \"lanes:(0,1):1\"" TABLE},
    {"lanes:quad:", "order \"lanes:quad:\": the butterfly's offsets are numbers with commas "
                    "between them" LANES},
    {"lanes:quad:2 1", "order \"lanes:quad:2 1\": the butterfly's offsets are numbers with commas "
                       "between them" LANES},
    {"lanes:quad:2,", "order \"lanes:quad:2,\": the butterfly's offsets are numbers with commas "
                      "between them" LANES},
    {"lanes:quad:2", "order \"lanes:quad:2\"" OFFSETS("4", "2", "2")},
    {"lanes:quad:2,2", "order \"lanes:quad:2,2\"" OFFSETS("4", "2", "2")},
    {"lanes:quad:2,0", "order \"lanes:quad:2,0\"" OFFSETS("4", "2", "2")},
    {"lanes:quad:4,1", "order \"lanes:quad:4,1\"" OFFSETS("4", "2", "2")},
    {"lanes:quad:2,1,3", "order \"lanes:quad:2,1,3\"" OFFSETS("4", "2", "2")},
    {"lanes:mod8:3,5,6", "order \"lanes:mod8:3,5,6\"" OFFSETS("8", "3", "4")},
    {"mma", "order mma needs a unit: mma@sm90, mma@sm80/tf32 (flashulp list units)"},
    {"mma:sm90", "order mma needs a unit: mma@sm90, mma@sm80/tf32 (flashulp list units)"},
    {"mma@", "order mma: no unit is called \"\"; there are sm70, sm75, sm80, sm86, sm89, sm90, "
             "sm100, sm120"},
    {"mma@sm91", "order mma: no unit is called \"sm91\"; did you mean sm90?"},
    {"mma@SM90", "order mma: no unit is called \"SM90\"; did you mean sm90?"},
    {"mma@sm90/", "order mma: no operand type is called \"\"; there are 16bit, tf32, fp8"},
    {"mma@sm90/bf16", "order mma: no operand type is called \"bf16\"; there are 16bit, tf32, fp8"},
    {"mma@sm70/tf32",
     "order mma@sm70/tf32: Volta has no tf32; flashulp list units says what there is"},
    {"mma@sm80/fp8",
     "order mma@sm80/fp8: Ampere has no fp8; flashulp list units says what there is"},
    {"mma@sm120/fp8", "order mma@sm120/fp8: how sm120 adds fp8 products is not established; "
                      "flashulp list units says what there is"},
    {"mma@sm90,zero=counted", "order mma: no switch is called \"zero\"; did you mean zeros?"},
    {"mma@sm90,zeros", "order mma: zeros=: excluded, counted is right"},
    {"mma@sm90,zeros=no", "order mma: zeros=no: excluded, counted is right"},
    {"mma@sm90,e-zero=126", "order mma: e-zero=126: -160 to -14 is right"},
    {"mma@sm90,e-zero=-161", "order mma: e-zero=-161: -160 to -14 is right"},
    {"mma@sm90/16bit,minus-zero=plus", "order mma: minus-zero=plus: kept, lost is right"},
    {"mma@sm90,zeros=counted,", "order mma: no switch is called \"\"; there are zeros, e-zero, "
                                "minus-zero"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct message why = {""};
        struct order o;
        if (order_parse(refusals[i].text, &o, &why))
            fail_msg("%s is taken", refusals[i].text);
        assert_string_equal(why.text, refusals[i].message);
    }
}

static void test_mma(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum mma_unit unit;
        enum mma_type type;
        int L, F, fraction;
        bool count_zeros, lose_minus_zero;
        int e_zero;
    } rows[] = {
        {"mma@sm70", MMA_SM70, MMA_TYPE_16BIT, 4, 23, 23, false, false, 0},
        {"mma@sm75/16bit", MMA_SM75, MMA_TYPE_16BIT, 8, 24, 23, false, false, 0},
        {"mma@sm80", MMA_SM80, MMA_TYPE_16BIT, 8, 24, 23, false, false, 0},
        {"mma@sm86/tf32", MMA_SM86, MMA_TYPE_TF32, 4, 24, 23, false, false, 0},
        {"mma@sm89/fp8", MMA_SM89, MMA_TYPE_FP8, 16, 13, 13, false, false, 0},
        {"mma@sm90", MMA_SM90, MMA_TYPE_16BIT, 16, 25, 23, false, false, 0},
        {"mma@sm100/fp8", MMA_SM100, MMA_TYPE_FP8, 32, 25, 23, false, false, 0},
        {"mma@sm120/tf32", MMA_SM120, MMA_TYPE_TF32, 8, 25, 23, false, false, 0},
        {"mma@sm90,zeros=counted", MMA_SM90, MMA_TYPE_16BIT, 16, 25, 23, true, false, 0},
        {"mma@sm90/16bit,minus-zero=lost,e-zero=-126,zeros=excluded", MMA_SM90, MMA_TYPE_16BIT, 16,
         25, 23, false, true, -126},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message why;
        struct order o, again;
        if (!order_parse(rows[i].text, &o, &why))
            fail_msg("%s", why.text);
        const struct mma *m = o.mma;
        assert_int_equal(o.kind, ORDER_MMA);
        assert_int_equal(order_columns(&o), 1);
        assert_int_equal(m->info->unit, rows[i].unit);
        assert_int_equal(m->info->type, rows[i].type);
        assert_int_equal(m->info->L, rows[i].L);
        assert_int_equal(m->info->F, rows[i].F);
        assert_int_equal(m->info->fraction, rows[i].fraction);
        assert_int_equal(m->count_zeros, rows[i].count_zeros);
        assert_int_equal(m->lose_minus_zero, rows[i].lose_minus_zero);
        assert_int_equal(m->e_zero, rows[i].e_zero);
        assert_string_equal(order_text(&o), rows[i].text);
        assert_true(order_parse(order_text(&o), &again, &why));
        assert_ptr_equal(m, again.mma);
    }
}

/* Each unit has a row or a reason for every type; e_zero of 16-bit and tf32 rows is -108 - F, of
   fp16 accumulators 3 - F. */
static void test_table(void **state)
{
    (void)state;
    for (int u = 0; u < MMA_UNITS; u++)
        for (int t = 0; t < MMA_TYPES; t++) {
            const char *reason = NULL;
            const struct mma_info *info = mma_info((enum mma_unit)u, (enum mma_type)t, &reason);
            assert_true((info == NULL) == (reason != NULL));
            if (info == NULL || t == MMA_TYPE_FP8)
                continue;
            assert_int_equal(info->e_zero, -108 - info->F);
            assert_int_equal(info->e_zero_fp16, t == MMA_TYPE_16BIT ? 3 - info->F : 0);
        }
}

/* What a policy with these changes says: NULL: nothing. */
static const struct policy_row {
    enum policy_id policy;
    const char *set[3], *order;
    enum site summed;
    const char *message;
} policies[] = {
    {POLICY_GPU_BF16, {NULL}, "SCORE_ACC=mma@sm90", SITE_EXP, NULL},
    {POLICY_GPU_BF16, {NULL}, "OUT_ACC=mma@sm80", SITE_EXP, NULL},
    {POLICY_GPU_FP16, {NULL}, "OUT_ACC=mma@sm70", SITE_EXP, NULL},
    {POLICY_GPU_FP16, {"SCORE_ACC=fp16"}, "SCORE_ACC=mma@sm75", SITE_EXP, NULL},
    {POLICY_FP32, {NULL}, "SCORE_ACC=mma@sm90/tf32", SITE_EXP, NULL},
    {POLICY_FP8, {NULL}, "OUT_ACC=mma@sm90/fp8", SITE_EXP, NULL},
    {POLICY_EXACT, {NULL}, "SCORE_ACC=mma@sm90", SITE_EXP, NULL},
    {POLICY_GPU_BF16, {NULL}, "ROW_SUM=mma@sm90", SITE_PROB, NULL},
    {POLICY_GPU_BF16, {NULL}, "DQ_ACC=mma@sm90", SITE_EXP, NULL},
    {POLICY_FP32, {NULL}, "SCORE_ACC=mma@sm90", SITE_EXP,
     "--order SCORE_ACC=mma@sm90 multiplies bf16 or fp16, and INPUT is fp32: --set INPUT=bf16"},
    {POLICY_GPU_BF16, {NULL}, "SCORE_ACC=mma@sm70", SITE_EXP,
     "--order SCORE_ACC=mma@sm70 multiplies fp16, and INPUT is bf16: --set INPUT=fp16"},
    {POLICY_GPU_BF16, {NULL}, "SCORE_ACC=mma@sm75", SITE_EXP,
     "--order SCORE_ACC=mma@sm75 multiplies fp16, and INPUT is bf16: --set INPUT=fp16"},
    {POLICY_GPU_BF16, {NULL}, "SCORE_ACC=mma@sm80/tf32", SITE_EXP,
     "--order SCORE_ACC=mma@sm80/tf32 multiplies tf32 or fp32, and INPUT is bf16: --set "
     "INPUT=tf32"},
    {POLICY_GPU_BF16, {NULL}, "OUT_ACC=mma@sm89/fp8", SITE_EXP,
     "--order OUT_ACC=mma@sm89/fp8 multiplies e4m3 or e5m2, and PROB is bf16: --set PROB=e4m3"},
    {POLICY_GPU_BF16, {"PROB=fp16"}, "OUT_ACC=mma@sm90", SITE_EXP,
     "--order OUT_ACC=mma@sm90 multiplies numbers of one format, and PROB is fp16, INPUT bf16: "
     "--set PROB=bf16"},
    {POLICY_GPU_BF16, {NULL}, "ROW_SUM=mma@sm90", SITE_EXP,
     "--order ROW_SUM=mma@sm90 multiplies bf16 or fp16, and EXP is fp32: --set EXP=bf16"},
    {POLICY_ALL_BF16, {"PV_PRODUCT=exact"}, "OUT_ACC=mma@sm90", SITE_EXP,
     "--order OUT_ACC=mma@sm90 adds up in fp32, or in fp16 what is fp16, and OUT_ACC is bf16: "
     "--set OUT_ACC=fp32"},
    {POLICY_GPU_BF16, {"SCORE_ACC=fp16"}, "SCORE_ACC=mma@sm90", SITE_EXP,
     "--order SCORE_ACC=mma@sm90 adds up in fp32, or in fp16 what is fp16, and SCORE_ACC is fp16: "
     "--set SCORE_ACC=fp32"},
    {POLICY_ALL_BF16, {"OUT_ACC=fp32"}, "OUT_ACC=mma@sm90", SITE_EXP,
     "--order OUT_ACC=mma@sm90 keeps its products exact, and PV_PRODUCT is bf16: "
     "--set PV_PRODUCT=exact"},
};

static void test_policies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(policies); i++) {
        const struct policy_row *row = &policies[i];
        struct message why = {""};
        struct policy p = policy_table(row->policy);
        for (int k = 0; k < 3 && row->set[k] != NULL; k++)
            assert_true(policy_set(&p, row->set[k], &why));
        if (!policy_order(&p, row->order, &why))
            fail_msg("%s", why.text);
        bool fits = policy_orders_fit(&p, row->summed, &why);
        assert_string_equal(fits ? "" : why.text, row->message == NULL ? "" : row->message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_mma),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
