/* test_oracle_kernel_sums.c: do the judges of kernel models add in the kernels' order?

   By hand: sums of powers of two whose order shows in the last bit; constants; subnormals. */
#include <float.h>

#include "tests/kernel_work.h"

/* Scores are integers, the scale is ln 2: P is a power of 2.  `big` weighs 1, both `small` 2^-24,
   the others nothing; the row's sum is 1 where each small one meets a sum near 1 alone, and
   1 + 2^-23 where they meet each other first. */
struct order_row {
    const char *name;
    kernel *run;
    int dim, keys, big, small[2];
    bool kept;
};

static void set_scores(const struct kernel_case *c, const struct order_row *row)
{
    memset(work.q, 0, (size_t)c->dim * sizeof *work.q);
    memset(work.k, 0, (size_t)(c->keys * c->dim) * sizeof *work.k);
    memset(work.v, 0, (size_t)(c->keys * c->dim) * sizeof *work.v);
    work.q[0] = 1;
    for (int key = 0; key < c->keys; key++)
        work.k[key * c->dim] = -240;
    work.k[row->big * c->dim] = 0;
    work.k[row->small[0] * c->dim] = work.k[row->small[1] * c->dim] = -24;
}

static void sums_are_taken_in_order(void **unused)
{
    (void)unused;
    static const struct order_row rows[] = {
        {"one lane, after", oracle_fa2, 64, 128, 0, {1, 8}, false},
        {"one lane, before", oracle_fa2, 64, 128, 9, {1, 8}, true},
        {"a lane of their own", oracle_fa2, 64, 128, 0, {3, 122}, true},
        {"lanes 1 and 3 meet first", oracle_fa2, 64, 128, 8, {2, 15}, true},
        {"lanes 0 and 2 meet first", oracle_fa2, 64, 128, 0, {2, 4}, false},
        {"lanes 2 and 3 do not", oracle_fa2, 64, 128, 0, {12, 6}, false},
        {"blocks of keys descend", oracle_fa2, 64, 256, 1, {0, 128}, true},
        {"and do not ascend", oracle_fa2, 64, 256, 129, {0, 128}, false},
        {"64 keys a block", oracle_fa2, 256, 128, 1, {0, 64}, true},
        {"256 keys a block in splits", oracle_fa2_split, 64, 256, 129, {0, 128}, true},
        {"128 keys", oracle_fa2_split, 128, 256, 129, {0, 128}, false},
        {"a lane has columns 8 apart", oracle_fa1, 64, 256, 0, {2, 10}, true},
        {"and 64", oracle_fa1, 64, 256, 0, {3, 66}, true},
        {"one lane of a warp, after", oracle_fa1, 64, 256, 0, {9, 64}, false},
        {"one lane of a warp, before", oracle_fa1, 64, 256, 73, {9, 64}, true},
        {"lanes 1 and 3 of a warp", oracle_fa1, 64, 256, 0, {2, 14}, true},
        {"lanes 2 and 3 of a warp", oracle_fa1, 64, 256, 0, {4, 6}, false},
        {"warps 1 and 3", oracle_fa1, 64, 256, 0, {16, 48}, true},
        {"warps 0 and 2", oracle_fa1, 64, 256, 0, {16, 32}, false},
        {"256 keys a block in FA1", oracle_fa1, 64, 256, 0, {128, 192}, false},
        {"128 keys a block in FA1", oracle_fa1, 128, 256, 0, {128, 192}, true},
        {"warps 2 and 3", oracle_fa1, 64, 256, 0, {32, 48}, false},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct kernel_case c = plain_case(ORACLE_SM90, ORACLE_BF16, 1, rows[i].keys, rows[i].dim);
        c.scale_value = (double)ORACLE_LN2;
        c.scale_root = 1;
        set_scores(&c, &rows[i]);
        rows[i].run(&c, work.O, work.lse);
        float l = rows[i].kept ? 1 + 0x1p-23f : 1, want = fast_mul(fast_log2(l), ORACLE_LN2);
        if (bits_of(work.lse[0]) != bits_of(want))
            fail_msg("%s: LSE %a, not %a", rows[i].name, (double)work.lse[0], (double)want);
    }
}

