/* test_tensor_write.c: what is refused before a file is written, and what a failed write leaves
   behind: nothing. */
#include "tests/folder.h"

#include "reference/tensor.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void test_names_of_a_bundle(void **state)
{
    (void)state;
    struct tensor t;
    struct bundle b = {0};
    struct message why;
    const int64_t shape[1] = {1};
    char name[200];
    memset(name, 'n', sizeof name);
    name[199] = 0;
    assert_true(tensor_new(&t, FORMAT_FP32, 1, shape, &why));
    assert_true(bundle_add(&b, "q", &t, &why));
    assert_true(bundle_add_meta(&b, "a", "b", &why));
    check_refused(bundle_add(&b, "q", &t, &why), &why, "tensor name 'q' is there already");
    check_refused(bundle_add(&b, "", &t, &why), &why,
                  "tensor name '': wants 1 to 127 characters, not __metadata__");
    check_refused(bundle_add(&b, "__metadata__", &t, &why), &why,
                  "tensor name '__metadata__': wants 1 to 127 characters, not __metadata__");
    check_refused(
        bundle_add(&b, name, &t, &why), &why,
        "tensor name 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...': wants 1 "
        "to 127 characters, not __metadata__");
    check_refused(bundle_add_meta(&b, "a", "c", &why), &why, "metadata 'a' is there already");
    bundle_free(&b);
    tensor_free(&t);
}

static void test_where_nothing_is_written(void **state)
{
    (void)state;
    static const int64_t shape[2] = {2, 3};
    struct tensor t;
    struct message why;
    assert_true(tensor_new(&t, FORMAT_E4M3, 2, shape, &why));
    check_refused(tensor_write_npy("o.npy", &t, false, &why), &why,
                  "o.npy: .npy has no e4m3; name a .safetensors file");
    tensor_free(&t);
    assert_true(tensor_new(&t, FORMAT_FP32, 2, shape, &why));
    folder_put("there.npy", "old", 3);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    static const struct {
        const char *path;
        bool force;
        const char *want;
    } rows[] = {
        {"there.npy", false, "there.npy exists; give --force to replace it"},
        {"dangling", false, "dangling exists; give --force to replace it"},
        {"folder", true, "folder: a folder, not a regular file; name a new file"},
        {"/dev/null", true, "/dev/null: a device, not a regular file; name a new file"},
        {"none/o.npy", false, "none/o.npy: cannot be created: No such file or directory"},
    };
    int before = folder_files();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_refused(tensor_write_npy(rows[i].path, &t, rows[i].force, &why), &why, rows[i].want);
    assert_int_equal(folder_files(), before);
    unsigned char *bytes;
    size_t size;
    assert_true(file_read("there.npy", 3, &bytes, &size, &why));
    assert_true(size == 3 && memcmp(bytes, "old", 4) == 0);
    free(bytes);
    check_refused(file_read("there.npy", 2, &bytes, &size, &why), &why,
                  "there.npy: 3 bytes; at most 2 are read");
    assert_true(tensor_write_npy("there.npy", &t, true, &why));
    assert_int_equal(folder_files(), before);
    tensor_free(&t);
}

/* A limit on a file's size stands for a disk that fills while the file is written. */
static void test_write_that_fails(void **state)
{
    (void)state;
    static const int64_t shape[1] = {100000};
    struct rlimit limit, small;
    struct tensor t;
    struct message why;
    struct bundle b = {0};
    assert_true(tensor_new(&t, FORMAT_FP32, 1, shape, &why));
    assert_true(bundle_add(&b, "o", &t, &why));
    int before = folder_files();
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 10000;
    setrlimit(RLIMIT_FSIZE, &small);
    bool npy = tensor_write_npy("large.npy", &t, false, &why);
    struct message second;
    bool safetensors = bundle_write("large.safetensors", &b, false, &second);
    setrlimit(RLIMIT_FSIZE, &limit);
    check_refused(npy, &why, "large.npy: cannot be written: File too large; nothing was kept");
    check_refused(safetensors, &second,
                  "large.safetensors: cannot be written: File too large; nothing was kept");
    assert_int_equal(folder_files(), before);
    bundle_free(&b);
    tensor_free(&t);
}

static void test_full_disk(void **state)
{
    (void)state;
    static const int64_t shape[1] = {100000};
    struct tensor t;
    struct message why;
    assert_int_equal(mkdir("full", 0777), 0);
    if (system("mount -t tmpfs -o size=16k tmpfs full 2>/dev/null") != 0)
        skip();
    assert_true(tensor_new(&t, FORMAT_FP32, 1, shape, &why));
    bool ok = tensor_write_npy("full/o.npy", &t, false, &why);
    int left = system("test -z \"$(ls full)\"");
    assert_int_equal(system("umount full"), 0);
    check_refused(ok, &why,
                  "full/o.npy: cannot be written: No space left on device; nothing was kept");
    assert_int_equal(left, 0);
    tensor_free(&t);
}

static void test_abandoned_output(void **state)
{
    (void)state;
    struct output_file f;
    struct message why;
    int before = folder_files();
    assert_true(file_begin(&f, "report", false, &why));
    assert_int_equal(folder_files(), before + 1);
    file_abandon(&f);
    file_abandon(&f);
    assert_int_equal(folder_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_a_bundle), cmocka_unit_test(test_where_nothing_is_written),
        cmocka_unit_test(test_write_that_fails),  cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_abandoned_output),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
