/* test_tiling.c: what tiles need, how many fit, which ship: rows written down from the sources'
   own remarks (sizes in KB, two blocks an SM, what spills) and from the limits by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/tiling.h"

enum { OTHERS = 48 };

static struct attention_shape shape(int64_t dim, bool causal)
{
    return (struct attention_shape){1, 1, 1, 4096, 4096, dim, causal};
}

/* The shipped forward tiles, with the KB of their table; per SM: fitting by shared memory. */
static void shipped_forward(void **unused)
{
    (void)unused;
    static const struct {
        enum architecture a;
        int dim;
        bool causal;
        int Br, Bc, warps, kb, per_sm;
    } rows[] = {
        {ARCHITECTURE_SM80, 32, false, 128, 128, 4, 24, 2},
        {ARCHITECTURE_SM80, 64, false, 128, 128, 4, 48, 2},
        {ARCHITECTURE_SM90, 64, true, 128, 128, 4, 48, 2},
        {ARCHITECTURE_SM80, 96, true, 128, 64, 4, 48, 2},
        {ARCHITECTURE_SM89, 96, true, 64, 64, 4, 36, 2},
        {ARCHITECTURE_SM89, 96, false, 128, 64, 4, 48, 2},
        {ARCHITECTURE_SM80, 128, true, 128, 64, 4, 64, 2},
        {ARCHITECTURE_SM90, 128, false, 128, 64, 4, 64, 2},
        {ARCHITECTURE_SM120, 128, true, 128, 64, 4, 64, 1},
        {ARCHITECTURE_SM89, 128, true, 64, 64, 4, 48, 2},
        {ARCHITECTURE_SM89, 128, false, 128, 32, 4, 48, 2},
        {ARCHITECTURE_SM80, 192, false, 128, 64, 8, 96, 1},
        {ARCHITECTURE_SM80, 256, false, 128, 64, 8, 128, 1},
        {ARCHITECTURE_SM90, 256, false, 64, 64, 4, 96, 2},
        {ARCHITECTURE_SM89, 256, false, 64, 64, 4, 96, 1},
        {ARCHITECTURE_SM120, 256, true, 64, 64, 4, 96, 1},
        {ARCHITECTURE_SM80, 40, false, 128, 128, 4, 30, 2}, /* compiled as 64 */
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct attention_shape s = shape(rows[r].dim, rows[r].causal);
        struct tiling t;
        struct message why;
        assert_true(shipped_tile(PLAN_KERNEL_FA2, rows[r].a, &s, &t, &why));
        struct occupancy o = occupancy(rows[r].a, PLAN_KERNEL_FA2, t, rows[r].dim, OTHERS);
        if (t.Br != rows[r].Br || t.Bc != rows[r].Bc || t.warps != rows[r].warps ||
            o.needs.shared != (int64_t)rows[r].kb * 1024 || o.per_sm != rows[r].per_sm ||
            o.verdict != TILE_FITS || o.needs.accumulators > 192)
            fail_msg("row %d: %dx%dx%d, %d bytes, %d a SM, %d accumulators", (int)r, t.Br, t.Bc,
                     t.warps, (int)o.needs.shared, o.per_sm, (int)o.needs.accumulators);
    }
}

/* The backward kernels' remarks name 144 KB and 176 KB. */
static void shipped_backward(void **unused)
{
    (void)unused;
    static const struct {
        enum architecture a;
        int dim, Br, Bc, kb;
    } rows[] = {
        {ARCHITECTURE_SM80, 32, 128, 128, 104}, {ARCHITECTURE_SM80, 64, 128, 128, 144},
        {ARCHITECTURE_SM89, 64, 64, 128, 88},   {ARCHITECTURE_SM80, 96, 64, 128, 116},
        {ARCHITECTURE_SM90, 128, 64, 128, 144}, {ARCHITECTURE_SM120, 128, 64, 64, 96},
        {ARCHITECTURE_SM90, 192, 64, 64, 136},  {ARCHITECTURE_SM90, 256, 64, 64, 176},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct attention_shape s = shape(rows[r].dim, false);
        struct tiling t;
        struct message why;
        assert_true(shipped_tile(PLAN_KERNEL_BACKWARD, rows[r].a, &s, &t, &why));
        struct occupancy o = occupancy(rows[r].a, PLAN_KERNEL_BACKWARD, t, rows[r].dim, OTHERS);
        if (t.Br != rows[r].Br || t.Bc != rows[r].Bc || t.warps != 8 ||
            o.needs.shared != (int64_t)rows[r].kb * 1024 || o.needs.accumulators > 192)
            fail_msg("row %d: %dx%dx%d, %d bytes, %d accumulators", (int)r, t.Br, t.Bc, t.warps,
                     (int)o.needs.shared, (int)o.needs.accumulators);
    }
}

