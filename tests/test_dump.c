/* test_dump.c: dumped calls of every form are taken apart as they were put together, element by
   element; what cannot be mapped, or is not what it says, is refused in a sentence. */
#include <math.h>

#include "tests/dump_case.h"

#include "simulator/dump.h"

#define PLAN "20260101_000001_pid7_W.plan_call0001"
#define RUN "20260101_000002_pid7_W.run_call0001"
#define SECOND "20260101_000003_pid7_W.run_call0002"

enum { HQ = 4, HKV = 2, D = 8, S = 4, PAGES = 16, MOST_KEYS = 11 };

/* A whole number for every element of Q (0), K (1), V (2), O (3): which, sequence, head, row,
   column. */
static double element(int which, int b, int h, int n, int d)
{
    return which * 100000 + b * 20000 + h * 1000 + n * 10 + d;
}

/* The pages of sequence b, in no order. */
static int page_of(int b, int block)
{
    return (5 + 7 * (3 * b + block)) % PAGES;
}

/* K or V (which = 1, 2) of sequences of these lengths, in pages: [page][row][head][column], or
   heads before rows. */
static void fill_pages(int which, bool hnd, const int *lengths, int sequences, int stride,
                       int offset, double *pool)
{
    for (int b = 0; b < sequences; b++)
        for (int n = 0; n < lengths[b]; n++)
            for (int h = 0; h < HKV; h++)
                for (int d = 0; d < D; d++) {
                    int page = page_of(b, n / S) * stride + offset, row = n % S;
                    int at = hnd ? h * S + row : row * HKV + h;
                    pool[(page * S * HKV + at) * D + d] = element(which, b, h, n, d);
                }
}

/* Rows of queries or outputs: [token][head][column]. */
static int fill_rows(int which, int heads, const int *rows, int sequences, double *to)
{
    int token = 0;
    for (int b = 0; b < sequences; b++)
        for (int n = 0; n < rows[b]; n++, token++)
            for (int h = 0; h < heads; h++)
                for (int d = 0; d < D; d++)
                    to[(token * heads + h) * D + d] = element(which, b, h, n, d);
    return token;
}

static void check_tensor(const char *what, int which, const struct tensor *t, const int *rows,
                         int sequences, bool packed)
{
    int first = 0;
    for (int b = 0; b < sequences; first += rows[b++])
        for (int h = 0; h < (int)t->shape[1]; h++)
            for (int n = 0; n < rows[b]; n++)
                for (int d = 0; d < (int)t->shape[3]; d++) {
                    double got = tensor_get(t, packed ? 0 : b, h, packed ? first + n : n, d);
                    if (got != element(which, b, h, n, d))
                        fail_msg("%s, tensor %d: [%d,%d,%d,%d] is %g, want %g", what, which, b, h,
                                 n, d, got, element(which, b, h, n, d));
                }
    assert_int_equal(t->shape[0], packed ? 1 : sequences);
}

enum form { SINGLE, PREFILL, DECODE, DECODE_PAIR, PAGED_PREFILL, RAGGED, BLOCK_TABLE };
static const struct layout {
    const char *what;
    enum form form;
    bool hnd;
    int sequences, keys[3], queries[3];
    bool causal, packed;
} layouts[] = {
    {"single, NHD", SINGLE, false, 1, {11}, {1}, false, false},
    {"single, HND", SINGLE, true, 1, {11}, {1}, false, false},
    {"prefill, NHD", PREFILL, false, 1, {11}, {3}, true, false},
    {"prefill, HND", PREFILL, true, 1, {9}, {3}, false, false},
    {"decode, NHD", DECODE, false, 2, {11, 11}, {1, 1}, false, false},
    {"decode, HND", DECODE, true, 2, {11, 11}, {1, 1}, false, false},
    {"decode, ragged", DECODE, false, 3, {11, 4, 9}, {1, 1, 1}, false, true},
    {"decode, one", DECODE, true, 1, {8}, {1}, false, false},
    {"decode, a pair", DECODE_PAIR, false, 2, {11, 5}, {1, 1}, false, true},
    {"decode, a pair, HND", DECODE_PAIR, true, 2, {11, 5}, {1, 1}, false, true},
    {"paged prefill", PAGED_PREFILL, false, 3, {11, 4, 9}, {2, 4, 1}, true, true},
    {"paged prefill, alike", PAGED_PREFILL, true, 2, {9, 9}, {3, 3}, true, false},
    {"packed prefill", RAGGED, false, 3, {11, 4, 9}, {2, 4, 1}, true, true},
    {"block table", BLOCK_TABLE, true, 2, {11, 6}, {1, 1}, false, true},
    {"block table, NHD", BLOCK_TABLE, false, 2, {7, 7}, {1, 1}, false, false},
};

