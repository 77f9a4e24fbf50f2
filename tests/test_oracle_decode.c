/* test_oracle_decode.c: are the judges of the decode kernels sane?

   Against attention by its definition in double, within what 16-bit weights and outputs allow; on
   inputs whose answer is known; and against their own recorded digests, so that a judge does not
   change by accident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/decode_case.h"

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
   an ulp of 16 bits.  Paged attention rounds 1 / keys to bf16, and XQA with D = 128 adds halves in
   bf16: there only powers of 2. */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case), cmocka_unit_test(one_token),
                                       cmocka_unit_test(equal_values),
                                       cmocka_unit_test(options_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
