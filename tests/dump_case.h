/* dump_case.h: writes a dumped call as FlashInfer's logger does: the folder, its metadata.jsonl, and
   its tensors, whole numbers and five dimensions included. */
#ifndef FLASHULP_TESTS_DUMP_CASE_H
#define FLASHULP_TESTS_DUMP_CASE_H

#include <sys/stat.h>

#include "tests/folder.h"

/* Signatures, as far as the tests need them. */
static const char decode_signature[] =
    "(q: torch.Tensor, k: 'torch.Tensor, rank 3', v: torch.Tensor, kv_layout: str = 'NHD', "
    "pos_encoding_mode: str = 'NONE', sm_scale: Optional[float] = None, return_lse: bool = False) "
    "-> Union[torch.Tensor, Tuple[torch.Tensor, torch.Tensor]]";
static const char run_signature[] =
    "(self, q: torch.Tensor, paged_kv_cache: Union[torch.Tensor, Tuple[torch.Tensor, "
    "torch.Tensor]], *args, q_scale: Optional[float] = None, return_lse: bool = False)";
static const char ragged_signature[] = "(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor)";
static const char plan_signature[] =
    "(self, indptr: torch.Tensor, indices: torch.Tensor, last_page_len: torch.Tensor, "
    "num_qo_heads: int, num_kv_heads: int, head_dim: int, page_size: int, *legacy, "
    "window_left: int = -1, sm_scale: Optional[float] = None)";
static const char prefill_plan_signature[] =
    "(self, qo_indptr, paged_kv_indptr, paged_kv_indices, paged_kv_last_page_len, num_qo_heads, "
    "num_kv_heads, head_dim_qk, page_size, causal: bool = False)";
static const char ragged_plan_signature[] =
    "(self, qo_indptr, kv_indptr, num_qo_heads, num_kv_heads, head_dim_qk, causal: bool = False)";

/* One tensor: `data` has the elements as doubles, written in the dtype: F32, BF16, I32, I64, U8. */
struct dump_tensor {
    const char *name, *dtype;
    int rank;
    int64_t shape[6];
    const double *data; /* NULL: zeros */
};

static inline int64_t dump_count(const struct dump_tensor *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= t->shape[i];
    return count;
}

static inline size_t dump_width(const char *dtype)
{
    return strcmp(dtype, "I64") == 0    ? 8
           : strcmp(dtype, "BF16") == 0 ? 2
           : strcmp(dtype, "U8") == 0   ? 1
                                        : 4;
}

static inline void dump_put_element(FILE *f, const char *dtype, double x)
{
    float narrow = (float)x;
    int32_t whole = (int32_t)x;
    int64_t wide = (int64_t)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    bits >>= 16; /* bf16, of values that are */
    if (strcmp(dtype, "F32") == 0)
        fwrite(&narrow, 4, 1, f);
    else if (strcmp(dtype, "BF16") == 0)
        fwrite(&bits, 2, 1, f);
    else if (strcmp(dtype, "I32") == 0)
        fwrite(&whole, 4, 1, f);
    else
        fwrite(&wide, dump_width(dtype), 1, f);
}

static inline void dump_put_tensors(const char *path, const struct dump_tensor *t, int count)
{
    char header[8192] = "{";
    size_t at = 0, used = 1;
    for (int i = 0; i < count; i++) {
        size_t bytes = (size_t)dump_count(&t[i]) * dump_width(t[i].dtype);
        used += (size_t)sprintf(header + used, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[",
                                i > 0 ? "," : "", t[i].name, t[i].dtype);
        for (int k = 0; k < t[i].rank; k++)
            used += (size_t)sprintf(header + used, "%s%lld", k > 0 ? "," : "",
                                    (long long)t[i].shape[k]);
        used += (size_t)sprintf(header + used, "],\"data_offsets\":[%zu,%zu]}", at, at + bytes);
        at += bytes;
    }
    used += (size_t)sprintf(header + used, "}");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    uint64_t length = used;
    fwrite(&length, 8, 1, f);
    fwrite(header, 1, used, f);
    for (int i = 0; i < count; i++)
        for (int64_t n = 0; n < dump_count(&t[i]); n++)
            dump_put_element(f, t[i].dtype, t[i].data != NULL ? t[i].data[n] : 0);
    assert_int_equal(fclose(f), 0);
}

/* `arguments`: members of input_metadata; "" for none.  The first line is the state before the
   call. */
static inline void dump_put(const char *folder, const char *function, const char *signature,
                            const char *arguments, const char *more,
                            const struct dump_tensor *inputs, int input_count,
                            const struct dump_tensor *outputs, int output_count)
{
    char path[256];
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/metadata.jsonl", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int last = 0; last < 2; last++)
        fprintf(f,
                "{\"function_name\": \"%s\", \"input_metadata\": {%s}, \"function_signature\": "
                "\"%s\", \"execution_status\": \"%s\"%s}\n",
                function, arguments, signature,
                last ? "completed" : "inputs_saved", more);
    assert_int_equal(fclose(f), 0);
    snprintf(path, sizeof path, "%s/inputs.safetensors", folder);
    dump_put_tensors(path, inputs, input_count);
    snprintf(path, sizeof path, "%s/outputs.safetensors", folder);
    if (output_count > 0)
        dump_put_tensors(path, outputs, output_count);
}

#endif