static void other_kernels(void **unused)
{
    (void)unused;
    static const struct {
        enum plan_kernel k;
        int dim, Br, Bc;
    } rows[] = {
        {PLAN_KERNEL_FA1, 64, 16, 256},    {PLAN_KERNEL_FA1, 128, 16, 128},
        {PLAN_KERNEL_DECODE, 64, 64, 256}, {PLAN_KERNEL_DECODE, 128, 64, 128},
        {PLAN_KERNEL_DECODE, 256, 64, 64},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct attention_shape s = shape(rows[r].dim, false);
        struct tiling t;
        struct message why;
        assert_true(shipped_tile(rows[r].k, ARCHITECTURE_SM80, &s, &t, &why));
        assert_true(t.Br == rows[r].Br && t.Bc == rows[r].Bc && t.warps == 4);
    }
}

static void verdicts(void **unused)
{
    (void)unused;
    static const struct {
        enum architecture a;
        struct tiling t;
        int dim;
        enum tile_verdict verdict;
        int accumulators, registers, per_sm;
        enum occupancy_limit limit;
    } rows[] = {
        /* "85 % slower, because of register spilling" */
        {ARCHITECTURE_SM80, {256, 64, 4}, 64, TILE_SPILLS, 256, 256, 2, LIMIT_REGISTERS},
        {ARCHITECTURE_SM80, {64, 256, 4}, 64, TILE_FITS, 160, 208, 2, LIMIT_SHARED},
        {ARCHITECTURE_SM80, {128, 128, 4}, 128, TILE_SPILLS, 256, 256, 1, LIMIT_SHARED},
        {ARCHITECTURE_SM80, {128, 128, 8}, 128, TILE_FITS, 128, 176, 1, LIMIT_SHARED},
        {ARCHITECTURE_SM80, {128, 96, 4}, 128, TILE_MAY_SPILL, 224, 256, 2, LIMIT_SHARED},
        {ARCHITECTURE_SM89, {128, 64, 4}, 256, TILE_NO_LAUNCH, 320, 256, 0, LIMIT_SHARED},
        {ARCHITECTURE_SM90, {128, 128, 8}, 256, TILE_FITS, 192, 240, 1, LIMIT_SHARED},
        {ARCHITECTURE_SM90, {16, 16, 4}, 32, TILE_FITS, 6, 56, 9, LIMIT_REGISTERS},
        {ARCHITECTURE_SM90, {1, 1, 1}, 8, TILE_FITS, 1, 56, 32, LIMIT_BLOCKS},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct occupancy o = occupancy(rows[r].a, PLAN_KERNEL_FA2, rows[r].t, rows[r].dim, OTHERS);
        if (o.verdict != rows[r].verdict || o.needs.accumulators != rows[r].accumulators ||
            o.registers != rows[r].registers || o.per_sm != rows[r].per_sm ||
            o.limit != rows[r].limit)
            fail_msg("row %d: verdict %d, %d accumulators, %d registers, %d a SM by %s", (int)r,
                     o.verdict, (int)o.needs.accumulators, o.registers, o.per_sm,
                     occupancy_limit_name(o.limit));
    }
    assert_int_equal(
        occupancy(ARCHITECTURE_SM90, PLAN_KERNEL_FA2, (struct tiling){64, 64, 33}, 64, OTHERS)
            .verdict,
        TILE_NO_LAUNCH);
    assert_int_equal(compiled_dim(33), 64);
    assert_int_equal(compiled_dim(257), 0);
}

static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        enum plan_kernel k;
        enum architecture a;
        int dim;
        const char *text;
    } rows[] = {
        {PLAN_KERNEL_FA2, ARCHITECTURE_SM80, 300,
         "head size 300: the shipped kernels take at most 256; --tile Br,Bc --warps N plans "
         "another "
         "one"},
        {PLAN_KERNEL_FA1, ARCHITECTURE_SM80, 160,
         "head size 160: FlashAttention-1 ships for at most 128; --tile Br,Bc --warps N plans "
         "another one"},
        {PLAN_KERNEL_DECODE, ARCHITECTURE_SM75, 64,
         "FlashAttention-2 does not ship for sm75; an Ampere device or later is right, or --kernel "
         "fa1, or --tile Br,Bc"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct attention_shape s = shape(rows[r].dim, false);
        struct tiling t;
        struct message why;
        assert_false(shipped_tile(rows[r].k, rows[r].a, &s, &t, &why));
        assert_string_equal(why.text, rows[r].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_forward), cmocka_unit_test(shipped_backward),
        cmocka_unit_test(other_kernels),   cmocka_unit_test(verdicts),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
