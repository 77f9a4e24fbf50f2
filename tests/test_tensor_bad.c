/* test_tensor_bad.c: files that must be refused, each with its whole sentence; and every truncation
   and every damaged header byte of sound files, which must end in a sentence or in a tensor. */
#include "tests/folder.h"

#include "reference/tensor.h"

#include <fcntl.h>
#include <sys/stat.h>

static void test_no_regular_file(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"missing", "missing: no such file"},
        {"link", "link: a symbolic link to a file that is not there"},
        {"folder", "folder: a folder, not a regular file"},
        {"pipe", "pipe: a pipe, not a regular file"},
        {"/dev/zero", "/dev/zero: a device, not a regular file"},
        {"there/below", "there/below: cannot be opened: Not a directory"},
    };
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    folder_put("there", "", 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_npy(rows[i][0], rows[i][1]);
        check_bundle(rows[i][0], rows[i][1]);
    }
}

/* First bytes, for both readers. */
static void test_wrong_magic(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *npy, *bundle;
    } rows[] = {
        {"", 0, "x: the file is empty", "x: the file is empty"},
        {"\x93NUM", 4, "x: neither .npy, .npz nor .safetensors, by its first bytes",
         "x: neither .npy, .npz nor .safetensors, by its first bytes"},
        {"\x93NUMPY", 6, "x: cut short: a .npy file has at least 12 bytes, this one 6",
         "x: one .npy tensor; a file of several is wanted (.npz, .safetensors)"},
        {"\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j", 11, TORCH_SENTENCE, TORCH_SENTENCE},
        {"PK\3\4", 4, "x: a zip file (.npz); one .npy tensor is wanted",
         "x: cut short: a zip file (.npz) without its directory"},
        {"\2\0\0\0\0\0\0\0{}", 10, "x: a .safetensors file; one .npy tensor is wanted", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_put("x", rows[i].bytes, rows[i].size);
        check_npy("x", rows[i].npy);
        if (rows[i].bundle != NULL)
            check_bundle("x", rows[i].bundle);
    }
}

/* A .npy of version 1 from a header's text and some zero bytes. */
static void put_npy(const char *name, const char *header, size_t data)
{
    unsigned char bytes[1024] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    size_t length = strlen(header);
    assert_true(10 + length + data <= sizeof bytes);
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, length);
    folder_put(name, bytes, 10 + length + data);
}

#define NO_DICTIONARY "x: the .npy header is no dictionary of descr, fortran_order and shape"
#define DICTIONARY(descr, shape)                                                                   \
    "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }\n"

static const struct {
    const char *header;
    size_t data;
    const char *want;
} npy_rows[] = {
    {DICTIONARY("'<f4'", "(2, 3)"), 23,
     "x: shape (2, 3) in fp32 takes 24 bytes, 23 follow the header (cut short)"},
    {DICTIONARY("'<f4'", "(2, 3)"), 25,
     "x: shape (2, 3) in fp32 takes 24 bytes, 25 follow the header (too many)"},
    {DICTIONARY("'<f4'", "()"), 0,
     "x: shape () in fp32 takes 4 bytes, 0 follow the header (cut short)"},
    {DICTIONARY("'>f4'", "(1,)"), 4, "x: big-endian numbers ('>f4'); save a.astype('<f4')"},
    {DICTIONARY("'>u2'", "(1,)"), 2, "x: big-endian numbers ('>u2'); save a.astype('<u2')"},
    {DICTIONARY("'|O'", "(1,)"), 8,
     "x: Python objects (dtype object); a file of numbers is wanted"},
    {DICTIONARY("'<i4'", "(1,)"), 4,
     "x: dtype '<i4' is not read; <f8, <f4, <f2 and 16-bit words (<u2, <i2, V2) are"},
    {DICTIONARY("'|V1'", "(1,)"), 1,
     "x: dtype '|V1' is not read; <f8, <f4, <f2 and 16-bit words (<u2, <i2, V2) are"},
    {DICTIONARY("'\x1b[2J'", "(1,)"), 1,
     "x: dtype '?[2J' is not read; <f8, <f4, <f2 and 16-bit words (<u2, <i2, V2) are"},
    {DICTIONARY("''", "(1,)"), 1,
     "x: dtype '' is not read; <f8, <f4, <f2 and 16-bit words (<u2, <i2, V2) are"},
    {DICTIONARY("[('x', '<f4')]", "(1,)"), 4,
     "x: a structured dtype; one number per element is wanted"},
    {DICTIONARY("'<f4'", "(4294967296, 4294967296)"), 0,
     "x: shape (4294967296, 4294967296) is larger than any file"},
    {DICTIONARY("'<f4'", "(0, 4294967296, 4294967296)"), 0,
     "x: shape (0, 4294967296, 4294967296) is larger than any file"},
    {DICTIONARY("'<f4'", "(9223372036854775808,)"), 0,
     "x: a size in the .npy header's shape is no number below 2^63"},
    {DICTIONARY("'<f4'", "(-1,)"), 0,
     "x: a size in the .npy header's shape is no number below 2^63"},
    {DICTIONARY("'<f4'", "(1, 1, 1, 1, 1)"), 4, "x: more than 4 dimensions"},
    {DICTIONARY("'<f4'", "[1]"), 4, NO_DICTIONARY},
    {DICTIONARY("'<f4'", "(1 1)"), 4, NO_DICTIONARY},
    {DICTIONARY("4", "(1,)"), 4, NO_DICTIONARY},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, NO_DICTIONARY},
    {"{'descr': '<f4', 'fortran_order': False}", 4, NO_DICTIONARY},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, NO_DICTIONARY},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4, NO_DICTIONARY},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} 1", 4, NO_DICTIONARY},
    {"{'descr': '<f4", 0, NO_DICTIONARY},
    {"", 2, NO_DICTIONARY},
};

