/* test_arith_mpfr.c: the MPFR arithmetic against numbers worked out by hand, verb by verb.

   The other arithmetics are compared with this one (test_verbs.c), so this is where the meaning of
   the verbs is pinned down.  Numbers are written so that the exact result can be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "simulator/arith.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { MOST = 4 };

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* Every site in f. */
static struct policy all_sites(enum format f)
{
    struct policy p = policy_table(POLICY_FP32);
    for (int s = 0; s < SITE_COUNT; s++)
        p.site[s].format = f;
    return p;
}

static void begin(struct run *r, const struct policy *p, int precision)
{
    struct message why;
    assert_true(run_new(r, &arith_mpfr, p, precision, &why));
}

static struct tile *tile_of(struct run *r, int rows, int cols, const double *values)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, rows, cols);
    for (int i = 0; i < rows * cols; i++)
        r->arith->set(t->data, (size_t)i, values[i]);
    return t;
}

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
        bool moves = row->verb == VERB_MAX || row->verb == VERB_SELECT_BAD;
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
        {FORMAT_E4M3, true, 0, NAN, NAN},         {FORMAT_E5M2, true, 0, 61440, INFINITY},
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
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
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
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_saturation_and_scale),
        cmocka_unit_test(test_rounding_against_format),
        cmocka_unit_test(test_constants),
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
