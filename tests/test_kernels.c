/* test_kernels.c: every kernel model against its oracle, a flat scalar program that someone else wrote
   from published sources: the same bits of O, and of the LSE where the kernel stores one.  And every
   model in the double and mpfr arithmetics against itself in floats. */
#include "tests/kernel_case.h"

#include <math.h>
#include <stdio.h>

#include "tests/oracle_decode.h"
#include "tests/oracle_kernels.h"

static enum oracle_unit unit_of(const char *unit)
{
    static const struct {
        const char *name;
        enum oracle_unit unit;
    } units[] = {{"sm75", ORACLE_SM75}, {"sm80", ORACLE_SM80}, {"sm86", ORACLE_SM86},
                 {"sm89", ORACLE_SM89}, {"sm90", ORACLE_SM90}, {"sm100", ORACLE_SM100},
                 {"sm120", ORACLE_SM120}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].unit;
    fail_msg("no oracle for %s", unit);
    return ORACLE_SM90;
}

static enum oracle_type type_of(const struct kernel_row *row)
{
    return row->fp16 ? ORACLE_FP16 : ORACLE_BF16;
}

static bool has(const char *text, const char *word)
{
    return text != NULL && strstr(text, word) != NULL;
}

static struct kernel_case fa_case(const struct kernel_row *row, const struct kernel_inputs *in)
{
    bool window = row->left != 0 || row->right != 0;
    return (struct kernel_case){
        .rows = in->rows, .keys = row->shape[2], .dim = row->shape[3], .q = in->q, .k = in->k, .v = in->v,
        .type = type_of(row), .out = in->wide ? ORACLE_FP32 : type_of(row),
        .scale_value = row->scale != 0 ? row->scale : 1, .scale_root = row->scale != 0 ? 1 : row->shape[3],
        .softcap = (float)row->softcap, .unit = unit_of(in->simulation.kernel.unit),
        .causal = row->causal, .left = window ? row->left : -1, .right = window ? row->right : -1,
        .splits = in->simulation.kernel.plan.splits,
        .before_2_5_4 = has(row->kernel, ":2.5.3"), .fused_block_sum = has(row->option, "old-sum=fused"),
        .unfused_exp = has(row->option, "exp-arg=separate")};
}

static struct decode_case decode_case(const struct kernel_row *row, const struct kernel_inputs *in)
{
    return (struct decode_case){
        .rows = in->rows, .keys = row->shape[2], .D = row->shape[3], .q = in->q, .k = in->k, .v = in->v,
        .type = type_of(row), .out = in->wide ? ORACLE_FP32 : type_of(row),
        .scale = (float)(row->scale != 0 ? row->scale : 1 / sqrt((double)row->shape[3])),
        .unit = unit_of(in->simulation.kernel.unit), .splits = in->simulation.kernel.plan.splits};
}

/* Fills O, and lse where the kernel has one (true). */
typedef bool judge(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse);

static bool judge_fa2(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct kernel_case c = fa_case(row, in);
    oracle_fa2(&c, O, lse);
    return true;
}

static bool judge_fa1(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct kernel_case c = fa_case(row, in);
    oracle_fa1(&c, O, lse);
    return true;
}

static bool judge_split(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct kernel_case c = fa_case(row, in);
    if (c.splits == 1)
        oracle_fa2(&c, O, lse);
    else
        oracle_fa2_split(&c, O, lse);
    return true;
}

static bool judge_xqa(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct decode_case c = decode_case(row, in);
    struct xqa_options options = {0};
    (void)lse;
    if (row->scale != 0)
        options.q_scale = (float)(row->scale * sqrt((double)row->shape[3]));
    oracle_xqa(&c, &options, O);
    return false;
}

static struct triton_options triton_options(const struct kernel_row *row)
{
    struct triton_options options = {.separate_sum = has(row->option, "sum-update=separate"),
                                     .division_rounded_once = has(row->option, "division=ieee"),
                                     .separate_argument = has(row->option, "argument=separate"),
                                     .causal = row->causal};
    if (has(row->order, "ROW_SUM=seq"))
        options.weights.order = TRITON_CHAIN;
    if (has(row->option, "merge=fuse-new"))
        options.merge = TRITON_FUSE_NEW;
    if (has(row->option, "merge=separate"))
        options.merge = TRITON_FUSE_NOTHING;
    return options;
}

static bool judge_triton(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct decode_case c = decode_case(row, in);
    struct triton_options options = triton_options(row);
    (void)lse;
    oracle_triton_unified(&c, &options, O);
    return false;
}

static bool judge_sglang(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct decode_case c = decode_case(row, in);
    struct triton_options options = triton_options(row);
    (void)lse;
    oracle_sglang(&c, &options, O);
    return false;
}