static void test_npy_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof npy_rows / sizeof npy_rows[0]; i++) {
        put_npy("x", npy_rows[i].header, npy_rows[i].data);
        check_npy("x", npy_rows[i].want);
    }
}

static void test_npy_beginnings(void **state)
{
    (void)state;
    static const struct {
        unsigned char bytes[14];
        const char *want;
    } rows[] = {
        {"\x93NUMPY\4\0\1\0\0\0", "x: .npy version 4.0; 1.0, 2.0 and 3.0 are read"},
        {"\x93NUMPY\1\1\1\0\0\0", "x: .npy version 1.1; 1.0, 2.0 and 3.0 are read"},
        {"\x93NUMPY\1\0\5\0{}  ", "x: cut short: the .npy header has 5 bytes, 4 follow"},
        {"\x93NUMPY\2\0\3\0\0\0{}", "x: cut short: the .npy header has 3 bytes, 2 follow"},
        {"\x93NUMPY\2\0\377\377\377\377{}",
         "x: a .npy header of 4294967295 bytes; at most 65536 are read"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_put("x", rows[i].bytes, sizeof rows[i].bytes);
        check_npy("x", rows[i].want);
    }
}

static void put_safetensors(const char *name, const char *header, size_t data)
{
    unsigned char bytes[2048] = {0};
    uint64_t length = strlen(header);
    assert_true(8 + length + data <= sizeof bytes);
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + 8, header, length);
    folder_put(name, bytes, 8 + length + data);
}

#define RECORD(name, dtype, shape, offsets)                                                        \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define NO_RECORD "x: q: its record is not dtype, shape and data_offsets, each once"
#define NO_OBJECT "x: the header is no JSON object"

