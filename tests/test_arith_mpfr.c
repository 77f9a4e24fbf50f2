/* test_arith_mpfr.c: the MPFR arithmetic's rounding, verb by verb, against numbers worked out by
   hand, and against format_round.

   The other arithmetics are compared with this one (test_verbs.c), so this is where the meaning of
   the verbs is pinned down.  Numbers are written so that the exact result can be seen. */
#include <stdio.h>

#include "tests/mpfr_tiles.h"

struct scalar_row {
    enum verb verb;
    enum format format;
    double a, b, c, want;
};

static const struct scalar_row scalar_rows[] = {
    /* one rounding: through a float 1 + 2^-8 + 2^-24 would become 1 + 2^-8, then 1 */
    {VERB_ADD, FORMAT_BF16, 1, 0x1.0001p-8, 0, 0x1.02p0},
    {VERB_ADD, FORMAT_BF16, 1, 0x1p-8, 0, 1},
    {VERB_ADD, FORMAT_FP32, 1, 0x1p-24, 0, 1},
    {VERB_ADD, FORMAT_FP32, 0x1.000002p0, 0x1p-24, 0, 0x1.000004p0},
    {VERB_ADD, FORMAT_FP64, 1, 0x1p-53, 0, 1},
    {VERB_ADD, FORMAT_FP32, 0x1.fffffep127, 0x1p103, 0, INFINITY},
    {VERB_ADD, FORMAT_FP32, 0x1.fffffep127, 0x1p102, 0, 0x1.fffffep127},
    {VERB_ADD, FORMAT_FP32, INFINITY, -INFINITY, 0, NAN},
    {VERB_SUB, FORMAT_FP16, 3, 3, 0, 0.0},
    {VERB_SUB, FORMAT_FP16, -0.0, 0.0, 0, -0.0},
    {VERB_SUB, FORMAT_TF32, 1, 0x1p-12, 0, 1},
    {VERB_SUB, FORMAT_TF32, 1, 0x1.8p-12, 0, 0x1.ffcp-1},
    /* gradual underflow: ties at half of 2^-149, 2^-24, 2^-9, 2^-16 */
    {VERB_MUL, FORMAT_FP32, 0x1p-75, 0x1p-75, 0, 0},
    {VERB_MUL, FORMAT_FP32, 0x1p-75, -0x1.8p-75, 0, -0x1p-149},
    {VERB_MUL, FORMAT_FP32, 0x1p-75, 0x1.8p-74, 0, 0x1p-148},
    {VERB_MUL, FORMAT_FP16, 0x1p-12, 0x1p-13, 0, 0},
    {VERB_MUL, FORMAT_FP16, 0x1p-12, 0x1.4p-13, 0, 0x1p-24},
    {VERB_MUL, FORMAT_E4M3, 0x1p-5, 0x1p-5, 0, 0},
    {VERB_MUL, FORMAT_E4M3, 0x1p-5, 0x1.2p-5, 0, 0x1p-9},
    {VERB_MUL, FORMAT_E5M2, -0x1p-8, 0x1p-9, 0, -0.0},
    {VERB_MUL, FORMAT_BF16, 0x1p-67, 0x1.8p-67, 0, 0x1p-133},
    {VERB_MUL, FORMAT_TF32, 0x1p-68, 0x1.8p-69, 0, 0x1p-136},
    {VERB_MUL, FORMAT_FP64, 0x1p-537, 0x1.8p-538, 0, 0x1p-1074},
    /* one rounding of a subnormal: to 24 bits first, 1.1 + 2^-25 would become 1.1, then 2 */
    {VERB_MUL, FORMAT_FP32, 0x1.8p-140, 0x0.ffffff8p-9, 0, 0x1p-149},
    /* flushed: operands, results; what rounds up to 2^-126 stays */
    {VERB_MUL, FORMAT_FP32_FTZ, 0x1p-75, -0x1.8p-55, 0, -0.0},
    {VERB_MUL, FORMAT_FP32_FTZ, 0x1p-127, 0x1p10, 0, 0},
    {VERB_MUL, FORMAT_FP32_FTZ, -0x1p-127, 0x1p10, 0, -0.0},
    {VERB_MUL, FORMAT_FP32_FTZ, 0x1.fffffep-126, 0.5, 0, 0x1p-126},
    {VERB_MUL, FORMAT_FP32_FTZ, 0x1.fffffcp-126, 0.5, 0, 0},
    {VERB_FMA, FORMAT_FP32_FTZ, 1, 1, -0x1p-127, 1},
    {VERB_FMA, FORMAT_FP32_FTZ, 0x1p100, 0x1p-127, 0x1p-126, 0x1p-126},
    {VERB_DIV, FORMAT_FP32_FTZ, 1, -0x1p-127, 0, -INFINITY},
    {VERB_ROUND_AT, FORMAT_FP32_FTZ, -0x1p-127, 0, 0, -0.0},
    /* overflow */
    {VERB_ROUND_AT, FORMAT_FP16, 65519, 0, 0, 65504},
    {VERB_ROUND_AT, FORMAT_FP16, 65520, 0, 0, INFINITY},
    {VERB_ROUND_AT, FORMAT_E5M2, 61439, 0, 0, 57344},
    {VERB_ROUND_AT, FORMAT_E5M2, -61440, 0, 0, -INFINITY},
    {VERB_ROUND_AT, FORMAT_E4M3, 464, 0, 0, 448},
    {VERB_ROUND_AT, FORMAT_E4M3, 464.5, 0, 0, NAN},
    {VERB_ROUND_AT, FORMAT_E4M3, -1e9, 0, 0, NAN},
    {VERB_ROUND_AT, FORMAT_E4M3, INFINITY, 0, 0, NAN},
    {VERB_ROUND_AT, FORMAT_BF16, 0x1.ffp127, 0, 0, INFINITY},
    {VERB_ROUND_AT, FORMAT_TF32, NAN, 0, 0, NAN},
    /* (1 + 2^-12)^2 - 1 - 2^-11 = 2^-24 */
    {VERB_FMA, FORMAT_FP32, 0x1.001p0, 0x1.001p0, -0x1.002p0, 0x1p-24},
    {VERB_FMA, FORMAT_FP16, 0x1.004p0, 0x1.004p0, -0x1.008p0, 0x1p-20},
    {VERB_FMA, FORMAT_FP32, 0.0, -1, 0.0, 0.0},
    {VERB_FMA, FORMAT_FP32, 0.0, -1, -0.0, -0.0},
    {VERB_FMA, FORMAT_FP32, 0.0, INFINITY, 1, NAN},
    /* a product past the largest float, brought back */
    {VERB_FMA, FORMAT_FP32, 0x1p100, 0x1p100, -INFINITY, -INFINITY},
    {VERB_FMA, FORMAT_FP32, 0x1p64, 0x1p64, -0x1.fffffep127, 0x1p104},
    {VERB_DIV, FORMAT_FP32, 1, 3, 0, 0x1.555556p-2},
    {VERB_DIV, FORMAT_BF16, 1, 3, 0, 0x1.56p-2},
    {VERB_DIV, FORMAT_FP32, -1, 0, 0, -INFINITY},
    {VERB_DIV, FORMAT_FP32, 0, 0, 0, NAN},
    {VERB_RCP, FORMAT_FP32, 3, 0, 0, 0x1.555556p-2},
    {VERB_RCP, FORMAT_FP32, -0.0, 0, 0, -INFINITY},
    {VERB_RCP, FORMAT_FP32, -INFINITY, 0, 0, -0.0},
    {VERB_RCP, FORMAT_E4M3, 0x1p-9, 0, 0, NAN},
    {VERB_MAX, FORMAT_FP32, -0.0, 0.0, 0, 0.0},
    {VERB_MAX, FORMAT_FP32, 0.0, -0.0, 0, 0.0},
    {VERB_MAX, FORMAT_FP32, NAN, 1, 0, NAN},
    {VERB_MAX, FORMAT_FP32, 1, NAN, 0, NAN},
    {VERB_MAX, FORMAT_BF16, 0x1.000002p0, 1, 0, 0x1.000002p0},
    {VERB_EXP, FORMAT_FP32, 1, 0, 0, 0x1.5bf0a8p+1},
    {VERB_EXP, FORMAT_BF16, 1, 0, 0, 0x1.5cp+1},
    {VERB_EXP, FORMAT_E4M3, 1, 0, 0, 2.75},
    {VERB_EXP, FORMAT_FP64, 1, 0, 0, 0x1.5bf0a8b145769p+1},
    {VERB_EXP, FORMAT_FP32, -INFINITY, 0, 0, 0.0},
    {VERB_EXP, FORMAT_FP32, 89, 0, 0, INFINITY},
    {VERB_EXP, FORMAT_FP32, 1e30, 0, 0, INFINITY},
    {VERB_EXP, FORMAT_FP32, -1e30, 0, 0, 0},
    {VERB_EXP, FORMAT_FP32, -103, 0, 0, 0x1p-149},
    {VERB_EXP, FORMAT_FP32_FTZ, -103, 0, 0, 0},
    {VERB_EXP, FORMAT_E4M3, 7, 0, 0, NAN},
    {VERB_EXP2, FORMAT_FP32, 0.5, 0, 0, 0x1.6a09e6p+0},
    {VERB_EXP2, FORMAT_FP32, -150, 0, 0, 0},
    {VERB_EXP2, FORMAT_FP16, 15, 0, 0, 0x1p15},
    {VERB_LOG, FORMAT_FP32, 2, 0, 0, 0x1.62e43p-1},
    {VERB_LOG, FORMAT_FP32, -0.0, 0, 0, -INFINITY},
    {VERB_LOG, FORMAT_FP32, -1, 0, 0, NAN},
    {VERB_LOG, FORMAT_FP32, 1, 0, 0, 0.0},
    {VERB_LOG, FORMAT_FP32_FTZ, 0x1p-130, 0, 0, -INFINITY},
    {VERB_LOG2, FORMAT_BF16, 8, 0, 0, 3},
    {VERB_LOG2, FORMAT_FP32, 0x1p-149, 0, 0, -149},
    {VERB_TANH, FORMAT_FP32, -0.0, 0, 0, -0.0},
    {VERB_TANH, FORMAT_FP32, -INFINITY, 0, 0, -1},
    {VERB_TANH, FORMAT_FP32, 1e30, 0, 0, 1},
    {VERB_TANH, FORMAT_FP32, 0.5, 0, 0, 0x1.d9353ep-2},
    {VERB_TANH, FORMAT_FP16, 0.5, 0, 0, 0x1.d94p-2},
    {VERB_SAFE_SHIFT, FORMAT_FP32, -INFINITY, 0, 0, 0.0},
    {VERB_SAFE_SHIFT, FORMAT_FP32, INFINITY, 0, 0, INFINITY},
    {VERB_SAFE_SHIFT, FORMAT_BF16, 0x1.000002p0, 0, 0, 0x1.000002p0},
    {VERB_SELECT_BAD, FORMAT_FP32, 5, 1, 7, 5},
    {VERB_SELECT_BAD, FORMAT_FP32, 5, -0.0, 7, 7},
    {VERB_SELECT_BAD, FORMAT_FP32, 5, NAN, 0x1.0000001p0, 0x1.0000001p0},
};