static double q[64 * HQ * D], o[64 * HQ * D], lse[64 * HQ], kv[2][64 * HKV * D];
static double pool[2 * PAGES * S * HKV * D], pair[2][PAGES * S * HKV * D];
static double first[8], indices[PAGES], last[8], q_first[8], table[8 * 4], lengths[8];

static int fill_table(const struct layout *l)
{
    int blocks = 0;
    for (int b = 0; b < l->sequences; b++) {
        int count = (l->keys[b] + S - 1) / S;
        first[b + 1] = first[b] + count;
        q_first[b + 1] = q_first[b] + l->queries[b];
        last[b] = l->keys[b] - (count - 1) * S;
        lengths[b] = l->keys[b];
        for (int n = 0; n < 4; n++)
            table[b * 4 + n] = n < count ? page_of(b, n) : -1;
        for (int n = 0; n < count; n++)
            indices[blocks++] = page_of(b, n);
    }
    return blocks;
}

static void write_plan(const struct layout *l, int blocks)
{
    const struct dump_tensor decode[] = {{"arg_1", "I32", 1, {l->sequences + 1}, first},
                                         {"arg_2", "I32", 1, {blocks}, indices},
                                         {"kwarg_last_page_len", "I64", 1, {l->sequences}, last}};
    const struct dump_tensor prefill[] = {{"arg_1", "I32", 1, {l->sequences + 1}, q_first},
                                          {"arg_2", "I32", 1, {l->sequences + 1}, first},
                                          {"arg_3", "I32", 1, {blocks}, indices},
                                          {"arg_4", "I32", 1, {l->sequences}, last}};
    double keys[8] = {0};
    for (int b = 0; b < l->sequences; b++)
        keys[b + 1] = keys[b] + l->keys[b];
    const struct dump_tensor ragged[] = {{"arg_1", "I32", 1, {l->sequences + 1}, q_first},
                                         {"arg_2", "I32", 1, {l->sequences + 1}, keys}};
    char numbers[200];
    snprintf(numbers, sizeof numbers,
             "\"kwarg_num_kv_heads\": %d, \"kwarg_page_size\": %d, "
             "\"kwarg_sm_scale\": 0.5, \"kwarg_causal\": %s, \"arg_0\": {\"type\": \"W\"}",
             HKV, S, l->causal ? "true" : "false");
    const char *owner = ", \"self_id\": 77";
    if (l->form == RAGGED)
        dump_put("calls/" PLAN, "BatchPrefillWithRaggedKVCacheWrapper.plan", ragged_plan_signature,
                 numbers, owner, ragged, 2, NULL, 0);
    else if (l->form == PAGED_PREFILL)
        dump_put("calls/" PLAN, "BatchPrefillWithPagedKVCacheWrapper.plan", prefill_plan_signature,
                 numbers, owner, prefill, 4, NULL, 0);
    else
        dump_put("calls/" PLAN, "BatchDecodeWithPagedKVCacheWrapper.plan", plan_signature, numbers,
                 owner, decode, 3, NULL, 0);
}

static int fill_keys(const struct layout *l)
{
    int rows = 0;
    for (int b = 0; b < l->sequences; rows += l->keys[b++])
        for (int n = 0; n < l->keys[b]; n++)
            for (int h = 0; h < HKV; h++)
                for (int d = 0; d < D; d++)
                    for (int which = 0; which < 2; which++)
                        kv[which]
                          [l->hnd ? (h * l->keys[0] + n) * D + d : ((rows + n) * HKV + h) * D + d] =
                              element(1 + which, b, h, n, d);
    for (int which = 0; which < 2; which++) {
        fill_pages(1 + which, l->hnd, l->keys, l->sequences, 2, which, pool);
        fill_pages(1 + which, l->hnd, l->keys, l->sequences, 1, 0, pair[which]);
    }
    return rows;
}

