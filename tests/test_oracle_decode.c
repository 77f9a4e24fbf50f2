/* test_oracle_decode.c: are the judges of the decode kernels sane?

   Against attention by its definition in double, within what 16-bit weights and outputs allow; on
   inputs whose answer is known; and against their own recorded digests, so that a judge does not
   change by accident. */
#include "tests/oracle_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

struct arrays {
    float *q, *k, *v, *O;
};

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static float *draw_array(int64_t n, double size, enum oracle_type type, uint64_t *state)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double sum = -6; /* about normal */
        for (int j = 0; j < 12; j++)
            sum += ldexp((double)(draw(state) >> 11), -53);
        x[i] = oracle_half((float)(size * sum), type);
    }
    return x;
}

static struct arrays draw_case(struct decode_case *c, double size, uint64_t seed)
{
    struct arrays a;
    c->q = a.q = draw_array(c->rows * c->D, size, c->type, &seed);
    c->k = a.k = draw_array(c->keys * c->D, size, c->type, &seed);
    c->v = a.v = draw_array(c->keys * c->D, 1, c->type, &seed);
    a.O = calloc((size_t)(c->rows * c->D), sizeof(float));
    if (c->scale == 0)
        c->scale = (float)(1 / sqrt((double)c->D));
    return a;
}

static void free_arrays(struct arrays *a)
{
    free(a->q);
    free(a->k);
    free(a->v);
    free(a->O);
}

static uint64_t digest(const float *x, int64_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < 4 * n; i++)
        h = (h ^ (to_bits(x[i / 4]) >> 8 * (i % 4) & 255)) * UINT64_C(0x100000001b3);
    return h;
}

static void expect_equal(const char *name, const float *got, const float *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (to_bits(got[i]) != to_bits(want[i]))
            fail_msg("%s: element %d is %08x (%g), not %08x (%g)", name, (int)i, to_bits(got[i]),
                     got[i], to_bits(want[i]), want[i]);
}

/* O by the definition, and the weighted mean of |v|, which errors are measured by. */
static void define_row(const struct decode_case *c, int64_t r, double *O, double *size)
{
    double *s = malloc((size_t)c->keys * sizeof *s), top = -INFINITY, sum = 0;
    for (int64_t t = 0; t < c->keys; t++) {
        s[t] = 0;
        for (int64_t d = 0; d < c->D; d++)
            s[t] += (double)c->q[r * c->D + d] * c->k[t * c->D + d];
        s[t] *= c->scale;
        top = fmax(top, s[t]);
    }
    for (int64_t d = 0; d < c->D; d++)
        O[d] = size[d] = 0;
    for (int64_t t = 0; t < c->keys; t++) {
        double p = exp(s[t] - top);
        sum += p;
        for (int64_t d = 0; d < c->D; d++) {
            O[d] += p * c->v[t * c->D + d];
            size[d] += p * fabs(c->v[t * c->D + d]);
        }
    }
    for (int64_t d = 0; d < c->D; d++)
        O[d] /= sum, size[d] /= sum;
    free(s);
}

static void expect_near_definition(const char *name, const struct decode_case *c, const float *O,
                                   double bound)
{
    double *want = malloc(2 * (size_t)c->D * sizeof *want), *size = want + c->D;
    for (int64_t r = 0; r < c->rows; r++) {
        define_row(c, r, want, size);
        for (int64_t d = 0; d < c->D; d++) {
            double error = fabs(O[r * c->D + d] - want[d]) / size[d];
            if (!(error <= bound))
                fail_msg("%s: row %d, column %d: %a, not %a: off by %g, allowed %g", name, (int)r,
                         (int)d, O[r * c->D + d], want[d], error, bound);
        }
    }
    free(want);
}

static void xqa(const struct decode_case *c, float *O)
{
    oracle_xqa(c, &(struct xqa_options){0}, O);
}

static void paged(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){0}, O);
}

static void paged_8(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.page = 8}, O);
}

static void paged_32(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.page = 32}, O);
}

