/* test_products.c: the matrix products of every processor level this machine has, on tiles larger
   and smaller than the register blocks, with and without intervals, against one chain of fmaf for
   each output.  Other formats and orders: test_verbs.c, on smaller tiles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/arith.h"
#include "simulator/cpu.h"
#include "tests/random_problem.h"

extern const struct arithmetic arith_float_base, arith_float_v3, arith_float_v4;

enum product { ABT, AB, ATB, PRODUCTS };
static const char *const names[PRODUCTS] = {"mma_abt", "mma_ab", "mma_atb"};

struct sizes {
    int rows, cols, depth;
};

static struct tile *drawn(struct run *r, int rows, int cols, uint64_t *state)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, rows, cols);
    float *x = t->data;
    for (int i = 0; i < rows * cols; i++)
        x[i] = draw_below(state, 16) == 0 ? -0.0f : (float)draw_normal(state, 1);
    return t;
}

/* Intervals of every sort; `alike` rows of eight see the same. */
static void draw_intervals(struct tile *t, bool alike, uint64_t *state)
{
    t->masked = true;
    for (int i = 0; i < t->rows; i++) {
        int lo = (int)draw_below(state, t->cols + 1), hi = (int)draw_below(state, t->cols + 1);
        t->lo[i] = hi < lo ? 0 : lo / 2; /* now and then nothing */
        t->hi[i] = hi < lo ? 0 : t->cols - (t->cols - hi) / 2;
        if (alike && i % 8 != 0) {
            t->lo[i] = t->lo[i - 1];
            t->hi[i] = t->hi[i - 1];
        }
    }
}

static bool seen(const struct tile *a, int row, int col)
{
    return !a->masked || (col >= a->lo[row] && col < a->hi[row]);
}

/* One output: hidden terms are +0. */
static float chain(enum product product, const struct tile *a, const struct tile *b, int depth,
                   float sum, int i, int c)
{
    const float *x = a->data, *y = b->data;
    for (int k = 0; k < depth; k++) {
        float factor = product == ATB ? x[k * a->cols + i] : x[i * a->cols + k];
        float other = product == ABT ? y[c * b->cols + k] : y[k * b->cols + c];
        bool counts = product == ABT || (product == ATB ? seen(a, k, i) : seen(a, i, k));
        sum = counts ? fmaf(factor, other, sum) : sum + 0.0f;
    }
    return sum;
}

static void check(const struct arithmetic *arith, enum product product, struct sizes s,
                  uint64_t seed)
{
    struct run r;
    struct message why;
    struct policy policy = policy_table(POLICY_FP32);
    uint64_t state = seed;
    assert_true(run_new(&r, arith, &policy, 53, &why));
    struct tile *dst = drawn(&r, s.rows, s.cols, &state);
    struct tile *a = product == ATB ? drawn(&r, s.depth, s.rows, &state)
                                    : drawn(&r, s.rows, s.depth, &state);
    struct tile *b = product == ABT ? drawn(&r, s.cols, s.depth, &state)
                                    : drawn(&r, s.depth, s.cols, &state);
    if (product != ABT && draw_below(&state, 3) != 0)
        draw_intervals(a, draw_below(&state, 2) == 0, &state);
    float *want = malloc(sizeof *want * (size_t)(s.rows * s.cols)), *got = dst->data;
    assert_non_null(want);
    for (int n = 0; n < s.rows * s.cols; n++)
        want[n] = chain(product, a, b, s.depth, product == ABT ? 0 : got[n], n / s.cols,
                        n % s.cols);
    if (product == ABT)
        mma_abt(&r, dst, a, b, SITE_SCORE_ACC);
    else if (product == AB)
        mma_ab(&r, dst, a, b, SITE_PV_PRODUCT, SITE_OUT_ACC);
    else
        mma_atb(&r, dst, a, b, SITE_PV_PRODUCT, SITE_OUT_ACC);
    for (int n = 0; n < s.rows * s.cols; n++)
        if (memcmp(&want[n], &got[n], sizeof *got) != 0)
            fail_msg("%s %dx%dx%d seed %llu: [%d][%d] is %a, the chain %a", names[product], s.rows,
                     s.cols, s.depth, (unsigned long long)seed, n / s.cols, n % s.cols,
                     (double)got[n], (double)want[n]);
    free(want);
    run_free(&r);
}

static void all_sizes(const struct arithmetic *arith)
{
    static const int rows[] = {1, 7, 8, 12, 17, 64}, cols[] = {1, 15, 16, 32, 33, 64, 100};
    static const int depths[] = {1, 3, 8, 65};
    uint64_t seed = 1;
    for (int product = 0; product < PRODUCTS; product++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (size_t j = 0; j < sizeof cols / sizeof *cols; j++)
                for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
                    for (int n = 0; n < 4; n++)
                        check(arith, (enum product)product,
                              (struct sizes){rows[i], cols[j], depths[k]}, seed++);
}

static void equal_chains(void **unused)
{
    (void)unused;
    all_sizes(&arith_float_base);
#ifdef __x86_64__
    if (cpu_level() >= CPU_V3)
        all_sizes(&arith_float_v3);
    if (cpu_level() >= CPU_V4)
        all_sizes(&arith_float_v4);
    print_message("# note products: levels up to %s\n", cpu_level_name(cpu_level()));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