static void write_call(const struct layout *l)
{
    static const char folder[] = "calls/" RUN;
    int tokens = fill_rows(0, HQ, l->queries, l->sequences, q), rows = fill_keys(l);
    int blocks = fill_table(l), a = l->hnd ? HKV : S, b = l->hnd ? S : HKV;
    fill_rows(3, HQ, l->queries, l->sequences, o);
    for (int n = 0; n < tokens * HQ; n++)
        lse[n] = n;
    const struct dump_tensor outputs[] = {{"result_0", "F32", 3, {tokens, HQ, D}, o},
                                          {"result_1", "F32", 2, {tokens, HQ}, lse}};
    const struct dump_tensor flat[] = {
        {"result",
         "F32",
         l->form == SINGLE ? 2 : 3,
         {l->form == SINGLE ? HQ : tokens, l->form == SINGLE ? D : HQ, D},
         o}};
    const struct dump_tensor plain[] = {
        {"arg_0",
         "F32",
         l->form == SINGLE ? 2 : 3,
         {l->form == SINGLE ? HQ : tokens, l->form == SINGLE ? D : HQ, D},
         q},
        {"kwarg_k", "F32", 3, {l->hnd ? HKV : rows, l->hnd ? rows : HKV, D}, kv[0]},
        {"arg_2", "F32", 3, {l->hnd ? HKV : rows, l->hnd ? rows : HKV, D}, kv[1]}};
    const struct dump_tensor paged[] = {{"arg_1", "F32", 3, {tokens, HQ, D}, q},
                                        {"arg_2", "F32", 5, {PAGES, 2, a, b, D}, pool},
                                        {"kwarg_out", "F32", 3, {tokens, HQ, D}, NULL}};
    const struct dump_tensor two[] = {{"kwarg_q", "F32", 3, {tokens, HQ, D}, q},
                                      {"arg_2__0", "F32", 4, {PAGES, a, b, D}, pair[0]},
                                      {"arg_2__1", "F32", 4, {PAGES, a, b, D}, pair[1]}};
    const struct dump_tensor packed[] = {{"arg_1", "F32", 3, {tokens, HQ, D}, q},
                                         {"arg_2", "F32", 3, {rows, HKV, D}, kv[0]},
                                         {"arg_3", "F32", 3, {rows, HKV, D}, kv[1]}};
    const struct dump_tensor blocked[] = {
        {"kwarg_query", "F32", 3, {tokens, HQ, D}, q},
        {"kwarg_kv_cache", "F32", 5, {PAGES, 2, a, b, D}, pool},
        {"kwarg_workspace_buffer", "U8", 1, {1000}, NULL},
        {"kwarg_block_tables", "I32", 2, {l->sequences, 4}, table},
        {"kwarg_seq_lens", "I32", 1, {l->sequences}, lengths}};
    const char *layout = l->hnd ? "\"kwarg_kv_layout\": \"HND\"" : "\"kwarg_kv_layout\": \"NHD\"";
    char more[200];
    snprintf(more, sizeof more, "%s, \"kwarg_bmm1_scale\": 0.5, \"kwarg_bmm2_scale\": 1.0", layout);
    if (l->form >= DECODE && l->form != BLOCK_TABLE)
        write_plan(l, blocks);
    if (l->form == SINGLE)
        dump_put(folder, "single_decode_with_kv_cache", decode_signature, layout, "", plain, 3,
                 flat, 1);
    if (l->form == PREFILL) {
        snprintf(more, sizeof more, "%s, \"kwarg_causal\": %s", layout,
                 l->causal ? "true" : "false");
        dump_put(folder, "single_prefill_with_kv_cache", decode_signature, more, "", plain, 3, flat,
                 1);
    }
    if (l->form == DECODE)
        dump_put(folder, "BatchDecodeWithPagedKVCacheWrapper.run", run_signature,
                 "\"arg_0\": {\"type\": \"W\"}", ", \"self_id\": 77", paged, 3, outputs, 2);
    if (l->form == DECODE_PAIR)
        dump_put(folder, "BatchDecodeWithPagedKVCacheWrapper.run", run_signature, "",
                 ", \"self_id\": 77", two, 3, outputs, 2);
    if (l->form == PAGED_PREFILL)
        dump_put(folder, "BatchPrefillWithPagedKVCacheWrapper.run", run_signature, "",
                 ", \"self_id\": 77", paged, 3, outputs, 2);
    if (l->form == RAGGED)
        dump_put(folder, "BatchPrefillWithRaggedKVCacheWrapper.run", ragged_signature, "",
                 ", \"self_id\": 77", packed, 3, outputs, 2);
    if (l->form == BLOCK_TABLE)
        dump_put(folder, "trtllm_batch_decode_with_kv_cache", "(query, kv_cache)", more, "",
                 blocked, 5, outputs, 2);
}

