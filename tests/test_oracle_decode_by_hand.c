/* test_oracle_decode_by_hand.c: the judges of the decode kernels on inputs small enough to work out
   by hand, operation by operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/decode_case.h"

/* Groups without tokens weigh nothing; merging a single group gives that group. */
static void xqa_empty_groups(void **state)
{
    (void)state;
    static const struct {
        int64_t D, keys, splits, more;
        enum oracle_unit unit;
    } rows[] = {{256, 100, 1, 3, ORACLE_SM90},  {256, 300, 2, 5, ORACLE_SM90},
                {128, 300, 2, 5, ORACLE_SM90},  {128, 300, 2, 4, ORACLE_SM120},
                {128, 600, 3, 33, ORACLE_SM90}, {128, 20, 1, 2, ORACLE_SM120}};
    for (int i = 0; i < COUNT(rows); i++) {
        struct decode_case c = {.rows = 3,
                                .keys = rows[i].keys,
                                .D = rows[i].D,
                                .unit = rows[i].unit,
                                .splits = rows[i].splits};
        struct arrays a = draw_case(&c, 2, 40 + (uint64_t)i);
        float *more = calloc((size_t)(c.rows * c.D), sizeof *more);
        xqa(&c, a.O);
        c.splits = rows[i].more;
        xqa(&c, more);
        expect_equal("xqa, more groups than tiles", more, a.O, c.rows * c.D);
        free(more);
        free_arrays(&a);
    }
}

/* Token t scores 1 for t < ones, then 0; the last one y.  Its value is 1, all others 0.
   `second`: a second query row, which scores 0 but 5 for token 64. */
static float xqa_last_weight(int64_t ones, int64_t keys, float y, bool second)
{
    struct decode_case c = {.rows = second ? 2 : 1, .keys = keys, .D = 256, .splits = 1};
    c.unit = ORACLE_SM90;
    float *x = calloc((size_t)(2 * (keys + 1) * c.D), sizeof *x), O[2 * 256];
    float *q = x, *k = x + 2 * c.D, *v = k + keys * c.D;
    q[0] = 16;
    q[c.D + 1] = second ? 16 : 0;
    k[64 * c.D + 1] = 5;
    for (int64_t t = 0; t < keys; t++)
        k[t * c.D] = t < ones ? 1 : 0;
    k[(keys - 1) * c.D] = y;
    v[(keys - 1) * c.D] = 1;
    c.q = q, c.k = k, c.v = v;
    xqa(&c, O);
    free(x);
    return O[0];
}

/* A piece whose maximum lies below the running one has its weights rounded to bf16 again, by a
   rounded scale; not where slot x already held that maximum.  A piece that does not differ in its
   maximum in any row leaves its slot as it was. */
static void xqa_weights_rounded_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t ones, keys;
        bool hinted, second;
    } rows[] = {{"first tile, second piece", 64, 128, false, false},
                {"second tile, first piece: slot 0 holds 1", 256, 320, true, false},
                {"second tile, second piece: slot 1 was never written", 320, 384, false, false},
                {"the same, written for the second row's sake", 320, 384, true, true}};
    int visible = 0;
    float s = fast_exp(-1);
    for (int i = 0; i < COUNT(rows) * 64; i++) {
        int row = i % COUNT(rows);
        float y = bf16(-0.01f * (float)(i / COUNT(rows) + 1)),
              bias = rows[row].hinted ? ORACLE_LOG2E : 0;
        float p = bf16(plain_exp2(fmaf(y, ORACLE_LOG2E, -bias)));
        float others = rows[row].hinted ? bf16(plain_exp2(-ORACLE_LOG2E)) : 1, l = 63 * others + p;
        if (!rows[row].hinted)
            l = l * s;
        float again = bf16(p * bf16(s)), inverse = 1 / ((float)rows[row].ones + l);
        float want = bf16((rows[row].hinted ? p : again) * inverse);
        visible += !rows[row].hinted && want != bf16(p * s * inverse);
        float got = xqa_last_weight(rows[row].ones, rows[row].keys, y, rows[row].second);
        if (got != want)
            fail_msg("%s, score %a: %a, not %a", rows[row].name, y, got, want);
    }
    if (visible < 10)
        fail_msg("only %d of 128 cases show the second rounding", visible);
}

/* Pages in any physical order: the same bits.  Tokens past the end of the last page are not read
   for anything: they are NaN here. */
static void paged_block_table(void **state)
{
    (void)state;
    static const int pages[] = {8, 16, 32};
    for (int i = 0; i < COUNT(pages); i++) {
        struct decode_case c = {.rows = 2, .keys = 1203, .D = 64};
        struct arrays a = draw_case(&c, 2, 90 + (uint64_t)i);
        int64_t page = pages[i], count = (c.keys + page - 1) / page, row = c.D, table[151];
        size_t n = (size_t)(count * page * row);
        float *k = malloc(n * sizeof *k), *v = malloc(n * sizeof *v), O[2 * 64];
        for (size_t j = 0; j < n; j++)
            k[j] = v[j] = NAN;
        for (int64_t j = 0; j < count; j++)
            table[j] = (j * 7 + 3) % count; /* 7 divides none of the counts */
        for (int64_t t = 0; t < c.keys; t++) {
            int64_t at = table[t / page] * page + t % page;
            memcpy(k + at * row, c.k + t * row, (size_t)row * sizeof *k);
            memcpy(v + at * row, c.v + t * row, (size_t)row * sizeof *v);
        }
        oracle_paged(&c, &(struct paged_options){.page = pages[i]}, a.O);
        c.k = k, c.v = v;
        oracle_paged(&c, &(struct paged_options){.table = table, .page = pages[i]}, O);
        expect_equal("paged, permuted pages", O, a.O, 2 * 64);
        free(k);
        free(v);
        free_arrays(&a);
    }
}