static void paged_v1(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.partition = -1}, O);
}

static void unified(const struct decode_case *c, float *O)
{
    oracle_triton_unified(c, &(struct triton_options){0}, O);
}

static void unified_32(const struct decode_case *c, float *O)
{
    oracle_triton_unified(c, &(struct triton_options){.tile = 32}, O);
}

static void sglang(const struct decode_case *c, float *O)
{
    oracle_sglang(c, &(struct triton_options){0}, O);
}

static void sglang_vllm(const struct decode_case *c, float *O)
{
    oracle_sglang(c, &(struct triton_options){.unaligned_splits = true}, O);
}

static void triton_fa(const struct decode_case *c, float *O)
{
    oracle_triton_fa(c, &(struct triton_options){.tile = c->keys < 64 ? 8 : 64}, O, NULL);
}

static void trtllm(const struct decode_case *c, float *O)
{
    oracle_trtllm(c, &(struct trtllm_options){0}, O);
}

static void trtllm_rounded(const struct decode_case *c, float *O)
{
    oracle_trtllm(c, &(struct trtllm_options){.rounded_weights = true}, O);
}

static void trtllm_running(const struct decode_case *c, float *O)
{
    oracle_trtllm(c, &(struct trtllm_options){256, 64, true}, O);
}

static const struct judged {
    const char *name;
    void (*run)(const struct decode_case *, float *);
    enum oracle_type type;
    enum oracle_unit unit;
    int rows, keys, D, splits;
    uint64_t digest;
} judged[] = {
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 3, 700, 256, 1, 0x2dee0c1a51765596},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 2, 1999, 256, 3, 0x426d59762caa1285},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM120, 16, 330, 256, 1, 0x4fe04e5db39d4021},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 2, 1200, 128, 1, 0x5395121530bb87ce},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM120, 2, 1200, 128, 1, 0x2d61de52dc6d7296},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 3, 1350, 128, 3, 0x9bac4bb3c91b662f},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM120, 3, 1350, 128, 3, 0xbb6ecfe6abfc1bba},
    {"paged", paged, ORACLE_BF16, ORACLE_SM90, 3, 1100, 128, 0, 0x056a5e883fecac64},
    {"paged, 130 partitions", paged, ORACLE_BF16, ORACLE_SM90, 1, 66100, 16, 0, 0x63c59e4a6dbe1580},
    {"paged, pages of 8", paged_8, ORACLE_BF16, ORACLE_SM90, 2, 777, 64, 0, 0x7917cc8db7ba6819},
    {"paged, pages of 32", paged_32, ORACLE_BF16, ORACLE_SM90, 1, 1600, 256, 0, 0xa12bb882ba4aaa05},
    {"paged v1", paged_v1, ORACLE_BF16, ORACLE_SM90, 2, 1100, 128, 0, 0xf74e556b9c731222},
    {"unified", unified, ORACLE_BF16, ORACLE_SM90, 2, 1700, 128, 16, 0xdc479328fcde509c},
    {"unified, long", unified, ORACLE_BF16, ORACLE_SM90, 1, 5000, 256, 16, 0xf4043603afe2d132},
    {"unified, fp16", unified, ORACLE_FP16, ORACLE_SM80, 3, 600, 64, 16, 0x3a2e0477f1e8e3fd},
    {"unified, tiles of 32", unified_32, ORACLE_BF16, ORACLE_SM80, 2, 1111, 64, 16,
     0x50f21ee3871634aa},
    {"sglang", sglang, ORACLE_BF16, ORACLE_SM90, 2, 1700, 128, 8, 0x7b0e3743687bc3a0},
    {"sglang, fp16", sglang, ORACLE_FP16, ORACLE_SM80, 2, 999, 64, 3, 0x9d14940e6d63621d},
    {"sglang, unaligned", sglang_vllm, ORACLE_BF16, ORACLE_SM90, 2, 1003, 128, 4,
     0x5e28772c4e3f1da9},
    {"triton-fa", triton_fa, ORACLE_FP16, ORACLE_SM90, 3, 640, 64, 1, 0x73c61ac6a999d53b},
    {"triton-fa, sm80", triton_fa, ORACLE_BF16, ORACLE_SM80, 2, 512, 128, 1, 0x4d07ee8e4511dffa},
    {"trtllm", trtllm, ORACLE_BF16, ORACLE_SM100, 2, 1000, 128, 1, 0x65e7d88d01cae597},
    {"trtllm, rounded", trtllm_rounded, ORACLE_BF16, ORACLE_SM100, 2, 1000, 128, 1,
     0xcc3762525baca84c},
    {"trtllm, running", trtllm_running, ORACLE_BF16, ORACLE_SM100, 2, 1111, 128, 1,
     0x6d80684ed53ad300},
    {"trtllm, fp16", trtllm_rounded, ORACLE_FP16, ORACLE_SM100, 2, 700, 64, 1, 0xceb147630e5c854d},
};

