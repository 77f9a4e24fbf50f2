/* folder.h: a temporary folder for one test binary, which runs inside it; so the paths in messages
   are bare names.  Golden files are found where the binary was started. */
#ifndef FLASHULP_TESTS_FOLDER_H
#define FLASHULP_TESTS_FOLDER_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "reference/tensor.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder_path[] = "/tmp/flashulp-test-XXXXXX";
static char folder_origin[PATH_MAX];

static inline int folder_enter(void **state)
{
    (void)state;
    return getcwd(folder_origin, sizeof folder_origin) == NULL || mkdtemp(folder_path) == NULL ||
           chdir(folder_path) != 0;
}

static inline int folder_leave(void **state)
{
    (void)state;
    char command[sizeof folder_path + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder_path);
    return chdir(folder_origin) != 0 || system(command) != 0;
}

/* How many files lie in the folder: no temporary may stay behind. */
static inline int folder_files(void)
{
    int count = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

static inline void folder_put(const char *name, const void *bytes, size_t size)
{
    unlink(name); /* a file cut and written anew would be flushed to the disk by some systems */
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* A refusal with exactly this sentence. */
static inline void check_refused(bool ok, const struct message *why, const char *want)
{
    if (ok)
        fail_msg("accepted; want: %s", want);
    if (strcmp(why->text, want) != 0)
        fail_msg("got:  %s\n      want: %s", why->text, want);
}

/* The readers refuse the file with this sentence, and leave nothing. */
static inline void check_npy(const char *path, const char *want)
{
    struct tensor t;
    struct message why = {""};
    bool ok = tensor_read_npy(path, FORMAT_BF16, &t, NULL, &why);
    check_refused(ok, &why, want);
    assert_null(t.data);
}

static inline void check_bundle(const char *path, const char *want)
{
    struct bundle b;
    struct message why = {""};
    bool ok = bundle_read(path, FORMAT_BF16, &b, NULL, &why);
    check_refused(ok, &why, want);
    assert_true(b.tensors == NULL && b.count == 0 && b.meta_keys == NULL);
}

#define TORCH_SENTENCE                                                                             \
    "x: a PyTorch file, which can run code and is not read; convert it: python3 -c \"import sys, " \
    "torch, safetensors.torch as s; s.save_file({k: v.contiguous() for k, v in "                   \
    "torch.load(sys.argv[1], map_location='cpu').items()}, sys.argv[2])\" IN.pt OUT.safetensors"

/* tests/data/readers/NAME from wherever the folder is. */
static inline const char *golden_path(const char *name)
{
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/tests/data/readers/%s", folder_origin, name);
    return path;
}

#endif