/* The same of the splits' LSEs: lanes of a row hold every R-th split. */
static void combinations_are_summed_in_order(void **unused)
{
    (void)unused;
    static const struct {
        int dim, splits, big, small[2];
        bool kept;
    } rows[] = {
        {256, 62, 0, {1, 33}, true},  {256, 62, 0, {32, 33}, false},
        {256, 62, 33, {1, 2}, false}, {256, 62, 32, {1, 17}, true},
        {256, 62, 0, {1, 31}, true},  {256, 62, 0, {2, 34}, true},
        {256, 62, 0, {2, 16}, false}, {256, 87, 0, {95 - 32, 31}, true},
        {256, 30, 0, {17, 1}, true},  {256, 30, 0, {15, 16}, false},
        {64, 40, 0, {1, 17}, true},   {64, 40, 17, {1, 16}, false},
        {96, 12, 0, {1, 9}, true},    {96, 12, 9, {1, 8}, false},
        {96, 12, 8, {0, 1}, false},   {32, 3, 0, {1, 2}, false},
        {32, 4, 0, {1, 3}, true},     {256, 62, 33, {1, 17}, false},
        {96, 24, 17, {1, 9}, true},   {64, 40, 33, {1, 17}, true},
        {64, 40, 17, {1, 9}, false},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct kernel_case c = plain_case(ORACLE_SM90, ORACLE_BF16, 1, 1, rows[i].dim);
        c.splits = rows[i].splits;
        memset(work.q, 0, (size_t)(c.splits * c.dim) * sizeof *work.q);
        for (int s = 0; s < c.splits; s++)
            work.k[s] = -INFINITY;
        work.k[rows[i].big] = 0;
        work.k[rows[i].small[0]] = work.k[rows[i].small[1]] = -24 * ORACLE_LN2;
        oracle_fa2_combine(&c, work.q, work.k, work.O, work.lse);
        float z = rows[i].kept ? 1 + 0x1p-23f : 1, want = fast_mul(fast_log2(z), ORACLE_LN2);
        if (bits_of(work.lse[0]) != bits_of(want))
            fail_msg("row %d, dim %d, %d splits: LSE %a, not %a", i, c.dim, c.splits,
                     (double)work.lse[0], (double)want);
    }
}

/* As FlashAttention-2's host code computes them: the fp32 bits of 1/sqrt(d) and of its product with log2 e. */
static void scales_are_the_kernels(void **unused)
{
    (void)unused;
    static const struct {
        int dim;
        uint32_t scale, scale_log2;
    } rows[] = {{32, 0x3e3504f3, 0x3e8293ee},  {64, 0x3e000000, 0x3e38aa3b},
                {96, 0x3dd105ec, 0x3e16c740},  {128, 0x3db504f3, 0x3e0293ee},
                {192, 0x3d93cd3a, 0x3dd53b94}, {256, 0x3d800000, 0x3db8aa3b}};
    for (int i = 0; i < COUNT(rows); i++) {
        float scale = oracle_scale(1, rows[i].dim);
        assert_int_equal(bits_of(scale), rows[i].scale);
        assert_int_equal(bits_of(oracle_scale_log2(scale)), rows[i].scale_log2);
    }
    assert_int_equal(bits_of(ORACLE_LOG2E), 0x3fb8aa3b);
    assert_int_equal(bits_of(ORACLE_LN2), 0x3f317218);
}

static void fast_math_knows_no_subnormals(void **unused)
{
    (void)unused;
    const float least = FLT_MIN, below = 0x1p-130f;
    const struct {
        float got, want;
    } rows[] = {
        {fast_exp2(-126), least},
        {fast_exp2(-126.5f), 0},
        {fast_exp2(-149), 0},
        {fast_exp2(-INFINITY), 0},
        {fast_exp2(below), 1},
        {fast_exp2(128), INFINITY},
        {fast_log2(below), -INFINITY},
        {fast_log2(1), 0},
        {fast_log2(-1), NAN},
        {fast_rcp(below), INFINITY},
        {fast_rcp(-0x1p127f), -0.0f},
        {fast_rcp(3), 0x1.555556p-2f},
        {fast_add(-0x1.8p-126f, least), -0.0f},
        {fast_sub(below, 0), 0},
        {fast_mul(-0.5f, least), -0.0f},
        {fast_mul(below, 0x1p100f), 0},
        {fast_fma(1, -least, 0x1.8p-126f), 0},
        {fast_fma(0x1p-100f, 0x1p-40f, 1), 1},
    };
    for (int i = 0; i < COUNT(rows); i++)
        if (bits_of(rows[i].got) != bits_of(rows[i].want))
            fail_msg("row %d: %a, not %a", i, (double)rows[i].got, (double)rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_taken_in_order),
        cmocka_unit_test(combinations_are_summed_in_order),
        cmocka_unit_test(scales_are_the_kernels),
        cmocka_unit_test(fast_math_knows_no_subnormals),
    };
    return cmocka_run_group_tests(tests, make_room, give_back);
}