static struct decode_case case_of(const struct judged *j)
{
    return (struct decode_case){.type = j->type,
                                .out = j->type,
                                .unit = j->unit,
                                .rows = j->rows,
                                .keys = j->keys,
                                .D = j->D,
                                .splits = j->splits};
}

static void every_case(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < COUNT(judged); i++) {
        struct decode_case c = case_of(&judged[i]);
        struct arrays a = draw_case(&c, 2, 2026 + (uint64_t)i);
        judged[i].run(&c, a.O);
        expect_near_definition(judged[i].name, &c, a.O, 0x1p-6);
        uint64_t got = digest(a.O, c.rows * c.D);
        wrong += got != judged[i].digest;
        if (got != judged[i].digest)
            print_error("case %d, %s: digest 0x%016llx, not 0x%016llx\n", i, judged[i].name,
                        (unsigned long long)got, (unsigned long long)judged[i].digest);
        free_arrays(&a);
    }
    assert_int_equal(wrong, 0);
}

/* The weight of a single token is 1, whatever the kernel.  triton_fa takes whole tiles only. */
static void one_token(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(judged); i++) {
        struct decode_case c = case_of(&judged[i]);
        if (judged[i].run == triton_fa)
            continue;
        c.keys = 1;
        struct arrays a = draw_case(&c, 2, 7 + (uint64_t)i);
        judged[i].run(&c, a.O);
        for (int64_t r = 0; r < c.rows; r++)
            expect_equal(judged[i].name, a.O + r * c.D, a.v, c.D);
        free_arrays(&a);
    }
}

/* Equal scores and equal values: the output is that value, if no token is lost and sums are good to
   an ulp of 16 bits.  Paged attention rounds 1 / keys to bf16, and XQA with D = 128 adds halves in bf16: there
   only powers of 2. */
static void equal_values(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(judged); i++) {
        struct decode_case c = case_of(&judged[i]);
        if (strncmp(judged[i].name, "paged", 5) == 0)
            c.keys = judged[i].run == paged_v1 ? 512 : 1024;
        if (judged[i].run == xqa && c.D == 128)
            c.keys = 1024, c.splits = c.splits > 1 ? 4 : 1;
        struct arrays a = draw_case(&c, 2, 70 + (uint64_t)i);
        memset(a.q, 0, (size_t)(c.rows * c.D) * sizeof *a.q);
        for (int64_t t = 1; t < c.keys; t++)
            memcpy(a.v + t * c.D, a.v, (size_t)c.D * sizeof *a.v);
        judged[i].run(&c, a.O);
        for (int64_t r = 0; r < c.rows; r++)
            expect_equal(judged[i].name, a.O + r * c.D, a.v, c.D);
        free_arrays(&a);
    }
}

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

static float bf16(float x)
{
    return oracle_half(x, ORACLE_BF16);
}

