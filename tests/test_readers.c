/* test_readers.c: the fuzz targets without a fuzzer: over their seeds, over every input that once
   found something (tests/fuzz/found), and over damaged copies of both, the same in every run. */
#include "tests/folder.h"

#include "tests/fuzz/fuzz.h"

enum { MOST_BYTES = 1 << 16, QUICK = 500, FULL = 20000 };

static const struct target {
    const char *name, *folder, *ending; /* of seeds besides those in fuzz/corpus; or NULL */
    fuzz_target *run;
} targets[] = {
    {"trace", NULL, NULL, fuzz_trace},
    {"npy", "data/readers", ".npy", fuzz_npy},
    {"npz", "data/readers", ".npz", fuzz_npz},
    {"safetensors", "data/readers", ".safetensors", fuzz_safetensors},
    {"device", "data", ".json", fuzz_device},
    {"lengths", NULL, NULL, fuzz_lengths},
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(random_bits(state) % (n > 0 ? n : 1));
}

/* Replaces `old` bytes at `at` by `new` ones, which are left for the caller to write. */
static void resize(unsigned char *bytes, size_t *size, size_t at, size_t old, size_t new)
{
    if (*size - old + new > MOST_BYTES)
        return;
    memmove(bytes + at + new, bytes + at + old, *size - at - old);
    *size += new - old;
}

/* One change: a bit, a byte or a number in place, a piece cut out, doubled or written over. */
static void damage(unsigned char *bytes, size_t *size, uint64_t *state)
{
    static const uint64_t numbers[] = {0,          1,          0x7f,      0x80,
                                       0xff,       0x7fff,     0xffff,    0x7fffffff,
                                       0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX};
    static const char letters[] = "00129-+.,:;'\"\\/{}[]() \neE";
    size_t at = below(state, *size), length = 1 + below(state, 16), to = below(state, *size);
    uint64_t number = numbers[below(state, sizeof numbers / sizeof numbers[0])];
    length = length < *size - at ? length : *size - at;
    size_t room = length < *size - to ? length : *size - to;
    switch (*size == 0 ? 6 : below(state, 7)) {
    case 0:
        bytes[at] ^= (unsigned char)(1u << below(state, 8));
        break;
    case 1:
        bytes[at] = (unsigned char)random_bits(state);
        break;
    case 2:
        bytes[at] = (unsigned char)letters[below(state, sizeof letters - 1)];
        break;
    case 3:
        memcpy(bytes + at, &number, length < 8 ? length : 8);
        break;
    case 4:
        resize(bytes, size, at, length, 0);
        break;
    case 5:
        memmove(bytes + to, bytes + at, room);
        break;
    default:
        resize(bytes, size, at, 0, length);
        break;
    }
}

static void try_damaged(const struct target *t, const char *file, const unsigned char *seed,
                        size_t seed_size, int tries)
{
    unsigned char *bytes = malloc(MOST_BYTES);
    assert_non_null(bytes);
    for (int n = 0; n < tries; n++) {
        uint64_t state = (uint64_t)n;
        size_t size = seed_size;
        memcpy(bytes, seed, size);
        for (size_t changes = 1 + below(&state, 4); changes > 0; changes--)
            damage(bytes, &size, &state);
        fuzz_name_input("%s: %s, damage %d", t->name, file, n);
        t->run(bytes, size);
    }
    free(bytes);
}

/* Runs the target over the folder's files with this ending; how many there were. */
static int try_folder(const struct target *t, const char *folder, const char *ending, int tries)
{
    char path[PATH_MAX + 600];
    int files = 0;
    snprintf(path, sizeof path, "%s/tests/%s", folder_origin, folder);
    DIR *listing = opendir(path);
    const struct dirent *entry;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        unsigned char *bytes;
        size_t size, length = strlen(entry->d_name);
        struct message why;
        if (entry->d_name[0] == '.' || length < strlen(ending) ||
            strcmp(entry->d_name + length - strlen(ending), ending) != 0)
            continue;
        snprintf(path, sizeof path, "%s/tests/%s/%s", folder_origin, folder, entry->d_name);
        if (!file_read(path, MOST_BYTES, &bytes, &size, &why))
            fail_msg("%s", why.text);
        fuzz_name_input("%s: %s", t->name, entry->d_name);
        t->run(bytes, size);
        try_damaged(t, entry->d_name, bytes, size, tries);
        free(bytes);
        files++;
    }
    if (listing != NULL)
        closedir(listing);
    return files;
}

static void test_target(void **state)
{
    const struct target *t = *state;
    const char *level = getenv("FLASHULP_TESTS");
    int tries = level != NULL && strcmp(level, "full") == 0 ? FULL : QUICK;
    char folder[64];
    snprintf(folder, sizeof folder, "fuzz/corpus/%s", t->name);
    assert_true(try_folder(t, folder, "", tries) > 0);
    snprintf(folder, sizeof folder, "fuzz/found/%s", t->name);
    try_folder(t, folder, "", tries);
    if (t->folder != NULL)
        assert_true(try_folder(t, t->folder, t->ending, tries) > 0);
}

int main(void)
{
    struct CMUnitTest tests[TARGETS];
    for (int i = 0; i < TARGETS; i++)
        tests[i] = (struct CMUnitTest){targets[i].name, test_target, NULL, NULL,
                                       (void *)(uintptr_t)&targets[i]};
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