static void fresh_folder(void)
{
    assert_int_equal(system("rm -rf calls && mkdir calls"), 0);
    memset(pool, 0, sizeof pool);
    memset(pair, 0, sizeof pair);
}

static void every_form(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *l = &layouts[i];
        struct dumped d;
        struct message why;
        fresh_folder();
        write_call(l);
        if (!dumped_read("calls", &d, &why)) /* the only call in it, plan apart */
            fail_msg("%s: %s", l->what, why.text);
        check_tensor(l->what, 0, &d.q, l->queries, l->sequences, l->packed);
        check_tensor(l->what, 1, &d.k, l->keys, l->sequences, l->packed);
        check_tensor(l->what, 2, &d.v, l->keys, l->sequences, l->packed);
        check_tensor(l->what, 3, &d.o, l->queries, l->sequences, l->packed);
        bool own_scale = l->form >= DECODE;
        if (d.options.mask.causal != l->causal || d.options.scale_given != own_scale ||
            (own_scale && d.options.scale != 0.5) || (d.cu_q != NULL) != l->packed)
            fail_msg("%s: causal %d, scale %g", l->what, d.options.mask.causal, d.options.scale);
        for (int b = 0, n = 0, k = 0; l->packed && b < l->sequences; b++) {
            n += l->queries[b];
            k += l->keys[b];
            assert_true(d.cu_q[b + 1] == n && d.cu_k[b + 1] == k);
        }
        if (l->form >= DECODE)
            assert_true(tensor_get(&d.lse, 0, 1, 0, 0) == 1 && d.lse.rank == 3);
        dumped_free(&d);
    }
}

/* One thing wrong with a sound dump of two sequences: a file, and what sed does to it. */
static const struct {
    const char *file, *edit, *sentence;
} wrongs[] = {
    {RUN "/metadata.jsonl", "s/BatchDecodeWithPagedKVCacheWrapper.run/fused_moe/",
     "a dump of fused_moe is not read; those of single_decode_with_kv_cache"},
    {RUN "/metadata.jsonl", "s/\"self_id\": 77/\"self_id\": 78/",
     "the page table was given to plan, and no folder beside this one holds that call"},
    {RUN "/metadata.jsonl", "s/}$//", "its last line is no JSON object"},
    {RUN "/metadata.jsonl", "s/function_signature/signature/",
     "no function_name or function_signature"},
    {RUN "/metadata.jsonl", "s/\"arg_0\":/\"kwarg_custom_mask\": 1, &/",
     "custom_mask was given as 1: the call is not softmax(scale Q K) V"},
    {RUN "/metadata.jsonl", "s/\"arg_0\":/\"arg_3\": 2, &/",
     "an argument was given by place beyond those it names; call it by keyword"},
    {RUN "/metadata.jsonl", "s/\"arg_0\":/\"kwarg_v_scale\": 2, &/", "v_scale was given as 2"},
    {PLAN "/metadata.jsonl", "s/_sm_scale\": 0.5/_sm_scale\": \"x\"/",
     "sm_scale is 'x'; a number is right"},
    {PLAN "/inputs.safetensors", "s/arg_2/arg_5/", "indices is not there as whole numbers"},
    {PLAN "/inputs.safetensors", "s/I32\",\"shape\":.3./F32\",\"shape\":[3]/", "as whole numbers"},
    {PLAN "/inputs.safetensors", "s/I32/I33/", "dtype I33 is not read"},
    {RUN "/inputs.safetensors", "s/arg_2/arg_9/", "is neither one tensor of pages"},
    {RUN "/inputs.safetensors", "s/arg_1/blah1/", "is neither arg_N nor kwarg_NAME"},
    {RUN "/inputs.safetensors", "s/.16,2,4,2,8./[2,16,4,2,8]/", "is not (pages, 2, ., ., D)"},
    {RUN "/inputs.safetensors", "s/.16,2,4,2,8./[14,2,4,2,8]/", "its offsets hold"},
    {RUN "/outputs.safetensors", "s/.2,4,8./[4,2,8]/",
     "its shape is (4, 2, 8); 2 rows of heads are right"},
};