/* Token t scores 1 for t < ones, then 0; the last one y.  Its value is 1, all others 0. */
static float xqa_last_weight(int64_t ones, int64_t keys, float y)
{
    struct decode_case c = {.rows = 1, .keys = keys, .D = 256, .splits = 1};
    c.unit = ORACLE_SM90;
    float *x = calloc((size_t)(2 * (keys + 1) * c.D), sizeof *x), O[256];
    float *q = x, *k = x + c.D, *v = k + keys * c.D;
    q[0] = 16;
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
   maximum leaves its slot as it was. */
static void xqa_weights_rounded_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t ones, keys;
        bool hinted;
    } rows[] = {{"first tile, second piece", 64, 128, false},
                {"second tile, first piece: slot 0 holds 1", 256, 320, true},
                {"second tile, second piece: slot 1 was never written", 320, 384, false}};
    int visible = 0;
    float s = oracle_exp_product(-1, true);
    for (int i = 0; i < 3 * 64; i++) {
        int row = i % 3;
        float y = bf16(-0.01f * (float)(i / 3 + 1)), bias = rows[row].hinted ? LOG2E : 0;
        float p = bf16(oracle_exp2(fmaf(y, LOG2E, -bias)));
        float others = rows[row].hinted ? bf16(oracle_exp2(-LOG2E)) : 1, l = 63 * others + p;
        if (!rows[row].hinted)
            l = l * s;
        float again = bf16(p * bf16(s)), inverse = oracle_reciprocal((float)rows[row].ones + l);
        float want = bf16((rows[row].hinted ? p : again) * inverse);
        visible += !rows[row].hinted && want != bf16(p * s * inverse);
        float got = xqa_last_weight(rows[row].ones, rows[row].keys, y);
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
    const float third = bf16(1.0f / 3), p = bf16(oracle_reciprocal(88));
    const float in_600 = oracle_reciprocal(600), in_88 = oracle_reciprocal(88);
    const float paged_2 = bf16(88 * bf16(p * third)); /* 8 + 7 bits: the sum is exact */
    float trt = fmaf(bf16(88 * third), 1, 512);
    float third_88 = bf16(88 * third * in_88);
    struct {
        const char *name;
        float got, want;
    } rows[] = {
        {"paged", of_equal_scores(paged, 600, 512, third, 0),
         fmaf(paged_2 * 88, in_600, 512 * in_600)},
        {"xqa", of_equal_scores(xqa, 344, 256, third, 2),
         fmaf(third_88, 88, 256) * oracle_reciprocal(344)},
        {"trtllm", of_equal_scores(trtllm, 216, 128, third, 0),
         (trt - 384) * oracle_reciprocal(216)},
        {"unified", of_equal_scores(unified, 24, 16, third, 16),
         (16 + 8 * third) * oracle_reciprocal(24)},
        {"sglang", of_equal_scores(sglang, 40, 32, third, 2),
         /* weights relative to the larger LSE, log 32 */
         fmaf(oracle_exp_product(oracle_log(8) - oracle_log(32), false), 8 * third / 8, 1) *
             oracle_reciprocal(1 + oracle_exp_product(oracle_log(8) - oracle_log(32), false))}};
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
            p[t] = oracle_exp_product(k[16 * t], false);
        }
        v[0] = 1;
        for (int w = 0; w < 4; w++) {
            const float *x = p + 8 * w;
            W[w] = ((x[0] + x[1]) + (x[4] + x[5])) + ((x[2] + x[3]) + (x[6] + x[7]));
        }
        float want = oracle_reciprocal((W[0] + W[2]) + (W[1] + W[3]));
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

