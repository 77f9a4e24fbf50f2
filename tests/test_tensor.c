/* test_tensor.c: elements, strides, files of others read, files written and read back. */
#include "tests/folder.h"

#include "reference/crc32.h"
#include "reference/tensor.h"

#include <math.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool same(double a, double b)
{
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

/* Every code of the narrow formats, of the wide ones a stride through all exponents: get and row
   agree with format_decode, and set stores the code it came from. */
static void test_decoding(void **state)
{
    (void)state;
    static const struct {
        enum format format;
        uint64_t step;
    } rows[] = {{FORMAT_BF16, 1},     {FORMAT_FP16, 1},
                {FORMAT_E4M3, 1},     {FORMAT_E5M2, 1},
                {FORMAT_FP32, 65521}, {FORMAT_FP64, UINT64_C(0x0000ffff12345671)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct message why;
        struct tensor t;
        enum format f = rows[i].format;
        const int64_t codes = 65536, shape[4] = {1, 1, 1, codes};
        const int bits = format_info(f)->bits;
        double *row = malloc((size_t)codes * sizeof *row);
        assert_true(tensor_new(&t, f, 4, shape, &why));
        for (int64_t n = 0; n < codes; n++) {
            uint64_t code = rows[i].step * (uint64_t)n & (~UINT64_C(0) >> (64 - bits));
            memcpy((char *)t.data + n * (bits / 8), &code, (size_t)bits / 8);
        }
        tensor_row(&t, 0, 0, 0, codes, row);
        for (int64_t n = 0; n < codes; n++) {
            uint64_t code = 0, stored = 0;
            char *at = (char *)t.data + n * (bits / 8);
            memcpy(&code, at, (size_t)bits / 8);
            double want = format_decode(f, code), got = tensor_get(&t, 0, 0, 0, n);
            if (!same(got, want) || !same(row[n], want))
                fail_msg("%s code %llX: get %a, row %a, want %a", format_info(f)->name,
                         (unsigned long long)code, got, row[n], want);
            if (isnan(want))
                continue;
            tensor_set(&t, 0, 0, 0, n, want);
            memcpy(&stored, at, (size_t)bits / 8);
            if (stored != code)
                fail_msg("%s code %llX stored as %llX", format_info(f)->name,
                         (unsigned long long)code, (unsigned long long)stored);
        }
        free(row);
        tensor_free(&t);
    }
}

/* Element [i][j] of every array of the golden files, before its factor. */
static double golden(int64_t i, int64_t j)
{
    return 10.0 * (double)i + (double)j - 0.5;
}

static void check_golden(const char *what, const struct tensor *t, enum format dtype, double factor)
{
    if (t == NULL || t->dtype != dtype || t->rank != 2 || t->shape[0] != 2 || t->shape[1] != 3)
        fail_msg("%s: not a (2, 3) tensor of %s", what, format_info(dtype)->name);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            if (!same(tensor_get(t, i, j, 0, 0), factor * golden(i, j)))
                fail_msg("%s [%d][%d]: %a, want %a", what, (int)i, (int)j,
                         tensor_get(t, i, j, 0, 0), factor * golden(i, j));
}

static void test_files_of_numpy(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum format dtype;
        const char *took;
    } rows[] = {{"v1.npy", FORMAT_FP32, ""},
                {"v2.npy", FORMAT_FP64, ""},
                {"v3.npy", FORMAT_FP16, ""},
                {"fortran.npy", FORMAT_FP64, ""},
                {"bf16.npy", FORMAT_BF16, "V2 taken as bf16 bits"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor t;
        struct message took, why = {""};
        if (!tensor_read_npy(golden_path(rows[i].file), FORMAT_BF16, &t, &took, &why))
            fail_msg("%s", why.text);
        check_golden(rows[i].file, &t, rows[i].dtype, 1);
        assert_string_equal(took.text, rows[i].took);
        tensor_free(&t);
    }
}

static void test_fortran_order_is_strides(void **state)
{
    (void)state;
    struct tensor t;
    struct message why;
    assert_true(tensor_read_npy(golden_path("fortran.npy"), FORMAT_BF16, &t, NULL, &why));
    assert_int_equal(t.stride[0], 1);
    assert_int_equal(t.stride[1], 2);
    assert_true(tensor_write_npy("c.npy", &t, false, &why));
    tensor_free(&t);
    assert_true(tensor_read_npy("c.npy", FORMAT_BF16, &t, NULL, &why));
    assert_int_equal(t.stride[1], 1);
    check_golden("fortran.npy in C order", &t, FORMAT_FP64, 1);
    tensor_free(&t);
    unlink("c.npy");
}

static void test_scalar_and_empty(void **state)
{
    (void)state;
    struct tensor t;
    struct message why;
    assert_true(tensor_read_npy(golden_path("scalar.npy"), FORMAT_BF16, &t, NULL, &why));
    assert_true(t.rank == 0 && same(tensor_get(&t, 0, 0, 0, 0), 2.5));
    assert_true(tensor_write_npy("scalar.npy", &t, false, &why));
    tensor_free(&t);
    assert_true(tensor_read_npy("scalar.npy", FORMAT_BF16, &t, NULL, &why));
    assert_true(t.rank == 0 && same(tensor_get(&t, 0, 0, 0, 0), 2.5));
    tensor_free(&t);
    assert_true(tensor_read_npy(golden_path("empty.npy"), FORMAT_BF16, &t, NULL, &why));
    assert_true(t.rank == 2 && tensor_elements(&t) == 0 && t.shape[1] == 4);
    assert_true(tensor_write_npy("empty.npy", &t, false, &why));
    tensor_free(&t);
    assert_true(tensor_read_npy("empty.npy", FORMAT_BF16, &t, NULL, &why));
    assert_true(t.rank == 2 && tensor_elements(&t) == 0 && t.shape[1] == 4);
    tensor_free(&t);
    unlink("scalar.npy");
    unlink("empty.npy");
}

static void test_bundles_of_others(void **state)
{
    (void)state;
    struct bundle b;
    struct message took, why = {""};
    if (!bundle_read(golden_path("stored.npz"), FORMAT_FP32, &b, &took, &why))
        fail_msg("%s", why.text);
    assert_string_equal(took.text, "uint16 taken as bf16 bits");
    assert_int_equal(b.count, 3);
    check_golden("npz q", bundle_find(&b, "q"), FORMAT_BF16, 1);
    check_golden("npz k", bundle_find(&b, "k"), FORMAT_FP32, 2);
    check_golden("npz v", bundle_find(&b, "v"), FORMAT_FP64, 3);
    bundle_free(&b);
    if (!bundle_read(golden_path("official.safetensors"), FORMAT_BF16, &b, &took, &why))
        fail_msg("%s", why.text);
    assert_string_equal(took.text, "");
    assert_int_equal(b.count, 4);
    check_golden("safetensors q", bundle_find(&b, "q"), FORMAT_BF16, 1);
    check_golden("safetensors k", bundle_find(&b, "k"), FORMAT_FP32, 2);
    check_golden("safetensors v", bundle_find(&b, "v"), FORMAT_FP64, 3);
    const struct tensor *s = bundle_find(&b, "s");
    assert_true(s != NULL && s->dtype == FORMAT_E4M3 && same(tensor_get(s, 1, 0, 0, 0), -448));
    assert_string_equal(bundle_meta(&b, "scale"), "0.5");
    assert_string_equal(bundle_meta(&b, "engine"), "a \"quoted\" name");
    assert_null(bundle_find(&b, "Q"));
    assert_null(bundle_meta(&b, "Scale"));
    bundle_free(&b);
}

static void test_words(void **state)
{
    (void)state;
    struct bundle b;
    struct message took, why;
    assert_true(bundle_read(golden_path("stored.npz"), FORMAT_FP16, &b, &took, &why));
    assert_string_equal(took.text, "uint16 taken as fp16 bits");
    const struct tensor *q = bundle_find(&b, "q");
    /* bf16's -0.5 is BF00, which fp16 reads as -1.75. */
    assert_true(q->dtype == FORMAT_FP16 && same(tensor_get(q, 0, 0, 0, 0), -1.75));
    bundle_free(&b);
}

/* A (2, 3, 4, 5) tensor whose element's value names its place, in any format exactly enough. */
static void numbered(struct tensor *t, enum format f)
{
    const int64_t shape[4] = {2, 3, 4, 5};
    struct message why;
    assert_true(tensor_new(t, f, 4, shape, &why));
    for (int n = 0; n < 120; n++)
        tensor_set(t, n / 60, n / 20 % 3, n / 5 % 4, n % 5, format_round(f, n - 60, false));
}

/* The view with dimensions 1 and 2 swapped: what reading as the other layout makes. */
static struct tensor swapped(const struct tensor *t)
{
    struct tensor v = *t;
    v.owns_data = false;
    v.shape[1] = t->shape[2];
    v.shape[2] = t->shape[1];
    v.stride[1] = t->stride[2];
    v.stride[2] = t->stride[1];
    return v;
}

static void check_equal(const struct tensor *got, const struct tensor *want)
{
    assert_int_equal(got->dtype, want->dtype);
    assert_int_equal(got->rank, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(got->shape[i], want->shape[i]);
    for (int64_t i = 0; i < want->shape[0]; i++)
        for (int64_t j = 0; j < want->shape[1]; j++)
            for (int64_t k = 0; k < want->shape[2]; k++) {
                double row[5];
                tensor_row(want, i, j, k, 5, row);
                for (int64_t l = 0; l < 5; l++)
                    if (!same(tensor_get(got, i, j, k, l), tensor_get(want, i, j, k, l)) ||
                        !same(row[l], tensor_get(want, i, j, k, l)))
                        fail_msg("[%d][%d][%d][%d]", (int)i, (int)j, (int)k, (int)l);
            }
}

static void test_npy_written_and_read(void **state)
{
    (void)state;
    static const enum format formats[] = {FORMAT_FP64, FORMAT_FP32, FORMAT_FP16, FORMAT_BF16};
    for (int i = 0; i < 8; i++) {
        struct tensor t, back;
        struct message why;
        numbered(&t, formats[i / 2]);
        struct tensor view = i % 2 == 0 ? t : swapped(&t);
        if (!tensor_write_npy("t.npy", &view, true, &why) ||
            !tensor_read_npy("t.npy", FORMAT_BF16, &back, NULL, &why))
            fail_msg("%s", why.text);
        check_equal(&back, &view);
        tensor_free(&back);
        tensor_free(&t);
    }
    unlink("t.npy");
}

/* Narrow tensors added first: written behind the wide ones, all aligned to their elements. */
static void test_safetensors_written_and_read(void **state)
{
    (void)state;
    static const enum format formats[] = {FORMAT_E4M3, FORMAT_BF16, FORMAT_FP64,
                                          FORMAT_E5M2, FORMAT_FP32, FORMAT_FP16};
    enum { COUNT = 6 };
    struct tensor t[COUNT];
    struct bundle b = {0}, back;
    struct message why;
    char name[16];
    unsigned char *bytes;
    size_t size;
    for (int i = 0; i < COUNT; i++) {
        numbered(&t[i], formats[i]);
        struct tensor view = i % 2 == 0 ? t[i] : swapped(&t[i]);
        snprintf(name, sizeof name, "o.%d\"", i);
        assert_true(bundle_add(&b, name, &view, &why));
    }
    assert_true(bundle_add_meta(&b, "layout", "bhnd \\ \"\n", &why));
    assert_true(bundle_write("t.safetensors", &b, false, &why));
    assert_true(bundle_read("t.safetensors", FORMAT_BF16, &back, NULL, &why));
    assert_int_equal(back.count, COUNT);
    assert_string_equal(bundle_meta(&back, "layout"), "bhnd \\ \"\n");
    for (int i = 0; i < COUNT; i++)
        check_equal(bundle_find(&back, b.tensors[i].name), &b.tensors[i].tensor);
    assert_true(file_read("t.safetensors", 1 << 20, &bytes, &size, &why));
    uint64_t header;
    memcpy(&header, bytes, sizeof header);
    assert_int_equal(header % 8, 0);
    assert_int_equal(size, 8 + header + 120 * (8 + 4 + 2 + 2 + 1 + 1));
    /* fp64 comes first: its first element is -60. */
    double first;
    memcpy(&first, bytes + 8 + header, sizeof first);
    assert_true(same(first, -60));
    free(bytes);
    bundle_free(&back);
    bundle_free(&b);
    for (int i = 0; i < COUNT; i++)
        tensor_free(&t[i]);
    unlink("t.safetensors");
}

static void test_crc(void **state)
{
    (void)state;
    /* The check value of the CRC catalogues. */
    assert_int_equal(crc32_ieee(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(crc32_ieee(crc32_ieee(0, "1234", 4), "56789", 5), 0xcbf43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_files_of_numpy),
        cmocka_unit_test(test_fortran_order_is_strides),
        cmocka_unit_test(test_scalar_and_empty),
        cmocka_unit_test(test_bundles_of_others),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_npy_written_and_read),
        cmocka_unit_test(test_safetensors_written_and_read),
        cmocka_unit_test(test_crc),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
