/* test_tensor_zip.c: .npz files that must be refused, built byte by byte. */
#include "tests/folder.h"

#include "reference/crc32.h"

/* An entry of a zip file, with what may be wrong about it. */
struct zip {
    const char *name, *local_name, *content;
    size_t size;
    uint32_t method, flags, crc_error, packed_error, size_error, offset;
    uint32_t copies; /* records of it in the directory */
};

static size_t put_words(unsigned char *at, const uint32_t *fields, const char *widths)
{
    size_t used = 0;
    for (int i = 0; widths[i] != 0; i++)
        for (int byte = 0; byte < widths[i] - '0'; byte++)
            at[used++] = (unsigned char)(fields[i] >> 8 * byte);
    return used;
}

static uint32_t crc_of(const struct zip *z)
{
    return crc32_ieee(0, z->content, z->size) ^ z->crc_error;
}

/* The entry's own header, name and bytes. */
static size_t put_entry(unsigned char *at, const struct zip *z)
{
    const uint32_t length = (uint32_t)strlen(z->name), size = (uint32_t)z->size;
    const uint32_t fields[] = {0x04034b50, 20,   z->flags, z->method, 0,
                               crc_of(z),  size, size,     length,    0};
    size_t used = put_words(at, fields, "4222444422");
    memcpy(at + used, z->local_name != NULL ? z->local_name : z->name, length);
    memcpy(at + used + length, z->content, size);
    return used + length + size;
}

/* Its record in the directory. */
static size_t put_record(unsigned char *at, const struct zip *z)
{
    const uint32_t length = (uint32_t)strlen(z->name), size = (uint32_t)z->size;
    const uint32_t fields[] = {
        0x02014b50,           20,     20, z->flags, z->method, 0, crc_of(z), size + z->packed_error,
        size + z->size_error, length, 0,  0,        0,         0, 0,         z->offset};
    size_t used = put_words(at, fields, "4222244442222244");
    memcpy(at + used, z->name, length);
    return used + length;
}

/* The file of `bytes`: entries up to `start`, records up to `used`; its end is added. */
static void put_zip(const char *file, unsigned char *bytes, size_t start, size_t used,
                    uint32_t count)
{
    const uint32_t end[] = {0x06054b50,      0, count, count, (uint32_t)(used - start),
                            (uint32_t)start, 0};
    used += put_words(bytes + used, end, "4422442");
    folder_put(file, bytes, used);
}

static void put_zip_of_one(const char *file, const struct zip *z)
{
    unsigned char bytes[4096];
    size_t start = put_entry(bytes, z), used = start;
    uint32_t copies = z->copies == 0 ? 1 : z->copies;
    for (uint32_t copy = 0; copy < copies; copy++)
        used += put_record(bytes + used, z);
    put_zip(file, bytes, start, used, copies);
}

#define NPY                                                                                        \
    "\x93NUMPY\1\0\71\0"                                                                           \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}  \0\0\200?"
enum { NPY_SIZE = sizeof NPY - 1 };

