/* test_special.c: special_cr against MPFR, and the error bound it stands on.

   quick: every bf16 and fp16 input and samples of all floats, in every format; the error of the
   fp64 evaluation against its bound; the same bits at every processor level.
   full: for each function all 2^32 inputs.  Where every number within the bound of the evaluation
   rounds to one float (asked of the machine's own conversion), that float must be the result; every
   other input is computed by MPFR. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "simulator/cpu.h"
#include "simulator/special_lanes.h"
#include "tests/special_oracle.h"

enum { BLOCK = 4096 };

static const enum format cr_formats[] = {FORMAT_FP32, FORMAT_FP32_FTZ, FORMAT_TF32, FORMAT_FP16,
                                         FORMAT_BF16, FORMAT_E4M3,     FORMAT_E5M2};
enum { CR_FORMATS = sizeof cr_formats / sizeof *cr_formats };

/* What the bound leaves open in fp32, found over all floats: results next to a midpoint, where a
   second rounding would go wrong. */
static const struct {
    enum function fn;
    uint32_t x;
} hard_inputs[] = {
    {FUNCTION_EXP, 0xc16912cd},  {FUNCTION_EXP2, 0x3a07857c}, {FUNCTION_EXP2, 0x3b429d37},
    {FUNCTION_EXP2, 0xb52d1f9a}, {FUNCTION_EXP2, 0xb8d3d026}, {FUNCTION_EXP2, 0xbaec2b40},
    {FUNCTION_EXP2, 0xbcf3a937}, {FUNCTION_LOG, 0x0dc8bba4},  {FUNCTION_LOG, 0x111c87f8},
    {FUNCTION_LOG, 0x1a8446cb},  {FUNCTION_LOG, 0x1f116ab8},  {FUNCTION_LOG, 0x28e3fa26},
    {FUNCTION_LOG, 0x29e6126b},  {FUNCTION_LOG, 0x29fd22f8},  {FUNCTION_LOG, 0x2c4c24b7},
    {FUNCTION_LOG, 0x38dcbe38},  {FUNCTION_LOG, 0x3bf86ef0},  {FUNCTION_LOG, 0x3c413d3a},
    {FUNCTION_LOG, 0x41178feb},  {FUNCTION_LOG, 0x4665a9a6},  {FUNCTION_LOG, 0x4c5d65a5},
    {FUNCTION_LOG, 0x4d604ebe},  {FUNCTION_LOG, 0x5ee8984e},  {FUNCTION_LOG, 0x65d890d3},
    {FUNCTION_LOG, 0x66a8c860},  {FUNCTION_LOG, 0x66abbd63},  {FUNCTION_LOG, 0x6f31a8ec},
    {FUNCTION_LOG, 0x79e7ec37},
};
enum { HARD = sizeof hard_inputs / sizeof *hard_inputs };

static uint32_t expected_bits(enum format f, bool saturate, double to_odd)
{
    float y = (float)format_round(f, to_odd, saturate);
    return isnan(y) ? 0x7FC00000u : bits_of(y);
}

static void fail_at(enum function fn, enum format f, bool saturate, uint32_t x, uint32_t got,
                    uint32_t want)
{
    fail_msg("%s of %08x (%a) to %s%s: got %08x (%a), want %08x (%a)", function_names[fn], x,
             (double)float_of(x), format_info(f)->name, saturate ? ", saturating" : "", got,
             (double)float_of(got), want, (double)float_of(want));
}

/* All formats, with and without saturation, on n <= BLOCK inputs. */
static void check_formats(enum function fn, const float *x, size_t n)
{
    static double want[BLOCK];
    static float y[BLOCK];
    for (size_t i = 0; i < n; i++)
        want[i] = oracle_to_odd(fn, x[i]);
    for (int k = 0; k < 2 * CR_FORMATS; k++) {
        enum format f = cr_formats[k / 2];
        bool saturate = k % 2;
        special_cr(fn, f, saturate, y, x, n);
        for (size_t i = 0; i < n; i++) {
            bool flushed = f == FORMAT_FP32_FTZ && x[i] != 0 && fabsf(x[i]) < FLT_MIN;
            double exact = flushed ? oracle_to_odd(fn, copysignf(0, x[i])) : want[i];
            uint32_t bits = expected_bits(f, saturate, exact);
            if (bits_of(y[i]) != bits)
                fail_at(fn, f, saturate, bits_of(x[i]), bits_of(y[i]), bits);
        }
    }
}

