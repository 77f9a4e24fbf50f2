/* test_tensor_stream.c: what the streams give, in pieces of every size, is what the readers give;
   files that cannot be trusted get the readers' sentences. */
#include "tests/folder.h"

#include "reference/tensor_hash.h"

enum { A = 2, B = 3, C = 4, D = 5, COUNT = A * B * C * D };

/* Element i of the tensor as its readers see it, in C order; swapped: dimensions 1 and 2. */
static double element(const struct tensor *t, int64_t i, bool swapped)
{
    int64_t at[4] = {0}, shape[4];
    memcpy(shape, t->shape, sizeof shape);
    if (swapped) {
        shape[1] = t->shape[2];
        shape[2] = t->shape[1];
    }
    for (int n = t->rank - 1; n >= 0; n--) {
        at[n] = i % shape[n];
        i /= shape[n];
    }
    return swapped ? tensor_get(t, at[0], at[2], at[1], at[3])
                   : tensor_get(t, at[0], at[1], at[2], at[3]);
}

static void check_stream(const struct tensor_file *f, int n, const struct tensor *t, bool swapped)
{
    struct tensor_stream s;
    struct message why;
    const size_t width = (size_t)format_info(t->dtype)->bits / 8;
    if (!tensor_stream_open(&s, f, n, swapped, &why))
        fail_msg("%s", why.text);
    assert_int_equal(s.elements, tensor_elements(t));
    for (int64_t piece = 1; piece <= s.elements; piece++)
        for (int64_t first = 0; first < s.elements; first += piece) {
            unsigned char codes[COUNT * 8];
            int64_t count = s.elements - first < piece ? s.elements - first : piece;
            assert_true(tensor_stream_read(&s, first, count, codes, &why));
            for (int64_t i = 0; i < count; i++) {
                uint64_t code = 0;
                memcpy(&code, codes + (size_t)i * width, width);
                double got = format_decode(s.dtype, code), want = element(t, first + i, swapped);
                if (got != want)
                    fail_msg("%s tensor %d element %d: %a, want %a", f->path, n, (int)(first + i),
                             got, want);
            }
        }
    tensor_stream_close(&s);
}

/* Four dtypes in one file, and a .npy; plain and with dimensions 1 and 2 exchanged. */
static void test_pieces(void **state)
{
    (void)state;
    static const enum format dtypes[] = {FORMAT_BF16, FORMAT_FP64, FORMAT_E4M3, FORMAT_FP32};
    static const char *const names[] = {"a", "b", "c", "d"};
    const int64_t shape[4] = {A, B, C, D};
    struct bundle b = {0};
    struct tensor t[4];
    struct tensor_file f;
    struct message why;
    for (int n = 0; n < 4; n++) {
        assert_true(tensor_new(&t[n], dtypes[n], 4, shape, &why));
        for (int i = 0; i < COUNT; i++)
            tensor_set(&t[n], i / (B * C * D), i / (C * D) % B, i / D % C, i % D,
                       format_round(dtypes[n], i * 1.0 + n, false));
        assert_true(bundle_add(&b, names[n], &t[n], &why));
    }
    assert_true(bundle_write("x.safetensors", &b, true, &why));
    assert_true(tensor_write_npy("x.npy", &t[0], true, &why));
    bundle_free(&b);
    assert_true(tensor_file_open(&f, "x.safetensors", FORMAT_BF16, &why));
    assert_true(!f.single && f.bundle.count == 4);
    for (int i = 0; i < 4; i++)
        for (int swapped = 0; swapped < 2; swapped++)
            check_stream(&f, i, &t[f.bundle.tensors[i].name[0] - 'a'], swapped);
    tensor_file_close(&f);
    assert_true(tensor_file_open(&f, "x.npy", FORMAT_BF16, &why));
    assert_true(f.single && f.bundle.count == 1);
    assert_string_equal(f.took.text, "uint16 taken as bf16 bits");
    check_stream(&f, 0, &t[0], false);
    check_stream(&f, 0, &t[0], true);
    tensor_file_close(&f);
    for (int n = 0; n < 4; n++)
        tensor_free(&t[n]);
}