static bool judge_tutorial(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct decode_case c = decode_case(row, in);
    struct triton_options options = triton_options(row);
    oracle_triton_fa(&c, &options, O, lse);
    return true;
}

static bool judge_paged(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    struct decode_case c = decode_case(row, in);
    struct paged_options options = {.exp_rounded_once = true,
                                    .values_in_chain = has(row->option, "values=chain")};
    (void)lse;
    options.page = has(row->option, "page=8") ? 8 : has(row->option, "page=32") ? 32 : 16;
    options.partition = in->simulation.kernel.plan.splits == 1 ? -1 : 0;
    oracle_paged(&c, &options, O);
    return false;
}

static bool judge_trtllm(const struct kernel_row *row, const struct kernel_inputs *in, float *O, float *lse)
{
    const struct split_plan *p = &in->simulation.kernel.plan;
    struct decode_case c = decode_case(row, in);
    struct trtllm_options options = {.rounded_weights = !has(row->option, "weights=fp32"),
                                     .tokens = (int)(p->block_tokens * p->blocks_per_split)};
    (void)lse;
    oracle_trtllm(&c, &options, O);
    return false;
}

static judge *judge_of(const char *kernel)
{
    static const struct {
        const char *kernel;
        judge *judge;
    } judges[] = {{"fa2-split", judge_split}, {"fa2", judge_fa2}, {"fa1", judge_fa1},
                  {"xqa", judge_xqa}, {"triton-decode", judge_triton}, {"triton-fa", judge_tutorial},
                  {"sglang-decode", judge_sglang}, {"paged-v2", judge_paged},
                  {"trtllm-reducer", judge_trtllm}};
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        if (strncmp(kernel, judges[i].kernel, strlen(judges[i].kernel)) == 0)
            return judges[i].judge;
    fail_msg("no oracle for %s", kernel);
    return NULL;
}