/* Inputs bits(0), bits(1), ... bits(count - 1), by blocks. */
static void check_inputs(uint32_t (*bits)(uint32_t), uint32_t count)
{
    static float x[BLOCK];
    for (int fn = 0; fn < FUNCTION_COUNT; fn++)
        for (uint32_t start = 0; start < count; start += BLOCK) {
            uint32_t n = count - start < BLOCK ? count - start : BLOCK;
            for (uint32_t i = 0; i < n; i++)
                x[i] = float_of(bits(start + i));
            check_formats((enum function)fn, x, n);
        }
}

static uint32_t bf16_input(uint32_t i)
{
    return i << 16;
}

static uint32_t fp16_input(uint32_t i)
{
    return bits_of((float)format_decode(FORMAT_FP16, i));
}

/* A stride prime to 2^32 that visits all exponents: multiples of the golden ratio. */
static uint32_t spread_input(uint32_t i)
{
    return i * 2654435769u;
}

/* 64 floats on each side of where something changes. */
static const float edges[] = {
    0.0f,        1.0f,         -1.0f,        0x1p-126f,   0x1p-149f,    FLT_MAX,     88.722839f,
    -87.336545f, -103.972084f, 11.090353f,   -17.328680f, 6.103611f,    -6.931472f,  128.0f,
    -126.0f,     -149.0f,      -150.0f,      16.0f,       -14.0f,       -25.0f,      8.8579810f,
    -10.0f,      9.0109133f,   0.34657359f,  0.70710678f, 1.4142135f,   2.7182818f,  0x1p-12f,
    0x1p-13f,    0.5f,         -0.5f,        32.0f,       INFINITY,     192.0f,      -136.0f,
    -92.8f,      0x1.01p-100f, 0x1.002p-60f, 0x1.2p-20f,  0x1.01p-126f, -0x1.1p-14f, 0x1.fep-1f,
};
enum { EDGES = sizeof edges / sizeof *edges, AROUND = 128 };

static uint32_t edge_input(uint32_t i)
{
    return bits_of(edges[i / AROUND]) + i % AROUND - AROUND / 2;
}

/* Powers of two (log2's exact cases), integers and half integers (exp2's). */
static uint32_t exact_input(uint32_t i)
{
    return i < 277 ? bits_of(ldexpf(1, (int)i - 149)) : bits_of((float)((int)i - 277 - 320) / 2);
}

static uint32_t hard_input(uint32_t i)
{
    return hard_inputs[i / AROUND].x + i % AROUND - AROUND / 2;
}

static void every_bf16_input(void **state)
{
    (void)state;
    check_inputs(bf16_input, 1 << 16);
}

static void every_fp16_input(void **state)
{
    (void)state;
    check_inputs(fp16_input, 1 << 16);
}

static void sampled_and_special_inputs(void **state)
{
    (void)state;
    check_inputs(spread_input, full_proof() ? 4000000 : 100000);
    check_inputs(edge_input, EDGES * AROUND);
    check_inputs(exact_input, 277 + 640);
    check_inputs(hard_input, HARD * AROUND);
}

static void in_place_and_short(void **state)
{
    (void)state;
    float x[600], y[600];
    for (size_t n = 0; n < 600; n += n < 40 ? 1 : 97) {
        for (size_t i = 0; i < 600; i++)
            x[i] = (float)i / 64;
        y[n] = 7;
        special_cr(FUNCTION_EXP, FORMAT_BF16, false, y, x, n);
        assert_true(y[n] == 7);
        special_cr(FUNCTION_EXP, FORMAT_BF16, false, x, x, n);
        assert_memory_equal(x, y, n * sizeof *x);
    }
}

/* Around midpoints of every format: within the bound of one a lane is open, a tenth beyond it is
   not and has the right float. */
