/* fuzz_trace.c: any bytes at all as a trace: read as they are, and with their CRCs made right.

   clang -std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -I. -fsanitize=fuzzer,address,undefined \
     tests/fuzz/fuzz_trace.c simulator/trace*.c reference/{message,file_io,crc32}.c -o fuzz_trace */
#include <stdio.h>

#include "tests/trace_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_bytes(const unsigned char *bytes, size_t size)
{
    static FILE *nowhere;
    struct message why;
    struct trace *t = trace_parse(bytes, size, &why);
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (t != NULL && nowhere != NULL) {
        trace_dump(t, nowhere);
        fprintf(nowhere, "%g\n", touch(t));
    }
    trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    try_bytes(copy, size);
    repair(copy, size);
    try_bytes(copy, size);
    free(copy);
    return 0;
}