static const struct variant {
    const char *name;
    double size; /* of queries and keys; 0: 1 */
    void (*base)(const struct decode_case *, float *);
    struct triton_options triton;
    struct paged_options paged;
    struct trtllm_options trtllm;
} variants[] = {
    {.name = "chain of weights", .base = unified, .triton = {.weights = {TRITON_CHAIN, 1}}},
    {.name = "chain of segments", .base = unified, .triton = {.segment_sums = {TRITON_CHAIN, 1}}},
    {.name = "butterfly of values",
     .base = unified,
     .triton = {.segment_values = {TRITON_STRIDED, 16}}},
    {.name = "separate segments", .base = unified, .triton = {.separate_segments = true}},
    {.name = "separate sum", .base = unified, .triton = {.separate_sum = true}},
    {.name = "values apart", .base = unified, .triton = {.values_apart = true}},
    {.name = "division", .base = unified, .triton = {.division_rounded_once = true}},
    {.name = "tile", .base = unified, .triton = {.tile = 32}},
    {.name = "chain of weights", .base = sglang, .triton = {.weights = {TRITON_CHAIN, 1}}},
    {.name = "log", .base = sglang, .triton = {.log = TRITON_LG2_LN2}},
    {.name = "log, fused", .base = sglang, .triton = {.log = TRITON_LG2_LN2_FUSED}},
    {.name = "merge, new", .base = sglang, .triton = {.merge = TRITON_FUSE_NEW}},
    {.name = "merge, nothing", .base = sglang, .triton = {.merge = TRITON_FUSE_NOTHING}},
    {.name = "unaligned", .base = sglang, .triton = {.unaligned_splits = true}},
    {.name = "argument", .base = triton_fa, .triton = {.separate_argument = true}},
    {.name = "four warps", .base = triton_fa, .triton = {.weights = {TRITON_FRAGMENTS, 4}}},
    {.name = "K vector", .base = paged, .paged = {.key_vector = 8}},
    {.name = "pairs of scores", .base = paged, .paged = {.scores_by_pairs = true}},
    {.name = "chain of values",
     .size = 4,
     .base = paged_v1,
     .paged = {.partition = -1, .values_in_chain = true}},
    {.name = "expf", .base = paged, .paged = {.exp_rounded_once = true}},
    {.name = "accumulation", .base = paged, .paged = {.separate_accumulation = true}},
    {.name = "partition", .base = paged, .paged = {.partition = 256}},
    {.name = "rounded weights", .base = trtllm, .trtllm = {.rounded_weights = true}},
    {.name = "running maximum", .base = trtllm, .trtllm = {.tile = 32}},
    {.name = "tokens", .base = trtllm, .trtllm = {.tokens = 64}},
};

static void run_variant(const struct variant *w, const struct decode_case *c, float *O)
{
    if (w->base == unified)
        oracle_triton_unified(c, &w->triton, O);
    else if (w->base == sglang)
        oracle_sglang(c, &w->triton, O);
    else if (w->base == triton_fa)
        oracle_triton_fa(c, &w->triton, O, NULL);
    else if (w->base == paged || w->base == paged_v1)
        oracle_paged(c, &w->paged, O);
    else
        oracle_trtllm(c, &w->trtllm, O);
}

/* Every option moves some bit of the unrounded output, sooner or later, and none the answer. */
static void options_count(void **state)
{
    (void)state;
    enum { SEEDS = 40 };
    for (int i = 0; i < COUNT(variants); i++) {
        bool changed = false;
        for (int seed = 0; seed < SEEDS && !changed; seed++) {
            struct decode_case c = {.rows = 4, .keys = 576, .D = 32, .splits = 4};
            c.out = ORACLE_FP32, c.unit = ORACLE_SM90;
            struct arrays a =
                draw_case(&c, variants[i].size == 0 ? 1 : variants[i].size, (uint64_t)seed);
            float O[4 * 32];
            variants[i].base(&c, O);
            run_variant(&variants[i], &c, a.O);
            changed = memcmp(O, a.O, sizeof O) != 0;
            expect_near_definition(variants[i].name, &c, a.O, 0x1p-6);
            free_arrays(&a);
        }
        if (!changed)
            fail_msg("%s changes nothing", variants[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case),
                                       cmocka_unit_test(one_token),
                                       cmocka_unit_test(xqa_empty_groups),
                                       cmocka_unit_test(xqa_weights_rounded_again),
                                       cmocka_unit_test(paged_block_table),
                                       cmocka_unit_test(equal_values),
                                       cmocka_unit_test(merges),
                                       cmocka_unit_test(triton_tree),
                                       cmocka_unit_test(triton_fa_causal),
                                       cmocka_unit_test(options_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