static void open_within_the_bound(void **state)
{
    (void)state;
    const double bound = 0x1p-40, factors[] = {-1.1, -0.9, 0, 0.9, 1.1};
    uint64_t seed = 7;
    for (int k = 0; k < 2000 * CR_FORMATS; k++) {
        enum format f = cr_formats[k % CR_FORMATS];
        const struct format_info *info = format_info(f);
        struct rounding to = special_rounding(f, false);
        int lowest = f == FORMAT_FP32_FTZ ? info->emin : info->emin - info->precision + 1;
        int exponent = lowest + (int)(random_bits(&seed) % (uint64_t)(info->emax - lowest));
        double a = format_round(f, ldexp(1 + random_unit(&seed), exponent), false);
        double next = format_next(f, a, 1), middle = (a + next) / 2;
        for (int i = 0; i < 5; i++) {
            double value = middle * (1 + factors[i] * bound), open;
            double want = i < 2 ? a : next;
            float y;
            bool any = special_lanes()->round(&to, bound, &y, &open, &value, 1);
            if (any != (i > 0 && i < 4) || any != (open != 0) || (!any && y != want))
                fail_msg("%s: %a, between %a and %a: open %d, rounded to %a", info->name, value, a,
                         next, any, y);
        }
    }
}

/* Inputs whose result is finite and not 0, 1 or -1 for a trivial reason. */
static float bound_input(enum function fn, uint64_t *seed)
{
    double unit = random_unit(seed), sign = random_bits(seed) & 1 ? 1 : -1;
    bool wide_range = random_bits(seed) & 1;
    int exponent = (int)(random_bits(seed) % 30);
    switch (fn) {
    case FUNCTION_EXP:
        return wide_range ? (float)(unit * 180 - 100) : (float)(sign * ldexp(1 + unit, -exponent));
    case FUNCTION_EXP2:
        return wide_range ? (float)(unit * 270 - 140) : (float)(sign * ldexp(1 + unit, -exponent));
    case FUNCTION_TANH:
        return wide_range ? (float)(unit * 10) : (float)(sign * ldexp(1 + unit, 3 - exponent));
    default:
        return wide_range ? (float)ldexp(1 + unit, (int)(random_bits(seed) % 250) - 126)
                          : (float)(0.5 + 2 * unit);
    }
}

/* Largest |value/exact - 1| over random inputs and the floats around the hard ones. */
static double largest_error(enum function fn, uint32_t samples, float *worst_input)
{
    uint64_t seed = 20240229 + (uint64_t)fn;
    double worst = 0;
    mpfr_t exact, error;
    mpfr_inits2(160, exact, error, (mpfr_ptr)0);
    for (uint32_t i = 0; i < samples; i++) {
        float x = bound_input(fn, &seed);
        if (i < HARD * AROUND && hard_inputs[i / AROUND].fn == fn)
            x = float_of(hard_input(i));
        double value;
        special_lanes()->evaluate[fn](&value, &x, 1);
        oracle(exact, fn, x, MPFR_RNDN);
        if (mpfr_zero_p(exact)) {
            assert_true(value == 0);
            continue;
        }
        mpfr_d_sub(error, value, exact, MPFR_RNDN);
        mpfr_div(error, error, exact, MPFR_RNDN);
        double relative = fabs(mpfr_get_d(error, MPFR_RNDN));
        if (relative > worst) {
            worst = relative;
            *worst_input = x;
        }
    }
    mpfr_clears(exact, error, (mpfr_ptr)0);
    return worst;
}

static void bound_holds_and_is_not_bloated(void **state)
{
    (void)state;
    for (int fn = 0; fn < FUNCTION_COUNT; fn++) {
        float x = 0;
        double worst = largest_error((enum function)fn, full_proof() ? 3000000 : 100000, &x);
        printf("# note %-5s largest fp64 error seen 2^%.2f (%.2f of the bound 2^%.2f) at %08x\n",
               function_names[fn], log2(worst), worst / special_bound[fn], log2(special_bound[fn]),
               bits_of(x));
        assert_true(worst <= special_bound[fn]);
        assert_true(worst > special_bound[fn] / 16);
    }
}

struct count {
    uint64_t open, inputs;
};