static const struct kernel_row rows[] = {
    {.kernel = "fa2@A100", .shape = {1, 5, 200, 64}},
    {.kernel = "fa2@H200", .shape = {1, 5, 200, 64}},
    {.kernel = "fa2@H200", .shape = {1, 3, 300, 256}},
    {.kernel = "fa2@RTX-4090", .shape = {1, 9, 300, 128}},
    {.kernel = "fa2@RTX-4090", .shape = {1, 70, 130, 128}, .causal = true},
    {.kernel = "fa2@A100", .shape = {1, 140, 300, 32}, .causal = true},
    {.kernel = "fa2@H200", .shape = {1, 300, 140, 32}, .causal = true},
    {.kernel = "fa2@H200", .shape = {1, 130, 256, 96}, .causal = true, .fp16 = true},
    {.kernel = "fa2@H200", .shape = {1, 150, 400, 64}, .left = 70, .right = 3},
    {.kernel = "fa2@H200", .shape = {1, 150, 200, 64}, .left = 70, .right = 0, .causal = true},
    {.kernel = "fa2@H200", .shape = {1, 150, 200, 64}, .left = -1, .right = 5},
    {.kernel = "fa2@H200", .shape = {1, 4, 200, 64}, .softcap = 3},
    {.kernel = "fa2@H200", .shape = {1, 4, 200, 192}, .size = 3},
    {.kernel = "fa2@H200", .shape = {1, 4, 200, 64}, .scale = 0.3},
    {.kernel = "fa2@B200", .shape = {1, 4, 0, 64}},
    {.kernel = "fa2:2.5.3@A100", .shape = {1, 4, 300, 64}},
    {.kernel = "fa2:2.5.3@A100", .option = "old-sum=fused", .shape = {1, 4, 300, 64}},
    {.kernel = "fa2@A100", .option = "exp-arg=separate", .shape = {1, 4, 300, 64}},
    {.kernel = "fa2-split@H200", .shape = {4, 1, 2000, 256}},
    {.kernel = "fa2-split@B200", .shape = {4, 1, 3000, 256}, .size = 2},
    {.kernel = "fa2-split@A100", .shape = {3, 1, 1000, 64}},
    {.kernel = "fa2-split@A100", .shape = {16, 1, 1500, 128}, .fp16 = true},
    {.kernel = "fa2-split@H200", .shape = {4, 1, 2000, 256}, .splits = 1},
    {.kernel = "fa2-split@H200", .shape = {2, 1, 700, 128}, .splits = 5},
    {.kernel = "fa2-split@H200", .shape = {2, 1, 700, 32}, .splits = 100},
    {.kernel = "fa2-split@H200", .shape = {16, 1, 6400, 256}, .splits = 100},
    /* 43 groups that hold keys: more than the 32 lanes that combine them */
    {.kernel = "fa2-split@H200", .shape = {40, 1, 2700, 256}, .splits = 43},
    {.kernel = "fa2-split:2.5.6@H200", .shape = {4, 1, 2000, 256}},
    {.kernel = "fa2-split:2.5.3@H200", .shape = {4, 1, 2000, 256}},
    {.kernel = "fa1@A100", .shape = {1, 40, 600, 64}},
    {.kernel = "fa1@A100", .shape = {1, 20, 300, 128}},
    {.kernel = "fa1@H200", .shape = {1, 33, 70, 32}},
    {.kernel = "fa1@A100", .shape = {1, 300, 300, 64}, .causal = true, .top_left = true},
    {.kernel = "fa1@A100", .shape = {1, 20, 600, 64}, .fp16 = true, .size = 2, .scale = 0.3},
    {.kernel = "xqa@H200", .shape = {4, 1, 1500, 256}},
    {.kernel = "xqa@H200", .shape = {16, 1, 3100, 256}, .size = 2, .launch_kv = 33},
    {.kernel = "xqa@RTX-PRO-6000", .shape = {4, 1, 3000, 256}, .launch_kv = 60},
    {.kernel = "xqa@H200", .shape = {4, 1, 100, 256}},
    {.kernel = "xqa@H200", .shape = {4, 1, 2000, 256}, .size = 2, .launch_kv = 200},
    {.kernel = "xqa@H200", .shape = {5, 1, 4000, 128}, .launch_kv = 40},
    {.kernel = "xqa@RTX-PRO-6000", .shape = {5, 1, 4000, 128}, .size = 2, .launch_kv = 60},
    {.kernel = "xqa@H200", .shape = {5, 1, 200, 128}, .size = 2},
    {.kernel = "xqa@H200", .shape = {2, 1, 1500, 128}, .launch_kv = 200},
    {.kernel = "xqa@RTX-5090", .shape = {2, 1, 200, 128}},
    {.kernel = "xqa@H200", .shape = {4, 1, 2000, 256}, .scale = 0.3, .launch_kv = 40},
    {.kernel = "triton-decode@H200", .shape = {4, 1, 3000, 128}},
    {.kernel = "triton-decode@A100", .shape = {4, 1, 257, 64}, .size = 2},
    {.kernel = "triton-decode@H200", .option = "sum-update=separate", .shape = {4, 1, 1000, 256}},
    {.kernel = "triton-decode@H200", .option = "division=ieee", .shape = {4, 1, 1000, 256}, .fp16 = true},
    {.kernel = "triton-decode@H200", .shape = {2, 1, 1000, 128}, .order = "ROW_SUM=seq"},
    {.kernel = "sglang-decode@H200", .shape = {4, 1, 3000, 128}},
    {.kernel = "sglang-decode@A100", .shape = {4, 1, 257, 64}, .size = 2},
    {.kernel = "sglang-decode@H200", .option = "merge=fuse-new", .shape = {4, 1, 1000, 256}},
    {.kernel = "sglang-decode@H200", .option = "merge=separate", .shape = {4, 1, 1000, 256}, .fp16 = true},
    {.kernel = "paged-v2@A100", .shape = {4, 1, 300, 128}},
    {.kernel = "paged-v2@H200", .shape = {2, 1, 8300, 64}},
    {.kernel = "paged-v2@H200", .option = "page=8", .shape = {2, 1, 600, 64}, .size = 2},
    {.kernel = "paged-v2@H200", .option = "page=32", .shape = {2, 1, 700, 128}},
    {.kernel = "paged-v2@H200", .option = "values=chain", .shape = {2, 1, 9000, 128}},
    /* outputs enough that the order of the warps is not hidden by the rounding behind it */
    {.kernel = "paged-v2@H200", .shape = {200, 1, 512, 256}, .scale = 1},
    {.kernel = "trtllm-reducer@B200", .shape = {4, 1, 3000, 256}},
    {.kernel = "trtllm-reducer@B200", .option = "weights=fp32", .shape = {4, 1, 3000, 128}, .size = 2},
    {.kernel = "triton-fa@H200", .shape = {1, 128, 256, 64}},
    {.kernel = "triton-fa@A100", .shape = {1, 256, 256, 128}, .causal = true},
    {.kernel = "triton-fa@H200", .option = "argument=separate", .shape = {1, 128, 256, 64}, .fp16 = true},
};

static uint32_t float_bits(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return isnan(f) ? 0x7FC00000 : bits;
}