static void test_scalars(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(scalar_rows); i++) {
        const struct scalar_row *row = &scalar_rows[i];
        struct policy p = all_sites(row->format);
        struct run r;
        begin(&r, &p, 200);
        bool moves = row->verb == VERB_MAX || row->verb == VERB_SELECT_BAD ||
                     row->verb == VERB_SAFE_SHIFT;
        struct tile *dst = tile_new(&r, TENSOR_SCRATCH, 1, 1);
        struct call c = {.verb = row->verb, .dst = dst, .a = tile_of(&r, 1, 1, &row->a),
                         .b = tile_of(&r, 1, 1, &row->b), .c = tile_of(&r, 1, 1, &row->c),
                         .arg_site = SITE_NONE, .site = moves ? SITE_NONE : SITE_OUT};
        perform_plain(&r, &c);
        double got = tile_get(&r, dst, 0, 0);
        if (!same_bits(got, row->want))
            fail_msg("row %d: verb %d at %s of %a, %a, %a: got %a, want %a", (int)i, row->verb,
                     format_info(row->format)->name, row->a, row->b, row->c, got, row->want);
        run_free(&r);
    }
}

/* Policies that change the rounding itself. */
static void test_saturation_and_scale(void **state)
{
    (void)state;
    static const struct {
        enum format format;
        bool saturate;
        int scale;
        double x, want;
    } rows[] = {
        {FORMAT_E4M3, true, 0, 464.5, 448},       {FORMAT_E4M3, true, 0, -INFINITY, -448},
        {FORMAT_E4M3, true, 0, NAN, NAN},         {FORMAT_E5M2, true, 0, 61440, 57344},
        {FORMAT_FP32, true, 0, 1e39, INFINITY},   {FORMAT_E4M3, true, 8, 1, 1},
        {FORMAT_E4M3, true, 8, 2, 1.75},          {FORMAT_E4M3, false, 8, 2, NAN},
        {FORMAT_E4M3, true, 8, 0x1p-17, 0x1p-17}, {FORMAT_E4M3, true, 8, 0x1p-18, 0},
        {FORMAT_E4M3, true, 8, -0x1.1p-18, -0x1p-17}, {FORMAT_E4M3, true, 0, 0x1p-17, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct policy p = all_sites(rows[i].format);
        struct run r;
        p.saturate = rows[i].saturate;
        p.site[SITE_PROB].scale_log2 = rows[i].scale;
        begin(&r, &p, 53);
        struct tile *t = tile_of(&r, 1, 1, &rows[i].x);
        round_at(&r, t, SITE_PROB);
        double got = tile_get(&r, t, 0, 0);
        if (!same_bits(got, rows[i].want))
            fail_msg("row %d: %a: got %a, want %a", (int)i, rows[i].x, got, rows[i].want);
        run_free(&r);
    }
}

/* Against format_round, whose integers share nothing with MPFR: around every boundary. */
static void test_rounding_against_format(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int f = FORMAT_FP64; f < FORMAT_COUNT; f++) {
        const struct format_info *info = format_info((enum format)f);
        struct policy p = all_sites((enum format)f);
        struct run r;
        begin(&r, &p, 53);
        struct tile *t = tile_new(&r, TENSOR_SCRATCH, 1, 1);
        for (int i = 0; i < 20000; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int span = info->emax - info->emin + info->precision + 6;
            int e = info->emin - info->precision - 3 + (int)((seed >> 33) % (unsigned)span);
            /* Few bits set, so that ties are common. */
            double x = ldexp(1 + (double)((seed >> 20) & 7) / 8, e);
            x += ldexp((double)((seed >> 24) & 3) - 1, e - (int)((seed >> 27) % 30));
            x = seed & 1 ? -x : x;
            r.arith->set(t->data, 0, x);
            round_at(&r, t, SITE_OUT);
            double got = tile_get(&r, t, 0, 0), want = format_round((enum format)f, x, false);
            if (!same_bits(got, want))
                fail_msg("%s of %a: got %a, want %a", info->name, x, got, want);
        }
        run_free(&r);
    }
}