static void test_zip_entries(void **state)
{
    (void)state;
    static const struct {
        struct zip zip;
        const char *want;
    } rows[] = {
        {{.name = "q.npy", .method = 8},
         "x: q.npy: compressed; write the file with numpy.savez, "
         "not savez_compressed"},
        {{.name = "q.npy", .flags = 1}, "x: q.npy: encrypted; numpy.savez writes what is read"},
        {{.name = "q.npy", .crc_error = 1}, NULL},
        {{.name = "q.npy", .packed_error = 1}, "x: q.npy: stored in 72 bytes but said to have 71"},
        {{.name = "q.npy", .packed_error = 1, .size_error = 1},
         "x: q.npy: its 72 bytes do not fit between offset 35 and the directory"},
        {{.name = "q.npy", .offset = 1}, "x: q.npy: no entry of that name at its offset 1"},
        {{.name = "q.npy", .offset = 90},
         "x: q.npy: its offset 90 lies outside the file's entries"},
        {{.name = "q.npy", .local_name = "k.npy"},
         "x: q.npy: no entry of that name at its offset 0"},
        {{.name = "q.txt"}, "x: q.txt: not a .npy file; numpy.savez writes what is read"},
        {{.name = ".npy"}, "x: .npy: not a .npy file; numpy.savez writes what is read"},
        {{.name = "a/data.pkl"}, TORCH_SENTENCE},
        {{.name = "q.npy", .copies = 2}, "x: q.npy: twice in the file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct zip zip = rows[i].zip;
        char damaged[128];
        zip.content = NPY;
        zip.size = NPY_SIZE;
        put_zip_of_one("x", &zip);
        snprintf(damaged, sizeof damaged,
                 "x: q.npy: damaged: its CRC is %08X, the directory says %08X", crc_of(&zip) ^ 1,
                 crc_of(&zip));
        check_bundle("x", rows[i].want != NULL ? rows[i].want : damaged);
        if (strcmp(rows[i].want != NULL ? rows[i].want : "", TORCH_SENTENCE) == 0)
            check_npy("x", TORCH_SENTENCE);
    }
}

/* The control: what the rows above have wrong is all that is wrong with them. */
static void test_sound_zip(void **state)
{
    (void)state;
    const struct zip zip = {.name = "q.npy", .content = NPY, .size = NPY_SIZE};
    struct bundle b;
    struct message why = {""};
    put_zip_of_one("x", &zip);
    if (!bundle_read("x", FORMAT_BF16, &b, NULL, &why))
        fail_msg("%s", why.text);
    assert_true(b.count == 1 && tensor_get(&b.tensors[0].tensor, 0, 0, 0, 0) == 1);
    bundle_free(&b);
}

/* An entry within the bytes of another: each is sound, but memory could outgrow the file. */
static void test_entry_inside_another(void **state)
{
    (void)state;
    unsigned char bytes[4096], inner_bytes[512] = {0};
    char content[1024];
    struct zip inner = {.name = "k.npy", .content = NPY, .size = NPY_SIZE};
    size_t inner_size = (put_entry(inner_bytes, &inner) + 3) / 4 * 4;
    int header = snprintf(content, sizeof content,
                          "%.6s%c%c%c%c{'descr': '<f4', 'fortran_order': False, 'shape': (%3d,)}",
                          NPY, 1, 1, 57, 1, (int)inner_size / 4);
    content[7] = content[9] = 0;
    memcpy(content + header, inner_bytes, inner_size);
    struct zip outer = {.name = "q.npy", .content = content, .size = (size_t)header + inner_size};
    inner.offset = 30 + 5 + (uint32_t)header;
    size_t start = put_entry(bytes, &outer), used = start;
    used += put_record(bytes + used, &outer);
    used += put_record(bytes + used, &inner);
    put_zip("x", bytes, start, used, 2);
    check_bundle("x", "x: k.npy: its bytes belong to another entry too");
}

static void test_compressed_by_numpy(void **state)
{
    (void)state;
    char want[PATH_MAX + 256];
    snprintf(want, sizeof want,
             "%s: q.npy: compressed; write the file with numpy.savez, not savez_compressed",
             golden_path("compressed.npz"));
    check_bundle(golden_path("compressed.npz"), want);
}

static void test_directory(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    const struct zip zip = {.name = "q.npy", .content = NPY, .size = NPY_SIZE};
    size_t start = put_entry(bytes, &zip), used = start + put_record(bytes + start, &zip);
    put_zip("x", bytes, start, used, 2);
    check_bundle("x", "x: a record of the zip directory is damaged");
    put_zip("x", bytes, start, used, 5000);
    check_bundle("x", "x: 5000 entries; at most 4096 are read");
    put_zip("x", bytes, start, used, 0xffff);
    check_bundle("x", "x: a .npz file of 4 GiB or more; save it as .safetensors");
    put_zip("x", bytes, start + 1, used, 1);
    check_bundle("x", "x: a record of the zip directory is damaged");
    folder_put("x", bytes, used);
    check_bundle("x", "x: cut short: a zip file (.npz) without its directory");
    const uint32_t end[] = {0x06054b50, 0, 1, 1, (uint32_t)(used - start), (uint32_t)start + 1, 0};
    folder_put("x", bytes, used + put_words(bytes + used, end, "4422442"));
    check_bundle("x", "x: the zip directory does not lie where the file's end says");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip_entries),
        cmocka_unit_test(test_sound_zip),
        cmocka_unit_test(test_entry_inside_another),
        cmocka_unit_test(test_compressed_by_numpy),
        cmocka_unit_test(test_directory),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