/* Files that NumPy wrote, one of them in Fortran order. */
static void test_golden(void **state)
{
    (void)state;
    static const char *const names[] = {"fortran.npy", "v1.npy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct tensor t;
        struct tensor_file f;
        struct message why;
        if (!tensor_read_npy(golden_path(names[i]), FORMAT_BF16, &t, NULL, &why) ||
            !tensor_file_open(&f, golden_path(names[i]), FORMAT_BF16, &why))
            fail_msg("%s", why.text);
        check_stream(&f, 0, &t, false);
        tensor_file_close(&f);
        tensor_free(&t);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *want;
    } rows[] = {
        {"", 0, "x: the file is empty"},
        {"no tensor at all", 16, "x: neither .npy, .npz nor .safetensors, by its first bytes"},
        {"\x93NUMPY\1", 7, "x: cut short: a .npy file has at least 12 bytes, this one 7"},
        {"\x02\0\0\0\0\0\0\0{}x", 11, "x: 1 bytes behind the last tensor belong to none"},
        {"PK\3\4", 4, "x: cut short: a zip file (.npz) without its directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor_file f;
        struct message why = {""};
        folder_put("x", rows[i].bytes, rows[i].size);
        check_refused(tensor_file_open(&f, "x", FORMAT_BF16, &why), &why, rows[i].want);
        assert_null(f.source);
    }
}

/* A .npy of `count` zero words, the one at `odd` (if any) not zero. */
static void put_words(const char *name, int64_t count, int64_t odd)
{
    struct tensor t;
    struct message why;
    assert_true(tensor_new(&t, FORMAT_BF16, 1, &count, &why));
    if (odd >= 0)
        tensor_set(&t, odd, 0, 0, 0, 1.0);
    assert_true(tensor_write_npy(name, &t, true, &why));
    tensor_free(&t);
}

/* How blocks are offered: none, in order, from the second on, backwards, or as of a tensor that is not
   in the file's order. */
enum offering { NONE, IN_ORDER, NOT_THE_FIRST, BACKWARDS, ELSEWHERE, OFFERINGS };

static void offer_blocks(struct hashing *h, struct tensor_stream s[2], enum offering how)
{
    enum { BLOCK = 1 << 16 };
    static unsigned char codes[HASHING_BLOCKS][2][2 * BLOCK];
    uint64_t offer[HASHING_BLOCKS] = {0};
    struct message why;
    const struct tensor_stream *const streams[2] = {&s[0], &s[1]};
    int64_t elements = s[0].elements < s[1].elements ? s[0].elements : s[1].elements;
    int64_t blocks = (elements + BLOCK - 1) / BLOCK;
    for (int64_t n = how == NOT_THE_FIRST; n < blocks; n++) {
        int64_t first = (how == BACKWARDS ? blocks - 1 - n : n) * BLOCK, at = n % HASHING_BLOCKS;
        int64_t count = elements - first < BLOCK ? elements - first : BLOCK;
        hashing_await(h, offer[at]);
        for (int i = 0; i < 2; i++)
            assert_true(tensor_stream_read(&s[i], first, count, codes[at][i], &why));
        const void *const both[2] = {codes[at][0], codes[at][1]};
        offer[at] = hashing_offer(h, streams, both, first, count);
    }
    for (int i = 0; i < HASHING_BLOCKS; i++)
        hashing_await(h, offer[i]);
    memset(codes, 0xa5, sizeof codes); /* nobody may need them any more */
}

static void check_digests(struct tensor_file f[2], enum offering how, size_t row)
{
    struct sha256_text both[2], one;
    struct message why;
    struct tensor_stream s[2];
    struct hashing *h = hashing_start(&f[0], &f[1], &why);
    assert_non_null(h);
    for (int n = 0; n < 2; n++)
        assert_true(tensor_stream_open(&s[n], &f[n], 0, false, &why));
    if (how == ELSEWHERE)
        s[1].whole = calloc((size_t)s[1].elements, 2);
    if (how != NONE)
        offer_blocks(h, s, how);
    assert_true(hashing_end(h, both, &why));
    for (int n = 0; n < 2; n++) {
        tensor_stream_close(&s[n]);
        assert_true(tensor_file_sha256(&f[n], &one, &why));
        if (strcmp(one.text, both[n].text) != 0)
            fail_msg("row %zu, offering %d, file %d: %s, want %s", row, how, n, both[n].text,
                     one.text);
    }
}

/* The digest of two files is that of each, wherever they part and whoever reads them. */
static void test_digest(void **state)
{
    (void)state;
    static const struct {
        int64_t count[2], odd[2];
    } rows[] = {
        {{5, 5}, {-1, -1}},
        {{5, 900}, {-1, 3}},
        {{1 << 20, 1 << 20}, {-1, -1}},
        {{1 << 20, 1 << 20}, {-1, (1 << 20) - 1}},
        {{1 << 20, 1 << 20}, {3, (1 << 19) + 7}},
        {{1 << 20, 1 << 20}, {-1, 0}},
        {{(1 << 20) + 1, 1 << 20}, {-1, -1}},
        {{(1 << 20) - 64, (1 << 20) + 7}, {-1, (1 << 20) + 6}},
        {{1000, 2000}, {-1, -1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tensor_file f[2];
        struct message why;
        put_words("a", rows[i].count[0], rows[i].odd[0]);
        put_words("b", rows[i].count[1], rows[i].odd[1]);
        assert_true(tensor_file_open(&f[0], "a", FORMAT_BF16, &why));
        assert_true(tensor_file_open(&f[1], "b", FORMAT_BF16, &why));
        for (int how = 0; how < OFFERINGS; how++)
            check_digests(f, (enum offering)how, i);
        tensor_file_close(&f[0]);
        tensor_file_close(&f[1]);
    }
}

/* A file that becomes shorter is said, whichever side it is. */
static void test_digest_refused(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        struct tensor_file f[2];
        struct sha256_text digest[2];
        struct message why;
        put_words("a", 1 << 20, -1);
        put_words("b", 1 << 20, -1);
        assert_true(tensor_file_open(&f[0], "a", FORMAT_BF16, &why));
        assert_true(tensor_file_open(&f[1], "b", FORMAT_BF16, &why));
        assert_int_equal(truncate(side == 0 ? "a" : "b", 1000), 0);
        struct hashing *h = hashing_start(&f[0], &f[1], &why);
        assert_non_null(h);
        assert_false(hashing_end(h, digest, &why));
        assert_string_equal(why.text, side == 0 ? "a: became shorter while it was read"
                                                : "b: became shorter while it was read");
        tensor_file_close(&f[0]);
        tensor_file_close(&f[1]);
    }
}

/* Nobody waits for digests that are not wanted, whatever was offered. */
static void test_digest_abandoned(void **state)
{
    (void)state;
    for (int how = 0; how < OFFERINGS; how++) {
        struct tensor_file f[2];
        struct tensor_stream s[2];
        struct message why;
        put_words("a", 1 << 20, -1);
        put_words("b", 1 << 20, 70000);
        for (int n = 0; n < 2; n++) {
            assert_true(tensor_file_open(&f[n], n == 0 ? "a" : "b", FORMAT_BF16, &why));
            assert_true(tensor_stream_open(&s[n], &f[n], 0, false, &why));
        }
        struct hashing *h = hashing_start(&f[0], &f[1], &why);
        assert_non_null(h);
        if (how != NONE)
            offer_blocks(h, s, (enum offering)how);
        hashing_abandon(h);
        for (int n = 0; n < 2; n++) {
            tensor_stream_close(&s[n]);
            tensor_file_close(&f[n]);
        }
    }
}

/* One known by other means. */
static void test_digest_known(void **state)
{
    (void)state;
    struct tensor_file f;
    struct sha256_text digest;
    struct message why;
    folder_put("x", "\x02\0\0\0\0\0\0\0{}", 10);
    assert_true(tensor_file_open(&f, "x", FORMAT_BF16, &why));
    assert_true(tensor_file_sha256(&f, &digest, &why));
    /* by sha256sum */
    assert_string_equal(digest.text,
                        "411a485216e432ece6b9af94fa32154cf79a2a56d4f81266baa50063f45092bd");
    tensor_file_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_digest_refused),
        cmocka_unit_test(test_digest_abandoned),
        cmocka_unit_test(test_digest_known),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