/* One block: x[i] = first + i * step, as bits. */
static void prove_block(enum function fn, uint32_t first, uint32_t step, struct count *count)
{
    static float x[BLOCK], y[BLOCK], rounded[BLOCK];
    static double value[BLOCK];
    static uint32_t open[BLOCK];
    const double below = 1 - special_bound[fn], above = 1 + special_bound[fn];
    uint32_t any = 0;
    for (uint32_t i = 0; i < BLOCK; i++)
        x[i] = float_of(first + i * step);
    special_cr(fn, FORMAT_FP32, false, y, x, BLOCK);
    special_lanes()->evaluate[fn](value, x, BLOCK);
    for (uint32_t i = 0; i < BLOCK; i++) {
        rounded[i] = (float)value[i];
        open[i] = (float)(value[i] * below) != (float)(value[i] * above);
        any |= open[i] | (bits_of(rounded[i]) != bits_of(y[i]));
    }
    count->inputs += BLOCK;
    for (uint32_t i = 0; any != 0 && i < BLOCK; i++) {
        uint32_t want = bits_of(rounded[i]);
        if (isnan(value[i]) && (isnan(x[i]) || x[i] < 0)) {
            want = 0x7FC00000u;
        } else if (open[i] || isnan(value[i])) {
            count->open++;
            want = expected_bits(FORMAT_FP32, false, oracle_to_odd(fn, x[i]));
        }
        if (bits_of(y[i]) != want)
            fail_at(fn, FORMAT_FP32, false, bits_of(x[i]), bits_of(y[i]), want);
    }
}

static void every_float(void **state)
{
    (void)state;
    uint32_t blocks = full_proof() ? UINT32_C(1) << 20 : 256, step = full_proof() ? 1 : 4099;
    for (int fn = 0; fn < FUNCTION_COUNT; fn++) {
        struct count count = {0, 0};
        clock_t start = clock();
        for (uint32_t b = 0; b < blocks; b++)
            prove_block((enum function)fn, b * BLOCK * step, step, &count);
        printf(
            "# note %-5s %llu inputs, %llu left open by the bound and computed by MPFR, %.1f s\n",
            function_names[fn], (unsigned long long)count.inputs, (unsigned long long)count.open,
            (double)(clock() - start) / CLOCKS_PER_SEC);
    }
}

/* FNV-1a over the results of every function and format, and poly's. */
static uint64_t digest(void)
{
    static float x[BLOCK], y[BLOCK];
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t block = 0; block < 16; block++)
        for (int k = 0; k < FUNCTION_COUNT * (CR_FORMATS + 1); k++) {
            enum function fn = (enum function)(k % FUNCTION_COUNT);
            for (uint32_t i = 0; i < BLOCK; i++)
                x[i] = float_of(spread_input(block * BLOCK + i));
            if (k / FUNCTION_COUNT < CR_FORMATS)
                special_cr(fn, cr_formats[k / FUNCTION_COUNT], false, y, x, BLOCK - 3);
            else
                special_poly(fn, y, x, BLOCK - 3);
            for (uint32_t i = 0; i < BLOCK - 3; i++)
                hash = (hash ^ bits_of(y[i])) * UINT64_C(1099511628211);
        }
    return hash;
}

static const char *program;

/* This program again, at another level. */
static void same_bits_at_every_level(void **state)
{
    (void)state;
    uint64_t want = digest();
    for (int level = 0; CPU_LEVELS > 1 && level < CPU_LEVELS; level++) {
        const char *name = cpu_level_name((enum cpu_level)level);
        char command[600], used[16];
        unsigned long long got;
        snprintf(command, sizeof command, "FLASHULP_CPU=%s '%s' digest", name, program);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_int_equal(fscanf(pipe, "%15s %llx", used, &got), 2);
        assert_int_equal(pclose(pipe), 0);
        if (strcmp(used, name) != 0) {
            printf("# note level %s: this processor lacks it, not tested\n", name);
            continue;
        }
        assert_true(got == want);
    }
    /* and under every compiler, at every optimisation, on every machine */
    assert_true(want == UINT64_C(0x6ca9343947172998));
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 2 && strcmp(argv[1], "digest") == 0) {
        printf("%s %llx\n", cpu_level_name(cpu_level()), (unsigned long long)digest());
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bf16_input),
        cmocka_unit_test(every_fp16_input),
        cmocka_unit_test(sampled_and_special_inputs),
        cmocka_unit_test(in_place_and_short),
        cmocka_unit_test(open_within_the_bound),
        cmocka_unit_test(bound_holds_and_is_not_bloated),
        cmocka_unit_test(every_float),
        cmocka_unit_test(same_bits_at_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