static const struct {
    const char *header;
    size_t data;
    const char *want;
} safetensors_rows[] = {
    {"{" RECORD("q", "F32", "[2]", "[0,8]") "}", 7,
     "x: q: bytes 0 to 8 are not within the 7 behind the header"},
    {"{" RECORD("q", "F32", "[2]", "[8,0]") "}", 8,
     "x: q: bytes 8 to 0 are not within the 8 behind the header"},
    {"{" RECORD("q", "F32", "[2]", "[0,8]") "}", 9,
     "x: 1 bytes behind the last tensor belong to none"},
    {"{" RECORD("q", "F32", "[2]", "[0,4]") "}", 8,
     "x: q: shape (2,) in F32 takes 8 bytes, its offsets hold 4"},
    {"{" RECORD("q", "F32", "[1]", "[0,4]") "," RECORD("k", "F32", "[1]", "[2,6]") "}", 6,
     "x: k: begins at 2, inside the tensor before it"},
    {"{" RECORD("q", "F32", "[1]", "[5,9]") "," RECORD("k", "F32", "[1]", "[0,4]") "}", 9,
     "x: q: begins at 5, the tensor before it ends at 4"},
    {"{" RECORD("q", "F32", "[1]", "[0,4]") "," RECORD("k", "F32", "[1]", "[0,4]") "}", 4,
     "x: k: begins at 0, inside the tensor before it"},
    {"{" RECORD("q", "F32", "[1]", "[0,4]") "," RECORD("q", "F32", "[1]", "[4,8]") "}", 8,
     "x: 'q' twice in the header"},
    {"{" RECORD("q", "I64", "[1]", "[0,8]") "}", 8,
     "x: q: dtype I64 is not read; F64, F32, F16, BF16, F8_E4M3 and F8_E5M2 are"},
    {"{" RECORD("q", "F32\\u001b", "[1]", "[0,4]") "}", 4,
     "x: q: dtype F32? is not read; F64, F32, F16, BF16, F8_E4M3 and F8_E5M2 are"},
    {"{" RECORD("q", "F32", "[1.5]", "[0,4]") "}", 4,
     "x: q: a size in its shape is no integer from 0 to 2^53"},
    {"{" RECORD("q", "F32", "[-1]", "[0,4]") "}", 4,
     "x: q: a size in its shape is no integer from 0 to 2^53"},
    {"{" RECORD("q", "F32", "[1e300]", "[0,4]") "}", 4,
     "x: q: a size in its shape is no integer from 0 to 2^53"},
    {"{" RECORD("q", "F32", "[\"1\"]", "[0,4]") "}", 4,
     "x: q: a size in its shape is no integer from 0 to 2^53"},
    {"{" RECORD("q", "F32", "[1,1,1,1,1]", "[0,4]") "}", 4, "x: q: more than 4 dimensions"},
    {"{" RECORD("q", "F32", "[4294967296,4294967296]", "[0,4]") "}", 4,
     "x: q: shape (4294967296, 4294967296) is larger than any file"},
    {"{" RECORD("q", "F32", "[1]", "[0,4.5]") "}", 4,
     "x: q: an offset is no integer from 0 to 2^53"},
    {"{" RECORD("q", "F32", "[1]", "[0,18446744073709551620]") "}", 4,
     "x: q: an offset is no integer from 0 to 2^53"},
    {"{" RECORD("q", "F32", "[1]", "[0,18014398509481984]") "}", 4,
     "x: q: an offset is no integer from 0 to 2^53"},
    {"{\"q\":{\"more\":0,\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, NO_RECORD},
    {"{" RECORD("q", "F32", "[1]", "[0]") "}", 4, NO_RECORD},
    {"{" RECORD("q", "F32", "1", "[0,4]") "}", 4, NO_RECORD},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, NO_RECORD},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1]}}", 4, NO_RECORD},
    {"{\"q\":1}", 0, NO_RECORD},
    {"{" RECORD("", "F32", "[1]", "[0,4]") "}", 4, "x: : a name wants 1 to 127 characters"},
    {"{\"__metadata__\":1}", 0, "x: __metadata__ is no object of at most 4096 texts"},
    {"{\"__metadata__\":{\"scale\":1}}", 0, "x: __metadata__: scale is no text"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0,
     "x: __metadata__: metadata 'a' is there already"},
    {"{\"q\":[[[[]]]]}", 0, "x: the header is nested deeper than any tensor's record"},
    {"{\"q\\u0000\":1}", 0, "x: a zero byte in the header"},
    {"{\"q\":1", 0, NO_OBJECT},
    {"{} {}", 0, NO_OBJECT},
    {"{]", 0, NO_OBJECT},
};

static void test_safetensors_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof safetensors_rows / sizeof safetensors_rows[0]; i++) {
        put_safetensors("x", safetensors_rows[i].header, safetensors_rows[i].data);
        check_bundle("x", safetensors_rows[i].want);
    }
}

static void test_safetensors_lengths(void **state)
{
    (void)state;
    folder_put("x", "\11\0\0\0\0\0\0\0{}", 10);
    check_bundle("x", "x: cut short: a header of 9 bytes, 2 follow");
    folder_put("x", "\377\377\377\377\377\377\377\377{}", 10);
    check_bundle("x", "x: cut short: a header of 18446744073709551615 bytes, 2 follow");
    folder_put("x", "\0\0\0\2\0\0\0\0{}", 10);
    assert_int_equal(truncate("x", 100 << 20), 0);
    check_bundle("x", "x: a header of 33554432 bytes; at most 16777216 are read");
}

