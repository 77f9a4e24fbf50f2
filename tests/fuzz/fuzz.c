/* fuzz.c: see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char input[256];

void fuzz_name_input(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(input, sizeof input, format, arguments);
    va_end(arguments);
}

void fuzz_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\ndoes not hold: %s\n", input, what);
    abort();
}

void fuzz_require_sentence(const struct message *why)
{
    size_t length = strlen(why->text);
    fuzz_require(length > 0 && length < sizeof why->text - 1, "a refusal says why, and ends");
    for (size_t i = 0; i < length; i++)
        fuzz_require(why->text[i] >= 32 && why->text[i] < 127, "a refusal can be printed");
}

void *fuzz_allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    fuzz_require(memory != NULL, "there is memory for the test itself");
    return memory;
}

static char paths[2][64];

static void remove_files(void)
{
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
}

static const char *path_of(int n)
{
    if (paths[0][0] == 0) {
        const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        for (int i = 0; i < 2; i++) {
            snprintf(paths[i], sizeof paths[i], "%s/flashulp-fuzz-XXXXXX", folder);
            int fd = mkstemp(paths[i]);
            fuzz_require(fd >= 0, "a temporary file can be made");
            close(fd);
        }
        atexit(remove_files);
    }
    return paths[n];
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path_of(0), "wb");
    fuzz_require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0,
                 "the input can be written");
    return path_of(0);
}

const char *fuzz_output(void)
{
    return path_of(1);
}