static void test_constants(void **state)
{
    (void)state;
    static const struct {
        enum format format;
        struct real real;
        double want;
    } rows[] = {
        {FORMAT_FP32, {1, 64, REAL_PLAIN}, 0.125},
        {FORMAT_FP32, {1, 2, REAL_PLAIN}, 0x1.6a09e6p-1},
        {FORMAT_FP32, {1, 1, REAL_TIMES_LOG2E}, 0x1.715476p+0},
        {FORMAT_FP32, {1, 1, REAL_TIMES_LN2}, 0x1.62e43p-1},
        {FORMAT_FP64, {1, 1, REAL_TIMES_LOG2E}, 0x1.71547652b82fep+0},
        {FORMAT_FP64, {1, 1, REAL_TIMES_LN2}, 0x1.62e42fefa39efp-1},
        {FORMAT_BF16, {-1, 1, REAL_TIMES_LOG2E}, -0x1.72p+0},
        {FORMAT_BF16, {1, 64, REAL_TIMES_LOG2E}, 0x1.72p-3},
        {FORMAT_BF16, {0x1.01p0, 1, REAL_PLAIN}, 1},
        {FORMAT_BF16, {0x1.03p0, 1, REAL_PLAIN}, 0x1.04p0},
        {FORMAT_E4M3, {0x1.1p0, 1, REAL_PLAIN}, 1},
        {FORMAT_E4M3, {0x1.1p1, 4, REAL_PLAIN}, 1},
        {FORMAT_E4M3, {1e9, 3, REAL_PLAIN}, NAN},
        {FORMAT_FP32, {0x1p-149, 3, REAL_PLAIN}, 0x1p-149},
        {FORMAT_FP32, {0x1p-149, 5, REAL_PLAIN}, 0},
        {FORMAT_FP32, {-0x1p-127, 1, REAL_TIMES_LN2}, -0x1.62e43p-128},
        {FORMAT_FP32_FTZ, {-0x1p-127, 1, REAL_TIMES_LN2}, -0.0},
        {FORMAT_FP32, {-0.0, 3, REAL_TIMES_LN2}, -0.0},
        {FORMAT_FP32, {-INFINITY, 3, REAL_TIMES_LN2}, -INFINITY},
        {FORMAT_FP32, {1, (INT64_C(1) << 62), REAL_PLAIN}, 0x1p-31},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct policy p = all_sites(rows[i].format);
        struct run r;
        begin(&r, &p, 53);
        struct tile *t = tile_new(&r, TENSOR_CONSTANT, 2, 1);
        constant(&r, t, rows[i].real);
        double got = tile_get(&r, t, 1, 0);
        if (!same_bits(got, rows[i].want))
            fail_msg("row %d: got %a, want %a", (int)i, got, rows[i].want);
        run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_saturation_and_scale),
        cmocka_unit_test(test_rounding_against_format),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