static void refusals(void **unused)
{
    (void)unused;
    const struct layout l = {"decode", DECODE, false, 2, {11, 11}, {1, 1}, false, false};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char command[600];
        struct dumped d;
        struct message why = {""};
        fresh_folder();
        write_call(&l);
        snprintf(command, sizeof command, "LC_ALL=C sed -i '%s' 'calls/%s'", wrongs[i].edit,
                 wrongs[i].file);
        assert_int_equal(system(command), 0);
        bool ok = dumped_read("calls/" RUN, &d, &why);
        if (ok || strstr(why.text, wrongs[i].sentence) == NULL)
            fail_msg("%s: %s\n      want %s", wrongs[i].edit, ok ? "taken" : why.text,
                     wrongs[i].sentence);
        assert_true(d.q.data == NULL && d.remarks == NULL);
    }
}

/* Tables that point outside: each number of the plan moved. */
static void tables(void **unused)
{
    (void)unused;
    static const struct {
        double *number, value;
        const char *sentence;
    } moved[] = {
        {&indices[1], PAGES, "indices has 16 at 1; whole numbers from 0 to 15 are right"},
        {&indices[0], -1, "indices has -1 at 0"},
        {&first[1], 7, "indptr has 7 at 1; whole numbers from 0 to 6 are right"},
        {&first[1], 6, NULL},
        {&first[2], 2, "offsets that begin at 0 and never fall"},
        {&first[0], 1, "offsets that begin at 0 and never fall"},
        {&last[1], S + 1, "last_page_len has 5 at 1"},
        {&q[0], 0, NULL},
    };
    const struct layout l = {"decode", DECODE, false, 2, {11, 11}, {1, 1}, false, false};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        struct dumped d;
        struct message why = {""};
        fresh_folder();
        write_call(&l);
        int blocks = fill_table(&l);
        *moved[i].number = moved[i].value;
        write_plan(&l, blocks);
        first[0] = 0;
        bool ok = dumped_read("calls", &d, &why);
        if (ok != (moved[i].sentence == NULL) ||
            (!ok && strstr(why.text, moved[i].sentence) == NULL))
            fail_msg("row %d: %s; want %s", (int)i, ok ? "taken" : why.text, moved[i].sentence);
        dumped_free(&d);
    }
}

/* A folder with two calls, none, or .pt files; a call that did not complete. */
static void folders(void **unused)
{
    (void)unused;
    const struct layout *l = &layouts[0];
    struct dumped d;
    struct message why;
    fresh_folder();
    check_refused(
        dumped_read("calls", &d, &why), &why,
        "calls: neither it nor a folder in it has a metadata.jsonl, as FlashInfer dumps a "
        "call");
    write_call(l);
    assert_int_equal(system("cp -r calls/" RUN " calls/" SECOND ""), 0);
    check_refused(dumped_read("calls", &d, &why), &why,
                  "calls holds 2 dumped calls; one of its folders is right, such as "
                  "calls/" SECOND);
    assert_true(dumped_read("calls/" SECOND "/", &d, &why));
    dumped_free(&d);
    assert_int_equal(system("cd calls/" SECOND " && mv inputs.safetensors inputs.pt"), 0);
    check_refused(dumped_read("calls/" SECOND, &d, &why), &why,
                  "calls/" SECOND " holds .pt files, which can run code and are not read; "
                  "dump with FLASHINFER_DUMP_SAFETENSORS=1");
    assert_int_equal(system("sed -i s/completed/inputs_saved/ calls/" RUN "/*.jsonl"), 0);
    assert_true(dumped_read("calls/" RUN, &d, &why));
    assert_null(d.o.data);
    assert_non_null(strstr(d.remarks, "without an output"));
    dumped_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test(refusals),
        cmocka_unit_test(tables),
        cmocka_unit_test(folders),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