/* A record of six bytes would ask for many times as much memory. */
static void test_safetensors_of_many(void **state)
{
    (void)state;
    enum { MANY = 65537 };
    char *header = malloc(12 * MANY + 8), *to = header + 8;
    assert_non_null(header);
    for (int i = 0; i < MANY; i++)
        to += sprintf(to, "%c\"%d\":0", i == 0 ? '{' : ',', i);
    to += sprintf(to, "}");
    uint64_t length = (uint64_t)(to - header) - 8;
    memcpy(header, &length, sizeof length);
    folder_put("x", header, (size_t)(to - header));
    check_bundle("x", "x: 65537 tensors; at most 65536 are read");
    free(header);
}

/* A sparse file as long as it claims. */
static void test_sparse_file(void **state)
{
    (void)state;
    const char *want = "x: a sparse file of 4096.0 GiB, nearly all of it holes; cp --sparse=never "
                       "fills them";
    put_npy("x", DICTIONARY("'<f4'", "(1099511627776,)"), 0);
    struct stat info;
    assert_int_equal(stat("x", &info), 0);
    if (truncate("x", info.st_size + ((off_t)4 << 40)) != 0)
        skip();
    check_npy("x", want);
    put_safetensors("x", "{" RECORD("q", "F32", "[1099511627776]", "[0,4398046511104]") "}", 0);
    assert_int_equal(stat("x", &info), 0);
    assert_int_equal(truncate("x", info.st_size + ((off_t)4 << 40)), 0);
    check_bundle("x", want);
    unlink("x");
}

static void test_more_than_the_memory(void **state)
{
    (void)state;
    const double GiB = 1024.0 * 1024.0 * 1024.0;
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const int64_t shape[2] = {INT64_C(1) << 30, 1024};
    char want[256];
    struct tensor t;
    struct message why = {""};
    snprintf(want, sizeof want,
             "a new tensor: takes 4096.0 GiB; this machine has %.1f GiB of memory", memory / GiB);
    check_refused(tensor_new(&t, FORMAT_FP32, 2, shape, &why), &why, want);
}

/* What may happen to a damaged file: a sentence that names it, or a result. */
static bool survives(const char *path)
{
    struct bundle b;
    struct tensor t;
    struct message why = {""};
    bool npy = tensor_read_npy(path, FORMAT_BF16, &t, NULL, &why);
    if (npy)
        tensor_free(&t);
    else if (strncmp(why.text, path, strlen(path)) != 0)
        fail_msg("no sentence about %s: %s", path, why.text);
    why.text[0] = 0;
    bool bundle = bundle_read(path, FORMAT_BF16, &b, NULL, &why);
    if (bundle)
        bundle_free(&b);
    else if (strncmp(why.text, path, strlen(path)) != 0)
        fail_msg("no sentence about %s: %s", path, why.text);
    return npy || bundle;
}

static void test_damaged_files(void **state)
{
    (void)state;
    static const char *const files[] = {"v1.npy",   "v2.npy",     "fortran.npy",
                                        "bf16.npy", "stored.npz", "official.safetensors"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unsigned char *bytes;
        size_t size;
        struct message why;
        assert_true(file_read(golden_path(files[i]), 1 << 20, &bytes, &size, &why));
        folder_put("whole", bytes, size);
        assert_true(survives("whole"));
        for (size_t length = 0; length < size; length++) {
            folder_put("short", bytes, length);
            if (survives("short"))
                fail_msg("%s cut to %zu bytes was accepted", files[i], length);
        }
        for (size_t at = 0; at < size; at++)
            for (int bit = 0; bit <= 8; bit++) {
                unsigned char flip = (unsigned char)(bit < 8 ? 1 << bit : 0xff);
                bytes[at] ^= flip;
                folder_put("flipped", bytes, size);
                survives("flipped");
                bytes[at] ^= flip;
            }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_regular_file),      cmocka_unit_test(test_wrong_magic),
        cmocka_unit_test(test_npy_headers),          cmocka_unit_test(test_npy_beginnings),
        cmocka_unit_test(test_safetensors_headers),  cmocka_unit_test(test_safetensors_lengths),
        cmocka_unit_test(test_sparse_file),          cmocka_unit_test(test_safetensors_of_many),
        cmocka_unit_test(test_more_than_the_memory), cmocka_unit_test(test_damaged_files),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