static int64_t compare(const struct kernel_row *row, const char *what, const double *got,
                       const float *want, int64_t n)
{
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++) {
        if (float_bits(got[i]) == float_bits((double)want[i]))
            continue;
        if (differ++ < 3)
            print_message("# %s %s G %d Nq %d Nk %d D %d: %s[%d] is %08X, the oracle's %08X\n",
                          row->kernel, row->option != NULL ? row->option : "", row->shape[0], row->shape[1],
                          row->shape[2], row->shape[3], what, (int)i, float_bits(got[i]), float_bits((double)want[i]));
    }
    if (differ > 0)
        print_message("# %s: %d of %d differ\n", row->kernel, (int)differ, (int)n);
    return differ;
}

/* Outputs as stored, or (`wide`) before their last rounding, which hides most slips. */
static int64_t judge_row_of(const struct kernel_row *row, uint64_t seed, bool wide)
{
    struct kernel_inputs in;
    struct result result;
    struct message why;
    kernel_inputs_new(&in, row, seed);
    in.wide = wide;
    if (wide)
        assert_true(policy_set(&in.simulation.policy, "OUT=fp32", &why));
    int64_t n = (int64_t)in.rows * row->shape[3], differ = 0;
    float *O = calloc((size_t)n + 1, sizeof *O), *lse = calloc((size_t)in.rows + 1, sizeof *lse);
    assert_true(simulate(&in.problem, &in.simulation, &result, &why));
    bool has_lse = judge_of(row->kernel)(row, &in, O, lse);
    differ += compare(row, "O", result.O, O, n);
    if (has_lse)
        differ += compare(row, "LSE", result.lse, lse, in.rows);
    result_free(&result);
    kernel_inputs_free(&in);
    free(O);
    free(lse);
    return differ;
}

/* XQA at head size 128 ends in a sum of two stored halves, PagedAttention v1 in a stored partition. */
static bool stored_sum(const struct kernel_row *row)
{
    return (strncmp(row->kernel, "xqa", 3) == 0 && row->shape[3] == 128) ||
           (strncmp(row->kernel, "paged", 5) == 0 && row->shape[2] <= 512);
}

static void test_oracles(void **state)
{
    (void)state;
    const char *only = getenv("FLASHULP_KERNEL");
    int64_t differ = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (only == NULL || strstr(rows[i].kernel, only) != NULL)
            for (int wide = 0; wide < (stored_sum(&rows[i]) ? 1 : 2); wide++)
                differ += judge_row_of(&rows[i], 1000 + i, wide);
    assert_int_equal(differ, 0);
}

/* One small problem per kernel: the double and the mpfr arithmetic make the bits that floats make. */
static const struct kernel_row small[] = {
    {.kernel = "fa2@A100", .shape = {1, 3, 140, 32}},
    {.kernel = "fa2:2.5.3@H200", .shape = {1, 2, 140, 32}, .softcap = 3},
    {.kernel = "fa2-split@H200", .shape = {2, 1, 300, 32}, .splits = 2},
    {.kernel = "fa1@A100", .shape = {1, 3, 140, 32}},
    {.kernel = "xqa@H200", .shape = {2, 1, 300, 128}, .launch_kv = 132},
    {.kernel = "triton-decode@H200", .shape = {2, 1, 100, 32}},
    {.kernel = "sglang-decode@H200", .shape = {2, 1, 100, 32}},
    {.kernel = "paged-v2@H200", .shape = {1, 1, 60, 32}},
    {.kernel = "trtllm-reducer@B200", .shape = {2, 1, 300, 64}},
    {.kernel = "triton-fa@H200", .shape = {1, 128, 64, 64}},
};

static uint64_t digest_in(struct kernel_inputs *in, const struct arithmetic *arith, int threads)
{
    struct result result;
    struct message why;
    in->simulation.arith = arith;
    in->simulation.threads = threads;
    if (!simulate(&in->problem, &in->simulation, &result, &why))
        fail_msg("%s", why.text);
    uint64_t digest = result.digest;
    result_free(&result);
    return digest;
}

static void test_arithmetics(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        struct kernel_inputs in;
        kernel_inputs_new(&in, &small[i], 70 + i);
        uint64_t floats = digest_in(&in, arith_float(), 1);
        uint64_t threads = digest_in(&in, arith_float(), 3);
        uint64_t doubles = digest_in(&in, &arith_double, 1), reals = digest_in(&in, &arith_mpfr, 1);
        if (floats != threads || floats != doubles || floats != reals)
            fail_msg("%s: digests %016llx in floats, %016llx on 3 threads, %016llx in double, "
                     "%016llx in mpfr", small[i].kernel, (unsigned long long)floats,
                     (unsigned long long)threads, (unsigned long long)doubles,
                     (unsigned long long)reals);
        kernel_inputs_free(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_oracles), cmocka_unit_test(test_arithmetics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