/* Scores 0; values 1 in the first `ones` tokens, then v; the first output, not rounded to 16 bits.
   D = 256. */
static float of_equal_scores(void (*run)(const struct decode_case *, float *), int keys, int ones,
                             float v, int splits)
{
    struct decode_case c = {.out = ORACLE_FP32, .unit = ORACLE_SM90, .rows = 1, .scale = 1};
    c.D = 256, c.keys = keys, c.splits = splits;
    float *x = calloc((size_t)((2 * keys + 1) * c.D), sizeof *x), O[256];
    c.q = x, c.k = x + c.D, c.v = c.k + keys * c.D;
    for (int64_t i = 0; i < keys * c.D; i++)
        x[(keys + 1) * c.D + i] = i < ones * c.D ? 1 : v;
    run(&c, O);
    free(x);
    return O[0];
}

/* Merges of two groups, worked out by hand for equal scores, where every weight is 1. */
static void merges(void **state)
{
    (void)state;
    const float third = bf16(1.0f / 3), p = bf16(1.0f / 88);
    const float in_600 = 1.0f / 600, in_88 = 1.0f / 88;
    const float paged_2 = bf16(88 * bf16(p * third)); /* 8 + 7 bits: the sum is exact */
    float trt = fmaf(bf16(88 * third), 1, 512);
    float third_88 = bf16(88 * third * in_88);
    struct {
        const char *name;
        float got, want;
    } rows[] = {
        {"paged", of_equal_scores(paged, 600, 512, third, 0),
         fmaf(paged_2 * 88, in_600, 512 * in_600)},
        {"xqa", of_equal_scores(xqa, 344, 256, third, 2), fmaf(third_88, 88, 256) * (1.0f / 344)},
        {"trtllm", of_equal_scores(trtllm, 216, 128, third, 0), (trt - 384) * (1.0f / 216)},
        {"unified", of_equal_scores(unified, 24, 16, third, 16), (16 + 8 * third) * (1.0f / 24)},
        {"sglang", of_equal_scores(sglang, 40, 32, third, 2),
         /* weights relative to the larger LSE, log 32 */
         fmaf(plain_exp_product(plain_log(8) - plain_log(32)), 8 * third / 8, 1) *
             (1 / (1 + plain_exp_product(plain_log(8) - plain_log(32))))}};
    for (int i = 0; i < COUNT(rows); i++)
        if (to_bits(rows[i].got) != to_bits(rows[i].want))
            fail_msg("%s: %a, not %a", rows[i].name, rows[i].got, rows[i].want);
}

/* 32 columns over 4 warps, as third parties wrote it down: pairs, a quad's butterfly, the warps'.
   Its reciprocal is what a value of 1 on a token of weight 1 comes out as. */
static void triton_tree(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 100; round++) {
        float q[16] = {1}, k[32 * 16] = {0}, v[32 * 16] = {0}, p[32], W[4], O[16];
        for (int t = 0; t < 32; t++) {
            k[16 * t] = t == 0 ? 0 : -(float)(draw(&seed) % 256) / 64;
            p[t] = plain_exp_product(k[16 * t]);
        }
        v[0] = 1;
        for (int w = 0; w < 4; w++) {
            const float *x = p + 8 * w;
            W[w] = ((x[0] + x[1]) + (x[4] + x[5])) + ((x[2] + x[3]) + (x[6] + x[7]));
        }
        float want = 1 / ((W[0] + W[2]) + (W[1] + W[3]));
        struct decode_case c = {1, 32, 16, q, k, v, ORACLE_BF16, ORACLE_FP32, 1, ORACLE_SM90, 8};
        sglang(&c, O);
        expect_equal("sglang, one tile", O, &want, 1);
        unified_32(&c, O);
        expect_equal("unified, one tile", O, &want, 1);
    }
}

/* Row r of the causal tutorial kernel sees keys 0 .. r; the LSE is in base 2. */
static void triton_fa_causal(void **state)
{
    (void)state;
    const struct triton_options options = {.tile = 32, .query_tile = 64, .causal = true};
    struct decode_case c = {.rows = 192, .keys = 192, .D = 64, .out = ORACLE_FP32};
    struct arrays a = draw_case(&c, 2, 11);
    float lse[192];
    oracle_triton_fa(&c, &options, a.O, lse);
    expect_equal("triton-fa, first row", a.O, a.v, c.D);
    for (int r = 1; r < 192; r++) {
        struct decode_case row = c;
        row.rows = 1, row.keys = r + 1, row.q = a.q + r * c.D;
        expect_near_definition("triton-fa, causal", &row, a.O + r * c.D, 0x1p-6);
    }
    memset(a.q, 0, (size_t)(c.rows * c.D) * sizeof *a.q);
    oracle_triton_fa(&c, &options, a.O, lse);
    for (int power = 0; power < 8; power++)
        assert_true(lse[(1 << power) - 1] == (float)power); /* 2^power equal scores, 0 */
    free_arrays(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xqa_empty_groups),  cmocka_unit_test(xqa_weights_rounded_again),
        cmocka_unit_test(paged_block_table), cmocka_unit_test(merges),
        cmocka_unit_test(triton_tree),       cmocka_unit_test(triton_fa_causal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
